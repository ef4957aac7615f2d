#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <sstream>

#include "cli/common_options.hpp"
#include "cli/compare_reports.hpp"
#include "cli/program.hpp"
#include "cli/provenance.hpp"
#include "cli/report.hpp"
#include "fmbem/meshes/read_file.hpp"

namespace fmbem::cli {
namespace {

namespace fs = std::filesystem;

struct RerunArguments {
  std::string file;
  std::optional<std::string> folder, json;
};

/// A report of this schema that has results. Throws InputError for anything else.
Json read_report(const std::string& file) {
  const std::string text = read_file(file);
  Json report = Json::parse(text, nullptr, false);
  FMBEM_REQUIRE(report.is_object() && report.contains("schema_version") &&
                    report["schema_version"].is_number_integer() && report.contains("command") &&
                    report["command"].is_string(),
                file << " is no report of fmbem, or is cut off: it is what --json writes");
  const auto version = report["schema_version"].get<std::int64_t>();
  FMBEM_REQUIRE(version >= schema_version,
                file << " is a report of schema version " << version
                     << ", which does not hold its arguments: run it by hand, with this fmbem");
  FMBEM_REQUIRE(version == schema_version, file << " is a report of schema version " << version
                                                << ", and this fmbem knows " << schema_version
                                                << ": use the fmbem that wrote it");
  FMBEM_REQUIRE(
      report.value("results", Json()).is_object() && !report["results"].empty(),
      file << " has no results to compare: it is one of fmbem " << report["command"].dump());
  return report;
}

/// The words of a command line without the options of outputs.
std::vector<std::string> without_outputs(const std::vector<std::string>& words,
                                         const CLI::App& command) {
  std::vector<std::string> result;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const std::string& word = words[k];
    const std::size_t equals = word.find('=');
    const bool is_short = word.size() > 2 && word[0] == '-' && word[1] != '-';
    const std::string name = is_short ? word.substr(0, 2) : word.substr(0, equals);
    const CLI::Option* option = word.starts_with('-') ? command.get_option_no_throw(name) : nullptr;
    if (!option || option->get_group() != output_group) {
      result.push_back(word);
      continue;
    }
    const bool has_own_value = is_short || equals != std::string::npos;
    if (!has_own_value && option->get_items_expected_max() > 0) ++k;
  }
  return result;
}

/// PETSc's options in force, but for those that write and those that name files of options.
std::string petsc_options(const std::string& all) {
  std::istringstream stream(all);
  std::string kept;
  const Arguments words = split_arguments(
      {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()});
  bool keeps = true;
  for (const std::string& word : words.petsc) {
    if (word.starts_with('-') && !split_arguments({word}).petsc.empty())
      keeps = word.find("view") == word.npos && word.find("monitor") == word.npos &&
              word != "-options_file";
    if (keeps) kept += word + ' ';
  }
  return kept;
}

/// Goes where the paths of the run start from.
void enter_folder(const RerunArguments& options, const Json& run) {
  const fs::path folder = options.folder.value_or(run.at("folder").get<std::string>());
  std::error_code error;
  fs::current_path(folder, error);
  FMBEM_REQUIRE(!error, "the folder of the run, " << folder.string() << ", cannot be entered ("
                                                  << error.message()
                                                  << "): say with --folder where its paths start");
}

/// Inputs may not become the new report, and are told of where they have changed.
void check_inputs(Console& console, const Json& run, const std::optional<std::string>& json) {
  if (!run.contains("inputs")) return;
  for (const Json& input : run.at("inputs")) {
    const auto file = input.at("file").get<std::string>();
    refuse_overwriting({{"--json", json}}, {{"input", file}});
    if (fingerprint(file) != input) console.warning(file + " is not the file that it was");
  }
}

/// Runs what a report is of, and returns the report of that.
Json run_again(Context& context, const Json& before) {
  const Json& run = before.at("run");
  CLI::App program;
  const CLI::App& command =
      *command_named(describe_program(program), before.at("command").get<std::string>()).app;
  const std::string in_force = petsc_options(run.value("petsc_options", ""));
  setenv("PETSC_OPTIONS", in_force.c_str(), 1);
  const Arguments given = split_arguments(run.at("arguments").get<std::vector<std::string>>());
  FMBEM_REQUIRE(!given.program.empty() && given.program.front() == command.get_name() &&
                    command.get_name() != "rerun",
                "the report is said to be one of fmbem "
                    << command.get_name() << ", and its arguments are not: it cannot be run again");
  context.arguments = {without_outputs(given.program, command), {}, given.given};
  context.arguments.program.insert(context.arguments.program.end(), {"--json", "-"});
  context.is_repeated = true;
  for (const auto& [name, result] : before.at("results").items())
    context.earlier_results.insert(name);
  std::string text;
  context.console.capture(&text);
  const int code = run_program(context);
  context.console.capture(nullptr);
  if (text.empty()) throw Error(static_cast<ExitCode>(code), "the run came to no results again");
  return Json::parse(text);
}

std::string verdict(const Agreement& agreement) {
  if (agreement.same_bits) return "the same bits: every result is what it was";
  std::ostringstream out;
  out.precision(2);
  if (agreement.where.empty())
    out << "the same results, but for what they say of their errors";
  else
    out << "the results agree: the largest difference is " << agreement.largest
        << " of the largest number, in " << agreement.where << " (" << agreement.allowed
        << " is allowed)";
  return out.str();
}

std::string objection(const Agreement& agreement) {
  if (!agreement.otherwise.empty())
    return "the results are of another problem: " + agreement.otherwise;
  std::ostringstream out;
  out.precision(2);
  out << "the results differ: " << agreement.where << " by " << agreement.largest
      << " of its largest number, and " << agreement.allowed
      << " is allowed, ten times the tolerance";
  return out.str();
}

ExitCode run(Context& context, const RerunArguments& options) try {
  const Json before = read_report(options.file);
  Console& console = context.console;
  // Its path is of the folder that this was started in.
  std::optional<std::string> json = options.json;
  if (json && *json != "-") json = fs::absolute(*json).string();
  refuse_overwriting({{"--json", json}}, {{"report", options.file}});
  ReportTarget target(console, json);
  console.reserve_stdout();
  enter_folder(options, before.at("run"));
  check_inputs(console, before.at("run"), json);
  const Json after = run_again(context, before);
  const Agreement agreement = compare_reports(before, after);
  target.write(after);
  if (!agreement.holds()) throw Error(ExitCode::not_converged, objection(agreement));
  if (json == "-")
    std::cerr << verdict(agreement) << '\n';
  else
    console.write_stdout(verdict(agreement) + "\n");
  return after.at("status") == "solved" ? ExitCode::solved : ExitCode::not_converged;
} catch (const Json::exception&) {
  throw InputError(options.file +
                   " is no whole report of fmbem: something that --json writes is missing or of "
                   "another kind");
}

}  // namespace

Command add_rerun(CLI::App& program) {
  auto options = std::make_shared<RerunArguments>();
  CLI::App* app =
      program.add_subcommand("rerun", "Repeat the run of a report and compare the results");
  app->footer(
      "Example:\n  fmbem rerun report.json\n"
      "Exit code 0: the results are the same to ten times the loosest tolerance; 3: they are not,\n"
      "or did not converge, as before.\n"
      "Nothing is written but --json. Arguments, PETSc's options and folder are the report's.");
  app->add_option("REPORT", options->file, "a report that --json has written")->required();
  app->add_option("--folder", options->folder,
                  "where the paths in the report start from (default: the folder it was run in)")
      ->type_name("DIR");
  app->add_option("--json", options->json,
                  "write the report of the new run, to standard output if FILE is -")
      ->type_name("FILE")
      ->group(output_group);
  return {app, [options](Context& context) { return run(context, *options); }};
}

}  // namespace fmbem::cli
