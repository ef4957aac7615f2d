#include "fmbem/bem/precond/mixed_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "fmbem/bem/precond/close_entries.hpp"
#include "fmbem/bem/precond/cluster_inverse.hpp"
#include "fmbem/bem/precond/mean_rows.hpp"
#include "fmbem/bem/precond/small_system.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/mixed_dense.hpp"
#include "tests/unit/mixed_surfaces.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::mixed_inverse_tests {

namespace {

MixedInverse make_inverse(const Panels& panels, const MixedRows& rows,
                          const MixedInverseOptions& options = {}) {
  return MixedInverse(panels, triangles_of(panels), rows, options);
}

Vector applied(const ApproximateInverse& inverse, const Vector& x) {
  Vector y(x.size());
  inverse.apply(x.data(), y.data());
  return y;
}

struct Iterations {
  int of_data, of_random;
};

Iterations iterations(const MixedSurface& surface, const MixedInverseOptions& options = {}) {
  const Panels panels = make_panels(surface.mesh);
  const MixedRows rows = mixed_rows(surface, panels);
  const MixedInverse inverse = make_inverse(panels, rows, options);
  const DenseMixed dense(panels, rows);
  const auto a = [&](const Vector& x) { return dense(x); };
  const auto m = [&](const Vector& x) { return applied(inverse, x); };
  return {gmres(a, m, right_hand_side(surface, panels), 1e-6).iterations,
          gmres(a, m, signed_charges(panels.size(), 1), 1e-6).iterations};
}

/// Rows of V on all panels.
MixedRows single_layer_rows(const Panels& panels, double alpha) {
  const std::size_t n = panels.size();
  return {Vector(n, alpha), Vector(n, 0.0), Vector(n, 0.0)};
}

/// ‖x − A M x‖/‖x‖
double defect(const Panels& panels, const MixedRows& rows, const Vector& x) {
  return norm_of(difference(x, DenseMixed(panels, rows)(applied(make_inverse(panels, rows), x)))) /
         norm_of(x);
}

MixedSurface scaled(MixedSurface surface, double factor) {
  for (Vec3d& x : surface.mesh.vertices) x = factor * x;
  return surface;
}

}  // namespace

TEST_CASE("the last rows of a small matrix's inverse are those by which it becomes the identity") {
  for (const int own : {1, 7, 40}) {
    const int m = 40;
    const Vector entries = signed_charges(m * m, own);
    for (const bool by_last_rows : {true, false}) {
      SmallMatrix matrix;
      matrix.resize(m);
      const auto entry = [&](int k, int l) {
        return static_cast<float>(entries[l * m + k]) + (k == (l + 1) % m ? 8 : 0);
      };
      for (int l = 0; l < m; ++l)
        for (int k = 0; k < m; ++k) matrix.at(k, l) = entry(k, l);
      std::vector<float> rows(m * own);
      REQUIRE((by_last_rows ? matrix.invert_last_rows(own, rows.data())
                            : matrix.invert_general(own, rows.data())));
      double worst = 0;
      for (int i = 0; i < own; ++i)
        for (int l = 0; l < m; ++l) {
          double sum = l == m - own + i ? -1 : 0;
          for (int k = 0; k < m; ++k) sum += static_cast<double>(rows[k * own + i]) * entry(k, l);
          worst = larger_error(worst, std::abs(sum));
        }
      // Rounding times the condition, some ten.
      CHECK(worst < 40 * 6e-8 * 10);
    }
  }
}

TEST_CASE("mixed rows take few iterations, whatever the case and the number of panels",
          "[long][accuracy]") {
  for (const MixedCase& mixed : mixed_cases()) {
    const Iterations coarse = iterations(mixed.make(mixed.coarse)),
                     fine = iterations(mixed.make(mixed.fine));
    CAPTURE(mixed.name, coarse.of_data, coarse.of_random, fine.of_data, fine.of_random);
    CHECK(std::max(coarse.of_data, fine.of_data) <= 12);
    CHECK(std::max(coarse.of_random, fine.of_random) <= 16);
    CHECK(fine.of_data <= coarse.of_data + 3);
    CHECK(fine.of_random <= coarse.of_random + 3);
  }
}

