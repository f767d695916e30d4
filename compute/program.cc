#include "compute/program.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <bit>
#include <ostream>

#include "topology/check.h"

namespace syncline {
namespace {

// The finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection of 64 bits in which every bit
// depends on every other.
std::uint64_t scramble(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// One round: two lanes with different constants, each fed by the other.
Key mix_word(Key key, std::uint64_t word) {
  const std::uint64_t low = scramble(key.low + 0x9e3779b97f4a7c15ull + word);
  const std::uint64_t high =
      scramble(key.high ^ std::rotl(low, 29) ^ (word * 0xd6e8feb86659fd93ull));
  return Key{high, low ^ std::rotl(high, 17)};
}

Key mix_words(Key key, std::initializer_list<std::uint64_t> words) {
  return mix(key, std::span<const std::uint64_t>(words.begin(), words.size()));
}

Key mix_key(Key key, Key other) { return mix_words(key, {other.high, other.low}); }

constexpr std::uint64_t word(Op op) { return static_cast<std::uint64_t>(op); }

bool fits(Part part, const Fragment& fragment) {
  return fragment.index < fragment.count && (fragment.count == 1 || part == Part::PARAMETERS);
}

// The whole has the key that it always had.
Key mix_fragment(Key key, const Fragment& fragment) {
  if (fragment.count == 1) return key;
  return mix_words(key,
                   {fragment.index, fragment.count, static_cast<std::uint64_t>(fragment.pattern)});
}

std::string text_of(Part part, const Fragment& fragment) {
  static constexpr const char* kParts[] = {"parameters", "optimizer", "all"};
  std::string text = kParts[static_cast<int>(part)];
  if (fragment.count > 1) {
    text += fmt::format(" {}/{} {}", fragment.index, fragment.count,
                        fragment.pattern == Fragment::Pattern::STRIDED ? "strided" : "sequential");
  }
  return text;
}

bool keeps_some(Codec codec) {
  return codec == Codec::TOP_K || codec == Codec::RANDOM_K || codec == Codec::TOP_K_2BIT;
}

std::string text_of(const CodecSpec& codec) {
  static constexpr const char* kCodecs[] = {"int8",     "bf16",  "fp16",     "fp4_e2m1",
                                            "fp4_e3m0", "top_k", "random_k", "top_k_2bit"};
  const std::string text = kCodecs[static_cast<int>(codec.codec)];
  return keeps_some(codec.codec) ? fmt::format("{} keep={}", text, codec.keep) : text;
}

constexpr std::uint64_t kLossTag = 0x6c6f7373;  // numbers made beside a state or a value
constexpr std::uint64_t kSecondTag = 2;         // the second result of an instruction

}  // namespace

std::string Key::to_text() const { return fmt::format("{:016x}{:016x}", high, low); }

Key mix(Key key, std::span<const std::uint64_t> words) {
  for (const std::uint64_t value : words) key = mix_word(key, value);
  return mix_word(key, words.size());
}

Key hash_text(std::string_view text) {
  Key key{0x73796e636c696e65ull, text.size()};
  std::uint64_t packed = 0;
  std::size_t filled = 0;
  for (const char c : text) {
    packed |= static_cast<std::uint64_t>(static_cast<unsigned char>(c)) << (8 * filled);
    if (++filled == 8) {
      key = mix_word(key, packed);
      packed = 0;
      filled = 0;
    }
  }
  return mix_word(key, packed);
}

Value::Value(Value&& other) noexcept
    : program_(std::exchange(other.program_, nullptr)),
      index_(std::exchange(other.index_, kNone)) {}

Value& Value::operator=(Value&& other) noexcept {
  std::swap(program_, other.program_);
  std::swap(index_, other.index_);
  return *this;
}

Value::~Value() {
  if (program_ != nullptr) program_->free_value(index_);
}

Replica::Replica(Replica&& other) noexcept
    : program_(std::exchange(other.program_, nullptr)),
      index_(std::exchange(other.index_, kNone)) {}

Replica& Replica::operator=(Replica&& other) noexcept {
  std::swap(program_, other.program_);
  std::swap(index_, other.index_);
  return *this;
}

Replica::~Replica() {
  if (program_ != nullptr) program_->free_replica(index_);
}

Program::Program(std::string header)
    : header_(std::move(header)), header_key_(hash_text(header_)) {}

Instruction& Program::append(Op op) {
  instructions_.emplace_back().op = op;
  return instructions_.back();
}

Value Program::new_value(Instruction& instruction, Key key) {
  SYNCLINE_CHECK(value_keys_.size() < kNone, "a program holds at most 2^32 - 1 values");
  const auto index = static_cast<ValueIndex>(value_keys_.size());
  value_keys_.push_back(key);
  (instruction.result == kNone ? instruction.result : instruction.result2) = index;
  return Value(this, index);
}

NumberIndex Program::new_number(Key key) {
  number_keys_.push_back(key);
  return static_cast<NumberIndex>(number_keys_.size() - 1);
}

Replica Program::init(std::uint64_t seed) {
  const auto index = static_cast<std::uint32_t>(replica_keys_.size());
  Instruction& made = append(Op::INIT);
  made.replica = index;
  made.position = seed;
  made.key = mix_words(header_key_, {word(Op::INIT), seed});
  replica_keys_.push_back(made.key);
  return Replica(this, index);
}

Key Program::step_key(Key before, std::uint32_t stream, std::uint64_t batch,
                      std::uint64_t position) {
  return mix_words(before, {word(Op::STEP), stream, batch, position});
}

NumberIndex Program::step(Replica& replica, std::uint32_t stream, std::uint64_t first_batch,
                          std::uint32_t count, std::uint64_t position) {
  SYNCLINE_CHECK(count > 0, "a STEP takes at least one step");
  Key& state = replica_keys_[replica.index()];
  const Key before = state;
  for (std::uint32_t i = 0; i < count; ++i)
    state = step_key(state, stream, first_batch + i, position + i);
  Instruction& made = append(Op::STEP);
  made.replica = replica.index();
  made.stream = stream;
  made.count = count;
  made.first_batch = first_batch;
  made.position = position;
  made.key = state;
  made.number = new_number(mix_words(mix_key(before, state), {kLossTag}));
  return made.number;
}

std::pair<Value, NumberIndex> Program::grad(const Replica& replica, std::uint32_t stream,
                                            std::uint64_t first_batch,
                                            std::uint32_t micro_batches) {
  SYNCLINE_CHECK(micro_batches > 0, "a GRAD reads at least one batch");
  Instruction& made = append(Op::GRAD);
  made.replica = replica.index();
  made.stream = stream;
  made.count = micro_batches;
  made.first_batch = first_batch;
  made.key = mix_words(replica_keys_[replica.index()],
                       {word(Op::GRAD), stream, first_batch, micro_batches});
  Value value = new_value(made, made.key);
  made.number = new_number(mix_words(made.key, {kLossTag}));
  return {std::move(value), made.number};
}

void Program::apply(Replica& replica, const Value& gradient, std::uint64_t position) {
  Key& state = replica_keys_[replica.index()];
  state = mix_words(mix_key(state, value_keys_[gradient.index()]), {word(Op::APPLY), position});
  Instruction& made = append(Op::APPLY);
  made.replica = replica.index();
  made.position = position;
  made.key = state;
  made.first_operand = static_cast<std::uint32_t>(operands_.size());
  made.operand_count = 1;
  operands_.push_back(Operand{gradient.index(), 1});
}

Value Program::read(const Replica& replica, Part part, Fragment fragment) {
  SYNCLINE_CHECK(fits(part, fragment), "fragments are of the parameters");
  Instruction& made = append(Op::READ);
  made.replica = replica.index();
  made.part = part;
  made.fragment = fragment;
  made.key = mix_fragment(
      mix_words(replica_keys_[replica.index()], {word(Op::READ), static_cast<std::uint64_t>(part)}),
      fragment);
  return new_value(made, made.key);
}

void Program::write(Replica& replica, Part part, const Value& value, Fragment fragment) {
  SYNCLINE_CHECK(fits(part, fragment), "fragments are of the parameters");
  Key& state = replica_keys_[replica.index()];
  const Key written = value_keys_[value.index()];
  // A whole state owes nothing to the one before it.
  state = part == Part::ALL ? mix_words(written, {word(Op::WRITE)})
                            : mix_words(mix_key(state, written),
                                        {word(Op::WRITE), static_cast<std::uint64_t>(part)});
  state = mix_fragment(state, fragment);
  Instruction& made = append(Op::WRITE);
  made.replica = replica.index();
  made.part = part;
  made.fragment = fragment;
  made.key = state;
  made.first_operand = static_cast<std::uint32_t>(operands_.size());
  made.operand_count = 1;
  operands_.push_back(Operand{value.index(), 1});
}

Value Program::linear(std::span<const Operand> terms) {
  SYNCLINE_CHECK(!terms.empty(), "a LINEAR has at least one term");
  Instruction& made = append(Op::LINEAR);
  made.first_operand = static_cast<std::uint32_t>(operands_.size());
  made.operand_count = static_cast<std::uint32_t>(terms.size());
  Key key = mix_words(header_key_, {word(Op::LINEAR), terms.size()});
  for (const Operand& term : terms) {
    key = mix_words(mix_key(key, value_keys_[term.value]),
                    {std::bit_cast<std::uint64_t>(term.weight)});
    operands_.push_back(term);
  }
  made.key = key;
  return new_value(made, key);
}

// INT8 alone has the key that it always had.
Instruction& Program::encoded(const Value& value, const CodecSpec& codec, std::uint64_t seed) {
  Instruction& made = append(Op::ENCODE);
  made.codec = codec;
  made.first_operand = static_cast<std::uint32_t>(operands_.size());
  made.operand_count = 1;
  made.key = mix_words(value_keys_[value.index()],
                       {word(Op::ENCODE), static_cast<std::uint64_t>(codec.codec)});
  if (keeps_some(codec.codec)) {
    SYNCLINE_CHECK(codec.keep > 0, "something of each block is kept");
    made.key = mix_words(made.key, {codec.keep});
  }
  if (codec.codec == Codec::RANDOM_K) {
    made.position = seed;
    made.key = mix_words(made.key, {seed});
  }
  operands_.push_back(Operand{value.index(), 1});
  return made;
}

Value Program::encode(const Value& value, const CodecSpec& codec, std::uint64_t seed) {
  Instruction& made = encoded(value, codec, seed);
  return new_value(made, made.key);
}

std::pair<Value, Value> Program::encode(const Value& value, const CodecSpec& codec,
                                        std::uint64_t seed, const Value& residual, double decay) {
  Instruction& made = encoded(value, codec, seed);
  made.operand_count = 2;
  operands_.push_back(Operand{residual.index(), decay});
  made.key = mix_words(mix_key(made.key, value_keys_[residual.index()]),
                       {std::bit_cast<std::uint64_t>(decay)});
  Value sent = new_value(made, made.key);
  Value dropped = new_value(made, mix_words(made.key, {kSecondTag}));
  return {std::move(sent), std::move(dropped)};
}

Value Program::outer_state() {
  Instruction& made = append(Op::OUTER_STATE);
  made.key = mix_words(header_key_, {word(Op::OUTER_STATE)});
  return new_value(made, made.key);
}

std::pair<Value, Value> Program::outer(const Value& theta, const Value& state,
                                       const Value& gradient, const OuterRule& rule) {
  Instruction& made = append(Op::OUTER);
  made.first_operand = static_cast<std::uint32_t>(operands_.size());
  made.operand_count = 3;
  Key key = mix_words(header_key_, {word(Op::OUTER), static_cast<std::uint64_t>(rule.kind),
                                    std::bit_cast<std::uint64_t>(rule.lr),
                                    std::bit_cast<std::uint64_t>(rule.momentum)});
  for (const Value* operand : {&theta, &state, &gradient}) {
    key = mix_key(key, value_keys_[operand->index()]);
    operands_.push_back(Operand{operand->index(), 1});
  }
  made.key = key;
  // The same rule serves every round: it is stored once.
  const auto same = std::find_if(rules_.begin(), rules_.end(), [&](const OuterRule& known) {
    return known.kind == rule.kind && known.lr == rule.lr && known.momentum == rule.momentum;
  });
  made.rule = static_cast<std::uint32_t>(same - rules_.begin());
  if (same == rules_.end()) rules_.push_back(rule);
  Value next = new_value(made, key);
  Value next_state = new_value(made, mix_words(key, {kSecondTag}));
  return {std::move(next), std::move(next_state)};
}

NumberIndex Program::eval(const Value& parameters) {
  Instruction& made = append(Op::EVAL);
  made.first_operand = static_cast<std::uint32_t>(operands_.size());
  made.operand_count = 1;
  made.key = mix_words(value_keys_[parameters.index()], {word(Op::EVAL)});
  operands_.push_back(Operand{parameters.index(), 1});
  made.number = new_number(made.key);
  eval_keys_.push_back(made.key);
  return made.number;
}

NumberIndex Program::measure(Measure what, const Value& a) {
  SYNCLINE_CHECK(what == Measure::NORM, "a distance and a product are of two values");
  const ValueIndex values[] = {a.index()};
  return measured(what, values);
}

NumberIndex Program::measure(Measure what, const Value& a, const Value& b) {
  SYNCLINE_CHECK(what != Measure::NORM, "a norm is of one value");
  const ValueIndex values[] = {a.index(), b.index()};
  return measured(what, values);
}

NumberIndex Program::measured(Measure what, std::span<const ValueIndex> values) {
  Instruction& made = append(Op::MEASURE);
  made.measure = what;
  made.first_operand = static_cast<std::uint32_t>(operands_.size());
  made.operand_count = static_cast<std::uint32_t>(values.size());
  Key key = mix_words(header_key_, {word(Op::MEASURE), static_cast<std::uint64_t>(what)});
  for (const ValueIndex value : values) {
    key = mix_key(key, value_keys_[value]);
    operands_.push_back(Operand{value, 1});
  }
  made.key = key;
  made.number = new_number(key);
  return made.number;
}

void Program::free_value(ValueIndex value) { append(Op::FREE_VALUE).result = value; }

void Program::free_replica(std::uint32_t replica) { append(Op::FREE_REPLICA).replica = replica; }

std::span<const Operand> Program::operands(const Instruction& instruction) const {
  return std::span(operands_).subspan(instruction.first_operand, instruction.operand_count);
}

Key Program::hash() const {
  std::vector<Key> keys = eval_keys_;
  std::sort(keys.begin(), keys.end());
  Key key = mix_words(header_key_, {keys.size()});
  for (const Key eval : keys) key = mix_key(key, eval);
  return key;
}

void Program::write_text(std::ostream& out) const {
  std::size_t start = 0;
  while (start < header_.size()) {
    const std::size_t end = std::min(header_.find('\n', start), header_.size());
    fmt::print(out, "# {}\n", std::string_view(header_).substr(start, end - start));
    start = end + 1;
  }
  for (const Instruction& i : instructions_) {
    const std::span<const Operand> in = operands(i);
    switch (i.op) {
      case Op::INIT:
        fmt::print(out, "init r{} seed={}\n", i.replica, i.position);
        break;
      case Op::STEP:
        fmt::print(out, "step r{} stream={} batches={}+{} position={} -> n{}\n", i.replica,
                   i.stream, i.first_batch, i.count, i.position, i.number);
        break;
      case Op::GRAD:
        fmt::print(out, "grad r{} stream={} batches={}+{} -> v{} n{}\n", i.replica, i.stream,
                   i.first_batch, i.count, i.result, i.number);
        break;
      case Op::APPLY:
        fmt::print(out, "apply r{} v{} position={}\n", i.replica, in[0].value, i.position);
        break;
      case Op::READ:
        fmt::print(out, "read r{} {} -> v{}\n", i.replica, text_of(i.part, i.fragment), i.result);
        break;
      case Op::WRITE:
        fmt::print(out, "write r{} {} v{}\n", i.replica, text_of(i.part, i.fragment), in[0].value);
        break;
      case Op::LINEAR:
        fmt::print(out, "linear");
        for (const Operand& term : in) fmt::print(out, " {}*v{}", term.weight, term.value);
        fmt::print(out, " -> v{}\n", i.result);
        break;
      case Op::ENCODE:
        fmt::print(out, "encode v{} {}", in[0].value, text_of(i.codec));
        if (i.codec.codec == Codec::RANDOM_K) fmt::print(out, " seed={}", i.position);
        if (in.size() > 1) fmt::print(out, " + {}*v{}", in[1].weight, in[1].value);
        fmt::print(out, " -> v{}", i.result);
        if (in.size() > 1) fmt::print(out, " v{}", i.result2);
        fmt::print(out, "\n");
        break;
      case Op::OUTER_STATE:
        fmt::print(out, "outer_state -> v{}\n", i.result);
        break;
      case Op::OUTER: {
        const OuterRule& rule = rules_[i.rule];
        fmt::print(out, "outer v{} v{} v{} {} lr={} momentum={} -> v{} v{}\n", in[0].value,
                   in[1].value, in[2].value, rule.kind == OuterRule::Kind::SGD ? "sgd" : "nesterov",
                   rule.lr, rule.momentum, i.result, i.result2);
        break;
      }
      case Op::EVAL:
        fmt::print(out, "eval v{} -> n{}\n", in[0].value, i.number);
        break;
      case Op::MEASURE: {
        static constexpr const char* kMeasures[] = {"norm", "distance", "dot"};
        fmt::print(out, "measure {}", kMeasures[static_cast<int>(i.measure)]);
        for (const Operand& of : in) fmt::print(out, " v{}", of.value);
        fmt::print(out, " -> n{}\n", i.number);
        break;
      }
      case Op::FREE_VALUE:
        fmt::print(out, "free v{}\n", i.result);
        break;
      case Op::FREE_REPLICA:
        fmt::print(out, "free r{}\n", i.replica);
        break;
    }
  }
}

}  // namespace syncline
