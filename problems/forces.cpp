#include "fmbem/problems/forces.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/bem/space/quadrature.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/capacitance.hpp"

namespace fmbem {
namespace {

/// How often a panel is cut into four at the most: 4096 pieces, for gaps of a fiftieth of its size.
constexpr int most_cuts = 6;
/// The least tolerance of fields.
constexpr double least_field_tolerance = 1e-10;

/// Fields in V per unit of length.
class Surroundings {
 public:
  Surroundings(const ForceProblem& problem, double tolerance)
      : problem_(problem),
        tolerance_(std::max(0.1 * tolerance, least_field_tolerance)),
        whole_(whole_of(problem.panels.panels)),
        sigma_(problem.sigma.begin(), problem.sigma.end()) {
    const auto& images = problem.panels.panels.images;
    if (images) sigma_ = images->densities(problem.sigma);
    // Behind the charges are their images.
    const std::size_t charges = problem.applied.charges.size() / (images ? images->reflections : 1);
    for (std::size_t k = 0; k < charges; ++k) places_.push_back(problem.applied.charges[k].place);
  }

  std::span<const Vec3d> places() const { return places_; }
  /// Of all but these panels, ascending, and these applied charges; images are others.
  std::vector<Vec3d> field(std::span<const std::int32_t> panels,
                           std::span<const std::int32_t> without,
                           std::span<const Vec3d> points) const {
    std::vector<Vec3d> e(points.size());
    std::vector<char> is_own(whole_.size(), 0);
    for (const std::int32_t i : panels)
      is_own[&whole_ == &problem_.panels.panels ? i : problem_.panels.panels.images->itself(i)] = 1;
    std::vector<std::int32_t> chosen;
    for (std::size_t j = 0; j < whole_.size() && !points.empty(); ++j)
      if (!is_own[j]) chosen.push_back(static_cast<std::int32_t>(j));
    if (!chosen.empty())
      e = evaluate_field(whole_, sigma_, points, {.tolerance = tolerance_}, chosen).e;
    add_applied(without, points, e);
    return e;
  }
  /// Of everything, from one side of panels.
  std::vector<Vec3d> field_beside(std::span<const Vec3d> points, Side side) const {
    std::vector<Vec3d> e =
        evaluate_field(whole_, sigma_, points, {.side = side, .tolerance = tolerance_}).e;
    add_applied({}, points, e);
    return e;
  }

 private:
  void add_applied(std::span<const std::int32_t> without, std::span<const Vec3d> points,
                   std::vector<Vec3d>& e) const {
    AppliedField rest = problem_.applied;
    for (auto k = without.rbegin(); k != without.rend(); ++k)
      rest.charges.erase(rest.charges.begin() + *k);
    if (rest.empty()) return;
    for (std::size_t i = 0; i < points.size(); ++i)
      e[i] += problem_.scale_to_m * rest.field(points[i], problem_.scale_to_m);
  }

