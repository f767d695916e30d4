#include "compute/torch/plan.h"

#include <algorithm>
#include <utility>

#include "topology/check.h"

namespace syncline {
namespace {

bool changes_replica(Op op) {
  return op == Op::INIT || op == Op::STEP || op == Op::APPLY || op == Op::WRITE;
}
bool reads_replica(Op op) { return op == Op::READ || op == Op::GRAD; }
// And nothing else: wanted for its own sake.
bool makes_number(Op op) { return op == Op::EVAL || op == Op::MEASURE; }
bool is_free(Op op) { return op == Op::FREE_VALUE || op == Op::FREE_REPLICA; }
bool runs_batches(const PlanNode& node, const Instruction& instruction) {
  return node.run && (instruction.op == Op::STEP || instruction.op == Op::GRAD);
}

// By instruction: the replica's key before it.
std::vector<Key> keys_before(const Program& program) {
  std::vector<Key> before(program.instructions().size());
  std::vector<Key> present(program.replica_count());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Instruction& instruction = program.instructions()[i];
    if (!changes_replica(instruction.op)) continue;
    before[i] = present[instruction.replica];
    present[instruction.replica] = instruction.key;
  }
  return before;
}

// How many of a STEP's steps the latest known state has behind it.
std::uint32_t steps_known(const Instruction& step, Key before, const KnownStates& known,
                          Key& state) {
  std::uint32_t done = 0;
  Key key = before;
  for (std::uint32_t i = 0; i < step.count; ++i) {
    key = Program::step_key(key, step.stream, step.first_batch + i, step.position + i);
    if (known.replica(step.replica, key)) {
      done = i + 1;
      state = key;
    }
  }
  return done;
}

}  // namespace

Plan::Plan(const Program& program, const KnownStates& known, bool keep_values)
    : program_(&program),
      value_uses_(program.value_count(), 0),
      replica_uses_(program.replica_count(), 0),
      freed_values_(program.value_count(), false),
      freed_replicas_(program.replica_count(), false) {
  std::size_t end = program.instructions().size();
  while (end > 0 && is_free(program.instructions()[end - 1].op)) --end;
  for (const Instruction& instruction : program.instructions().first(end)) {
    if (instruction.op == Op::FREE_VALUE) freed_values_[instruction.result] = true;
    if (instruction.op == Op::FREE_REPLICA) freed_replicas_[instruction.replica] = true;
  }
  slice(known, keep_values);
  connect();
}

void Plan::slice(const KnownStates& known, bool keep_values) {
  const std::vector<Key> before = keys_before(*program_);
  std::vector<bool> replica_needed(program_->replica_count(), false);
  std::vector<bool> value_needed(program_->value_count(), false);
  if (keep_values) {
    value_needed.flip();
    for (const Instruction& instruction : program_->instructions()) {
      if (instruction.op == Op::FREE_VALUE) value_needed[instruction.result] = false;
    }
  }
  for (std::size_t i = before.size(); i-- > 0;) {
    const Instruction& instruction = program_->instructions()[i];
    PlanNode node;
    node.instruction = static_cast<std::uint32_t>(i);
    node.before = before[i];
    const auto need_operands = [&] {
      for (const Operand& operand : program_->operands(instruction))
        value_needed[operand.value] = true;
    };
    if (makes_number(instruction.op)) {
      if (known.number(instruction.number)) continue;
      need_operands();
    } else if (changes_replica(instruction.op)) {
      if (!replica_needed[instruction.replica]) continue;
      if (instruction.op == Op::STEP) {
        node.done = steps_known(instruction, before[i], known, node.state);
        node.load = node.done > 0;
        node.run = node.done < instruction.count;
      } else if (instruction.op != Op::INIT &&
                 known.replica(instruction.replica, instruction.key)) {
        node.load = true;
        node.run = false;
        node.state = instruction.key;
      }
      const bool fresh = instruction.op == Op::INIT ||
                         (instruction.op == Op::WRITE && instruction.part == Part::ALL);
      replica_needed[instruction.replica] = !node.load && !fresh;
      if (node.run) need_operands();
    } else if (!is_free(instruction.op)) {
      // Makes one value, or two.
      const auto wanted = [&](ValueIndex value) { return value != kNone && value_needed[value]; };
      if (!wanted(instruction.result) && !wanted(instruction.result2)) continue;
      const auto there = [&](ValueIndex value) { return !wanted(value) || known.value(value); };
      if (there(instruction.result) && there(instruction.result2)) {
        node.load = true;
        node.run = false;
      } else {
        need_operands();
        if (reads_replica(instruction.op)) replica_needed[instruction.replica] = true;
      }
    } else {
      continue;
    }
    nodes_.push_back(node);
  }
  std::reverse(nodes_.begin(), nodes_.end());
}

void Plan::connect() {
  const auto count = static_cast<std::uint32_t>(nodes_.size());
  unfinished_ = count;
  after_.resize(count);
  waits_for_.assign(count, 0);
  std::vector<std::uint32_t> producer(program_->value_count(), kNone);
  std::vector<std::uint32_t> changer(program_->replica_count(),
                                     kNone);  // last node that changed the replica
  std::vector<std::vector<std::uint32_t>> readers(program_->replica_count());  // since then
  const auto edge = [&](std::uint32_t from, std::uint32_t to) {
    if (from == kNone) return;
    after_[from].push_back(to);
    ++waits_for_[to];
  };
  for (std::uint32_t n = 0; n < count; ++n) {
    const Instruction& i = instruction(n);
    const PlanNode& node = nodes_[n];
    const bool reads = reads_replica(i.op) && node.run;
    if (changes_replica(i.op) || reads) {
      edge(changer[i.replica], n);
      ++replica_uses_[i.replica];
    }
    if (changes_replica(i.op)) {
      for (const std::uint32_t reader : readers[i.replica]) edge(reader, n);
      readers[i.replica].clear();
      changer[i.replica] = n;
    } else if (reads) {
      readers[i.replica].push_back(n);
    }
    if (node.run) {
      for (const Operand& operand : program_->operands(i)) {
        SYNCLINE_CHECK(producer[operand.value] != kNone, "a needed value has a producer before it");
        edge(producer[operand.value], n);
        ++value_uses_[operand.value];
      }
      if (i.op == Op::STEP) steps_ += i.count - node.done;
      if (i.op == Op::GRAD) steps_ += i.count;
    }
    if (!changes_replica(i.op) && !makes_number(i.op)) {
      for (const ValueIndex value : {i.result, i.result2}) {
        if (value != kNone) producer[value] = n;
      }
    }
  }
  for (std::uint32_t n = 0; n < count; ++n) {
    if (waits_for_[n] == 0) make_ready(n);
  }
}

void Plan::make_ready(std::uint32_t node) {
  std::vector<std::uint32_t>& list =
      runs_batches(nodes_[node], instruction(node)) ? ready_batches_ : ready_others_;
  list.insert(std::lower_bound(list.begin(), list.end(), node), node);
}

std::vector<std::uint32_t> Plan::take_ready_others() { return std::exchange(ready_others_, {}); }

void Plan::finish(std::uint32_t node) {
  std::erase(ready_batches_, node);
  --unfinished_;
  const Instruction& i = instruction(node);
  if (nodes_[node].run) {
    for (const Operand& operand : program_->operands(i)) --value_uses_[operand.value];
  }
  if (changes_replica(i.op) || (reads_replica(i.op) && nodes_[node].run))
    --replica_uses_[i.replica];
  for (const std::uint32_t next : after_[node]) {
    if (--waits_for_[next] == 0) make_ready(next);
  }
}

}  // namespace syncline
