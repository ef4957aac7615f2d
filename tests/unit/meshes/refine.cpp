// Refinement on a geometry: new vertices against the surfaces' equations, which do not involve Gmsh
// and its parameters.

#include "fmbem/meshes/refine.hpp"

#include <cmath>
#include <functional>

#include <omp.h>

#include "fmbem/meshes/check.hpp"
#include "fmbem/meshes/load.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"

namespace fmbem::test::refine_tests {

namespace {

const std::string occ = "SetFactory(\"OpenCASCADE\");\n";

std::vector<SurfaceMesh> levels(const std::string& geo, double mesh_size, int refine) {
  const TemporaryFolder folder;
  return load_mesh_levels(folder.write("a.geo", geo), {mesh_size, refine, {}}, 0);
}

double sum_of_squares(Vec3d x, Vec3d axes) {
  return std::pow(x.x / axes.x, 2) + std::pow(x.y / axes.y, 2) + std::pow(x.z / axes.z, 2);
}

/// Distances from closed surfaces, or values that are as small near them.
struct Surface {
  std::string name, geo;
  double mesh_size, area;
  std::function<double(Vec3d)> off;
};

const double pi = std::acos(-1.);

std::vector<Surface> surfaces() {
  const Vec3d axes{3, 2, 1};
  return {
      {"torus, with two seams", "Torus(1) = {0, 0, 0, 2, 0.5};", 0.4, 4 * pi * pi,
       [](Vec3d x) { return std::hypot(std::hypot(x.x, x.y) - 2, x.z) - 0.5; }},
      {"sphere, with poles", "Sphere(1) = {0, 0, 0, 1};", 0.4, 4 * pi,
       [](Vec3d x) { return norm(x) - 1; }},
      // By Legendre's integrals, with 40 digits.
      {"ellipsoid of splines",
       "Sphere(1) = {0, 0, 0, 1}; Dilate {{0, 0, 0}, {3, 2, 1}} "
       "{ Volume{1}; }",
       0.5, 48.88214630258, [axes](Vec3d x) { return 0.5 * (sum_of_squares(x, axes) - 1); }},
      {"cylinder", "Cylinder(1) = {0, 0, 0, 0, 0, 2, 1};", 0.4, 6 * pi,
       [](Vec3d x) {
         return std::min({std::abs(std::hypot(x.x, x.y) - 1), std::abs(x.z), std::abs(x.z - 2)});
       }},
      {"cone, with an apex", "Cone(1) = {0, 0, 0, 0, 0, 1, 1, 0};", 0.3, (1 + std::sqrt(2.)) * pi,
       [](Vec3d x) { return std::min(std::abs(std::hypot(x.x, x.y) - 1 + x.z), std::abs(x.z)); }},
      {"half of a tilted torus",
       "Torus(1) = {0, 0, 0, 2, 0.5, Pi}; Rotate {{1, 0, 0}, {0, 0, 0}, "
       "Pi/2} { Volume{1}; }",
       0.4, 2 * pi * pi + 0.5 * pi,
       [](Vec3d x) {
         return std::min(std::abs(std::hypot(std::hypot(x.x, x.z) - 2, x.y) - 0.5), std::abs(x.z));
       }},
  };
}

}  // namespace

TEST_CASE("refined vertices lie on the geometry, across seams and at poles") {
  for (const Surface& surface : surfaces()) {
    INFO(surface.name);
    const std::vector<SurfaceMesh> meshes = levels(occ + surface.geo + "\n", surface.mesh_size, 4);
    REQUIRE(meshes.size() == 5);
    const std::size_t n = meshes[0].triangles.size();
    const double angle = check_mesh(meshes[0]).smallest_angle;
    double last = 0;
    for (std::size_t level = 0; level < meshes.size(); ++level) {
      const SurfaceMesh& mesh = meshes[level];
      CHECK(mesh.triangles.size() == n << (2 * level));
      CHECK(
          std::equal(meshes[0].vertices.begin(), meshes[0].vertices.end(), mesh.vertices.begin()));
      double farthest = 0;
      for (const Vec3d& x : mesh.vertices)
        farthest = larger_error(farthest, std::abs(surface.off(x)));
      CHECK(farthest < 1e-9);
      const MeshReport report = check_mesh(mesh);
      CHECK(mesh.closed);
      CHECK(report.volume.value() > 0);
      CHECK(report.smallest_angle > 0.4 * angle);
      REQUIRE(mesh.contacts.has_value());
      CHECK(mesh.contacts->empty());
      // The error of an area falls with the square of the size.
      const double missing = surface.area - report.area;
      CHECK(missing > 0);
      if (level >= 2) CHECK(last / missing == Approx(4).epsilon(0.15));
      last = missing;
    }
  }
}

TEST_CASE("refinement has the same bits for any number of threads", "[threads]") {
  const std::string geo = occ + "Torus(1) = {0, 0, 0, 2, 0.5}; Sphere(2) = {0, 0, 3, 1};\n";
  const int threads = omp_get_max_threads();
  std::vector<std::vector<SurfaceMesh>> of_threads;
  for (const int n : {1, 3}) {
    omp_set_num_threads(n);
    of_threads.push_back(levels(geo, 0.5, 2));
  }
  omp_set_num_threads(threads);
  for (std::size_t level = 0; level < 3; ++level) {
    CHECK(of_threads[0][level].vertices == of_threads[1][level].vertices);
    CHECK(of_threads[0][level].triangles == of_threads[1][level].triangles);
  }
}

TEST_CASE("Gmsh's own geometry kernel and quadrangles are refined too") {
  // A quarter of a cylinder by Gmsh's own kernel, in quadrangles, with a flat lid.
  const std::string geo =
      "Point(1) = {0, 0, 0}; Point(2) = {1, 0, 0}; Point(3) = {0, 1, 0};\n"
      "Circle(1) = {2, 1, 3};\nExtrude {0, 0, 1} { Curve{1}; }\n"
      "Line(20) = {1, 2}; Line(21) = {3, 1}; Curve Loop(1) = {20, 1, 21}; Plane Surface(99) = "
      "{1};\n"
      "Recombine Surface{:};\n";
  const std::vector<SurfaceMesh> meshes = levels(geo, 0.3, 3);
  const SurfaceMesh& fine = meshes.back();
  CHECK(fine.triangles.size() == meshes[0].triangles.size() << 6);
  double farthest = 0;
  for (const Vec3d& x : fine.vertices)
    if (x.z > 0) farthest = larger_error(farthest, std::abs(std::hypot(x.x, x.y) - 1));
  CHECK(farthest < 1e-9);
  CHECK(check_mesh(fine).area == Approx(pi / 2 + pi / 4).epsilon(1e-3));
}

namespace {

/// A sphere's octant whose parameters are far from uniform: u and v are powers of x and y.
class Octant : public Geometry {
 public:
  int searches = 0;
  bool is_flat(int) override { return false; }
  SurfaceParameters periods(int) override { return {0, 0}; }
  std::vector<double> on_surface(int, const std::vector<double>& uv) override {
    std::vector<double> p;
    for (std::size_t i = 0; i < uv.size(); i += 2) {
      const Vec3d x = at(uv[i], uv[i + 1]);
      p.insert(p.end(), {x.x, x.y, x.z});
    }
    return p;
  }
  std::vector<double> derivatives(int, const std::vector<double>& uv) override {
    constexpr double h = 1e-6;
    std::vector<double> d;
    for (std::size_t i = 0; i < uv.size(); i += 2) {
      const double u = uv[i], v = uv[i + 1];
      for (const Vec3d& x :
           {(at(u + h, v) - at(u - h, v)) * (0.5 / h), (at(u, v + h) - at(u, v - h)) * (0.5 / h)})
        d.insert(d.end(), {x.x, x.y, x.z});
    }
    return d;
  }
  std::vector<double> on_curve(int, const std::vector<double>&) override { return {}; }
  std::vector<double> to_curve(int, std::vector<double>&) override { return {}; }
  std::vector<double> to_surface(int, std::vector<double>& p) override {
    ++searches;
    std::vector<double> uv;
    for (std::size_t i = 0; i < p.size(); i += 3) {
      const double r = std::hypot(p[i], p[i + 1], p[i + 2]);
      for (std::size_t k = 0; k < 3; ++k) p[i + k] /= r;
      uv.insert(uv.end(), {std::cbrt(p[i]), std::cbrt(p[i + 1])});
    }
    return uv;
  }
  std::vector<double> curve_on_surface(int, const std::vector<double>&, int, int) override {
    return {};
  }
  static Vec3d at(double u, double v) {
    const double x = u * u * u, y = v * v * v;
    return {x, y, std::sqrt(std::max(0., 1 - x * x - y * y))};
  }
};

}  // namespace

TEST_CASE("vertices are near the middles of edges even if parameters are not") {
  const std::array<SurfaceParameters, 3> corners{{{0.3, 0.3}, {0.9, 0.3}, {0.3, 0.9}}};
  SurfaceMesh mesh;
  for (const auto& [u, v] : corners) mesh.vertices.push_back(Octant::at(u, v));
  mesh.triangles = {{0, 1, 2}};
  mesh.group_of = {0};
  mesh.groups = {{"octant", 0}};
  const auto check = [&](MeshPlaces places, bool searched) {
    Octant octant;
    SurfaceMesh fine = mesh;
    for (int level = 0; level < 3; ++level) fine = refine_on_geometry(fine, places, octant);
    CHECK((octant.searches > 0) == searched);
    CHECK(fine.triangles.size() == 64);
    for (const Vec3d& x : fine.vertices) CHECK(norm(x) == Approx(1).epsilon(1e-12));
    // A triangle whose least angle is 30 degrees and whose edges are halved again and again.
    CHECK(check_mesh(fine).smallest_angle > 15);
  };
  check({{1}, {corners}, {}}, false);
  check({{1}, {{{}, {}, {}}}, {}}, true);  // parameters that nobody knows
}

TEST_CASE("a triangle that is turned round keeps its places") {
  MeshPlaces places{{1}, {{{{0, 0}, {1, 0}, {0, 1}}}}, {{0, 7, 0.1, 0.2}, {1, 8, 0.3, 0.4}}};
  turn_round(places, 0);
  CHECK(places.corners[0][1].v == 1);
  CHECK(places.corners[0][2].u == 1);
  REQUIRE(places.sides.size() == 2);
  CHECK(places.sides[0].side == 1);  // from the old corner 2 to the old corner 1
  CHECK(places.sides[0].curve == 8);
  CHECK(places.sides[0].begin == 0.4);
  CHECK(places.sides[1].side == 2);  // from the old corner 1 to the corner 0
  CHECK(places.sides[1].curve == 7);
  CHECK(places.sides[1].begin == 0.2);
}

}  // namespace fmbem::test::refine_tests
