#include "fmbem/bem/layer/field.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/near/near_integrals.hpp"
#include "fmbem/bem/near/near_rows.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/space/panel_sources.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/choice/grow_tree.hpp"
#include "fmbem/fmm/far_field.hpp"

namespace fmbem {
namespace {

/// So many pairs of a panel and a point take less time than making a tree.
constexpr double few_pairs = 1e6;
/// Seconds that a near pair, with its gradient, costs one thread.
constexpr double near_pair_seconds = 4e-8;
/// The far field's error is more than a digit larger in gradients than in potentials.
constexpr double gradient_loss = 0.05;

/// How far off a panel a point may be that is meant to lie on it, after both have been rounded.
double surface_tolerance(const Panels& panels, Vec3d x) {
  return 4 * std::numeric_limits<double>::epsilon() *
         (panels.extent + norm(panels.origin) + norm(x));
}

Vec3d field_of_panel(const Triangle& t, Vec3d x, double tolerance, Side side) {
  Vec3d e = -panel_gradient(t, x, tolerance);
  if (side != Side::mean && on_triangle(t, x, tolerance))
    e += (side == Side::positive ? 0.5 : -0.5) * t.normal;
  return e;
}

/// All panels at all points, exactly. x are the points less the origin.
void add_exactly(const Panels& panels, std::span<const Triangle> triangles,
                 std::span<const double> sigma, std::span<const Vec3d> x, Side side, Field& field) {
  const auto n = static_cast<std::int64_t>(x.size());
#pragma omp parallel for schedule(dynamic, 16)
  for (std::int64_t i = 0; i < n; ++i) {
    const double tolerance = surface_tolerance(panels, x[i]);
    for (std::size_t j = 0; j < panels.size(); ++j) {
      field.potential[i] += sigma[j] * panel_potential(triangles[j], x[i]);
      field.e[i] += sigma[j] * field_of_panel(triangles[j], x[i], tolerance, side);
    }
  }
}

/// The near lists' panels, by closed forms where they are close and by rules elsewhere.
class NearField {
 public:
  NearField(const Panels& panels, std::span<const Triangle> triangles,
            std::span<const double> sigma, std::span<const Vec3d> x, const FieldOptions& options)
      : panels_(panels),
        triangles_(triangles),
        sigma_(sigma),
        x_(x),
        side_(options.side),
        integrals_(options.tolerance, FarKernel::gradient) {}

  void add_row(const fmm::PointTree& tree, std::size_t row, Field& field) {
    const NearRow near = near_row(tree, row);
    const fmm::Range range = near.targets;
    const std::int32_t* order = tree.targets().order.data() + range.begin;
    targets_.clear();
    for (std::int32_t i = 0; i < range.size(); ++i) targets_.add(x_[order[i]]);
    targets_.pad();
    for_near_sources(tree, near, [&](std::int32_t j) { add_panel(j, order, field); });
  }

 private:
  void add_panel(std::int32_t j, const std::int32_t* order, Field& field) {
    const Triangle& t = triangles_[j];
    integrals_.integrate(t, targets_);
    auto close = integrals_.close().begin();
    for (int i = 0; i < targets_.count(); ++i) {
      const std::int32_t point = order[i];
      if (close != integrals_.close().end() && *close == i) {
        ++close;
        const Vec3d x = targets_[i];
        field.potential[point] += sigma_[j] * panel_potential(t, x);
        field.e[point] += sigma_[j] * field_of_panel(t, x, surface_tolerance(panels_, x), side_);
      } else {
        field.potential[point] += sigma_[j] * integrals_.potential()[i];
        for (int axis = 0; axis < 3; ++axis)
          field.e[point][axis] -= sigma_[j] * integrals_.gradient(axis)[i];
      }
    }
  }

  const Panels& panels_;
  std::span<const Triangle> triangles_;
  std::span<const double> sigma_;
  std::span<const Vec3d> x_;
  Side side_;
  NearIntegrals integrals_;
  IntegralTargets targets_;
};

void add_by_fmm(const Panels& panels, std::span<const Triangle> triangles,
                std::span<const double> sigma, std::span<const Vec3d> x,
                const FieldOptions& options, Field& field) {
  const double tolerance = gradient_loss * options.tolerance;
  const auto sources = std::make_shared<PanelSources>(triangles, nullptr, tolerance);
  const int order = far_order_for(tolerance);
  const Precision precision = far_precision_for(tolerance);
  fmm::Seconds seconds;
  const auto tree = fmm::grow_tree(*sources, x,
                                   {.overhang = panel_overhang,
                                    .order = order,
                                    .precision = precision,
                                    .gradient = true,
                                    .near_pair_seconds = near_pair_seconds},
                                   seconds);
  const fmm::FarField far(
      tree, sources,
      {.order = order, .precision = precision, .gradient = true, .moments = fmm::Moments::afresh});
  far.evaluate({.charges = sigma}, {field.potential, field.e});
  for (Vec3d& e : field.e) e = -e;
#pragma omp parallel
  {
    NearField near(panels, triangles, sigma, x, options);
#pragma omp for schedule(dynamic, 4)
    for (std::size_t row = 0; row < tree->lists.p2p.targets.size(); ++row)
      near.add_row(*tree, row, field);
  }
}

}  // namespace

Field evaluate_field(const Panels& panels, std::span<const double> sigma,
                     std::span<const Vec3d> points, const FieldOptions& options) {
  FMBEM_REQUIRE(sigma.size() == panels.size(),
                "there are " << panels.size() << " panels, but " << sigma.size() << " densities");
  FMBEM_REQUIRE(
      options.tolerance == 0 || (options.tolerance >= 1e-10 && options.tolerance <= 0.1),
      "the tolerance of fields must be 0 or between 1e-10 and 0.1, not " << options.tolerance);
  std::vector<Vec3d> x(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    FMBEM_REQUIRE(std::isfinite(norm2(points[i])), "point " << i << " is not finite");
    x[i] = points[i] - panels.origin;
  }
  Field field;
  field.potential.resize(points.size());
  field.e.resize(points.size());
  const LargeVector<Triangle> triangles = triangles_of(panels);
  const double pairs = static_cast<double>(points.size()) * static_cast<double>(panels.size());
  if (options.tolerance == 0 || pairs <= few_pairs)
    add_exactly(panels, triangles, sigma, x, options.side, field);
  else
    add_by_fmm(panels, triangles, sigma, x, options, field);
  field.singular_points =
      std::count_if(field.e.begin(), field.e.end(), [](Vec3d e) { return std::isnan(norm2(e)); });
  return field;
}

}  // namespace fmbem
