#include "cli/arguments.hpp"

#include <algorithm>
#include <cctype>

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

Arguments split_arguments(int argc, const char* const* argv) {
  Arguments arguments;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    // Its value is a PETSc option, but not one of the command line.
    if (word == "--axis" && k + 1 < argc) {
      arguments.program.push_back(word + '=' + argv[++k]);
      continue;
    }
    if (!is_petsc_option(word)) {
      arguments.program.push_back(word);
      continue;
    }
    arguments.petsc.push_back(word);
    if (k + 1 < argc && !is_option(argv[k + 1])) arguments.petsc.emplace_back(argv[++k]);
  }
  return arguments;
}

}  // namespace fmbem::cli
