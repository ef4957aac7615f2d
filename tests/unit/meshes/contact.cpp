#include "fmbem/meshes/contact.hpp"

#include <limits>
#include <random>

#include <omp.h>

#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/shape.hpp"
#include "fmbem/meshes/triangle_pair.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/small_meshes.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::contact_tests {

namespace {

/// A box with n × n cells on each face, a group of its own.
void add_block(SurfaceMesh& mesh, const char* name, int n, Vec3d min, Vec3d max) {
  const int group = add_group(mesh, name);
  const Vec3d side = max - min, x{side.x, 0, 0}, y{0, side.y, 0}, z{0, 0, side.z};
  for (const auto& [u, v] : {std::pair{y, x}, {z, y}, {x, z}}) {
    add_grid(mesh, group, n, min, u, v);
    add_grid(mesh, group, n, max, -v, -u);
  }
}

/// The unit cube in 5 × 5 cells a face, and a second one in 4 × 4 with these corners: no vertices
/// of their faces match.
SurfaceMesh two_blocks(Vec3d min, Vec3d max) {
  SurfaceMesh mesh;
  add_block(mesh, "a", 5, {0, 0, 0}, {1, 1, 1});
  add_block(mesh, "b", 4, min, max);
  return mesh;
}

double size(const SurfaceMesh& mesh) {
  const Box box = bounding_box(mesh);
  return norm(box.max - box.min);
}

/// The one contact of a mesh of two groups, which has to be between these.
Contact contact_of(const SurfaceMesh& mesh) {
  const std::vector<Contact> contacts = find_contacts(mesh);
  REQUIRE(contacts.size() == 1);
  CHECK(contacts[0].a == 0);
  CHECK(contacts[0].b == 1);
  return contacts[0];
}

bool in_box(Vec3d x, Vec3d min, Vec3d max) {
  constexpr double margin = 1e-8;
  for (int axis = 0; axis < 3; ++axis)
    if (x[axis] < min[axis] - margin || x[axis] > max[axis] + margin) return false;
  return true;
}

}  // namespace

TEST_CASE("overlapping blocks cross") {
  const Contact c = contact_of(two_blocks({0.53, 0.51, 0.47}, {1.6, 1.7, 1.8}));
  CHECK(c.cross);
  CHECK(c.distance == 0);
  CHECK(in_box(c.place, {0.53, 0.51, 0.47}, {1, 1, 1}));
}

TEST_CASE("blocks that share part of a face, an edge or a corner touch") {
  const auto touch_in = [](Vec3d min, Vec3d max, Vec3d from, Vec3d to) {
    const Contact c = contact_of(two_blocks(min, max));
    CHECK_FALSE(c.cross);
    CHECK(c.distance < 1e-15);
    CHECK(in_box(c.place, from, to));
  };
  touch_in({1, 0.3, 0.4}, {2, 1.3, 1.4}, {1, 0.3, 0.4}, {1, 1, 1});
  touch_in({1, 0.31, 0.42}, {2, 0.57, 0.69}, {1, 0.31, 0.42}, {1, 0.57, 0.69});  // within the face
  touch_in({1, 0.3, 1}, {2, 1.3, 2}, {1, 0.3, 1}, {1, 1, 1});
  touch_in({1, 1, 1}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1});
  touch_in({1, -1, 0.33}, {2, 0, 0.34}, {1, 0, 0.33}, {1, 0, 0.34});  // an edge inside an edge
  touch_in({0, 0, 0}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1});
}

