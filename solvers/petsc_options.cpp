#include "fmbem/solvers/petsc_options.hpp"

#include <array>

#include "fmbem/solvers/petsc.hpp"

namespace fmbem {

PetscOptionScope::PetscOptionScope(std::vector<PetscOption> options)
    : options_(std::move(options)) {
  petsc_calls([&] {
    for (const auto& [name, value] : options_) {
      std::array<char, 4096> former{};
      PetscBool given = PETSC_FALSE;
      PetscCall(PetscOptionsGetString(nullptr, nullptr, name.c_str(), former.data(), former.size(),
                                      &given));
      if (given) hidden_.emplace_back(name, former.data());
    }
    for (const auto& [name, value] : options_) {
      // Set anew, it counts as not asked for.
      PetscCall(PetscOptionsClearValue(nullptr, name.c_str()));
      PetscCall(PetscOptionsSetValue(nullptr, name.c_str(), value.c_str()));
    }
    return PetscErrorCode(PETSC_SUCCESS);
  });
}

PetscOptionScope::~PetscOptionScope() {
  PetscBool ended = PETSC_FALSE;
  PetscFinalized(&ended);
  if (ended) return;
  for (const auto& [name, value] : options_) PetscOptionsClearValue(nullptr, name.c_str());
  for (const auto& [name, value] : hidden_)
    PetscOptionsSetValue(nullptr, name.c_str(), value.c_str());
}

std::vector<std::string> PetscOptionScope::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : options_) {
    PetscBool used = PETSC_FALSE;
    PetscOptionsUsed(nullptr, name.c_str() + 1, &used);  // which knows names without the dash
    if (!used) names.push_back(name);
  }
  return names;
}

}  // namespace fmbem
