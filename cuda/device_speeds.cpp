#include "fmbem/cuda/device_speeds.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <set>
#include <sstream>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/choice/rates.hpp"

namespace fmbem::cuda {
namespace {

constexpr const char* rates_variable = "FMBEM_GPU_RATES";

}  // namespace

std::filesystem::path device_speeds_file(const std::string& device) {
  std::string name = device;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return fmm::table_file(rates_variable, name);
}

std::optional<DeviceSpeeds> kept_device_speeds(const std::string& device) {
  const std::filesystem::path file = device_speeds_file(device);
  std::ifstream in = fmm::open_table(rates_variable, file);
  if (!in) return {};
  return read_device_speeds(in, file.string());
}

void write_device_speeds(std::ostream& out, const DeviceSpeeds& speeds) {
  out << "# speeds of a GPU over those of an H200; written by fmbem tune\n" << std::setprecision(4);
  for (const SpeedField& field : speed_fields)
    out << field.name << ' ' << speeds.*field.value << '\n';
}

DeviceSpeeds read_device_speeds(std::istream& in, const std::string& source) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(source + " is not a table of a GPU's speeds (" + what +
                     "): remove it or run fmbem tune");
  };
  DeviceSpeeds speeds;
  std::set<std::string> found;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    double value = 0;
    words >> name >> value;
    const auto* field = std::find_if(std::begin(speed_fields), std::end(speed_fields),
                                     [&](const SpeedField& f) { return name == f.name; });
    if (!words || !(value > 0) || !std::isfinite(value) || field == std::end(speed_fields))
      refuse("line \"" + line + "\"");
    speeds.*field->value = value;
    found.insert(name);
  }
  for (const SpeedField& field : speed_fields)
    if (!found.count(field.name)) refuse(std::string("no ") + field.name);
  return speeds;
}

}  // namespace fmbem::cuda
