#include "cli/study_tables.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/output_file.hpp"

namespace fmbem::cli {
namespace {

/// 0 where it is none.
int run_of(const std::string& row) {
  int run = 0;
  const char* const end = row.data() + row.size();
  const auto [after, error] = std::from_chars(row.data(), end, run);
  return error == std::errc{} && after != end && *after == ',' ? run : 0;
}

/// A comma within quotes divides nothing.
std::vector<std::string> split_row(const std::string& row) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (const char c : row) {
    if (c == '"') is_quoted = !is_quoted;
    if (c == ',' && !is_quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c == '\n' || c == '\r' ? ' ' : c;  // a row is a line
  }
  return quoted + '"';
}

std::string csv_number(double value) {
  if (!std::isfinite(value)) return "";
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

std::string csv_row(const std::vector<std::string>& fields) {
  std::string row;
  for (const std::string& field : fields)
    row += (&field == fields.data() ? "" : ",") + csv_field(field);
  return row + '\n';
}

GrowingTable::GrowingTable(std::string path, const std::vector<std::string>& header)
    : path_(std::move(path)), header_(csv_row(header)) {
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0666);
  FMBEM_REQUIRE(file_ >= 0, "cannot write " << path_ << ": " << std::strerror(errno));
  try {
    lock();
    std::ifstream in(path_, std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    const std::string text = all.str();
    const std::size_t whole = text.rfind('\n') + 1;  // npos + 1 is 0
    if (whole < header_.size()) {
      FMBEM_REQUIRE(header_.starts_with(text), path_ << " is no table of this program's");
      if (ftruncate(file_, 0) != 0) throw ResourceError("cannot write " + path_);
      append(header_);
      return;
    }
    FMBEM_REQUIRE(text.starts_with(header_),
                  path_ << " has other columns than this version writes: use another folder");
    if (whole < text.size() && ftruncate(file_, static_cast<off_t>(whole)) != 0)
      throw ResourceError("cannot write " + path_ + ": " + std::strerror(errno));
  } catch (...) {
    close(file_);
    throw;
  }
}

GrowingTable::~GrowingTable() { close(file_); }

void GrowingTable::lock() {
  FMBEM_REQUIRE(flock(file_, LOCK_EX | LOCK_NB) == 0,
                "another study writes to " << path_ << ": wait for its end or use another folder");
}

std::vector<std::string> GrowingTable::read_rows() const {
  std::ifstream in(path_, std::ios::binary);
  std::vector<std::string> rows;
  std::string row;
  std::getline(in, row);  // the header
  const std::size_t columns = split_row(row).size();
  while (std::getline(in, row)) {
    FMBEM_REQUIRE(run_of(row) > 0, path_ << " is damaged: a row begins with no number of a run");
    FMBEM_REQUIRE(split_row(row).size() == columns,
                  path_ << " is damaged: a row of run " << run_of(row) << " has "
                        << split_row(row).size() << " columns, not " << columns
                        << ": take that row out, or use another folder");
    rows.push_back(row);
  }
  return rows;
}

std::set<int> GrowingTable::runs() const {
  std::set<int> runs;
  for (const std::string& row : read_rows()) runs.insert(run_of(row));
  return runs;
}

std::set<int> GrowingTable::runs_with(const std::string& word) const {
  std::set<int> runs;
  for (const std::string& row : read_rows())
    if (split_row(row)[1] == word) runs.insert(run_of(row));
  return runs;
}

void GrowingTable::keep_only(const std::set<int>& runs) {
  std::string kept = header_;
  bool all = true;
  for (const std::string& row : read_rows()) {
    const bool keeps = runs.count(run_of(row)) > 0;
    all = all && keeps;
    if (keeps) kept += row + '\n';
  }
  if (all) return;
  write_whole(path_, kept);
  close(file_);
  file_ = open(path_.c_str(), O_RDWR | O_CLOEXEC | O_APPEND);
  FMBEM_REQUIRE(file_ >= 0, "cannot write " << path_ << ": " << std::strerror(errno));
  lock();
}

void GrowingTable::append(const std::string& rows) {
  for (std::size_t done = 0; done < rows.size();) {
    const ssize_t count = ::write(file_, rows.data() + done, rows.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw ResourceError("cannot write " + path_ + ": " + std::strerror(errno));
    done += static_cast<std::size_t>(count);
  }
  if (fdatasync(file_) != 0 && errno != EINVAL)
    throw ResourceError("cannot write " + path_ + ": " + std::strerror(errno));
}

}  // namespace fmbem::cli
