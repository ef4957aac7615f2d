// Charges and dipoles together, and differences of kernels.
#include "fmbem/bem/layer/green_operator.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/bem/layer/double_layer_field.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/bem/layer/potential_at.hpp"
#include "fmbem/bem/near/difference_entries.hpp"
#include "fmbem/bem/near/far_rules.hpp"
#include "fmbem/bem/space/panel_sources.hpp"
#include "fmbem/bem/space/quadrature.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/choice/grow_tree.hpp"
#include "fmbem/fmm/far_field.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::green_operator_tests {

namespace {

/// Of g(r) = (e^{−κr} − 1)/r: g, g'/r and (g'/r)'/r by the series of the exponential, or as they
/// are where nothing cancels.
struct SeriesKernel {
  long double value = 0, slope = 0, second = 0;
  SeriesKernel(long double kappa, long double r) {
    const long double u = kappa * r;
    if (u > 3) {
      const long double falls = std::exp(-u);
      value = (falls - 1) / r;
      slope = (1 - (1 + u) * falls) / (r * r * r);
      second = ((3 + 3 * u + u * u) * falls - 3) / (r * r * r * r * r);
      return;
    }
    long double term = 1;  // (−κr)^k/k!
    for (int k = 1; k < 90; ++k) {
      term *= -kappa * r / k;
      value += term;
      slope += (k - 1) * term;
      second += static_cast<long double>((k - 1) * (k - 3)) * term;
    }
    value /= r;
    slope /= r * r * r;
    second /= r * r * r * r * r;
  }
};

/// The four entries by a product rule on the triangles between the projection of x on the plane and
/// each edge, whose signed sum is the panel, wherever the projection lies. Along an edge t = d sinh
/// s with its distance d from the projection, and along a ray ρ = h sinh s with the height h of x:
/// so all distances are smooth in s, for slivers and for points close to them.
PanelEntries by_quadrature(const Triangle& t, Vec3d x, Vec3d normal, double kappa) {
  std::vector<double> node, weight;
  gauss_legendre(60, node, weight);
  const double height = dot(x - t.vertex[0], t.normal), h = std::abs(height);
  const Vec3d foot = x - height * t.normal;
  long double v = 0, k = 0, k_adjoint = 0, d = 0;
  for (int e = 0; e < 3; ++e) {
    const Vec3d a = t.vertex[e] - foot, b = t.vertex[(e + 1) % 3] - foot;
    const Vec3d along = (1 / norm(b - a)) * (b - a);
    const double apart = dot(a, t.outward[e]), distance = std::abs(apart);
    if (distance == 0) continue;
    const double from = std::asinh(dot(a, along) / distance),
                 to = std::asinh(dot(b, along) / distance);
    for (std::size_t p = 0; p < node.size(); ++p) {
      const double s = from + node[p] * (to - from), ray = distance * std::cosh(s);
      const Vec3d direction = (1 / ray) * (apart * t.outward[e] + distance * std::sinh(s) * along);
      // dt ρ dρ d/ray²
      const double of_edge = weight[p] * (to - from) * apart / ray;
      for (std::size_t q = 0; q < node.size(); ++q) {
        double rho = ray * node[q], of_ray = weight[q] * ray * rho;
        if (h > 0) {
          const double end = std::asinh(ray / h), sigma = node[q] * end;
          rho = h * std::sinh(sigma);
          of_ray = weight[q] * end * h * std::cosh(sigma) * rho;
        }
        const Vec3d r = height * t.normal - rho * direction;
        const SeriesKernel g(kappa, norm(r));
        const long double w = of_edge * of_ray;
        const double along_j = height, along_i = dot(r, normal);
        v += w * g.value;
        k -= w * g.slope * along_j;
        k_adjoint += w * g.slope * along_i;
        d -= w * (g.second * along_i * along_j + g.slope * dot(normal, t.normal));
      }
    }
  }
  const auto scaled = [](long double sum) { return static_cast<double>(inv_4pi * sum); };
  return {scaled(v), scaled(k), scaled(k_adjoint), scaled(d)};
}

/// The sum of a row's entries in absolute value is at most ‖A‖ in the maximum norm.
struct RowOracle {
  double potential = 0, flux = 0, size_of_potential = 0, size_of_flux = 0;
  RowOracle(const Panels& panels, std::span<const GreenTerm> terms, std::size_t i,
            const std::vector<double>& x) {
    const Triangle to = panels.triangle(i);
    const std::size_t n = panels.size();
    for (std::size_t j = 0; j < n; ++j) {
      const PanelEntries a =
          green_entries(terms, panels.triangle(j), to.centroid, to.normal, i == j);
      potential += a.v * x[j] + a.k * x[n + j];
      flux += a.k_adjoint * x[j] + a.d * x[n + j];
      size_of_potential += std::abs(a.v) + std::abs(a.k);
      size_of_flux += std::abs(a.k_adjoint) + std::abs(a.d);
    }
  }
};

struct Place {
  Vec3d x, normal;
};

/// As far as κ goes, V is of the size κ times the area, K and K' of κ², and D of κ²/r.
void check_entries(const Triangle& t, std::span<const Place> places) {
  const double bound = 2e-12 * t.area;
  for (const double kappa : {1e-3, 0.1, 1.0, 6.0})
    for (const Place& at : places) {
      const PanelEntries a = difference_entries(t, at.x, at.normal, kappa),
                         b = by_quadrature(t, at.x, at.normal, kappa);
      CAPTURE(kappa, at.x.x, at.x.y, at.x.z);
      CHECK(std::abs(a.v - b.v) < bound * kappa);
      CHECK(std::abs(a.k - b.k) < bound * kappa * kappa);
      CHECK(std::abs(a.k_adjoint - b.k_adjoint) < bound * kappa * kappa);
      CHECK(std::abs(a.d - b.d) < 10 * bound * kappa * kappa);
    }
}

}  // namespace

