#include "fmbem/problems/solution_file.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

#include <zlib.h>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/units.hpp"
#include "fmbem/problems/kept_problem.hpp"

namespace fmbem {
namespace {

/// Of the layout; docs/results.md says what each changed.
constexpr int layout_version = 3, oldest_version = 2;

/// What comes before the HDF5 file proper, which HDF5 passes over: a user block of text.
constexpr std::size_t user_block = 512;
constexpr const char* first_words = "fmbem solution, version ";

/// What holds the imaginary part of what is applied, where permittivities are complex.
constexpr const char* imaginary_group = "imaginary_applied";

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string block_of(int version, std::string_view bytes) {
  char text[user_block] = {};
  std::snprintf(text, sizeof text, "%s%d\ncrc32 of what follows byte 512: %08x\n", first_words,
                version, static_cast<unsigned>(checksum(bytes)));
  return {text, user_block};
}

/// The HDF5 file proper of a file. Throws InputError where it is not as it was written.
std::string checked_image(const std::string& file) {
  std::string bytes = read_file(file);
  FMBEM_REQUIRE(bytes.starts_with(first_words), file << " is no solution that fmbem has kept");
  const int version = std::atoi(bytes.c_str() + std::strlen(first_words));
  FMBEM_REQUIRE((version >= oldest_version && version <= layout_version) || version <= 0,
                file << " is a solution of version " << version
                     << ", and this fmbem reads versions " << oldest_version << " to "
                     << layout_version << ": use the fmbem that wrote it");
  const bool is_whole =
      bytes.size() > user_block &&
      bytes.substr(0, user_block) == block_of(version, std::string_view(bytes).substr(user_block));
  FMBEM_REQUIRE(is_whole, file << " is damaged or cut off: keep the solution again");
  return bytes.erase(0, user_block);
}

std::vector<double> coordinates_of(const std::vector<Vec3d>& points) {
  std::vector<double> result;
  result.reserve(3 * points.size());
  for (const Vec3d& x : points) result.insert(result.end(), {x.x, x.y, x.z});
  return result;
}

void add_mesh(Hdf5Image& image, const SurfaceMesh& mesh) {
  image.add_group("mesh");
  std::vector<std::int32_t> corners, group_tags, named;
  for (const auto& triangle : mesh.triangles)
    corners.insert(corners.end(), triangle.begin(), triangle.end());
  std::vector<std::string> names;
  for (const Group& group : mesh.groups) {
    names.push_back(group.name);
    group_tags.push_back(group.tag);
    named.push_back(group.named);
  }
  image.add("mesh/vertices", coordinates_of(mesh.vertices), 3);
  image.add("mesh/triangles", corners, 3);
  image.add("mesh/group_of", std::vector<std::int32_t>(mesh.group_of.begin(), mesh.group_of.end()));
  image.add("mesh/group_names", names);
  image.add("mesh/group_tags", group_tags);
  image.add("mesh/group_named", named);
  image.add("mesh/vertex_tags",
            std::vector<std::int64_t>(mesh.vertex_tags.begin(), mesh.vertex_tags.end()));
  image.add("mesh/triangle_tags",
            std::vector<std::int64_t>(mesh.triangle_tags.begin(), mesh.triangle_tags.end()));
  image.add("mesh/file", std::vector<std::string>{mesh.file});
  image.add("mesh/unit", std::vector<std::string>{mesh.unit});
  image.add("mesh/scale_to_m", std::vector<double>{mesh.scale_to_m});
  image.add("mesh/closed", std::vector<std::int32_t>{mesh.closed});
  image.add("mesh/orientable", std::vector<std::int32_t>{mesh.orientable});
}

void add_conductors(Hdf5Image& image, const SurfaceMesh& mesh,
                    const std::vector<Conductor>& conductors) {
  std::vector<std::string> names;
  std::vector<std::int32_t> of_group(mesh.groups.size(), -1);
  for (std::size_t c = 0; c < conductors.size(); ++c) {
    names.push_back(conductors[c].name);
    for (const std::string& name : conductors[c].groups)
      for (std::size_t g = 0; g < mesh.groups.size(); ++g)
        if (mesh.groups[g].name == name) of_group[g] = static_cast<std::int32_t>(c);
  }
  image.add_group("conductors");
  image.add("conductors/names", names);
  image.add("conductors/of_group", of_group);
}

/// `group` holds it: of real parts "applied".
void add_applied(Hdf5Image& image, const std::string& group, const AppliedField& applied) {
  std::vector<double> charges, dipoles, lines;
  for (const PointCharge& q : applied.charges)
    charges.insert(charges.end(), {q.place.x, q.place.y, q.place.z, q.charge, q.permittivity});
  for (const PointDipole& p : applied.dipoles)
    dipoles.insert(dipoles.end(), {p.place.x, p.place.y, p.place.z, p.moment.x, p.moment.y,
                                   p.moment.z, p.permittivity});
  for (const LineCharge& line : applied.lines)
    lines.insert(lines.end(), {line.from.x, line.from.y, line.from.z, line.to.x, line.to.y,
                               line.to.z, line.charge, line.permittivity});
  image.add_group(group);
  image.add(group + "/uniform", coordinates_of({applied.uniform}));
  image.add(group + "/zero", coordinates_of({applied.zero}));
  image.add(group + "/charges", charges, 5);
  image.add(group + "/dipoles", dipoles, 7);
  image.add(group + "/lines", lines, 8);
  image.add(group + "/unit", std::vector<double>{applied.unit});
}

/// Those that panels with images have.
void add_planes(Hdf5Image& image, const SymmetryPlanes& planes) {
  std::vector<std::string> kinds;
  std::vector<double> offsets;
  for (const auto& plane : planes.at) {
    kinds.emplace_back(plane ? name(plane->kind) : "");
    offsets.push_back(plane ? plane->offset : 0);
  }
  image.add_group("planes");
  image.add("planes/kinds", kinds);
  image.add("planes/offsets", offsets);
}

/// Reads, and says of each thing that does not fit which it is.
class Reader {
 public:
  explicit Reader(const std::string& file) : arrays_(checked_image(file), file) {}

