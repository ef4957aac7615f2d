#pragma once

#include <memory>

#include "fmbem/bem/near/cuda/near_field.cuh"
#include "fmbem/bem/space/cuda/device_pieces.cuh"
#include "fmbem/bem/space/cuda/panel_stages.cuh"
#include "fmbem/cuda/stage_times.cuh"
#include "fmbem/fmm/base/precision.hpp"

namespace fmbem::cuda::bem {

/// Stages of the last product, in both streams.
struct ProductTimes {
  StageTimes far, near;

  void restart() {
    far.clear();
    near.clear();
    far.start();
  }
  fmm::Seconds seconds() const {
    fmm::Seconds all = far.seconds();
    all.merge(near.seconds());
    return all;
  }
};

/// What acts on potentials and gradients in the transpose of a far field, as charges and dipoles at
/// the targets, [vectors][targets] by number; null for none, but not both.
struct FarTargets {
  const double* charges;
  const Vec3d* dipoles;
};
/// Where its results go, [vectors][panels] by number: the transpose of charges and, over the tree's
/// scale, of dipoles; null where not asked for.
struct FarSources {
  double *of_charges, *of_dipoles;
};

/// The far field of panels, with expansions in either precision, and its sum with the near field.
class PanelFarField {
 public:
  virtual ~PanelFarField() = default;
  /// Enqueues y = V x, or K x, for n_vectors vectors, [n_vectors][panels] and [n_vectors][targets]
  /// in device memory; records the stages unless times is null. Of charges and dipoles
  /// y = V σ + K μ: x is [n_vectors][2][panels] then, σ and μ times the tree's scale.
  virtual void multiply(const NearField& near, const double* x, double* y, int n_vectors,
                        ProductTimes* times) = 0;
  /// Enqueues what is far alone: potentials and gradients, [n_vectors][targets]; null where not
  /// asked for.
  virtual void evaluate_far(const double* x, double* potential, Vec3d* gradient, int n_vectors) = 0;
  /// As multiply() for y = Vᵀ x, or Kᵀ x, with the transposed lists of the tree; not of charges and
  /// dipoles together.
  virtual void multiply_transposed(const TransposedLists& lists, NearField& near, const double* x,
                                   double* y, int n_vectors, ProductTimes* times) = 0;
  /// The transpose of evaluate_far() where the sources have charges and dipoles.
  virtual void evaluate_far_transposed(const TransposedLists& lists, const FarTargets& from,
                                       const FarSources& to, int n_vectors) = 0;
  /// Gives back the memory that products work in, until the next one needs it.
  virtual void release() = 0;
  virtual std::int64_t bytes() const = 0;
};

/// How a far field is made.
struct PanelFarOptions {
  PanelKind kind = PanelKind::whole;  ///< with_pieces follows from pieces
  double kappa = 0;                   ///< of the panels' unit
  int order = 0;
  Precision precision = Precision::double_precision;
  double moments = 0;  ///< relative error of the panels' moments
  double reach = 0;    ///< κr from which on pairs do not count
  Gathering gathering = Gathering::wide;
  /// Whether moments of panels are kept from the first product on, if they take little of the
  /// memory that is free then; those of pieces are not.
  bool keeps_moments = false;
};
inline PanelKind kind_of(Trace source) {
  return source == Trace::value ? PanelKind::whole : PanelKind::dipoles;
}

/// Panels, tree, pieces (null where no panel is cut) and streams must outlive it; the near field's
/// products go to `near_stream`.
std::unique_ptr<PanelFarField> make_panel_far_field(
    const PanelStore& panels, const SpreadTree& tree, const DevicePieces* pieces,
    const PanelFarOptions& options, const Stream& stream, const Stream& near_stream);

}  // namespace fmbem::cuda::bem
