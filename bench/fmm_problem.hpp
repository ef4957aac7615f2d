#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/fmm_run.hpp"
#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/plan.hpp"

namespace fmbem::bench {

/// What is computed.
struct Outputs {
  bool potential, gradient, hessian = false;
};

/// What was asked for, [count][n].
struct Results {
  Results(std::size_t size, Outputs outputs)
      : potential(outputs.potential ? size : 0),
        gradient(outputs.gradient ? size : 0),
        hessian(outputs.hessian ? size : 0) {}
  fmm::Fields fields() { return {potential, gradient, hessian}; }

  std::vector<double> potential;
  std::vector<Vec3d> gradient;
  std::vector<Symmetric3d> hessian;
};

/// Points with one charge vector from their file or eight seeded ones; the first is timed. The
/// first points are the targets, or all.
struct Problem {
  std::string distribution;
  std::vector<Vec3d> points;
  std::vector<double> file_charges;
  std::uint64_t seed;
  std::size_t most_targets = std::numeric_limits<std::size_t>::max();

  std::span<const Vec3d> targets() const {
    return std::span(points).first(std::min(most_targets, points.size()));
  }
  int vectors() const { return file_charges.empty() ? 8 : 1; }
  /// [count][n], from the charge vector `first` on.
  std::vector<double> charges(int first, int count) const;
};

/// Throws ResourceError for numbers of points that would not fit before a plan can say so.
Problem seeded_problem(const std::string& distribution, std::size_t n, std::uint64_t seed);
Problem problem_of_file(const std::string& file, std::uint64_t seed);

/// Direct sums at some targets.
struct Reference {
  std::vector<std::size_t> targets;
  Results results;  ///< [vectors][targets]
};
Reference reference_of(const Problem& problem, Outputs outputs, int check, std::uint64_t seed,
                       double kappa);

/// Relative L2 errors, root mean square over the charge vectors.
struct Errors {
  std::optional<double> potential, gradient, hessian;
};
Errors measure_errors(FmmRun& plan, const Problem& problem, const Reference& reference,
                      Outputs outputs);

}  // namespace fmbem::bench
