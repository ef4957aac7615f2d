#pragma once

#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cli {

/// How a run ends: the sentence is `before` and `what`.
struct Ending {
  ExitCode code;
  const char *before, *what;
};

/// Of the exception that is being handled, which has to outlive it. Allocates nothing.
Ending ending_of_exception();

/// From now on SIGINT, SIGTERM, SIGHUP and SIGXCPU remove partial output files and end the process,
/// with exit code 130, 143, 129 and 152. So do, with one sentence, exceptions that nobody catches,
/// as those of a loop's threads, and, until let_main_return(), libraries that call exit() with
/// anything but 0: exit code 4 where memory or threads were wanting.
void handle_sudden_ends();
void let_main_return();

}  // namespace fmbem::cli
