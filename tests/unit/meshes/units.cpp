// Units: a geometry's own, and that every way to ask for another gives the same lengths.

#include "fmbem/meshes/units.hpp"

#include <gmsh.h>

#include "fmbem/meshes/check.hpp"
#include "fmbem/meshes/load.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"

namespace fmbem::test::units_tests {

namespace {

/// A box of 1 x 2 x 3 mm: Gmsh writes millimetres.
std::string step_box(const TemporaryFolder& folder) {
  gmsh::initialize();
  gmsh::option::setNumber("General.Terminal", 0);
  gmsh::model::add("box");
  gmsh::model::occ::addBox(0, 0, 0, 1, 2, 3);
  gmsh::model::occ::synchronize();
  gmsh::write(folder.file("a.step"));
  gmsh::finalize();
  return folder.file("a.step");
}

/// A line of IGES: 72 columns, or 64 and a pointer to the directory, the section, its number.
std::string iges_line(std::string text, char section, int number, const std::string& pointer = "") {
  text.resize(72 - pointer.size(), ' ');
  std::string count = std::to_string(number);
  count.insert(0, 7 - count.size(), ' ');
  return text + pointer + section + count + "\n";
}

std::string iges_global(const std::string& unit) {
  return iges_line("start; with, anything", 'S', 1) +
         iges_line("1H,,1H;,5H1,2;3,8Ha,b.iges,4Hname,4Hname,32,38,6,308,15,", 'G', 1) +
         iges_line("4Hpart,1.," + unit + ",1,0.01,15H20261123.120000,1.E-6,10.,2Hme,2Hus,11,0,;",
                   'G', 2);
}

/// A rectangle of 4 x 5.5 as a B-spline surface, in the unit of that flag.
std::string iges_rectangle(const std::string& unit) {
  const auto directory = [](std::initializer_list<const char*> fields, int number) {
    std::string text;
    for (std::string field : fields) text += field.insert(0, 8 - field.size(), ' ');
    return iges_line(text, 'D', number);
  };
  return iges_global(unit) + directory({"128", "1", "0", "0", "0", "0", "0", "0", "00000000"}, 1) +
         directory({"128", "0", "0", "3", "0", "", "", "", "0"}, 2) +
         iges_line("128,1,1,1,1,0,0,1,0,0,0.,0.,1.,1.,0.,0.,1.,1.,", 'P', 1, "       1") +
         iges_line("1.,1.,1.,1.,0.,0.,0.,4.,0.,0.,0.,5.5,0.,", 'P', 2, "       1") +
         iges_line("4.,5.5,0.,0.,1.,0.,1.;", 'P', 3, "       1") +
         iges_line("S      1G      2D      2P      3", 'T', 1);
}

SurfaceMesh loaded(const std::string& file, const std::optional<std::string>& unit,
                   std::optional<Length> size = {}) {
  LoadOptions options;
  options.unit = unit;
  options.mesh_size = size;
  return load_mesh(file, options);
}

std::string step_with(const std::string& unit) {
  return "ISO-10303-21;\nDATA;\n#5 = ( " + unit + " );\nENDSEC;\nEND-ISO-10303-21;\n";
}

}  // namespace

TEST_CASE("a STEP file's unit is read from its text") {
  CHECK(unit_of_step(step_with("LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT(.MILLI.,.METRE.)")) == "mm");
  CHECK(unit_of_step(step_with("NAMED_UNIT(*)\n SI_UNIT( $ , .METRE. )\r\n LENGTH_UNIT()")) == "m");
  CHECK(unit_of_step(step_with("LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT(.MICRO.,.METRE.)")) == "um");
  CHECK(unit_of_step(step_with("LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT(.KILO.,.METRE.)")) == "mm");
  const std::string inch =
      "CONVERSION_BASED_UNIT('INCH',#6) LENGTH_UNIT() NAMED_UNIT(#7) );\n"
      "#8 = ( LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT($,.METRE.)";
  CHECK(unit_of_step(step_with(inch)) == "mm");
  CHECK(unit_of_step("") == "mm");
}

TEST_CASE("an IGES file's unit is parameter 14 of its global section") {
  CHECK(unit_of_iges(iges_global("2")) == "mm");
  CHECK(unit_of_iges(iges_global("6")) == "m");
  CHECK(unit_of_iges(iges_global("9")) == "um");
  CHECK(unit_of_iges(iges_global("10")) == "cm");
  CHECK(unit_of_iges(iges_global("1")) == "mm");
  CHECK(unit_of_iges("99999999H") == "mm");
}

TEST_CASE("lengths have a unit of their own, or the mesh's") {
  CHECK(Length("2").in("mm") == 2);
  CHECK(Length("2um").in("mm") == Approx(2e-3).epsilon(1e-15));
  CHECK(Length("2.5e-3 m").in("mm") == Approx(2.5).epsilon(1e-15));
  CHECK(Length("3angstrom").in("nm") == Approx(0.3).epsilon(1e-15));
  for (const char* text : {"", "um", "2 inch", "two", "nan", "1e999", "2,5mm"})
    CHECK(!refusal([&] { Length{std::string(text)}; }).empty());
}

TEST_CASE("CAD files are converted from their unit, and sizes are in the mesh's", "[long]") {
  const TemporaryFolder folder;
  for (const std::string& file : {step_box(folder), folder.write("a.iges", iges_rectangle("2"))}) {
    const SurfaceMesh own = loaded(file, {}, 0.5);
    CHECK(own.unit == "mm");
    CHECK(own.scale_to_m == 1e-3);
    CHECK(check_mesh(own).area == Approx(22).epsilon(1e-12));
    CHECK(loaded(file, {}, Length("500um")).triangles == own.triangles);
    for (const std::string unit : {"m", "cm", "mm", "um", "nm", "angstrom"}) {
      const SurfaceMesh mesh = loaded(file, unit, Length("0.5mm"));
      CHECK(mesh.unit == unit);
      const double in_mm = 1e3 * metres_in(unit);
      CHECK(check_mesh(mesh).area * in_mm * in_mm == Approx(22).epsilon(1e-9));
      CHECK(check_mesh(mesh).largest_edge * in_mm < 0.75);
    }
    CHECK(refusal([&] { loaded(file, {}, Length("2m")); }).find("larger than") !=
          std::string::npos);
    // What a script merges is converted to the script's unit.
    const std::string script = folder.write("a.geo", "Merge \"" + file + "\";\n");
    if (file.ends_with("iges")) {
      CHECK(refusal([&] { loaded(script, "mm", 0.5); }).find("as STEP") != std::string::npos);
      continue;
    }
    CHECK(check_mesh(loaded(script, "mm", 0.5)).area == Approx(22).epsilon(1e-12));
    CHECK(refusal([&] { loaded(script, "nm"); }).find("--unit um") != std::string::npos);
    CHECK(check_mesh(loaded(script, {}, Length("0.5mm"))).area == Approx(22e-6).epsilon(1e-9));
  }
}

TEST_CASE("files without a unit are in the one that is asked for") {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("a.geo", "SetFactory(\"OpenCASCADE\");\nBox(1) = {0, 0, 0, 1, 2, 3};\n");
  CHECK(loaded(file, {}).unit == "m");
  CHECK(check_mesh(loaded(folder.write("b.igs", iges_rectangle("6")), "mm", 500)).area ==
        Approx(22e6).epsilon(1e-12));
  const SurfaceMesh mesh = loaded(file, "um", Length("0.5um"));
  CHECK(mesh.scale_to_m == 1e-6);
  CHECK(check_mesh(mesh).area == Approx(22).epsilon(1e-12));
}

}  // namespace fmbem::test::units_tests
