#include "cli/arguments.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace fmbem::cli {
namespace {

bool is_number(const std::string& word) {
  const std::size_t first = word.find_first_not_of("+-");  // 0 or 1, or it is none
  return first <= 1 &&
         (std::isdigit(static_cast<unsigned char>(word[first])) || word[first] == '.');
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && !is_number(word);
}

bool is_petsc_option(const std::string& word) {
  return is_option(word) && word[1] != '-' && word.size() > 2;
}

}  // namespace

bool Arguments::asks_petsc_help() const {
  return std::find(petsc.begin(), petsc.end(), "-help") != petsc.end();
}

Arguments split_arguments(const std::vector<std::string>& given) {
  Arguments arguments;
  arguments.given = given;
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (given[k] == "--") {  // names of files follow
      arguments.program.insert(arguments.program.end(), given.begin() + std::ptrdiff_t(k),
                               given.end());
      break;
    }
    // Its value is a PETSc option, but not one of the command line.
    if (given[k] == "--axis" && k + 1 < given.size()) {
      arguments.program.push_back(given[k] + '=' + given[k + 1]);
      ++k;
      continue;
    }
    if (!is_petsc_option(given[k])) {
      arguments.program.push_back(given[k]);
      continue;
    }
    arguments.petsc.push_back(given[k]);
    if (k + 1 < given.size() && !is_option(given[k + 1])) arguments.petsc.push_back(given[++k]);
  }
  return arguments;
}

}  // namespace fmbem::cli
