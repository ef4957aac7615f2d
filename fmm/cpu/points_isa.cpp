// Expansions of points, and the table of the functions that depend on the kernel G; compiled once
// for each instruction set.
#include "fmbem/fmm/cpu/points_isa.hpp"

#include "fmbem/fmm/cpu/kernels_isa.hpp"

namespace fmbem::fmm::FMBEM_ISA {
namespace {

/// Adds the moments of V vectors of points to sums [pairs][Channels][2].
template <class T, int Channels, int V, class Kernel>
FMBEM_INLINE void p2m_block(Kernel kernel, HarmonicSteps<T> steps, int count, int first, const T* x,
                            const T* y, const T* z, const T* weights, Vec<T>* sums) {
  constexpr int lanes = Simd<T>::lanes;
  const Block<T, V> point(x + first, y + first, z + first);
  const DegreeFactors<T, V, Kernel> factors(kernel, point, steps.p);
  Vec<T> c[V][Channels], s[V][Channels];
  for (int v = 0; v < V; ++v) {
    for (int k = 0; k < Channels; ++k) {
      c[v][k] = load(weights + k * static_cast<std::int64_t>(count) + first + v * lanes);
      s[v][k] = Vec<T>{};
    }
  }
  int t = 0;
  for (int m = 0; m <= steps.p; ++m) {
    if (m > 0)
      for (int v = 0; v < V; ++v)
        for (int k = 0; k < Channels; ++k)
          next_order(steps.diagonal[m], point.x[v], point.y[v], c[v][k], s[v][k]);
    Vec<T> low[V], here[V];
    for (int v = 0; v < V; ++v) {
      low[v] = Vec<T>{};
      here[v] = broadcast(T(1));
    }
    for (int n = m; n <= steps.p; ++n, ++t) {
      for (int k = 0; k < Channels; ++k) {
        Vec<T>* sum = sums + (t * Channels + k) * 2;
        for (int v = 0; v < V; ++v) {
          const Vec<T> q = factors.times(v, n, here[v]);
          sum[0] += q * c[v][k];
          sum[1] += q * s[v][k];
        }
      }
      next_degree(steps.up[t], steps.down[t], point, low, here);
    }
  }
}

template <class T, int Channels, int V, class Kernel>
void p2m_channels(Kernel kernel, HarmonicSteps<T> steps, int count, const T* x, const T* y,
                  const T* z, const T* weights, T* moments) {
  constexpr int lanes = Simd<T>::lanes;
  const int pairs = (steps.p + 1) * (steps.p + 2) / 2;
  Vec<T> sums[2 * most_pairs * Channels];
  for (int k = 0; k < 2 * pairs * Channels; ++k) sums[k] = Vec<T>{};
  int first = 0;
  for (; first + V * lanes <= count; first += V * lanes)
    p2m_block<T, Channels, V>(kernel, steps, count, first, x, y, z, weights, sums);
  for (; first < count; first += lanes)
    p2m_block<T, Channels, 1>(kernel, steps, count, first, x, y, z, weights, sums);
  for (int k = 0; k < Channels; ++k)
    for (int t = 0; t < pairs; ++t)
      for (int part = 0; part < 2; ++part)
        moments[(k * pairs + t) * 2 + part] += sum_of_lanes<T>(sums[(t * Channels + k) * 2 + part]);
}

template <class T, int Channels, int V, class Kernel>
FMBEM_INLINE void l2p_block(Kernel kernel, HarmonicSteps<T> steps, int count, int first, const T* x,
                            const T* y, const T* z, const T* locals, T* values) {
  const Block<T, V> point(x + first, y + first, z + first);
  Vec<T> total[V][Channels];
  expansion_at<T, Channels, V>(kernel, steps, point, locals, total);
  for (int v = 0; v < V; ++v)
    for (int k = 0; k < Channels; ++k)
      store(values + k * static_cast<std::int64_t>(count) + first + v * Simd<T>::lanes,
            total[v][k]);
}

template <class T, int Channels, int V, class Kernel>
void l2p_channels(Kernel kernel, HarmonicSteps<T> steps, int count, const T* x, const T* y,
                  const T* z, const T* locals, T* values) {
  constexpr int lanes = Simd<T>::lanes;
  int first = 0;
  for (; first + V * lanes <= count; first += V * lanes)
    l2p_block<T, Channels, V>(kernel, steps, count, first, x, y, z, locals, values);
  for (; first < count; first += lanes)
    l2p_block<T, Channels, 1>(kernel, steps, count, first, x, y, z, locals, values);
}

constexpr int block_vectors = 4;  // of points, for one channel; half of it for more

template <class T, class Kernel>
void p2m(Kernel kernel, HarmonicSteps<T> steps, int channels, int count, const T* x, const T* y,
         const T* z, const T* weights, T* moments) {
  constexpr int few = block_vectors / 2;
  if (channels == 1)
    p2m_channels<T, 1, block_vectors>(kernel, steps, count, x, y, z, weights, moments);
  if (channels == 3) p2m_channels<T, 3, few>(kernel, steps, count, x, y, z, weights, moments);
  if (channels == 4) p2m_channels<T, 4, few>(kernel, steps, count, x, y, z, weights, moments);
}

template <class T, class Kernel>
void l2p(Kernel kernel, HarmonicSteps<T> steps, int channels, int count, const T* x, const T* y,
         const T* z, const T* locals, T* values) {
  constexpr int few = block_vectors / 2;
  if (channels == 1)
    l2p_channels<T, 1, block_vectors>(kernel, steps, count, x, y, z, locals, values);
  if (channels == 3) l2p_channels<T, 3, few>(kernel, steps, count, x, y, z, locals, values);
  if (channels == 4) l2p_channels<T, 4, few>(kernel, steps, count, x, y, z, locals, values);
}

template <class T, class Kernel>
void p2l(Kernel kernel, HarmonicSteps<T> steps, int count, const T* x, const T* y, const T* z,
         const T* weights, T* locals) {
  p2m_channels<T, 1, block_vectors>(inverted(kernel), steps, count, x, y, z, weights, locals);
}

template <class T, class Kernel>
constexpr PairKernels<T, Kernel> table = {
    p2m<T, Kernel>,  l2p<T, Kernel>,         p2l<T, Kernel>,      m2p<T, Kernel>,
    near<T, Kernel>, near_mutual<T, Kernel>, near_hessian<Kernel>};
template <class T>
constexpr PairKernels<T, Plummer> table<T, Plummer> = {nullptr,
                                                       nullptr,
                                                       nullptr,
                                                       nullptr,
                                                       near<T, Plummer>,
                                                       near_mutual<T, Plummer>,
                                                       near_hessian<Plummer>};

}  // namespace

template <class T, class Kernel>
const PairKernels<T, Kernel>& pair_kernels() {
  return table<T, Kernel>;
}

#define FMBEM_INSTANTIATE(Kernel)                             \
  template const PairKernels<double, Kernel>& pair_kernels(); \
  template const PairKernels<float, Kernel>& pair_kernels();
FMBEM_FOR_EACH_PAIR_KERNEL(FMBEM_INSTANTIATE)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::fmm::FMBEM_ISA
