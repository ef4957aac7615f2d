#include <algorithm>
#include <numbers>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/copied.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/m2l_tables.cuh"
#include "fmbem/fmm/expansion/box_fit.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"

namespace fmbem::cuda {
namespace {

constexpr int shift_threads = 256;

/// T_n^m(r) of degree ≤ p for the eight mirror images of each orbit but the first, a block each:
/// real parts at (n, m), imaginary ones at (n, −m), m ≥ 0. A thread for each m.
__global__ void find_irregular(double kappa, int p, const double* root_factorial, double* out) {
  const Vec3d r =
      fmm::orbit_shift(1 + static_cast<int>(blockIdx.x) / 8, static_cast<int>(blockIdx.x) % 8);
  const int m = static_cast<int>(threadIdx.x);
  if (m > p || fmm::boxes_touch(r)) return;
  const double inverse_r2 = 1 / norm2(r), z = kappa * norm(r);
  double c = 1, s = 0, power = sqrt(inverse_r2);
  double h = exp(-z), next = (1 + z) * h;  // h_n and h_{n+1} of yukawa_translations.hpp
  const auto raise = [&](int n) {
    const double above = next + z * z * h / ((2.0 * n + 1) * (2.0 * n + 3));
    h = next;
    next = above;
    power *= inverse_r2;
  };
  for (int k = 1; k <= m; ++k) {
    fmm::next_sectorial(r, k, c, s);
    raise(k - 1);
  }
  double* const values = out + static_cast<std::int64_t>(blockIdx.x) * fmm::harmonic_count(p);
  fmm::harmonics_of_order(r, m, c, s, p, values);
  for (int n = m; n <= p; raise(n), ++n) {
    const double scale = power * h * root_factorial[n - m] * root_factorial[n + m];
    if (m == 0) {
      values[fmm::harmonic_index(n, 0)] *= scale;
    } else {
      values[fmm::harmonic_index(n, m)] *= scale / std::numbers::sqrt2;
      values[fmm::harmonic_index(n, -m)] *= scale / std::numbers::sqrt2;
    }
  }
}

/// Roots of squares are exact in single precision, too, and those of other numbers below 2^23 do
/// not round up to the next one.
struct Degree {
  int n, m;
  __device__ explicit Degree(int index)
      : n(static_cast<int>(sqrtf(static_cast<float>(index)))), m(index - n * n - n) {}
};

/// An orbit and a w in each row of blocks.
__global__ void add_images(int count, const double* irregular, double* tables) {
  const auto index = static_cast<int>(thread_index());
  if (index >= count) return;
  const int orbit = static_cast<int>(blockIdx.y) / 8, w = static_cast<int>(blockIdx.y) % 8;
  const auto [n, m] = Degree(index);
  const int abs_m = abs(m);
  double real = 0, imaginary = 0;
  for (int h = 0; h < 8; ++h) {
    if (fmm::boxes_touch(fmm::orbit_shift(1 + orbit, h))) continue;
    const double* const values = irregular + static_cast<std::int64_t>(8 * orbit + h) * count;
    const double sign = __popc(w & h) % 2 ? -1 : 1;
    real += sign * values[fmm::harmonic_index(n, abs_m)];
    if (m != 0) imaginary += sign * values[fmm::harmonic_index(n, -abs_m)];
  }
  if (m < 0) {  // (−1)^m times the conjugate
    real = m % 2 ? -real : real;
    imaginary = m % 2 ? imaginary : -imaginary;
  }
  double* const to = tables + static_cast<std::int64_t>(2 * blockIdx.y) * count + index;
  to[0] = real;
  to[count] = imaginary;
}

/// A block for each l (x) and table (y): columns (l, l), …, (p, l). `room`: two tables for each.
__global__ void __launch_bounds__(shift_threads)
    find_shifts(double kappa, int p, const double* tables, double* room, double* columns) {
  const int l = static_cast<int>(blockIdx.x), count = fmm::harmonic_count(2 * p),
            kept = fmm::harmonic_count(p), thread = static_cast<int>(threadIdx.x);
  const std::int64_t table = blockIdx.y;
  double* here = room + 2 * (table * gridDim.x + l) * count;
  double* other = here + count;
  const auto all = [&](int size, auto&& body) {
    for (int index = thread; index < size; index += shift_threads) body(index);
    __syncthreads();
  };
  __shared__ double s_factor[2 * fmm::highest_fitted_degree + 1];  // κ²/((2n−1)(2n+1))
  for (int n = thread; n <= 2 * p; n += shift_threads)
    s_factor[n] = kappa * kappa / ((2.0 * n - 1) * (2.0 * n + 1));
  all(count, [&](int index) { here[index] = tables[table * count + index]; });
  for (int k = 0; k < l; ++k) {  // C^{k+1,k+1} from C^{kk}
    all(fmm::harmonic_count(2 * p - k - 1), [&](int index) {
      const auto [n, m] = Degree(index);
      double sum = here[fmm::harmonic_index(n + 1, m + 1)];
      if (m < n - 1)
        sum -= (n - m) * (n - m - 1) * s_factor[n] * here[fmm::harmonic_index(n - 1, m + 1)];
      other[index] = sum;
    });
    double* const below = here;
    here = other;
    other = below;
  }
  all(count, [&](int index) { other[index] = 0; });
  for (int k = l; k <= p; ++k) {  // C^{k+1,l} from C^{kl} and C^{k−1,l}, in the latter's place
    double* const column = columns + (table * ((p + 1) * (p + 2) / 2) + k * (k + 1) / 2 + l) * kept;
    all(kept, [&](int index) { column[index] = here[index]; });
    if (k == p) break;
    const double a = (k * k - l * l) * s_factor[k];
    all(fmm::harmonic_count(2 * p - k - 1), [&](int index) {
      const auto [n, m] = Degree(index);
      double sum = here[fmm::harmonic_index(n + 1, m)] - a * other[index];
      if (abs(m) < n) sum += (n * n - m * m) * s_factor[n] * here[fmm::harmonic_index(n - 1, m)];
      other[index] = sum;
    });
    double* const below = here;
    here = other;
    other = below;
  }
}

}  // namespace

DeviceBuffer<double> make_m2l_tables(const fmm::Yukawa& kernel, int p, cudaStream_t stream) {
  const int count = fmm::harmonic_count(p);
  const auto root_factorial = copied_to_device(fmm::root_factorials(2 * p + 1), stream);
  DeviceBuffer<double> irregular(std::size_t{8} * far_orbits * count, stream),
      tables(2 * irregular.size(), stream);
  launch(find_irregular, 8 * far_orbits, blocks_for(p + 1, warp_size) * warp_size, 0, stream,
         kernel.kappa, p, root_factorial.data(), irregular.data());
  launch(add_images, dim3(blocks_for(count), 8 * far_orbits), threads_per_block, 0, stream, count,
         irregular.data(), tables.data());
  return tables;
}

ShiftColumns::ShiftColumns(const fmm::Yukawa& kernel, int p, const DeviceBuffer<double>& tables,
                           cudaStream_t stream)
    : kappa_(kernel.kappa), p_(p), tables_(tables), stream_(stream) {
  constexpr std::int64_t most_numbers = std::int64_t{1} << 25;
  const std::int64_t columns = tables_of_orbit * std::int64_t{(p + 1) * (p + 2) / 2} *
                               fmm::harmonic_count(p),
                     room = tables_of_orbit * 2 * std::int64_t{p + 1} * fmm::harmonic_count(2 * p);
  orbits_ =
      static_cast<int>(std::clamp<std::int64_t>(most_numbers / (columns + room), 1, far_orbits));
  columns_ = DeviceBuffer<double>(orbits_ * columns, stream);
  room_ = DeviceBuffer<double>(orbits_ * room, stream);
}

void ShiftColumns::make(int first, int count) {
  const double* const tables =
      tables_.data() + first * tables_of_orbit * std::int64_t{fmm::harmonic_count(2 * p_)};
  launch(find_shifts, dim3(p_ + 1, count * tables_of_orbit), shift_threads, 0, stream_, kappa_, p_,
         tables, room_.data(), columns_.data());
}

}  // namespace fmbem::cuda
