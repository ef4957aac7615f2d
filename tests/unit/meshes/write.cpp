#include "fmbem/meshes/write.hpp"

#include <cmath>
#include <cstring>

#include <gmsh.h>
#include <omp.h>

#include "fmbem/meshes/join.hpp"
#include "fmbem/meshes/load_here.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/vertex_means.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/small_meshes.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"
#include "tests/unit/meshes/vtu_file.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::write_tests {

namespace {

/// Of the second of two views that Gmsh has.
struct SecondView {
  SecondView() {
    std::vector<int> views;
    gmsh::view::getTags(views);
    REQUIRE(views.size() == 2);
    double time = 0;
    int components = 0;
    gmsh::view::getModelData(views[1], 0, type, tags, values, time, components);
  }
  std::string type;
  std::vector<std::size_t> tags;
  std::vector<std::vector<double>> values;
};

}  // namespace

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
  const SecondView view;
  CHECK(view.tags == mesh.triangle_tags);
  CHECK(view.values == std::vector<std::vector<double>>{{5}, {6}, {7}, {8}});

  // A Gmsh that the caller runs is left as it was.
  gmsh::option::setNumber("Mesh.MeshSizeMax", 3);
  std::string before, after;
  gmsh::model::getCurrent(before);
  load_mesh_levels_here(folder.file("a.msh"), {}, 0);
  gmsh::model::getCurrent(after);
  double size = 0;
  gmsh::option::getNumber("Mesh.MeshSizeMax", size);
  CHECK(after == before);
  CHECK(size == 3);
  gmsh::finalize();
}

TEST_CASE("values at vertices are beside those of panels of the same name") {
  const TemporaryFolder folder;
  const SurfaceMesh mesh = load_mesh(folder.write("a.msh", tetrahedron));
  const std::vector<PanelField> panels{{"phi [V]", {1, 2, 3, 4}}};
  const std::vector<VertexField> vertices{{"phi [V]", {5, 6, 7, 8}}};
  write_mesh(folder.file("b.msh"), mesh, panels, vertices);
  const std::vector<ElementData> read = read_element_data(folder.file("b.msh"));
  REQUIRE(read.size() == 1);
  CHECK(read[0].name == "phi [V]");
  CHECK(read[0].values == panels[0].values);
  CHECK(load_mesh(folder.file("b.msh")).triangles == mesh.triangles);

  gmsh::initialize(0, nullptr, false);
  gmsh::option::setNumber("General.Terminal", 0);
  gmsh::open(folder.file("b.msh"));
  const SecondView view;
  std::string name;
  gmsh::option::getString("View[1].Name", name);
  gmsh::finalize();
  CHECK(view.type == "NodeData");
  CHECK(name == "phi [V], at vertices");
  CHECK(view.tags == mesh.vertex_tags);
  CHECK(view.values == std::vector<std::vector<double>>{{5}, {6}, {7}, {8}});

  write_mesh(folder.file("b.vtu"), mesh, panels, vertices);
  CHECK(read_cell_data(folder.file("b.vtu"), "phi [V]") == panels[0].values);
  const VtuFile vtu(folder.file("b.vtu"));
  CHECK_THAT(vtu.text, contains("<CellData Scalars=\"phi [V]\">"));
  CHECK(vtu.array<double>("phi [V]", "Float64") == vertices[0].values);  // points' come first
}

TEST_CASE("means at vertices are by area, of one surface each") {
  SurfaceMesh mesh;  // two panels, of areas 1/2 and 3/2
  mesh.file = "a.off";
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-3, 0, 0}};
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  mesh.group_of = {0, 0};
  mesh.groups.emplace_back();
  const std::vector<double> values{2, 10};
  CHECK(vertex_means(mesh, values) == std::vector<double>{8, 2, 8, 10});
  // One more surface in the same places keeps its own.
  const std::vector<double> both{2, 10, -2, -10};
  CHECK(vertex_means(join_meshes({mesh, mesh}), both) ==
        std::vector<double>{8, 2, 8, 10, -8, -2, -8, -10});
  CHECK_THROWS_WITH(vertex_means(mesh, both), contains("4 values for 2 panels"));
}

