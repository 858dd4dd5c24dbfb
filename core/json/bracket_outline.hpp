// The items that the brackets of a broken text hold, in a text that arrives in pieces.
//
// Problem.  Some mistakes concern whole members or elements.  Where do these begin and end, in a text that is not JSON,
// and which of them look whole?  The text may still arrive, and each piece is to be read once.
// Example.  [1, {a: 2, "b" 3}  has the items  1  and  {…}  of the list, and  a: 2  and  "b" 3  of the object.  The last
// one of the object is broken: it has no colon.  So the object is a broken item of the list.
// How.  A pass over tokens with a stack of brackets.  Tokens are those of this expression of Python's `re`, tried in
// this order, without white space, backticks and semicolons:
//     "(?:[^"\\]|\\.)*"(?=\s*[,:}\]])
//     |  "[^"\\\n]{1,500}(?=,\s*"[\w $.-]{1,60}"\s*:)  |  "(?:[^"\\\n]|\\.)*"  |  "[^"\n]*\Z
//     |  '(?:[^'\\\n]|\\.)*'(?=\s*[,:}\])])
//     |  [\[\]{}(),:]  |  (?<!:)//[^\n]*  |  /\*.*?\*/  |  <(?:tag|…)>  |  [\w$.+-]+  |  .
// A string has line breaks only where it ends before a comma, a colon or a bracket; one that lacks its closing quote
// ends before a comma and the next name.  A `(` outside of all brackets is one only if the parentheses fill a line.  A
// bracket that closes another one than the last is passed over.
//   - A token is taken once no continuation of the text changes it; what it has read until then is not read again.
//   - An item is reported at the next item, or where its bracket closes: then it is known whether it is the last, and
//     the only one.
//   - A member ends where a string that follows its value turns out to be a name: a comma is lost.
// Cost.  Linear in the text, however it is cut.  A quote that opens nothing, such as an escaped one, is followed by
// others that end where it would have ended; so that end is remembered.
// Memory.  That of kMostDepth brackets, and of kMostNames names, at most: deeper brackets are passed over, further
// names are not remembered.  Each name is copied from its own place in the text, so that all together are no longer
// than this.  Not taken.  A loop over matches of `re` in Python: 300 µs for a kilobyte of 160 tokens, of which the
// matches alone take 50.
//
// Contract.  One thread at a time.  `text` of each call begins with that of the call before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace tokamata::json {

class BracketOutline {
 public:
  using Position = std::int64_t;
  static constexpr Position kNowhere = -1;
  static constexpr std::size_t kMostDepth = 10'000, kMostNames = 200'000;
  // of a string without its closing quote, of the name after it
  static constexpr std::size_t kMostUnquoted = 500, kLongestName = 60;

  struct Settings {
    std::vector<std::string> tags;  // `<tag>` is no text; where it may be followed by its end, reading stops
    std::size_t most_items;         // of a bracket; further ones are not reported
    bool reports_inner;             // whether closed brackets within others are reported
    bool keeps_names;               // whether a closed object is reported with the names in it
  };
  struct Root {  // a bracket within no other
    Position begin;
  };
  struct Item {
    bool is_member;  // of an object
    bool is_whole;   // one value, after a name in an object
    bool is_only;
    Position begin, end;
    Position after;   // the end of the comma after it, or the begin of the next item; kNowhere: there is neither
    Position before;  // of the last item: the comma before it, or its begin; of others kNowhere
  };
  struct Repeated {  // a whole member whose name comes again, until `after`
    Position begin, after;
  };
  struct Closed {  // a bracket and what it holds
    bool is_root, is_object, has_items;
    Position begin, end;
    std::size_t height;  // brackets that stand one within another in it
    std::vector<std::string> names;
  };
  using Event = std::variant<Root, Item, Repeated, Closed>;
  using Events = std::vector<Event>;
  struct Open {  // a bracket that is not closed
    char opening;
    bool has_name;  // the item that is read
    Position begin;
    Position item;          // where the item that is read begins, or kNowhere: there is none
    Position ended;         // the same of an item that has ended and is not reported
    Position before_ended;  // what `before` was for that one
    // the comma before the item that is read or comes next, or its begin; kNowhere: it is the first
    Position before;
  };

  BracketOutline(std::size_t begin, Settings settings);
  BracketOutline(const BracketOutline&) = delete;
  BracketOutline& operator=(const BracketOutline&) = delete;

