#include "fmbem/bem/layer/field.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/bem/layer/cuda/layer_at_points.hpp"
#include "fmbem/bem/layer/edge_point.hpp"
#include "fmbem/bem/layer/far_at_points.hpp"
#include "fmbem/bem/near/near_integrals.hpp"
#include "fmbem/bem/near/near_rows.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/near/yukawa_integrals.hpp"
#include "fmbem/bem/space/panel_sources.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/check.hpp"

namespace fmbem {
namespace {

/// So many pairs of a panel and a point take less time than making a tree.
constexpr double few_pairs = 1e6;
/// Seconds that a near pair costs one thread: with its gradient, and with second derivatives.
constexpr double near_pair_seconds = 4e-8, near_pair_seconds_with_hessian = 1e-7;
/// The part of the tolerance that the far field gets, whose errors are larger with each derivative:
/// of points near panels, and where all are apart from them. On the GPU trees of very many points
/// are deeper, and errors of E add up over levels.
constexpr PartsOfTolerance gradient_part{0.05, 0.003}, gpu_gradient_part{0.02, 0.003},
    hessian_part{0.001, 0.00015};

void set_infinite(Field& field, std::size_t point) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  field.e[point] = {nan, nan, nan};
  if (!field.gradient_of_e.empty()) field.gradient_of_e[point] = {nan, nan, nan, nan, nan, nan};
}

/// The gradient at a point on a panel's edge. What is infinite of it is Laplace's, and goes to
/// `edges`.
Vec3d gradient_on_edge(EdgePoint& edges, const Triangle& t, double sigma, Vec3d x, double rounding,
                       const FieldOptions& options, Symmetric3d* hessian) {
  Vec3d gradient = edges.add(t, sigma, x, rounding, options.side, hessian);
  if (options.kappa > 0)
    gradient +=
        sigma * yukawa_integrals(t, x, options.kappa, rounding, YukawaPart::less_laplace).gradient;
  return gradient;
}

/// What panels add to the field at a point, by closed forms.
class FieldPoint {
 public:
  /// x: less the origin.
  FieldPoint(const Panels& panels, Vec3d x, const FieldOptions& options, std::size_t point,
             Field& field)
      : x_(x),
        tolerance_(surface_rounding(panels, x)),
        options_(options),
        potential_(field.potential[point]),
        e_(field.e[point]),
        hessian_(field.gradient_of_e.empty() ? nullptr : &field.gradient_of_e[point]) {}

  /// ∇∇φ is added up in the place of ∇E.
  void add(const Triangle& t, double sigma, EdgePoint& edges) {
    Vec3d gradient{};
    if (options_.kappa == 0) {
      potential_ += sigma * panel_potential(t, x_);
      gradient = panel_gradient(t, x_, tolerance_);
    } else {
      const YukawaIntegrals integrals = yukawa_integrals(t, x_, options_.kappa, tolerance_);
      potential_ += sigma * integrals.potential;
      gradient = integrals.gradient;
    }
    if (std::isnan(gradient.x)) {
      e_ -= gradient_on_edge(edges, t, sigma, x_, tolerance_, options_, hessian_);
      return;
    }
    Vec3d e = -gradient;
    if (options_.side != Side::mean && on_triangle(t, x_, tolerance_))
      e += (options_.side == Side::positive ? 0.5 : -0.5) * t.normal;
    e_ += sigma * e;
    if (hessian_) *hessian_ += sigma * panel_hessian(t, x_);
  }

