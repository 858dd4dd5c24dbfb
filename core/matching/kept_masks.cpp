#include "matching/kept_masks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "matching/work.hpp"

namespace tokamata {

namespace {

// and the form of what follows; other byte orders do not find it
constexpr std::uint64_t kMark = 0x01'4b'53'41'4d'4b'4f'54;
constexpr std::uint64_t kNoRow = 0, kTextRow = 1, kFirstShared = 2, kOwnRow = ~std::uint64_t{0};

// ---- writing ----------------------------------------------------------------------------------

class Writer {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  void word(std::uint32_t value) { raw(&value, sizeof value); }
  void row(const Words& words) { raw(words.data(), words.size() * sizeof(std::uint32_t)); }
  void raw(const void* data, std::size_t size) { bytes_.append(static_cast<const char*>(data), size); }
  // Of kEndless, 0.
  void bound(std::uint64_t value) { number(value + 1); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

void write_mask(const MaskBits& bits, std::uint64_t base, Writer& writer) {
  writer.number(base + 1);  // of kOwnRow, 0
  if (bits.is_row()) return writer.row(bits.words());
  std::vector<MaskBits::Word> changed(bits.changed().begin(), bits.changed().end());
  std::ranges::sort(changed, {}, &MaskBits::Word::place);
  writer.number(changed.size());
  std::uint32_t next = 0;
  for (const MaskBits::Word& word : changed) {
    writer.number(word.place - next);
    writer.word(word.bits);
    next = word.place + 1;
  }
}

}  // namespace

std::string bytes_of_records(const MaskRecords& records, const Vocabulary& vocabulary) {
  Writer writer;
  writer.raw(&kMark, sizeof kMark);
  writer.number(vocabulary.words());
  std::vector<SharedWords> rows;
  std::unordered_map<const Words*, std::uint64_t> numbers{{&vocabulary.text_words(), kTextRow}};
  for (const MaskRecords::Shared& shared : records.masks)
    if (const SharedWords& base = shared.mask->bits.base();
        base && numbers.try_emplace(base.get(), kFirstShared + rows.size()).second)
      rows.push_back(base);
  writer.number(rows.size());
  for (const SharedWords& row : rows) writer.row(*row);
  writer.number(records.masks.size());
  for (const MaskRecords::Shared& shared : records.masks) {
    const MaskBits& bits = shared.mask->bits;
    write_mask(bits, bits.is_row() ? kOwnRow : bits.base() ? numbers.at(bits.base().get()) : kNoRow, writer);
    writer.number(shared.is_at_states);
    writer.bound(shared.most_after);
    writer.number(shared.unverified.size());
    for (const std::uint32_t token : shared.unverified) writer.number(token);
    writer.number(shared.questions.size());
    for (const StackMemo::Question& question : shared.questions) {
      writer.number(question.slot);
      writer.number(question.bytes.size());
      for (unsigned byte = question.bytes.next_member(0); byte < 256; byte = question.bytes.next_member(byte + 1))
        writer.number(byte);
    }
  }
  writer.number(records.states.size());
  for (std::size_t i = 0; i < records.states.size(); ++i) {
    const MaskRecords::State& state = records.states[i];
    writer.number(i - state.parent);
    const auto symbols = records.symbols_of(i);
    writer.number(symbols.size());
    for (const std::uint32_t symbol : symbols) writer.number(symbol);
    writer.number(state.mask == MaskRecords::kNone ? 0 : std::uint64_t{state.mask} + 1);
    if (state.mask == MaskRecords::kNone) continue;
    writer.number(state.holds);
    writer.bound(state.most_after);
  }
  writer.number(records.start_mask == MaskRecords::kNone ? 0 : std::uint64_t{records.start_mask} + 1);
  return writer.take();
}

// ---- reading ----------------------------------------------------------------------------------

namespace {

// Takes values from the front; once the bytes do not suffice, or a value is out of its bounds, all that follow are 0.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) return fail();
      const auto byte = static_cast<std::uint8_t>(bytes_.front());
      bytes_.remove_prefix(1);
      if (shift == 63 && byte > 1) return fail();
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return fail();
  }
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t value = number();
    return value < bound ? value : fail();
  }
  bool flag() { return below(2) == 1; }
  std::uint64_t bound() { return number() - 1; }
  // Of items that have at least `size` bytes each.
  std::size_t count(std::size_t size) {
    const std::uint64_t value = number();
    return static_cast<std::size_t>(value <= bytes_.size() / size ? value : fail());
  }
  std::uint32_t word() {
    std::uint32_t value = 0;
    raw(&value, sizeof value);
    return value;
  }
  Words row(std::size_t words) {
    if (bytes_.size() / sizeof(std::uint32_t) < words) fail();
    if (!is_good_) return {};
    Words row(words);
    raw(row.data(), words * sizeof(std::uint32_t));
    return row;
  }
  void raw(void* data, std::size_t size) {
    if (bytes_.size() < size) fail();
    if (!is_good_) return;
    std::memcpy(data, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  std::uint64_t fail() {
    is_good_ = false;
    bytes_ = {};
    return 0;
  }
  bool is_good() const { return is_good_; }
  bool is_at_end() const { return is_good_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool is_good_ = true;
};

class RecordReader {
 public:
  RecordReader(std::string_view bytes, const std::shared_ptr<const Vocabulary>& vocabulary, Budget& budget,
               std::vector<SharedWords>& shared)
      : reader_(bytes),
        vocabulary_(vocabulary),
        words_(vocabulary->words()),
        budget_(budget),
        left_(budget.limits().memory_bytes),
        shared_(shared) {}

  std::optional<MaskRecords> read() {
    std::uint64_t mark = 0;
    reader_.raw(&mark, sizeof mark);
    if (mark != kMark || words_ == 0 || reader_.number() != words_) return std::nullopt;
    for (std::size_t rows = reader_.count(words_ * sizeof(std::uint32_t)); rows > 0 && reader_.is_good(); --rows) {
      take(words_ * sizeof(std::uint32_t));
      shared_.push_back(std::make_shared<const Words>(row()));
    }
    MaskRecords records;
    for (std::size_t masks = reader_.count(5); masks > 0 && reader_.is_good(); --masks)
      records.masks.push_back(shared_mask());
    for (std::size_t states = reader_.count(3); states > 0 && reader_.is_good(); --states) read_state(records);
    const std::uint64_t start = reader_.below(records.masks.size() + 1);
    records.start_mask = static_cast<std::uint32_t>(start - 1);
    if (!reader_.is_at_end() || records.states.empty()) return std::nullopt;
    return records;
  }

 private:
  // Before something of so many bytes is made: a few bytes may stand for an object of many.
  void take(std::size_t bytes) {
    budget_.step();
    if (bytes > left_) throw LimitExceeded("memory_bytes", static_cast<double>(budget_.limits().memory_bytes));
    left_ -= bytes;
  }
  Words row() {
    Words words = reader_.row(words_);
    if (!words.empty()) check_last(words.back());
    return words;
  }
  // Of the last word of a row.
  void check_last(std::uint32_t word) {
    const std::uint32_t used = vocabulary_->width() % 32;
    if (used != 0 && word >> used != 0) reader_.fail();
  }

  MaskBits bits() {
    const std::uint64_t base = reader_.below(kFirstShared + shared_.size() + 1) - 1;
    if (base == kOwnRow) {
      take(words_ * sizeof(std::uint32_t));
      return MaskBits(row());
    }
    std::vector<MaskBits::Word> changed(std::min(reader_.count(5), words_));
    take(changed.size() * sizeof(MaskBits::Word));
    std::size_t next = 0;
    for (MaskBits::Word& word : changed) {
      const std::uint64_t place = next + reader_.below(words_);
      if (place >= words_) reader_.fail();
      if (!reader_.is_good()) return {};
      word = {static_cast<std::uint32_t>(place), reader_.word()};
      if (place + 1 == words_) check_last(word.bits);
      next = place + 1;
    }
    if (base == kNoRow) return {nullptr, std::move(changed), words_};
    return {base == kTextRow ? SharedWords(vocabulary_, &vocabulary_->text_words()) : shared_[base - kFirstShared],
            std::move(changed), words_};
  }

  MaskRecords::Shared shared_mask() {
    take(2 * sizeof(MaskRecords::Shared) + shared_block_bytes<Mask>());
    MaskRecords::Shared shared;
    auto mask = std::make_shared<Mask>();
    mask->bits = bits();
    if (!reader_.is_good()) return shared;
    const auto stops =
        std::ranges::count_if(vocabulary_->stop(), [&](std::uint32_t stop) { return mask->bits.contains(stop); });
    mask->set_bits = mask->bits.count();
    mask->open_tokens = mask->set_bits - static_cast<std::size_t>(stops);
    if (stops != 0 && static_cast<std::size_t>(stops) != vocabulary_->stop().size()) reader_.fail();
    shared.mask = std::move(mask);
    shared.is_at_states = reader_.flag();
    shared.most_after = reader_.bound();
    const std::size_t unverified = reader_.count(1);
    take(unverified * sizeof(std::uint32_t));
    shared.unverified.resize(unverified);
    for (std::uint32_t& token : shared.unverified) {
      token = static_cast<std::uint32_t>(reader_.below(vocabulary_->width()));
      if (!has_bit(vocabulary_->text_words(), token)) reader_.fail();
    }
    for (std::size_t questions = reader_.count(2); questions > 0 && reader_.is_good(); --questions) {
      take(2 * sizeof(StackMemo::Question));
      StackMemo::Question question{static_cast<std::uint32_t>(reader_.below(std::uint64_t{1} << 32))};
      for (std::size_t bytes = reader_.count(1); bytes > 0; --bytes)
        question.bytes.add(static_cast<std::uint8_t>(reader_.below(256)));
      shared.questions.push_back(question);
    }
    return shared;
  }

  void read_state(MaskRecords& records) {
    const std::size_t number = records.states.size();
    take(2 * sizeof(MaskRecords::State));
    MaskRecords::State state;
    const std::uint64_t back = reader_.below(number + 1);
    if (number > 0 && back == 0) reader_.fail();
    state.parent = static_cast<std::uint32_t>(number - back);
    const std::size_t symbols = reader_.count(1);
    take(2 * symbols * sizeof(std::uint32_t));
    if (records.symbols.size() + symbols >= MaskRecords::kNone) reader_.fail();
    for (std::size_t left = symbols; left > 0 && reader_.is_good(); --left)
      records.symbols.push_back(static_cast<std::uint32_t>(reader_.below(std::uint64_t{1} << 32)));
    state.symbols_end = static_cast<std::uint32_t>(records.symbols.size());
    const std::uint64_t mask = reader_.below(records.masks.size() + 1);
    state.mask = static_cast<std::uint32_t>(mask - 1);
    if (mask != 0) {
      state.holds = reader_.flag();
      state.most_after = reader_.bound();
    }
    records.states.push_back(state);
  }

  Reader reader_;
  const std::shared_ptr<const Vocabulary>& vocabulary_;
  std::size_t words_;
  Budget& budget_;
  std::size_t left_;
  std::vector<SharedWords>& shared_;
};

}  // namespace

std::optional<MaskRecords> records_of_bytes(std::string_view bytes, const std::shared_ptr<const Vocabulary>& vocabulary,
                                            Budget& budget, std::vector<SharedWords>& shared) {
  return RecordReader(bytes, vocabulary, budget, shared).read();
}

// ---- constraints ------------------------------------------------------------------------------

std::string KeptMasks::bytes(const std::shared_ptr<const CancelToken>& cancel) {
  // What other callers have made is written too, and nothing is added to it.
  Limits limits = caller_.limits_;
  limits.states = std::max(limits.states, states_.most_states_.load());
  limits.memory_bytes = std::max(limits.memory_bytes, states_.most_bytes_.load());
  double spent = 0;
  const MaskRecords records = states_.work(limits, cancel ? cancel : caller_.cancel_, {}, spent, [&](Budget& budget) {
    budget.check();
    return MaskRecorder(states_.automaton_).records(states_.collections_ > 0);
  });
  return bytes_of_records(records, states_.vocabulary());
}

std::optional<std::size_t> KeptMasks::read(std::string_view bytes, double seconds,
                                           const std::shared_ptr<const CancelToken>& given) {
  const std::shared_ptr<const CancelToken>& cancel = given ? given : caller_.cancel_;
  Limits limits = caller_.limits_;
  limits.seconds = std::min(limits.seconds, seconds);
  const std::size_t most_bytes = limits.memory_bytes - limits.memory_bytes / 4,
                    most_states = limits.states - limits.states / 4;
  MaskRecorder recorder(states_.automaton_);
  std::size_t count = 0;
  try {
    Budget budget(limits, cancel, 0);
    budget.check();
    std::vector<SharedWords> shared;
    const std::optional<MaskRecords> records =
        records_of_bytes(bytes, states_.automaton_.operands().shared_vocabulary(), budget, shared);
    if (!records) return std::nullopt;
    double spent = budget.spent_seconds();
    bool is_held = false;
    const bool is_whole = states_.work(limits, cancel, {}, spent, [&](Budget& left) {
      const std::optional<std::vector<StateId>> states = recorder.walk(*records, most_states, most_bytes, left);
      if (!states || !recorder.are_accepted(*records, *states)) return false;
      states_.has_read_masks_ = true;
      if (!is_held)
        for (const SharedWords& row : shared) recorder.hold(row);
      is_held = true;
      count = 0;
      recorder.install(*records, *states, most_bytes, count, left);
      return true;
    });
    if (!is_whole) return std::nullopt;
  } catch (const LimitExceeded&) {
    // The host has what was read until then.
  }
  return count;
}

}  // namespace tokamata
