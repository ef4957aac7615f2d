#pragma once

// What main() of every benchmark has: the arguments, and how bad ones and failures end.
#include <cstddef>
#include <functional>
#include <sstream>
#include <string>
#include <type_traits>

#include <CLI/CLI.hpp>

namespace fmbem::bench {

/// Reads the arguments, runs the benchmark and returns the exit code. What fails is one sentence on
/// the error output, under the program's name.
int run_main(CLI::App& app, int argc, char** argv, const std::function<void()>& run);

/// Refuses what is no number from `least` to `most`. CLI::Range lets NaN pass, CLI11 takes an empty
/// word for 0, and -1 for the largest number without a sign.
template <class Number>
CLI::Validator between(Number least, Number most) {
  std::ostringstream text;
  text << "from " << least << " to " << most;
  const std::string range = text.str();
  const auto check = [least, most, range](std::string& word) {
    Number value{};
    const bool has_sign = std::is_unsigned_v<Number> && word.find('-') != std::string::npos;
    const bool is_good =
        !has_sign && CLI::detail::lexical_cast(word, value) && value >= least && value <= most;
    return is_good ? std::string() : "\"" + word + "\" is no number " + range;
  };
  return {check, range};
}

/// The argument PANELS of tables whose meshes get finer and finer: the most panels of a mesh.
void add_most_panels(CLI::App& app, std::size_t& most);

}  // namespace fmbem::bench
