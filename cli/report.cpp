#include "cli/report.hpp"

#include <algorithm>
#include <cmath>

#include "cli/provenance.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

Json matrix(const SquareMatrix& values) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < values.n; ++i) {
    const auto row = values.values.begin() + static_cast<std::ptrdiff_t>(i * values.n);
    rows.push_back(numbers({row, row + static_cast<std::ptrdiff_t>(values.n)}));
  }
  return rows;
}

Json coordinates(Vec3d x) { return Json::array({number(x.x), number(x.y), number(x.z)}); }

Json result_json(Json value, const std::string& unit, const char* location) {
  return {{"value", std::move(value)}, {"unit", unit}, {"location", location}};
}

Json start_report(const std::string& command, const Arguments& arguments) {
  return {{"schema_version", schema_version},
          {"version", FMBEM_VERSION},
          {"command", command},
          {"status", "solved"},
          {"warnings", Json::array()},
          {"run", provenance(arguments)}};
}

Json continued_report(const std::string& command, const Arguments& arguments,
                      const std::string& earlier, const std::string& file) {
  const Json before = Json::parse(earlier, nullptr, false);
  FMBEM_REQUIRE(before.is_object() && before.value("schema_version", Json()) == schema_version,
                file << " holds no report of schema version " << schema_version
                     << ": use the fmbem that wrote it");
  Json report = start_report(command, arguments);
  for (const char* name :
       {"status", "mesh", "conductors", "problem", "backend", "precision", "tolerance", "operators",
        "solver", "timings_s", "memory_bytes", "device_memory_bytes"})
    if (before.contains(name)) report[name] = before[name];
  return report;
}

namespace {

Json sizes_json(const SurfaceMesh& mesh) {
  Json sizes = Json::array();
  for (const SizeLimit& limit : mesh.sizes)
    sizes.push_back({{"group", mesh.groups[limit.group].name},
                     {"limit", name(limit.reason)},
                     {"size", limit.size},
                     {"place", coordinates(limit.place)},
                     {"panels", limit.triangles}});
  return sizes;
}

std::string words(SizeReason reason) {
  switch (reason) {
    case SizeReason::option:
      return "the size asked for";
    case SizeReason::file:
      return "by Gmsh, or the geometry's own sizes";
    case SizeReason::box:
      return "by the geometry's extent";
    case SizeReason::extent:
      return "by the conductor's extent";
    case SizeReason::curvature:
      return "by curvature";
    case SizeReason::width:
      return "by the width of a face";
    case SizeReason::gap:
      return "by the gap to another conductor";
    case SizeReason::least:
      return "the least by default, a face or a gap asks for less";
    case SizeReason::neighbour:
      return "next to what is finer";
    case SizeReason::edge:
      return "graded towards edges";
  }
  return "";
}

}  // namespace

Json mesh_summary(const SurfaceMesh& mesh, const MeshReport& check) {
  Json groups = Json::array();
  for (const GroupReport& group : check.groups)
    groups.push_back({{"name", group.name},
                      {"panels", group.panels},
                      {"area", number(group.area)},
                      {"box", {coordinates(group.box.min), coordinates(group.box.max)}}});
  return {{"file", mesh.file},      {"unit", mesh.unit},          {"scale_to_m", mesh.scale_to_m},
          {"panels", check.panels}, {"vertices", check.vertices}, {"area", number(check.area)},
          {"closed", mesh.closed},  {"groups", groups},           {"sizes", sizes_json(mesh)}};
}

std::string group_text(const GroupReport& group, const std::string& unit) {
  return printable(group.name) + ": " + counted(group.panels, "panel") + ", area " +
         decimal(group.area) + " " + unit + "^2, from " + place(group.box.min) + " to " +
         place(group.box.max);
}

std::string sizes_text(const SurfaceMesh& mesh) {
  if (mesh.sizes.empty()) return "";
  const auto smaller = [](const SizeLimit& a, const SizeLimit& b) { return a.size < b.size; };
  const auto [least, most] = std::minmax_element(mesh.sizes.begin(), mesh.sizes.end(), smaller);
  const auto told = [&](const SizeLimit& limit) {
    return decimal(limit.size) + " " + mesh.unit + " (" + words(limit.reason) + ")";
  };
  if (least->size == most->size && least->reason == most->reason) return told(*least);
  return "up to " + told(*most) + "; least " + told(*least) + " in " +
         mesh.groups[least->group].name + " at " + place(least->place);
}

void warn(Console& console, Json& report, const std::string& sentence) {
  console.warning(sentence);
  report["warnings"].push_back(sentence);
}

void notice(Console& console, Json& report, const std::string& sentence) {
  console.notice(sentence);
  report["warnings"].push_back(sentence);
}

std::string report_text(const Json& report) {
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

ReportTarget::ReportTarget(Console& console, const std::optional<std::string>& path)
    : console_(console), path_(path) {
  if (!path_) return;
  if (*path_ == "-")
    console_.reserve_stdout();
  else
    OutputFile probe(*path_);
}

void ReportTarget::write(const Json& report) {
  if (!path_) return;
  const std::string text = report_text(report);
  if (*path_ == "-") return console_.write_stdout(text);
  write_whole(*path_, text);
}

}  // namespace fmbem::cli
