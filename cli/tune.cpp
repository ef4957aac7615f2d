#include <filesystem>
#include <fstream>
#include <iomanip>
#include <memory>
#include <optional>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/report.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/choice/rates.hpp"
#include "fmbem/meshes/output_file.hpp"

namespace fmbem::cli {
namespace {

struct TuneArguments {
  std::optional<std::string> file;
  std::optional<int> threads;
  OutputOptions output;
};

Json rates_json(const fmm::ThreadRates& rates) {
  Json products = Json::array();
  for (const auto& product : rates.products)
    products.push_back({{"order", product.order}, {"operations", product.operations}});
  Json json{{"products", products}};
  for (const fmm::RateField& field : fmm::rate_fields) json[field.name] = rates.*field.value;
  return json;
}

void make_folder(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  FMBEM_REQUIRE(!error, "the folder " << folder.string() << " cannot be made: " << error.message());
}

std::string summary(const fmm::Rates& rates) {
  std::ostringstream out;
  out << std::setprecision(3) << "one thread            double    single\n";
  const auto line = [&](const char* name, double in_double, double in_single) {
    out << std::left << std::setw(22) << name << std::setw(10) << in_double / 1e9 << in_single / 1e9
        << '\n';
  };
  const auto &d = rates.double_precision, &s = rates.single_precision;
  line("potential, Gpairs/s", d.mutual_potential, s.mutual_potential);
  line("gradient, Gpairs/s", d.mutual_gradient, s.mutual_gradient);
  for (const int order : {4, 8, 12, 20})
    line(("order " + std::to_string(order) + ", GFLOP/s").c_str(), d.product_at(order),
         s.product_at(order));
  return out.str();
}

ExitCode run(Context& context, const TuneArguments& options) {
  Console& console = context.console;
  console.set_quiet(options.output.quiet);
  ReportTarget target(console, options.output.json);
  set_threads(options.threads.value_or(available_cores()));
  const std::string file = options.file.value_or(fmm::rates_file().string());
  make_folder(file);
  OutputFile output(file);  // before measuring: a path that cannot be written is refused at once
  console.begin_phase("measuring");
  const fmm::Rates rates = fmm::measure_rates();
  std::ofstream stream(output.partial_path());
  fmm::write_rates(stream, rates);
  stream.close();
  if (!stream) throw ResourceError(file + " cannot be written: is the disk full?");
  output.commit();
  console.print_result(summary(rates));
  console.print("written to " + file);
  Json report = start_report("tune", context.arguments);
  report["rates"] = {{"file", file},
                     {"double", rates_json(rates.double_precision)},
                     {"single", rates_json(rates.single_precision)}};
  target.write(report);
  return ExitCode::solved;
}

}  // namespace

Command add_tune(CLI::App& program) {
  auto options = std::make_shared<TuneArguments>();
  CLI::App* app = program.add_subcommand(
      "tune", "Measure this machine, so that the fast multipole method chooses well");
  app->footer("Example:\n  fmbem tune\nTakes some five seconds; let nothing else run meanwhile.");
  app->add_option("--output", options->file,
                  "where the table goes (default: FMBEM_RATES, or fmbem/<host name>.rates in the "
                  "configuration folder)")
      ->type_name("FILE")
      ->group(output_group);
  app->add_option("--threads", options->threads, "default: the cores that the process may use");
  add_output_options(*app, options->output);
  return {app, [options](Context& context) { return run(context, *options); }};
}

}  // namespace fmbem::cli
