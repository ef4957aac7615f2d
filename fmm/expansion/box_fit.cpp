#include "fmbem/fmm/expansion/box_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/expansion/harmonic_samples.hpp"

namespace fmbem::fmm {
namespace {

/// Cholesky's factorisation in place. In the first `known` rows of G [..][stride], of which columns
/// from the diagonal on are read, it leaves R with Rᵀ R = G, and R⁻ᵀ times the columns behind.
void factorise(double* g, int known, int size, std::size_t stride) {
  for (int i = 0; i < known; ++i) {
    double* const row = g + i * stride;
    const double scale = 1 / std::sqrt(row[i]);
    for (int j = i; j < size; ++j) row[j] *= scale;
    for (int k = i + 1; k < known; ++k) {
      double* const below = g + k * stride;
      const double factor = row[k];
      for (int j = k; j < size; ++j) below[j] -= factor * row[j];
    }
  }
}

}  // namespace

BoxFit::BoxFit(const ParityOrder& low, const ParityOrder& high, const Yukawa& kernel)
    : low_(low), high_(high) {
  constexpr int at_once = 256;  // nodes, whose regular functions stay in cache
  const auto& kernels = cpu_kernels<double>();
  const auto samples = harmonic_samples(high.p);
  const HarmonicSamples::Cube& cube = samples->cube();
  const std::vector<double> factors = radial_factors(kernel, high.p, cube.r2);
#pragma omp parallel for schedule(dynamic, 1)
  for (int e = 0; e < 8; ++e) {
    Class& part = classes_[e];
    const int size = high.begin[e + 1] - high.begin[e];
    const int known = part.known = low.begin[e + 1] - low.begin[e];
    const int unknown = part.unknown = size - known;
    if (size == 0) continue;
    // The rows of G with G_pp and G_pq, and as many more as products take at once. Rounding makes B
    // off by the condition of G_pp times a rounding, 1e-15 at order 5 and 5e-10 at 27, but in
    // directions in which moments hardly vary.
    const int rows = std::min(size, (known + 7) / 8 * 8), stride = whole_registers(kernels, size);
    std::vector<double> functions(static_cast<std::size_t>(size) * at_once),
        packed(packed_size(kernels, size, at_once)), g(static_cast<std::size_t>(rows) * stride);
    std::vector<std::int32_t> row_of(rows);
    std::iota(row_of.begin(), row_of.end(), 0);
    for (int first = 0; first < cube.nodes; first += at_once) {
      const int some = std::min(at_once, cube.nodes - first);
      for (int i = 0; i < size; ++i) {
        const int k = high.begin[e] + i;
        const double *const f = factors.data() + std::int64_t{high.degree[k]} * cube.nodes + first,
                            *const value =
                                cube.values.data() + std::int64_t{k} * cube.nodes + first;
        double* const row = functions.data() + i * some;
        for (int node = 0; node < some; ++node) row[node] = f[node] * value[node];
      }
      pack_panels(kernels, size, some, functions.data(), 1, some, packed.data());
      kernels.multiply(rows, size, some, functions.data(), some, packed.data(), g.data(), stride,
                       row_of.data());
    }
    factorise(g.data(), known, size, stride);
    // Bᵀ = G_pp⁻¹ G_pq = R⁻¹ (R⁻ᵀ G_pq), by back substitution.
    part.transposed.resize(static_cast<std::size_t>(known) * unknown);
    for (int i = known - 1; i >= 0; --i) {
      const double* row = g.data() + static_cast<std::size_t>(i) * stride;
      double* result = part.transposed.data() + static_cast<std::size_t>(i) * unknown;
      std::copy_n(row + known, unknown, result);
      for (int j = i + 1; j < known; ++j)
        for (int q = 0; q < unknown; ++q)
          result[q] -= row[j] * part.transposed[static_cast<std::size_t>(j) * unknown + q];
      for (int q = 0; q < unknown; ++q) result[q] /= row[i];
    }
    part.packed.resize(packed_size(kernels, known, unknown));
    pack_panels(kernels, known, unknown, part.transposed.data(), 1, unknown, part.packed.data());
  }
}

const std::vector<double>& BoxFit::project(const std::vector<double>& x, Room& room) const {
  const auto& kernels = cpu_kernels<double>();
  const int n_low = low_.count, n_high = high_.count, padded = whole_registers(kernels, n_low);
  std::vector<std::int32_t> row_of(n_high);
  std::iota(row_of.begin(), row_of.end(), 0);
  auto& [right, columns, rows, packed, result] = room;
  right.resize(static_cast<std::size_t>(n_high) * n_low);  // X B
  for (int e = 0; e < 8; ++e) {
    const Class& part = classes_[e];
    const int stride = whole_registers(kernels, part.known);
    columns.assign(static_cast<std::size_t>(n_high) * stride, 0);
    const double* from = x.data() + high_.begin[e];
    for (int i = 0; i < n_high; ++i)
      std::copy_n(from + static_cast<std::size_t>(i) * n_high, part.known,
                  columns.data() + static_cast<std::size_t>(i) * stride);
    kernels.multiply(n_high, part.known, part.unknown, from + part.known, n_high,
                     part.packed.data(), columns.data(), stride, row_of.data());
    for (int i = 0; i < n_high; ++i)
      std::copy_n(columns.data() + static_cast<std::size_t>(i) * stride, part.known,
                  right.data() + static_cast<std::size_t>(i) * n_low + low_.begin[e]);
  }
  result.resize(static_cast<std::size_t>(n_low) * n_low);
  for (int e = 0; e < 8; ++e) {
    const Class& part = classes_[e];
    const double* from = right.data() + static_cast<std::size_t>(high_.begin[e]) * n_low;
    rows.assign(static_cast<std::size_t>(part.known) * padded, 0);
    for (int i = 0; i < part.known; ++i)
      std::copy_n(from + static_cast<std::size_t>(i) * n_low, n_low,
                  rows.data() + static_cast<std::size_t>(i) * padded);
    packed.resize(packed_size(kernels, n_low, part.unknown));
    pack_panels(kernels, n_low, part.unknown, from + static_cast<std::size_t>(part.known) * n_low,
                n_low, 1, packed.data());
    kernels.multiply(part.known, n_low, part.unknown, part.transposed.data(), part.unknown,
                     packed.data(), rows.data(), padded, row_of.data());
    for (int i = 0; i < part.known; ++i)
      std::copy_n(rows.data() + static_cast<std::size_t>(i) * padded, n_low,
                  result.data() + static_cast<std::size_t>(low_.begin[e] + i) * n_low);
  }
  return result;
}

}  // namespace fmbem::fmm
