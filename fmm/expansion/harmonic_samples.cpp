#include "fmbem/fmm/expansion/harmonic_samples.hpp"

#include <algorithm>
#include <cmath>

#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/expansion/box_fit.hpp"
#include "fmbem/fmm/expansion/half_rule.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/expansion/sphere_rule.hpp"

namespace fmbem::fmm {
namespace {

constexpr int nodes_at_once = 8;  // a cache line

int whole_lines(std::size_t nodes) {
  return static_cast<int>((nodes + nodes_at_once - 1) / nodes_at_once) * nodes_at_once;
}

Vec3d mirrored(Vec3d x, int g) {
  for (int axis = 0; axis < 3; ++axis)
    if (g >> (2 - axis) & 1) x[axis] = -x[axis];
  return x;
}

/// Some nodes; those that are none have 0 for a scale.
struct Nodes {
  Vec3d x[nodes_at_once] = {};
  double scale[nodes_at_once] = {};
};

/// Writes scale S_i(x) to out[position of i][node], rows being `stride` apart. As
/// regular_harmonics(), but that roots of the recurrence are taken once for all nodes.
void write_harmonics(const ParityOrder& order, const Nodes& nodes, double* out,
                     std::size_t stride) {
  const auto row = [&](int n, int m) {
    return out + static_cast<std::size_t>(order.position[harmonic_index(n, m)]) * stride;
  };
  double z[nodes_at_once], r2[nodes_at_once], c[nodes_at_once], s[nodes_at_once] = {};
  for (int k = 0; k < nodes_at_once; ++k) {
    z[k] = nodes.x[k].z;
    r2[k] = norm2(nodes.x[k]);
    c[k] = nodes.scale[k];
  }
  for (int m = 0; m <= order.p; ++m) {
    double low[nodes_at_once] = {}, here[nodes_at_once];
    std::fill_n(here, nodes_at_once, 1.0);
    for (int k = 0; k < nodes_at_once && m > 0; ++k) next_sectorial(nodes.x[k], m, c[k], s[k]);
    for (int n = m; n <= order.p; ++n) {
      double *const cosine = row(n, m), *const sine = row(n, -m);  // of m = 0 the same
      if (m > 0)
        for (int k = 0; k < nodes_at_once; ++k) sine[k] = here[k] * s[k];
      for (int k = 0; k < nodes_at_once; ++k) cosine[k] = here[k] * c[k];
      const double up = std::sqrt((n + 1.0) * (n + 1.0) - m * m),
                   down = std::sqrt(1.0 * n * n - m * m);
      for (int k = 0; k < nodes_at_once; ++k) {
        const double higher = ((2 * n + 1) * z[k] * here[k] - down * r2[k] * low[k]) / up;
        low[k] = here[k];
        here[k] = higher;
      }
    }
  }
}

}  // namespace

HarmonicSamples::Cube HarmonicSamples::make_cube() const {
  // The measure of BoxFit need not be uniform to the last digit, so fewer nodes suffice than are
  // exact for degree 2p.
  const HalfRule rule(3 * order_.p / 4 + 3);
  const auto n = static_cast<int>(rule.node.size()), nodes = n * n * n;
  Cube result{whole_lines(nodes), {}, {}};
  result.r2.resize(result.nodes);
  result.values.resize(static_cast<std::size_t>(result.nodes) * order_.count);
#pragma omp parallel for schedule(static)
  for (int first = 0; first < nodes; first += nodes_at_once) {
    Nodes some;
    for (int i = first; i < std::min(first + nodes_at_once, nodes); ++i) {
      const int a = i / (n * n), b = i / n % n, c = i % n;
      some.x[i - first] = {rule.node[a], rule.node[b], rule.node[c]};
      some.scale[i - first] = std::sqrt(rule.weight[a] * rule.weight[b] * rule.weight[c]);
      result.r2[i] = norm2(some.x[i - first]);
    }
    write_harmonics(order_, some, result.values.data() + first, result.nodes);
  }
  return result;
}

HarmonicSamples::Sphere HarmonicSamples::make_sphere(int rings) const {
  const SphereRule rule(rings);
  const auto& kernels = cpu_kernels<double>();
  const auto nodes = static_cast<int>(rule.node.size());
  Sphere result{whole_lines(nodes), {}, {}, {}};
  const auto stride = static_cast<std::size_t>(result.nodes);
  result.r2.resize(8 * stride);
  result.parent.resize(8 * stride * order_.count);
  std::vector<double> child(stride * order_.count);
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int first = 0; first < nodes; first += nodes_at_once) {
      const int some = std::min(nodes_at_once, nodes - first);
      Nodes own;
      std::copy_n(rule.node.begin() + first, some, own.x);
      std::copy_n(rule.weight.begin() + first, some, own.scale);
      write_harmonics(order_, own, child.data() + first, stride);
      for (int g = 0; g < 8; ++g) {
        const std::size_t place = g * stride + first;
        Nodes of_parent;
        for (int k = 0; k < some; ++k) {
          const Vec3d x = Sphere::radius * mirrored(own.x[k], g) + Vec3d{0.25, 0.25, 0.25};
          of_parent.x[k] = x;
          of_parent.scale[k] = 1;
          result.r2[place + k] = norm2(x);
        }
        write_harmonics(order_, of_parent, result.parent.data() + place, 8 * stride);
      }
    }
#pragma omp for schedule(dynamic, 1)
    for (int c = 0; c < 8; ++c) {
      const int columns = order_.begin[c + 1] - order_.begin[c];
      result.child[c].resize(packed_size(kernels, columns, result.nodes));
      pack_panels(kernels, columns, result.nodes, child.data() + stride * order_.begin[c], 1,
                  result.nodes, result.child[c].data());
    }
  }
  return result;
}

const HarmonicSamples::Cube& HarmonicSamples::cube() const {
  const std::lock_guard lock(mutex_);
  if (!cube_) cube_ = make_cube();
  return *cube_;
}

const HarmonicSamples::Sphere& HarmonicSamples::sphere(int rings) const {
  const std::lock_guard lock(mutex_);
  const auto known = spheres_.find(rings);
  if (known != spheres_.end()) return known->second;
  return spheres_.emplace(rings, make_sphere(rings)).first->second;
}

std::shared_ptr<const HarmonicSamples> harmonic_samples(int p) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<const HarmonicSamples>> alive;
  const std::lock_guard lock(mutex);
  auto& known = alive[p];
  std::shared_ptr<const HarmonicSamples> result = known.lock();
  if (!result) known = result = std::make_shared<const HarmonicSamples>(p);
  return result;
}

std::vector<double> radial_factors(const Yukawa& kernel, int p, const std::vector<double>& r2) {
  const auto samples = static_cast<std::int64_t>(r2.size());
  std::vector<double> result((p + 1) * r2.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t first = 0; first < samples; first += nodes_at_once) {
    double f[(highest_fitted_degree + 2) * nodes_at_once];
    kernel.regular_factors<nodes_at_once>(r2.data() + first, p, f);
    for (int n = 0; n <= p; ++n)
      std::copy_n(f + n * nodes_at_once, nodes_at_once, result.data() + n * samples + first);
  }
  return result;
}

}  // namespace fmbem::fmm
