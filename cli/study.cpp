#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "cli/commands.hpp"
#include "cli/report.hpp"
#include "cli/study_cases.hpp"
#include "cli/study_options.hpp"
#include "cli/study_pictures.hpp"
#include "cli/study_runner.hpp"
#include "cli/study_tables.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/solvers/petsc_session.hpp"

namespace fmbem::cli {
namespace {

/// What a study is, and where it ran first.
Json study_json(const StudyOptions& options, std::size_t runs) {
  Json json = start_report("study");
  json.erase("status");
  json.erase("warnings");
  json["arguments"] = study_arguments(options);
  json["runs"] = runs;
  json["libraries"] = {{"PETSc", petsc_version()}, {"compiler", FMBEM_COMPILER}};
  json["machine"] = {{"cores", available_cores()}, {"memory_bytes", available_memory()}};
  return json;
}

void write_whole(const std::string& path, const std::string& text) {
  OutputFile file(path);
  std::ofstream out(file.partial_path());
  out << text;
  out.close();
  if (!out) throw ResourceError("cannot write " + path + ": is the disk full?");
  file.commit();
}

/// Writes study.json, or checks that what is there is of the same study.
void begin_or_resume(const StudyOptions& options, std::size_t runs) {
  namespace fs = std::filesystem;
  const std::string path = options.folder + "/study.json";
  if (!fs::exists(path)) {
    FMBEM_REQUIRE(!fs::exists(options.folder + "/runs.csv"),
                  options.folder << " has tables without study.json: use another folder");
    write_whole(path, study_json(options, runs).dump(2) + "\n");
    return;
  }
  std::ifstream stream(path);
  const Json former = Json::parse(stream, nullptr, false);
  FMBEM_REQUIRE(former.is_object() && former.contains("arguments"),
                path << " is no study: use another folder");
  const Json wanted = study_arguments(options);
  for (const auto& [name, value] : wanted.items())
    FMBEM_REQUIRE(former["arguments"].value(name, Json()) == value,
                  options.folder << " has a study with another --" << name << ", "
                                 << former["arguments"].value(name, Json()).dump() << ", not "
                                 << value.dump() << ": use another folder, or the same options");
}

/// "about 3 min left"
std::string time_left(double seconds) {
  if (seconds < 90) return "about " + std::to_string(int(seconds + 0.5)) + " s left";
  if (seconds < 90 * 60) return "about " + std::to_string(int(seconds / 60 + 0.5)) + " min left";
  return "about " + std::to_string(int(seconds / 3600 + 0.5)) + " h left";
}

void check_before_meshes(const StudyOptions& options, const std::vector<StudyCase>& cases) {
  std::set<std::string> seen;
  for (const StudyCase& one : cases)
    if (seen.insert(one.method).second)
      check_krylov_options({one.petsc.begin(), one.petsc.begin() + 2});
  for (const std::string& backend : options.backends)
    if (backend == "cuda") require_cuda_device();
}

ExitCode run_study(Context& context, const StudyOptions& options) {
  Console& console = context.console;
  const std::vector<StudyCase> cases = study_cases(options);
  FMBEM_REQUIRE(!options.folder.empty(), "a study needs a folder for its tables: --out DIR");
  set_threads(options.threads.value_or(available_cores()));
  start_petsc(context.arguments.petsc);
  check_before_meshes(options, cases);
  StudyRunner runner(options, console);

  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  FMBEM_REQUIRE(!error, "cannot make the folder " << options.folder << ": " << error.message());
  begin_or_resume(options, cases.size());
  GrowingTable runs(options.folder + "/runs.csv", run_columns());
  GrowingTable history(options.folder + "/history.csv", history_columns());
  GrowingTable spectrum(options.folder + "/spectrum.csv", spectrum_columns());
  const std::set<int> done = runs.runs();
  history.keep_only(done);  // a run that was ended between its tables is run again
  spectrum.keep_only(done);
  if (!done.empty())
    console.notice("going on with the study in " + options.folder + ": " +
                   std::to_string(done.size()) + " of " + std::to_string(cases.size()) +
                   " runs are there");

  const Timer timer;
  std::size_t ran = 0, failed = 0;
  for (const StudyCase& one : cases) {
    if (done.count(one.run) > 0) continue;
    console.progress("run " + std::to_string(one.run) + " of " + std::to_string(cases.size()));
    const StudyRows rows = runner.run(one);
    if (!rows.history.empty()) history.append(rows.history);
    if (!rows.spectrum.empty()) spectrum.append(rows.spectrum);
    runs.append(rows.run);  // the last one: with it the run is done
    ++ran;
    if (rows.failed) ++failed;
    const std::size_t left = cases.size() - done.size() - ran;
    console.print("[" + std::to_string(one.run) + "/" + std::to_string(cases.size()) + "] " +
                  rows.line +
                  (left > 0 ? "; " + time_left(timer.seconds() / double(ran) * double(left)) : ""));
  }
  if (failed > 0)
    console.warning(std::to_string(failed) + " of " + std::to_string(ran) +
                    " runs failed: runs.csv has the reasons");
  console.print("wrote " + options.folder + "/runs.csv, history.csv, spectrum.csv and study.json");
  try {
    plot_study(console, options.folder);
  } catch (const Error& e) {
    console.notice(e.what());
  }
  return ExitCode::solved;
}

}  // namespace

Command add_study(CLI::App& program) {
  auto options = std::make_shared<StudyOptions>();
  CLI::App* app = program.add_subcommand(
      "study", "Compare Krylov methods, preconditioners and formulations: the product of choices");
  app->footer(
      "Examples:\n"
      "  fmbem study examples/cube.geo --refine 0,1 --pc cluster,none --rhs source --out cube\n"
      "  fmbem study --plot cube");
  add_study_options(*app, *options);
  const Run run = [options, app](Context& context) {
    if (!options->file.empty()) read_study_file(*app, options->file);
    context.console.set_quiet(options->quiet);
    if (options->plot) {
      FMBEM_REQUIRE(options->meshes.empty() && options->folder.empty(),
                    "--plot DIR makes pictures alone: leave out MESH and --out");
      return plot_study(context.console, *options->plot);
    }
    return run_study(context, *options);
  };
  return {app, run, true};
}

}  // namespace fmbem::cli
