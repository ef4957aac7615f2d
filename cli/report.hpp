#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/arguments.hpp"
#include "cli/console.hpp"
#include "fmbem/meshes/check.hpp"
#include "fmbem/meshes/mesh.hpp"
#include "fmbem/problems/capacitance.hpp"

namespace fmbem::cli {

using Json = nlohmann::ordered_json;

/// The number, or null where JSON has none for it.
Json number(double value);
Json numbers(const std::vector<double>& values);
Json matrix(const SquareMatrix& values);
/// [x, y, z]
Json coordinates(Vec3d x);
/// A result with its unit, of the whole problem unless another place is named.
Json result_json(Json value, const std::string& unit, const char* location = "mesh");

/// Of reports; docs/results.md says what each changed.
inline constexpr int schema_version = 2;

/// A report with what all commands have: schema_version, version, command, status, warnings and run
/// (docs/report.schema.json).
Json start_report(const std::string& command, const Arguments& arguments);

/// A report of what goes on from a solution in a file: what was solved, and how, is as the report
/// in it has it. Throws InputError where that is none of this schema.
Json continued_report(const std::string& command, const Arguments& arguments,
                      const std::string& earlier, const std::string& file);

/// {file, unit, scale_to_m, panels, vertices, area, closed, groups, sizes}
Json mesh_summary(const SurfaceMesh& mesh, const MeshReport& check);

/// A group's name, panels, area and bounding box.
std::string group_text(const GroupReport& group, const std::string& unit);

/// In one line: the largest and the smallest size that a geometry was meshed with, and why; empty
/// for a file that held a mesh.
std::string sizes_text(const SurfaceMesh& mesh);

/// Tells a sentence to the user and to the report.
void warn(Console& console, Json& report, const std::string& sentence);
void notice(Console& console, Json& report, const std::string& sentence);

/// As it is written; bytes that are no UTF-8 are replaced.
std::string report_text(const Json& report);

/// Where a report goes: --json FILE or --json - for standard output.
class ReportTarget {
 public:
  /// Throws InputError for a path that cannot be written.
  ReportTarget(Console& console, const std::optional<std::string>& path);
  void write(const Json& report);

 private:
  Console& console_;
  std::optional<std::string> path_;
};

}  // namespace fmbem::cli
