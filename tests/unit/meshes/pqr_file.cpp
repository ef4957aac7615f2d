#include "fmbem/meshes/pqr_file.hpp"

#include <fstream>
#include <iterator>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/join.hpp"
#include "fmbem/meshes/load.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::pqr_file_tests {

namespace {

const std::string columns =
    "ATOM      1  N   LYS A   1       3.294  10.164 -10.266 -0.3200 1.5000\n";

void check_first(const Atom& atom) {
  CHECK(atom.place == Vec3d{3.294, 10.164, -10.266});
  CHECK(atom.charge == -0.32);
  CHECK(atom.radius == 1.5);
  CHECK(atom.name == "N");
  CHECK(atom.residue == "LYS");
  CHECK(atom.residue_number == "1");
  CHECK(atom.serial == "1");
}

}  // namespace

TEST_CASE("an atom of a PQR file is read however its line is laid out") {
  const TemporaryFolder folder;
  const auto [what, line, chain] = GENERATE(table<std::string, std::string, std::string>({
      {"columns", columns, "A"},
      {"single blanks", "ATOM 1 N LYS A 1 3.294 10.164 -10.266 -0.32 1.5\n", "A"},
      {"no chain", "ATOM 1 N LYS 1 3.294 10.164 -10.266 -0.32 1.5\n", ""},
      {"tabs", "ATOM\t1\tN\tLYS\tA\t1\t3.294\t10.164\t-10.266\t-0.32\t1.5\n", "A"},
      {"carriage returns", "ATOM 1 N LYS A 1 3.294 10.164 -10.266 -0.32 1.5\r\n", "A"},
      {"an element", "ATOM 1 N LYS A 1 3.294 10.164 -10.266 -0.32 1.5 N\n", "A"},
      {"an atom that is none of the chain's", "HETATM 1 N LYS A 1 3.294 10.164 -10.266 -0.32 1.5\n",
       "A"},
      {"no end of line", "ATOM 1 N LYS A 1 3.294 10.164 -10.266 -0.32 1.5", "A"},
      {"numbers that run together", "ATOM 1 N LYS A 1 3.294 10.164-10.266-0.32 1.5\n", "A"},
      {"exponents", "ATOM 1 N LYS A 1 0.3294e1 1.0164E+1 -10.266 -3.2e-1 +1.5\n", "A"},
      {"a serial that runs into the record", "ATOM1 N LYS A 1 3.294 10.164 -10.266 -0.32 1.5\n",
       "A"},
      {"a chain that runs into the number", "ATOM 1 N LYS A1 3.294 10.164 -10.266 -0.32 1.5\n",
       "A"},
      {"a comment behind it", "ATOM 1 N LYS A 1 3.294 10.164 -10.266 -0.32 1.5 # 3\n", "A"},
      {"a comment that touches", "ATOM 1 N LYS A 1 3.294 10.164 -10.266 -0.32 1.5#3\n", "A"},
      {"one more number", "ATOM 1 N LYS A 1 3.294 10.164 -10.266 -0.32 1.5 -7.25\n", "A"},
      {"one more number and no chain", "ATOM 1 N LYS 1 3.294 10.164 -10.266 -0.32 1.5 7\n", ""},
      {"one more number and a comment", "ATOM 1 N LYS A 1 3.294 10.164 -10.266 -0.32 1.5 7 # 8\n",
       "A"},
      {"a chain that is a digit", "ATOM 1 N LYS 7 1 3.294 10.164 -10.266 -0.32 1.5\n", "7"},
      {"such a chain and one more number", "ATOM 1 N LYS 7 1 3.294 10.164 -10.266 -0.32 1.5 2\n",
       "7"},
      {"small letters", "atom 1 N LYS A 1 3.294 10.164 -10.266 -0.32 1.5\n", "A"},
  }));
  INFO(what);
  const Molecule molecule = read_pqr(folder.write("a.pqr", line));
  REQUIRE(molecule.atoms.size() == 1);
  check_first(molecule.atoms[0]);
  CHECK(molecule.atoms[0].chain == chain);
  CHECK(molecule.atoms[0].record == (line[0] == 'H' ? "HETATM" : "ATOM"));
}

