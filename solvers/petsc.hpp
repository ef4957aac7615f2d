#pragma once

// PETSc's header and all that differs between its versions (3.18 to 3.26).
#include <functional>

#include <petscksp.h>

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

namespace fmbem {

/// The type that MatShellSetOperation() takes: it changed in 3.24.
#if PETSC_VERSION_LT(3, 24, 0)
using ShellOperation = void (*)();
#else
using ShellOperation = PetscErrorCodeFn*;
#endif

template <class Function>
ShellOperation shell_operation(Function* function) {
  return reinterpret_cast<ShellOperation>(function);
}

/// Runs PETSc calls (each under PetscCall) with PETSc's own printing of errors off.
/// Throws what the first error amounts to: InputError for what a user can mend, such as an unknown
/// type or option value, ResourceError for memory, Error for everything else.
void petsc_calls(const std::function<PetscErrorCode()>& calls);

}  // namespace fmbem