TEST_CASE("rows of V alone take as many iterations as with the cluster inverse") {
  for (const SurfaceMesh& mesh : {sphere(3), plate(20), bracket(6), graded_plate(20)}) {
    const Panels panels = make_panels(mesh);
    const MixedRows rows = single_layer_rows(panels, 1);
    const DenseMixed dense(panels, rows);
    const auto a = [&](const Vector& x) { return dense(x); };
    const Vector b = signed_charges(panels.size(), 3);
    const auto count = [&](const ApproximateInverse& inverse) {
      return gmres(
                 a, [&](const Vector& x) { return applied(inverse, x); }, b, 1e-6)
          .iterations;
    };
    CAPTURE(panels.size());
    CHECK(std::abs(count(make_inverse(panels, rows)) - count(ClusterInverse(panels))) <= 1);
  }
}

TEST_CASE("units of length change nothing") {
  const MixedSurface cube = mixed_cube(6, false), ball = floating_ball(4);
  for (const MixedSurface& surface : {cube, ball}) {
    const Iterations of_one = iterations(surface);
    for (const double unit : {1e-25, 1e-6, 1e30}) {
      const Iterations of_unit = iterations(scaled(surface, unit));
      CHECK(std::abs(of_unit.of_random - of_one.of_random) <= 1);
    }
  }
  // Rows of V in their own unit.
  for (const double radius : {1e-25, 1.0, 1e30}) {
    const Panels panels = make_panels(sphere(3, radius));
    CHECK(defect(panels, single_layer_rows(panels, 1), Vector(panels.size(), 1.0)) < 0.25);
  }
}

TEST_CASE("trees of mixed rows hold each panel once, and upper nodes whole parts") {
  // Spheres between plates, some in each other about one centre.
  MixedSurface surface = balls_between_plates(2, 2, 1e3, true);
  for (const double radius : {0.2, 0.1}) {
    add_ball(surface.mesh, 2, radius, {});
    surface.add(closed_interface(2, 3));
  }
  const Panels panels = make_panels(surface.mesh);
  MixedRows rows = mixed_rows(surface, panels);
  // A plate that is named as what is inside of something.
  const int plate = 8;
  rows.equations[0].others.push_back({plate, -2});
  const auto triangles = triangles_of(panels);
  const MixedPlaces places(panels, rows);
  const ClusterTree tree(places.trees, triangles, 10);

  std::vector<int> times(panels.size());
  for (std::int32_t place = 0; place < static_cast<std::int32_t>(panels.size()); ++place)
    ++times[tree.panel(place)];
  CHECK(*std::min_element(times.begin(), times.end()) == 1);
  // V: the other plate; that plate; floating spheres. K': spheres.
  CHECK(places.trees.tree_begin.size() == 5);
  CHECK(places.parts.size() == 11);
  CHECK(tree.nodes.size() == 2 * panels.size() - 4);

  int wrong = 0, holds_several = 0;
  for (const Cluster& node : tree.nodes) {
    std::vector<std::size_t> in_node(surface.boundary.size());
    std::vector<std::size_t> in_mesh(surface.boundary.size());
    bool any_v = false, any_flux = false, any_equation = false, any_without = false;
    for (std::int32_t place = node.begin; place < node.end; ++place) {
      const std::int32_t i = tree.panel(place);
      ++in_node[rows.part[i]];
      (rows.beta[i] == 0 ? any_v : any_flux) = true;
      (rows.part[i] == plate || rows.part[i] == plate + 1 ? any_without : any_equation) = true;
    }
    for (const int part : rows.part) ++in_mesh[part];
    wrong += any_v == any_flux || any_equation == any_without;
    const auto parts = std::count_if(in_node.begin(), in_node.end(), [](auto n) { return n > 0; });
    if (parts < 2) continue;
    ++holds_several;
    for (std::size_t part = 0; part < in_node.size(); ++part)
      wrong += in_node[part] > 0 && in_node[part] < in_mesh[part];
  }
  CHECK(wrong == 0);
  CHECK(holds_several == 3 + 5);
}