TEST_CASE("a gap below 1e-9 of the size is contact") {
  for (const Vec3d where : {Vec3d{1, 0.3, 0.4}, Vec3d{1, 0.3, 1}, Vec3d{1, 1, 1}})
    for (const double offset : {0.0, 300.0}) {
      const auto with_gap = [&](double part) {
        SurfaceMesh mesh = two_blocks(where, where + Vec3d{1, 1, 1});
        const double gap = part * size(mesh);
        for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
          if (v >= 6 * 36) mesh.vertices[v].x += gap;
          mesh.vertices[v] += offset * Vec3d{1, 1, 1};
        }
        return mesh;
      };
      CAPTURE(where.y, where.z, offset);
      const Contact c = contact_of(with_gap(1e-10));
      CHECK_FALSE(c.cross);
      CHECK(c.distance == Approx(1e-10 * size(with_gap(0))).epsilon(offset > 0 ? 1e-2 : 1e-5));
      CHECK(find_contacts(with_gap(1e-8)).empty());
    }
}

TEST_CASE("a face of one block above the middle of another's is seen") {
  SurfaceMesh mesh;
  const Vec3d x{1, 0, 0}, y{0, 1, 0};
  add_grid(mesh, add_group(mesh, "a"), 1, {}, x, y);
  add_grid(mesh, add_group(mesh, "b"), 1, {0.6, 0.2, 1e-10}, 0.1 * x, 0.1 * y);
  CHECK(contact_of(mesh).distance == Approx(1e-10).epsilon(1e-5));
}

TEST_CASE("thin plates that cross") {
  SurfaceMesh mesh;
  add_grid(mesh, add_group(mesh, "a"), 1, {0, 0, 0}, {1, 0, 0}, {0, 1, 0});
  add_grid(mesh, add_group(mesh, "b"), 1, {0.4, 0.3, -0.2}, {0.1, 0.2, 0}, {0, 0, 1});
  const Contact c = contact_of(mesh);
  CHECK(c.cross);
  CHECK(in_box(c.place, {0.4, 0.3, 0}, {0.5, 0.5, 0}));
}

TEST_CASE("spheres cross, touch nothing, or lie in each other") {
  const auto spheres = [](double radius, Vec3d centre) {
    SurfaceMesh mesh;
    add_ellipsoid(mesh, "a", 3, {1, 1, 1});
    add_ellipsoid(mesh, "b", 3, radius * Vec3d{1, 1, 1}, centre);
    return mesh;
  };
  CHECK(contact_of(spheres(0.8, {0.9, 0.4, 0.3})).cross);
  CHECK(find_contacts(spheres(0.9, {})).empty());
  CHECK(find_contacts(spheres(1, {2.001, 0, 0})).empty());
  CHECK_FALSE(contact_of(spheres(1, {2, 0, 0})).cross);
  CHECK_FALSE(contact_of(spheres(1, {})).cross);
}

TEST_CASE("groups that share a vertex touch there") {
  SurfaceMesh mesh = plate(2);
  add_group(mesh, "other");
  mesh.group_of.back() = 1;
  const Contact c = contact_of(mesh);
  CHECK_FALSE(c.cross);
  CHECK(in_box(c.place, {0.5, 0.5, 0}, {1, 1, 0}));
}

TEST_CASE("panels of one group may touch and overlap, and cross as a notice") {
  CHECK(find_contacts(cube(3)).empty());
  SurfaceMesh twice = plate(3);
  add_grid(twice, 0, 4, {0.1, 0.1, 0}, {1, 0, 0}, {0, 1, 0});     // shared area
  add_grid(twice, 0, 2, {0.11, 0.5, 0}, {0.7, 0, 0}, {0, 0, 1});  // stands on it
  CHECK(find_contacts(twice).empty());
  add_grid(twice, 0, 2, {0.11, 0.51, -0.4}, {0.7, 0.01, 0}, {0, 0, 1});
  const std::vector<Contact> contacts = find_contacts(twice);
  REQUIRE(contacts.size() == 1);
  CHECK(contacts[0].a == contacts[0].b);
  CHECK(contacts[0].cross);
}

