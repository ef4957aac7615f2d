#include <filesystem>
#include <fstream>
#include <iomanip>
#include <memory>
#include <optional>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/report.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/device_speeds.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/choice/rates.hpp"
#include "fmbem/meshes/output_file.hpp"

namespace fmbem::cli {
namespace {

struct TuneArguments {
  std::optional<std::string> file, gpu_file;
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

Json speeds_json(const cuda::DeviceSpeeds& speeds) {
  Json json = Json::object();
  for (const cuda::SpeedField& field : cuda::speed_fields) json[field.name] = speeds.*field.value;
  return json;
}

/// A table and the file that it goes to: a path that cannot be written is refused before anything
/// is measured.
class TableFile {
 public:
  explicit TableFile(const std::string& path) : output_(in_its_folder(path)) {}
  const std::string& path() const { return output_.path(); }

  /// write(stream)
  template <class Write>
  void fill(const Write& write) {
    std::ofstream stream(output_.partial_path());
    write(stream);
    stream.close();
    if (!stream) throw ResourceError(path() + " cannot be written: is the disk full?");
    output_.commit();
  }

 private:
  static std::string in_its_folder(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    if (!folder.empty()) std::filesystem::create_directories(folder, error);
    FMBEM_REQUIRE(!error,
                  "the folder " << folder.string() << " cannot be made: " << error.message());
    return path;
  }

  OutputFile output_;
};

/// Where a table goes that no option names.
std::string file_by_default(const std::filesystem::path& file, const char* option) {
  FMBEM_REQUIRE(!file.empty(),
                "there is no configuration folder, as neither XDG_CONFIG_HOME nor "
                "HOME is set: set one, or say with "
                    << option << " where the table goes");
  return file.string();
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

std::string summary(const cuda::DeviceSpeeds& speeds, const std::string& device) {
  std::ostringstream out;
  out << std::setprecision(3) << device << ", times the speed of an H200\n";
  for (const cuda::SpeedField& field : cuda::speed_fields)
    out << std::left << std::setw(22) << field.name << speeds.*field.value << '\n';
  return out.str();
}

ExitCode run(Context& context, const TuneArguments& options) {
  Console& console = context.console;
  console.set_quiet(options.output.quiet);
  refuse_overwriting({{"--output", options.file},
                      {"--gpu-output", options.gpu_file},
                      {"--json", options.output.json}},
                     {});
  ReportTarget target(console, options.output.json);
  set_threads(options.threads.value_or(default_threads()));
  if (options.gpu_file) require_cuda_device();
  TableFile file(options.file ? *options.file : file_by_default(fmm::rates_file(), "--output"));
  std::string device;
  std::optional<TableFile> gpu_file;
  if (!cuda_devices().empty()) {
    device = current_device_name();
    gpu_file.emplace(options.gpu_file
                         ? *options.gpu_file
                         : file_by_default(cuda::device_speeds_file(device), "--gpu-output"));
  }

  console.begin_phase("measuring");
  const fmm::Rates rates = fmm::measure_rates();
  file.fill([&](std::ostream& out) { fmm::write_rates(out, rates); });
  console.print_result(summary(rates));
  console.print("written to " + file.path());
  Json report = start_report("tune", context.arguments);
  report["rates"] = {{"file", file.path()},
                     {"double", rates_json(rates.double_precision)},
                     {"single", rates_json(rates.single_precision)}};
  if (gpu_file) {
    console.begin_phase("measuring the GPU");
    const cuda::DeviceSpeeds speeds = cuda::measure_device_speeds();
    gpu_file->fill([&](std::ostream& out) { cuda::write_device_speeds(out, speeds); });
    console.print_result(summary(speeds, device));
    console.print("written to " + gpu_file->path());
    report["rates"]["gpu"] = {
        {"file", gpu_file->path()}, {"device", device}, {"speeds", speeds_json(speeds)}};
  }
  target.write(report);
  return ExitCode::solved;
}

}  // namespace

Command add_tune(CLI::App& program) {
  auto options = std::make_shared<TuneArguments>();
  CLI::App* app = program.add_subcommand(
      "tune", "Measure this machine, so that the fast multipole method chooses well");
  app->footer(
      "Example:\n  fmbem tune\n"
      "Takes some five seconds, and some more for a GPU; let nothing else run meanwhile.");
  app->add_option("--output", options->file,
                  "where the table goes (default: FMBEM_RATES, or fmbem/<host name>.rates in the "
                  "configuration folder)")
      ->type_name("FILE")
      ->group(output_group);
  app->add_option("--gpu-output", options->gpu_file,
                  "where the GPU's table goes (default: FMBEM_GPU_RATES, or fmbem/<name of the "
                  "GPU>.rates in the configuration folder)")
      ->type_name("FILE")
      ->group(output_group);
  app->add_option("--threads", options->threads, "default: the cores that the process may use");
  add_output_options(*app, options->output);
  return {app, [options](Context& context) { return run(context, *options); }};
}

}  // namespace fmbem::cli
