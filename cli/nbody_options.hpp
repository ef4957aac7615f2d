#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/common_options.hpp"
#include "fmbem/fmm/base/processor.hpp"
#include "fmbem/fmm/plan.hpp"

namespace fmbem::cli {

/// Options of fmbem nbody. The plan's own are bound to its members.
struct NbodyOptions {
  std::string points;
  std::optional<std::string> distribution;  ///< of a number of points; by default a cube
  std::optional<bool> equal_charges;        ///< where a file has none; by default mixed
  bool potential_only = false;
  std::optional<std::int64_t> seed;  ///< where anything is random; by default 1
  Processor backend = Processor::cpu;
  int repeats = 1, check = 200;
  std::optional<int> threads;
  std::optional<std::string> file, picture;
  fmm::PlanOptions plan{.tolerance = 1e-4, .gradient = true, .method = fmm::Method::automatic};
  OutputOptions output;
};
void add_nbody_options(CLI::App& app, NbodyOptions& options);

/// Points and charges, as the options say.
struct Bodies {
  std::vector<Vec3d> points;
  std::vector<double> charges;
};
/// Throws InputError for a number of points that is none, and files that cannot be read.
Bodies read_bodies(const NbodyOptions& options);

/// Refuses what cannot be met, before points are made.
void check_nbody_options(const NbodyOptions& options);

}  // namespace fmbem::cli
