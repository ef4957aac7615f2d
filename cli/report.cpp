#include "cli/report.hpp"

#include <cmath>
#include <fstream>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/output_file.hpp"

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

Json start_report(const std::string& command) {
  return {{"schema_version", 1},
          {"version", FMBEM_VERSION},
          {"command", command},
          {"status", "solved"},
          {"warnings", Json::array()}};
}

Json mesh_summary(const SurfaceMesh& mesh, const MeshReport& check) {
  Json groups = Json::array();
  for (const GroupReport& group : check.groups)
    groups.push_back(
        {{"name", group.name}, {"panels", group.panels}, {"area", number(group.area)}});
  return {{"file", mesh.file},
          {"unit", mesh.unit},
          {"scale_to_m", mesh.scale_to_m},
          {"panels", check.panels},
          {"vertices", check.vertices},
          {"area", number(check.area)},
          {"closed", mesh.closed},
          {"groups", groups}};
}

void warn(Console& console, Json& report, const std::string& sentence) {
  console.warning(sentence);
  report["warnings"].push_back(sentence);
}

void notice(Console& console, Json& report, const std::string& sentence) {
  console.notice(sentence);
  report["warnings"].push_back(sentence);
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
  const std::string text = report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (*path_ == "-") return console_.write_stdout(text);
  OutputFile file(*path_);
  std::ofstream stream(file.partial_path());
  stream << text;
  stream.close();
  if (!stream) throw ResourceError("cannot write " + *path_ + ": is the disk full?");
  file.commit();
}

}  // namespace fmbem::cli
