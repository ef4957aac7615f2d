#include "fmbem/bem/precond/cluster_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::cluster_inverse_tests {

namespace {

/// ‖x − V M x‖/‖x‖
double defect(const Panels& panels, const ApproximateInverse& inverse, const Vector& x) {
  Vector y(x.size());
  inverse.apply(x.data(), y.data());
  return norm_of(difference(product(*make_dense_operator(panels, single_layer, {}), y), x)) /
         norm_of(x);
}

}  // namespace

TEST_CASE("the tree of clusters holds each panel once, with the moments of what it holds") {
  const Panels panels = make_panels(bracket(10));
  const auto n = static_cast<std::int32_t>(panels.size());
  const ClusterTree tree(panels.key, triangles_of(panels), 20);
  REQUIRE(tree.nodes.size() == 2 * panels.size() - 1);
  int wrong = 0;
  std::vector<int> in_leaf(n);
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(tree.nodes.size()); ++k) {
    const Cluster& node = tree.nodes[k];
    wrong += node.is_panel() != (node.size() == 1);
    if (!node.is_panel()) {
      const Cluster &l = tree.nodes[node.left], &r = tree.nodes[node.right];
      wrong += l.begin != node.begin || l.end != r.begin || r.end != node.end;
      wrong += tree.descendants_end(node.left) != node.right ||
               tree.descendants_end(node.right) != tree.descendants_end(k);
    }
    double area = 0, radius = 0;
    Vec3d moment{};
    bool any_long = false;
    for (std::int32_t i = node.begin; i < node.end; ++i) {
      const Triangle t = panels.triangle(i);
      area += t.area;
      moment += t.area * t.centroid;
      any_long = any_long || is_long(t);
      for (const Vec3d& v : t.vertex) radius = std::max(radius, norm(v - node.centroid));
    }
    wrong += std::abs(node.area / area - 1) > 1e-12 ||
             norm(node.centroid - moment / area) > 1e-12 * panels.extent ||
             node.is_long() != any_long ||
             (!any_long && std::abs(node.radius / radius - 1) > 1e-12);
  }
  for (const std::int32_t leaf : tree.leaves) {
    wrong += tree.nodes[leaf].size() > 20;
    for (std::int32_t i = tree.nodes[leaf].begin; i < tree.nodes[leaf].end; ++i) ++in_leaf[i];
  }
  for (const std::int32_t k : tree.above) wrong += tree.nodes[k].size() <= 20;
  CHECK(wrong == 0);
  CHECK(*std::min_element(in_leaf.begin(), in_leaf.end()) == 1);
  CHECK(*std::max_element(in_leaf.begin(), in_leaf.end()) == 1);
}

TEST_CASE("a segment's potential is the integral over it") {
  double worst = 0, worst_single = 0;
  for (const Vec3d half : {Vec3d{0.3, 0, 0}, Vec3d{1, -2, 0.5}, Vec3d{1e-3, 1e-3, 0}})
    for (const double tilt : {-1.0, -0.4, 0.0, 0.7, 1.0})
      for (const double smear2 : {1e-6, 1e-2})
        for (const Vec3d& d : cube_points(40, 3)) {
          // From the centroid, after a substitution that puts points close together near the
          // target.
          const int n = 20'000;
          const double h = norm(half), foot = dot(d, half) / h + tilt / 3 * h,
                       off = std::sqrt(norm2(d - dot(d, half) / (h * h) * half) + smear2),
                       from = std::asinh((-h - foot) / off), to = std::asinh((h - foot) / off);
          double sum = 0;
          for (int k = 0; k < n; ++k) {
            const double s = foot + off * std::sinh(from + (to - from) * (k + 0.5) / n);
            sum += (1 + tilt * s / h) / (2 * h) * (to - from) / n;
          }
          const auto single = [](Vec3d v) {
            return Vec3<float>{static_cast<float>(v.x), static_cast<float>(v.y),
                               static_cast<float>(v.z)};
          };
          worst = larger_error(worst, std::abs(segment_potential(d, half, tilt, smear2) / sum - 1));
          const double in_single = segment_potential(
              single(d), single(half), static_cast<float>(tilt), static_cast<float>(smear2));
          worst_single = larger_error(worst_single, std::abs(in_single / sum - 1));
        }
  // From 30 half lengths on it is taken for a point, which is off by 1/6 of their inverse square.
  CHECK(worst < 1.0 / 6 / 900 * 1.1);
  CHECK(worst_single < 1e-3);
}

