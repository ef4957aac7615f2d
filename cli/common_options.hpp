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

/// --json --quiet
struct OutputOptions {
  std::optional<std::string> json;
  bool quiet = false;
};
void add_output_options(CLI::App& app, OutputOptions& options);

/// Throws InputError if two outputs would go to one file, or one over an input. `inputs` say what
/// each is, such as "mesh", and its path.
void refuse_overwriting(const std::optional<std::string>& output,
                        const std::optional<std::string>& json,
                        const std::vector<std::pair<std::string, std::string>>& inputs);

}  // namespace fmbem::cli
