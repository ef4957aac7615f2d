// The elimination of small systems on the GPU, in single precision: rows of the inverse against
// those of plain elimination in double precision, and, of large systems, times the matrix.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"
#include "tests/unit/bem/device_elimination.hpp"
#include "tests/unit/bem/plain_inverse.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::cuda_elimination_tests {

namespace {

/// By rows, random in [−1, 1].
std::vector<float> random_matrix(int size, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> entry(-1, 1);
  std::vector<float> matrix(static_cast<std::size_t>(size) * size);
  for (float& x : matrix) x = entry(generator);
  return matrix;
}

/// Like equations of potentials: with a diagonal, and what decays from it.
std::vector<float> smooth_matrix(int size, unsigned seed) {
  std::vector<float> matrix = random_matrix(size, seed);
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) {
      float& entry = matrix[i * size + j];
      entry = i == j ? 1 + 0.1F * entry
                     : (0.2F + 0.05F * entry) / std::sqrt(1 + static_cast<float>(std::abs(i - j)));
    }
  return matrix;
}

/// Pivots are far from the diagonal in each column: entry (i, j) is large where i = j + size / 2 +
/// 1 modulo the size.
std::vector<float> moved_matrix(int size, unsigned seed) {
  std::vector<float> matrix = random_matrix(size, seed);
  for (float& entry : matrix) entry *= 0.02F;
  for (int j = 0; j < size; ++j)
    matrix[(j + size / 2 + 1) % size * size + j] += 1 + 0.5F * matrix[j];
  return matrix;
}

/// The largest entry of rows times the matrix, less those of the identity.
double residual(const std::vector<float>& rows, const std::vector<float>& matrix, int size,
                int own) {
  double worst = 0;
  std::vector<double> product(size);
  for (int i = 0; i < own; ++i) {
    std::fill(product.begin(), product.end(), 0.0);
    for (int k = 0; k < size; ++k)
      for (int j = 0; j < size; ++j)
        product[j] += double(rows[i * size + k]) * matrix[k * size + j];
    product[size - own + i] -= 1;
    for (const double left : product) worst = larger_error(worst, std::abs(left));
  }
  return worst;
}

/// The difference of rows from those of the inverse over these, in the Frobenius norm.
double difference_from_plain(const std::vector<float>& rows, const std::vector<float>& matrix,
                             int size, int own) {
  Matrix a(size, std::vector<double>(size));
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) a[i][j] = matrix[i * size + j];
  const Matrix inverse = inverse_of(a);
  double error2 = 0, size2 = 0;
  for (int i = 0; i < own; ++i)
    for (int k = 0; k < size; ++k) {
      const double exact = inverse[size - own + i][k];
      error2 += std::pow(rows[i * size + k] - exact, 2);
      size2 += exact * exact;
    }
  return std::sqrt(error2 / size2);
}

/// Some of 1 to all rows.
std::vector<int> numbers_of_rows(int size) {
  std::vector<int> numbers{1, size / 3, size / 2, size - 1, size};
  std::erase_if(numbers, [](int own) { return own < 1; });
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

/// Equations of Green's identities behind and ahead of nodes on a sphere, as points that are
/// smeared, and a screening length outside. `ratio`: ε inside over that outside. K takes all of ½
/// from constants.
std::vector<float> system_on_sphere(int nodes, double ratio) {
  const int size = 2 * nodes;
  std::vector<float> matrix(static_cast<std::size_t>(size) * size);
  const auto place = [&](int k) {
    const double z = 1 - (2 * k + 1.0) / nodes, turn = 2.4 * k, r = std::sqrt(1 - z * z);
    return Vec3d{r * std::cos(turn), r * std::sin(turn), z};
  };
  const auto distance = [&](int k, int l) {
    return std::sqrt(norm2(place(k) - place(l)) + 1.0 / nodes);
  };
  const auto k_of = [&](int k, int l) {
    return dot(place(l), place(k) - place(l)) / (nodes * std::pow(distance(k, l), 3));
  };
  for (int k = 0; k < nodes; ++k) {
    double own_k = -0.5;
    for (int l = 0; l < nodes; ++l)
      if (l != k) own_k -= k_of(k, l);
    for (int l = 0; l < nodes; ++l) {
      const double r = distance(k, l), v = 1 / (nodes * r),
                   double_layer = k == l ? own_k : k_of(k, l), screened = std::exp(-2 * r);
      const auto entry = [&](int side, int field) -> float& {
        return matrix[(2 * k + side) * size + 2 * l + field];
      };
      const double own = k == l ? 0.5 : 0;
      entry(0, 0) = static_cast<float>(own + double_layer);
      entry(0, 1) = static_cast<float>(-v);
      entry(1, 0) = static_cast<float>(own - (1 + 2 * r) * screened * double_layer);
      entry(1, 1) = static_cast<float>(ratio * screened * v);
    }
  }
  return matrix;
}

}  // namespace

