// What the engine knows of a tokenizer: the bytes of every token, which tokens end a text, and
// how wide the logits are.  Immutable once made, except for memos; shared by all that is compiled for it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/byte_set.hpp"
#include "common/ids.hpp"
#include "common/sort_unique.hpp"
#include "vocabulary/mask_cache.hpp"
#include "vocabulary/segment.hpp"
#include "vocabulary/segment_files.hpp"
#include "vocabulary/terminal_endings.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

// Contract.
//   - Lifetimes.  Constraints share a vocabulary and keep it.  Views of bytes, the trie and the sets of tokens are good
//     as long as it is.  A segment, or a set from a memo, belongs to whoever holds it: the memo may give it up at any
//     time.
//   - Locks.  `use_segment_files` comes before the vocabulary is shared.  All other members may be called from any
//     thread.  What is fixed has no lock; each memo has one, which is held for a look-up and never for work.  Two
//     threads may compute the same value; both are given the one that was kept first.
//   - Errors.  The constructor throws std::invalid_argument for a stop token or a number of tokens past the width.
//     Where a member fails for want of memory, nothing has changed.  What a disk does is no error: segments are
//     computed then.
class Vocabulary {
 public:
  // A view without data is a token that no text produces (a control token, a hole); one without
  // bytes is an empty token.  Neither is ever allowed.  Stop tokens are not text, whatever their
  // bytes are.  The views are copied.
  Vocabulary(std::span<const std::string_view> tokens, std::vector<std::uint32_t> stop, std::uint32_t width)
      : width_(width),
        stop_(std::move(stop)),
        token_count_(static_cast<std::uint32_t>(tokens.size())),
        trie_(store(tokens)) {
    for (std::uint32_t id = 0; id < token_count_; ++id)
      if (const std::string_view text = bytes({id}); text.size() == 1)
        single_bytes_.add(static_cast<std::uint8_t>(text[0]));
    for (std::uint32_t id : trie_.order()) text_words_[id / 32] |= 1u << (id % 32);
    code_points_begun_.reserve(token_count_);
    for (std::uint32_t id = 0; id < token_count_; ++id) {
      std::uint32_t begun = 0;
      for (const char byte : bytes({id})) begun += (static_cast<std::uint8_t>(byte) & 0xC0) != 0x80;
      code_points_begun_.push_back(begun);
    }
    make_short_tokens();
  }

  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  // The bytes of a text token; empty for every other id below `width`.
  std::string_view bytes(TokenId token) const {
    if (token.value >= token_count_) return {};
    return std::string_view(blob_).substr(offsets_[token.value], offsets_[token.value + 1] - offsets_[token.value]);
  }
  bool is_stop(TokenId token) const { return std::ranges::binary_search(stop_, token.value); }

  std::uint32_t token_count() const { return token_count_; }
  std::uint32_t width() const { return width_; }
  std::size_t words() const { return (std::size_t{width_} + 31) / 32; }
  const std::vector<std::uint32_t>& stop() const { return stop_; }
  const TokenTrie& trie() const { return trie_; }
  const ByteSet& single_bytes() const { return single_bytes_; }
  std::uint32_t code_points_begun(TokenId token) const {
    TOKAMATA_CHECK(token.value < token_count_, "a token is one of the vocabulary's");
    return code_points_begun_[token.value];
  }
  // One bit per token, set where it has a byte of the set.
  MaskCache::TokensPtr tokens_with(const ByteSet& set) const {
    std::string key;
    for (unsigned byte = set.next_member(0); byte < 256; byte = set.next_member(byte + 1))
      key.push_back(static_cast<char>(byte));
    return tokens_with_.get(key, [&] {
      std::vector<std::uint32_t> bits(words(), 0);
      for (const char byte : key) {
        std::uint32_t id = 0;
        for (std::size_t at = blob_.find(byte); at != std::string::npos; at = blob_.find(byte, offsets_[id + 1])) {
          while (offsets_[id + 1] <= at) ++id;
          bits[id / 32] |= 1u << (id % 32);
        }
      }
      const std::size_t count = count_bits(bits);
      return MaskCache::Tokens{std::move(bits), count};
    });
  }
  // One bit per token, set where the token begins `most` code points at most; up to so many, that is at hand.
  static constexpr std::uint64_t kMostAtHand = 63;
  MaskCache::TokensPtr short_tokens(std::uint64_t most) const {
    most = std::min<std::uint64_t>(most, trie_.longest());  // none begins more
    if (most < short_tokens_.size()) return short_tokens_[most];
    const std::string key = std::to_string(most);
    if (MaskCache::TokensPtr known = longer_tokens_.find(key)) return known;
    std::vector<std::uint32_t> bits(words(), 0);
    for (std::uint32_t id = 0; id < token_count_; ++id)
      if (code_points_begun_[id] <= most) bits[id / 32] |= 1u << (id % 32);
    for (std::size_t word = 0; word < bits.size(); ++word) bits[word] &= text_words_[word];
    const std::size_t count = count_bits(bits);
    auto kept = std::make_shared<const MaskCache::Tokens>(MaskCache::Tokens{std::move(bits), count});
    longer_tokens_.keep(key, kept);
    return kept;
  }
  // Masks that the constraints compiled for this vocabulary share.
  MaskCache& shared_masks() const { return shared_masks_; }
  // The segment of a terminal, by its structure (Arena::structure) and the node where it begins; null where it is not
  // known.
  std::shared_ptr<const Segment> known_segment(const std::string& key) const {
    std::shared_ptr<const Segment> segment = segments_.find(key);
    if (segment || !segment_files_) return segment;
    segment = segment_files_->find(key);
    return segment ? remember_segment(key, std::move(segment)) : nullptr;
  }
  // The segment, or one that was there before.
  std::shared_ptr<const Segment> keep_segment(const std::string& key, std::shared_ptr<const Segment> segment,
                                              std::chrono::duration<double> work) const {
    segment = remember_segment(key, std::move(segment));
    if (segment_files_) segment_files_->keep(key, *segment, work);
    return segment;
  }
  // What ends a terminal after the tokens inside it, by the same key as its segment; null where it is not known.
  std::shared_ptr<const TerminalEndings> known_endings(const std::string& key) const { return endings_.find(key); }
  std::shared_ptr<const TerminalEndings> keep_endings(const std::string& key,
                                                      std::shared_ptr<const TerminalEndings> endings) const {
    const std::size_t bytes = key.size() + endings->memory_bytes();
    return endings_.keep(key, std::move(endings), bytes);
  }
  // Segments are kept there too, for other processes; of what is there, some are read now, so that they are at hand
  // when a text waits for its first mask.  To be called before the vocabulary is shared.
  void use_segment_files(std::unique_ptr<SegmentFiles> files) {
    constexpr std::uint64_t kReadAtOnce = 1 << 22;  // about a hundred, in 3 ms
    segment_files_ = std::move(files);
    for (auto& [key, segment] : segment_files_->newest(kReadAtOnce)) remember_segment(key, std::move(segment));
  }
  // Everything that segments depend on.
  std::string content() const {
    std::string bytes;
    const auto append = [&](std::uint64_t number) {
      bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
    };
    append(width_);
    append(stop_.size());
    for (const std::uint32_t stop : stop_) append(stop);
    append(offsets_.size());
    for (const std::size_t offset : offsets_) append(offset);
    return bytes += blob_;
  }
  // One bit per token, set where the token is text.
  const std::vector<std::uint32_t>& text_words() const { return text_words_; }

