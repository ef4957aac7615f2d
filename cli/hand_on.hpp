#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/console.hpp"
#include "fmbem/problems/capacitance_levels.hpp"
#include "fmbem/problems/charge_levels.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem::cli {

/// --save --csv --export: what of a solution is kept and handed on, apart from the report and what
/// viewers show.
struct HandOnOptions {
  std::optional<std::string> save, csv, folder;

  /// Each option with its files, for refuse_overwriting().
  std::vector<std::pair<std::string, std::optional<std::string>>> files() const;
  /// Throws InputError for what cannot be written.
  void check() const;
};
/// --save alone.
void add_save_option(CLI::App& app, HandOnOptions& options);
void add_hand_on_options(CLI::App& app, HandOnOptions& options);

/// --spice --spice-threshold
struct SpiceOptions {
  std::optional<std::string> file;
  double threshold = 0;
};
void add_spice_options(CLI::App& app, SpiceOptions& options);
/// Throws InputError for what cannot be written, and for a threshold without a file.
void check_spice(const SpiceOptions& options);

/// Maxwell's and the circuit's capacitances, a record for each pair of conductors, with the errors
/// that are estimated.
void write_capacitance_csv(const std::string& file, const CapacitanceOfLevels& levels);

/// Voltages and charges, a record for each conductor, likewise.
void write_charge_csv(const std::string& file, const std::vector<double>& voltages,
                      const ChargesOfLevels& levels);

/// Of each result, or of its real and its imaginary part, a record for each conductor and each
/// group: potential and charge, or current; what flows from the group into the region on either
/// side.
void write_problem_csv(const std::string& file, const ProblemSolution& solution);

/// The circuit of the capacitances, named after the mesh's file.
void write_spice_file(const SpiceOptions& options, const CapacitanceOfLevels& levels);

}  // namespace fmbem::cli