  // Reads on; returns false when there is nothing more to read for now, true after some `most_bytes`.  At the end of
  // the text what waits for more is read as it is.
  bool read(std::string_view text, bool is_end, std::size_t most_bytes, Events& events);
  // The items of brackets that the end of the text leaves open, the outermost first.
  void finish(std::size_t end, Events& events);

  std::size_t position() const { return at_; }  // all before it has been read
  std::size_t depth() const { return stack_.size(); }
  Open open(std::size_t index) const;
  // The first of the open brackets of which the item that is read begins at a position or later.
  std::size_t first_open_from(Position position) const;
  std::size_t last_begin() const { return last_token_; }  // of the last string, word or other byte in a bracket
  // the end of the last bracket that closed nothing outside of all others
  Position unmatched() const { return unmatched_; }

 private:
  enum class Kind : std::uint8_t { Waits, Nothing, String, Word, Other, Opening, Closing, Comma, Colon };
  struct Token {
    Kind kind;
    std::size_t end;
  };
  // The attempt to read a string, and what it says about quotes between its begin and where it has stopped.
  struct Attempt {
    bool is_begun = false, has_stopped = false, has_end = false;
    enum class Follows : std::uint8_t { Unknown, Yes, No } follows = Follows::Unknown;
    enum class Lost : std::uint8_t { Unknown, Name, Colon, Yes, No } lost = Lost::Unknown;
    std::size_t begin = 0, at = 0, blanks = 0;
    std::size_t line_break = 0, escaped = 0, backslash = 0;  // the last ones
    std::size_t comma = 0, name = 0;                         // of a string that may lack its closing quote
  };
  struct Member {
    Position begin, after = kNowhere;
    bool is_whole = false;
  };
  using Names = std::unordered_map<std::string, Member>;
  struct OpenItem {
    Position begin = kNowhere, end = kNowhere, comma = kNowhere;
    std::uint32_t values = 0;  // tokens and brackets at its level, after the colon
    bool is_broken = false, has_name = false;
    Member* member = nullptr;
  };
  struct Bracket {
    char opening;
    bool has_item = false, has_ended = false, are_whole = true;
    Position begin;
    Position before = kNowhere;  // of `ended`, or of `item` if there is none
    OpenItem item, ended;
    std::size_t count = 0, height = 0;
    std::unique_ptr<Names> names;
  };

  Token token(std::string_view text, bool is_end);
  Token string(std::string_view text, bool is_end);
  Token slash(std::string_view text, bool is_end);
  Token less(std::string_view text, bool is_end);
  Token opening(std::string_view text, bool is_end);
  bool is_waiting_to_stop(Attempt& one, std::string_view text, bool is_end, char quote);
  bool is_waiting_to_follow(Attempt& one, std::string_view text, bool is_end, char quote);
  bool is_waiting_for_name(Attempt& one, std::string_view text, bool is_end);
  bool may_lack_quote(Attempt& one, std::string_view text) const;
  void take(std::string_view text, Token token, Events& events);
  OpenItem& item_at(Bracket& bracket, Position position, Events& events);
  void name(Bracket& bracket, std::string_view text, Events& events);
  void split_item(Bracket& bracket, std::string_view text, Events& events);
  void end_item(Bracket& bracket, Position end, Position comma);
  void put_aside(Bracket& bracket);
  void report(const Bracket& bracket, const OpenItem& item, bool is_last, Position after, Events& events) const;
  void report_last(const Bracket& bracket, Events& events) const;
  void close(Position end, Events& events);

  Settings settings_;
  std::size_t at_;
  std::size_t read_ = 0;  // of the token at `at_`: what need not be read again
  std::size_t last_end_;
  std::size_t last_token_, end_before_;           // the last string or word, and the end of the token before it
  std::size_t last_begin_ = 0, last_length_ = 0;  // the same without quotes
  std::size_t last_closed_ = 0;                   // the end of the last bracket that was closed
  std::array<Attempt, 2> attempts_;               // by quote
  bool is_comment_endless_ = false;               // no comment that begins from here on has an end
  std::vector<Bracket> stack_;
  std::size_t deeper_ = 0;  // open brackets beyond the stack
  std::size_t names_ = 0;   // that are kept
  Position unmatched_ = kNowhere;
};

}  // namespace tokamata::json
