// Default sizes: the edges of meshes against what each rule asks for, on bodies with known
// dimensions; and the distances behind the rules against sums over all triangles.

#include <algorithm>
#include <cmath>
#include <random>

#include "fmbem/meshes/check.hpp"
#include "fmbem/meshes/distance.hpp"
#include "fmbem/meshes/gmsh/folds.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/size_limits.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"

namespace fmbem::test::sizes_tests {

namespace {

const double pi = std::acos(-1.);

SurfaceMesh meshed(const std::string& geo, const LoadOptions& options = {}) {
  const TemporaryFolder folder;
  return load_mesh(folder.write("a.geo", "SetFactory(\"OpenCASCADE\");\n" + geo + "\n"), options);
}

/// Lengths of the triangles' longest edges, of those whose centres are chosen.
template <class Choice>
std::vector<double> edges(const SurfaceMesh& mesh, Choice&& choice) {
  std::vector<double> found;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto& [a, b, c] = mesh.triangles[i];
    if (choice((1. / 3) * (mesh.vertices[a] + mesh.vertices[b] + mesh.vertices[c])))
      found.push_back(triangle_shape(mesh, i).longest_edge);
  }
  return found;
}

double median(std::vector<double> values) {
  REQUIRE(!values.empty());
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

bool has_reason(const SurfaceMesh& mesh, SizeReason reason) {
  return std::any_of(mesh.sizes.begin(), mesh.sizes.end(),
                     [&](const SizeLimit& limit) { return limit.reason == reason; });
}

// Gmsh's longest edges are up to 1.5 times the size, and their median is some 1.15 times it.
constexpr double slack = 1.5;

}  // namespace

TEST_CASE("the size follows curvature") {
  // A box makes 1/40 of the diagonal large; without the rule the cylinder would be a prism.
  const SurfaceMesh mesh =
      meshed("Cylinder(1) = {0, 0, 0, 0, 0, 40, 1}; Box(2) = {20, 0, 0, 40, 40, 40};");
  std::size_t on_circle = 0;
  for (const Vec3d& x : mesh.vertices)
    if (x.z == 0 && std::abs(std::hypot(x.x, x.y) - 1) < 1e-9) ++on_circle;
  const double per_turn = SizeRules{}.per_turn;
  CHECK(on_circle >= per_turn);
  CHECK(on_circle <= 2 * per_turn);
  const std::vector<double> curved =
      edges(mesh, [](Vec3d x) { return std::hypot(x.x, x.y) < 1 && x.z > 5 && x.z < 35; });
  CHECK(*std::max_element(curved.begin(), curved.end()) < slack * 2 * pi / per_turn);
  CHECK(median(edges(mesh, [](Vec3d x) { return x.x > 59.9; })) > 0.5);
  CHECK(has_reason(mesh, SizeReason::curvature));
}

TEST_CASE("a thin torus is closed, with the area of one, and a cone's apex has few panels") {
  const SurfaceMesh torus = meshed("Torus(1) = {0, 0, 0, 10, 0.2};");
  CHECK(torus.closed);
  CHECK(check_mesh(torus).area == Approx(4 * pi * pi * 2).epsilon(0.02));
  const SurfaceMesh cone = meshed("Cone(1) = {0, 0, 0, 0, 0, 10, 3, 0};");
  CHECK(cone.closed);
  CHECK(cone.triangles.size() < 6000);
  CHECK(check_mesh(cone).area == Approx(pi * 3 * (3 + std::sqrt(109.))).epsilon(0.02));
  CHECK(check_mesh(cone).smallest_angle > 15);
}

TEST_CASE("triangles laid onto each other are left out, others stay") {
  ModelMesh model;
  SurfaceMesh& mesh = model.mesh;
  // A fold on the surface 1, the same triangle on two surfaces, one twice the same way round.
  mesh.triangles = {{0, 1, 2}, {4, 3, 5}, {3, 4, 5}, {6, 7, 8}, {7, 6, 8}, {9, 1, 2}, {1, 2, 9}};
  model.surface_of = {1, 1, 1, 1, 2, 1, 1};
  mesh.triangle_tags = {10, 11, 12, 13, 14, 15, 16};
  mesh.group_of = {0, 1, 2, 3, 4, 5, 6};
  drop_folds(model);
  CHECK(mesh.triangle_tags == std::vector<std::size_t>{10, 13, 14, 15, 16});
  CHECK(mesh.group_of == std::vector<int>{0, 3, 4, 5, 6});
  CHECK(model.surface_of == std::vector<int>{1, 1, 2, 1, 1});
  CHECK(mesh.triangles.size() == 5);
  REQUIRE(mesh.notices.size() == 1);
  CHECK(mesh.notices[0].starts_with("1 pair of triangles"));
}

TEST_CASE("the size follows the width of faces") {
  const SurfaceMesh mesh = meshed("Box(1) = {0, 0, 0, 60, 1, 20};");
  // Sides of 60 x 1 have the width 2 · 60/122, those of 20 x 1 are a little narrower.
  const double size = 2 * 60. / 122 / SizeRules{}.per_width;
  const std::vector<double> narrow = edges(mesh, [](Vec3d x) { return x.z == 0; });
  CHECK(*std::max_element(narrow.begin(), narrow.end()) < slack * size);
  CHECK(median(narrow) > 0.7 * size);
  CHECK(median(edges(mesh, [](Vec3d x) {
          return x.y == 0 && std::abs(x.z - 10) < 2 && std::abs(x.x - 30) < 10;
        })) > 2 * size);
  CHECK(has_reason(mesh, SizeReason::width));
  CHECK(has_reason(mesh, SizeReason::neighbour));
}

TEST_CASE("the size follows the gap to another conductor, where it is") {
  const double gap = 0.06;
  const SurfaceMesh mesh = meshed(
      "Box(1) = {0, 0, 0, 4, 4, 2}; Box(2) = {0, 0, 2.06, 4, 4, 2};"
      "Physical Surface(\"a\") = {1:6}; Physical Surface(\"b\") = {7:12};");
  const std::vector<double> facing =
      edges(mesh, [](Vec3d x) { return x.z > 1.999 && x.z < 2.061; });
  CHECK(*std::max_element(facing.begin(), facing.end()) < slack * gap);
  CHECK(median(facing) > 0.7 * gap);
  CHECK(median(edges(mesh, [](Vec3d x) { return x.z == 0; })) > 1.5 * gap);
  CHECK(has_reason(mesh, SizeReason::gap));
  // Both in one conductor have no gap between them.
  CHECK(!has_reason(meshed("Box(1) = {0, 0, 0, 4, 4, 2}; Box(2) = {0, 0, 2.06, 4, 4, 2};"
                           "Physical Surface(\"a\") = {1:12};"),
                    SizeReason::gap));
}

TEST_CASE("gaps that are too narrow to follow get the least size") {
  const SurfaceMesh mesh =
      meshed("Box(1) = {0, 0, 0, 1, 0.2, 0.2}; Box(2) = {0, 0, 0.2001, 1, 0.2, 0.2};");
  CHECK(has_reason(mesh, SizeReason::least));
  const double least = SizeRules{}.smallest * std::sqrt(1.08);
  CHECK(median(edges(mesh, [](Vec3d x) { return x.z > 0.19 && x.z < 0.21; })) > 0.7 * least);
}

TEST_CASE("the size follows the extent of a small conductor") {
  const SurfaceMesh mesh =
      meshed("Box(1) = {-20, -20, -20, 40, 40, 40}; Box(2) = {0, 0, 0, 1, 1, 1};");
  const double size = std::sqrt(3.) / SizeRules{}.per_extent;
  const std::vector<double> small = edges(mesh, [](Vec3d x) { return norm(x) < 2; });
  CHECK(*std::max_element(small.begin(), small.end()) < slack * size);
  CHECK(has_reason(mesh, SizeReason::extent));
}

TEST_CASE("meshes are graded to sharp edges on request, and not to smooth ones") {
  LoadOptions options;
  options.mesh_size = 0.25;
  const std::string box = "Box(1) = {0, 0, 0, 2, 2, 2};";
  const auto at_edge = [](Vec3d x) { return std::abs(x.y) < 0.01 && x.z < 0.02; };
  CHECK(!has_reason(meshed(box, options), SizeReason::edge));
  options.grade = 0.1;
  const SurfaceMesh mesh = meshed(box, options);
  CHECK(median(edges(mesh, at_edge)) < slack * 0.025);
  CHECK(median(edges(mesh, [](Vec3d x) { return norm(x - Vec3d{1, 0, 1}) < 0.4; })) > 0.17);
  CHECK(has_reason(mesh, SizeReason::edge));
  // The halves of a cylinder's side meet smoothly.
  const std::string halves =
      "Circle(1) = {0, 0, 0, 1, 0, Pi}; Circle(2) = {0, 0, 0, 1, Pi, 2 * Pi};"
      "Extrude {0, 0, 8} { Curve{1, 2}; }";
  const SurfaceMesh pipe = meshed(halves, options);
  const auto seam = [](Vec3d x) { return std::abs(x.y) < 0.15 && std::abs(x.z - 4) < 1; };
  CHECK(median(edges(pipe, seam)) > 0.17);
}

TEST_CASE("a size that was asked for is had, and no larger one than the geometry") {
  LoadOptions options;
  options.mesh_size = 0.5;
  const SurfaceMesh mesh = meshed("Cylinder(1) = {0, 0, 0, 0, 0, 4, 0.5};", options);
  REQUIRE(mesh.sizes.size() == 1);
  CHECK(mesh.sizes[0].reason == SizeReason::option);
  CHECK(mesh.sizes[0].size == 0.5);
  CHECK(mesh.sizes[0].triangles == mesh.triangles.size());
  options.mesh_size = 10;
  const std::string sentence =
      refusal([&] { meshed("Cylinder(1) = {0, 0, 0, 0, 0, 4, 0.5};", options); });
  CHECK(sentence.find("larger than") != std::string::npos);
  options = {};
  options.grade = 0;
  CHECK(refusal([&] { meshed("Box(1) = {0, 0, 0, 1, 1, 1};", options); }).find("graded") !=
        std::string::npos);
}

TEST_CASE("a file's own sizes hold, and are said to be its own") {
  const SurfaceMesh mesh = meshed(
      "Box(1) = {0, 0, 0, 1, 1, 1}; Transfinite Curve \"*\" = 3; Transfinite Surface \"*\";");
  CHECK(mesh.triangles.size() == 48);
  REQUIRE(mesh.sizes.size() == 1);
  CHECK(mesh.sizes[0].reason == SizeReason::file);
}

TEST_CASE("the default mesh has the same bits in every run") {
  const std::string geo = "Cylinder(1) = {0, 0, 0, 0, 0, 5, 0.3}; Box(2) = {1, 0, 0, 1, 1, 1};";
  const SurfaceMesh first = meshed(geo), second = meshed(geo);
  CHECK(first.vertices == second.vertices);
  CHECK(first.triangles == second.triangles);
}

TEST_CASE("distances to triangles are those to the nearest of many of their points") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto point = [&] { return Vec3d{uniform(random), uniform(random), uniform(random)}; };
  constexpr int n = 60;
  for (int trial = 0; trial < 200; ++trial) {
    const std::array<Vec3d, 3> t{point(), point(), point()};
    const Vec3d x = 2. * point();
    double nearest = 1e9;
    for (int i = 0; i <= n; ++i)
      for (int j = 0; i + j <= n; ++j)
        nearest = std::min(nearest, norm(x - t[0] - (double(i) / n) * (t[1] - t[0]) -
                                         (double(j) / n) * (t[2] - t[0])));
    const double spacing = (norm(t[1] - t[0]) + norm(t[2] - t[0])) / n;
    const double d = distance_to_triangle(x, t);
    CHECK(d <= nearest + 1e-14);
    CHECK(d >= nearest - spacing);
  }
}

TEST_CASE("the least size plus distance is that over all items of other bodies") {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto point = [&] { return Vec3d{uniform(random), uniform(random), uniform(random)}; };
  std::vector<BodyTree::Item> items;
  for (int i = 0; i < 300; ++i) {
    const Vec3d a = 3. * point();
    items.push_back({{a, a + 0.1 * point(), a + 0.1 * point()}, i % 5, uniform(random) + 1});
  }
  const BodyTree tree(items);
  for (int trial = 0; trial < 100; ++trial) {
    const Vec3d x = 3. * point();
    const int except = trial % 6 - 1;
    double least = 2.5;
    for (const BodyTree::Item& item : items)
      if (except < 0 || item.body != except)
        least = std::min(least, item.size + 0.7 * distance_to_triangle(x, item.corners));
    CHECK(tree.least(x, 0.7, 2.5, except) == least);
  }
}

}  // namespace fmbem::test::sizes_tests
