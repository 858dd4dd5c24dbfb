// Context-free languages by brute force: Earley's items, closed by looking at all of them again and again.
//
// Example.  T -> ( T T ) | a  is productions[T] = {{byte '(', T, T, byte ')'}, {byte 'a'}}.
// Once what derives no text is dropped, a prefix goes on to a text of the language if and only if some item is left
// behind it.
// Source.  Earley 1970; nothing is clever here, so that it can be believed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace oracle {

class ContextFree {
 public:
  using Bytes = std::array<bool, 256>;
  struct Symbol {
    int nonterminal = -1;  // or one of these bytes
    Bytes bytes{};
  };
  using Production = std::vector<Symbol>;

  static Symbol byte(char value) { return range(value, value); }
  static Symbol range(char low, char high) {
    Symbol symbol;
    for (unsigned i = static_cast<std::uint8_t>(low); i <= static_cast<std::uint8_t>(high); ++i) symbol.bytes[i] = true;
    return symbol;
  }
  static Production text(std::string_view text) {
    Production production;
    for (const char value : text) production.push_back(byte(value));
    return production;
  }

  int add() {
    productions_.emplace_back();
    return static_cast<int>(productions_.size()) - 1;
  }
  int add(std::vector<Production> ways) {
    const int made = add();
    productions_[static_cast<std::size_t>(made)] = std::move(ways);
    return made;
  }
  void define(int nonterminal, Production way) {
    productions_[static_cast<std::size_t>(nonterminal)].push_back(std::move(way));
  }

  std::vector<bool> nullable() const {
    return closure([](const Bytes&) { return false; });
  }

  // Drops what derives no text of the bytes that there are.
  void keep_productive(const Bytes& available) {
    const auto reads = [&](const Bytes& bytes) {
      for (std::size_t i = 0; i < 256; ++i)
        if (bytes[i] && available[i]) return true;
      return false;
    };
    const std::vector<bool> productive = closure(reads);
    for (auto& ways : productions_) {
      std::erase_if(ways, [&](const Production& way) { return !all_hold(way, productive, reads); });
      for (Production& way : ways)
        for (Symbol& symbol : way)
          for (std::size_t i = 0; i < 256; ++i) symbol.bytes[i] = symbol.bytes[i] && available[i];
    }
  }

  bool has_texts(int nonterminal) const { return !productions_[static_cast<std::size_t>(nonterminal)].empty(); }

  // Whether a text of `from` may begin with one of `to`, after one step at least.
  bool may_begin(int from, int to) const {
    const std::vector<bool> empty = nullable();
    std::vector<bool> met(productions_.size(), false);
    std::vector<int> open{from};
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      for (const Production& way : productions_[static_cast<std::size_t>(at)]) {
        for (const Symbol& symbol : way) {
          if (symbol.nonterminal < 0) break;
          const auto next = static_cast<std::size_t>(symbol.nonterminal);
          if (symbol.nonterminal == to) return true;
          if (!met[next]) open.push_back(symbol.nonterminal);
          met[next] = true;
          if (!empty[next]) break;
        }
      }
    }
    return false;
  }

  // A text under way.
  class Reading {
   public:
    Reading(const ContextFree& grammar, int start) : grammar_(&grammar), start_(start), columns_(1) {
      for (std::size_t way = 0; way < grammar.ways(start).size(); ++way) columns_[0].push_back({start, way, 0, 0});
      close();
    }

    // False where nothing goes on like this.
    bool read(char value) {
      std::vector<Item> next;
      for (const Item& item : columns_.back())
        if (const Symbol* symbol = after(item);
            symbol && symbol->nonterminal < 0 && symbol->bytes[static_cast<std::uint8_t>(value)])
          next.push_back({item.nonterminal, item.way, item.dot + 1, item.origin});
      columns_.push_back(std::move(next));
      close();
      return !columns_.back().empty();
    }
    bool read(std::string_view text) {
      for (const char value : text)
        if (!read(value)) return false;
      return true;
    }
    bool accepts() const {
      for (const Item& item : columns_.back())
        if (item.nonterminal == start_ && item.origin == 0 && !after(item)) return true;
      return false;
    }

   private:
    struct Item {
      int nonterminal;
      std::size_t way, dot, origin;
      bool operator==(const Item&) const = default;
    };
    const Symbol* after(const Item& item) const {
      const Production& way = grammar_->ways(item.nonterminal)[item.way];
      return item.dot < way.size() ? &way[item.dot] : nullptr;
    }
    bool add(const Item& item) {
      std::vector<Item>& column = columns_.back();
      for (const Item& known : column)
        if (known == item) return false;
      column.push_back(item);
      return true;
    }
    void close() {
      for (bool grows = true; grows;) {
        grows = false;
        for (std::size_t i = 0; i < columns_.back().size(); ++i) {
          const Item item = columns_.back()[i];
          const Symbol* symbol = after(item);
          if (symbol && symbol->nonterminal >= 0) {
            for (std::size_t way = 0; way < grammar_->ways(symbol->nonterminal).size(); ++way)
              grows |= add({symbol->nonterminal, way, 0, columns_.size() - 1});
          } else if (!symbol) {
            for (std::size_t j = 0; j < columns_[item.origin].size(); ++j) {
              const Item waiting = columns_[item.origin][j];
              const Symbol* wanted = after(waiting);
              if (wanted && wanted->nonterminal == item.nonterminal)
                grows |= add({waiting.nonterminal, waiting.way, waiting.dot + 1, waiting.origin});
            }
          }
        }
      }
    }

    const ContextFree* grammar_;
    int start_;
    std::vector<std::vector<Item>> columns_;
  };

 private:
  const std::vector<Production>& ways(int nonterminal) const {
    return productions_[static_cast<std::size_t>(nonterminal)];
  }

  template <class Reads>
  static bool all_hold(const Production& way, const std::vector<bool>& holds, Reads&& reads) {
    for (const Symbol& symbol : way)
      if (symbol.nonterminal < 0 ? !reads(symbol.bytes) : !holds[static_cast<std::size_t>(symbol.nonterminal)])
        return false;
    return true;
  }
  // What has a production all of whose symbols hold.
  template <class Reads>
  std::vector<bool> closure(Reads&& reads) const {
    std::vector<bool> holds(productions_.size(), false);
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t i = 0; i < productions_.size(); ++i)
        for (const Production& way : productions_[i])
          if (!holds[i] && all_hold(way, holds, reads)) holds[i] = grows = true;
    }
    return holds;
  }

  std::vector<std::vector<Production>> productions_;
};

}  // namespace oracle
