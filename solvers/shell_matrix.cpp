#include "fmbem/solvers/shell_matrix.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/solvers/petsc_session.hpp"

namespace fmbem {

ShellMatrix::ShellMatrix(std::shared_ptr<const BoundaryOperator> op, bool host_vectors)
    : op_(std::move(op)) {
  start_petsc();
  FMBEM_REQUIRE(mpi_ranks() == 1, "a boundary operator runs on one rank for now, not on "
                                      << mpi_ranks() << ": start it without mpirun");
  FMBEM_REQUIRE(op_->rows() == op_->size() && op_->columns() == op_->size(),
                "a shell matrix is of a whole operator, and this one is a block of "
                    << op_->rows() << " rows and " << op_->columns() << " columns");
  const std::size_t unknowns = op_->size();
  FMBEM_REQUIRE(unknowns <= static_cast<std::size_t>(std::numeric_limits<PetscInt>::max()),
                "this PETSc counts to " << std::numeric_limits<PetscInt>::max()
                                        << " unknowns: use one with 64-bit indices");
  const auto n = static_cast<PetscInt>(unknowns);
  petsc_calls([&] {
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, n, n, this, &mat_));
    PetscCall(MatShellSetOperation(mat_, MATOP_MULT, shell_operation(mult)));
    PetscCall(MatShellSetOperation(mat_, MATOP_MULT_TRANSPOSE, shell_operation(mult_transpose)));
    PetscCall(MatShellSetOperation(mat_, MATOP_GET_DIAGONAL, shell_operation(get_diagonal)));
    PetscCall(MatShellSetVecType(mat_, host_vectors ? VECSTANDARD : vec_type_for(*op_)));
    PetscCall(MatShellSetMatProductOperation(mat_, MATPRODUCT_AB, nullptr, multiply_dense, nullptr,
                                             MATDENSE, MATDENSE));
    return PetscErrorCode(PETSC_SUCCESS);
  });
}

ShellMatrix::~ShellMatrix() {
  PetscBool ended = PETSC_FALSE;
  PetscFinalized(&ended);
  if (!ended) MatDestroy(&mat_);
}

