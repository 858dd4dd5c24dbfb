// What a pattern denotes, said once and directly: the spans of one text that it matches.
//
// Problem.   Whether a whole text is matched, with lookaround, complements and the edges of tokens.
// How.       For a text of n symbols and a scope from `first` to `last`, a part of a pattern is the set of
//            spans (begin, end) that it matches there: a matrix of bits.  Concatenation is the product of
//            matrices, union is or, intersection is and, complement is not.  A lookahead holds the
//            empty spans at those places from which its body matches to the end of the scope.
// Example.   ab in "aab": a holds (0,1) (1,2), b holds (2,3), so that the product holds (1,3).
// Source.    The definitions, as a tabular parser reads them; nothing is shared with derivatives.
// Cost.      n³ / 64 per part and scope; n is 63 at most.
#pragma once

#include <array>
#include <map>
#include <tuple>

#include "code_points.hpp"

namespace oracle {

// A byte, or a control token.
struct Symbol {
  int byte = -1;
  std::string control;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

// A text, and at which of its places (0 to the number of symbols) one token ends and another may begin.
struct MarkedText {
  std::vector<Symbol> symbols;
  std::vector<bool> is_edge{true};

  void add_token(const std::string& bytes) {
    for (const char byte : bytes) {
      symbols.push_back({static_cast<unsigned char>(byte), {}});
      is_edge.push_back(false);
    }
    is_edge.back() = true;
  }
  void add_control(const std::string& name) {
    symbols.push_back({-1, name});
    is_edge.push_back(true);
  }
};

class Matching {
 public:
  static constexpr std::size_t kMostSymbols = 63;

  explicit Matching(MarkedText text) : text_(std::move(text)), size_(text_.symbols.size()) {
    if (size_ > kMostSymbols) throw TooLarge();
  }
  // The same without tokens: every byte is one.
  explicit Matching(const std::string& bytes) : Matching(by_bytes(bytes)) {}

  bool matches(const TreePtr& tree) {
    kept_.push_back(tree);  // so that no other tree comes to stand in its place
    return has(spans(tree, 0, size_), 0, size_);
  }

 private:
  // Bit `end` of row `begin`.
  using Spans = std::vector<std::uint64_t>;

  static MarkedText by_bytes(const std::string& bytes) {
    MarkedText text;
    for (const char byte : bytes) text.add_token(std::string(1, byte));
    return text;
  }
  static bool has(const Spans& spans, std::size_t begin, std::size_t end) { return (spans[begin] >> end) & 1; }
  static void add(Spans& spans, std::size_t begin, std::size_t end) { spans[begin] |= std::uint64_t{1} << end; }
  Spans none() const { return Spans(size_ + 1, 0); }
  Spans empty_spans() const {
    Spans result = none();
    for (std::size_t place = 0; place <= size_; ++place) add(result, place, place);
    return result;
  }

  static Spans product(const Spans& first, const Spans& second) {
    Spans result(first.size(), 0);
    for (std::size_t begin = 0; begin < first.size(); ++begin)
      for (std::size_t middle = begin; middle < first.size(); ++middle)
        if (has(first, begin, middle)) result[begin] |= second[middle];
    return result;
  }
  static Spans either(Spans first, const Spans& second) {
    for (std::size_t begin = 0; begin < first.size(); ++begin) first[begin] |= second[begin];
    return first;
  }
  Spans power(const Spans& spans, std::uint64_t exponent) const {
    Spans result = empty_spans();
    for (std::uint64_t i = 0; i < exponent; ++i) result = product(result, spans);
    return result;
  }

  // The spans within the scope from `first` to `last`; what is outside of it is left to chance.
  const Spans& spans(const TreePtr& tree, std::size_t first, std::size_t last) {
    const auto key = std::make_tuple(tree.get(), first, last);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    return known_.emplace(key, find_spans(*tree, first, last)).first->second;
  }

