#include "json/spelled_tree.hpp"

#include <utility>
#include <vector>

#include "json/escapes.hpp"

namespace tokamata::json {

namespace {

// The bytes that a code point lacks, at the end of a text in plain spelling of which the first `from` bytes are whole.
std::size_t bytes_missing(std::string_view text, std::size_t from) {
  while (from < text.size()) {
    const auto lead = static_cast<std::uint8_t>(text[from]);
    std::size_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead == '\\') size = from + 1 == text.size() || text[from + 1] != 'u' ? 2 : 6;
    if (from + size > text.size()) return from + size - text.size();
    from += size;
  }
  return 0;
}

// The code points that texts begin with, in plain spelling.
class FirstCodePoints final : public TextTree::Walk {
 public:
  bool enter(std::uint8_t byte) override {
    begun_.push_back(static_cast<char>(byte));
    if (bytes_missing(begun_, 0) > 0) return true;
    all.push_back(begun_);
    begun_.pop_back();
    return false;
  }
  void leave() override { begun_.pop_back(); }
  void mark(bool) override {}

  std::vector<std::string> all;

 private:
  std::string begun_;
};

}  // namespace

// Goes along plain spellings, and through escapes where the other tree has them.
class SpelledTree::Spelling final : public TextTree::Walk {
 public:
  Spelling(const SpelledTree& tree, Walk& walk) : tree_(tree), walk_(walk), text_(tree.read_) {}

  void walk() {
    missing_ = bytes_missing(text_, 0);
    if (tree_.escape_.empty()) along();
    else through_escapes(tree_.escape_);
  }

  bool enter(std::uint8_t byte) override {
    const bool is_first = missing_ == 0;
    if (is_first && byte == '\\') return false;  // an escape, like all others
    if (!walk_.enter(byte)) return false;
    text_.push_back(static_cast<char>(byte));
    missing_ = is_first ? bytes_missing(text_, text_.size() - 1) : missing_ - 1;
    before_.push_back(missing_);
    if (missing_ == 0) by_backslash();
    return true;
  }
  void leave() override {
    text_.pop_back();
    before_.pop_back();
    missing_ = before_.empty() ? first_missing_ : before_.back();
    walk_.leave();
  }
  void mark(bool with_longer) override { walk_.mark(with_longer); }

 private:
  // All texts that begin as the current one.
  void along() {
    std::vector<std::size_t> outer;
    std::swap(outer, before_);
    const std::size_t outer_first = std::exchange(first_missing_, missing_);
    if (missing_ == 0) by_backslash();
    tree_.sets_.walk(tree_.sets_.below(tree_.set_, text_), static_cast<std::uint32_t>(text_.size()), *this);
    std::swap(outer, before_);
    first_missing_ = outer_first;
  }

  void by_backslash() {
    if (!walk_.enter('\\')) return;
    through_escapes("\\");
    walk_.leave();
  }

  void through_escapes(const std::string& begun) {
    FirstCodePoints next;
    tree_.sets_.walk(tree_.sets_.below(tree_.set_, text_), static_cast<std::uint32_t>(text_.size()), next);
    for (const std::string& plain : next.all) through_escapes_of(plain, code_point_at(plain, 0)->value, begun);
  }

  void through_escapes_of(const std::string& plain, std::uint32_t code_point, const std::string& begun) {
    if (bytes_left_of_escape(code_point, begun) == 0u) {
      text_ += plain;
      missing_ = 0;
      along();
      text_.resize(text_.size() - plain.size());
      return;
    }
    const ByteSet bytes = next_bytes_of_escape(code_point, begun);
    for (unsigned byte = bytes.next_member(0); byte < 256; byte = bytes.next_member(byte + 1)) {
      if (!walk_.enter(static_cast<std::uint8_t>(byte))) continue;
      through_escapes_of(plain, code_point, begun + static_cast<char>(byte));
      walk_.leave();
    }
  }

  const SpelledTree& tree_;
  Walk& walk_;
  std::string text_;                 // in plain spelling
  std::size_t missing_ = 0;          // bytes of the code point at its end
  std::size_t first_missing_ = 0;    // the same where the walk along plain spellings began
  std::vector<std::size_t> before_;  // the same after each byte since then
};

void SpelledTree::walk(Walk& walk) const { Spelling(*this, walk).walk(); }

}  // namespace tokamata::json
