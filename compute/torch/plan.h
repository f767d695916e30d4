// What of a program must be executed, and in which order. No LibTorch here.
//
// By demand: backwards from the evaluations whose numbers are not known, up to states that are kept
// (in memory, in a snapshot, also in the middle of a STEP). Then forwards: which instruction may
// run when.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "compute/program.h"

namespace syncline {

// One instruction to execute; or only the loading of the state that it would make.
struct PlanNode {
  std::uint32_t instruction = 0;
  bool load = false;       // first bring the replica or value to `state`
  bool run = true;         // then execute the rest of the instruction
  std::uint32_t done = 0;  // steps of a STEP that `state` has behind it
  Key state;
  Key before;  // STEP: the replica's key before the whole STEP
};

// What is there already.
struct KnownStates {
  std::function<bool(NumberIndex)> number;
  std::function<bool(std::uint32_t replica, Key)> replica;
  std::function<bool(ValueIndex)> value;
};

class Plan {
 public:
  // `keep_values`: values that the program has not freed are brought too, since it grows and will
  // ask for them.
  Plan(const Program& program, const KnownStates& known, bool keep_values);

  const std::vector<PlanNode>& nodes() const { return nodes_; }  // in list order
  const Instruction& instruction(std::uint32_t node) const {
    return program_->instructions()[nodes_[node].instruction];
  }
  std::uint64_t steps() const { return steps_; }  // inner steps and micro-batches in all

  // Execution. Nodes that may start, lowest first, in two kinds: STEP and GRAD with batches to run,
  // and all others.
  std::vector<std::uint32_t> take_ready_others();
  const std::vector<std::uint32_t>& ready_batches() const { return ready_batches_; }
  void finish(std::uint32_t node);
  bool finished() const { return unfinished_ == 0; }

  // After finish(): nobody will read it again, and the program has ended its lifetime. What lives
  // until the program's end does not die here: a longer program goes on from it.
  bool value_dead(ValueIndex value) const {
    return freed_values_[value] && value_uses_[value] == 0;
  }
  bool replica_dead(std::uint32_t replica) const {
    return freed_replicas_[replica] && replica_uses_[replica] == 0;
  }
  // Some node still needs it.
  bool replica_wanted(std::uint32_t replica) const { return replica_uses_[replica] != 0; }

 private:
  void slice(const KnownStates& known, bool keep_values);
  void connect();
  void make_ready(std::uint32_t node);

  const Program* program_;
  std::vector<PlanNode> nodes_;
  std::vector<std::vector<std::uint32_t>> after_;  // by node: those that wait for it
  std::vector<std::uint32_t> waits_for_;           // by node: how many it waits for
  std::vector<std::uint32_t> ready_others_;
  std::vector<std::uint32_t> ready_batches_;
  std::vector<std::uint32_t> value_uses_;
  std::vector<std::uint32_t> replica_uses_;
  std::vector<bool> freed_values_;
  std::vector<bool> freed_replicas_;
  std::size_t unfinished_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace syncline
