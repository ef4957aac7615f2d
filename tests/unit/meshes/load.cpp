#include "fmbem/meshes/load.hpp"

#include "fmbem/meshes/check.hpp"
#include "fmbem/meshes/refine.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/small_meshes.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"

namespace fmbem::test::load_tests {

namespace {

std::string refusal_of(const std::string& text, const std::string& name = "a.msh") {
  const TemporaryFolder folder;
  const std::string file = folder.write(name, text);
  return refusal([&] { load_mesh(file); });
}

SurfaceMesh loaded(const std::string& text, const std::string& name = "a.msh",
                   const LoadOptions& options = {}) {
  const TemporaryFolder folder;
  return load_mesh(folder.write(name, text), options);
}

LoadOptions sized(double mesh_size, int refine = 0) { return {mesh_size, refine, {}}; }
LoadOptions refined(int times) { return {{}, times, {}}; }
LoadOptions in_unit(const std::string& unit) { return {{}, 0, unit}; }

std::string element(int tag, const std::string& nodes) {
  return std::to_string(tag) + " 2 2 0 1 " + nodes + "\n";
}

const std::string box_geo =
    "SetFactory(\"OpenCASCADE\");\nBox(1) = {0, 0, 0, 1, 1, 1};\n"
    "Physical Surface(\"floor\", 7) = {5};\n";

}  // namespace

TEST_CASE("a tetrahedron is read in the file's order and turned outwards") {
  const SurfaceMesh mesh = loaded(tetrahedron);
  CHECK(mesh.triangle_tags == std::vector<std::size_t>{11, 12, 13, 14});
  CHECK(mesh.vertex_tags == std::vector<std::size_t>{1, 2, 3, 4});
  CHECK(mesh.closed);
  CHECK(mesh.orientable);
  CHECK(mesh.repairs.flipped_triangles == 1);
  CHECK(check_mesh(mesh).volume.value() == Approx(1. / 6).epsilon(1e-14));
  REQUIRE(mesh.groups.size() == 1);
  CHECK(mesh.groups[0].name == "component 1");
  REQUIRE(mesh.notices.size() == 1);
  CHECK(mesh.notices[0] == "1 triangle was turned round to orient the surface");
}

TEST_CASE("files that are no mesh are refused by name") {
  CHECK_THAT(refusal([] { load_mesh("/no/such.msh"); }), contains("no file /no/such.msh"));
  CHECK_THAT(refusal([] { load_mesh("/tmp"); }), contains("not a regular file"));
  CHECK_THAT(refusal_of(""), contains("is empty"));
  for (const char* name : {"a.msh", "a.stl", "a.step", "a.brep", "a.geo"})
    CHECK_THAT(refusal_of("\x01\x7fnoise 3 4 \xff;", name), contains(name));
}

TEST_CASE("no truncated .msh is read as a smaller mesh", "[long][cases]") {
  // The last byte is the line end, without which the file is whole.
  for (std::size_t n = 1; n + 1 < tetrahedron.size(); n += test::sanitized ? 7 : 3)
    CHECK_THAT(refusal_of(tetrahedron.substr(0, n)), contains("damaged or truncated"));
}

TEST_CASE("bad elements are refused by tag") {
  const auto mesh_of = [](const std::string& nodes, const std::string& elements, int n) {
    return refusal_of(msh2(4, nodes, n, elements));
  };
  CHECK_THAT(mesh_of(tetrahedron_nodes, element(5, "1 2 9"), 1),
             contains("5 with the unknown node 9"));
  CHECK_THAT(mesh_of("1 0 0 0\n2 1 0 nan\n3 0 1 0\n4 0 0 1\n", element(5, "1 2 3"), 1),
             contains("element 5") && contains("NaN"));
  CHECK_THAT(mesh_of("1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 0 1\n", element(5, "1 2 3"), 1),
             contains("element 5") && contains("zero area"));
  CHECK_THAT(mesh_of(tetrahedron_nodes, element(5, "1 2 3") + element(6, "2 1 3"), 2),
             contains("5 and 6 are the same triangle"));
  CHECK_THAT(mesh_of(tetrahedron_nodes, "5 4 2 0 1 1 2 3 4\n", 1),
             contains("no surface elements, only volume elements"));
  CHECK_THAT(mesh_of(tetrahedron_nodes, "5 1 2 0 1 1 2\n", 1), contains("no surface elements"));
  CHECK_THAT(mesh_of(tetrahedron_nodes, "5 2 2 1 1 1 2 3\n6 2 2 2 1 1 2 4\n", 2),
             contains("'surface 1' and 'surface 2'"));
}

TEST_CASE("quadrangles are split along the shorter diagonal, order 2 is read by its corners") {
  const SurfaceMesh quad =
      loaded(msh2(4, "1 0 0 0\n2 2 -1 0\n3 4 0 0\n4 2 1 0\n", 1, "8 3 2 0 1 1 2 3 4\n"));
  CHECK(quad.triangles == std::vector<std::array<int, 3>>{{0, 1, 3}, {1, 2, 3}});
  CHECK(quad.triangle_tags == std::vector<std::size_t>{8, 9});
  CHECK(quad.repairs.split_quadrangles == 1);
  const SurfaceMesh curved =
      loaded(msh2(6, tetrahedron_nodes + "5 .5 .1 0\n6 .5 .5 0\n", 1, "3 9 2 0 1 1 2 3 5 6 4\n"));
  CHECK(curved.triangles.size() == 1);
  CHECK(curved.vertices.size() == 3);
  CHECK(curved.repairs.curved_elements == 1);
  // Gmsh lists elements of one order for each surface.
  const std::string nodes = tetrahedron_nodes + "5 .5 0 0\n6 .5 .5 0\n7 0 .5 0\n",
                    plane = "1 2 2 0 1 1 2 4\n2 2 2 0 1 2 3 4\n3 2 2 0 1 3 1 4\n";
  CHECK_THROWS_WITH(loaded(msh2(7, nodes, 4, plane + "4 9 2 0 1 1 3 2 7 6 5\n")),
                    contains("elements of several orders"));
  CHECK(loaded(msh2(7, nodes, 4, plane + "4 9 2 0 2 1 3 2 7 6 5\n")).triangles.size() == 4);
}

TEST_CASE("vertices within 1e-9 of the box are merged, farther ones are not") {
  const auto vertices_with_gap = [](const std::string& gap) {
    return loaded(msh2(6, "1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 0 " + gap + "\n5 0 1 0\n6 1 1 0\n", 2,
                       element(1, "1 2 3") + element(2, "4 6 5")));
  };
  CHECK(vertices_with_gap("1e-10").repairs.merged_vertices == 2);
  CHECK(vertices_with_gap("1e-8").repairs.merged_vertices == 1);
}

TEST_CASE("a Moebius strip and a T-plate are not orientable") {
  const SurfaceMesh strip =
      loaded(msh2(5, "1 1 0 0\n2 .3 .95 .2\n3 -.8 .6 -.3\n4 -.8 -.6 .4\n5 .3 -.95 -.1\n", 5,
                  element(1, "1 2 3") + element(2, "2 3 4") + element(3, "3 4 5") +
                      element(4, "4 5 1") + element(5, "5 1 2")));
  CHECK_FALSE(strip.orientable);
  CHECK(strip.repairs.flipped_triangles == 0);
  const SurfaceMesh plate =
      loaded(msh2(5, "1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 -1 0\n5 0 0 1\n", 3,
                  element(1, "1 2 3") + element(2, "1 2 4") + element(3, "1 2 5")));
  CHECK_FALSE(plate.orientable);
  CHECK(check_mesh(plate).non_manifold_edges == 1);
  CHECK_THAT(plate.notices.at(0), contains("more than two triangles, at (0.5, 0, 0)"));
}

TEST_CASE("facets of an STL are joined, a truncated one is refused") {
  std::string stl = "solid s\n";
  for (const char* facet :
       {"0 0 0,0 1 0,1 0 0", "0 0 0,1 0 0,0 0 1", "0 0 0,0 0 1,0 1 0", "1 0 0,0 1 0,0 0 1"}) {
    stl += "facet normal 0 0 0\nouter loop\n";
    std::string corners = std::string("vertex ") + facet;
    for (std::size_t at; (at = corners.find(',')) != corners.npos;)
      corners.replace(at, 1, "\nvertex ");
    stl += corners + "\nendloop\nendfacet\n";
  }
  const SurfaceMesh mesh = loaded(stl + "endsolid s\n", "a.stl");
  CHECK(mesh.vertices.size() == 4);
  CHECK(mesh.closed);
  CHECK_THAT(refusal_of(stl, "a.stl"), contains("endsolid"));
}

TEST_CASE("geometry is meshed with the size asked for and keeps its groups") {
  const SurfaceMesh mesh = loaded(box_geo, "a.geo", sized(0.25));
  const MeshReport report = check_mesh(mesh);
  CHECK(report.volume.value() == Approx(1).epsilon(1e-12));
  CHECK(report.largest_edge < 0.5);
  REQUIRE(mesh.groups.size() == 2);
  CHECK(mesh.groups[0].name == "floor");
  CHECK(mesh.groups[0].tag == 7);
  CHECK(report.groups[0].area == Approx(1).epsilon(1e-12));
  CHECK(mesh.groups[1].name == "unnamed");
}

TEST_CASE("a sphere gets closer to its area when it is refined") {
  const std::string geo = "SetFactory(\"OpenCASCADE\");\nSphere(1) = {0, 0, 0, 1};\n";
  const auto error = [&](int refine) {
    const SurfaceMesh mesh = loaded(geo, "a.geo", sized(0.4, refine));
    return 4 * 3.14159265358979 - check_mesh(mesh).area;
  };
  const double coarse = error(0), fine = error(1);
  CHECK(coarse > 0);
  CHECK(coarse / fine == Approx(4).epsilon(0.25));
}

TEST_CASE("options that make no sense are refused") {
  const auto with = [](const LoadOptions& options, const std::string& name = "a.msh") {
    return refusal([&] { loaded(tetrahedron, name, options); });
  };
  CHECK_THAT(with(sized(0.1)), contains("holds a mesh already"));
  CHECK_THAT(with(sized(-1.)), contains("positive"));
  CHECK_THAT(with(refined(13)), contains("0 to 12"));
  CHECK_THAT(with(in_unit("inch")), contains("inch"));
  CHECK_THAT(refusal([] { loaded(box_geo, "a.geo", sized(1e-6)); }), contains("triangles"));
  CHECK(loaded(tetrahedron, "a.msh", in_unit("nm")).scale_to_m == 1e-9);
}

TEST_CASE("uniform refinement keeps groups, area and volume") {
  const SurfaceMesh coarse = loaded(tetrahedron), fine = refine_uniformly(coarse, 2);
  CHECK(fine.triangles.size() == 64);
  CHECK(fine.vertices.size() == 34);
  CHECK(check_mesh(fine).volume.value() == Approx(1. / 6).epsilon(1e-14));
  CHECK(check_mesh(fine).area == Approx(check_mesh(coarse).area).epsilon(1e-14));
  CHECK(fine.triangle_tags.back() == 64);
  CHECK_THAT(refusal([&] { refine_uniformly(coarse, 13); }), contains("0 to 12"));
}

}  // namespace fmbem::test::load_tests
