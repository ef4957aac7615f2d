#pragma once

// PETSc's header and all that differs between its versions (3.18 to 3.26).
#include <exception>
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

/// Runs body(x's values, y's values to be written); what it throws is kept and becomes a PETSc
/// error.
template <class Body>
PetscErrorCode on_arrays(Vec x, Vec y, std::exception_ptr& kept, Body&& body) {
  const PetscScalar* x_values = nullptr;
  PetscScalar* y_values = nullptr;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(x, &x_values));
  PetscCall(VecGetArrayWrite(y, &y_values));
  try {
    body(x_values, y_values);
  } catch (const std::exception& e) {
    kept = std::current_exception();
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", e.what());
  }
  PetscCall(VecRestoreArrayWrite(y, &y_values));
  PetscCall(VecRestoreArrayRead(x, &x_values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace fmbem
