#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/panel_block.hpp"
#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/columns.hpp"
#include "fmbem/bem/layer/layer.hpp"
#include "fmbem/bem/layer/linear_map.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/precision.hpp"
#include "fmbem/fmm/base/processor.hpp"
#include "fmbem/fmm/base/ranks.hpp"

namespace fmbem {

enum class OperatorKind { dense, fmm };

/// Called from time to time with the fraction that is done, from the calling thread.
using Progress = std::function<void(double fraction)>;

/// What a boundary operator says of itself in reports.
struct OperatorInfo {
  std::string name;  ///< V, K, …
  OperatorKind kind = OperatorKind::dense;
  Processor processor = Processor::cpu;
  /// Bytes of what it holds, on its processor; those of expansions from the first product on.
  std::int64_t memory_bytes = 0;
  Precision precision = Precision::double_precision;  ///< of the entries that it stores
  // The rest is of the FMM alone:
  int order = 0;  ///< degree of the expansions
  Precision far_precision = Precision::double_precision;
  int levels = 0, max_leaf = 0;
  double inflation = 0;
  std::int64_t near_entries = 0;
  bool near_field_stored = true;                  ///< or integrated in every product
  std::map<std::string, double> setup_seconds{};  ///< tree, operators, near field
  /// Seconds of the last product's stages: sort, P2M, M2M, M2L, L2L, near field, L2P. On a GPU they
  /// are measured by events, and only if OperatorOptions::time_stages says so. The near field runs
  /// beside P2M to L2L there; "wait" is what is left of it after these, and "copy" what vectors of
  /// the host take.
  std::map<std::string, double> product_seconds{};
};

/// Something close to the inverse of an operator, for preconditioning.
class ApproximateInverse : public LinearMap {
 public:
  virtual std::string name() const = 0;
  virtual std::size_t size() const = 0;
  std::size_t rows() const override { return size(); }
  std::size_t columns() const override { return size(); }
  virtual std::int64_t memory_bytes() const = 0;
};

/// A boundary operator on panel densities in the order of Panels: square, with size() panels, or a
/// block of some rows and columns of such.
class BoundaryOperator : public LinearMap {
 public:
  virtual std::size_t size() const = 0;
  std::size_t rows() const override { return size(); }
  std::size_t columns() const override { return size(); }
  virtual OperatorInfo info() const = 0;

  /// Product::tolerance of products for true residuals: a tenth of the operator's, or 0 where its
  /// own products are as accurate.
  virtual double accurate_tolerance() const = 0;

  /// The tightest Product::tolerance of products that cost much less than its own, as expansions in
  /// single precision serve them; 0 where there are none.
  virtual double cheap_tolerance() const { return 0; }

  /// The tightest Product::tolerance that products reach; 0 where entries are exact.
  virtual double tightest_tolerance() const { return 0; }
  /// About ‖A‖, from which the size of products' errors follows; 0 where it is not known.
  virtual double norm() const { return 0; }
  /// Its rows of V, with their factors, and 0 for others; null if it has none. No entry of V is
  /// negative, and each pair's error is relative to its entry, so that errors of products with x
  /// are relative to what this makes of |x|, and to rest_norm() ‖x‖. Lives as long as the operator.
  virtual const LinearMap* rows_of_v() const { return nullptr; }
  /// About the norm of all but that.
  virtual double rest_norm() const { return norm(); }

  /// a_ij for panels i, j in [begin, end), row by row: [end − begin][end − begin]; of blocks as
  /// well.
  virtual void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const = 0;
  /// Whether these are all there is of it: products may have more, such as equations of charges.
  virtual bool is_its_entries() const { return true; }

  /// Some of its columns, or rows, with the entries of diagonal_block(), into the GPU's memory:
  /// enqueued in its default stream. False, and nothing of use there, where the operator has
  /// entries on the host alone.
  virtual bool columns_on_device(const Columns& /*columns*/, double* /*entries*/) const {
    return false;
  }