TEST_CASE("whole numbers are coordinates where a chain would leave no radius") {
  const TemporaryFolder folder;
  const char* const line =
      GENERATE("ATOM 1 NA ION 1 0 0 3.5 1 2\n", "ATOM 1 NA ION 1 0 0 3.5 1.0 2.0\n");
  const Molecule molecule = read_pqr(folder.write("a.pqr", line));
  REQUIRE(molecule.atoms.size() == 1);
  CHECK(molecule.atoms[0].place == Vec3d{0, 0, 3.5});
  CHECK(molecule.atoms[0].charge == 1);
  CHECK(molecule.atoms[0].radius == 2);
  CHECK(molecule.atoms[0].chain.empty());
}

TEST_CASE("where blanks tell nothing the columns of a PDB file do") {
  const TemporaryFolder folder;
  // Positive coordinates of eight digits, and a name that fills its columns.
  const Molecule molecule = read_pqr(folder.write(
      "a.pqr", "ATOM  10000 HH11AARG A1000A   1234.5671234.5671234.567  0.4600 1.0000\n"));
  REQUIRE(molecule.atoms.size() == 1);
  const Atom& atom = molecule.atoms[0];
  CHECK(atom.place == Vec3d{1234.567, 1234.567, 1234.567});
  CHECK(atom.charge == 0.46);
  CHECK(atom.name == "HH11");
  CHECK(atom.residue == "ARG");
  CHECK(atom.chain == "A");
  CHECK(atom.residue_number == "1000A");
  CHECK(atom.title() == "HH11 of ARG A 1000A");
}

TEST_CASE("records other than atoms are left out, and of several models all but the first") {
  const TemporaryFolder folder;
  const Molecule molecule = read_pqr(folder.write(
      "a.pqr", "REMARK   1 PQR file\r\n# a comment\r\n\r\nMODEL        1\r\n" + columns +
                   "HETATM 2 O ### 7 1 2 3 0 0 # a radius of zero\r\nTER\r\nENDMDL\r\n"
                   "MODEL        2\r\n" +
                   columns + "ENDMDL\r\nCONECT    1    2\r\nEND\r\n"));
  REQUIRE(molecule.atoms.size() == 2);
  check_first(molecule.atoms[0]);
  CHECK(molecule.atoms[0].line == 5);
  CHECK(molecule.atoms[1].radius == 0);
  CHECK(molecule.atoms[1].residue == "###");
  REQUIRE(molecule.notices.size() == 1);
  CHECK_THAT(molecule.notices[0], contains("several models"));
}

TEST_CASE("what is no atom is refused by its line") {
  const TemporaryFolder folder;
  const auto [line, word] = GENERATE(table<std::string, std::string>({
      {"ATOM 1 N LYS A 1 3.294 10.164 -10.266 -0.32\n", "needs serial"},
      {"ATOM 1 N LYS A 1 3.294 10.164 nan -0.32 1.5\n", "z is not finite"},
      {"ATOM 1 N LYS A 1 3.294 10.164 1e999 -0.32 1.5\n", "z is not finite"},
      {"ATOM 1 N LYS A 1 3.294 10.164 0.5 inf 1.5\n", "charge is not finite"},
      {"ATOM 1 N LYS A 1 3.294 10.164 0.5 0.1 -1.5\n", "radius is negative"},
      {"ATOM 1 N LYS A one 3.294 10.164 0.5 0.1 1.5\n", "needs serial"},
      {"ATOM 1 N LYS A 1 3.294 x 0.5 0.1 1.5\n", "needs serial"},
      {"ATOM\n", "needs serial"},
      {"3.294 10.164 0.5 0.1 1.5\n", "no record"},
      {"ATOM 1 N ALA 1 2 1.5 0.5 0.5 1.0\n", "two ways"},  // the chain 1, and no radius?
      {"ATOM 1 N ALA 1 2 1 0 -1 0.5 1.5\n", "two ways"},   // the chain 1, or a column more?
      {"ATOM 1 N ALA A 1 2 3 4 0.5 1.5 0.1 7\n", "needs serial"},
      {"ATOM      1 N    ALA     1000    3.2940   10.1640  -10.2660\n", "needs serial"},
      // Lines of PDB files.
      {"ATOM      1  N   MET A   1      27.340  24.430   2.614  1.00  9.67           N\n",
       "pdb2pqr"},
      {"ATOM      1  N   MET A   1      27.340  24.430   2.614  1.00  9.67           N1+\n",
       "pdb2pqr"},
  }));
  INFO(line);
  const std::string file = folder.write("a.pqr", columns + line);
  const std::string said = refusal([&] { read_pqr(file); });
  CHECK_THAT(said, contains(file + ", line 2"));
  CHECK_THAT(said, contains(word));
}