PetscErrorCode ShellMatrix::mult(Mat mat, Vec x, Vec y) {
  ShellMatrix* self = nullptr;
  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(mat, &self));
  PetscCall(self->multiply_ ? self->multiply_(x, y)
                            : fmbem::multiply(*self->op_, x, y, {}, self->exception_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ShellMatrix::mult_transpose(Mat mat, Vec x, Vec y) {
  ShellMatrix* self = nullptr;
  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(mat, &self));
  PetscCall(fmbem::multiply(*self->op_, x, y, {.transposed = true}, self->exception_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ShellMatrix::multiply_dense(Mat mat, Mat x, Mat y, void*) {
  ShellMatrix* self = nullptr;
  PetscInt columns = 0, x_lead = 0, y_lead = 0;
  const PetscScalar* x_values = nullptr;
  PetscScalar* y_values = nullptr;
  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(mat, &self));
  PetscCall(MatGetSize(x, nullptr, &columns));
  PetscCall(MatDenseGetLDA(x, &x_lead));
  PetscCall(MatDenseGetLDA(y, &y_lead));
  PetscCall(MatDenseGetArrayRead(x, &x_values));
  PetscCall(MatDenseGetArrayWrite(y, &y_values));
  const auto n = static_cast<PetscInt>(self->op_->size());
  try {
    if (x_lead == n && y_lead == n) {
      self->op_->apply(x_values, y_values, {.vectors = static_cast<int>(columns)});
    } else {
      for (PetscInt k = 0; k < columns; ++k)
        self->op_->apply(x_values + k * std::int64_t{x_lead}, y_values + k * std::int64_t{y_lead});
    }
  } catch (const std::exception& e) {
    self->exception_ = std::current_exception();
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", e.what());
  }
  PetscCall(MatDenseRestoreArrayWrite(y, &y_values));
  PetscCall(MatDenseRestoreArrayRead(x, &x_values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ShellMatrix::get_diagonal(Mat mat, Vec diagonal) {
  ShellMatrix* self = nullptr;
  PetscScalar* values = nullptr;
  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(mat, &self));
  PetscCall(VecGetArrayWrite(diagonal, &values));
  const std::size_t n = self->op_->size();
  for (std::size_t i = 0; i < n; ++i) PetscCallCXX(self->op_->diagonal_block(i, i + 1, values + i));
  PetscCall(VecRestoreArrayWrite(diagonal, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void ShellMatrix::rethrow() {
  if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
}

Mat make_leaf_blocks(const BoundaryOperator& op, std::span<const std::int64_t> leaf_begin) {
  FMBEM_REQUIRE(leaf_begin.size() >= 2 && leaf_begin.front() == 0 &&
                    leaf_begin.back() == static_cast<std::int64_t>(op.size()) &&
                    std::is_sorted(leaf_begin.begin(), leaf_begin.end()),
                "the leaves must cover all " << op.size() << " unknowns, one after the other");
  const auto n = static_cast<PetscInt>(op.size());
  const std::size_t n_leaves = leaf_begin.size() - 1;
  std::vector<PetscInt> row_entries(n), leaf_size(n_leaves);
  for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
    leaf_size[leaf] = static_cast<PetscInt>(leaf_begin[leaf + 1] - leaf_begin[leaf]);
    std::fill_n(row_entries.begin() + leaf_begin[leaf], leaf_size[leaf], leaf_size[leaf]);
  }
  Mat blocks = nullptr;
  petsc_calls([&] {
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 0, row_entries.data(), &blocks));
    std::vector<double> values;
    std::vector<PetscInt> index;
    for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
      const PetscInt size = leaf_size[leaf];
      values.resize(std::size_t(size) * size);
      index.resize(size);
      std::iota(index.begin(), index.end(), static_cast<PetscInt>(leaf_begin[leaf]));
      op.diagonal_block(leaf_begin[leaf], leaf_begin[leaf + 1], values.data());
      PetscCall(MatSetValues(blocks, size, index.data(), size, index.data(), values.data(),
                             INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(blocks, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(blocks, MAT_FINAL_ASSEMBLY));
    PetscCall(MatSetVariableBlockSizes(blocks, static_cast<PetscInt>(n_leaves), leaf_size.data()));
    return PetscErrorCode(PETSC_SUCCESS);
  });
  return blocks;
}

#ifdef PETSC_HAVE_CUDA
namespace {

/// All entries in the GPU's memory; null where the operator has them on the host alone.
Mat dense_matrix_on_device(const BoundaryOperator& op) {
  const auto n = static_cast<PetscInt>(op.size());
  OwnedMat matrix;
  bool is_filled = false;
  petsc_calls([&] {
    PetscScalar* entries = nullptr;
    PetscCall(MatCreateSeqDenseCUDA(PETSC_COMM_SELF, n, n, nullptr, &matrix.mat));
    PetscCall(MatDenseCUDAGetArrayWrite(matrix.mat, &entries));
    // Kernels of some operators go over columns in a grid, which has at most 65,535 rows.
    constexpr PetscInt columns_at_once = 32768;
    is_filled = true;
    for (PetscInt first = 0; is_filled && first < n; first += columns_at_once)
      is_filled = op.columns_on_device({first, std::min(n, first + columns_at_once)},
                                       entries + std::int64_t{first} * n);
    op.wait();
    PetscCall(MatDenseCUDARestoreArrayWrite(matrix.mat, &entries));
    return success;
  });
  return is_filled ? std::exchange(matrix.mat, nullptr) : nullptr;
}

}  // namespace
#endif

namespace {

/// [column][row]
std::vector<double> columns_of(const BoundaryOperator& op) {
  if (!op.is_its_entries()) return matrix_of(op);
  const std::size_t n = op.size();
  std::vector<double> columns(n * n);
  op.diagonal_block(0, static_cast<std::int64_t>(n), columns.data());  // row by row
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) std::swap(columns[i * n + j], columns[j * n + i]);
  return columns;
}

}  // namespace

Mat make_dense_matrix(const BoundaryOperator& op) {
#ifdef PETSC_HAVE_CUDA
  if (op.processor() == Processor::gpu && op.is_its_entries())
    if (Mat matrix = dense_matrix_on_device(op)) return matrix;
#endif
  const std::size_t n = op.size();
  const auto bytes = static_cast<std::int64_t>(2 * n * n * sizeof(double));
  if (bytes > available_memory())
    throw ResourceError("all entries of " + std::to_string(n) + " unknowns need " +
                        std::to_string(bytes >> 20) + " MiB, but " +
                        std::to_string(available_memory() >> 20) + " MiB are free");
  const std::vector<double> of_columns = columns_of(op);
  Mat matrix = nullptr;
  petsc_calls([&] {
    const auto size = static_cast<PetscInt>(n);
    PetscScalar* columns = nullptr;
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, size, size, nullptr, &matrix));
    PetscCall(MatDenseGetArrayWrite(matrix, &columns));
    std::copy(of_columns.begin(), of_columns.end(), columns);
    PetscCall(MatDenseRestoreArrayWrite(matrix, &columns));
#ifdef PETSC_HAVE_CUDA
    if (op.processor() == Processor::gpu)
      PetscCall(MatConvert(matrix, MATSEQDENSECUDA, MAT_INPLACE_MATRIX, &matrix));
#endif
    return PetscErrorCode(PETSC_SUCCESS);
  });
  return matrix;
}

}  // namespace fmbem