TEST_CASE("entries of differences are integrals of the series") {
  const Triangle t = make_triangle({0, 0, 0}, {1, 0.1, 0.2}, {0.3, 0.9, -0.1});
  const Vec3d tilted = (1 / std::sqrt(14.0)) * Vec3d{1, -2, 3};
  const Place places[] = {{t.centroid, t.normal},
                          {t.centroid + 0.3 * t.normal, tilted},
                          {t.centroid - 0.5 * t.normal, t.normal},
                          {t.centroid + Vec3d{0.8, -0.4, 0.3}, tilted},
                          {t.centroid + 1.1 * t.tangent[0], t.normal},
                          {{3, -2, 1}, tilted}};
  check_entries(t, places);
}

TEST_CASE("entries of differences of slivers are integrals of the series") {
  const Vec3d tilted = (1 / std::sqrt(14.0)) * Vec3d{1, -2, 3};
  for (const double aspect : {20.0, 300.0}) {
    const double width = 1 / aspect;
    const Triangle t =
        make_triangle({0, 0, 0}, {0.8, 0.6, 0}, {0.48 - 0.6 * width, 0.36 + 0.8 * width, 0});
    std::vector<Place> places{{t.centroid, t.normal}};
    for (int e = 0; e < 3; ++e) {
      const Vec3d a = t.vertex[e], b = t.vertex[(e + 1) % 3], middle = 0.5 * (a + b);
      for (const double height : {0.05 * width, 0.5 * width, 0.3}) {
        places.push_back({middle + height * t.normal, tilted});
        places.push_back({0.9 * a + 0.1 * b - height * t.normal, t.normal});
      }
      places.push_back({middle + 0.5 * width * t.outward[e], tilted});
    }
    CAPTURE(aspect);
    check_entries(t, places);
  }
}