TEST_CASE("files without atoms and PDB files are refused") {
  const TemporaryFolder folder;
  CHECK_THAT(refusal([&] { read_pqr(folder.write("a.pqr", "REMARK nothing\nEND\n")); }),
             contains("has no atoms"));
  CHECK_THAT(refusal([&] { read_pqr(folder.write("a.pdb", columns)); }), contains("pdb2pqr"));
  CHECK_THAT(refusal([&] { read_pqr(folder.file("none.pqr")); }), contains("there is no file"));
  // Without elements it looks as PQR files with two decimals do, but for the file's records.
  const std::string atom = "ATOM      1  I   ION     1       0.000   0.000   0.000  1.00  3.00\n";
  CHECK(read_pqr(folder.write("born.pqr", atom)).atoms[0].radius == 3);
  for (const char* record : {"HEADER    HYDROLASE\n", "CRYST1   61.300   40.000\n"}) {
    CHECK_THAT(refusal([&] { read_pqr(folder.write("p.txt", record + atom)); }),
               contains("p.txt, line 2") && contains("pdb2pqr"));
    CHECK(read_pqr(folder.write("b.pqr", record + columns)).atoms[0].charge == -0.32);
  }
}

TEST_CASE("a PQR file with a column of potentials reads as the molecule that it is") {
  const TemporaryFolder folder;
  const Molecule before = read_pqr(
      folder.write("a.pqr", columns + "HETATM 2 O HOH -7 -1000.5 2 3.0001 0.125 0\n"
                                      "ATOM 3 CA ALA 1000 3.1415926535 -2e-7 1e20 0.12345678 1\n"
                                      "ATOM 4 CB ALA B 1000A 1 2 3 -0.5 0\n"));
  const std::string file = folder.file("b.pqr");
  write_pqr(file, before.atoms, {-1.5, 2.25, 3, 0.1}, "more");
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK_THAT(text, contains("REMARK more"));
  CHECK_THAT(text, contains(" 1.5000 -1.5\n"));
  const Molecule after = read_pqr(file);
  REQUIRE(after.atoms.size() == 4);
  for (int a = 0; a < 4; ++a) {
    CHECK(after.atoms[a].place == before.atoms[a].place);
    CHECK(after.atoms[a].charge == before.atoms[a].charge);
    CHECK(after.atoms[a].radius == before.atoms[a].radius);
    CHECK(after.atoms[a].title() == before.atoms[a].title());
    CHECK(after.atoms[a].record == before.atoms[a].record);
  }
}

namespace {

/// A tetrahedron as MSMS writes it, with headers or without.
std::string write_msms(const TemporaryFolder& folder, const std::string& stem, bool headers,
                       const std::string& end_of_line = "\n") {
  const auto lines = [&](std::vector<std::string> all) {
    std::string text;
    for (const std::string& line : all) text += line + end_of_line;
    return text;
  };
  const std::vector<std::string> header{"# MSMS solvent excluded surface", "#faces  #sphere"};
  std::vector<std::string> vertices, faces;
  if (headers) {
    vertices = header;
    faces = header;
    vertices.push_back("      4      1  1.00  1.50");
    faces.push_back("      4      1  1.00  1.50");
  }
  for (const char* v :
       {"0.000 0.000 0.000", "1.000 0.000 0.000", "0.000 1.000 0.000", "0.000 0.000 1.000"})
    vertices.push_back("    " + std::string(v) +
                       "     0.267    -0.963     0.000       0       1  0");
  for (const char* f : {"1 3 2", "1 2 4", "1 4 3", "2 3 4"})
    faces.push_back("     " + std::string(f) + "  1      1");
  folder.write(stem + ".vert", lines(vertices));
  folder.write(stem + ".face", lines(faces));
  return folder.file(stem);
}

}  // namespace

TEST_CASE("a surface of MSMS is read from either of its files") {
  const TemporaryFolder folder;
  const bool headers = GENERATE(false, true);
  const std::string stem = write_msms(folder, "a", headers, headers ? "\r\n" : "\n");
  for (const char* format : {".vert", ".face"}) {
    const SurfaceMesh mesh = load_mesh(stem + format, {.unit = "angstrom"});
    REQUIRE(mesh.vertices.size() == 4);
    REQUIRE(mesh.triangles.size() == 4);
    CHECK(mesh.closed);
    CHECK(mesh.vertices[1] == Vec3d{1, 0, 0});
    CHECK(mesh.repairs.flipped_triangles == 0);
  }
}