  /// The operator's own preconditioner, or null.
  virtual std::unique_ptr<ApproximateInverse> approximate_inverse() const { return nullptr; }
};

struct OperatorOptions {
  enum class Choice { automatic, dense, fmm };
  Choice kind = Choice::automatic;
  /// The processor; without one, the faster. The GPU has the FMM operator alone, which
  /// Choice::automatic means there.
  std::optional<Processor> processor = Processor::cpu;
  enum class NearField { automatic, stored, lean };
  /// Whether the near field's entries are stored or, lean, integrated in every product, which takes
  /// far less memory and more time. automatic: stored where there is room. The CPU always stores
  /// them.
  NearField near_field = NearField::automatic;
  /// The precision of stored entries; by default double for the dense operator, and by the
  /// tolerance for the FMM.
  std::optional<Precision> precision{};
  /// ‖(Ã−A)x‖ ≤ tolerance ‖A‖ ‖x‖. The dense operator is exact up to its precision.
  double tolerance = 1e-7;
  /// Of Yukawa's kernel exp(−κr)/(4πr), 1/length in the unit of the panels; 0 is Laplace's. Without
  /// a preconditioner of its own.
  double kappa = 0;
  Progress progress{};
  bool time_stages = false;  ///< the GPU measures the stages of products, with an event for each
  const Ranks* ranks = &one_rank();  ///< that share it: one for now; must outlive the operator
  NormalRows normal_rows = NormalRows::averaged;  ///< of K'
  /// Products whose Product::tolerance is looser than this one are cheaper: by the FMM, which keeps
  /// a far field of lower order for each decade that is asked for. Else they are as accurate as the
  /// others.
  bool relaxes = false;
  // Of the FMM, where not by the tolerance:
  std::optional<int> order{};        ///< degree of the expansions, 1 to 40
  std::optional<int> max_leaf{};     ///< panels in a leaf, at most
  std::optional<double> overhang{};  ///< see fmm::FarFieldOptions
};

/// The processor that is faster for so many panels: the GPU where there is one, unless the dense
/// operator on the CPU is faster or is asked for.
Processor faster_processor(std::size_t panels, const OperatorOptions& options);

/// The single layer operator V with constant densities, collocated at the centroids: V_ij = 1/(4π)
/// ∫_{T_j} 1/|c_i − y| dS_y. Lengths are those of the panels, which it shares. Throws InputError
/// for options that cannot be met, ResourceError where memory does not suffice.
std::shared_ptr<BoundaryOperator> make_single_layer(const Panels& panels,
                                                    const OperatorOptions& options = {});

/// All entries, of a block its own, by accurate products with unit vectors: [columns()][rows()].
std::vector<double> matrix_of(const BoundaryOperator& op);

/// V, K or K' with constant densities. K_ij = 1/(4π) ∫_{T_j} n_y·(c_i−y)/|c_i−y|³ dS_y; K' by
/// OperatorOptions::normal_rows.
/// With fine panels K σ and K' σ tend to the means of both sides' limits on the surface; with
/// normals that point outward K 1 = −½ on a closed surface. A block has the rows and columns of
/// some panels, and costs what these cost; it has no approximate inverse. With
/// OperatorOptions::kappa the kernel is Yukawa's in all of them: V_ij = ∫ G, K_ij = ∫ ∂G/∂n_y,
/// K'_ij = ∂/∂n_x ∫ G, G = exp(−κr)/(4πr); the FMM's tolerance is then against ‖V_κ‖ and, for K and
/// K', still against ½, but for transposed products of K on meshes where panels differ by far from
/// their neighbours (docs/accuracy.md). Throws what make_single_layer() throws.
std::shared_ptr<BoundaryOperator> make_boundary_operator(const Panels& panels, const Layer& layer,
                                                         const OperatorOptions& options = {},
                                                         const PanelBlock& block = {});

}  // namespace fmbem
