#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/field_options.hpp"
#include "cli/picture_options.hpp"
#include "cli/report.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem::cli {

/// Of several results each has its name before those of its columns.
std::string prefix_of(const ProblemSolution& solution, std::size_t result);

/// Where a field is asked for, and the files that it goes to: one for each set of points. Of
/// several sets each has its kind and number between the file's stem and its ending: out-cut-1.vti.
class PointOutput {
 public:
  /// Reads the points, but for those of cuts, which need a mesh. Throws InputError for points and
  /// files that do not go together, before anything is solved. A run that is repeated writes
  /// nothing, and needs no file.
  PointOutput(const FieldCommandOptions& where, const std::optional<std::string>& file,
              const std::optional<std::string>& picture, bool is_repeated);

  bool has_points() const { return !sets_.empty(); }
  /// Throws InputError where there are none.
  void require_points() const;
  /// For refuse_overwriting().
  std::vector<std::pair<std::string, std::optional<std::string>>> outputs() const;
  std::vector<std::pair<std::string, std::string>> inputs() const;

  /// Evaluates all results of a problem, or conductors' one problem where there are none, on each
  /// set, tells of the first result and writes; all files appear together. The `results` of the
  /// report.
  Json put_out(Console& console, Json& report, const SurfaceMesh& mesh,
               const ProblemSolution& solution);
  /// Draws what put_out() has evaluated; to be called when all else is written.
  void draw(Console& console) const;

 private:
  struct Asked {
    std::string name;             ///< cut-1
    std::string source;           ///< what the option says
    std::optional<PointSet> set;  ///< none of a cut
    std::optional<std::string> file{}, picture{};
    bool is_plane = false;
  };
  void add_sets();
  void name_files(const std::optional<std::string>& file,
                  const std::optional<std::string>& picture);

  const FieldCommandOptions& where_;
  std::vector<Asked> sets_;
  std::vector<std::unique_ptr<ResultToDraw>> to_draw_;
};

}  // namespace fmbem::cli
