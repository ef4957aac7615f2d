#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "cli/commands.hpp"
#include "cli/provenance.hpp"
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
#include "fmbem/meshes/panel_values.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/solvers/petsc_session.hpp"

namespace fmbem::cli {
namespace {

/// What a study is, and where it ran first.
Json study_json(const Arguments& arguments, const StudyOptions& options, std::size_t runs) {
  Json json = start_report("study", arguments);
  json.erase("status");
  json.erase("warnings");
  json["arguments"] = study_arguments(options);
  json["runs"] = runs;
  json["run"]["petsc_options"] = petsc_options_in_force();
  Json& inputs = json["run"]["inputs"] = Json::array();
  for (const std::string& mesh : options.meshes) add_inputs(inputs, mesh);
  for (const auto& file : {options.media, options.molecule})
    if (file) inputs.push_back(fingerprint(*file));
  for (const std::string& rhs : options.right_hand_sides)
    if (is_npy(rhs)) inputs.push_back(fingerprint(rhs));
  return json;
}

/// Writes study.json, or checks that what is there is of the same study.
void begin_or_resume(const std::string& folder, const Json& written) {
  namespace fs = std::filesystem;
  const std::string path = folder + "/study.json";
  const Json study = Json::parse(report_text(written));  // names that are no UTF-8 as it has them
  if (!fs::exists(path)) {
    FMBEM_REQUIRE(!fs::exists(folder + "/runs.csv"),
                  folder << " has tables without study.json: use another folder");
    write_whole(path, report_text(study));
    return;
  }
  std::ifstream stream(path);
  const Json former = Json::parse(stream, nullptr, false);
  FMBEM_REQUIRE(former.is_object() && former.contains("arguments") &&
                    former.value("run", Json()).contains("inputs"),
                path << " is no study: use another folder");
  const Json& run = former["run"];
  const auto made_by = [](const Json& json) {
    return std::pair{json.value("version", Json()), json["run"].value("commit", Json())};
  };
  FMBEM_REQUIRE(made_by(former) == made_by(study),
                folder << " has a study by fmbem " << made_by(former).first.dump() << " (commit "
                       << made_by(former).second.dump()
                       << "), which is not this one: use another folder");
  for (const auto& [name, value] : study["arguments"].items())
    FMBEM_REQUIRE(former["arguments"].value(name, Json()) == value,
                  folder << " has a study with another --" << name << ", "
                         << former["arguments"].value(name, Json()).dump() << ", not "
                         << value.dump() << ": use another folder, or the same options");
  FMBEM_REQUIRE(run["inputs"] == study["run"]["inputs"],
                folder << " has a study of files that have changed since: use another folder");
  const Json &before = run.value("petsc_options", Json("")), &now = study["run"]["petsc_options"];
  FMBEM_REQUIRE(before == now, folder << " has a study with other PETSc options from the "
                                         "environment, "
                                      << before.dump() << ", not " << now.dump()
                                      << ": use another folder, or set PETSC_OPTIONS as it was");
}

/// "about 3 min left"
std::string time_left(double seconds) {
  if (seconds < 90) return "about " + std::to_string(std::lround(seconds)) + " s left";
  if (seconds < 90 * 60) return "about " + std::to_string(std::lround(seconds / 60)) + " min left";
  return "about " + std::to_string(std::lround(seconds / 3600)) + " h left";
}

void check_before_meshes(const StudyOptions& options, const std::vector<StudyCase>& cases) {
  std::set<std::string> seen;
  for (const StudyCase& one : cases)
    if (seen.insert(one.method).second)
      static_cast<void>(krylov_choice({one.petsc.begin(), one.petsc.begin() + 2}));
  for (const std::string& backend : options.backends)
    if (backend == "cuda") require_cuda_device();
}

ExitCode run_study(Context& context, const StudyOptions& options) {
  Console& console = context.console;
  const std::vector<StudyCase> cases = study_cases(options);
  FMBEM_REQUIRE(!options.folder.empty(), "a study needs a folder for its tables: --out DIR");
  set_threads(options.threads.value_or(default_threads()));
  start_petsc();
  check_petsc_values();
  check_before_meshes(options, cases);
  StudyRunner runner(options, console);

  const Json study = study_json(context.arguments, options, cases.size());
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  FMBEM_REQUIRE(!error, "cannot make the folder " << options.folder << ": " << error.message());
  begin_or_resume(options.folder, study);
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

  const std::set<int> with_spectrum = spectrum.runs_with("eigenvalue");
  for (const StudyCase& one : cases)
    if (done.contains(one.run)) runner.pass_over(one, with_spectrum.contains(one.run));

  const Timer timer;
  std::size_t ran = 0;
  for (const StudyCase& one : cases) {
    if (done.count(one.run) > 0) continue;
    console.begin_phase("run " + std::to_string(one.run) + " of " + std::to_string(cases.size()));
    const StudyRows rows = runner.run(one);
    if (!rows.history.empty()) history.append(rows.history);
    if (!rows.spectrum.empty()) spectrum.append(rows.spectrum);
    runs.append(rows.run);  // the last one: with it the run is done
    ++ran;
    const std::size_t left = cases.size() - done.size() - ran;
    console.print("[" + std::to_string(one.run) + "/" + std::to_string(cases.size()) + "] " +
                  rows.line +
                  (left > 0 ? "; " + time_left(timer.seconds() / double(ran) * double(left)) : ""));
  }
  const std::size_t failed = runs.runs_with("failed").size();  // before, too
  if (failed > 0)
    console.warning(std::to_string(failed) + " of " + std::to_string(cases.size()) +
                    " runs failed: runs.csv has the reasons");
  if (ran > 0)
    for (const std::string& sentence : unused_ambient_options()) console.warning(sentence);
  console.print("wrote " + options.folder + "/runs.csv, history.csv, spectrum.csv and study.json");
  try {
    plot_study(console, options.folder);
  } catch (const Error& e) {
    console.notice(e.what());
  }
  return failed == cases.size() ? ExitCode::not_converged : ExitCode::solved;
}

}  // namespace

Command add_study(CLI::App& program) {
  auto options = std::make_shared<StudyOptions>();
  CLI::App* app =
      program.add_subcommand("study", "Compare Krylov methods, preconditioners and formulations");
  app->footer(
      "Examples:\n"
      "  fmbem study examples/cube.geo --refine 0,1 --pc cluster,none --rhs source --out cube\n"
      "  fmbem study --plot cube");
  add_study_options(*app, *options);
  const Run run = [options, app](Context& context) {
    if (!options->file.empty()) read_study_file(*app, options->file);
    context.console.set_quiet(options->quiet);
    if (options->plot) {
      for (const CLI::Option* option : app->get_options())
        FMBEM_REQUIRE(
            option->count() == 0 || option->check_lname("plot") || option->check_lname("quiet"),
            "--plot DIR makes pictures alone: leave out " << option->get_name());
      return plot_study(context.console, *options->plot);
    }
    return run_study(context, *options);
  };
  return {app, run};
}

}  // namespace fmbem::cli