  Spans find_spans(const Tree& tree, std::size_t first, std::size_t last) {
    using enum Tree::Op;
    const auto item = [&](std::size_t i) -> const Spans& { return spans(tree.items[i], first, last); };
    Spans result = none();
    switch (tree.op) {
      case Empty: return result;
      case Literal: add_string(tree.bytes, result); return result;
      case Strings:
        for (const std::string& one : tree.strings) add_string(one, result);
        return result;
      case Substrings: {
        const std::vector<std::size_t> edges = code_point_edges(tree.bytes);
        for (const std::size_t from : edges)
          for (const std::size_t to : edges)
            if (from <= to) add_string(tree.bytes.substr(from, to - from), result);
        return result;
      }
      case Class: add_class(tree.ranges, result); return result;
      case ControlToken:
        for (std::size_t place = 0; place < size_; ++place)
          if (text_.symbols[place] == Symbol{-1, tree.bytes}) add(result, place, place + 1);
        return result;
      case OneToken: add_tokens(tree.ranges, result); return result;
      case Everything: return all_spans();
      case Concatenation:
        result = empty_spans();
        for (std::size_t i = 0; i < tree.items.size(); ++i) result = product(result, item(i));
        return result;
      case Union:
        for (std::size_t i = 0; i < tree.items.size(); ++i) result = either(result, item(i));
        return result;
      case Intersection:
        result = all_spans();
        for (std::size_t i = 0; i < tree.items.size(); ++i)
          for (std::size_t begin = 0; begin <= size_; ++begin) result[begin] &= item(i)[begin];
        return result;
      case Complement:
        result = all_spans();
        for (std::size_t begin = 0; begin <= size_; ++begin) result[begin] &= ~item(0)[begin];
        return result;
      case Repetition: return repeated(item(0), tree.minimum, tree.maximum);
      case LookAhead:
        for (std::size_t place = first; place <= last; ++place)
          if (has(item(0), place, last)) add(result, place, place);
        return result;
      case LookBehind:
        for (std::size_t place = first; place <= last; ++place)
          if (has(item(0), first, place)) add(result, place, place);
        return result;
      case Scope:
        for (std::size_t begin = first; begin <= last; ++begin)
          for (std::size_t end = begin; end <= last; ++end)
            if (has(spans(tree.items[0], begin, end), begin, end)) add(result, begin, end);
        return result;
    }
    return result;
  }

  Spans all_spans() const {
    Spans result = none();
    for (std::size_t begin = 0; begin <= size_; ++begin)
      for (std::size_t end = begin; end <= size_; ++end) add(result, begin, end);
    return result;
  }

  Spans repeated(const Spans& body, std::uint64_t minimum, std::uint64_t maximum) const {
    if (minimum > 10'000) throw TooLarge();
    const Spans least = power(body, minimum);
    const Spans once_or_not = either(empty_spans(), body);
    // A path through n + 1 places needs no more than n rounds.
    return product(least, power(once_or_not, std::min<std::uint64_t>(maximum - minimum, size_ + 1)));
  }

  bool is_bytes(std::size_t begin, std::size_t end) const {
    for (std::size_t place = begin; place < end; ++place)
      if (text_.symbols[place].byte < 0) return false;
    return true;
  }
  std::string bytes(std::size_t begin, std::size_t end) const {
    std::string result;
    for (std::size_t place = begin; place < end; ++place)
      result.push_back(static_cast<char>(text_.symbols[place].byte));
    return result;
  }

  void add_string(const std::string& wanted, Spans& result) const {
    for (std::size_t begin = 0; begin + wanted.size() <= size_; ++begin) {
      const std::size_t end = begin + wanted.size();
      if (is_bytes(begin, end) && bytes(begin, end) == wanted) add(result, begin, end);
    }
  }
  void add_class(const std::vector<Range>& ranges, Spans& result) const {
    for (std::size_t begin = 0; begin < size_; ++begin)
      for (std::size_t end = begin + 1; end <= std::min(size_, begin + 4) && is_bytes(begin, end); ++end) {
        const std::optional<Range> one = code_points_with_prefix(bytes(begin, end));
        if (one && is_whole_code_point(bytes(begin, end)) && meets(ranges, *one)) add(result, begin, end);
      }
  }
  void add_tokens(const std::vector<Range>& allowed, Spans& result) const {
    const auto is_allowed = [&](int byte) {
      return std::ranges::any_of(allowed, [&](const Range& range) {
        return static_cast<int>(range.first) <= byte && byte <= static_cast<int>(range.second);
      });
    };
    for (std::size_t begin = 0; begin < size_; ++begin) {
      if (!text_.is_edge[begin]) continue;
      std::size_t end = begin + 1;
      while (!text_.is_edge[end]) ++end;
      bool fits = is_bytes(begin, end);
      for (std::size_t place = begin; place < end; ++place) fits = fits && is_allowed(text_.symbols[place].byte);
      if (fits) add(result, begin, end);
    }
  }

  MarkedText text_;
  std::size_t size_;
  std::map<std::tuple<const Tree*, std::size_t, std::size_t>, Spans> known_;
  std::vector<TreePtr> kept_;
};

}  // namespace oracle
