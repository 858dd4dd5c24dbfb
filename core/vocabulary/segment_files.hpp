// Segments of terminals on disk, for the next process: a file for each.
//
// Problem.  A process begins without segments, and walks the vocabulary for each terminal that its first schemas have;
// the process before it did, and the one beside it does the same.
// How.  A segment that took some work to make is written to a file at once, under a hash of the terminal's structure,
// with the structure inside.  A process reads the ones that were used last when it begins, and others where one is
// missing.  Several processes may do so at once: each writes to a file of its own and renames it, so that whoever reads
// sees a whole file or none.  What cannot be read, or is not what it should be, is recomputed, and written over.
// What does not work costs time alone: no member throws for what a disk does.
// Whoever names the folder sees to it that a name stands for one vocabulary and one version of this code, and takes
// out what is old (src/tokamata/resources/kept_files.py).
// Cost.  A file is 16 kB and the remainders, for 128,256 tokens; read in a twentieth of the time that it takes to make.
// Not taken: one file for all segments, which is read as a whole for the few that are wanted, and which
// processes would have to write in turns, or at their end, which those that are killed do not have.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vocabulary/segment.hpp"

namespace tokamata {

class SegmentFiles {
 public:
  using Duration = std::chrono::duration<double>;

  // `text`: the tokens that are text, as bits.  `nodes`: of the vocabulary's trie.  What took less work than
  // `least_work` is not kept: it is made as fast as it is read.  No more than so many bytes are written: the folder is
  // bounded by those who look after it, in between by this.
  SegmentFiles(std::filesystem::path folder, Words text, std::size_t nodes, Duration least_work,
               std::uint64_t most_written);

  // Null where there is none.
  std::shared_ptr<const Segment> find(const std::string& structure) const;
  // Those that were used last, as many as have no more than so many bytes.
  std::vector<std::pair<std::string, std::shared_ptr<const Segment>>> newest(std::uint64_t most_bytes) const;
  // `work`: how long it took to make.
  void keep(const std::string& structure, const Segment& segment, Duration work);

 private:
  std::filesystem::path place_of(const std::string& structure) const;

  std::filesystem::path folder_;
  Words text_;
  std::size_t nodes_;
  Duration least_work_;
  std::uint64_t most_written_;
  std::uint64_t own_name_;  // in what is not finished
  std::atomic<std::uint64_t> written_ = 0;
  std::atomic<std::uint64_t> begun_ = 0;
};

}  // namespace tokamata