 private:
  // All of them together cost what one costs that is made at its first use.
  void make_short_tokens() {
    // of 33 kB each, for 262,144 tokens
    const std::size_t lengths = std::min<std::size_t>(kMostAtHand, trie_.longest()) + 1;
    std::vector<MaskCache::Tokens> all(lengths, {std::vector<std::uint32_t>(words(), 0), 0});
    for (const std::uint32_t id : trie_.order())
      if (code_points_begun_[id] < lengths) all[code_points_begun_[id]].words[id / 32] |= 1u << (id % 32);
    for (std::size_t most = 0; most < lengths; ++most) {
      if (most > 0)
        std::ranges::transform(all[most].words, all[most - 1].words, all[most].words.begin(), std::bit_or());
      all[most].count = count_bits(all[most].words);
    }
    for (MaskCache::Tokens& tokens : all)
      short_tokens_.push_back(std::make_shared<const MaskCache::Tokens>(std::move(tokens)));
  }

  bool is_of_text(const Segment& segment) const {
    const auto is_text = [&](std::uint32_t token) { return token < width_ && has_bit(text_words_, token); };
    bool are_all = std::ranges::all_of(segment.remainders.order(), is_text) &&
                   (segment.inside.is_listed() || segment.inside.bits->size() == words());
    segment.inside.for_each([&](std::uint32_t token) { are_all = are_all && is_text(token); });
    return are_all;
  }

  std::shared_ptr<const Segment> remember_segment(const std::string& key,
                                                  std::shared_ptr<const Segment> segment) const {
    TOKAMATA_CHECK(is_of_text(*segment), "a segment has text tokens alone");
    const std::size_t bytes = key.size() + segment->memory_bytes();
    return segments_.keep(key, std::move(segment), bytes);
  }

  // Copies the bytes of the text tokens; returns views of the copies, one per id.
  std::vector<std::string_view> store(std::span<const std::string_view> tokens) {
    if (width_ < tokens.size()) throw std::invalid_argument("vocabulary: the width is below the number of tokens");
    sort_unique(stop_);
    if (!stop_.empty() && stop_.back() >= width_)
      throw std::invalid_argument("vocabulary: a stop token is past the width");
    text_words_.assign(words(), 0);

    std::size_t total = 0;
    for (std::string_view token : tokens) total += token.size();
    blob_.reserve(total);
    offsets_.reserve(tokens.size() + 1);
    offsets_.push_back(0);
    for (std::uint32_t id = 0; id < tokens.size(); ++id) {
      if (!is_stop({id})) blob_.append(tokens[id]);
      offsets_.push_back(blob_.size());
    }
    std::vector<std::string_view> views;
    views.reserve(tokens.size());
    for (std::uint32_t id = 0; id < tokens.size(); ++id) views.push_back(bytes({id}));
    return views;
  }

  std::uint32_t width_;
  std::vector<std::uint32_t> stop_;  // sorted
  std::uint32_t token_count_;
  std::string blob_;
  std::vector<std::size_t> offsets_;
  std::vector<std::uint32_t> text_words_;
  std::vector<std::uint32_t> code_points_begun_;  // by token
  ByteSet single_bytes_;
  mutable MaskCache shared_masks_;
  mutable SharedMemo<std::string, Segment> segments_{std::size_t{1} << 26};         // bytes
  mutable SharedMemo<std::string, TerminalEndings> endings_{std::size_t{1} << 24};  // bytes
  std::unique_ptr<SegmentFiles> segment_files_;                                     // null where none are kept
  std::vector<MaskCache::TokensPtr> short_tokens_;                                  // by the number of code points
  mutable MaskCache longer_tokens_;                                                 // the same, past the end of those
  mutable MaskCache tokens_with_;                                                   // by the bytes of the set
  TokenTrie trie_;
};

}  // namespace tokamata
