#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fmbem::cli {

/// A field of a table in CSV, quoted where it has to be.
std::string csv_field(const std::string& text);
/// The shortest text that is this number; empty where it is none.
std::string csv_number(double value);
/// Fields with commas between them, and the end of the line.
std::string csv_row(const std::vector<std::string>& fields);

/// A table that grows by whole rows while others read it. The first column is the run.
class GrowingTable {
 public:
  /// Opens it, or makes it with a header. Of a table that is there it drops what stands behind the
  /// last whole row. Throws InputError for one with another header, and where another process
  /// writes to it.
  GrowingTable(std::string path, const std::vector<std::string>& header);
  ~GrowingTable();
  GrowingTable(const GrowingTable&) = delete;
  GrowingTable& operator=(const GrowingTable&) = delete;

  /// The runs that it has rows of. Throws InputError for rows that begin with no run, or that have
  /// not as many fields as the header.
  std::set<int> runs() const;
  /// The same of rows with this word in the second column.
  std::set<int> runs_with(const std::string& word) const;
  /// Drops the rows of all other runs.
  void keep_only(const std::set<int>& runs);
  /// Adds whole rows by one write and waits until they are on the disk.
  void append(const std::string& rows);

 private:
  std::vector<std::string> read_rows() const;
  void lock();

  std::string path_, header_;
  int file_ = -1;
};

}  // namespace fmbem::cli
