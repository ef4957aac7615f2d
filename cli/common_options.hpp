#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "fmbem/meshes/load.hpp"

namespace fmbem::cli {

/// MESH --mesh-size --refine --unit
struct MeshOptions {
  std::string file;
  std::optional<double> mesh_size;
  std::optional<std::string> unit;
  int refine = 0;

  LoadOptions load_options(int refine_times) const { return {mesh_size, refine_times, unit}; }
};
void add_mesh_options(CLI::App& app, MeshOptions& options);

/// --json --quiet
struct OutputOptions {
  std::optional<std::string> json;
  bool quiet = false;
};
void add_output_options(CLI::App& app, OutputOptions& options);

/// Two outputs in one file, or one over an input, would lose what the user has: throws InputError.
/// inputs are what each is, such as "mesh", and its path.
void refuse_overwriting(const std::optional<std::string>& output,
                        const std::optional<std::string>& json,
                        const std::vector<std::pair<std::string, std::string>>& inputs);

}  // namespace fmbem::cli