TEST_CASE("the segment of a cluster of long panels has the moments of its charge") {
  for (const SurfaceMesh& mesh : {long_plate(1, 40), long_plate(3, 90)}) {
    const Panels panels = make_panels(mesh);
    const ClusterTree tree(panels.key, triangles_of(panels), 64);
    double wrong = 0, too_small = 0, too_large = 0;
    int tilted = 0;
    for (const Cluster& node : tree.nodes) {
      REQUIRE(node.is_long());
      const double length = norm(node.half);
      double variance = 0, reach = 0, middle = 0;
      for (std::int32_t i = node.begin; i < node.end; ++i) {
        const Triangle t = panels.triangle(i);
        const int edge = longest_edge_of(t);
        const Vec3d of_edge = 0.5 * (t.vertex[edge] + t.vertex[(edge + 1) % 3]);
        double s[3], squares = 0;
        for (int k = 0; k < 3; ++k) s[k] = dot(t.vertex[k] - node.centroid, node.half) / length;
        // ∫ s² over a triangle is the sum over all products of its corners' values.
        for (int a = 0; a < 3; ++a)
          for (int b = a; b < 3; ++b) squares += s[a] * s[b] / 6;
        variance += t.area / node.area * squares;
        middle += t.area / node.area * dot(of_edge - node.centroid, node.half) / length;
        reach = std::max(reach, norm(of_edge - node.place()) + height_of(t));
      }
      const double own = length * length * (1.0 / 3 - node.tilt * node.tilt / 9);
      wrong = larger_error(wrong, std::abs(own / variance - 1));
      wrong = larger_error(wrong, std::abs(length * node.tilt / 3 + middle) / length);
      tilted += std::abs(node.tilt) > 0.99;
      too_small = larger_error(too_small, reach / node.radius);
      too_large = larger_error(too_large, node.radius / reach);
    }
    CAPTURE(panels.size());
    CHECK(wrong < 2e-3);
    CHECK(tilted >= static_cast<int>(panels.size()));
    CHECK(too_small < 1.5);
    CHECK(too_large < 2.5);
  }
}

TEST_CASE("the smear of a cluster gives the mean potential of a charge spread over it") {
  // Of a square of side 1: ∬∬ 1/r = 4 ln(1 + √2) − 4 (√2 − 1)/3.
  const Panels panels = make_panels(plate(16));
  const double exact = 4 * std::log(1 + std::sqrt(2)) - 4.0 / 3 * (std::sqrt(2) - 1);
  const ClusterTree tree(panels.key, triangles_of(panels), 64);
  CHECK(1 / std::sqrt(2 * tree.nodes[0].smear2) == Approx(exact).epsilon(0.1));
}

TEST_CASE("the cluster inverse is close to the inverse whatever the surface, size and unit",
          "[long][accuracy]") {
  for (const SurfaceMesh& mesh :
       {sphere(4), sphere(4, 1e-25), sphere(4, 1e30), cube(13), plate(30), bracket(10)}) {
    const Panels panels = make_panels(mesh);
    const ClusterInverse inverse(panels);
    CAPTURE(panels.size(), panels.extent, inverse.mean_unknowns());
    CHECK(defect(panels, inverse, Vector(panels.size(), 1.0)) < 0.25);
    CHECK(defect(panels, inverse, signed_charges(panels.size(), 1)) < 0.6);
    CHECK(inverse.mean_unknowns() < 300);
    CHECK(inverse.memory_bytes() < 1500 * static_cast<std::int64_t>(panels.size()));
  }
}