TEST_CASE("entries between close sheets are means of the matrix") {
  const MixedSurface surface = shell(8, 0.02, 1e4);
  const Panels panels = make_panels(surface.mesh);
  MixedRows rows = mixed_rows(surface, panels);
  const auto triangles = triangles_of(panels);
  const MixedPlaces places(panels, rows);
  const ClusterTree tree(places.trees, triangles, 64);
  const std::vector<MeanRow> means = mean_rows(tree, triangles, rows);
  const CloseEntries close(tree, triangles, rows, means, 1);

  // The matrix, column by column.
  const DenseMixed dense(panels, {rows.alpha, rows.beta, rows.gamma});
  std::vector<Vector> column;
  for (std::size_t j = 0; j < panels.size(); ++j) {
    Vector unit(panels.size(), 0.0);
    unit[j] = 1;
    column.push_back(dense(unit));
  }
  const auto mean = [&](const Cluster& k, const Cluster& l) {
    double sum = 0;
    for (std::int32_t from = l.begin; from < l.end; ++from)
      for (std::int32_t to = k.begin; to < k.end; ++to)
        sum += panels.area(tree.panel(to)) * column[tree.panel(from)][tree.panel(to)];
    return sum / k.area;
  };
  // Facing sheets have a flux of 1 through each other (β = 2, times a half).
  double worst = 0, worst_smooth = 0;
  int pairs = 0;
  const auto n_nodes = static_cast<std::int32_t>(tree.nodes.size());
  for (std::int32_t k = 0; k < n_nodes; k += 5)
    for (std::int32_t l = 0; l < n_nodes; l += 3) {
      const Cluster &to = tree.nodes[k], &from = tree.nodes[l];
      if (to.size() < 4 || to.size() > 100 || from.size() < 4 || from.size() > 100) continue;
      const double reach = close.nodes().reach[k] + close.nodes().reach[l];
      if (norm2(to.centroid - from.centroid) > reach * reach) continue;
      const double exact = mean(to, from);
      ++pairs;
      worst = larger_error(worst, std::abs(close.between(k, l).kl - exact));
      if (k != l)
        worst_smooth = larger_error(
            worst_smooth, std::abs(smooth_entries(to, means[k], from, means[l]).kl - exact));
    }
  CAPTURE(pairs);
  CHECK(pairs > 1000);
  CHECK(worst < 0.1);
  CHECK(worst_smooth > 0.5);
}

TEST_CASE("charge equations hold whatever the rows are") {
  for (const MixedSurface& surface :
       {coated_conductor(3, 1e6), shell(3, 0.05, 1e4), balls_between_plates(2, 2, 1e4, true)}) {
    const Panels panels = make_panels(surface.mesh);
    MixedRows rows = mixed_rows(surface, panels);
    // As if half of the first part were in another medium.
    rows.weight.assign(panels.size(), 1);
    for (std::size_t i = 0; i < panels.size(); ++i)
      if (rows.part[i] == 0 && panels.centroid(i).x > 0) rows.weight[i] = 5;
    const Vector x = signed_charges(panels.size(), 4), y = applied(make_inverse(panels, rows), x);
    for (const ChargeEquation& equation : rows.equations) {
      double sum = 0, size = 0, given = 0;
      for (std::size_t i = 0; i < y.size(); ++i) {
        double factor = 0;
        if (rows.part[i] == equation.part) {
          factor = 1;
          given += panels.area(i) * x[i];
        }
        for (const auto& other : equation.others)
          if (rows.part[i] == other.part) factor = other.factor;
        factor *= rows.weight[i];
        sum += factor * panels.area(i) * y[i];
        size += std::abs(factor * panels.area(i) * y[i]);
      }
      CHECK(std::abs(sum - given) < 1e-13 * size);
    }
  }
}