TEST_CASE("rules give the entries of differences where they serve") {
  const Triangle t = make_triangle({0, 0, 0}, {1, 0.1, 0.2}, {0.3, 0.9, -0.1});
  const std::vector<Vec3d> directions{{1, 0, 0}, {0, -0.6, 0.8}, {0.48, 0.6, -0.64}};
  const double tolerance = 1e-7;
  for (const double kappa : {0.05, 1.5})
    for (const FarRule& rule : far_rules(tolerance, FarKernel::potential)) {
      if (!std::isfinite(rule.reach_for(kappa * t.radius))) continue;  // serves nowhere
      std::vector<double> at[3], normals[3];
      for (const Vec3d& direction : directions) {
        const Vec3d x = t.centroid + 1.01 * rule.reach_for(kappa * t.radius) * t.radius * direction;
        for (int axis = 0; axis < 3; ++axis) {
          at[axis].push_back(x[axis]);
          normals[axis].push_back(direction[(axis + 1) % 3]);
        }
      }
      std::vector<double> v(3), k(3), k_adjoint(3), d(3);
      const double *const places[3] = {at[0].data(), at[1].data(), at[2].data()},
                          *const normal[3] = {normals[0].data(), normals[1].data(),
                                              normals[2].data()};
      add_difference_entries(rule.rule, t, kappa, 3, places, normal,
                             {v.data(), k.data(), k_adjoint.data(), d.data()});
      for (int i = 0; i < 3; ++i) {
        const Vec3d x{at[0][i], at[1][i], at[2][i]};
        const PanelEntries exact =
            difference_entries(t, x, {normals[0][i], normals[1][i], normals[2][i]}, kappa);
        const double r = norm(x - t.centroid), size = inv_4pi * t.area * kappa * kappa;
        CAPTURE(kappa, rule.degree, i);
        CHECK(std::abs(v[i] - exact.v) < tolerance * size * r);
        CHECK(std::abs(k[i] - exact.k) < tolerance * size);
        CHECK(std::abs(k_adjoint[i] - exact.k_adjoint) < tolerance * size);
        CHECK(std::abs(d[i] - exact.d) < 10 * tolerance * size / r);
      }
    }
}

TEST_CASE("operators of charges and dipoles are as accurate as their norm asks for",
          "[long][accuracy]") {
  const Panels panels = make_panels(test::sphere(4, 3.0));
  const std::size_t n = panels.size();
  struct Case {
    const char* name;
    std::vector<GreenTerm> terms;
    bool flux_is_measured = true;
  };
  // κ = 1e-3 is a difference of 1e-3 of V and of 1e-6 of the others.
  const double small = 1e-3, ions = 0.4;
  const Case cases[] = {{"V and K", {{ions, 1, 1, 0, 0}}, false},
                        {"K and K'", {{0, 0, 1, 1, 0}}},
                        {"dV", {{small, 1, 0, 0, 0}, {0, -1, 0, 0, 0}}, false},
                        {"dK, dK'", {{small, 0, 1, 1, 0}, {0, 0, -1, -1, 0}}},
                        {"dD", {{small, 0, 0, 0, 1}, {0, 0, 0, 0, -1}}},
                        {"dV, dK, dK', dD", {{ions, 1, 1, 1, 1}, {0, -1, -1, -1, -1}}},
                        {"Juffer's", {{0, -4, 4, -1, 1}, {ions, 4, -80, 0.05, -1}}}};
  constexpr double tolerance = 1e-6;
  for (const Case& c : cases) {
    OperatorOptions options;
    options.tolerance = tolerance;
    options.max_leaf = 30;
    const GreenOperator op(panels, {}, c.terms, options);
    CAPTURE(c.name);
    CHECK(op.info().levels > 2);
    for (int kind = 0; kind < 2; ++kind) {
      std::vector<double> x(2 * n, 1.0), y(op.outputs() * n);
      if (kind == 1) x = test::signed_charges(2 * n, 5);
      op.multiply(x, y);
      for (std::size_t i = 7; i < n; i += 311) {
        const RowOracle row(panels, c.terms, i, x);
        CHECK(std::abs(y[i] - row.potential) <= 2 * tolerance * row.size_of_potential);
        if (c.flux_is_measured)
          CHECK(std::abs(y[n + i] - row.flux) <=
                2 * tolerance * std::max(row.size_of_flux, row.size_of_potential / 3));
      }
    }
  }
}