  const ForceProblem& problem_;
  double tolerance_;
  const Panels& whole_;  ///< panels and, behind symmetry planes, images
  std::vector<double> sigma_;
  std::vector<Vec3d> places_;
};

/// A panel or a part of one.
struct PanelPiece {
  std::array<Vec3d, 3> vertex;  ///< in the mesh's coordinates
  double charge;                ///< σ times its area
  int cuts;
};

/// ∫ σ E and ∫ r × σ E, r from where torques are about.
struct Moments {
  Vec3d force, torque;
  void add(double charge, Vec3d r, Vec3d e) {
    force += charge * e;
    torque += charge * cross(r, e);
  }
};

std::vector<PanelPiece> pieces_of(const ForceProblem& problem, const BodyExtent& extent) {
  const Panels& panels = problem.panels.panels;
  std::vector<PanelPiece> pieces;
  for (const std::int32_t i : extent.panels)
    if (problem.sigma[i] != 0)
      pieces.push_back({{panels.vertex(i, 0) + panels.origin, panels.vertex(i, 1) + panels.origin,
                         panels.vertex(i, 2) + panels.origin},
                        problem.sigma[i] * panels.area(i),
                        0});
  return pieces;
}

void cut_into_four(const PanelPiece& piece, std::vector<PanelPiece>& to) {
  const auto& [a, b, c] = piece.vertex;
  const Vec3d ab = 0.5 * (a + b), bc = 0.5 * (b + c), ca = 0.5 * (c + a);
  const double charge = piece.charge / 4;
  for (const std::array<Vec3d, 3>& part : {std::array{a, ab, ca}, std::array{ab, b, bc},
                                           std::array{ca, bc, c}, std::array{ab, bc, ca}})
    to.push_back({part, charge, piece.cuts + 1});
}

/// The panels' part, and an estimate of its error.
std::pair<Moments, double> integrate(const ForceProblem& problem, const BodyExtent& extent,
                                     const Surroundings& surroundings, Vec3d about,
                                     double tolerance) {
  static const TriangleRule fine = symmetric_rule(5), coarse = symmetric_rule(2);
  const std::size_t n_fine = fine.weight.size(), n = n_fine + coarse.weight.size();
  Moments sum;
  double error = 0, size = 0;
  std::vector<PanelPiece> pieces = pieces_of(problem, extent);
  const auto first_pieces = static_cast<double>(pieces.size());
  for (bool first = true; !pieces.empty(); first = false) {
    std::vector<Vec3d> points;
    points.reserve(n * pieces.size());
    for (const PanelPiece& piece : pieces)
      for (const TriangleRule* rule : {&fine, &coarse})
        for (std::size_t q = 0; q < rule->weight.size(); ++q)
          points.push_back(piece.vertex[0] + rule->xi[q] * (piece.vertex[1] - piece.vertex[0]) +
                           rule->eta[q] * (piece.vertex[2] - piece.vertex[0]));
    const std::vector<Vec3d> e = surroundings.field(extent.panels, extent.charges, points);
    const auto force_on = [&](std::size_t k) { return pieces[k].charge * norm(e[n * k]); };
    if (first)
      for (std::size_t k = 0; k < pieces.size(); ++k) size += std::abs(force_on(k));
    std::vector<PanelPiece> finer;
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      Moments by_fine, by_coarse;
      for (std::size_t q = 0; q < n; ++q) {
        const bool is_fine = q < n_fine;
        const double weight = is_fine ? fine.weight[q] : coarse.weight[q - n_fine];
        (is_fine ? by_fine : by_coarse)
            .add(weight * pieces[k].charge, points[n * k + q] - about, e[n * k + q]);
      }
      const double difference = norm(by_fine.force - by_coarse.force);
      if (difference > tolerance * size / first_pieces && pieces[k].cuts < most_cuts) {
        cut_into_four(pieces[k], finer);
        continue;
      }
      sum.force += by_fine.force;
      sum.torque += by_fine.torque;
      error += difference;
    }
    pieces = std::move(finer);
  }
  return {sum, error};
}

/// Of Maxwell's stress.
Moments stress_on(const ForceProblem& problem, const BodyExtent& extent,
                  const Surroundings& surroundings, Vec3d about) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (extent.borders.empty()) return {{nan, nan, nan}, {nan, nan, nan}};
  const Panels& panels = problem.panels.panels;
  Moments sum;
  for (const BodyBorder& border : extent.borders) {
    std::vector<Vec3d> points;
    for (const std::int32_t i : border.panels) points.push_back(panels.centroid(i) + panels.origin);
    const std::vector<Vec3d> e =
        surroundings.field_beside(points, border.ahead ? Side::positive : Side::negative);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const Triangle t = panels.triangle(border.panels[k]);
      const Vec3d n = border.ahead ? t.normal : -t.normal;
      sum.add(t.area, points[k] - about, dot(e[k], n) * e[k] - (0.5 * norm2(e[k])) * n);
    }
  }
  return sum;
}

