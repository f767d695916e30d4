// The training program: which steps and averages happened, in which order; no time and no address
// in it.
//
// The seam between sim/ and compute/: the simulation appends, a Trainer executes. Values
// (parameters, gradients, optimizer state) are immutable and numbered; replicas are mutable slots.
// List order is one topological order; identity is data flow:
//   key(result) = H(header, instruction, constants, keys of inputs)
// so runs that only reorder independent instructions have equal keys, and equal keys are trained
// once.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace syncline {

// 128 bits that identify a result.
struct Key {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend constexpr auto operator<=>(Key, Key) = default;
  std::string to_text() const;  // 32 hex digits
};
struct KeyHash {
  std::size_t operator()(Key key) const { return static_cast<std::size_t>(key.low); }
};
Key hash_text(std::string_view text);
// `words` mixed into `key` in order.
Key mix(Key key, std::span<const std::uint64_t> words);

enum class Part : std::uint8_t {
  PARAMETERS,
  OPTIMIZER,  // moments and step count of the inner optimizer
  ALL
};

// Part `index` of the `count` parts of the parameters: whole transformer layers, as
// compute/fragments.h has it. By default the whole.
struct Fragment {
  enum class Pattern : std::uint8_t { STRIDED, SEQUENTIAL };
  std::uint32_t index = 0;
  std::uint32_t count = 1;
  Pattern pattern = Pattern::STRIDED;
};

// How an outer step moves the global parameters along an averaged pseudo-gradient g = theta_old -
// mean(theta_k):
//   SGD       theta <- theta - lr g
//   NESTEROV  b <- momentum b + g;  theta <- theta - lr (g + momentum b)     (as in PyTorch's SGD;
//   b starts at 0)
struct OuterRule {
  enum class Kind : std::uint8_t { SGD, NESTEROV };
  Kind kind = Kind::NESTEROV;
  double lr = 0.7;
  double momentum = 0.9;
};

// How a payload is compressed on its way; bit for bit in the headers of compute/compression/.
enum class Codec : std::uint8_t {
  INT8,       // blocks of 256 signed bytes with a scale each: int8.h
  BF16,       // half.h
  FP16,       // half.h
  FP4_E2M1,   // blocks of 32 with a power of two each: fp4.h
  FP4_E3M0,   // fp4.h
  TOP_K,      // `keep` numbers of each block of 4096: sparse.h
  RANDOM_K,   // sparse.h
  TOP_K_2BIT  // sparse.h
};
struct CodecSpec {
  Codec codec = Codec::INT8;
  std::uint32_t keep = 64;  // TOP_K, RANDOM_K, TOP_K_2BIT; 1 to 4096
};

// A number made of the parameters in one value, or in two; summed in fp64.
enum class Measure : std::uint8_t {
  NORM,      // |a|, the root of the sum of squares
  DISTANCE,  // |a - b|
  DOT        // a · b
};

enum class Op : std::uint8_t {
  INIT,   // replica <- fresh parameters from `seed`, zero optimizer state
  STEP,   // `count` inner steps on batches first_batch, … of `stream`, at schedule positions
          // position, … ; number: mean loss
  GRAD,   // value <- mean gradient over `count` micro-batches first_batch, … of `stream`; number:
          // mean loss
  APPLY,  // inner optimizer on a given gradient at schedule `position`
  READ,   // value <- part of the replica, or a fragment of its parameters
  WRITE,  // that <- value
  LINEAR,       // value <- sum of weight_i · value_i, in order of the operands
  OUTER_STATE,  // value <- zero, for parameters of any shape: the state of an outer rule at first
  OUTER,        // (theta, state, gradient) -> value, value2
  EVAL,         // number <- loss of the parameters in a value on the held-out tokens, nats a token
  MEASURE,      // number <- Measure of one or two values
  ENCODE,       // value <- what a receiver of the value has after `codec` and back; with a residual
                // and its weight as second operand: of x = value + weight · residual, and value2
                // <- x minus that
  FREE_VALUE,   // lifetime ends
  FREE_REPLICA
};

using ValueIndex = std::uint32_t;
using NumberIndex = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xffffffff;

struct Operand {
  ValueIndex value = kNone;
  double weight = 1;
};

struct Instruction {
  Op op;
  Part part = Part::PARAMETERS;
  Fragment fragment;  // READ, WRITE
  CodecSpec codec;    // ENCODE
  Measure measure = Measure::NORM;
  std::uint32_t replica = kNone;
  std::uint32_t stream = 0;  // data stream (STEP, GRAD)
  std::uint32_t count = 0;   // steps or micro-batches
  std::uint64_t first_batch = 0;
  std::uint64_t position = 0;  // of the schedule; INIT, ENCODE: the seed
  ValueIndex result = kNone;
  ValueIndex result2 = kNone;  // OUTER: the new state; ENCODE: the new residual
  NumberIndex number = kNone;
  std::uint32_t first_operand = 0;  // into Program::operands()
  std::uint32_t operand_count = 0;
  std::uint32_t rule = kNone;  // into Program::rules()
  Key key;  // of what it makes: the replica's state after it, or its value (result2: mix(key, {2}))
};

