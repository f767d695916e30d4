#include "scenarios/read_generator.h"

#include <string>

#include "topology/distribution.h"
#include "topology/fabrics.h"
#include "topology/grids.h"
#include "topology/random_graphs.h"

namespace syncline {
namespace {

using Base = proto::Topology::BaseCase;

// What all generators need: where they are written, and the topology that they add to.
class Generator {
 public:
  Generator(Document& document, CheckedScenario& scenario, const char* name)
      : document_(document), scenario_(scenario), path_(std::string("topology.") + name) {}

  LinkSpec required(bool has, const proto::Link& link, const char* field) const {
    const std::string path = path_ + "." + field;
    if (!has) {
      throw document_.error(path, std::string("is missing; write for example ") + field +
                                      R"( { bandwidth: "1 Gbit/s" latency: "1 ms" })");
    }
    return read_made_link(document_, link, path);
  }

  LinkSpec or_unlimited(bool has, const proto::Link& link, const char* field) const {
    return has ? read_made_link(document_, link, path_ + "." + field) : unlimited();
  }

  std::uint32_t required(bool has, std::uint32_t value, const char* field) const {
    if (!has) {
      throw document_.error(path_ + "." + field,
                            std::string("is missing; write for example ") + field + ": 4");
    }
    return value;
  }

  double time(const std::string& text, const char* field) const {
    return document_.at(path_ + "." + field, [&] { return parse_quantity(text, Dimension::TIME); });
  }

  template <class Function, class Spec>
  void add(Function make, const Spec& spec) const {
    RandomStream random(scenario_.seed, path_);
    document_.at(path_, [&] { make(scenario_.topology, spec, random); });
  }

 private:
  Document& document_;
  CheckedScenario& scenario_;
  std::string path_;
};

void read(const Generator& to, proto::Ring& ring) {
  to.add(add_ring, RingSpec{.count = to.required(ring.has_count(), ring.count(), "count"),
                            .link = to.required(ring.has_link(), ring.link(), "link")});
}

void read(const Generator& to, const proto::Grid& grid, bool wrap) {
  to.add(add_grid, GridSpec{.size = {grid.size().begin(), grid.size().end()},
                            .wrap = wrap,
                            .link = to.required(grid.has_link(), grid.link(), "link")});
}

void read(const Generator& to, proto::Tree& tree) {
  to.add(add_tree, TreeSpec{.arity = to.required(tree.has_arity(), tree.arity(), "arity"),
                            .depth = to.required(tree.has_depth(), tree.depth(), "depth"),
                            .link = to.required(tree.has_link(), tree.link(), "link")});
}

void read(const Generator& to, proto::FatTree& tree) {
  to.add(add_fat_tree, FatTreeSpec{.ports = to.required(tree.has_ports(), tree.ports(), "ports"),
                                   .link = to.required(tree.has_link(), tree.link(), "link")});
}

void read(const Generator& to, proto::LeafSpine& fabric) {
  if (!fabric.has_hosts()) fabric.set_hosts(1);
  to.add(add_leaf_spine,
         LeafSpineSpec{.leaves = to.required(fabric.has_leaves(), fabric.leaves(), "leaves"),
                       .spines = to.required(fabric.has_spines(), fabric.spines(), "spines"),
                       .hosts = fabric.hosts(),
                       .link = to.or_unlimited(fabric.has_link(), fabric.link(), "link"),
                       .uplink = to.required(fabric.has_uplink(), fabric.uplink(), "uplink")});
}

void read(const Generator& to, proto::Dragonfly& fabric) {
  if (!fabric.has_hosts()) fabric.set_hosts(1);
  if (!fabric.has_global_links()) fabric.set_global_links(1);
  to.add(add_dragonfly,
         DragonflySpec{.routers = to.required(fabric.has_routers(), fabric.routers(), "routers"),
                       .hosts = fabric.hosts(),
                       .global_links = fabric.global_links(),
                       .link = to.or_unlimited(fabric.has_link(), fabric.link(), "link"),
                       .global = to.required(fabric.has_global(), fabric.global(), "global")});
}

void read(const Generator& to, proto::Waxman& graph) {
  WaxmanSpec spec;
  if (!graph.has_alpha()) graph.set_alpha(spec.alpha);
  if (!graph.has_beta()) graph.set_beta(spec.beta);
  if (!graph.has_side()) graph.set_side("0 s");
  spec.count = to.required(graph.has_count(), graph.count(), "count");
  spec.alpha = graph.alpha();
  spec.beta = graph.beta();
  spec.side_s = to.time(graph.side(), "side");
  spec.link = to.required(graph.has_link(), graph.link(), "link");
  to.add(add_waxman, spec);
}

void read(const Generator& to, proto::BarabasiAlbert& graph) {
  if (!graph.has_links()) graph.set_links(2);
  to.add(add_barabasi_albert,
         BarabasiAlbertSpec{.count = to.required(graph.has_count(), graph.count(), "count"),
                            .links = graph.links(),
                            .link = to.required(graph.has_link(), graph.link(), "link")});
}

}  // namespace

void read_generator(Document& document, CheckedScenario& scenario) {
  proto::Topology& topology = *document.scenario().mutable_topology();
  const auto to = [&](const char* name) { return Generator(document, scenario, name); };
  switch (topology.base_case()) {
    case Base::kRing:
      return read(to("ring"), *topology.mutable_ring());
    case Base::kMesh:
      return read(to("mesh"), topology.mesh(), false);
    case Base::kTorus:
      return read(to("torus"), topology.torus(), true);
    case Base::kTree:
      return read(to("tree"), *topology.mutable_tree());
    case Base::kFatTree:
      return read(to("fat_tree"), *topology.mutable_fat_tree());
    case Base::kLeafSpine:
      return read(to("leaf_spine"), *topology.mutable_leaf_spine());
    case Base::kDragonfly:
      return read(to("dragonfly"), *topology.mutable_dragonfly());
    case Base::kWaxman:
      return read(to("waxman"), *topology.mutable_waxman());
    case Base::kBarabasiAlbert:
      return read(to("barabasi_albert"), *topology.mutable_barabasi_albert());
    default:
      return;
  }
}

}  // namespace syncline
