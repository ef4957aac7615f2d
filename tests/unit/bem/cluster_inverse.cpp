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

using namespace fmbem;
using namespace fmbem::test;

namespace {

/// ‖x − V M x‖/‖x‖
double defect(const Panels& panels, const ApproximateInverse& inverse, const Vector& x) {
  Vector y(x.size());
  inverse.apply(x.data(), y.data());
  return norm_of(difference(product(*make_dense_single_layer(panels, {}), y), x)) / norm_of(x);
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
    for (std::int32_t i = node.begin; i < node.end; ++i) {
      const Triangle t = panels.triangle(i);
      area += t.area;
      moment += t.area * t.centroid;
      for (const Vec3d& v : t.vertex) radius = std::max(radius, norm(v - node.centroid));
    }
    wrong += std::abs(node.area / area - 1) > 1e-12 ||
             norm(node.centroid - moment / area) > 1e-12 * panels.extent ||
             std::abs(node.radius / radius - 1) > 1e-12;
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

TEST_CASE("the smear of a cluster gives the mean potential of a charge spread over it") {
  // Of a square of side 1: ∬∬ 1/r = 4 ln(1 + √2) − 4 (√2 − 1)/3.
  const Panels panels = make_panels(plate(16));
  const double exact = 4 * std::log(1 + std::sqrt(2)) - 4.0 / 3 * (std::sqrt(2) - 1);
  const ClusterTree tree(panels.key, triangles_of(panels), 64);
  CHECK(1 / std::sqrt(2 * tree.nodes[0].smear2) == Approx(exact).epsilon(0.1));
}

TEST_CASE("the cluster inverse is close to the inverse whatever the surface, size and unit") {
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

TEST_CASE("the cluster inverse is close to the inverse where panels are long") {
  for (const SurfaceMesh& mesh :
       {long_plate(4, 50), long_plate(4, 500), long_plate(2, 1000), graded_plate(40)}) {
    const Panels panels = make_panels(mesh);
    const ClusterInverse inverse(panels);
    CAPTURE(panels.size(), inverse.mean_unknowns());
    CHECK(defect(panels, inverse, Vector(panels.size(), 1.0)) < 0.6);
    CHECK(inverse.mean_unknowns() < 410);
  }
}

TEST_CASE("the cluster inverse is close to the inverse between sheets close to each other") {
  // Of charges of opposite sign hardly a potential is left: in single precision far clusters on
  // both sheets are one.
  for (const double gap : {1e-3, 1e-5}) {
    for (const auto& [across, along] : {std::pair{20, 20}, {6, 100}}) {
      SurfaceMesh mesh = long_plate(across, along);
      const SurfaceMesh lower = mesh;
      const int first = static_cast<int>(lower.vertices.size());
      const Vec3d normal = cross(lower.vertices[1] - lower.vertices[0],
                                 lower.vertices[along + 1] - lower.vertices[0]);
      for (const Vec3d& v : lower.vertices) add_vertex(mesh, v + (gap / norm(normal)) * normal);
      for (const auto& [a, b, c] : lower.triangles)
        add_triangle(mesh, first + a, first + b, first + c, 0);
      const Panels panels = make_panels(mesh);
      Vector x(panels.size());
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = dot(panels.centroid(i), normal) > 0 ? 1 : -1;
      CAPTURE(gap, across);
      CHECK(defect(panels, ClusterInverse(panels), x) < 0.5);
    }
  }
}

TEST_CASE("the cluster inverse takes several vectors, and any number of threads") {
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

  // Their system is singular; the preconditioner is to survive it.
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
