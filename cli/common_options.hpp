#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "fmbem/meshes/load.hpp"

namespace fmbem::cli {

/// An option that takes one of some words, each of which stands for a value. The word for the
/// initial value of `value` is the default that the help names.
template <class T>
void add_choice(CLI::App& app, const std::string& name, T& value,
                const std::vector<std::pair<std::string, std::type_identity_t<T>>>& words,
                const std::string& help) {
  std::vector<std::string> names;
  for (const auto& [word, meaning] : words) names.push_back(word);
  const auto set = [&value, words](const std::string& given) {
    for (const auto& [word, meaning] : words)
      if (word == given) value = meaning;
  };
  app.add_option_function<std::string>(name, set, help)
      ->default_str(names.front())
      ->check(CLI::IsMember(names));
}

/// MESH --mesh-size --grade --refine --unit --set
struct MeshOptions {
  std::string file;
  std::optional<Length> mesh_size;
  std::optional<std::string> unit;
  int refine = 0;
  double grade = 1;
  GeoNumbers numbers;

  LoadOptions load_options() const { return {mesh_size, refine, unit, grade, numbers}; }
};
void add_mesh_options(CLI::App& app, MeshOptions& options);

/// The section of a command's help that has its options of files to be written. fmbem rerun leaves
/// out whatever is in it.
inline constexpr const char* output_group = "Output files";

/// The end of the help of a command that solves: examples, a line each, and notes.
void add_footer(CLI::App& app, const std::string& examples, const std::string& notes = "");

/// No option of that section is required any more.
void let_outputs_be_left_out(CLI::App& app);

/// --json --quiet
struct OutputOptions {
  std::optional<std::string> json;
  bool quiet = false;
};
void add_output_options(CLI::App& app, OutputOptions& options);

/// A plane across an axis: 0, 1, 2 for x, y, z.
struct CutOption {
  int axis;
  Length at;
};
/// Of a text such as x=0.5 or z=2um. Throws InputError for any other.
CutOption parse_cut(const std::string& text);

/// Throws InputError if two outputs would go to one file, or one over an input, or one that is no
/// report to standard output. Outputs are options and their paths; inputs are what each is, such as
/// "mesh", and its path, with what reading it takes (files_read_with()).
void refuse_overwriting(
    const std::vector<std::pair<std::string, std::optional<std::string>>>& outputs,
    const std::vector<std::pair<std::string, std::string>>& inputs);

}  // namespace fmbem::cli
