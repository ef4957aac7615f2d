// What mesh-info says about a mesh's fitness: gaps of bodies whose distances are known, and limits.

#include "fmbem/meshes/assess.hpp"

#include <algorithm>

#include "fmbem/meshes/load.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"

namespace fmbem::test::assess_tests {

namespace {

SurfaceMesh meshed(const std::string& geo, double size) {
  const TemporaryFolder folder;
  LoadOptions options;
  options.mesh_size = size;
  return load_mesh(folder.write("a.geo", "SetFactory(\"OpenCASCADE\");\n" + geo + "\n"), options);
}

bool told(const SurfaceMesh& mesh, const std::string& words) {
  const std::vector<std::string> limits = accuracy_limits(mesh, check_mesh(mesh), find_gaps(mesh));
  return std::any_of(limits.begin(), limits.end(), [&](const std::string& sentence) {
    return sentence.find(words) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("gaps are those to the nearest group") {
  // Three boxes in a row, 0.1 and 0.5 apart, and a small one that only the last is near to.
  const SurfaceMesh mesh = meshed(
      "Box(1) = {0, 0, 0, 1, 1, 1}; Box(2) = {1.1, 0, 0, 1, 1, 1}; Box(3) = {2.6, 0, 0, 1, 1, 1};"
      "Physical Surface(\"a\") = {1:6}; Physical Surface(\"b\") = {7:12};"
      "Physical Surface(\"c\") = {13:18};",
      0.3);
  const std::vector<Gap> gaps = find_gaps(mesh);
  REQUIRE(gaps.size() == 2);
  CHECK(gaps[0].a == 0);
  CHECK(gaps[0].b == 1);
  CHECK(gaps[0].distance == Approx(0.1).epsilon(1e-9));
  CHECK(gaps[0].place.x >= 1 - 1e-9);
  CHECK(gaps[0].place.x <= 1.1 + 1e-9);
  CHECK(gaps[1].distance == Approx(0.5).epsilon(1e-9));
  CHECK(told(mesh, "the gap of 0.1 between \"a\" and \"b\""));
  CHECK(!told(mesh, "the gap of 0.5"));
  CHECK(find_gaps(meshed("Box(1) = {0, 0, 0, 1, 1, 1};", 0.3)).empty());
}

TEST_CASE("the distance of spheres is found to the sagitta of their panels") {
  const double h = 0.2;
  const SurfaceMesh mesh = meshed("Sphere(1) = {0, 0, 0, 1}; Sphere(2) = {2.5, 0, 0, 1};", h);
  const std::vector<Gap> gaps = find_gaps(mesh);
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].distance >= 0.5);
  CHECK(gaps[0].distance < 0.5 + 2 * h * h);
}

TEST_CASE("what limits accuracy is told, and nothing of a good mesh") {
  const std::string sphere = "Sphere(1) = {0, 0, 0, 1};";
  const SurfaceMesh good = meshed(sphere, 0.2);
  CHECK(accuracy_limits(good, check_mesh(good), {}).empty());
  const SurfaceMesh coarse =
      meshed("Cylinder(1) = {0, 0, 0, 0, 0, 4, 1}; Transfinite Curve{1, 3} = 6;", 1.2);
  CHECK(told(coarse, "by more than 30 degrees"));
  CHECK(told(coarse, "panels only"));
  CHECK(told(meshed("Box(1) = {0, 0, 0, 1, 1, 1};", 0.1), "singular on sharp edges"));
  CHECK(told(meshed("Rectangle(1) = {0, 0, 0, 1, 1};", 0.05), "open"));
  CHECK(told(meshed("Box(1) = {0, 0, 0, 1, 1, 0.001}; Transfinite Curve{:} = 2;", 0.3),
             "smallest angle"));
}

}  // namespace fmbem::test::assess_tests
