#include <cmath>
#include <iterator>
#include <limits>

#include "fmbem/meshes/point_set.hpp"
#include "fmbem/meshes/write_points.hpp"
#include "fmbem/meshes/xyz_file.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"
#include "tests/unit/meshes/vtu_file.hpp"

namespace fmbem::test::points_tests {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

std::string content(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a line has its ends, exactly, and a segment between each two points") {
  const Vec3d a{0.1, 0.2, 0.3}, b{0.7, -1.1, 1e-3};
  const PointSet set = points_on_line(a, b, 4);
  REQUIRE(set.points.size() == 4);
  CHECK(set.points.front() == a);
  CHECK(set.points.back() == b);
  CHECK(norm(set.points[1] - (a + (b - a) / 3.0)) < 1e-15);
  CHECK(points_on_line({-1, 0, 0}, {2, 0, 0}, 7).points[2] == Vec3d{0, 0, 0});
  CHECK(connectivity(set) == std::vector<std::int64_t>{0, 1, 1, 2, 2, 3});
}

TEST_CASE("a plane's points run along the first edge first, and its quadrangles go around") {
  const PointSet set = points_on_plane({1, 1, 1}, {2, 0, 0}, {0, 1, 0}, 3, 2);
  CHECK(set.points ==
        std::vector<Vec3d>{{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {1, 2, 1}, {2, 2, 1}, {3, 2, 1}});
  CHECK(connectivity(set) == std::vector<std::int64_t>{0, 1, 4, 3, 1, 2, 5, 4});
}

TEST_CASE("a box's points run along x, then y, and its hexahedra go around each layer") {
  const PointSet set = points_in_box({0, 0, 0}, {1, 2, 4}, 2, 3, 2);
  REQUIRE(set.points.size() == 12);
  CHECK(set.points[1] == Vec3d{1, 0, 0});
  CHECK(set.points[2] == Vec3d{0, 1, 0});
  CHECK(set.points.back() == Vec3d{1, 2, 4});
  CHECK(connectivity(set) ==
        std::vector<std::int64_t>{0, 1, 3, 2, 6, 7, 9, 8, 2, 3, 5, 4, 8, 9, 11, 10});
  CHECK(steps_of(set) == std::array<Vec3d, 3>{{{1, 0, 0}, {0, 1, 0}, {0, 0, 4}}});
  CHECK_THAT(refusal([] { points_in_box({0, 0, 0}, {1, 0, 1}, 3, 3, 3); }), contains("no volume"));
  CHECK_THAT(refusal([] {
               points_in_box({0, 0, 0}, {1, 1, 1}, 3, 1, 3);
             }),
             contains("a side of a box"));
}

TEST_CASE("a cut lies around a box by a third of its longest side") {
  const PointSet set = points_on_cut({0, 0, 0}, {3, 1, 2}, 1, 0.25, 51);
  CHECK(set.columns == 51);
  CHECK(set.rows == 41);
  CHECK(set.points.front() == Vec3d{-1, 0.25, -1});
  CHECK(norm(set.points.back() - Vec3d{4, 0.25, 3}) < 1e-14);
}

TEST_CASE("lines, planes and points that cannot be are refused") {
  for (const double n : {1.0, 0.0, -3.0, 2.5, 2e8, inf, std::nan("")}) {
    CHECK_THAT(refusal([&] { points_on_line({}, {1, 0, 0}, n); }), contains("a line has 2 to"));
    CHECK_THAT(refusal([&] {
                 points_on_plane({}, {1, 0, 0}, {0, 1, 0}, 3, n);
               }),
               contains("plane has 2 to"));
  }
  CHECK_THAT(refusal([] {
               points_on_plane({}, {1, 0, 0}, {0, 1, 0}, 2e4, 1e4);
             }),
             contains("too many"));
  CHECK_THAT(refusal([] { points_on_line({1, 2, 3}, {1, 2, 3}, 5); }), contains("one point"));
  CHECK_THAT(refusal([] { points_on_plane({}, {}, {0, 1, 0}, 3, 3); }), contains("no length"));
  CHECK_THAT(refusal([] {
               points_on_plane({}, {1, 2, 3}, {-2, -4, -6}, 3, 3);
             }),
             contains("parallel"));
  CHECK(refusal([] { points_on_plane({}, {1e-9, 0, 0}, {0, 1e9, 0}, 3, 3); }).empty());
  for (const double far : {1.01e30, -1e200, inf}) {
    const Vec3d x{0, 0, far};
    CHECK_THAT(refusal([&] { scattered_points({x}); }), contains("too far"));
    CHECK_THAT(refusal([&] { points_on_line({1, 0, 0}, x, 3); }), contains("too far"));
    CHECK_THAT(refusal([&] { points_on_plane({}, {1, 0, 0}, x, 3, 3); }), contains("too far"));
  }
  CHECK(refusal([] { scattered_points({{1e30, -1e30, 1e30}}); }).empty());
}

TEST_CASE("a file of points keeps its numbers and says where it is wrong") {
  const TemporaryFolder folder;
  const PointFile file =
      read_xyz_file(folder.write("a.xyz", "# x y z\n0.1 -2e3,+.5\r\n\n1 2 3 # last"));
  CHECK(file.points == std::vector<Vec3d>{{0.1, -2e3, 0.5}, {1, 2, 3}});
  CHECK(file.charges.empty());
  CHECK(read_xyz_file(folder.write("b.xyz", "1 2 3 4")).charges == std::vector<double>{4});
  CHECK_THAT(refusal([&] { read_xyz_file(folder.write("c.xyz", "1 2 3\n1 2 x")); }),
             contains("c.xyz, line 2"));
}

TEST_CASE("a table of points gives the same numbers back") {
  const TemporaryFolder folder;
  const double nan = std::copysign(std::nan(""), -1.0);
  write_points(folder.file("a.csv"), scattered_points({{0.1, 1e-300, -0.0}, {1, 2, 3}}), "mm",
               {{"potential", "V", {1.0 / 3, 1}}, {"E", "V/m", {1, nan, 3e5, 4, 5, 6}, 3}});
  CHECK(content(folder.file("a.csv")) ==
        "x [mm],y [mm],z [mm],potential [V],Ex [V/m],Ey [V/m],Ez [V/m]\n"
        "0.1,1e-300,-0,0.3333333333333333,1,nan,3e+05\n"
        "1,2,3,1,4,5,6\n");
  write_points(folder.file("a.csv"), scattered_points({{0, 0, 0}}), "",
               {{"force", "", {1, 2, 3}, 3}, {"top at 1 V: E", "V/m", {4, 5, 6}, 3}});
  CHECK(content(folder.file("a.csv")) ==
        "x,y,z,force x,force y,force z,top at 1 V: Ex [V/m],top at 1 V: Ey [V/m],"
        "top at 1 V: Ez [V/m]\n0,0,0,1,2,3,4,5,6\n");
}

TEST_CASE("a .vtu of points has a cell for each kind of set") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.vtu");
  write_points(path, points_on_plane({}, {1, 0, 0}, {0, 1, 0}, 3, 3), "m",
               {{"potential", "V", std::vector<double>(9)}});
  CHECK_THAT(content(path), contains("NumberOfPoints=\"9\" NumberOfCells=\"4\""));
  CHECK_THAT(content(path), contains("<PointData Scalars=\"potential [V]\">"));
  const auto types = [&] { return VtuFile(path).array<std::uint8_t>("types", "UInt8"); };
  CHECK(types() == std::vector<std::uint8_t>(4, 9));
  CHECK(VtuFile(path).array<std::int64_t>("offsets", "Int64") ==
        std::vector<std::int64_t>{4, 8, 12, 16});
  write_points(path, points_on_line({}, {1, 0, 0}, 3), "m",
               {{"E", "V/m", {1, 2, 3, 4, 5, 6, 7, 8, 9}, 3}});
  CHECK(types() == std::vector<std::uint8_t>(2, 3));
  CHECK_THAT(content(path), contains("<PointData Vectors=\"E [V/m]\">"));
  CHECK(VtuFile(path).array<double>("E [V/m]", "Float64") ==
        std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  write_points(path, scattered_points({{0, 0, 0}}), "m", {});
  CHECK(types() == std::vector<std::uint8_t>(1, 1));
}

TEST_CASE("points that cannot be written are refused and nothing is left behind") {
  const TemporaryFolder folder;
  const PointSet one = scattered_points({{0, 0, 0}});
  CHECK_THAT(refusal([&] { check_points_path(folder.file("a.png")); }),
             contains(".csv, .vtu, .vtp or .vti"));
  CHECK_THAT(refusal([] { check_points_path("/no/such/folder/a.csv"); }), contains("cannot write"));
  CHECK(refusal([&] { check_points_path(folder.file("a.csv")); }).empty());
  CHECK_THAT(refusal([&] {
               write_points(folder.file("a.csv"), one, "m", {{"E", "V/m", {1}, 3}});
             }),
             contains("'E'"));
  CHECK_THAT(refusal([&] {
               write_points(folder.file("a.csv"), one, "m", {{"t", "1", {1, 2}, 2}});
             }),
             contains("components"));
  CHECK(folder.entries() == 0);
}

}  // namespace fmbem::test::points_tests
