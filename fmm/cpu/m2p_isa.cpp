// Multipole expansions at points, compiled once for each instruction set.
#include "fmbem/fmm/cpu/points_isa.hpp"

namespace fmbem::fmm::FMBEM_ISA {
namespace {

template <class T, bool Gradient, int V>
FMBEM_INLINE void m2p_block(HarmonicSteps<T> steps, const M2pSource<T>& source,
                            const M2pTargets<T>& t, int first) {
  constexpr int lanes = Simd<T>::lanes, channels = Gradient ? 4 : 1;
  Block<T, V> d, inverted;  // d from the box's centre in its sides, and d/|d|²
  Vec<T> w2[V], total[V][channels];
  for (int v = 0; v < V; ++v) {
    d.x[v] = (load(t.x + first + v * lanes) + source.shift[0]) * source.inverse_side;
    d.y[v] = (load(t.y + first + v * lanes) + source.shift[1]) * source.inverse_side;
    d.z[v] = (load(t.z + first + v * lanes) + source.shift[2]) * source.inverse_side;
    d.r2[v] = d.x[v] * d.x[v] + d.y[v] * d.y[v] + d.z[v] * d.z[v];
    w2[v] = T(1) / d.r2[v];
    inverted.x[v] = w2[v] * d.x[v];
    inverted.y[v] = w2[v] * d.y[v];
    inverted.z[v] = w2[v] * d.z[v];
    inverted.r2[v] = w2[v];
  }
  expansion_at<T, channels, V>(Laplace(), steps, inverted, source.moments, total);
  for (int v = 0; v < V; ++v) {
    const Vec<T> w = source.inverse_side * square_root<T>(w2[v]);
    const auto add = [&](T* result, Vec<T> value) {
      T* const p = result + first + v * lanes;
      store(p, load(p) + value);
    };
    if (t.potential) add(t.potential, w * total[v][0]);
    if constexpr (Gradient) {
      const Vec<T>*g = total[v] + 1, f = source.inverse_side * w * w2[v];
      const Vec<T> along = d.x[v] * g[0] + d.y[v] * g[1] + d.z[v] * g[2],
                   radial = total[v][0] + T(2) * w2[v] * along;
      add(t.gradient[0], f * (g[0] - radial * d.x[v]));
      add(t.gradient[1], f * (g[1] - radial * d.y[v]));
      add(t.gradient[2], f * (g[2] - radial * d.z[v]));
    }
  }
}

template <class T, bool Gradient>
void m2p_all(HarmonicSteps<T> steps, const M2pSource<T>& source, const M2pTargets<T>& t) {
  constexpr int lanes = Simd<T>::lanes, vectors = Gradient ? 2 : 4;
  int first = 0;
  for (; first + vectors * lanes <= t.count; first += vectors * lanes)
    m2p_block<T, Gradient, vectors>(steps, source, t, first);
  for (; first < t.count; first += lanes) m2p_block<T, Gradient, 1>(steps, source, t, first);
}

}  // namespace

template <class T>
void m2p(HarmonicSteps<T> steps, const M2pSource<T>& source, const M2pTargets<T>& targets) {
  targets.gradient[0] ? m2p_all<T, true>(steps, source, targets)
                      : m2p_all<T, false>(steps, source, targets);
}
template void m2p(HarmonicSteps<double>, const M2pSource<double>&, const M2pTargets<double>&);
template void m2p(HarmonicSteps<float>, const M2pSource<float>&, const M2pTargets<float>&);

}  // namespace fmbem::fmm::FMBEM_ISA