TEST_CASE("names that MSH cannot hold are read back as like them as can be, each its own") {
  const TemporaryFolder folder;
  SurfaceMesh mesh = load_mesh(folder.write("a.msh", tetrahedron));
  std::string longest;
  for (int k = 0; k < 150; ++k) longest += "é";
  mesh.groups = {{"\"a\"\nb", 0}, {"'a' b", 0}, {longest, 0}, {longest, 0}};
  mesh.group_of = {0, 1, 2, 3};
  write_mesh(folder.file("b.msh"), mesh, {});
  const std::vector<Group> groups = load_mesh(folder.file("b.msh")).groups;
  REQUIRE(groups.size() == 4);
  CHECK(groups[0].name == "'a' b");
  CHECK(groups[1].name == "'a' b (2)");
  CHECK(groups[2].name == longest.substr(0, 108));
  CHECK(groups[3].name == longest.substr(0, 108) + " (4)");
}

TEST_CASE("a .vtu names its fields and groups in XML and holds their values") {
  const TemporaryFolder folder;
  SurfaceMesh mesh = load_mesh(folder.write("a.msh", tetrahedron));
  mesh.groups = {{"V<D", 0}, {"G\xff", 0}};
  mesh.group_of = {0, 0, 1, 1};
  write_mesh(folder.file("b.vtu"), mesh, {{"a<b & \"c\"", {1, 2, 3, 4}}});
  const VtuFile vtu(folder.file("b.vtu"));
  CHECK_THAT(vtu.text, contains("<CellData Scalars=\"a&lt;b &amp; &quot;c&quot;\">"));
  CHECK_THAT(vtu.text, contains("NumberOfPoints=\"4\" NumberOfCells=\"4\""));
  CHECK(vtu.array<double>("a&lt;b &amp; &quot;c&quot;", "Float64") ==
        std::vector<double>{1, 2, 3, 4});
  CHECK(vtu.array<std::int32_t>("group", "Int32") == mesh.group_of);
  CHECK(vtu.array<std::int32_t>("V&lt;D", "Int32") == std::vector<std::int32_t>{0});
  CHECK(vtu.array<std::int32_t>("G?", "Int32") == std::vector<std::int32_t>{1});
  CHECK(vtu.array<std::int64_t>("offsets", "Int64") == std::vector<std::int64_t>{3, 6, 9, 12});
  CHECK(vtu.array<std::uint8_t>("types", "UInt8") == std::vector<std::uint8_t>(4, 5));
  CHECK(vtu.array<std::int64_t>("vertex_tag", "Int64").size() == 4);
  CHECK(vtu.array<std::int64_t>("element_tag", "Int64").size() == 4);
}

TEST_CASE("arrays of a .vtu have names of their own where XML makes them the same") {
  const TemporaryFolder folder;
  SurfaceMesh mesh = load_mesh(folder.write("a.msh", tetrahedron));
  mesh.groups = {{"a\tb", 0}, {"a b", 0}, {"\xe9", 0}, {"?", 0}};
  mesh.group_of = {0, 1, 2, 3};
  write_mesh(folder.file("b.vtu"), mesh, {{"\n", {1, 2, 3, 4}}, {" ", {5, 6, 7, 8}}});
  const VtuFile vtu(folder.file("b.vtu"));
  for (const auto& [name, number] :
       {std::pair("a b", 0), std::pair("a b (2)", 1), std::pair("?", 2), std::pair("? (4)", 3)})
    CHECK(vtu.array<std::int32_t>(name, "Int32") == std::vector<std::int32_t>{number});
  CHECK(vtu.array<double>(" ", "Float64").front() == 1);
  CHECK(vtu.array<double>("  (2)", "Float64").front() == 5);
  const std::vector<Group> back = load_mesh(folder.file("b.vtu")).groups;
  REQUIRE(back.size() == 4);
  CHECK(back[1].name == "a b (2)");
}

