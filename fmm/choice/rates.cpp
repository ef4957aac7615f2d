#include "fmbem/fmm/choice/rates.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iomanip>
#include <map>
#include <set>
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

constexpr const char* rates_variable = "FMBEM_RATES";

/// The value of an environment variable, or null where it is empty, too.
const char* value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value && *value ? value : nullptr;
}

Rates read_machine_rates() {
  const std::filesystem::path file = rates_file();
  std::ifstream in = open_table(rates_variable, file);
  return in ? read_rates(in, file.string()) : shipped_rates();
}

/// Reads the lines of a table one by one.
class RatesReader {
 public:
  explicit RatesReader(const std::string& source) : source_(source) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(source_ + " is not a table of rates (" + what +
                     "): remove it or run fmbem tune");
  }

  void read(const std::string& line) {
    ++number_;
    if (line.empty() || line[0] == '#') return;
    std::istringstream words(line);
    std::string precision, name, more;
    int order = 0;
    double value = 0;
    words >> precision >> name;
    if (name == "product") words >> order;
    words >> value;
    if (!words || words >> more) refuse_line(line, "is no precision, name and number");
    check_value(line, value);
    if (precision != "double" && precision != "single") refuse_line(line, "has no precision");
    const std::string what = precision + ' ' + name + ' ' + std::to_string(order);
    if (!found_.insert(what).second) refuse_line(line, "is there twice");
    ThreadRates& thread = precision == "double" ? rates.double_precision : rates.single_precision;
    if (name == "product") {
      if (order < 0) refuse_line(line, "has no order");
      thread.products.push_back({order, value});
      return;
    }
    const auto* field = std::find_if(std::begin(rate_fields), std::end(rate_fields),
                                     [&](const RateField& f) { return name == f.name; });
    if (field == std::end(rate_fields)) refuse_line(line, "has no name of a rate");
    thread.*field->value = value;
  }

  Rates rates{};

 private:
  [[noreturn]] void refuse_line(const std::string& line, const std::string& what) const {
    refuse("line " + std::to_string(number_) + ", \"" + line + "\", " + what);
  }

  /// One thread of any processor does millions in a second, and none as many as a large GPU.
  void check_value(const std::string& line, double value) const {
    constexpr double least = 1e6, most = 1e15;
    if (!(value >= least && value <= most)) refuse_line(line, "is not between 1e6 and 1e15");
  }

  std::string source_;
  int number_ = 0;
  std::set<std::string> found_;
};

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
  if (const char* config = value_of("XDG_CONFIG_HOME"))
    return std::filesystem::path(config) / "fmbem";
  if (const char* home = value_of("HOME")) return std::filesystem::path(home) / ".config" / "fmbem";
  return {};
}

std::filesystem::path table_file(const char* variable, const std::string& name) {
  if (const char* file = value_of(variable)) return file;
  const std::filesystem::path folder = rates_folder();
  return folder.empty() ? folder : folder / (name + ".rates");
}

std::ifstream open_table(const char* variable, const std::filesystem::path& file) {
  std::ifstream in(file);
  FMBEM_REQUIRE(in || !value_of(variable),
                variable << " names " << file.string()
                         << ", which cannot be read: run fmbem tune, or unset it");
  return in;
}

std::filesystem::path rates_file() {
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  return table_file(rates_variable, host);
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
  RatesReader reader(source);
  for (std::string line; std::getline(in, line);) reader.read(line);
  for (ThreadRates* thread : {&reader.rates.double_precision, &reader.rates.single_precision}) {
    for (const RateField& field : rate_fields)
      if (!(thread->*field.value > 0)) reader.refuse(std::string("no ") + field.name);
    if (thread->products.empty()) reader.refuse("no product");
    std::sort(thread->products.begin(), thread->products.end(),
              [](const auto& a, const auto& b) { return a.order < b.order; });
  }
  return reader.rates;
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
       5.2e9,
       2.8e9,
       2.6e9,
       2.5e10,
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
       1.07e10,
       5.8e9,
       4.1e9,
       3.4e10,
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