class Program;

// A value's handle: move-only; its destructor appends FREE_VALUE.
class Value {
 public:
  Value() = default;
  Value(Value&& other) noexcept;
  Value& operator=(Value&& other) noexcept;
  ~Value();
  ValueIndex index() const { return index_; }
  explicit operator bool() const { return program_ != nullptr; }

 private:
  friend class Program;
  Value(Program* program, ValueIndex index) : program_(program), index_(index) {}
  Program* program_ = nullptr;
  ValueIndex index_ = kNone;
};

// A replica's handle: move-only; its destructor appends FREE_REPLICA.
class Replica {
 public:
  Replica() = default;
  Replica(Replica&& other) noexcept;
  Replica& operator=(Replica&& other) noexcept;
  ~Replica();
  std::uint32_t index() const { return index_; }
  explicit operator bool() const { return program_ != nullptr; }

 private:
  friend class Program;
  Replica(Program* program, std::uint32_t index) : program_(program), index_(index) {}
  Program* program_ = nullptr;
  std::uint32_t index_ = kNone;
};

// Append-only. The handles it gives out must not outlive it, and it must stay where it is.
class Program {
 public:
  // `header`: everything else that decides the numbers (model, data, optimizer, device, versions);
  // see Trainer::header().
  explicit Program(std::string header);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Replica init(std::uint64_t seed);
  // Returns the number of its mean training loss. count > 0.
  NumberIndex step(Replica& replica, std::uint32_t stream, std::uint64_t first_batch,
                   std::uint32_t count, std::uint64_t position);
  std::pair<Value, NumberIndex> grad(const Replica& replica, std::uint32_t stream,
                                     std::uint64_t first_batch, std::uint32_t micro_batches);
  void apply(Replica& replica, const Value& gradient, std::uint64_t position);
  // Fragments are of PARAMETERS.
  Value read(const Replica& replica, Part part, Fragment fragment = {});
  void write(Replica& replica, Part part, const Value& value, Fragment fragment = {});
  Value linear(std::span<const Operand> terms);
  // What arrives of `value` (all its parts) where it is sent compressed. Happens once, at the
  // sender: sums are of decoded values. `seed`: of RANDOM_K.
  Value encode(const Value& value, const CodecSpec& codec, std::uint64_t seed = 0);
  // The same with error feedback (Seide et al. 2014; Karimireddy et al. 2019: arXiv 1901.09847,
  // algorithm 2): what arrives of x = value + decay · residual, and the next residual, x minus what
  // arrives. The first residual is outer_state().
  std::pair<Value, Value> encode(const Value& value, const CodecSpec& codec, std::uint64_t seed,
                                 const Value& residual, double decay);
  Value outer_state();
  std::pair<Value, Value> outer(const Value& theta, const Value& state, const Value& gradient,
                                const OuterRule& rule);
  NumberIndex eval(const Value& parameters);
  NumberIndex measure(Measure what, const Value& a);  // NORM
  NumberIndex measure(Measure what, const Value& a, const Value& b);

  const std::string& header() const { return header_; }
  std::span<const Instruction> instructions() const { return instructions_; }
  std::span<const Operand> operands(const Instruction& instruction) const;
  const OuterRule& rule(const Instruction& instruction) const { return rules_[instruction.rule]; }
  std::size_t value_count() const { return value_keys_.size(); }
  std::size_t replica_count() const { return replica_keys_.size(); }
  std::size_t number_count() const { return number_keys_.size(); }
  Key value_key(ValueIndex value) const { return value_keys_[value]; }
  Key number_key(NumberIndex number) const { return number_keys_[number]; }
  // The replica's state after one more step from state `before`; STEP's key is this applied `count`
  // times.
  static Key step_key(Key before, std::uint32_t stream, std::uint64_t batch,
                      std::uint64_t position);

  // Identity of the whole: over the header and the keys of all EVALs, in no order. Equal for runs
  // that train the same.
  Key hash() const;

  // One instruction a line, for people and for replays: "step r2 stream=2 batches=20+20 position=20
  // -> n14".
  void write_text(std::ostream& out) const;

 private:
  friend class Value;
  friend class Replica;
  Instruction& append(Op op);
  Value new_value(Instruction& instruction, Key key);
  NumberIndex new_number(Key key);
  Instruction& encoded(const Value& value, const CodecSpec& codec, std::uint64_t seed);
  NumberIndex measured(Measure what, std::span<const ValueIndex> values);
  void free_value(ValueIndex value);
  void free_replica(std::uint32_t replica);

  std::string header_;
  Key header_key_;
  std::vector<Instruction> instructions_;
  std::vector<Operand> operands_;
  std::vector<OuterRule> rules_;
  std::vector<Key> value_keys_;
  std::vector<Key> replica_keys_;  // present state
  std::vector<Key> number_keys_;
  std::vector<Key> eval_keys_;
};

}  // namespace syncline