TEST_CASE("views of a .msh have names that it can hold, each its own") {
  const TemporaryFolder folder;
  const SurfaceMesh mesh = load_mesh(folder.write("a.msh", tetrahedron));
  const std::string longest(300, 'x');
  std::vector<PanelField> fields;
  for (const std::string& name : {std::string("a\n\"b\""), std::string("a 'b'"), longest, longest})
    fields.push_back({name, {double(fields.size()), 2, 3, 4}});
  write_mesh(folder.file("b.msh"), mesh, fields);
  CHECK(load_mesh(folder.file("b.msh")).triangles == mesh.triangles);
  const std::vector<ElementData> read = read_element_data(folder.file("b.msh"));
  REQUIRE(read.size() == 4);
  CHECK(read[0].name == "a 'b'");
  CHECK(read[1].name == "a 'b' (2)");
  CHECK(read[2].name == longest.substr(0, 220));
  CHECK(read[3].name == longest.substr(0, 220) + " (4)");
  for (std::size_t k = 0; k < read.size(); ++k) CHECK(read[k].values == fields[k].values);
}

TEST_CASE("a text that is printable is UTF-8 without control characters") {
  CHECK(printable("V\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80") ==
        "V\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  CHECK(printable("a\nb\tc\x1b[1m\x7f\xc2\x9b") == "a b c [1m  ");
  CHECK(printable("\xe9 \xc3") == "? ?");
  CHECK(printable("\xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf") == "?? ??? ????");  // too long
  CHECK(printable("\xed\xa0\x80 \xf4\x90\x80\x80") == "??? ????");  // a surrogate, beyond the last
  CHECK(printable("\xef\xbf\xbd\xef\xbf\xbe\xef\xbf\xbf") == "\xef\xbf\xbd??????");
}

TEST_CASE("a .vtu of many blocks is the same for any number of threads", "[threads]") {
  const TemporaryFolder folder;
  const SurfaceMesh mesh = test::sphere(7);  // 131,072 panels: up to 12 blocks an array
  std::vector<double> charge;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) charge.push_back(std::sin(0.1 * i));
  const int threads = omp_get_max_threads();
  std::vector<std::string> files;
  for (const int n : {1, 2, 5}) {
    omp_set_num_threads(n);
    write_mesh(folder.file("a.vtu"), mesh, {{"charge", charge}});
    files.push_back(VtuFile(folder.file("a.vtu")).text);
  }
  omp_set_num_threads(threads);
  CHECK((files[1] == files[0]));
  CHECK((files[2] == files[0]));
  const VtuFile vtu(folder.file("a.vtu"));
  CHECK((vtu.array<double>("charge", "Float64") == charge));
  const std::vector<std::int32_t> corners = vtu.array<std::int32_t>("connectivity", "Int32");
  const std::vector<double> points = vtu.array<double>("Points", "Float64");
  REQUIRE(corners.size() == 3 * mesh.triangles.size());
  REQUIRE(points.size() == 3 * mesh.vertices.size());
  CHECK(std::memcmp(corners.data(), mesh.triangles.data(), 4 * corners.size()) == 0);
  CHECK(std::memcmp(points.data(), mesh.vertices.data(), 8 * points.size()) == 0);
}

TEST_CASE("output paths that cannot be written are refused and nothing is left behind") {
  const TemporaryFolder folder;
  CHECK_THAT(refusal([&] { check_output_path(folder.file("a.png")); }), contains(".vtu"));
  CHECK_THAT(refusal([] { check_output_path("/no/such/folder/a.vtu"); }),
             contains("cannot write /no/such/folder/a.vtu"));
  CHECK(refusal([&] { check_output_path(folder.file("a.vtu")); }).empty());
  CHECK_THAT(refusal([&] { write_mesh(folder.file("a.vtu"), {}, {{"f", {1}}}); }), contains("'f'"));
  CHECK_THAT(refusal([&] {
               write_mesh(folder.file("a.msh"), {}, {}, {{"f", {1}}});
             }),
             contains("'f' has 1 values, and the mesh 0 vertices"));
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

}  // namespace fmbem::test::write_tests
