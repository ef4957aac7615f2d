#pragma once

// PETSc's header and all that differs between its versions (3.18 to 3.26).
#include <exception>
#include <functional>
#include <span>
#include <utility>

#include <petscksp.h>

#include "fmbem/bem/layer/boundary_operator.hpp"

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

namespace fmbem {

/// PETSC_SUCCESS is a plain number in some versions.
inline constexpr PetscErrorCode success = PETSC_SUCCESS;

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

/// A vector that is destroyed with its scope.
struct OwnedVec {
  Vec vec = nullptr;
  OwnedVec() = default;
  OwnedVec(OwnedVec&& other) noexcept : vec(std::exchange(other.vec, nullptr)) {}
  OwnedVec& operator=(OwnedVec&& other) noexcept {
    std::swap(vec, other.vec);
    return *this;
  }
  ~OwnedVec() { VecDestroy(&vec); }
};

/// A matrix likewise.
struct OwnedMat {
  Mat mat = nullptr;
  ~OwnedMat() { MatDestroy(&mat); }
};

/// Runs PETSc calls (each under PetscCall) with PETSc's own printing of errors off. Throws what the
/// first error means: InputError for what a user can mend, such as an unknown type or option value;
/// ResourceError for memory; Error for everything else.
void petsc_calls(const std::function<PetscErrorCode()>& calls);

/// y = A x as the product says, for vectors one behind the other, wherever their values are: on the
/// GPU if A and the vectors are there, else in host memory. What it throws is kept and becomes a
/// PETSc error.
PetscErrorCode multiply(const LinearMap& map, Vec x, Vec y, const Product& product,
                        std::exception_ptr& kept);

/// Room for vectors one behind the other, x and y of a product. It grows as it is asked to.
struct StackedVecs {
  OwnedVec x, y;
};

/// y_k = A x_k for some vectors by one product, likewise.
PetscErrorCode multiply_together(const LinearMap& map, std::span<const Vec> x,
                                 std::span<const Vec> y, double tolerance, StackedVecs& room,
                                 std::exception_ptr& kept);

/// The type of vectors for A: this PETSc's type on the GPU, if it has one and A is there.
VecType vec_type_for(const LinearMap& map);

}  // namespace fmbem