TEST_CASE("what a mesh file holds is looked at before it is refined") {
  const TemporaryFolder folder;
  const std::string nodes = "1 0 0 0\n2 1 0 0\n3 0 1 0\n4 .2 .2 -1\n5 .3 .2 1\n6 .2 .3 1\n";
  const auto load = [&](const std::string& groups_of_both, int refine) {
    return load_mesh(folder.write("a.msh", msh2(6, nodes, 2, groups_of_both)), {{}, refine, {}});
  };
  const SurfaceMesh one = load("1 2 2 1 1 1 2 3\n2 2 2 1 1 4 5 6\n", 0);
  CHECK_THAT(one.notices.at(0), contains("\"surface 1\" crosses itself at (0.2"));
  const SurfaceMesh two = load("1 2 2 1 1 1 2 3\n2 2 2 2 2 4 5 6\n", 2);
  CHECK(two.triangles.size() == 32);
  CHECK(two.notices.empty());
  REQUIRE(two.contacts.has_value());
  REQUIRE(two.contacts->size() == 1);
  CHECK(two.contacts->front().cross);
}

TEST_CASE("contacts are the same for any number of threads", "[threads]") {
  SurfaceMesh mesh;
  for (int k = 0; k < 5; ++k) add_ellipsoid(mesh, "a", 3, {1, 1, 1}, {0.9 * k, 0.2 * k, 0.1});
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const std::vector<Contact> one = find_contacts(mesh);
  omp_set_num_threads(3);
  const std::vector<Contact> three = find_contacts(mesh);
  omp_set_num_threads(threads);
  REQUIRE(one.size() >= 4);
  REQUIRE(one.size() == three.size());
  for (std::size_t k = 0; k < one.size(); ++k) {
    CHECK(one[k].b == three[k].b);
    CHECK(one[k].place == three[k].place);
  }
}

namespace {

using Vec3l = Vec3<long double>;
using CornersL = std::array<Vec3l, 3>;

Vec3l wide(Vec3d x) { return {x.x, x.y, x.z}; }

CornersL wide(const Corners& t) { return {wide(t[0]), wide(t[1]), wide(t[2])}; }

long double volume(Vec3l a, Vec3l b, Vec3l c, Vec3l d) { return dot(b - a, cross(c - a, d - a)); }

/// By signs of volumes only.
bool pierces(Vec3l p, Vec3l q, const CornersL& t) {
  if ((volume(t[0], t[1], t[2], p) > 0) == (volume(t[0], t[1], t[2], q) > 0)) return false;
  const bool s = volume(p, q, t[0], t[1]) > 0;
  return s == (volume(p, q, t[1], t[2]) > 0) && s == (volume(p, q, t[2], t[0]) > 0);
}

bool intersect(const CornersL& a, const CornersL& b) {
  for (int k = 0; k < 3; ++k)
    if (pierces(a[k], a[(k + 1) % 3], b) || pierces(b[k], b[(k + 1) % 3], a)) return true;
  return false;
}

/// The point of a triangle that is closest to x: its foot, or else the closest one of the sides.
Vec3l closest(Vec3l x, const CornersL& t) {
  const Vec3l u = t[1] - t[0], v = t[2] - t[0], w = x - t[0];
  const long double uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), det = uu * vv - uv * uv;
  const long double s = (vv * dot(w, u) - uv * dot(w, v)) / det;
  const long double r = (uu * dot(w, v) - uv * dot(w, u)) / det;
  if (s >= 0 && r >= 0 && s + r <= 1) return t[0] + s * u + r * v;
  Vec3l best = t[0];
  for (int k = 0; k < 3; ++k) {
    const Vec3l side = t[(k + 1) % 3] - t[k];
    const long double part = dot(x - t[k], side) / dot(side, side);
    const Vec3l y = t[k] + std::min(1.0L, std::max(0.0L, part)) * side;
    if (norm(y - x) < norm(best - x)) best = y;
  }
  return best;
}

