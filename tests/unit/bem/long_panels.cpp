#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/geometry/strip.hpp"
#include "fmbem/bem/layer/cpu_engine.hpp"
#include "fmbem/bem/layer/fmm_operator.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/near/strip_integrals.hpp"
#include "fmbem/bem/space/panel_pieces.hpp"
#include "fmbem/bem/space/panel_sources.hpp"
#include "fmbem/bem/space/stack.hpp"
#include "tests/unit/bem/test_surfaces.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/larger_error.hpp"

namespace fmbem::test::long_panels_tests {

namespace {

/// A long triangle anywhere, with the apex at a part of its longest edge.
Triangle long_triangle(std::mt19937& random, double aspect, double apex) {
  std::normal_distribution<double> normal;
  const auto direction = [&] {
    const double x = normal(random), y = normal(random), z = normal(random);
    return Vec3d{x, y, z} / norm(Vec3d{x, y, z});
  };
  const Vec3d from = direction(), along = direction();
  const Vec3d off = cross(along, direction()), across = off / norm(off);
  return make_triangle(from, from + along, from + apex * along + across / aspect);
}

struct Between {
  std::mt19937& random;
  double operator()(double low, double high) const {
    return std::uniform_real_distribution<double>(low, high)(random);
  }
};

}  // namespace

TEST_CASE("a strip's places and heights are those of its triangle") {
  std::mt19937 random(1);
  for (const double aspect : {10.0, 1e3, 1e5})
    for (const double apex : {0.0, 1e-9, 0.5 / aspect, 0.3, 1 - 0.5 / aspect, 1.0}) {
      const Triangle t = long_triangle(random, aspect, apex);
      const Strip strip = make_strip(t);
      CAPTURE(aspect, apex);
      double area = 0;
      for_strip_parts(strip, 0, strip.length, [&](const StripPart& part) {
        area += 0.5 * (part.first + part.last) * (part.b - part.a);
      });
      CHECK(area == Approx(t.area).epsilon(1e-14));
      const Vec3d top = strip.point(strip.apex, strip.width);
      double closest = 1;
      for (const Vec3d& vertex : t.vertex) closest = std::min(closest, norm(vertex - top));
      CHECK(closest < 1e-14);
      CHECK(strip.height(0) == (strip.apex == 0 ? strip.width : 0));
      CHECK(strip.height(strip.length) == (strip.apex == strip.length ? strip.width : 0));
      for (const double s : {0.2, 0.7}) {
        const StripPoint at = strip.locate(strip.point(s, 0.4 / aspect));
        CHECK(at.s == Approx(s + 0.4 / aspect * strip.skew).epsilon(1e-14));
        CHECK(at.y == Approx(0.4 / aspect).epsilon(1e-15 * aspect));
      }
    }
}

TEST_CASE("stretches of a strip add up to the potential of the whole, however close") {
  std::mt19937 random(2);
  const Between between{random};
  for (const double tolerance : {1e-4, 1e-7, 1e-12}) {
    const StripRules rules = strip_rules(tolerance);
    for (int k = 0; k < 2000; ++k) {
      const double aspect = std::pow(10, between(1, 5));
      const Triangle t = long_triangle(random, aspect, between(0, 1));
      const Strip strip = make_strip(t);
      const double far = std::pow(10, between(-1, std::log10(3 * aspect))) / aspect;
      const double angle = between(0, 6.3), at = between(-0.2, 1.2);
      const Vec3d x = strip.start + at * strip.along + far * std::cos(angle) * strip.across +
                      far * std::sin(angle) * strip.normal;
      const double exact = panel_potential(t, x);
      const double a = between(0.1, 0.4), b = between(0.5, 0.9);
      // Where a panel is cut, no target is close to both sides.
      if (far < 3 / aspect && std::min(std::abs(at - a), std::abs(at - b)) < 3 / aspect) continue;
      double sum = 0;
      for (const auto& [from, to] : {std::pair{0.0, a}, {a, b}, {b, strip.length}})
        sum += strip_potential(rules, t, strip, from, to, x);
      CAPTURE(tolerance, aspect, far, at);
      CHECK(std::abs(sum / exact - 1) < 2 * tolerance + 1e-15 * aspect);
    }
  }
}

TEST_CASE("loops over points give what single points do") {
  std::mt19937 random(3);
  const Between between{random};
  for (const double tolerance : {1e-4, 1e-7, 1e-11}) {
    StripIntegrals integrals(tolerance);
    for (int k = 0; k < 100; ++k) {
      const double aspect = std::pow(10, between(1, 4));
      const Triangle t = long_triangle(random, aspect, between(0, 1));
      const Strip strip = make_strip(t);
      IntegralTargets targets;
      for (int i = 0; i < 37; ++i)
        targets.add(strip.point(between(-0.5, 1.5), std::pow(10, between(-5, 0))) +
                    std::pow(10, between(-5, 0)) * strip.normal);
      targets.pad();
      std::vector<double> values(targets.count(), 1.0);
      integrals.add(t, strip, 0, strip.length, targets, values.data());
      for (int i = 0; i < targets.count(); ++i) {
        CAPTURE(tolerance, aspect, i);
        CHECK(std::abs(values[i] - 1 - panel_potential(t, targets[i])) <
              (2 * tolerance + 1e-12) * panel_potential(t, targets[i]) + 1e-15);
      }
    }
  }
}

TEST_CASE("pieces of long panels make up the panels, and sink into the boxes they are cut for") {
  for (const SurfaceMesh& mesh : {long_plate(4, 500), graded_plate(40)}) {
    const Panels panels = make_panels(mesh);
    const auto triangles = triangles_of(panels);
    const auto pieces = cut_long_panels(triangles, {1, 5});
    REQUIRE(pieces);
    REQUIRE(pieces->panels() == panels.size());
    CHECK(pieces->size() > panels.size());
    CHECK(pieces->size() < 60 * panels.size());
    const PanelSources sources(triangles, pieces, 1e-8);
    REQUIRE(sources.size() == pieces->size());
    CHECK(sources.unknowns() == panels.size());
    std::vector<double> area(panels.size()), weight(panels.size());
    int outside = 0, wrong = 0;
    fmm::WeightedPoints points;
    for (std::size_t j = 0; j < sources.size(); ++j) {
      area[sources.unknown(j)] += sources.area(j);
      Vec3d low, high;
      sources.bounds(j, low, high);
      sources.quadrature(j, norm(high - low), points);
      for (std::size_t q = 0; q < points.weight.size(); ++q) {
        weight[sources.unknown(j)] += points.weight[q];
        const Vec3d y{points.x[q], points.y[q], points.z[q]}, margin = 1e-12 * Vec3d{1, 1, 1};
        for (int axis = 0; axis < 3; ++axis) {
          outside += y[axis] < low[axis] - margin[axis] || y[axis] > high[axis] + margin[axis];
        }
      }
    }
    for (std::size_t j = 0; j < panels.size(); ++j) {
      wrong += std::abs(area[j] / triangles[j].area - 1) > 1e-12;
      wrong += std::abs(weight[j] / triangles[j].area - 1) > 1e-12;
    }
    CHECK(outside == 0);
    CHECK(wrong == 0);
  }
}

TEST_CASE("meshes without long panels are not cut, nor is one that gains little by it") {
  for (const SurfaceMesh& mesh : {sphere(4), cube(13), plate(32)})
    CHECK_FALSE(cut_long_panels(triangles_of(make_panels(mesh)), {1, 40}));
  CHECK_FALSE(cut_long_panels(triangles_of(make_panels(long_plate(4, 500))), {1, 1e6}));
}

TEST_CASE("an operator whose panels are cut has fewer near entries than panels it sees whole") {
  const Panels panels = make_panels(long_plate(4, 1000));
  const std::int64_t n = static_cast<std::int64_t>(panels.size());
  OperatorOptions options;
  options.tolerance = 1e-6;
  CHECK(make_fmm_operator(panels, single_layer, options)->info().near_entries < n * n / 10);
}

TEST_CASE("pieces side by side are sums of few parts, wherever a target is a side away") {
  std::mt19937 random(4);
  const Between between{random};
  constexpr double side = 0.3, from = 0.31, to = from + side;
  // The right triangles of cells in a plane that lies anywhere, with gaps between them.
  const Vec3d u{0.6, 0.64, 0.48}, v{-0.8, 0.48, 0.36}, n = cross(u, v);
  std::vector<Triangle> panels;
  std::vector<StripPiece> pieces;
  for (double y = -0.5 * side; y < 0.5 * side;) {
    const double next = y + 3e-4;
    const Vec3d a = y * v, b = a + u, c = u + next * v, d = next * v;
    for (const Triangle& t : {make_triangle(a, b, c), make_triangle(a, c, d)}) {
      const Strip strip = make_strip(t);
      const double start = dot(strip.start, u), step = dot(strip.along, u);
      const auto [first, last] = std::minmax({(from - start) / step, (to - start) / step});
      panels.push_back(t);
      pieces.push_back({strip, first, last});
    }
    y = next + between(0, 3e-4);
  }
  for (const double tolerance : {1e-4, 5e-8, 1e-9}) {
    fmm::SharedParts shared;
    CAPTURE(tolerance, pieces.size());
    REQUIRE(find_stack_parts(pieces, side, tolerance, StripPoints(tolerance), shared));
    CHECK(2 * shared.parts <= static_cast<int>(pieces.size()));
    CHECK(shared.parts < 60);
    const StripRules rules = strip_rules(1e-13);
    for (const Vec3d& x :
         {(from - side) * u, (to + side) * u + 0.4 * side * v, (from + 0.2) * u + 1.5 * side * v,
          (from + 0.1) * u - 1.5 * side * v + 0.3 * side * n, (from + 0.1) * u + side * n,
          3.0 * u + 2.0 * v}) {
      std::vector<double> of_part(shared.parts);
      for (int c = 0; c < shared.parts; ++c) {
        const fmm::WeightedPoints& p = shared.points[c];
        for (std::size_t q = 0; q < p.weight.size(); ++q)
          of_part[c] += inv_4pi * p.weight[q] / norm(x - Vec3d{p.x[q], p.y[q], p.z[q]});
      }
      double worst = 0;
      for (std::size_t j = 0; j < pieces.size(); ++j) {
        const StripPiece& piece = pieces[j];
        const double exact = strip_potential(rules, panels[j], piece.strip, piece.a, piece.b, x);
        double sum = 0;
        for (int c = 0; c < shared.parts; ++c)
          sum += shared.coefficients[j * shared.parts + c] * of_part[c];
        worst = larger_error(worst, std::abs(sum / exact - 1));
      }
      CHECK(worst < 2 * tolerance + 1e-12);
    }
    // One that is turned, longer, or out of the plane is none of them.
    for (const int way : {0, 1, 2}) {
      std::vector<StripPiece> others = pieces;
      StripPiece& last = others.back();
      if (way == 0) last.b -= 1e-3 * side;
      if (way == 1) last.strip.start = last.strip.start + 1e-3 * side * n;
      if (way == 2) last.strip = make_strip(make_triangle({}, u + 1e-3 * v, 1e-4 * v));
      CHECK_FALSE(find_stack_parts(others, side, tolerance, StripPoints(tolerance), shared));
    }
  }
}

}  // namespace fmbem::test::long_panels_tests
