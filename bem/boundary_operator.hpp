#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fmbem/bem/panels.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/precision.hpp"

namespace fmbem {

enum class OperatorKind { dense, fmm };

/// Called now and then with the fraction that is done, from the calling thread.
using Progress = std::function<void(double fraction)>;

/// What a boundary operator tells of itself in reports.
struct OperatorInfo {
  std::string name;  ///< V, K, …
  OperatorKind kind = OperatorKind::dense;
  std::int64_t memory_bytes = 0;                      ///< of what it stores
  Precision precision = Precision::double_precision;  ///< of the entries that it stores
  // Of the FMM alone:
  int order = 0;  ///< degree of the expansions
  Precision far_precision = Precision::double_precision;
  int levels = 0, max_leaf = 0;
  double inflation = 0;
  std::int64_t near_entries = 0;
  std::map<std::string, double> setup_seconds{};  ///< tree, operators, near field
};

/// Something close to the inverse of an operator, for preconditioning.
class ApproximateInverse {
 public:
  virtual ~ApproximateInverse() = default;
  virtual std::string name() const = 0;
  /// y ≈ A⁻¹ x for n_vectors vectors, [n_vectors][size of A].
  virtual void apply(const double* x, double* y, int n_vectors = 1) const = 0;
  virtual std::int64_t memory_bytes() const = 0;
};

/// A square boundary operator on panel densities in the order of Panels.
class BoundaryOperator {
 public:
  virtual ~BoundaryOperator() = default;

  virtual std::size_t size() const = 0;
  virtual OperatorInfo info() const = 0;

  /// y = A x for n_vectors vectors; x and y are [n_vectors][size()].
  virtual void apply(const double* x, double* y, int n_vectors = 1) const = 0;

  /// The same at a tenth of the operator's tolerance, or exactly: for true residuals.
  virtual void apply_accurately(const double* x, double* y, int n_vectors = 1) const = 0;

  /// a_ij for panels i, j in [begin, end), row by row: [end − begin][end − begin].
  virtual void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const = 0;

  /// The operator's own preconditioner, or null.
  virtual std::unique_ptr<ApproximateInverse> approximate_inverse() const { return nullptr; }
};

struct OperatorOptions {
  enum class Choice { automatic, dense, fmm };
  Choice kind = Choice::automatic;
  /// Of stored entries; by default double for the dense operator, for the FMM by its tolerance.
  std::optional<Precision> precision{};
  /// ‖(Ã−A)x‖ ≤ tolerance ‖A‖ ‖x‖. The dense operator is exact up to its precision.
  double tolerance = 1e-7;
  Progress progress{};
  // Of the FMM, where not by the tolerance:
  std::optional<int> order{};        ///< degree of the expansions, 1 to 40
  std::optional<int> max_leaf{};     ///< panels in a leaf, at most
  std::optional<double> overhang{};  ///< see fmm::FarFieldOptions
};

/// The single layer operator V with constant densities, collocated at the centroids:
/// V_ij = 1/(4π) ∫_{T_j} 1/|c_i − y| dS_y. Lengths are those of the panels, which must outlive it.
/// Throws InputError for options that cannot be met and ResourceError for want of memory.
std::unique_ptr<BoundaryOperator> make_single_layer(const Panels& panels,
                                                    const OperatorOptions& options = {});

}  // namespace fmbem
