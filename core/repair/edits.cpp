#include "repair/edits.hpp"

#include <algorithm>

namespace tokamata {

Edits::Edits(std::string text, std::shared_ptr<const EditModel> model, std::shared_ptr<Writings> writings)
    : text_(std::move(text)), model_(std::move(model)), writings_(std::move(writings)) {
  check();
  first_rewrite_.assign(text_.size() + 2, 0);
  for (const Rewrite& rewrite : model_->rewrites) ++first_rewrite_[rewrite.begin + 1];
  for (std::size_t at = 1; at < first_rewrite_.size(); ++at) first_rewrite_[at] += first_rewrite_[at - 1];
}

void Edits::check() const {
  if (text_.size() > kLongestText) throw BadEditModel("the text is longer than 2^28 bytes");
  if (!std::ranges::is_sorted(model_->rewrites, {}, &Rewrite::begin))
    throw BadEditModel("rewrites are not in the order of their beginnings");
  for (const ModeCosts& costs : model_->machine->costs) {
    if (std::ranges::find(costs.remove, kNoEdit) != costs.remove.end())
      throw BadEditModel("a byte that cannot be removed: then there may be no repair at all");
    if (std::ranges::find(costs.append, kNoEdit) != costs.append.end())
      throw BadEditModel("a byte that cannot be appended: then there may be no repair at all");
  }
  for (const Rewrite& rewrite : model_->rewrites) {
    if (rewrite.begin > rewrite.end || rewrite.end > text_.size() || rewrite.cost == kNoEdit)
      throw BadEditModel("a rewrite of bytes outside of the text");
    if (rewrite.then != Rewrite::kByWritten && rewrite.then >= model_->machine->costs.size())
      throw BadEditModel("a rewrite that leads to no mode");
  }
}

}  // namespace tokamata