 private:
  Vec3d x_;
  double tolerance_;
  const FieldOptions& options_;
  double& potential_;
  Vec3d& e_;
  Symmetric3d* hessian_;
};

/// All panels at all points, exactly. x are the points less the origin.
void add_exactly(const Panels& panels, std::span<const Triangle> triangles,
                 std::span<const double> sigma, std::span<const Vec3d> x,
                 const FieldOptions& options, Field& field) {
  const auto n = static_cast<std::int64_t>(x.size());
#pragma omp parallel
  {
    EdgePoint edges;
#pragma omp for schedule(dynamic, 16)
    for (std::int64_t i = 0; i < n; ++i) {
      FieldPoint point(panels, x[i], options, i, field);
      edges.clear();
      for (std::size_t j = 0; j < triangles.size(); ++j) point.add(triangles[j], sigma[j], edges);
      if (!edges.is_finite()) set_infinite(field, i);
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
        options_(options),
        integrals_(options.tolerance,
                   options.gradient_of_e ? FarKernel::hessian : FarKernel::gradient,
                   options.kappa) {}

  void add_row(const fmm::PointTree& tree, std::size_t row, Field& field) {
    const NearRow near = near_row(tree, row);
    const fmm::Range range = near.targets;
    const std::int32_t* order = tree.targets().order.data() + range.begin;
    targets_.clear();
    for (std::int32_t i = 0; i < range.size(); ++i) targets_.add(x_[order[i]]);
    targets_.pad();
    if (edges_.size() < static_cast<std::size_t>(range.size())) edges_.resize(range.size());
    for (std::int32_t i = 0; i < range.size(); ++i) edges_[i].clear();
    for_near_sources(tree, near, [&](std::int32_t j) { add_panel(j, order, field); });
    for (std::int32_t i = 0; i < range.size(); ++i)
      if (!edges_[i].is_finite()) set_infinite(field, order[i]);
  }

 private:
  FieldPoint at(int i, const std::int32_t* order, Field& field) const {
    return {panels_, x_[order[i]], options_, static_cast<std::size_t>(order[i]), field};
  }

  void add_panel(std::int32_t j, const std::int32_t* order, Field& field) {
    const Triangle& t = triangles_[j];
    integrals_.integrate(t, targets_);
    auto close = integrals_.close().begin();
    for (int i = 0; i < targets_.count(); ++i) {
      const std::int32_t point = order[i];
      if (close != integrals_.close().end() && *close == i) {
        ++close;
        at(i, order, field).add(t, sigma_[j], edges_[i]);
        continue;
      }
      field.potential[point] += sigma_[j] * integrals_.potential()[i];
      for (int axis = 0; axis < 3; ++axis)
        field.e[point][axis] -= sigma_[j] * integrals_.gradient(axis)[i];
      if (!field.gradient_of_e.empty())
        for (int entry = 0; entry < 6; ++entry)
          field.gradient_of_e[point][entry] += sigma_[j] * integrals_.hessian(entry)[i];
    }
  }

  const Panels& panels_;
  std::span<const Triangle> triangles_;
  std::span<const double> sigma_;
  std::span<const Vec3d> x_;
  const FieldOptions& options_;
  NearIntegrals integrals_;
  IntegralTargets targets_;
  std::vector<EdgePoint> edges_;  ///< of the row's targets
};

void add_by_fmm(const Panels& panels, std::span<const Triangle> triangles,
                std::span<const double> sigma, std::span<const Vec3d> x,
                const FieldOptions& options, Field& field) {
  const bool hessian = options.gradient_of_e;
  const auto tree = set_far_fields(
      {.tolerance = (hessian ? hessian_part : gradient_part).of(panels, x) * options.tolerance,
       .gradient = true,
       .hessian = hessian,
       .kappa = options.kappa,
       .near_pair_seconds = hessian ? near_pair_seconds_with_hessian : near_pair_seconds},
      triangles, sigma, x, {field.potential, field.e, field.gradient_of_e});
  for (Vec3d& e : field.e) e = -e;
#pragma omp parallel
  {
    NearField near(panels, triangles, sigma, x, options);
#pragma omp for schedule(dynamic, 4)
    for (std::size_t row = 0; row < tree->lists.p2p.targets.size(); ++row)
      near.add_row(*tree, row, field);
  }
}

/// On the GPU, but for what panels give E at points on their edges.
void set_on_gpu(const Panels& panels, std::span<const double> sigma, std::span<const Vec3d> points,
                const FieldOptions& options, Field& field) {
  const bool hessian = options.gradient_of_e;
  const double part =
      (hessian ? hessian_part : gpu_gradient_part).of(panels, points, panels.origin);
  const std::vector<cuda::bem::PointOnPanel> pairs =
      cuda::bem::set_layer_field(panels, sigma, points,
                                 {Trace::value, part * options.tolerance, options.side, hessian,
                                  options.kappa, options.tolerance},
                                 field);
  EdgePoint edges;
  for (auto pair = pairs.begin(); pair != pairs.end();) {
    const std::int32_t i = pair->point;
    const Vec3d x = points[i] - panels.origin;
    Symmetric3d second;
    edges.clear();
    const double rounding = surface_rounding(panels, x);
    for (; pair != pairs.end() && pair->point == i; ++pair)
      field.e[i] -= gradient_on_edge(edges, panels.triangle(pair->panel), sigma[pair->panel], x,
                                     rounding, options, hessian ? &second : nullptr);
    if (hessian) field.gradient_of_e[i] = field.gradient_of_e[i] - second;
    if (!edges.is_finite()) set_infinite(field, i);
  }
}

}  // namespace

void Field::count_singular() {
  const auto n = static_cast<std::int64_t>(e.size());
  std::size_t found = 0;
#pragma omp parallel for schedule(static) reduction(+ : found)
  for (std::int64_t i = 0; i < n; ++i) found += std::isnan(norm2(e[i]));
  singular_points = found;
}

Field evaluate_field(const Panels& panels, std::span<const double> sigma,
                     std::span<const Vec3d> points, const FieldOptions& options,
                     std::span<const std::int32_t> chosen) {
  FMBEM_REQUIRE(sigma.size() == panels.size(),
                "there are " << panels.size() << " panels, but " << sigma.size() << " densities");
  FMBEM_REQUIRE(
      options.tolerance == 0 || (options.tolerance >= 1e-10 && options.tolerance <= 0.1),
      "the tolerance of fields must be 0 or between 1e-10 and 0.1, not " << options.tolerance);
  fmm::check_kappa(options.kappa);
  fmm::check_evaluation(panels.size(), 0, {.charges = sigma}, {});
  check_panels(chosen, panels.size());
  FMBEM_REQUIRE(options.kappa == 0 || !options.gradient_of_e,
                "the gradient of E is for Laplace's kernel: leave it out, or set κ to 0");
  if (panels.images) {
    const PanelImages& images = *panels.images;
    return evaluate_field(images.whole, images.densities(sigma), points, options,
                          images.images_of(chosen));
  }
  const std::size_t acting = chosen.empty() ? panels.size() : chosen.size();
  const double pairs = static_cast<double>(points.size()) * static_cast<double>(acting);
  const bool by_fmm = options.tolerance > 0 && pairs > few_pairs;
  Field field;
  if (by_fmm && options.processor == Processor::gpu && chosen.empty()) {
    set_on_gpu(panels, sigma, points, options, field);
    field.count_singular();
    return field;
  }
  std::vector<Vec3d> x(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    FMBEM_REQUIRE(std::isfinite(norm2(points[i])), "point " << i << " is not finite");
    x[i] = points[i] - panels.origin;
  }
  field.potential.resize(points.size());
  field.e.resize(points.size());
  if (options.gradient_of_e) field.gradient_of_e.resize(points.size());
  const LargeVector<Triangle> triangles = triangles_of(panels, chosen);
  std::vector<double> density;
  if (!chosen.empty()) {
    for (const std::int32_t j : chosen) density.push_back(sigma[j]);
    sigma = density;
  }
  if (by_fmm)
    add_by_fmm(panels, triangles, sigma, x, options, field);
  else
    add_exactly(panels, triangles, sigma, x, options, field);
  for (Symmetric3d& gradient : field.gradient_of_e) gradient = -1.0 * gradient;
  field.count_singular();
  return field;
}

}  // namespace fmbem