TEST_CASE("transposed products of charges and dipoles are those of the transposed operator") {
  const Panels panels = make_panels(test::sphere(3, 3.0));
  const std::size_t n = panels.size();
  const double ions = 0.4;
  struct Case {
    const char* name;
    std::vector<GreenTerm> terms;
  };
  const Case cases[] = {{"V and K", {{ions, 1, 1, 0, 0}}},
                        {"K'", {{0, 0, 0, 1, 0}}},
                        {"all four", {{ions, 1, 2, -0.5, -1}}},
                        {"all four in two passes", {{ions, 1, 2, -0.5, 1}}},
                        {"differences", {{ions, 1, 1, 1, 1}, {0, -1, -1, -1, -1}}}};
  for (const Case& c : cases)
    for (const auto kind : {OperatorOptions::Choice::dense, OperatorOptions::Choice::fmm}) {
      const bool is_dense = kind == OperatorOptions::Choice::dense;
      const double tolerance = is_dense ? 1e-13 : 1e-5;
      OperatorOptions options{.kind = kind, .tolerance = 1e-5};
      if (!is_dense) options.max_leaf = 20;
      const GreenOperator op(panels, {}, c.terms, options);
      CAPTURE(c.name, is_dense);
      if (!is_dense) CHECK(op.info().levels > 2);
      const std::vector<double> x = test::signed_charges(2 * n, 5),
                                y = test::signed_charges(op.outputs() * n, 6);
      std::vector<double> of_x(op.outputs() * n), of_y(2 * n);
      op.multiply(x, of_x);
      op.multiply_transposed(y, of_y);
      const double size =
          test::norm_of(of_x) * test::norm_of(y) + test::norm_of(of_y) * test::norm_of(x);
      REQUIRE(size > 0);
      CHECK(std::abs(test::inner_product(y, of_x) - test::inner_product(of_y, x)) <
            tolerance * size);
      std::vector<double> too_short(n);
      CHECK_THROWS_AS(op.multiply_transposed(y, too_short), InputError);
    }
}

TEST_CASE("operators of charges and dipoles are dense where that is made in less time") {
  const Panels panels = make_panels(test::sphere(4, 3.0));
  const auto info = [&](double tolerance, OperatorOptions::Choice kind) {
    const GreenOperator op(panels, {}, {{0.1, 1, 1, 0, 0}}, {.kind = kind, .tolerance = tolerance});
    return op.info();
  };
  const OperatorInfo tight = info(1e-7, OperatorOptions::Choice::automatic),
                     fmm = info(1e-7, OperatorOptions::Choice::fmm);
  CHECK(fmm.kind == OperatorKind::fmm);
  CHECK(tight.kind == OperatorKind::dense);
  CHECK(tight.memory_bytes < fmm.memory_bytes);
  CHECK(info(1e-3, OperatorOptions::Choice::automatic).kind == OperatorKind::fmm);
  const GreenOperator leaves(panels, {}, {{0.1, 1, 1, 0, 0}}, {.tolerance = 1e-7, .max_leaf = 30});
  CHECK(leaves.info().kind == OperatorKind::fmm);
}

TEST_CASE("blocks of charges and dipoles are rows and columns of the whole") {
  const Panels panels = make_panels(test::sphere(3, 2.0));
  const std::size_t n = panels.size();
  PanelBlock block;
  for (std::size_t i = 0; i < n; ++i)
    (i % 3 == 0 ? block.rows : block.columns).push_back(static_cast<std::int32_t>(i));
  const std::vector<GreenTerm> terms{{0.3, -1, 2, -0.5, 1}};
  OperatorOptions options;
  options.kind = OperatorOptions::Choice::dense;
  const GreenOperator whole(panels, {}, terms, options), part(panels, block, terms, options);
  std::vector<double> x(2 * block.columns.size()), all(2 * n), y(2 * block.rows.size()), z(2 * n);
  for (std::size_t j = 0; j < block.columns.size(); ++j)
    for (std::size_t s = 0; s < 2; ++s)
      x[s * block.columns.size() + j] = all[s * n + block.columns[j]] =
          std::sin(1.0 + static_cast<double>(j + 100 * s));
  whole.multiply(all, z);
  part.multiply(x, y);
  for (std::size_t i = 0; i < block.rows.size(); ++i)
    for (std::size_t s = 0; s < 2; ++s)
      CHECK(y[s * block.rows.size() + i] == Approx(z[s * n + block.rows[i]]).epsilon(1e-11));
  CHECK_THROWS_AS(whole.multiply(x, z), InputError);
}

