#pragma once

#include <string>
#include <vector>

namespace fmbem {

/// Starts PETSc, and MPI with it, unless they are running; what was started here ends with
/// finish_petsc() or, at the latest, with the process. `options` are those of a PETSc command line.
/// Throws InputError for options that PETSc cannot read, and for files of theirs.
void start_petsc(const std::vector<std::string>& options = {});

/// Ends what start_petsc() started; PETSc prints -log_view and the like here.
void finish_petsc();

/// Lets PETSc end before its pools of GPU memory, which are static and report what they still hold.
/// To be called when these pools have been used.
void finish_petsc_before_gpu_memory();

/// Names of PETSc options that nothing has asked for.
struct UnusedOptions {
  std::vector<std::string> given;    ///< from the options of start_petsc() and the files they name
  std::vector<std::string> ambient;  ///< from PETSC_OPTIONS or an rc file
};
UnusedOptions unused_petsc_options();

/// All PETSc options in force, from wherever they came, as PETSc writes them: "-name value …";
/// without those that start_petsc() gives itself. Empty while PETSc does not run.
std::string petsc_options_in_force();

/// Throws InputError for an option in force without the value that it needs: PETSc would ignore it.
void check_petsc_values();

/// The first option in force that asks PETSc to show matrices or vectors of a solve, without the
/// dash; or empty. It cannot: the operator is never assembled, and vectors are in the order of
/// Panels, which PETSc does not know.
std::string option_that_shows_the_system();

/// Prints PETSc's help on the solver's options (to PETSc's standard output).
void print_petsc_help();

/// Ranks of PETSc's world, and this process's; 1 and 0 while PETSc does not run.
int mpi_ranks();
int mpi_rank();

/// Version of the PETSc library in use, such as "3.18.5", with "+ CUDA" where it has it.
std::string petsc_version();

/// Of the MPI library, such as "Open MPI v4.1.4".
std::string mpi_version();

}  // namespace fmbem
