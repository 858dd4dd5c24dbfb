#include "json/bracket_outline.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"

namespace tokamata::json {

namespace {

bool is_space(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

enum class ByteClass : std::uint8_t { Other, Skipped, Word, Quote, Opening, Closing, Comma, Colon, Slash, Less };

constexpr std::array<ByteClass, 256> byte_classes() {
  std::array<ByteClass, 256> classes{};
  const auto set = [&](const char* bytes, ByteClass to) {
    for (; *bytes; ++bytes) classes[static_cast<unsigned char>(*bytes)] = to;
  };
  set(" \t\n\v\f\r`;", ByteClass::Skipped);
  set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.+-", ByteClass::Word);
  set("\"'", ByteClass::Quote);
  set("[{(", ByteClass::Opening);
  set("]})", ByteClass::Closing);
  set(",", ByteClass::Comma);
  set(":", ByteClass::Colon);
  set("/", ByteClass::Slash);
  set("<", ByteClass::Less);
  return classes;
}

constexpr std::array<ByteClass, 256> kByteClasses = byte_classes();

ByteClass class_of(char byte) { return kByteClasses[static_cast<unsigned char>(byte)]; }

char closing_of(char opening) { return opening == '{' ? '}' : opening == '[' ? ']' : ')'; }

BracketOutline::Position position_of(std::size_t index) { return static_cast<BracketOutline::Position>(index); }

}  // namespace

BracketOutline::BracketOutline(std::size_t begin, Settings settings)
    : settings_(std::move(settings)), at_(begin), last_end_(begin), last_token_(begin), end_before_(begin) {}

bool BracketOutline::read(std::string_view text, bool is_end, std::size_t most_bytes, Events& events) {
  const std::size_t until = most_bytes > text.size() - std::min(at_, text.size()) ? text.size() : at_ + most_bytes;
  while (at_ < text.size()) {
    if (at_ >= until) return true;
    if (class_of(text[at_]) == ByteClass::Skipped) {
      ++at_;
      continue;
    }
    const Token next = token(text, is_end);
    if (next.kind == Kind::Waits) return false;
    TOKAMATA_CHECK(next.end > at_, "a token has bytes");
    take(text, next, events);
    at_ = next.end;
    read_ = 0;
  }
  return false;
}

void BracketOutline::finish(std::size_t end, Events& events) {
  for (Bracket& bracket : stack_) {
    if (bracket.has_item) bracket.item.end = position_of(end);
    report_last(bracket, events);
  }
}

BracketOutline::Open BracketOutline::open(std::size_t index) const {
  const Bracket& one = stack_[index];
  return {one.opening,
          one.has_item && one.item.has_name,
          one.begin,
          one.has_item ? one.item.begin : kNowhere,
          one.has_ended ? one.ended.begin : kNowhere,
          one.has_ended ? one.before : kNowhere,
          one.has_ended ? one.ended.comma : one.before};
}

std::size_t BracketOutline::first_open_from(Position position) const {
  const auto begin_of = [](const Bracket& one) { return one.has_item ? one.item.begin : one.begin; };
  return static_cast<std::size_t>(std::ranges::lower_bound(stack_, position, {}, begin_of) - stack_.begin());
}

BracketOutline::Token BracketOutline::token(std::string_view text, bool is_end) {
  switch (class_of(text[at_])) {
    case ByteClass::Quote: return string(text, is_end);
    case ByteClass::Opening: return opening(text, is_end);
    case ByteClass::Closing: return {Kind::Closing, at_ + 1};
    case ByteClass::Comma: return {Kind::Comma, at_ + 1};
    case ByteClass::Colon: return {Kind::Colon, at_ + 1};
    case ByteClass::Slash: return slash(text, is_end);
    case ByteClass::Less: return less(text, is_end);
    case ByteClass::Word: {
      std::size_t end = std::max(read_, at_ + 1);
      while (end < text.size() && class_of(text[end]) == ByteClass::Word) ++end;
      read_ = end;
      return {end < text.size() || is_end ? Kind::Word : Kind::Waits, end};
    }
    default: return {Kind::Other, at_ + 1};
  }
}

// Reads on to the closing quote, or to where there can be none.
bool BracketOutline::is_waiting_to_stop(Attempt& one, std::string_view text, bool is_end, char quote) {
  while (!one.has_stopped) {
    const bool is_escape = one.at < text.size() && text[one.at] == '\\';
    if (one.at + is_escape >= text.size()) {
      if (!is_end) return true;
      one.at = text.size();
      one.has_stopped = true;
    } else if (is_escape) {
      one.backslash = one.at;
      const char escaped = text[one.at + 1];
      if (escaped == quote) one.escaped = one.at + 1;
      if (escaped == '\n') {
        one.line_break = one.at + 1;
        one.has_stopped = true;
      } else {
        one.at += 2;
      }
    } else if (text[one.at] == quote) {
      one.has_end = one.has_stopped = true;
      one.blanks = one.at + 1;
    } else if (text[one.at] == '\n' && quote == '\'') {
      one.has_stopped = true;
    } else {
      if (text[one.at] == '\n') one.line_break = one.at;
      ++one.at;
    }
  }
  return false;
}

// Whether what follows the closing quote may follow a string.
bool BracketOutline::is_waiting_to_follow(Attempt& one, std::string_view text, bool is_end, char quote) {
  if (one.follows != Attempt::Follows::Unknown) return false;
  while (one.blanks < text.size() && is_space(text[one.blanks])) ++one.blanks;
  if (one.blanks == text.size() && !is_end) return true;
  const std::string_view following = quote == '"' ? ",:}]" : ",:}])";
  const bool is_yes = one.blanks < text.size() && following.find(text[one.blanks]) != std::string_view::npos;
  one.follows = is_yes ? Attempt::Follows::Yes : Attempt::Follows::No;
  return false;
}

// Whether a string without its closing quote may end at a comma, and another one begin where it seems to end.  This is
// asked once for an attempt: of its quotes, only the last one has no backslash after it.
bool BracketOutline::may_lack_quote(Attempt& one, std::string_view text) const {
  std::size_t end = one.at;
  while (end > at_ + 1 && is_space(text[end - 1])) --end;
  if (end < at_ + 3 || text[end - 1] != ',' || end - at_ - 2 > kMostUnquoted) return false;
  one.comma = end - 1;
  one.name = one.at + 1;
  return text.substr(at_, one.comma - at_).find('\n') == std::string_view::npos;
}

// Whether a name and a colon follow the quote where the string seems to end.
bool BracketOutline::is_waiting_for_name(Attempt& one, std::string_view text, bool is_end) {
  using Lost = Attempt::Lost;
  if (one.lost == Lost::Unknown) one.lost = may_lack_quote(one, text) ? Lost::Name : Lost::No;
  if (one.lost == Lost::Name) {
    const std::size_t longest = one.at + 1 + kLongestName;
    const auto is_of_name = [](char byte) { return (class_of(byte) == ByteClass::Word && byte != '+') || byte == ' '; };
    while (one.name < text.size() && one.name < longest && is_of_name(text[one.name])) ++one.name;
    if (one.name == text.size() && !is_end) return true;
    const bool is_name = one.name < text.size() && text[one.name] == '"' && one.name > one.at + 1;
    one.lost = is_name ? Lost::Colon : Lost::No;
    ++one.name;
  }
  if (one.lost == Lost::Colon) {
    while (one.name < text.size() && is_space(text[one.name])) ++one.name;
    if (one.name >= text.size() && !is_end) return true;
    one.lost = one.name < text.size() && text[one.name] == ':' ? Lost::Yes : Lost::No;
  }
  return false;
}

BracketOutline::Token BracketOutline::string(std::string_view text, bool is_end) {
  const char quote = text[at_];
  Attempt& one = attempts_[quote == '"'];
  if (!one.is_begun || at_ < one.begin || (at_ > one.begin && at_ >= one.at)) {
    one = {};
    one.is_begun = true;
    one.begin = at_;
    one.at = at_ + 1;
  }
  if (is_waiting_to_stop(one, text, is_end, quote)) return {Kind::Waits, at_};
  const bool has_line_break = one.line_break > at_;
  if (one.has_end) {
    if (quote == '\'' || has_line_break) {
      if (is_waiting_to_follow(one, text, is_end, quote)) return {Kind::Waits, at_};
      if (one.follows == Attempt::Follows::Yes) return {Kind::String, one.at + 1};
    }
    if (quote == '"' && one.backslash <= at_) {
      if (is_waiting_for_name(one, text, is_end)) return {Kind::Waits, at_};
      if (one.lost == Attempt::Lost::Yes) return {Kind::String, one.comma};
    }
    if (quote == '"' && !has_line_break) return {Kind::String, one.at + 1};
  } else if (quote == '"' && one.at == text.size() && !has_line_break && one.escaped <= at_ && at_ + 1 < text.size()) {
    return {Kind::String, text.size()};
  }
  return {Kind::Other, at_ + 1};
}

BracketOutline::Token BracketOutline::slash(std::string_view text, bool is_end) {
  if (at_ + 1 == text.size()) return {is_end ? Kind::Other : Kind::Waits, at_ + 1};
  if (text[at_ + 1] == '/' && (at_ == 0 || text[at_ - 1] != ':')) {
    const std::size_t end = text.find('\n', std::max(read_, at_ + 2));
    read_ = text.size();
    if (end == std::string_view::npos && !is_end) return {Kind::Waits, at_};
    return {Kind::Nothing, std::min(end, text.size())};
  }
  if (text[at_ + 1] != '*') return {Kind::Other, at_ + 1};
  if (!is_comment_endless_) {
    const std::size_t end = text.find("*/", std::max(read_, at_ + 2));
    if (end != std::string_view::npos) return {Kind::Nothing, end + 2};
    read_ = std::max(at_ + 2, text.size() - 1);
    if (!is_end) return {Kind::Waits, at_};
    is_comment_endless_ = true;
  }
  return {Kind::Nothing, at_ + 2};
}

BracketOutline::Token BracketOutline::less(std::string_view text, bool is_end) {
  const std::string_view rest = text.substr(at_ + 1);
  for (const std::string& tag : settings_.tags) {
    const std::string_view read = rest.substr(0, tag.size() + 1);
    const bool is_whole = read.size() == tag.size() + 1;
    if (read.substr(0, tag.size()) != std::string_view(tag).substr(0, read.size()) || (is_whole && read.back() != '>'))
      continue;
    if (!is_end) return {Kind::Waits, at_};
    if (is_whole) return {Kind::Nothing, at_ + 1 + read.size()};
  }
  return {Kind::Other, at_ + 1};
}

BracketOutline::Token BracketOutline::opening(std::string_view text, bool is_end) {
  if (text[at_] != '(' || !stack_.empty()) return {Kind::Opening, at_ + 1};
  std::size_t begin = at_;
  while (begin > 0 && text[begin - 1] != '\n' && is_space(text[begin - 1])) --begin;
  if (begin > 0 && text[begin - 1] != '\n') return {Kind::Other, at_ + 1};
  std::size_t end = text.find('\n', std::max(read_, at_ + 1));
  const bool has_line_break = end != std::string_view::npos;
  read_ = text.size();
  if (!has_line_break && !is_end) return {Kind::Waits, at_};
  end = std::min(end, text.size());
  while (end > at_ + 1 && is_space(text[end - 1])) --end;
  const bool is_filled = end == at_ + 1 ? has_line_break : text[end - 1] == ')';
  return {is_filled ? Kind::Opening : Kind::Other, at_ + 1};
}

void BracketOutline::take(std::string_view text, Token token, Events& events) {
  if (token.kind == Kind::Nothing) return;
  const Position begin = position_of(at_);
  if (deeper_ > 0) {
    if (token.kind == Kind::Opening) ++deeper_;
    if (token.kind == Kind::Closing) --deeper_;
  } else if (token.kind == Kind::Opening) {
    if (stack_.empty()) events.push_back(Root{begin});
    else ++item_at(stack_.back(), begin, events).values;
    if (stack_.size() < kMostDepth) {
      stack_.emplace_back();
      stack_.back().opening = text[at_];
      stack_.back().begin = begin;
    } else {
      ++deeper_;
    }
  } else if (token.kind == Kind::Closing) {
    if (stack_.empty()) unmatched_ = begin + 1;
    else if (closing_of(stack_.back().opening) == text[at_]) close(begin + 1, events);
  } else if (stack_.empty()) {
    return;
  } else if (token.kind == Kind::Comma) {
    if (stack_.back().has_item) {
      end_item(stack_.back(), position_of(last_end_), begin);
      put_aside(stack_.back());
    }
  } else if (token.kind == Kind::Colon) {
    item_at(stack_.back(), begin, events);
    if (stack_.back().opening == '{') {
      split_item(stack_.back(), text, events);
      if (!stack_.back().item.has_name) name(stack_.back(), text, events);
    }
  } else {
    OpenItem& item = item_at(stack_.back(), begin, events);
    ++item.values;
    item.is_broken |= token.kind == Kind::Other;
    std::size_t last = token.end;
    last_token_ = last_begin_ = at_;
    end_before_ = last_end_;
    const auto is_quote = [&](std::size_t index) { return text[index] == '"' || text[index] == '\''; };
    while (last_begin_ < last && is_quote(last_begin_)) ++last_begin_;
    while (last > last_begin_ && is_quote(last - 1)) --last;
    last_length_ = last - last_begin_;
  }
  last_end_ = token.end;
}

BracketOutline::OpenItem& BracketOutline::item_at(Bracket& bracket, Position position, Events& events) {
  if (!bracket.has_item) {
    if (bracket.has_ended) {
      const Position comma = bracket.ended.comma;
      report(bracket, bracket.ended, false, comma == kNowhere ? position : comma + 1, events);
      bracket.before = comma == kNowhere ? position : comma;
      bracket.has_ended = false;
    }
    bracket.item = {};
    bracket.item.begin = position;
    bracket.has_item = true;
    ++bracket.count;
  }
  return bracket.item;
}

void BracketOutline::name(Bracket& bracket, std::string_view text, Events& events) {
  bracket.item.has_name = true;
  bracket.item.values = 0;
  const bool is_of_item = last_token_ >= static_cast<std::size_t>(bracket.item.begin) && last_token_ >= last_closed_;
  if (!is_of_item || bracket.count > settings_.most_items || names_ >= kMostNames) return;
  if (!bracket.names) bracket.names = std::make_unique<Names>();
  const auto [found, is_new] = bracket.names->try_emplace(std::string(text.substr(last_begin_, last_length_)));
  Member& member = found->second;
  if (is_new) ++names_;
  else if (member.after != kNowhere && member.is_whole) events.push_back(Repeated{member.begin, member.after});
  member = {bracket.item.begin};
  bracket.item.member = &member;
}

// If the last string follows the value of a member, and is the name of the next one.
void BracketOutline::split_item(Bracket& bracket, std::string_view text, Events& events) {
  const bool is_string = text[last_token_] == '"' || text[last_token_] == '\'';
  if (!bracket.item.has_name || bracket.item.values != 2 || !is_string || last_token_ < last_closed_) return;
  const Position next = position_of(last_token_);
  bracket.item.values = 1;
  end_item(bracket, position_of(end_before_), kNowhere);
  if (bracket.item.member) bracket.item.member->after = next;
  put_aside(bracket);
  item_at(bracket, next, events);
}

// The item that is read has ended, before a comma, a closing bracket or the next item.
void BracketOutline::end_item(Bracket& bracket, Position end, Position comma) {
  OpenItem& item = bracket.item;
  item.end = end;
  item.comma = comma;
  const bool is_whole = !item.is_broken && item.values == 1 && (item.has_name || bracket.opening != '{');
  bracket.are_whole &= is_whole;
  if (item.member) {
    item.member->after = comma == kNowhere ? kNowhere : comma + 1;
    item.member->is_whole = is_whole;
  }
}

void BracketOutline::put_aside(Bracket& bracket) {
  bracket.ended = bracket.item;
  bracket.has_ended = true;
  bracket.has_item = false;
}

void BracketOutline::report(const Bracket& bracket, const OpenItem& item, bool is_last, Position after,
                            Events& events) const {
  if (bracket.count > settings_.most_items) return;
  const bool is_member = bracket.opening == '{';
  const bool is_whole = !item.is_broken && item.values == 1 && (item.has_name || !is_member);
  const Position before = bracket.before == kNowhere ? item.begin : bracket.before;
  events.push_back(Item{is_member, is_whole, is_last && bracket.count == 1, item.begin, item.end, after,
                        is_last ? before : kNowhere});
}

void BracketOutline::report_last(const Bracket& bracket, Events& events) const {
  if (!bracket.has_item && !bracket.has_ended) return;
  const OpenItem& item = bracket.has_item ? bracket.item : bracket.ended;
  report(bracket, item, true, item.comma == kNowhere ? kNowhere : item.comma + 1, events);
}

void BracketOutline::close(Position end, Events& events) {
  Bracket done = std::move(stack_.back());
  stack_.pop_back();
  last_closed_ = static_cast<std::size_t>(end);
  if (done.has_item) end_item(done, position_of(last_end_), kNowhere);
  report_last(done, events);
  if (stack_.empty() || settings_.reports_inner) {
    Closed closed{stack_.empty(), done.opening == '{', done.count > 0, done.begin, end, done.height + 1, {}};
    if (settings_.keeps_names && done.names)
      for (const auto& [name, member] : *done.names) closed.names.push_back(name);
    events.push_back(std::move(closed));
  }
  if (done.names) names_ -= done.names->size();
  if (stack_.empty()) return;
  stack_.back().height = std::max(stack_.back().height, done.height + 1);
  if (!done.are_whole) item_at(stack_.back(), done.begin, events).is_broken = true;
}

}  // namespace tokamata::json
