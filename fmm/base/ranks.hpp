#pragma once

#include <cstdint>
#include <span>

namespace fmbem {

/// The processes that share a problem, like a communicator of MPI: who this one is, and reductions
/// over all of them, in which every rank takes part and after which every rank has the same bits.
/// Trees, maps and solvers take this interface and need not know how messages travel. For now they
/// run on one rank only, and check that.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;  ///< of this process, from 0
  virtual int size() const = 0;

  /// Entry by entry over the ranks, in place.
  virtual void sum(std::span<double> values) const = 0;
  virtual void sum(std::span<std::int64_t> values) const = 0;
  virtual void max(std::span<double> values) const = 0;
  virtual void max(std::span<std::int64_t> values) const = 0;
};

/// This process alone, without MPI; lives as long as the program.
const Ranks& one_rank();

/// Throws InputError where there are several; `what` is the subject of the sentence, such as "a
/// solve".
void require_one_rank(const Ranks& ranks, const char* what);

}  // namespace fmbem
