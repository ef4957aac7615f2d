#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fmbem {

/// A PETSc option by name, with its dash, such as "-ksp_type", and its value.
using PetscOption = std::pair<std::string, std::string>;

/// PETSc options that are in force as long as this lives, before those of the command line. Those
/// that they hide come back afterwards.
class PetscOptionScope {
 public:
  /// Throws InputError for names that PETSc does not take.
  explicit PetscOptionScope(std::vector<PetscOption> options);
  ~PetscOptionScope();
  PetscOptionScope(const PetscOptionScope&) = delete;
  PetscOptionScope& operator=(const PetscOptionScope&) = delete;

  /// Names of those that nothing has asked for yet.
  std::vector<std::string> unused() const;

 private:
  std::vector<PetscOption> options_, hidden_;
};

}  // namespace fmbem