TEST_CASE("the cluster inverse is close to the inverse where panels are long", "[long][accuracy]") {
  for (const SurfaceMesh& mesh :
       {long_plate(4, 50), long_plate(4, 500), long_plate(2, 1000), graded_plate(40)}) {
    const Panels panels = make_panels(mesh);
    const ClusterInverse inverse(panels);
    CAPTURE(panels.size(), inverse.mean_unknowns());
    CHECK(defect(panels, inverse, Vector(panels.size(), 1.0)) < 0.3);
    CHECK(inverse.mean_unknowns() < 350);
  }
}

TEST_CASE("the cluster inverse is close to the inverse between sheets close to each other") {
  // Charges of opposite sign leave hardly any potential: in single precision, clusters that face
  // each other look the same from far away.
  for (const double gap : {1e-3, 1e-5}) {
    for (const auto& [across, along] : {std::pair{20, 20}, {6, 100}}) {
      const Panels panels = make_panels(facing_sheets(across, along, gap));
      const Vec3d normal = panels.triangle(0).normal;
      Vector x(panels.size());
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = dot(panels.centroid(i), normal) > 0 ? 1 : -1;
      CAPTURE(gap, across);
      CHECK(defect(panels, ClusterInverse(panels), x) < 0.5);
    }
  }
}

TEST_CASE("the cluster inverse takes several vectors, and any number of threads", "[threads]") {
  const Panels panels = make_panels(bracket(8));
  const std::size_t n = panels.size();
  const Vector x = signed_charges(6 * n, 2);
  std::vector<Vector> results;
  for (const int threads : {1, 2, 3}) {
    set_threads(threads);
    results.emplace_back(6 * n);
    ClusterInverse(panels).apply(x.data(), results.back().data(), {.vectors = 6});
  }
  set_threads(available_cores());
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
  Vector last(n);
  ClusterInverse(panels).apply(x.data() + 5 * n, last.data());
  for (std::size_t i = 0; i < n; ++i) last[i] -= results[0][5 * n + i];
  CHECK(norm_of(last) < 1e-13 * norm_of(results[0]));
}

TEST_CASE("the cluster inverse of a handful of panels, of copies of one and of many at one place") {
  SurfaceMesh one;
  add_group(one, "one");
  add_vertex(one, {0, 0, 0});
  add_vertex(one, {1, 0, 0});
  add_vertex(one, {0, 1, 0});
  add_triangle(one, 0, 1, 2, 0);
  const Panels single = make_panels(one);
  CHECK(defect(single, ClusterInverse(single), {1.0}) < 1e-6);
  const Panels eight = make_panels(sphere(0));
  CHECK(defect(eight, ClusterInverse(eight), Vector(8, 1.0)) < 0.1);

  // Their system is singular; the preconditioner has to cope with it.
  for (int k = 0; k < 200; ++k) add_triangle(one, 0, 1, 2, 0);
  const Panels copies = make_panels(one);
  Vector y(201);
  ClusterInverse(copies).apply(Vector(201, 1.0).data(), y.data());
  CHECK(std::isfinite(norm_of(y)));
}

TEST_CASE("the cluster inverse refuses options out of range") {
  const Panels panels = make_panels(sphere(1));
  for (const double opening : {0.0, -1.0, std::nan("")})
    CHECK_THROWS_AS(ClusterInverse(panels, {.opening = opening}), InputError);
  CHECK_THROWS_AS(ClusterInverse(panels, {.nearness = -1}), InputError);
  CHECK_THROWS_AS(ClusterInverse(panels, {.max_leaf = 0}), InputError);
}

}  // namespace fmbem::test::cluster_inverse_tests
