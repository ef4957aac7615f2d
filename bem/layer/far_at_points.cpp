#include "fmbem/bem/layer/far_at_points.hpp"

#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/fmm/choice/grow_tree.hpp"
#include "fmbem/fmm/far_field.hpp"

namespace fmbem {

std::shared_ptr<const fmm::PointTree> set_far_fields(const FarAtPoints& how,
                                                     std::span<const Triangle> panels,
                                                     std::span<const double> strengths,
                                                     std::span<const Vec3d> points,
                                                     const fmm::Fields& fields) {
  // Charges and dipoles share what is allowed.
  const bool is_both = how.strengths == PanelSources::Strengths::charge_and_dipole;
  const double of_each = (is_both ? 0.5 : 1) * how.tolerance;
  const auto sources =
      std::make_shared<PanelSources>(panels, nullptr, of_each, how.trace, how.kappa, how.strengths);
  const int order = far_order_for(how.tolerance, how.trace);
  const Precision precision = far_precision_at_points(how.tolerance, how.trace, how.hessian);
  fmm::Seconds seconds;
  auto tree =
      fmm::grow_tree(*sources, points,
                     {.overhang = how.trace == Trace::value ? panel_overhang : dipole_overhang,
                      .order = order,
                      .precision = precision,
                      .gradient = how.gradient,
                      .hessian = how.hessian,
                      .near_pair_seconds = how.near_pair_seconds},
                     seconds);
  const fmm::FarField far(tree, sources,
                          {.order = order,
                           .precision = precision,
                           .gradient = how.gradient,
                           .hessian = how.hessian,
                           .moments = fmm::Moments::afresh,
                           .kappa = how.kappa,
                           .reach = far_reach_for(of_each)});
  far.evaluate({.charges = strengths}, fields);
  return tree;
}

bool are_apart(const Panels& panels, std::span<const Vec3d> points, Vec3d origin) {
  const auto stride = [](std::size_t n) { return std::max<std::size_t>(1, n / 1024); };
  const double near = 0.1 * panels.extent;
  for (std::size_t i = 0; i < points.size(); i += stride(points.size()))
    for (std::size_t j = 0; j < panels.size(); j += stride(panels.size()))
      if (norm2(points[i] - origin - panels.centroid(j)) < near * near) return false;
  return true;
}

}  // namespace fmbem