TEST_CASE("small systems eliminated on the GPU have the rows of plain elimination") {
  if (!gpu_is_there()) return;
  for (const int size : {1,  2,  3,   4,   5,   7,   8,   9,   15,  16,  17,  23,  24, 25,
                         31, 32, 33,  34,  40,  47,  48,  49,  63,  64,  65,  66,  95, 96,
                         97, 98, 127, 128, 129, 130, 160, 161, 191, 192, 193, 224, 225})
    for (const int own : numbers_of_rows(size)) {
      CAPTURE(size, own);
      const std::vector<float> smooth = smooth_matrix(size, size), moved = moved_matrix(size, size);
      CHECK(difference_from_plain(last_rows_on_device(smooth, size, own), smooth, size, own) <
            1e-5);
      CHECK(difference_from_plain(last_rows_on_device(moved, size, own), moved, size, own) < 1e-5);
    }
}

TEST_CASE("small systems of any entries are eliminated on the GPU as stably as they may be") {
  if (!gpu_is_there()) return;
  for (const int size : {33, 64, 100, 129, 200})
    for (const unsigned seed : {1U, 2U, 3U}) {
      CAPTURE(size, seed);
      const std::vector<float> matrix = random_matrix(size, seed);
      // The condition of such matrices is some ten times their size.
      CHECK(difference_from_plain(last_rows_on_device(matrix, size, size / 2), matrix, size,
                                  size / 2) < 3e-3);
    }
}

TEST_CASE("large systems eliminated on the GPU, whose panels are narrower") {
  if (!gpu_is_there()) return;
  for (const int size :
       {255, 256, 257, 288, 289, 383, 384, 385, 400, 513, 767, 768, 769, 1100, 1536})
    for (const int own : {1, 64, 130}) {
      CAPTURE(size, own);
      const std::vector<float> smooth = smooth_matrix(size, size), moved = moved_matrix(size, size);
      CHECK(residual(last_rows_on_device(smooth, size, own), smooth, size, own) < 1e-4);
      CHECK(residual(last_rows_on_device(moved, size, own), moved, size, own) < 1e-4);
    }
}

TEST_CASE("equations of very different size are eliminated on the GPU as if they were not") {
  if (!gpu_is_there()) return;
  constexpr int size = 150, own = 40;
  const std::vector<float> matrix = smooth_matrix(size, 1);
  std::vector<float> scaled = matrix;
  const auto factor = [](int i) { return std::ldexp(1.0F, i * 37 % 81 - 40); };
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) scaled[i * size + j] *= factor(i);
  const std::vector<float> rows = last_rows_on_device(matrix, size, own);
  std::vector<float> of_scaled = last_rows_on_device(scaled, size, own);
  for (int i = 0; i < own; ++i)
    for (int k = 0; k < size; ++k) of_scaled[i * size + k] *= factor(k);
  CHECK(of_scaled == rows);
}

