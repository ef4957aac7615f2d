#include "fmbem/solvers/petsc.hpp"

#include <string>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

// Keeps the message of the first error; the later ones only say which calls it went through.
PetscErrorCode keep_message(MPI_Comm, int, const char*, const char*, PetscErrorCode code,
                            PetscErrorType type, const char* message, void* kept) {
  auto& text = *static_cast<std::string*>(kept);
  if (type == PETSC_ERROR_INITIAL && message) text = message;
  return code;
}

// PETSc's messages run over several lines; a sentence does not.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

void petsc_calls(const std::function<PetscErrorCode()>& calls) {
  std::string message;
  PetscPushErrorHandler(keep_message, &message);
  PetscErrorCode code = PETSC_SUCCESS;
  try {
    code = calls();
  } catch (...) {
    PetscPopErrorHandler();
    throw;
  }
  PetscPopErrorHandler();
  if (code == PETSC_SUCCESS) return;
  const std::string sentence =
      "PETSc: " + (message.empty() ? "error " + std::to_string(code) : first_line(message));
  switch (static_cast<int>(code)) {
    case PETSC_ERR_ARG_UNKNOWN_TYPE:
    case PETSC_ERR_ARG_OUTOFRANGE:
    case PETSC_ERR_ARG_WRONG:
    case PETSC_ERR_USER:
    case PETSC_ERR_USER_INPUT:
    case PETSC_ERR_FILE_OPEN:
    case PETSC_ERR_FILE_UNEXPECTED:
    case PETSC_ERR_SUP:
    case PETSC_ERR_ARG_INCOMP:
    case PETSC_ERR_MISSING_FACTOR:
      throw InputError(sentence + " (check the PETSc options)");
    case PETSC_ERR_NOT_CONVERGED:  // with -ksp_error_if_not_converged
      throw Error(ExitCode::not_converged, sentence);
    case PETSC_ERR_MEM:
      throw ResourceError(sentence);
    case PETSC_ERR_GPU:
      if (message.find("out of memory") == std::string::npos)
        throw Error(ExitCode::internal_error, sentence);
      [[fallthrough]];
    case PETSC_ERR_GPU_RESOURCE:
      throw ResourceError(sentence +
                          " (the GPU's memory does not suffice: use the lean near field, "
                          "--near-field lean, or the backend cpu)");
    default:
      throw Error(ExitCode::internal_error, sentence);
  }
}

