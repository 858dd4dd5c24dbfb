#include "vocabulary/segment_files.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <random>
#include <system_error>

#include "common/hash.hpp"
#include "common/hexadecimal.hpp"
#include "vocabulary/segment_bytes.hpp"

namespace tokamata {

namespace {

constexpr std::uintmax_t kMostBytes = 1 << 25;  // of a file
constexpr const char* kExtension = ".segment";
constexpr auto kUsedLately = std::chrono::hours(24);

std::optional<std::string> content_of(const std::filesystem::path& place) {
  std::error_code none;
  const std::uintmax_t size = std::filesystem::file_size(place, none);
  if (none || size > kMostBytes) return std::nullopt;
  std::ifstream file(place, std::ios::binary);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) return std::nullopt;
  return bytes;
}

// What was used lately is not taken out; once a day will do.  What is read at once as the newest grows old all the
// same, until it is no longer, and is found.
void note_use(const std::filesystem::path& place) {
  std::error_code none;
  const auto now = std::filesystem::file_time_type::clock::now();
  const auto then = std::filesystem::last_write_time(place, none);
  if (!none && now - then > kUsedLately) std::filesystem::last_write_time(place, now, none);
}

}  // namespace

SegmentFiles::SegmentFiles(std::filesystem::path folder, Words text, std::size_t nodes, Duration least_work,
                           std::uint64_t most_written)
    : folder_(std::move(folder)),
      text_(std::move(text)),
      nodes_(nodes),
      least_work_(least_work),
      most_written_(most_written),
      own_name_(0) {
  std::random_device device;
  own_name_ = (std::uint64_t{device()} << 32) | device();
}

std::filesystem::path SegmentFiles::place_of(const std::string& structure) const {
  return folder_ / (hexadecimal(hash_of(structure, 1), 16) + hexadecimal(hash_of(structure, 2), 16) + kExtension);
}

std::shared_ptr<const Segment> SegmentFiles::find(const std::string& structure) const {
  const std::filesystem::path place = place_of(structure);
  const std::optional<std::string> bytes = content_of(place);
  if (!bytes) return nullptr;
  std::optional<Segment> segment = segment_of_bytes(*bytes, structure, text_, nodes_);
  if (!segment) return nullptr;
  note_use(place);
  return std::make_shared<const Segment>(std::move(*segment));
}

std::vector<std::pair<std::string, std::shared_ptr<const Segment>>> SegmentFiles::newest(
    std::uint64_t most_bytes) const {
  struct File {
    std::filesystem::file_time_type used;
    std::filesystem::path place;
  };
  std::vector<File> files;
  std::error_code none;
  for (std::filesystem::directory_iterator at(folder_, none), end; !none && at != end; at.increment(none)) {
    std::error_code gone;
    const auto used = at->last_write_time(gone);
    if (!gone && at->path().extension() == kExtension) files.push_back({used, at->path()});
  }
  std::ranges::sort(
      files, [](const File& a, const File& b) { return a.used != b.used ? a.used > b.used : a.place < b.place; });
  std::vector<std::pair<std::string, std::shared_ptr<const Segment>>> found;
  for (const File& file : files) {
    const std::optional<std::string> bytes = content_of(file.place);
    if (!bytes) continue;
    if (bytes->size() > most_bytes) break;
    most_bytes -= bytes->size();
    const std::optional<std::string_view> structure = structure_of(*bytes);
    std::optional<Segment> segment = structure ? segment_of_bytes(*bytes, *structure, text_, nodes_) : std::nullopt;
    if (segment) found.emplace_back(*structure, std::make_shared<const Segment>(std::move(*segment)));
  }
  return found;
}

void SegmentFiles::keep(const std::string& structure, const Segment& segment, Duration work) {
  if (work < least_work_) return;
  const std::string bytes = bytes_of_segment(structure, segment);
  if (bytes.size() > kMostBytes || written_.fetch_add(bytes.size()) + bytes.size() > most_written_) return;
  std::error_code none;
  std::filesystem::create_directories(folder_, none);
  const std::filesystem::path unfinished =
      folder_ / (hexadecimal(own_name_, 16) + "-" + std::to_string(begun_++) + ".unfinished");
  {
    std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (file) std::filesystem::rename(unfinished, place_of(structure), none);
    if (file && !none) return;
  }
  std::filesystem::remove(unfinished, none);
}

}  // namespace tokamata
