#pragma once

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/layer/layer.hpp"

namespace fmbem {

/// The entry of V, K or K' between two panels by closed forms. `same`: a panel with itself, where K
/// and K' of a flat panel are 0, the mean of both sides' limits. κ > 0 is Yukawa's kernel.
double exact_entry(const Layer& layer, NormalRows rows, const Triangle& to, const Triangle& from,
                   bool same, double kappa = 0);

}  // namespace fmbem