TEST_CASE("a line that states how many follow is no vertex, even without comments") {
  const TemporaryFolder folder;
  const std::string counts = GENERATE("4\n", "4 1\n", "4 1 1.0 1.5\n", "  4 1 1\n");
  const std::string stem = write_msms(folder, "a", false);
  for (const char* format : {".vert", ".face"}) {
    std::ifstream in(stem + format);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    folder.write(std::string("b") + format, counts + text);
  }
  const SurfaceMesh mesh = load_mesh(folder.file("b.vert"), {.unit = "angstrom"});
  CHECK(mesh.vertices.size() == 4);
  CHECK(mesh.vertices[1] == Vec3d{1, 0, 0});
  CHECK(mesh.triangles.size() == 4);
  // A vertex is as long as those that follow.
  folder.write("c.vert", "3 1 1\n1 0 0\n0 1 0\n0 0 1\n");
  folder.write("c.face", "1 3 2\n1 2 4\n1 4 3\n2 3 4\n");
  CHECK(load_mesh(folder.file("c.face"), {.unit = "angstrom"}).vertices[0] == Vec3d{3, 1, 1});
}

TEST_CASE("surfaces of MSMS that are damaged are refused by file and line") {
  const TemporaryFolder folder;
  const std::string stem = write_msms(folder, "a", false);
  folder.write("b.vert", "0 0 0\n1 0 0\n0 1 0\n0 0 1\n");
  const auto refused = [&](const std::string& faces) {
    folder.write("b.face", faces);
    return refusal([&] { load_mesh(folder.file("b.vert")); });
  };
  CHECK_THAT(refused("1 3 2\n1 2 5\n"), contains("b.face, line 2: 5 is none of the 4 vertices"));
  CHECK_THAT(refused("1 3 2\n1 2 0\n"), contains("b.face, line 2: 0 is none"));
  CHECK_THAT(refused("1 3 2\n1 2.5 3\n"), contains("b.face, line 2: 2.5 is none"));
  CHECK_THAT(refused("1 3\n"), contains("b.face, line 1 has 2 fields"));
  CHECK_THAT(refused("1 3 x\n"), contains("b.face, line 1, field 3 is not a finite number"));
  CHECK_THAT(refused("# nothing\n"), contains("no surface elements"));
  CHECK_THAT(refused("# counts\n4 1 1.0 1.5\n1 3 2 1 1\n1 2 4 1 1\n1 4 3 1 1\n"),
             contains("b.face is damaged or truncated: it announces 4 lines of data behind its "
                      "comments, and has 3"));
  folder.write("b.vert", "0 0 0\n1 0 nan\n");
  CHECK_THAT(refused("1 3 2\n"), contains("b.vert, line 2, field 3 is not a finite number"));
  folder.write("c.vert", "0 0 0\n");
  CHECK_THAT(refusal([&] { load_mesh(folder.file("c.vert")); }), contains("c.face"));
}

TEST_CASE("joined meshes have a group for each component, and the contacts of all") {
  SurfaceMesh two = test::sphere(1);
  two.file = "folder/two.off";
  test::add_ellipsoid(two, "other", 1, {1, 1, 1}, {5, 0, 0});
  SurfaceMesh one = test::sphere(1, 0.5, {1, 0, 0});  // across the first
  one.file = "one.face";
  const SurfaceMesh all = join_meshes({two, one});
  REQUIRE(all.groups.size() == 3);
  CHECK(all.groups[0].name == "two, component 1");
  CHECK(all.groups[1].name == "two, component 2");
  CHECK(all.groups[2].name == "one");
  CHECK(all.file == "folder/two.off, one.face");
  REQUIRE(all.triangles.size() == 96);
  CHECK(all.vertices[all.triangles[64][0]] == one.vertices[one.triangles[0][0]]);
  CHECK(all.group_of[64] == 2);
  REQUIRE(all.contacts->size() == 1);
  CHECK(all.contacts->front().a == 0);
  CHECK(all.contacts->front().b == 2);
  one.file = "elsewhere/one.face";
  SurfaceMesh other = one;
  other.file = "one.off";
  CHECK(join_meshes({one, other}).groups[1].name == "one (2)");
  one.unit = "nm";
  CHECK_THAT(refusal([&] { join_meshes({two, one}); }), contains("elsewhere/one.face is in nm"));
}

}  // namespace fmbem::test::pqr_file_tests
