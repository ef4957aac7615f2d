#include "fmbem/bem/near/exact_entry.hpp"

#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/near/yukawa_integrals.hpp"

namespace fmbem {
namespace {

double yukawa_entry(const Layer& layer, NormalRows rows, const Triangle& to, const Triangle& from,
                    bool same, double kappa) {
  if (layer == single_layer) return yukawa_integrals(from, to.centroid, kappa).potential;
  if (same) return 0;
  if (layer == double_layer) return yukawa_integrals(from, to.centroid, kappa).double_layer;
  if (rows == NormalRows::averaged)
    return from.area / to.area * yukawa_integrals(to, from.centroid, kappa).double_layer;
  return dot(to.normal, yukawa_integrals(from, to.centroid, kappa).gradient);
}

}  // namespace

double exact_entry(const Layer& layer, NormalRows rows, const Triangle& to, const Triangle& from,
                   bool same, double kappa) {
  if (kappa > 0) return yukawa_entry(layer, rows, to, from, same, kappa);
  if (layer == single_layer) return panel_potential(from, to.centroid);
  if (same) return 0;
  if (layer == double_layer) return triangle_double_layer(from, to.centroid);
  if (rows == NormalRows::averaged)
    return from.area / to.area * triangle_double_layer(to, from.centroid);
  return dot(to.normal, panel_gradient(from, to.centroid, 0));
}

}  // namespace fmbem
