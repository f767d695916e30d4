// Quantities with units. A unit error does not compile; a number without its unit does not parse.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace syncline {

// Virtual time: a count of nanoseconds, used for instants (since the start of the run) and for
// durations. Arithmetic saturates at both ends of the 64 bits. max() means "never" and absorbs:
// never plus or minus anything is never.
class Time {
 public:
  constexpr Time() = default;
  static constexpr Time ns(std::int64_t count) { return Time(count); }
  // The one place where floats become time: rounded to nearest, saturating; NaN is an assertion
  // failure.
  static Time seconds(double s);
  static constexpr Time max() { return Time(std::numeric_limits<std::int64_t>::max()); }
  static constexpr Time min() { return Time(std::numeric_limits<std::int64_t>::min()); }

  constexpr std::int64_t count_ns() const { return ns_; }
  constexpr double in_seconds() const { return static_cast<double>(ns_) / 1e9; }

  friend constexpr auto operator<=>(Time, Time) = default;
  friend constexpr Time operator+(Time a, Time b) {
    if (a == max() || b == max()) return max();
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a.ns_, b.ns_, &sum)) return a.ns_ < 0 ? min() : max();
    return Time(sum);
  }
  friend constexpr Time operator-(Time a, Time b) {  // max() - anything = max()
    if (a == max()) return max();
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a.ns_, b.ns_, &difference)) return a.ns_ < 0 ? min() : max();
    return Time(difference);
  }
  friend Time operator*(Time a, std::int64_t factor);  // factor >= 0; zero times never is zero
  constexpr Time& operator+=(Time other) { return *this = *this + other; }

 private:
  explicit constexpr Time(std::int64_t ns) : ns_(ns) {}
  std::int64_t ns_ = 0;
};

// A count of bytes. Payloads and accounts are whole bytes.
class Bytes {
 public:
  constexpr Bytes() = default;
  explicit constexpr Bytes(std::int64_t count) : count_(count) {}
  constexpr std::int64_t count() const { return count_; }
  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.count_ + b.count_); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.count_ - b.count_); }
  Bytes& operator+=(Bytes other) { return *this = *this + other; }

 private:
  std::int64_t count_ = 0;
};

// A bit rate, held in bytes per second as a double. Zero stalls; infinite() is "no limit".
class BitRate {
 public:
  constexpr BitRate() = default;
  static constexpr BitRate bytes_per_s(double value) { return BitRate(value); }
  static constexpr BitRate bits_per_s(double value) { return BitRate(value / 8); }
  static constexpr BitRate infinite() { return BitRate(std::numeric_limits<double>::infinity()); }
  constexpr double in_bytes_per_s() const { return value_; }
  constexpr double in_bits_per_s() const { return value_ * 8; }
  friend constexpr auto operator<=>(BitRate, BitRate) = default;

 private:
  explicit constexpr BitRate(double value) : value_(value) {}
  double value_ = 0;
};

// What a text is read as. Base units: seconds, bytes/s, bytes, 1.
enum class Dimension { TIME, BIT_RATE, BYTES, NUMBER };

// "20 ms" -> 0.02, "1 Gbit/s" -> 1.25e8, "3.5 MiB" -> 3670016, in the dimension's base unit.
//   Time:       ns us ms s min h d
//   Bit rates:  [k K M G T P Ki Mi Gi Ti] with bit/s, b/s, bps (bits) or B/s, Bps (bytes)
//   Bytes:      B, kB KB MB GB TB PB (powers of 1000), KiB MiB GiB TiB
//   NUMBER:     no unit
// The space is optional; case matters. Decimal prefixes are powers of 1000 ("1 GB/s" is 1e9, never
// 2^30). Numbers are decimal, "20", "0.5", "1e3".
// Throws InputError for: no unit, unknown unit, a unit of another dimension, not a number, NaN,
// infinite, too large for a double, negative; each message says what was read and gives a right
// form.
double parse_quantity(std::string_view text, Dimension dimension);

Time parse_time(std::string_view text);
BitRate parse_bit_rate(std::string_view text);
Bytes parse_bytes(std::string_view text);  // rounded to whole bytes

// For people: "1.5 s", "20 ms", "1 Gbit/s", "3.41 MB". Shortest form that reads well (4 significant
// digits); reading it back gives the same to these digits. Time::max() is "never",
// BitRate::infinite() is "no limit".
std::string to_text(Time time);
std::string to_text(BitRate rate);
std::string to_text(Bytes bytes);

}  // namespace syncline
