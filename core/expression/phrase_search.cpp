#include "expression/phrase_search.hpp"

#include <algorithm>
#include <stdexcept>

#include "expression/utf8.hpp"

namespace tokamata {

PhraseSearch::PhraseSearch(std::string phrase) : phrase_(std::move(phrase)) {
  if (phrase_.empty() || phrase_.size() >= kNone) throw std::invalid_argument("a phrase has between 1 byte and 4 GiB");
  fallback_.resize(phrase_.size());
  fallback_[0] = kNone;
  std::uint32_t prefix = 0;  // the longest proper prefix that the phrase ends with at i
  for (std::uint32_t i = 1; i < phrase_.size(); ++i) {
    fallback_[i] = phrase_[i] == phrase_[prefix] ? fallback_[prefix] : prefix;
    prefix = step(prefix, static_cast<std::uint8_t>(phrase_[i]));
  }
}

std::uint32_t PhraseSearch::step(std::uint32_t position, std::uint8_t byte) const {
  while (static_cast<std::uint8_t>(phrase_[position]) != byte) {
    position = fallback_[position];
    if (position == kNone) return 0;
  }
  return position + 1;
}

std::string_view PhraseSearch::begun(std::uint32_t position) const {
  if (!is_continuation(phrase_[position])) return {};
  std::uint32_t begin = position - 1;
  while (is_continuation(phrase_[begin])) --begin;
  return std::string_view(phrase_).substr(begin, position - begin);
}

ByteSet PhraseSearch::going_on(std::uint32_t position) const {
  ByteSet bytes;
  for (; position != kNone; position = fallback_[position]) bytes.add(static_cast<std::uint8_t>(phrase_[position]));
  return bytes;
}

std::uint32_t PhraseSearch::code_points_left(std::uint32_t position, std::uint32_t most) const {
  const std::string_view next = std::string_view(phrase_).substr(position, most);
  return static_cast<std::uint32_t>(next.size() -
                                    static_cast<std::size_t>(std::ranges::count_if(next, is_continuation)));
}

}  // namespace tokamata
