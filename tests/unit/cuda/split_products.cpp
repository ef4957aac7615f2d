// M2L's products in single precision, of numbers that are split into two halves, against sums in
// double precision.
#include "tests/unit/cuda/split_products.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/larger_error.hpp"

namespace fmbem::test::cuda_split_products_tests {

namespace {

/// Random numbers, times 2^x with x up to `range` to either side for each row and each 32 terms,
/// some of them zero.
EightHostMatrices random_matrices(int rows, int columns, double range, std::mt19937& random) {
  std::normal_distribution<float> number;
  std::uniform_real_distribution<double> exponent(-range, range);
  EightHostMatrices result{rows, columns, {}};
  result.values.resize(std::size_t{8} * rows * columns);
  for (int e = 0; e < 8; ++e)
    for (int i = 0; i < rows; ++i) {
      float scale = 1;
      for (int k = 0; k < columns; ++k) {
        if (k % 32 == 0) scale = static_cast<float>(std::exp2(exponent(random)));
        result.row(e, i)[k] = k % 7 == 3 ? 0 : scale * number(random);
      }
    }
  return result;
}

/// The largest error over what rounding allows.
double worst_error(const EightHostMatrices& a, const EightHostMatrices& b,
                   const EightHostMatrices& c) {
  const int depth = a.columns, chunks = (depth + 31) / 32;
  // Halves, 2^-22 of either factor and of the product of both low ones; the truncated sum of six
  // times sixteen products of a chunk, and rounded sums of chunks.
  const double relative = 3 * 0x1p-22 + 8 * 0x1p-23 + chunks * 0x1p-24;
  double worst = 0;
#pragma omp parallel for reduction(max : worst)
  for (int i = 0; i < a.rows; ++i)
    for (int e = 0; e < 8; ++e)
      for (int j = 0; j < b.rows; ++j) {
        double sum = 0, size = 0, smallest = 0, of_row = 0;
        for (int k = 0; k < depth; ++k)
          of_row = larger_error(of_row, std::abs(static_cast<double>(b.row(e, j)[k])));
        for (int first = 0; first < depth; first += 32) {
          double largest = 0;  // of all eight, which have a unit together
          const int last = std::min(first + 32, depth);
          for (int other = 0; other < 8; ++other)
            for (int k = first; k < last; ++k)
              largest = larger_error(largest, std::abs(static_cast<double>(a.row(other, i)[k])));
          for (int k = first; k < last; ++k) {
            const double x = a.row(e, i)[k], y = b.row(e, j)[k];
            sum += x * y;
            size += std::abs(x * y);
            smallest += 0x1p-39 * (largest * std::abs(y) + of_row * std::abs(x));
          }
        }
        const double error = std::abs(c.row(e, i)[j] - sum) / (relative * size + smallest + 1e-37);
        worst = larger_error(worst, std::isfinite(error) ? error : 1e300);
      }
  return worst;
}

}  // namespace

TEST_CASE("products of split numbers are right to single precision") {
  if (!gpu_is_there()) return;
  // Coefficients of orders 0 to 15, some beyond the widest block; one block of rows and several, in
  // small blocks and, of many rows, in large ones.
  const int count = GENERATE(1, 4, 9, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225, 256);
  const int many = 70'000 / count;
  const int rows = GENERATE_COPY(1, 97, 300, many);
  const int orbits = rows == many ? 1 : count > 100 ? 3 : 26;
  const double range = GENERATE(0.0, 12.0);
  CAPTURE(count, rows, range);
  std::mt19937 random(static_cast<unsigned>(1000 * count + rows));
  const auto a = random_matrices(rows, orbits * count, range, random),
             b = random_matrices(count, orbits * count, range / 4, random);
  const auto c = multiply_split_on_device(a, b, orbits);
  CHECK(worst_error(a, b, c) < 1);
  // The same bits again, and those of some of the rows alone.
  CHECK(multiply_split_on_device(a, b, orbits).values == c.values);
  EightHostMatrices some{(rows + 1) / 2, a.columns, {}};
  for (int e = 0; e < 8; ++e)
    some.values.insert(some.values.end(), a.row(e, 0),
                       a.row(e, 0) + std::size_t{1} * some.rows * a.columns);
  const auto of_some = multiply_split_on_device(some, b, orbits);
  bool same = true;
  for (int e = 0; e < 8; ++e)
    same = same && std::equal(of_some.row(e, 0),
                              of_some.row(e, 0) + std::size_t{1} * some.rows * count, c.row(e, 0));
  CHECK(same);
}

}  // namespace fmbem::test::cuda_split_products_tests