TEST_CASE("moments of charges and dipoles are the same kept as made afresh") {
  const Panels panels = make_panels(test::sphere(4, 3.0));
  const LargeVector<Triangle> triangles = triangles_of(panels);
  std::vector<Vec3d> points;
  for (const Triangle& t : triangles) points.push_back(t.centroid);
  const auto sources = std::make_shared<PanelSources>(triangles, nullptr, 1e-8, Trace::normal, 0.2,
                                                      PanelSources::Strengths::charge_and_dipole);
  fmm::Seconds seconds;
  const auto tree = fmm::grow_tree(*sources, points, {.max_leaf = 30}, seconds);
  const std::vector<double> x = test::signed_charges(2 * points.size(), 3);
  // Of charges and dipoles, and transposed of charges at the points.
  const auto potentials = [&](fmm::Moments moments) {
    const fmm::FarField far(tree, sources, {.order = 8, .moments = moments, .kappa = 0.2});
    std::vector<double> result(3 * points.size());
    const auto [forward, transposed] =
        std::pair(std::span(result).first(points.size()), std::span(result).last(x.size()));
    far.evaluate({.charges = x}, {.potential = forward});
    far.evaluate_transposed({.charges = std::span(x).first(points.size())}, transposed);
    CHECK_THROWS_AS(far.evaluate_transposed({.charges = forward}, forward), InputError);
    return result;
  };
  const std::vector<double> kept = potentials(fmm::Moments::kept),
                            afresh = potentials(fmm::Moments::afresh),
                            single = potentials(fmm::Moments::kept_in_single);
  double largest = 0;
  for (const double value : kept) largest = larger_error(largest, std::abs(value));
  REQUIRE(largest > 0);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    CHECK(std::abs(kept[i] - afresh[i]) < 1e-12 * largest);
    CHECK(std::abs(kept[i] - single[i]) < 1e-5 * largest);
  }
}

namespace {

/// Points inside and outside a sphere, on panels of it and close to them.
std::vector<Vec3d> points_around(const Panels& panels, Vec3d centre, std::size_t count) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-3, 3);
  std::vector<Vec3d> points{centre};
  while (points.size() + 4 < count)
    points.push_back(centre + Vec3d{uniform(random), uniform(random), uniform(random)});
  for (const double off : {0.0, 1e-3, -1e-3, 0.1})
    points.push_back(panels.centroid(100) + panels.origin + off * panels.triangle(100).normal);
  return points;
}

}  // namespace

TEST_CASE("potentials of charges and dipoles are those of the fields of panels") {
  // Pair by pair, and by the FMM.
  const auto [level, count] = GENERATE(std::pair(3, 40), std::pair(5, 4000));
  const double kappa = GENERATE(0.0, 1.5), tolerance = level == 3 ? 1e-8 : 1e-6;
  CAPTURE(level, kappa);
  const Vec3d centre{1, 2, 3};
  const Panels panels = make_panels(test::sphere(level, 2.0, centre));
  std::vector<std::int32_t> some;
  std::vector<double> sigma(panels.size()), mu(panels.size());
  for (std::size_t i = 0; i < panels.size(); ++i) {
    if (level == 3 && i % 2 == 1) continue;
    some.push_back(static_cast<std::int32_t>(i));
    sigma[i] = std::sin(i);
    mu[i] = 1 + std::cos(i);
  }
  const std::vector<Vec3d> points = points_around(panels, centre, count);
  const std::vector<double> found =
      potential_at(panels, some, {sigma, mu}, points, tolerance, kappa);
  REQUIRE(found.size() == points.size());
  for (std::size_t i = points.size() - 12; i < points.size(); ++i) {
    const FieldOptions exact{.tolerance = 0, .kappa = kappa};
    const std::span<const Vec3d> at(&points[i], 1);
    CAPTURE(i);
    const double expected = evaluate_field(panels, sigma, at, exact).potential[0] +
                            evaluate_double_layer(panels, mu, at, exact).potential[0];
    CHECK(std::abs(found[i] - expected) <= tolerance * std::max(1.0, std::abs(expected)));
  }
}

TEST_CASE("potentials of charges and dipoles refuse what is not finite or negative") {
  const Panels panels = make_panels(test::sphere(1));
  const std::vector<std::int32_t> some{0};
  const std::vector<double> density(panels.size(), 1.0);
  const auto at = [&](Vec3d x, double kappa) {
    return potential_at(panels, some, {density, density}, {&x, 1}, 1e-6, kappa);
  };
  CHECK_THROWS_WITH(at({NAN, 0, 0}, 0), contains("point 0 is not finite"));
  CHECK_THROWS_WITH(at({}, -1), contains("κ must be positive"));
  for (const double tolerance : {0.0, 0.2, double{NAN}})
    CHECK_THROWS_WITH(potential_at(panels, some, {density, density}, {}, tolerance),
                      contains("must be between 1e-12 and 0.1"));
}

}  // namespace fmbem::test::green_operator_tests