  KeptSolution read() {
    KeptSolution kept;
    kept.report = arrays_.read_one<std::string>("report");
    kept.mesh = read_mesh();
    ProblemSolution& solution = kept.solution;
    solution.problem.planes = read_planes();
    solution.panels = make_panels(kept.mesh, solution.problem.planes);
    solution.scale_to_m = kept.mesh.scale_to_m;
    solution.conductors = read_conductors(kept.mesh);
    solution.applied = read_applied("applied");
    if (arrays_.has(imaginary_group)) solution.imaginary_applied = read_applied(imaginary_group);
    const std::size_t n = kept.mesh.triangles.size();
    for (const std::vector<double>& density : arrays_.rows("problems/density", n))
      solution.sigma.push_back(solution.panels.from_input_order(density));
    solution.potential = arrays_.rows_of("problems/potential", solution.sigma.size(),
                                         solution.conductors.size(), KeptArrays::Values::or_nan);
    solution.charge_density = arrays_.rows_of("problems/charge_density", solution.sigma.size(), n,
                                              KeptArrays::Values::or_nan);
    if (arrays_.has("regions")) read_problem(arrays_, kept.mesh, solution);
    return kept;
  }

 private:
  SurfaceMesh read_mesh() const {
    SurfaceMesh mesh;
    for (const std::vector<double>& x : arrays_.rows("mesh/vertices", 3))
      mesh.vertices.push_back({x[0], x[1], x[2]});
    const auto corners = arrays_.numbers("mesh/triangles");
    arrays_.require(
        !corners.empty() && corners.size() % 3 == 0 && are_below(corners, mesh.vertices.size()),
        "triangles");
    for (std::size_t k = 0; k < corners.size(); k += 3)
      mesh.triangles.push_back({corners[k], corners[k + 1], corners[k + 2]});
    const std::vector<std::string> names = arrays_.texts("mesh/group_names");
    const auto tags = arrays_.read<std::int32_t>("mesh/group_tags", names.size()),
               named = arrays_.read<std::int32_t>("mesh/group_named", names.size());
    for (std::size_t g = 0; g < names.size(); ++g)
      mesh.groups.push_back({names[g], tags[g], named[g] != 0});
    const auto group_of = arrays_.read<std::int32_t>("mesh/group_of", mesh.triangles.size());
    arrays_.require(are_below(group_of, names.size()), "groups");
    mesh.group_of.assign(group_of.begin(), group_of.end());
    const auto vertex_tags = arrays_.read<std::int64_t>("mesh/vertex_tags", mesh.vertices.size()),
               triangle_tags =
                   arrays_.read<std::int64_t>("mesh/triangle_tags", mesh.triangles.size());
    mesh.vertex_tags.assign(vertex_tags.begin(), vertex_tags.end());
    mesh.triangle_tags.assign(triangle_tags.begin(), triangle_tags.end());
    mesh.file = arrays_.read_one<std::string>("mesh/file");
    mesh.unit = arrays_.read_one<std::string>("mesh/unit");
    mesh.scale_to_m = arrays_.read_one<double>("mesh/scale_to_m");
    arrays_.require(mesh.scale_to_m == metres_in(mesh.unit), "units");
    mesh.closed = arrays_.read_one<std::int32_t>("mesh/closed") != 0;
    mesh.orientable = arrays_.read_one<std::int32_t>("mesh/orientable") != 0;
    return mesh;
  }

