#pragma once

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/layer/layer.hpp"

namespace fmbem {

/// The entry of V, K or K' between two panels by closed forms. Panels are flat: K and K' have none
/// of a panel with itself (`same`), where the value is the mean of both sides' limits.
double exact_entry(const Layer& layer, NormalRows rows, const Triangle& to, const Triangle& from,
                   bool same);

}  // namespace fmbem
