#pragma once

#include <string>
#include <vector>

namespace fmbem::cli {

/// A command line, parted: a double dash or a single letter is the program's, a single dash with
/// more than one letter is PETSc's, with the word behind it unless that is an option too.
struct Arguments {
  std::vector<std::string> program;  ///< without the program's name
  std::vector<std::string> petsc;
  std::vector<std::string> given;  ///< all of them, in their order

  bool asks_petsc_help() const;
};

Arguments split_arguments(const std::vector<std::string>& given);

}  // namespace fmbem::cli