TEST_CASE("singular small systems are found on the GPU") {
  if (!gpu_is_there()) return;
  CHECK(last_rows_on_device({0}, 1, 1).empty());
  for (const int size : {2, 32, 33, 70, 150})
    for (const int at : {0, size / 2, size - 1}) {
      CAPTURE(size, at);
      const std::vector<float> regular = smooth_matrix(size, size);
      std::vector<float> zero_row = regular, zero_column = regular, equal_rows = regular,
                         not_a_number = regular, infinite = regular;
      for (int k = 0; k < size; ++k) {
        zero_row[at * size + k] = zero_column[k * size + at] = 0;
        equal_rows[at * size + k] = equal_rows[(at + 1) % size * size + k];
      }
      not_a_number[at * size + at] = std::numeric_limits<float>::quiet_NaN();
      infinite[at * size + at] = std::numeric_limits<float>::infinity();
      CHECK_FALSE(last_rows_on_device(regular, size, 1).empty());
      for (const std::vector<float>& matrix : {zero_row, zero_column, not_a_number, infinite})
        CHECK(last_rows_on_device(matrix, size, size / 2).empty());
      // In larger systems tensor cores leave 2^-22 of a difference.
      if (size <= 32) CHECK(last_rows_on_device(equal_rows, size, size / 2).empty());
    }
}

TEST_CASE("matrices in shared memory of the GPU have the inverse of plain elimination") {
  if (!gpu_is_there()) return;
  for (const int size : {1, 2, 17, 31, 32, 33, 63, 64, 65, 96, 100, 127, 128}) {
    CAPTURE(size);
    const std::vector<float> smooth = smooth_matrix(size, size);
    CHECK(difference_from_plain(inverse_in_shared_memory(smooth, size), smooth, size, size) < 1e-5);
    // Where pivots are far from the diagonal there is no result rather than a wrong one.
    for (const std::vector<float>& matrix : {moved_matrix(size, size), random_matrix(size, size)}) {
      const std::vector<float> inverse = inverse_in_shared_memory(matrix, size);
      CHECK((inverse.empty() || difference_from_plain(inverse, matrix, size, size) < 0.05));
    }
  }
}

TEST_CASE("singular matrices are found in shared memory of the GPU") {
  if (!gpu_is_there()) return;
  for (const int size : {1, 20, 32, 70, 128})
    for (const int at : {0, size / 2, size - 1}) {
      CAPTURE(size, at);
      const std::vector<float> regular = smooth_matrix(size, size);
      std::vector<float> zero_row = regular, zero_column = regular, not_a_number = regular,
                         infinite = regular;
      for (int k = 0; k < size; ++k) zero_row[at * size + k] = zero_column[k * size + at] = 0;
      not_a_number[at * size + at] = std::numeric_limits<float>::quiet_NaN();
      infinite[at * size + at] = std::numeric_limits<float>::infinity();
      CHECK_FALSE(inverse_in_shared_memory(regular, size).empty());
      for (const std::vector<float>& matrix : {zero_row, zero_column, not_a_number, infinite})
        CHECK(inverse_in_shared_memory(matrix, size).empty());
    }
}

TEST_CASE("systems of potentials and fluxes by parts have the rows of plain elimination") {
  if (!gpu_is_there()) return;
  for (const int nodes : {1, 3, 31, 32, 33, 60, 64, 90, 97, 128})
    for (const int own : {1, 20, 32}) {
      if (own > nodes) continue;
      CAPTURE(nodes, own);
      const std::vector<float> matrix = system_on_sphere(nodes, 0.05);
      CHECK(difference_from_plain(last_rows_by_parts(matrix, nodes, own), matrix, 2 * nodes,
                                  2 * own) < 1e-4);
    }
  CHECK(last_rows_by_parts(std::vector<float>(400), 10, 5).empty());
  // Of some flux ½ + K leaves nothing, and rounding of the rest is more than what is left of V:
  // there is no result rather than a wrong one.
  CHECK(last_rows_by_parts(system_on_sphere(100, 1e8), 100, 32).empty());
}

}  // namespace fmbem::test::cuda_elimination_tests
