#include "fmbem/fmm/box_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/harmonics.hpp"

namespace fmbem::fmm {
namespace {

/// Nodes of Gauss and Legendre's rule on [−½, ½] that are positive, or zero, and their weights, by
/// Newton's method on the recurrence of P_n. A node and its mirror image count together.
struct HalfRule {
  std::vector<double> node, weight;

  explicit HalfRule(int n) {
    for (int i = 0; i < (n + 1) / 2; ++i) {
      double x = std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 1;
      for (int step = 0; step < 6; ++step) {
        double low = 1, here = x;
        for (int k = 2; k <= n; ++k) {
          const double next = ((2 * k - 1) * x * here - (k - 1) * low) / k;
          low = here;
          here = next;
        }
        slope = n * (x * here - low) / (x * x - 1);
        x -= here / slope;
      }
      const bool centre = 2 * i + 1 == n;
      node.push_back(centre ? 0 : x / 2);
      weight.push_back((centre ? 1 : 2) / ((1 - x * x) * slope * slope));
    }
  }
};

/// Harmonics of one class at the nodes of the cube's positive octant, times the root of the
/// weight: [nodes][K_q of the class]. The other octants mirror it.
std::vector<double> samples(const ParityOrder& order, int e) {
  // The measure need not be uniform to the last digit: fewer nodes than degree 2q asks for do.
  const HalfRule rule(3 * order.p / 4 + 3);
  const int size = order.begin[e + 1] - order.begin[e];
  std::vector<int> natural(size);
  for (int index = 0; index < order.count; ++index) {
    const int position = order.position[index];
    if (order.parity[position] == e) natural[position - order.begin[e]] = index;
  }
  std::vector<double> result, harmonics(order.count);
  const std::size_t n = rule.node.size();
  for (std::size_t i = 0; i < n * n * n; ++i) {
    const std::size_t a = i / (n * n), b = i / n % n, c = i % n;
    regular_harmonics(Vec3d{rule.node[a], rule.node[b], rule.node[c]}, order.p, harmonics.data());
    const double root = std::sqrt(rule.weight[a] * rule.weight[b] * rule.weight[c]);
    for (const int index : natural) result.push_back(root * harmonics[index]);
  }
  return result;
}

/// R [size][size], upper triangular, with Rᵀ R = Sᵀ S, by Householder reflections of S
/// [rows][size]: the condition of S is the root of its Gram matrix's. Overwrites S.
void triangularise(std::vector<double>& s, int size) {
  const int rows = static_cast<int>(s.size()) / size;
  std::vector<double> v(rows), product(size);
  for (int k = 0; k < size && k < rows; ++k) {
    double norm2 = 0;
    for (int i = k; i < rows; ++i)
      norm2 +=
          s[static_cast<std::size_t>(i) * size + k] * s[static_cast<std::size_t>(i) * size + k];
    if (norm2 == 0) continue;
    const double head = s[static_cast<std::size_t>(k) * size + k];
    const double alpha = head > 0 ? -std::sqrt(norm2) : std::sqrt(norm2);
    for (int i = k; i < rows; ++i) v[i] = s[static_cast<std::size_t>(i) * size + k];
    v[k] -= alpha;
    const double scale = 2 / (norm2 - 2 * alpha * head + alpha * alpha);
    product.assign(size, 0);
    for (int i = k; i < rows; ++i)
      for (int j = k; j < size; ++j) product[j] += v[i] * s[static_cast<std::size_t>(i) * size + j];
    for (int i = k; i < rows; ++i)
      for (int j = k; j < size; ++j)
        s[static_cast<std::size_t>(i) * size + j] -= scale * v[i] * product[j];
  }
}

}  // namespace

BoxFit::BoxFit(const ParityOrder& low, const ParityOrder& high) : low_(low), high_(high) {
  const auto& kernels = cpu_kernels<double>();
#pragma omp parallel for schedule(dynamic, 1)
  for (int e = 0; e < 8; ++e) {
    Class& part = classes_[e];
    const int size = high.begin[e + 1] - high.begin[e];
    const int known = part.known = low.begin[e + 1] - low.begin[e];
    const int unknown = part.unknown = size - known;
    if (size == 0) continue;
    std::vector<double> r = samples(high, e);
    triangularise(r, size);
    // With R = [R_pp R_pq; 0 R_qq], Bᵀ = R_pp⁻¹ R_pq, by back substitution.
    part.transposed.resize(static_cast<std::size_t>(known) * unknown);
    for (int i = known - 1; i >= 0; --i) {
      const double* row = r.data() + static_cast<std::size_t>(i) * size;
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

std::vector<double> BoxFit::project(const std::vector<double>& x) const {
  const auto& kernels = cpu_kernels<double>();
  const int n_low = low_.count, n_high = high_.count, padded = whole_registers(kernels, n_low);
  std::vector<std::int32_t> row_of(n_high);
  std::iota(row_of.begin(), row_of.end(), 0);
  std::vector<double> right(static_cast<std::size_t>(n_high) * n_low), columns, rows,
      packed;  // X B
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
  std::vector<double> result(static_cast<std::size_t>(n_low) * n_low);
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
