#include "fmbem/bem/near/exact_entry.hpp"

#include "fmbem/bem/near/panel_integrals.hpp"

namespace fmbem {

double exact_entry(const Layer& layer, NormalRows rows, const Triangle& to, const Triangle& from,
                   bool same) {
  if (layer == single_layer) return panel_potential(from, to.centroid);
  if (same) return 0;
  if (layer == double_layer) return triangle_double_layer(from, to.centroid);
  if (rows == NormalRows::averaged)
    return from.area / to.area * triangle_double_layer(to, from.centroid);
  return dot(to.normal, panel_gradient(from, to.centroid, 0));
}

}  // namespace fmbem
