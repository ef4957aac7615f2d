#pragma once

#include <memory>
#include <string>

#include "fmbem/bem/geometry/panel_block.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

/// A tolerance that the FMM does not reach. It may be that of a part of what was asked for, which
/// whoever asked can tell from the factor by which it is too tight.
class ToleranceError : public InputError {
 public:
  ToleranceError(const std::string& sentence, double factor)
      : InputError(sentence), too_tight(factor) {}
  double too_tight;
};

/// Throws ToleranceError, or another InputError for options that no FMM operator can meet; returns
/// the precision of the near field's entries.
Precision check_fmm_options(const Layer& layer, const OperatorOptions& options);

/// Entries of the layer for panels i, j in [begin, end), row by row, those of K' with such rows:
/// BoundaryOperator::diagonal_block() where no entries are stored.
void exact_block(const Panels& panels, const Layer& layer, std::int64_t begin, std::int64_t end,
                 double* block, double kappa = 0, NormalRows rows = NormalRows::at_centroids);

/// V or K, with its near field stored as dense blocks and its far field by the FMM: ‖(Ã−A)x‖ ≤
/// tolerance ‖A‖ ‖x‖, for tolerances up to 0.5; for K, which can be small on open surfaces, against
/// ½. Long panels are cut for V of Laplace's kernel only. From a tolerance of 1e-7 on the near
/// field is stored in single precision. O(n) memory and work. Near integrals are as accurate as
/// their share in ‖A‖ asks for; tighter products take them where they are accurate enough, or
/// integrate afresh. Throws InputError for tolerances out of range and ResourceError where memory
/// does not suffice.
std::shared_ptr<BoundaryOperator> make_fmm_operator(const Panels& panels, const Layer& layer,
                                                    const OperatorOptions& options,
                                                    const PanelBlock& block = {});

}  // namespace fmbem
