#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/report.hpp"

namespace fmbem::cli {

/// Where a run comes from, for `run` of its report: its arguments, folder, date, the commit that
/// the program was built from, libraries with versions and the machine.
Json provenance(const Arguments& arguments);

/// What an input was, so that a later run can tell whether it still is: {file, bytes, crc32}.
/// Throws InputError for a file that cannot be read.
Json fingerprint(const std::string& file);

/// Adds this of a file, and of those that reading it takes, to the inputs of a report.
void add_inputs(Json& inputs, const std::string& file);

/// A sentence for each PETSc option of the environment that nothing has asked for.
std::vector<std::string> unused_ambient_options();

/// What is in force of a solve: threads, device and PETSc's options, once PETSc runs.
void add_surroundings(Json& run, int threads, bool on_gpu);

}  // namespace fmbem::cli
