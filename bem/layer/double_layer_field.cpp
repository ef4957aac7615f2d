#include "fmbem/bem/layer/double_layer_field.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/bem/layer/bends.hpp"
#include "fmbem/bem/layer/cuda/layer_at_points.hpp"
#include "fmbem/bem/layer/far_at_points.hpp"
#include "fmbem/bem/near/difference_entries.hpp"
#include "fmbem/bem/near/dipole_field.hpp"
#include "fmbem/bem/near/near_rows.hpp"
#include "fmbem/bem/near/yukawa_integrals.hpp"
#include "fmbem/bem/space/panel_sources.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/check.hpp"

namespace fmbem {
namespace {

/// Pairs of a panel and a point that take less time than making a tree.
constexpr double few_dipole_pairs = 1e6;
/// What a near pair costs one thread.
constexpr double near_dipole_pair_seconds = 8e-8;
/// The part of the tolerance that the far field gets.
constexpr PartsOfTolerance gradient_part_of_dipoles{0.05, 0.01},
    gpu_gradient_part_of_dipoles{0.02, 0.01};

class PointOnPanels {
 public:
  PointOnPanels(const Panels& panels, Vec3d x, const FieldOptions& options)
      : x_(x),
        tolerance_(surface_rounding(panels, x)),
        kappa_(options.kappa),
        side_(options.side) {}

  void add(const Triangle& t, double mu, double& potential, Vec3d& e) const {
    if (mu == 0) return;
    YukawaIntegrals of_yukawa;
    if (kappa_ > 0) of_yukawa = yukawa_integrals(t, x_, kappa_);
    if (!on_triangle(t, x_, tolerance_))
      potential += mu * (kappa_ == 0 ? triangle_double_layer(t, x_) : of_yukawa.double_layer);
    else if (side_ != Side::mean)
      potential += (side_ == Side::positive ? 0.5 : -0.5) * part_about(t, x_, tolerance_) * mu;
    if (is_on_edge(t, x_, tolerance_)) {
      constexpr double nan = std::numeric_limits<double>::quiet_NaN();
      e = {nan, nan, nan};
      return;
    }
    e += inv_4pi * mu * field_round(t, x_);
    if (kappa_ > 0) e -= mu * difference_gradient_of_k(t, x_, kappa_, of_yukawa.potential);
  }

 private:
  Vec3d x_;
  double tolerance_, kappa_;
  Side side_;
};

void add_dipoles_by_fmm(const Panels& panels, std::span<const Triangle> triangles,
                        std::span<const double> mu, std::span<const Vec3d> x,
                        const FieldOptions& options, Field& field) {
  const auto tree =
      set_far_fields({.tolerance = gradient_part_of_dipoles.of(panels, x) * options.tolerance,
                      .trace = Trace::normal,
                      .gradient = true,
                      .kappa = options.kappa,
                      .near_pair_seconds = near_dipole_pair_seconds},
                     triangles, mu, x, {field.potential, field.e});
  for (Vec3d& e : field.e) e = -e;
#pragma omp parallel for schedule(dynamic, 4)
  for (std::size_t row = 0; row < tree->lists.p2p.targets.size(); ++row) {
    const NearRow near = near_row(*tree, row);
    for (std::int32_t i = near.targets.begin; i < near.targets.end; ++i) {
      const std::int32_t point = tree->targets().order[i];
      const PointOnPanels at(panels, x[point], options);
      for_near_sources(*tree, near, [&](std::int32_t j) {
        at.add(triangles[j], mu[j], field.potential[point], field.e[point]);
      });
    }
  }
}

}  // namespace

Field evaluate_double_layer(const Panels& panels, std::span<const double> mu,
                            std::span<const Vec3d> points, const FieldOptions& options) {
  FMBEM_REQUIRE(mu.size() == panels.size(), "there are " << panels.size() << " panels, but "
                                                         << mu.size() << " dipole densities");
  FMBEM_REQUIRE(options.tolerance == 0 ||
                    (options.tolerance >= tightest_of_dipoles && options.tolerance <= 0.1),
                "the tolerance of fields of dipoles must be 0 or between "
                    << tightest_of_dipoles << " and 0.1, not " << options.tolerance);
  fmm::check_kappa(options.kappa);
  fmm::check_evaluation(panels.size(), 0, {.charges = mu}, {});
  FMBEM_REQUIRE(!options.gradient_of_e,
                "the gradient of E is there for charges alone, not for double layers");
  if (panels.images) {
    for (std::size_t i = 0; i < panels.size(); ++i)
      FMBEM_REQUIRE(!panels.images->lies_in_plane(i),
                    "panel " << i
                             << " lies in a mirror plane, where dipoles and their images "
                                "cancel: leave it out of the mesh");
    return evaluate_double_layer(panels.images->whole, panels.images->densities(mu), points,
                                 options);
  }
  const double pairs = static_cast<double>(points.size()) * static_cast<double>(panels.size());
  const bool by_fmm = options.tolerance > 0 && pairs > few_dipole_pairs;
  Field field;
  if (by_fmm && options.processor == Processor::gpu) {
    cuda::bem::set_layer_field(
        panels, mu, points,
        {.source = Trace::normal,
         .tolerance =
             gpu_gradient_part_of_dipoles.of(panels, points, panels.origin) * options.tolerance,
         .side = options.side,
         .kappa = options.kappa,
         .entries = options.tolerance},
        field);
    set_limits_at_bends(panels, mu, points, options.side, field);
    field.count_singular();
    return field;
  }
  std::vector<Vec3d> x(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    x[i] = points[i] - panels.origin;
    FMBEM_REQUIRE(std::isfinite(norm2(x[i])), "point " << i << " is not finite");
  }
  field.potential.resize(points.size());
  field.e.resize(points.size());
  const LargeVector<Triangle> triangles = triangles_of(panels);
  if (by_fmm) {
    add_dipoles_by_fmm(panels, triangles, mu, x, options, field);
  } else {
    const auto n = static_cast<std::int64_t>(x.size());
#pragma omp parallel for schedule(dynamic, 16)
    for (std::int64_t i = 0; i < n; ++i) {
      const PointOnPanels at(panels, x[i], options);
      for (std::size_t j = 0; j < panels.size(); ++j)
        at.add(triangles[j], mu[j], field.potential[i], field.e[i]);
    }
  }
  set_limits_at_bends(panels, mu, points, options.side, field);
  field.count_singular();
  return field;
}

}  // namespace fmbem
