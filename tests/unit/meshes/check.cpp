#include "fmbem/meshes/check.hpp"

#include "fmbem/meshes/load.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/small_meshes.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"

namespace fmbem::test::check_tests {

TEST_CASE("the report of a right triangle") {
  const TemporaryFolder folder;
  const MeshReport r = check_mesh(load_mesh(
      folder.write("a.msh", msh2(3, "1 0 0 0\n2 3 0 0\n3 0 4 0\n", 1, "1 2 2 0 1 1 2 3\n"))));
  CHECK(r.panels == 1);
  CHECK(r.vertices == 3);
  CHECK(r.components == 1);
  CHECK(r.area == Approx(6));
  CHECK_FALSE(r.volume.has_value());
  CHECK(r.open_edges == 3);
  CHECK(r.smallest_edge == Approx(3));
  CHECK(r.largest_edge == Approx(5));
  CHECK(r.smallest_angle == Approx(36.86989764584402).epsilon(1e-12));
  CHECK(r.degenerate == 0);
  CHECK(r.box_max == Vec3d{3, 4, 0});
}

TEST_CASE("a needle is counted as degenerate, two components are told apart") {
  const TemporaryFolder folder;
  const MeshReport r = check_mesh(load_mesh(
      folder.write("a.msh", msh2(6, "1 0 0 0\n2 1 0 0\n3 .5 1e-7 0\n4 0 0 1\n5 1 0 1\n6 0 1 1\n", 2,
                                 "1 2 2 0 1 1 2 3\n2 2 2 0 2 4 5 6\n"))));
  CHECK(r.degenerate == 1);
  CHECK(r.components == 2);
  REQUIRE(r.groups.size() == 2);
  CHECK(r.groups[1].name == "component 2");
  CHECK(r.groups[1].area == Approx(0.5));
}

}  // namespace fmbem::test::check_tests