/// By projecting from one triangle to the other and back, which converges to the closest points of
/// convex sets.
long double distance_by_projections(const CornersL& a, const CornersL& b) {
  Vec3l x = a[0], y = closest(x, b), before;
  do {
    before = y;
    x = closest(y, a);
    y = closest(x, b);
  } while (norm(y - before) > 1e-9L);
  return norm(x - y);
}

class RandomTriangles {
 public:
  explicit RandomTriangles(unsigned seed) : engine_(seed) {}

  Corners next(double extent) {
    const Vec3d middle = vector();
    return {middle + extent * vector(), middle + extent * vector(), middle + extent * vector()};
  }

 private:
  Vec3d vector() {
    const double x = uniform_(engine_), y = uniform_(engine_);
    return {x, y, uniform_(engine_)};
  }
  std::mt19937 engine_;
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

void add_corners(SurfaceMesh& mesh, const Corners& t, int group) {
  const int first = static_cast<int>(mesh.vertices.size());
  for (const Vec3d& x : t) add_vertex(mesh, x);
  add_triangle(mesh, first, first + 1, first + 2, group);
}

}  // namespace

TEST_CASE("crossings and distances of random triangles are those of a slow way in long double") {
  RandomTriangles random(1);
  int crossings = 0;
  for (int k = 0; k < 300; ++k) {
    const Corners a = random.next(1.5), b = random.next(1.5);
    const bool cross = intersect(wide(a), wide(b));
    CAPTURE(k, cross);
    CHECK(crossing(a, b, 1e-12).has_value() == cross);
    CHECK_FALSE((cross && separated(a, b, 0)));
    crossings += cross;
    if (cross) continue;
    const ClosestPoints g = gap(a, b);
    CHECK(g.distance == Approx(double(distance_by_projections(wide(a), wide(b)))).margin(2e-5));
    if (separated(a, b, 0.1)) CHECK(g.distance > 0.1);
  }
  CHECK(crossings > 30);
}

TEST_CASE("contacts of random soups are those of all pairs") {
  RandomTriangles random(2);
  for (int k = 0; k < 40; ++k) {
    SurfaceMesh mesh;
    std::vector<Corners> triangles;
    for (int g = 0; g < 3; ++g) add_group(mesh, "a");
    for (int i = 0; i < 90; ++i) {
      triangles.push_back(random.next(0.02 + 0.005 * k));
      add_corners(mesh, triangles.back(), i % 3);
    }
    std::array<std::array<bool, 3>, 3> expected{}, found{};
    for (int i = 0; i < 90; ++i)
      for (int j = 0; j < i; ++j)
        if (intersect(wide(triangles[i]), wide(triangles[j])))
          expected[std::min(i % 3, j % 3)][std::max(i % 3, j % 3)] = true;
    for (const Contact& c : find_contacts(mesh)) found[c.a][c.b] = true;
    CAPTURE(k);
    CHECK(found == expected);
  }
}

TEST_CASE("edges that are nearly parallel keep their digits") {
  // Both cross at (0.5, 0, 0) at an angle of 1e-7, 1e-10 above each other.
  const Corners a{Vec3d{0, 0, 0}, {1, 0, 0}, {0.5, -1, 0}};
  const Corners b{Vec3d{0, -5e-8, 1e-10}, {1, 5e-8, 1e-10}, {0.5, 1, 1}};
  CHECK(gap(a, b).distance == Approx(1e-10).epsilon(1e-3));
}

TEST_CASE("a mesh with what is no number is looked at without harm") {
  SurfaceMesh mesh = two_blocks({2, 0, 0}, {3, 1, 1});
  for (std::size_t v = 0; v < mesh.vertices.size(); v += 7)
    mesh.vertices[v].x = std::numeric_limits<double>::quiet_NaN();
  CHECK_NOTHROW(find_contacts(mesh));
  CHECK(find_contacts(SurfaceMesh{}).empty());
}

}  // namespace fmbem::test::contact_tests