BodyForce force_on(const ForceProblem& problem, const Body& body, const BodyExtent& extent,
                   const Surroundings& surroundings, double tolerance) {
  BodyForce result{.name = body.name,
                   .permittivity = extent.permittivity,
                   .about = body.about.value_or(extent.centroid)};
  auto [sum, error] = integrate(problem, extent, surroundings, result.about, tolerance);
  std::vector<Vec3d> places;
  for (const std::int32_t k : extent.charges) places.push_back(surroundings.places()[k]);
  const std::vector<Vec3d> e = surroundings.field(extent.panels, extent.charges, places);
  double charge = 0;  // over ε₀ and the unit of length
  for (const std::int32_t i : extent.panels)
    charge += problem.sigma[i] * problem.panels.panels.area(i);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const PointCharge& q = problem.applied.charges[extent.charges[k]];
    const double own = q.charge / (epsilon_0 * q.permittivity * problem.scale_to_m);
    charge += own;
    sum.add(own, places[k] - result.about, e[k]);
  }
  const double newtons = epsilon_0 * extent.permittivity;
  result.charge = epsilon_0 * problem.scale_to_m * charge;
  result.force = newtons * sum.force;
  result.torque = (newtons * problem.scale_to_m) * sum.torque;
  result.error = newtons * error;
  const Moments stress = stress_on(problem, extent, surroundings, result.about);
  result.stress_force = newtons * stress.force;
  result.stress_torque = (newtons * problem.scale_to_m) * stress.torque;
  return result;
}

/// What a plane cuts has half of its surface beyond, and so the force on this half means little.
void refuse_touching(const ForceProblem& problem, std::span<const BodyExtent> extents) {
  const auto& images = problem.panels.panels.images;
  for (std::size_t b = 0; b < extents.size() && images; ++b)
    for (const std::int32_t i : extents[b].panels)
      for (std::size_t plane = 1; plane < images->reflections; plane *= 2)
        FMBEM_REQUIRE(!images->touches(i, plane),
                      "the body \"" << problem.bodies[b].name
                                    << "\" touches a symmetry plane, so that no force on it by "
                                       "itself is defined: leave it out, or mesh its image too");
}

void check(const ForceProblem& problem, const ForceOptions& options) {
  FMBEM_REQUIRE(options.tolerance >= 1e-9 && options.tolerance <= 0.1,
                "the tolerance of forces must be between 1e-9 and 0.1, not " << options.tolerance);
  const std::size_t n = problem.panels.panels.size();
  for (const std::size_t size :
       {problem.sigma.size(), problem.panels.body_of.size(), problem.panels.is_interface.size(),
        problem.panels.behind.size(), problem.panels.ahead.size()})
    FMBEM_REQUIRE(size == n, "there are " << n << " panels, but " << size
                                          << " densities, bodies or permittivities of them");
}

}  // namespace

Forces find_forces(const ForceProblem& problem, const ForceOptions& options) {
  check(problem, options);
  const Surroundings surroundings(problem, options.tolerance);
  const std::vector<BodyExtent> extents =
      find_bodies(problem.panels, problem.bodies, surroundings.places());
  refuse_touching(problem, extents);
  Forces result;
  for (std::size_t b = 0; b < extents.size(); ++b)
    result.bodies.push_back(
        force_on(problem, problem.bodies[b], extents[b], surroundings, options.tolerance));
  for (std::size_t k = 0; k < surroundings.places().size(); ++k) {
    const auto own = static_cast<std::int32_t>(k);
    const Vec3d e =
        surroundings.field({}, std::span(&own, 1), surroundings.places().subspan(k, 1))[0];
    result.on_charges.push_back((problem.applied.charges[k].charge / problem.scale_to_m) * e);
  }
  return result;
}

}  // namespace fmbem
