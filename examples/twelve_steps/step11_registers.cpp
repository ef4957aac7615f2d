// Step 11: registers. P2P is most of the time that is left, and a processor adds 4 to 16 numbers in
// one instruction if they stand side by side: arrays of x, y and z instead of an array of points
// (SoA), the targets in the inner loop, no branch (a pair that coincides is put infinitely far). On
// a GPU the same loop has a target a thread, and a tile of sources in shared memory.
#include <limits>

#include "fmbem/fmm/base/simd.hpp"
#include "step.hpp"

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Adds what n charges give at m targets; compiled for several instruction sets.
FMBEM_SIMD_CLONES void p2p(int n, const double* sx, const double* sy, const double* sz,
                           const double* q, int m, const double* tx, const double* ty,
                           const double* tz, double* u) {
  for (int j = 0; j < n; ++j) {
#pragma omp simd
    for (int i = 0; i < m; ++i) {
      const double x = tx[i] - sx[j], y = ty[i] - sy[j], z = tz[i] - sz[j];
      const double r2 = x * x + y * y + z * z;
      u[i] += q[j] / std::sqrt(r2 > 0 ? r2 : never);
    }
  }
}

}  // namespace

int main() {
  const int n = 4096, tile = 256;  // targets of a tile stay in the first cache
  const Charges c = charges_in_cube(n, {0, 0, 0}, 1, 1);
  std::vector<double> x, y, z, plain(n), u(n);
  for (const Vec3d& point : c.x) {
    x.push_back(point.x);
    y.push_back(point.y);
    z.push_back(point.z);
  }
  double start = now();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (i != j) plain[i] += c.q[j] / norm(c.x[i] - c.x[j]);
  bool good = tell("one pair after the other", error_of(plain, c.x, c), 1e-12, now() - start);
  start = now();
  for (int i = 0; i < n; i += tile)
    p2p(n, x.data(), y.data(), z.data(), c.q.data(), tile, &x[i], &y[i], &z[i], &u[i]);
  const double seconds = now() - start;
  good = tell("registers of targets", error_of(u, c.x, c), 1e-12, seconds) && good;
  std::printf("%.2f Gpairs/s\n", 1e-9 * n * n / seconds);
  return !good;
}