PetscErrorCode multiply(const LinearMap& map, Vec x, Vec y, const Product& product,
                        std::exception_ptr& kept) {
  const PetscScalar* x_values = nullptr;
  PetscScalar* y_values = nullptr;
  PetscMemType x_place = PETSC_MEMTYPE_HOST, y_place = PETSC_MEMTYPE_HOST;
  bool on_device = map.processor() == Processor::gpu;
  PetscFunctionBeginUser;
  if (on_device) {
    PetscCall(VecGetArrayReadAndMemType(x, &x_values, &x_place));
    PetscCall(VecGetArrayWriteAndMemType(y, &y_values, &y_place));
    if (PetscMemTypeHost(x_place) != PetscMemTypeHost(y_place)) {
      PetscCall(VecRestoreArrayWriteAndMemType(y, &y_values));
      PetscCall(VecRestoreArrayReadAndMemType(x, &x_values));
      on_device = false;
      x_place = PETSC_MEMTYPE_HOST;
    }
  }
  if (!on_device) {
    PetscCall(VecGetArrayRead(x, &x_values));
    PetscCall(VecGetArrayWrite(y, &y_values));
  }
  try {
    if (PetscMemTypeHost(x_place)) {
      map.apply(x_values, y_values, product);
    } else {
      map.apply_on_device(x_values, y_values, product);
      map.wait();
    }
  } catch (const std::exception& e) {
    kept = std::current_exception();
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", e.what());
  }
  if (on_device) {
    PetscCall(VecRestoreArrayWriteAndMemType(y, &y_values));
    PetscCall(VecRestoreArrayReadAndMemType(x, &x_values));
  } else {
    PetscCall(VecRestoreArrayWrite(y, &y_values));
    PetscCall(VecRestoreArrayRead(x, &x_values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// Makes a vector as long as some vectors together, of the kind of the first, unless there is one.
PetscErrorCode make_stacked(std::span<const Vec> parts, Vec* stacked) {
  VecType type = nullptr;
  PetscInt n = 0, size = 0;
  PetscFunctionBeginUser;
  PetscCall(VecGetType(parts[0], &type));
  PetscCall(VecGetSize(parts[0], &n));
  const auto all = n * static_cast<PetscInt>(parts.size());
  if (*stacked) PetscCall(VecGetSize(*stacked, &size));
  if (size >= all) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDestroy(stacked));
  PetscCall(VecCreate(PetscObjectComm(reinterpret_cast<PetscObject>(parts[0])), stacked));
  PetscCall(VecSetSizes(*stacked, all, all));
  PetscCall(VecSetType(*stacked, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#ifdef PETSC_HAVE_CUDA
/// for_parts() of vectors in device memory, where PETSc's subvectors would go through the host's.
template <class Copy>
PetscErrorCode for_parts_on_device(std::span<const Vec> parts, Vec stacked, bool fills,
                                   Copy&& copy) {
  PetscScalar* values = nullptr;
  PetscInt n = 0;
  PetscFunctionBeginUser;
  PetscCall(VecGetSize(parts[0], &n));
  PetscCall(fills ? VecCUDAGetArrayWrite(stacked, &values) : VecCUDAGetArray(stacked, &values));
  for (std::size_t k = 0; k < parts.size(); ++k) {
    OwnedVec place;
    PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, n, values + k * n, &place.vec));
    PetscCall(copy(parts[k], place.vec));
  }
  PetscCall(fills ? VecCUDARestoreArrayWrite(stacked, &values)
                  : VecCUDARestoreArray(stacked, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/// Calls copy(part, its place in the stacked vector), which it fills or reads.
template <class Copy>
PetscErrorCode for_parts(std::span<const Vec> parts, Vec stacked, [[maybe_unused]] bool fills,
                         Copy&& copy) {
  PetscInt n = 0;
  PetscFunctionBeginUser;
#ifdef PETSC_HAVE_CUDA
  PetscBool is_cuda = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(stacked), &is_cuda, VECSEQCUDA,
                                      VECMPICUDA, ""));
  if (is_cuda) {
    PetscCall(for_parts_on_device(parts, stacked, fills, copy));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(VecGetSize(parts[0], &n));
  for (std::size_t k = 0; k < parts.size(); ++k) {
    IS is = nullptr;
    Vec place = nullptr;
    PetscCall(ISCreateStride(PetscObjectComm(reinterpret_cast<PetscObject>(stacked)), n,
                             static_cast<PetscInt>(k) * n, 1, &is));
    PetscCall(VecGetSubVector(stacked, is, &place));
    PetscCall(copy(parts[k], place));
    PetscCall(VecRestoreSubVector(stacked, is, &place));
    PetscCall(ISDestroy(&is));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode multiply_together(const LinearMap& map, std::span<const Vec> x,
                                 std::span<const Vec> y, double tolerance, StackedVecs& room,
                                 std::exception_ptr& kept) {
  const Product product{.vectors = static_cast<int>(x.size()), .tolerance = tolerance};
  PetscFunctionBeginUser;
  if (x.size() == 1) {
    PetscCall(multiply(map, x[0], y[0], product, kept));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(make_stacked(x, &room.x.vec));
  PetscCall(make_stacked(y, &room.y.vec));
  PetscCall(
      for_parts(x, room.x.vec, true, [](Vec part, Vec place) { return VecCopy(part, place); }));
  PetscCall(multiply(map, room.x.vec, room.y.vec, product, kept));
  PetscCall(
      for_parts(y, room.y.vec, false, [](Vec part, Vec place) { return VecCopy(place, part); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

VecType vec_type_for([[maybe_unused]] const LinearMap& map) {
#ifdef PETSC_HAVE_CUDA
  if (map.processor() == Processor::gpu) return VECCUDA;
#endif
  return VECSTANDARD;
}

}  // namespace fmbem
