#include "fmbem/problems/solution_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

#include <zlib.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/units.hpp"
#include "fmbem/problems/hdf5_image.hpp"

namespace fmbem {
namespace {

/// Of the layout; docs/results.md says what each changed.
constexpr int layout_version = 1;

/// What comes before the HDF5 file proper, which HDF5 passes over: a user block of text.
constexpr std::size_t user_block = 512;
constexpr const char* first_words = "fmbem solution, version ";

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
  FMBEM_REQUIRE(version == layout_version || version <= 0,
                file << " is a solution of version " << version << ", and this fmbem reads version "
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

void add_applied(Hdf5Image& image, const AppliedField& applied) {
  std::vector<double> charges;
  for (const PointCharge& q : applied.charges)
    charges.insert(charges.end(), {q.place.x, q.place.y, q.place.z, q.charge, q.permittivity});
  image.add_group("applied");
  image.add("applied/uniform", coordinates_of({applied.uniform}));
  image.add("applied/charges", charges, 5);
}

std::vector<double> joined(const std::vector<std::vector<double>>& rows) {
  std::vector<double> result;
  for (const std::vector<double>& row : rows) result.insert(result.end(), row.begin(), row.end());
  return result;
}

/// Reads, and says of each thing that does not fit which it is.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file), image_(checked_image(file), file) {}

  KeptSolution read() {
    KeptSolution kept;
    kept.report = image_.read_one<std::string>("report");
    kept.mesh = read_mesh();
    ConductorSolution& solution = kept.solution;
    solution.panels = make_panels(kept.mesh);
    solution.scale_to_m = kept.mesh.scale_to_m;
    solution.conductors = read_conductors(kept.mesh);
    solution.applied = read_applied();
    const std::size_t n = kept.mesh.triangles.size();
    solution.potential = rows("problems/potential", solution.conductors.size());
    solution.charge_density = rows("problems/charge_density", n);
    for (const std::vector<double>& density : rows("problems/density", n))
      solution.sigma.push_back(solution.panels.from_input_order(density));
    require(solution.sigma.size() == solution.potential.size() &&
                solution.sigma.size() == solution.charge_density.size(),
            "problems");
    return kept;
  }

 private:
  void require(bool good, const char* what) const {
    FMBEM_REQUIRE(good, file_ << " is damaged: its " << what << " do not fit");
  }

  template <class T>
  std::vector<T> read(const char* name, std::size_t n) const {
    std::vector<T> values = image_.read<T>(name);
    require(values.size() == n, name);
    return values;
  }

  std::vector<std::vector<double>> rows(const char* name, std::size_t columns) const {
    const std::vector<double> values = image_.read<double>(name);
    require(!values.empty() && columns > 0 && values.size() % columns == 0, name);
    require(std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }),
            name);
    std::vector<std::vector<double>> result;
    for (auto row = values.begin(); row != values.end(); row += std::ptrdiff_t(columns))
      result.emplace_back(row, row + std::ptrdiff_t(columns));
    return result;
  }

  SurfaceMesh read_mesh() const {
    SurfaceMesh mesh;
    for (const std::vector<double>& x : rows("mesh/vertices", 3))
      mesh.vertices.push_back({x[0], x[1], x[2]});
    const auto corners = image_.read<std::int32_t>("mesh/triangles");
    require(!corners.empty() && corners.size() % 3 == 0 && are_below(corners, mesh.vertices.size()),
            "triangles");
    for (std::size_t k = 0; k < corners.size(); k += 3)
      mesh.triangles.push_back({corners[k], corners[k + 1], corners[k + 2]});
    const std::vector<std::string> names = image_.read_texts("mesh/group_names");
    const auto tags = read<std::int32_t>("mesh/group_tags", names.size()),
               named = read<std::int32_t>("mesh/group_named", names.size());
    for (std::size_t g = 0; g < names.size(); ++g)
      mesh.groups.push_back({names[g], tags[g], named[g] != 0});
    const auto group_of = read<std::int32_t>("mesh/group_of", mesh.triangles.size());
    require(are_below(group_of, names.size()), "groups");
    mesh.group_of.assign(group_of.begin(), group_of.end());
    const auto vertex_tags = read<std::int64_t>("mesh/vertex_tags", mesh.vertices.size()),
               triangle_tags = read<std::int64_t>("mesh/triangle_tags", mesh.triangles.size());
    mesh.vertex_tags.assign(vertex_tags.begin(), vertex_tags.end());
    mesh.triangle_tags.assign(triangle_tags.begin(), triangle_tags.end());
    mesh.file = image_.read_one<std::string>("mesh/file");
    mesh.unit = image_.read_one<std::string>("mesh/unit");
    mesh.scale_to_m = image_.read_one<double>("mesh/scale_to_m");
    require(mesh.scale_to_m == metres_in(mesh.unit), "units");
    mesh.closed = image_.read_one<std::int32_t>("mesh/closed") != 0;
    mesh.orientable = image_.read_one<std::int32_t>("mesh/orientable") != 0;
    return mesh;
  }

  static bool are_below(const std::vector<std::int32_t>& indices, std::size_t n) {
    return std::all_of(indices.begin(), indices.end(),
                       [n](std::int32_t i) { return i >= 0 && std::size_t(i) < n; });
  }

  std::vector<Conductor> read_conductors(const SurfaceMesh& mesh) const {
    std::vector<Conductor> conductors;
    for (const std::string& name : image_.read_texts("conductors/names"))
      conductors.push_back({name, {}});
    const auto of_group = read<std::int32_t>("conductors/of_group", mesh.groups.size());
    for (std::size_t g = 0; g < of_group.size(); ++g) {
      if (of_group[g] == -1) continue;
      require(of_group[g] >= 0 && std::size_t(of_group[g]) < conductors.size(), "conductors");
      conductors[of_group[g]].groups.push_back(mesh.groups[g].name);
    }
    return conductors;
  }

  AppliedField read_applied() const {
    AppliedField applied;
    const auto uniform = read<double>("applied/uniform", 3);
    applied.uniform = {uniform[0], uniform[1], uniform[2]};
    const auto charges = image_.read<double>("applied/charges");
    require(charges.size() % 5 == 0, "charges");
    for (std::size_t k = 0; k < charges.size(); k += 5)
      applied.charges.push_back(
          {{charges[k], charges[k + 1], charges[k + 2]}, charges[k + 3], charges[k + 4]});
    return applied;
  }

  std::string file_;
  Hdf5Image image_;
};

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
  image.add("report", std::vector<std::string>{report});
  add_mesh(image, mesh);
  add_conductors(image, mesh, solution.conductors);
  add_applied(image, solution.applied);
  image.add_group("problems");
  std::vector<std::vector<double>> density;
  for (const std::vector<double>& sigma : solution.sigma)
    density.push_back(solution.panels.to_input_order(sigma));
  image.add("problems/potential", joined(solution.potential), solution.conductors.size());
  image.add("problems/density", joined(density), mesh.triangles.size());
  image.add("problems/charge_density", joined(solution.charge_density), mesh.triangles.size());
  const std::string bytes = image.bytes();
  write_whole(path, block_of(layout_version, bytes) + bytes);
}

KeptSolution load_solution(const std::string& file) { return Reader(file).read(); }

}  // namespace fmbem