TEST_CASE("thousands of bodies take no more unknowns than some") {
  const MixedSurface few = balls_between_plates(3, 1, 1e6, true),
                     many = balls_between_plates(8, 1, 1e6, true);
  const auto unknowns = [](const MixedSurface& surface) {
    const Panels panels = make_panels(surface.mesh);
    return make_inverse(panels, mixed_rows(surface, panels)).mean_unknowns();
  };
  CHECK(unknowns(few) < 200);
  CHECK(unknowns(many) < 250);
}

TEST_CASE("the inverse for mixed rows takes several vectors, and any number of threads") {
  const MixedSurface surface = coated_conductor(8, 100);
  const Panels panels = make_panels(surface.mesh);
  const MixedRows rows = mixed_rows(surface, panels);
  const std::size_t n = panels.size();
  const Vector x = signed_charges(6 * n, 2);
  std::vector<Vector> results;
  for (const int threads : {1, 2, 3}) {
    set_threads(threads);
    results.emplace_back(6 * n);
    make_inverse(panels, rows).apply(x.data(), results.back().data(), {.vectors = 6});
  }
  set_threads(available_cores());
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
  const Vector last = applied(make_inverse(panels, rows), Vector(x.end() - n, x.end()));
  const Vector same(results[0].end() - n, results[0].end());
  CHECK(norm_of(difference(last, same)) < 1e-12 * norm_of(last));
}

TEST_CASE("the inverse for mixed rows of a handful of panels, and of many at one place") {
  SurfaceMesh one;
  add_group(one, "one");
  add_vertex(one, {0, 0, 0});
  add_vertex(one, {1, 0, 0});
  add_vertex(one, {0, 1, 0});
  add_triangle(one, 0, 1, 2, 0);
  const Panels single = make_panels(one);
  CHECK(defect(single, single_layer_rows(single, 1), {1.0}) < 2e-5);
  CHECK(defect(single, {{0.0}, {2.0}, {1.0}}, {1.0}) < 1e-6);
  // Their systems of V are singular; the preconditioner has to cope with it.
  for (int k = 0; k < 200; ++k) add_triangle(one, 0, 1, 2, 0);
  const Panels copies = make_panels(one);
  CHECK(std::isfinite(
      norm_of(applied(make_inverse(copies, single_layer_rows(copies, 1)), Vector(201, 1.0)))));
}

TEST_CASE("the inverse for mixed rows refuses rows and options out of range") {
  const MixedSurface surface = shell(1, 0.1, 10);
  const Panels panels = make_panels(surface.mesh);
  const MixedRows good = mixed_rows(surface, panels);
  const auto refused = [&](auto change) {
    MixedRows rows = good;
    change(rows);
    CHECK_THROWS_AS(make_inverse(panels, rows), InputError);
  };
  refused([](MixedRows& rows) { rows.alpha.pop_back(); });
  refused([](MixedRows& rows) { rows.part.pop_back(); });
  refused([](MixedRows& rows) { rows.beta[3] = std::nan(""); });
  refused([](MixedRows& rows) { rows.part[0] = -1; });
  refused([](MixedRows& rows) { rows.equations[0].part = 7; });
  refused([](MixedRows& rows) { rows.equations[0].others[0].part = 2; });
  refused([](MixedRows& rows) { rows.weight.assign(3, 1.0); });
  refused([](MixedRows& rows) { rows.equations[0].others[0].factor = 1.0 / 0.0; });
  refused([](MixedRows& rows) { rows.equations.push_back(rows.equations[0]); });
  refused([](MixedRows& rows) {
    rows.beta[0] = 0;
    rows.alpha[0] = 1;
  });
  refused([](MixedRows& rows) {
    rows.part[0] = 5;  // parts 2, 3 and 4 have no panels
    rows.equations.push_back({3});
  });
  for (const double reach : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    CHECK_THROWS_AS(make_inverse(panels, good, {.reach = reach}), InputError);
  CHECK_THROWS_AS(make_inverse(panels, good, {.clusters = {.opening = 0}}), InputError);
}

}  // namespace fmbem::test::mixed_inverse_tests
