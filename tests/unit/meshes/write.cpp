#include "fmbem/meshes/write.hpp"

#include <gmsh.h>

#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/small_meshes.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"

using namespace fmbem;

TEST_CASE("a .msh with views is read back with its tags, groups and values") {
  const TemporaryFolder folder;
  const SurfaceMesh mesh = load_mesh(folder.write("a.msh", tetrahedron));
  write_mesh(folder.file("b.msh"), mesh, {{"charge", {1, 2, 3, 4}}, {"other", {5, 6, 7, 8}}});
  const SurfaceMesh back = load_mesh(folder.file("b.msh"));
  CHECK(back.vertices == mesh.vertices);
  CHECK(back.vertex_tags == mesh.vertex_tags);
  CHECK(back.triangles == mesh.triangles);
  CHECK(back.triangle_tags == mesh.triangle_tags);
  CHECK(back.groups[0].name == "component 1");

  gmsh::initialize(0, nullptr, false);
  gmsh::option::setNumber("General.Terminal", 0);
  gmsh::open(folder.file("b.msh"));
  std::vector<int> views;
  gmsh::view::getTags(views);
  REQUIRE(views.size() == 2);
  std::string type;
  std::vector<std::size_t> tags;
  std::vector<std::vector<double>> values;
  double time = 0;
  int components = 0;
  gmsh::view::getModelData(views[1], 0, type, tags, values, time, components);
  CHECK(tags == mesh.triangle_tags);
  CHECK(values == std::vector<std::vector<double>>{{5}, {6}, {7}, {8}});

  // A Gmsh that the caller runs is left as it was.
  gmsh::option::setNumber("Mesh.MeshSizeMax", 3);
  std::string before, after;
  gmsh::model::getCurrent(before);
  load_mesh(folder.file("a.msh"));
  gmsh::model::getCurrent(after);
  double size = 0;
  gmsh::option::getNumber("Mesh.MeshSizeMax", size);
  CHECK(after == before);
  CHECK(size == 3);
  gmsh::finalize();
}

TEST_CASE("a .vtu names its fields in XML") {
  const TemporaryFolder folder;
  const SurfaceMesh mesh = load_mesh(folder.write("a.msh", tetrahedron));
  write_mesh(folder.file("b.vtu"), mesh, {{"a<b & \"c\"", {1, 2, 3, 4}}});
  std::ifstream in(folder.file("b.vtu"));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK_THAT(text, contains("Name=\"a&lt;b &amp; &quot;c&quot;\""));
  CHECK_THAT(text, contains("NumberOfPoints=\"4\" NumberOfCells=\"4\""));
  // 32 bytes, then 1.0, 2.0, 3.0, 4.0
  CHECK_THAT(text, contains("IAAAAAAAAAAAAAAAAADwPwAAAAAAAABAAAAAAAAACEAAAAAAAAAQQA=="));
}

TEST_CASE("output paths that cannot be written are refused and nothing is left behind") {
  const TemporaryFolder folder;
  CHECK_THAT(refusal([&] { check_output_path(folder.file("a.png")); }), contains(".vtu"));
  CHECK_THAT(refusal([] { check_output_path("/no/such/folder/a.vtu"); }),
             contains("cannot write /no/such/folder/a.vtu"));
  CHECK(refusal([&] { check_output_path(folder.file("a.vtu")); }).empty());
  CHECK_THAT(refusal([&] { write_mesh(folder.file("a.vtu"), {}, {{"f", {1}}}); }), contains("'f'"));
  CHECK(folder.entries() == 0);
}

TEST_CASE("an output file appears by commit alone") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.json");
  { const OutputFile abandoned(path); }
  CHECK(folder.entries() == 0);
  {
    const OutputFile interrupted(path);
    CHECK(folder.entries() == 1);
    remove_partial_output();
    CHECK(folder.entries() == 0);
  }
  OutputFile file(path);
  std::ofstream(file.partial_path()) << "whole";
  CHECK_FALSE(std::filesystem::exists(path));
  file.commit();
  CHECK(std::filesystem::file_size(path) == 5);
  CHECK(folder.entries() == 1);
}
