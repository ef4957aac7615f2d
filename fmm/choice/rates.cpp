#include "fmbem/fmm/choice/rates.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iomanip>
#include <map>
#include <sstream>

#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem::fmm {
namespace {

void write_thread(std::ostream& out, const char* precision, const ThreadRates& rates) {
  for (const RateField& field : rate_fields)
    out << precision << ' ' << field.name << ' ' << rates.*field.value << '\n';
  for (const auto& product : rates.products)
    out << precision << " product " << product.order << ' ' << product.operations << '\n';
}

Rates read_machine_rates() {
  const std::filesystem::path file = rates_file();
  std::ifstream in(file);
  return in ? read_rates(in, file.string()) : shipped_rates();
}

}  // namespace

double ThreadRates::product_at(int order) const {
  const auto above = std::find_if(products.begin(), products.end(),
                                  [&](const Product& p) { return p.order >= order; });
  if (above == products.begin()) return above->operations;
  if (above == products.end()) return products.back().operations;
  const auto below = above - 1;
  const double t = static_cast<double>(order - below->order) / (above->order - below->order);
  return (1 - t) * below->operations + t * above->operations;
}

std::filesystem::path rates_folder() {
  std::filesystem::path folder;
  if (const char* config = std::getenv("XDG_CONFIG_HOME"); config && *config)
    folder = config;
  else if (const char* home = std::getenv("HOME"); home && *home)
    folder = std::filesystem::path(home) / ".config";
  return folder / "fmbem";
}

std::filesystem::path rates_file() {
  if (const char* file = std::getenv("FMBEM_RATES"); file && *file) return file;
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  return rates_folder() / (std::string(host) + ".rates");
}

const Rates& machine_rates() {
  static const Rates rates = read_machine_rates();
  return rates;
}

void write_rates(std::ostream& out, const Rates& rates) {
  out << "# what one thread does in a second; written by fmbem tune\n" << std::setprecision(4);
  write_thread(out, "double", rates.double_precision);
  write_thread(out, "single", rates.single_precision);
}

Rates read_rates(std::istream& in, const std::string& source) {
  Rates rates{};
  const auto refuse = [&](const std::string& what) {
    throw InputError(source + " is not a table of rates (" + what +
                     "): remove it or run fmbem tune");
  };
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string precision, name;
    words >> precision >> name;
    if (precision != "double" && precision != "single") refuse("line \"" + line + "\"");
    ThreadRates& thread = precision == "double" ? rates.double_precision : rates.single_precision;
    int order = 0;
    double value = 0;
    if (name == "product") words >> order;
    words >> value;
    if (!words || !(value > 0) || !std::isfinite(value)) refuse("line \"" + line + "\"");
    const auto* field = std::find_if(std::begin(rate_fields), std::end(rate_fields),
                                     [&](const RateField& f) { return name == f.name; });
    if (name == "product")
      thread.products.push_back({order, value});
    else if (field != std::end(rate_fields))
      thread.*field->value = value;
    else
      refuse("line \"" + line + "\"");
  }
  for (ThreadRates* thread : {&rates.double_precision, &rates.single_precision}) {
    for (const RateField& field : rate_fields)
      if (!(thread->*field.value > 0)) refuse(std::string("no ") + field.name);
    if (thread->products.empty()) refuse("no product");
    std::sort(thread->products.begin(), thread->products.end(),
              [](const auto& a, const auto& b) { return a.order < b.order; });
  }
  return rates;
}

const Rates& shipped_rates() {
  static const Rates rates{
      {2.8e9,
       1.8e9,
       2.45e9,
       1.65e9,
       5.2e9,
       2.3e9,
       4.3e9,
       2.0e9,
       1.9e9,
       2.8e9,
       {{1, 8e9}, {2, 1.9e10}, {3, 4.2e10}, {5, 4.5e10}, {8, 5.1e10}, {12, 5.4e10}, {20, 5.6e10}}},
      {8.0e9,
       4.8e9,
       5.8e9,
       3.7e9,
       1.3e10,
       5.2e9,
       9.3e9,
       4.35e9,
       4.5e9,
       4.8e9,
       {{1, 4e9},
        {2, 1.6e10},
        {3, 4.2e10},
        {5, 5.5e10},
        {8, 7.8e10},
        {12, 9.4e10},
        {20, 1.05e11}}}};
  return rates;
}

}  // namespace fmbem::fmm
