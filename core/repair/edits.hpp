// The edits that one text may take at each position, as searches over it read them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "expression/byte_automaton.hpp"
#include "repair/edit_model.hpp"
#include "repair/edit_state.hpp"
#include "repair/writings.hpp"

namespace tokamata {

class Edits {
 public:
  static constexpr std::size_t kLongestText = std::size_t{1} << 28;

  // Throws BadEditModel.
  Edits(std::string text, std::shared_ptr<const EditModel> model, std::shared_ptr<Writings> writings);

  const std::string& text() const { return text_; }
  std::uint32_t length() const { return static_cast<std::uint32_t>(text_.size()); }
  std::uint8_t byte(std::size_t position) const { return static_cast<std::uint8_t>(text_[position]); }
  const EditModel& model() const { return *model_; }
  const LeastCosts& least() const { return writings_->least(); }

  const Rewrite& rewrite(std::uint32_t index) const { return model_->rewrites[index]; }
  // Indices of those that begin at a position: from the first to before the last.
  std::uint32_t first_rewrite(std::uint32_t position) const { return first_rewrite_[position]; }
  std::uint32_t last_rewrite(std::uint32_t position) const { return first_rewrite_[position + 1]; }
  // What it costs to keep or to remove the byte at a position before the end.
  std::uint64_t keeping(Mode mode, std::uint32_t position) const {
    return model_->keeping(mode, position, byte(position));
  }
  std::uint64_t removing(Mode mode, std::uint32_t position) const {
    return std::uint64_t{model_->costs(mode).remove[byte(position)]} + model_->firmness(position);
  }
  // The cheapest first.
  const Writings::List& writings(const EditState& at, const ByteAutomaton& automaton) const {
    using Where = Writings::Where;
    const Where where = at.position == length() ? Where::End : at.position == 0 ? Where::Begin : Where::Within;
    return writings_->at(where, at.mode, automaton.node(at.state).by_byte);
  }
  Writings& writings() const { return *writings_; }

 private:
  void check() const;

  std::string text_;
  std::shared_ptr<const EditModel> model_;
  std::shared_ptr<Writings> writings_;
  std::vector<std::uint32_t> first_rewrite_;  // by position
};

}  // namespace tokamata
