#include "vocabulary/segment_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "common/hash.hpp"

namespace tokamata {

namespace {

constexpr std::uint64_t kMark = 0x31'50'41'4b'4f'54'00'05;  // and the form of what follows

template <class Number>
void append(Number value, std::string& bytes) {
  static_assert(std::is_unsigned_v<Number>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Number>
void append(const std::vector<Number>& values, std::string& bytes) {
  static_assert(std::is_unsigned_v<Number>);
  if (!values.empty()) bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number));
}

// Takes numbers from the front; once they do not suffice, there is nothing more to be had.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class Number>
  Number number() {
    Number value{};
    if (take(sizeof value)) std::memcpy(&value, taken_.data(), sizeof value);
    return value;
  }

  // Empty where there are not so many: no more is held than the bytes say, whatever number is requested.
  template <class Number>
  std::vector<Number> numbers(std::uint64_t count) {
    if (count > bytes_.size() / sizeof(Number) || !take(static_cast<std::size_t>(count) * sizeof(Number))) {
      is_good_ = false;
      return {};
    }
    std::vector<Number> values(static_cast<std::size_t>(count));
    if (count > 0) std::memcpy(values.data(), taken_.data(), taken_.size());
    return values;
  }

  std::string_view text(std::uint64_t length) {
    if (length > bytes_.size()) is_good_ = false;
    return take(static_cast<std::size_t>(is_good_ ? length : 0)) ? taken_ : std::string_view();
  }

  std::string_view rest() const { return bytes_; }
  bool is_good() const { return is_good_; }

 private:
  bool take(std::size_t count) {
    is_good_ = is_good_ && count <= bytes_.size();
    if (!is_good_) return false;
    taken_ = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return true;
  }

  std::string_view bytes_, taken_;
  bool is_good_ = true;
};

}  // namespace

std::uint64_t checksum_of(std::string_view bytes) { return hash_of(bytes, kMark); }

std::string bytes_of_segment(std::string_view structure, const Segment& segment) {
  std::string body;
  append(std::uint64_t{structure.size()}, body);
  body += structure;
  const Words inside = segment.inside.is_listed() ? Words() : *segment.inside.bits;
  append(std::uint64_t{inside.size()}, body);
  append(inside, body);
  append(std::uint64_t{segment.inside.listed.size()}, body);
  append(segment.inside.listed, body);
  append(segment.trunk.value, body);
  append(segment.most, body);
  const TokenTrie::Numbers numbers = segment.remainders.numbers();
  append(std::uint64_t{numbers.bytes.size()}, body);
  append(numbers.bytes, body);
  append(numbers.children, body);
  append(numbers.own, body);
  append(std::uint64_t{numbers.tokens.size()}, body);
  append(numbers.tokens, body);
  std::string bytes;
  bytes.reserve(body.size() + 2 * sizeof kMark);
  append(kMark, bytes);
  append(checksum_of(body), bytes);
  return bytes += body;
}

std::optional<std::string_view> structure_of(std::string_view bytes) {
  Reader reader(bytes);
  reader.text(2 * sizeof kMark);
  const std::string_view structure = reader.text(reader.number<std::uint64_t>());
  return reader.is_good() ? std::optional(structure) : std::nullopt;
}

std::optional<Segment> segment_of_bytes(std::string_view bytes, std::string_view structure, const Words& text,
                                        std::size_t nodes) {
  Reader reader(bytes);
  if (reader.number<std::uint64_t>() != kMark) return std::nullopt;
  const auto sum = reader.number<std::uint64_t>();
  if (!reader.is_good() || sum != checksum_of(reader.rest())) return std::nullopt;

  if (reader.text(reader.number<std::uint64_t>()) != structure) return std::nullopt;
  Segment segment;
  Words inside = reader.numbers<std::uint32_t>(reader.number<std::uint64_t>());
  segment.inside.listed = reader.numbers<std::uint32_t>(reader.number<std::uint64_t>());
  segment.trunk = {reader.number<std::uint32_t>()};
  segment.most = reader.number<std::uint32_t>();
  TokenTrie::Numbers numbers;
  const auto count = reader.number<std::uint64_t>();
  numbers.bytes = reader.numbers<std::uint8_t>(count);
  numbers.children = reader.numbers<std::uint32_t>(count);
  numbers.own = reader.numbers<std::uint32_t>(count);
  numbers.tokens = reader.numbers<std::uint32_t>(reader.number<std::uint64_t>());
  if (!reader.is_good() || !reader.rest().empty() || segment.trunk.value >= nodes) return std::nullopt;

  const std::vector<std::uint32_t>& listed = segment.inside.listed;
  if (!inside.empty() && (inside.size() != text.size() || !listed.empty())) return std::nullopt;
  for (std::size_t i = 0; i < inside.size(); ++i)
    if ((inside[i] & ~text[i]) != 0) return std::nullopt;
  const auto is_none = [&](std::uint32_t token) { return token / 32 >= text.size() || !has_bit(text, token); };
  if (std::ranges::any_of(listed, is_none) || std::ranges::any_of(numbers.tokens, is_none)) return std::nullopt;
  std::optional<TokenTrie> remainders = TokenTrie::of(numbers);
  if (!remainders) return std::nullopt;
  if (!inside.empty()) segment.inside.bits = std::make_shared<const Words>(std::move(inside));
  segment.remainders = *std::move(remainders);
  return segment;
}

}  // namespace tokamata
