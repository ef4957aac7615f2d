#pragma once

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/layer/layer.hpp"

namespace fmbem {

/// The entry of V, K or K' between two panels by closed forms. `same`: a panel with itself, where K
/// and K' of a flat panel are 0, the mean of both sides' limits.
double exact_entry(const Layer& layer, NormalRows rows, const Triangle& to, const Triangle& from,
                   bool same);

}  // namespace fmbem
