// Numbers of a .geo that are set from outside.

#include "fmbem/meshes/geo_numbers.hpp"

#include "fmbem/meshes/check.hpp"
#include "fmbem/meshes/load.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"

namespace fmbem::test::geo_numbers_tests {

namespace {

using Names = std::vector<std::string>;

const std::string box =
    "SetFactory(\"OpenCASCADE\");\n"
    "DefineConstant[ a = 1, b = {2, Name \"Box/b\", Min 0, Max 3} ];\n"
    "Box(1) = {0, 0, 0, a, b, 1};\n";

}  // namespace

TEST_CASE("numbers are found in DefineConstant, whatever stands around them") {
  CHECK(defined_numbers(box) == Names{"a", "b"});
  CHECK(
      defined_numbers("// DefineConstant[ x = 1 ]\n/* DefineConstant[ y = 1 ] */ n = 2;").empty());
  CHECK(defined_numbers("DefineConstant[ n = 16, // of [edges], and so on\n m = (1 + 2), "
                        "s = \"text\", t = {\"text, more\"}, k ];") == Names{"n", "m", "k"});
  CHECK(defined_numbers("Printf(\"DefineConstant[ x = 1 ]\"); DefineConstant( y = 1 );") ==
        Names{"y"});
  CHECK(defined_numbers("DefineConstant[ n = 1").front() == "n");
  CHECK(defined_numbers("/*").empty());
}

TEST_CASE("numbers that are set are used once, and names of included files are known") {
  const TemporaryFolder folder;
  const std::string file = folder.write("a.geo", box);
  folder.write("numbers.geo", "DefineConstant[ c = 5 ];\n");
  const std::string including = folder.write("b.geo", "Include \"numbers.geo\";\n" + box);
  const auto area = [](const std::string& of, const GeoNumbers& numbers) {
    LoadOptions options;
    options.mesh_size = 0.5;
    options.numbers = numbers;
    return check_mesh(load_mesh(of, options)).area;
  };
  CHECK(area(file, {{"a", 3}}) == Approx(2 * (6 + 3 + 2)));
  CHECK(area(file, {{"b", 1.0 / 3}, {"a", 3}}) == Approx(2 * (1 + 3 + 1.0 / 3)));
  CHECK(area(file, {}) == Approx(10));
  CHECK(numbers_of_file(including) == Names{"a", "b", "c"});
  CHECK(area(including, {{"c", 3}}) == Approx(10));
  const std::string sentence = refusal([&] { area(file, {{"c", 3}}); });
  CHECK(sentence.find("a, b") != std::string::npos);
}

TEST_CASE("files that a script names literally are found, in what it includes, too") {
  const TemporaryFolder folder;
  for (const char* name : {"a.msh", "b.brep", "c.step", "d.msh"}) folder.write(name, "x");
  const std::string inner = folder.write("inner.geo", "If (1)\nMerge \"a.msh\";\nEndIf\n");
  const std::string file = folder.write(
      "outer.geo",
      "Include \"inner.geo\";\nv() = ShapeFromFile( \"b.brep\" );\n// Merge \"d.msh\";\n"
      "Printf(\"Merge c.step\");\nElse Merge \"c.step\";\nMerge \"missing.msh\";\n");
  CHECK(files_of_script(file) ==
        Names{inner, folder.file("a.msh"), folder.file("b.brep"), folder.file("c.step")});
}

}  // namespace fmbem::test::geo_numbers_tests