  static bool are_below(const std::vector<std::int32_t>& indices, std::size_t n) {
    return std::all_of(indices.begin(), indices.end(),
                       [n](std::int32_t i) { return i >= 0 && std::size_t(i) < n; });
  }

  std::vector<Conductor> read_conductors(const SurfaceMesh& mesh) const {
    std::vector<Conductor> conductors;
    for (const std::string& name : arrays_.texts("conductors/names"))
      conductors.push_back({name, {}});
    const auto of_group = arrays_.read<std::int32_t>("conductors/of_group", mesh.groups.size());
    for (std::size_t g = 0; g < of_group.size(); ++g) {
      if (of_group[g] == -1) continue;
      arrays_.require(of_group[g] >= 0 && std::size_t(of_group[g]) < conductors.size(),
                      "conductors");
      conductors[of_group[g]].groups.push_back(mesh.groups[g].name);
    }
    return conductors;
  }

  AppliedField read_applied(const std::string& group) const {
    const auto name = [&](const char* array) { return group + "/" + array; };
    AppliedField applied;
    const auto uniform = arrays_.read<double>(name("uniform").c_str(), 3);
    applied.uniform = {uniform[0], uniform[1], uniform[2]};
    const auto zero = arrays_.read<double>(name("zero").c_str(), 3);
    applied.zero = {zero[0], zero[1], zero[2]};
    for (const std::vector<double>& q : arrays_.rows(name("charges").c_str(), 5, true))
      applied.charges.push_back({{q[0], q[1], q[2]}, q[3], q[4]});
    for (const std::vector<double>& p : arrays_.rows(name("dipoles").c_str(), 7, true))
      applied.dipoles.push_back({{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, p[6]});
    for (const std::vector<double>& line : arrays_.rows(name("lines").c_str(), 8, true))
      applied.lines.push_back(
          {{line[0], line[1], line[2]}, {line[3], line[4], line[5]}, line[6], line[7]});
    applied.unit = arrays_.read_one<double>(name("unit").c_str());
    return applied;
  }

  SymmetryPlanes read_planes() const {
    SymmetryPlanes planes;
    const std::vector<std::string> kinds = arrays_.texts("planes/kinds", 3);
    const auto offsets = arrays_.read<double>("planes/offsets", 3);
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (const PlaneKind kind : {PlaneKind::ground, PlaneKind::mirror})
        if (kinds[axis] == name(kind)) planes.at[axis] = {kind, offsets[axis]};
    return planes;
  }

  KeptArrays arrays_;
};

void add_solution(Hdf5Image& image, const SurfaceMesh& mesh, const ConductorSolution& solution,
                  const std::string& report) {
  image.add("report", std::vector<std::string>{report});
  add_mesh(image, mesh);
  add_conductors(image, mesh, solution.conductors);
  add_planes(image, planes_of(solution.panels));
  add_applied(image, "applied", solution.applied);
  std::vector<std::vector<double>> density;
  for (const std::vector<double>& sigma : solution.sigma)
    density.push_back(solution.panels.to_input_order(sigma));
  image.add_group("problems");
  image.add("problems/potential", joined(solution.potential), solution.conductors.size());
  image.add("problems/density", joined(density), mesh.triangles.size());
  image.add("problems/charge_density", joined(solution.charge_density), mesh.triangles.size());
}

void write(const std::string& path, const Hdf5Image& image) {
  const std::string bytes = image.bytes();
  write_whole(path, block_of(layout_version, bytes) + bytes);
}

}  // namespace

bool is_solution_file(const std::string& file) {
  check_readable(file);
  std::ifstream in(file, std::ios::binary);
  std::string start(std::strlen(first_words), '\0');
  in.read(start.data(), std::streamsize(start.size()));
  return start == first_words;
}

void save_solution(const std::string& path, const SurfaceMesh& mesh,
                   const ConductorSolution& solution, const std::string& report) {
  Hdf5Image image;
  add_solution(image, mesh, solution, report);
  write(path, image);
}

void save_solution(const std::string& path, const SurfaceMesh& mesh,
                   const ProblemSolution& solution, const std::string& report) {
  Hdf5Image image;
  add_solution(image, mesh, solution, report);
  if (solution.problem.has_losses())
    add_applied(image, imaginary_group, solution.imaginary_applied);
  if (!solution.results.empty()) add_problem(image, mesh, solution);
  write(path, image);
}

KeptSolution load_solution(const std::string& file) { return Reader(file).read(); }

}  // namespace fmbem
