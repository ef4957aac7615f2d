#include "fmbem/bem/layer/potential_at.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "fmbem/bem/layer/cuda/potential_at_points.hpp"
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

/// So many pairs of a panel and a point take less time than an FMM.
constexpr double few_potential_pairs = 3e7;
/// Seconds that a near pair costs one thread, by rules: Laplace's and Yukawa's kernel.
constexpr double rule_seconds = 1e-8, yukawa_rule_seconds = 3e-8;

/// What panels give at a few points: by rules where these serve, by closed forms close by.
class PointSums {
 public:
  PointSums(const Panels& panels, double tolerance, double kappa)
      : panels_(panels), kappa_(kappa), integrals_(tolerance, FarKernel::gradient, kappa) {}

  /// `place`(i): of the i-th point, less the origin.
  template <class Place>
  void start(int count, Place&& place) {
    targets_.clear();
    for (int i = 0; i < count; ++i) targets_.add(place(i));
    targets_.pad();
    sums_.assign(count, 0.0);
  }

  void add(const Triangle& t, double sigma, double mu) {
    integrals_.integrate(t, targets_);
    for (const int i : integrals_.close()) {
      add_exactly(t, sigma, mu, i);
      integrals_.clear(i);
    }
    const double* const v = integrals_.potential().data();
    const double *const x = integrals_.gradient(0).data(), *const y = integrals_.gradient(1).data(),
                        *const z = integrals_.gradient(2).data();
    const Vec3d dipole = mu * t.normal;
    for (std::size_t i = 0; i < sums_.size(); ++i)
      sums_[i] += sigma * v[i] - (dipole.x * x[i] + dipole.y * y[i] + dipole.z * z[i]);
  }

  std::span<const double> sums() const { return sums_; }

 private:
  void add_exactly(const Triangle& t, double sigma, double mu, int i) {
    const Vec3d x = targets_[i];
    const double rounding = surface_rounding(panels_, x);
    double v, k;
    if (kappa_ == 0) {
      v = panel_potential(t, x);
      k = triangle_double_layer(t, x);
    } else {
      const YukawaIntegrals integrals = yukawa_integrals(t, x, kappa_, rounding);
      v = integrals.potential;
      k = integrals.double_layer;
    }
    sums_[i] += sigma * v + (on_triangle(t, x, rounding) ? 0 : mu * k);
  }

  const Panels& panels_;
  double kappa_;
  NearIntegrals integrals_;
  IntegralTargets targets_;
  std::vector<double> sums_;
};

/// The panels that act, with their densities, and points less the origin.
struct Problem {
  const Panels& panels;
  LargeVector<Triangle> triangles;
  std::vector<double> strengths;  ///< σ, then μ
  std::vector<Vec3d> points;
  double tolerance, kappa;

  double sigma(std::size_t j) const { return strengths[j]; }
  double mu(std::size_t j) const { return strengths[triangles.size() + j]; }
};

std::vector<double> pair_by_pair(const Problem& problem) {
  constexpr std::int64_t block = 64;
  const auto n = static_cast<std::int64_t>(problem.points.size());
  std::vector<double> result(n);
#pragma omp parallel
  {
    PointSums sums(problem.panels, problem.tolerance, problem.kappa);
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t first = 0; first < n; first += block) {
      sums.start(static_cast<int>(std::min(block, n - first)),
                 [&](int i) { return problem.points[first + i]; });
      for (std::size_t j = 0; j < problem.triangles.size(); ++j)
        sums.add(problem.triangles[j], problem.sigma(j), problem.mu(j));
      std::copy(sums.sums().begin(), sums.sums().end(), result.begin() + first);
    }
  }
  return result;
}

std::vector<double> by_fmm(const Problem& problem) {
  std::vector<double> result(problem.points.size());
  const auto tree =
      set_far_fields({.tolerance = loss_of_potentials * problem.tolerance,
                      .trace = Trace::normal,
                      .strengths = PanelSources::Strengths::charge_and_dipole,
                      .kappa = problem.kappa,
                      .near_pair_seconds = problem.kappa > 0 ? yukawa_rule_seconds : rule_seconds},
                     problem.triangles, problem.strengths, problem.points, {.potential = result});
#pragma omp parallel
  {
    PointSums sums(problem.panels, problem.tolerance, problem.kappa);
#pragma omp for schedule(dynamic, 4)
    for (std::size_t row = 0; row < tree->lists.p2p.targets.size(); ++row) {
      const NearRow near = near_row(*tree, row);
      const std::int32_t* const point = tree->targets().order.data() + near.targets.begin;
      sums.start(near.targets.size(), [&](int i) { return problem.points[point[i]]; });
      for_near_sources(*tree, near, [&](std::int32_t j) {
        sums.add(problem.triangles[j], problem.sigma(j), problem.mu(j));
      });
      for (std::int32_t i = 0; i < near.targets.size(); ++i) result[point[i]] += sums.sums()[i];
    }
  }
  return result;
}

/// Panels that are not among `some` have no densities there.
std::vector<double> on_gpu(const Panels& panels, std::span<const std::int32_t> some,
                           const SurfaceDensities& densities, std::span<const Vec3d> points,
                           const cuda::bem::PotentialAtPoints& how) {
  if (some.size() == panels.size())
    return cuda::bem::layer_potential(panels, densities, points, how);
  std::vector<double> sigma(panels.size()), mu(panels.size());
  for (const std::int32_t j : some) {
    sigma[j] = densities.sigma[j];
    mu[j] = densities.mu[j];
  }
  return cuda::bem::layer_potential(panels, {sigma, mu}, points, how);
}

}  // namespace

std::vector<double> potential_at(const Panels& panels, std::span<const std::int32_t> some,
                                 const SurfaceDensities& densities, std::span<const Vec3d> points,
                                 double tolerance, double kappa, Processor processor) {
  fmm::check_kappa(kappa);
  FMBEM_REQUIRE(tolerance >= 1e-12 && tolerance <= 0.1,
                "the tolerance of potentials must be between 1e-12 and 0.1, not " << tolerance);
  FMBEM_REQUIRE(!panels.images, "potentials at points know no mirror planes");
  for (const std::span<const double> of : {densities.sigma, densities.mu})
    FMBEM_REQUIRE(of.size() == panels.size(),
                  "there are " << panels.size() << " panels, but " << of.size() << " densities");
  check_panels(some, panels.size());
  for (const std::int32_t j : some)
    FMBEM_REQUIRE(std::isfinite(densities.sigma[j]) && std::isfinite(densities.mu[j]),
                  "a density of panel " << j << " is not finite");
  if (some.empty()) return std::vector<double>(points.size(), 0.0);
  const double pairs = static_cast<double>(points.size()) * static_cast<double>(some.size());
  if (processor == Processor::gpu && pairs > few_potential_pairs)
    return on_gpu(panels, some, densities, points, {tolerance, kappa});
  Problem problem{panels, triangles_of(panels, some), {}, {}, tolerance, kappa};
  for (const std::span<const double> of : {densities.sigma, densities.mu})
    for (const std::int32_t j : some) problem.strengths.push_back(of[j]);
  for (std::size_t i = 0; i < points.size(); ++i) {
    FMBEM_REQUIRE(std::isfinite(norm2(points[i])), "point " << i << " is not finite");
    problem.points.push_back(points[i] - panels.origin);
  }
  return pairs <= few_potential_pairs ? pair_by_pair(problem) : by_fmm(problem);
}

}  // namespace fmbem
