// What becomes a group: physical surfaces and volumes, parts of assemblies, solids, components.

#include <algorithm>

#include "fmbem/meshes/check.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/units.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"

namespace fmbem::test::names_tests {

namespace {

SurfaceMesh loaded(const std::string& text, const std::string& name = "a.geo") {
  const TemporaryFolder folder;
  LoadOptions options;
  options.mesh_size = 0.5;
  const bool geo = name == "a.geo";
  return load_mesh(folder.write(name, geo ? "SetFactory(\"OpenCASCADE\");\n" + text + "\n" : text),
                   options);
}

using Names = std::vector<std::string>;

Names names(const SurfaceMesh& mesh) {
  Names found;
  for (const Group& group : mesh.groups) found.push_back(group.name);
  return found;
}

/// tests/data/bus.step: an assembly "bus" of the parts VDD, "GND, analog" and plane, boxes of
/// 10 x 1 x 0.5, 10 x 1 x 0.5 and 10 x 3 x 0.5.
std::string bus() {
  std::ifstream file(FMBEM_TEST_DATA "/bus.step");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

const std::string two_boxes = "Box(1) = {0, 0, 0, 1, 1, 1}; Box(2) = {3, 0, 0, 1, 1, 1};";

}  // namespace

TEST_CASE("parts of a STEP assembly are groups") {
  const SurfaceMesh mesh = loaded(bus(), "a.step");
  CHECK(names(mesh) == Names{"VDD", "GND, analog", "plane"});
  const MeshReport report = check_mesh(mesh);
  CHECK(report.groups[0].area == Approx(31).epsilon(1e-9));
  CHECK(report.groups[2].area == Approx(73).epsilon(1e-9));
  CHECK(norm(report.groups[0].box.max - Vec3d{10, 1, 0.5}) < 1e-9);
  CHECK(norm(report.groups[2].box.min - Vec3d{0, 0, -2}) < 1e-9);
  CHECK(
      std::all_of(mesh.groups.begin(), mesh.groups.end(), [](const Group& g) { return g.named; }));
}

TEST_CASE("parts of a STEP file keep their names in units that OpenCASCADE does not know") {
  for (const std::string unit : {"nm", "angstrom"}) {
    LoadOptions options;
    options.unit = unit;
    options.refine = 1;
    options.mesh_size = Length("1mm");
    const TemporaryFolder folder;
    const SurfaceMesh mesh = load_mesh(folder.write("a.step", bus()), options);
    CHECK(names(mesh) == Names{"VDD", "GND, analog", "plane"});
    CHECK(mesh.unit == unit);
    const double in_mm = 1e3 * metres_in(unit);
    CHECK(check_mesh(mesh).groups[0].area * in_mm * in_mm == Approx(31).epsilon(1e-9));
    for (const SizeLimit& limit : mesh.sizes) CHECK(limit.size * in_mm == Approx(1));
  }
}

TEST_CASE("parts of one name are told apart by the occurrence in the assembly") {
  const std::string two_bars =
      replaced(replaced(bus(), "'VDD'", "'bar'"), "'GND, analog'", "'bar'");
  CHECK(names(loaded(two_bars, "a.step")) == Names{"bus/1/bar", "bus/2/bar", "plane"});
}

TEST_CASE("a name that all parts share, and the writer's own, tell nothing") {
  std::string text = bus();
  const std::string own = "'Open CASCADE STEP translator 7.6 1'";
  for (const char* name : {"'VDD'", "'GND, analog'", "'plane'"}) text = replaced(text, name, own);
  const SurfaceMesh mesh = loaded(text, "a.step");
  CHECK(names(mesh) == Names{"component 1", "component 2", "component 3"});
  CHECK(!mesh.groups[0].named);
  // A part without a name beside others with one.
  CHECK(names(loaded(replaced(bus(), "'plane'", own), "a.step")) ==
        Names{"VDD", "GND, analog", "solid 3"});
}

TEST_CASE("physical volumes are groups, physical surfaces come first") {
  CHECK(names(loaded(two_boxes + "Physical Volume(\"b\") = {2}; Physical Volume(\"a\") = {1};")) ==
        Names{"b", "a"});
  CHECK(names(loaded(two_boxes + "Physical Volume(\"both\") = {1, 2};")) == Names{"both"});
  CHECK(names(loaded(two_boxes + "Physical Volume(7) = {1};")) == Names{"volume 7", "solid 2"});
  const SurfaceMesh lid =
      loaded(two_boxes + "Physical Surface(\"lid\") = {6}; Physical Volume(\"rest\") = {1};");
  CHECK(names(lid) == Names{"lid", "rest", "unnamed"});
  CHECK(check_mesh(lid).groups[1].area == Approx(5).epsilon(1e-12));
  const auto glued = [] {
    loaded(
        "Box(1) = {0, 0, 0, 1, 1, 1}; Box(2) = {1, 0, 0, 1, 1, 1}; Coherence;"
        "Physical Volume(\"a\") = {1}; Physical Volume(\"b\") = {2};");
  };
  CHECK(refusal(glued).find("is in two groups, 'a' and 'b'") != std::string::npos);
}

TEST_CASE("names of nothing, and names that two groups have, are told") {
  const auto notices_of = [](const std::string& groups) {
    std::string all;
    for (const std::string& notice : loaded(two_boxes + groups).notices) all += notice + "\n";
    return all;
  };
  CHECK(notices_of("Physical Volume(\"A\") = {1}; Physical Volume(\"B\") = {2};").empty());
  CHECK_THAT(notices_of("Physical Volume(\"A\") = {1}; Physical Volume(\"B\") = {5};"
                        "Physical Surface(\"C\") = {99};"),
             contains("the physical volume \"B\" has nothing in it") &&
                 contains("the physical surface \"C\" has nothing in it"));
  CHECK_THAT(notices_of("Physical Volume(\"C\") = {2}; Physical Surface(\"C\") = {3};"),
             contains("two groups have the name \"C\": the second is called \"C (1)\" here"));
}

TEST_CASE("solids without names that touch are refused by their numbers") {
  const auto touching = [] { loaded("Box(1) = {0, 0, 0, 1, 1, 1}; Box(2) = {1, 0, 0, 1, 1, 1};"); };
  CHECK(refusal(touching).find("the solid 1 and the solid 2 touch there: leave a gap") !=
        std::string::npos);
}

TEST_CASE("surfaces of one solid are one conductor") {
  const SurfaceMesh mesh = loaded(
      "Sphere(1) = {0, 0, 0, 2}; Sphere(2) = {0, 0, 0, 1}; Sphere(3) = {9, 0, 0, 1};"
      "BooleanDifference(4) = { Volume{1}; Delete; }{ Volume{2}; Delete; };");
  CHECK(check_mesh(mesh).components == 3);
  CHECK(names(mesh) == Names{"component 1", "component 2"});
  const MeshReport report = check_mesh(mesh);
  CHECK(std::max(report.groups[0].area, report.groups[1].area) == Approx(62.8).epsilon(0.05));
}

}  // namespace fmbem::test::names_tests
