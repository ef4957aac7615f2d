// Multipole expansions at points, compiled once for each instruction set.
#include "fmbem/fmm/cpu/points_isa.hpp"
#include "fmbem/fmm/expansion/cartesian.hpp"

namespace fmbem::fmm::FMBEM_ISA {
namespace {

/// Solid harmonics: channels are F and, for gradients, its derivatives as expansions of their own:
/// along ξ of a homogeneous kernel, else along d.
template <class T, class Kernel>
struct Spherical {
  static constexpr bool derived_along_target = !Kernel::homogeneous;

  Kernel kernel;  ///< at inverted points
  HarmonicSteps<T> steps;
  const T* moments;

  template <int Channels, int V>
  FMBEM_INLINE void at(const Block<T, V>& point, Vec<T> (*total)[Channels]) const {
    expansion_at<T, Channels, V>(kernel, steps, point, moments, total);
  }
};

/// Monomials of degree ≤ P, by Horner's scheme (expansion/cartesian.hpp): each derivative is that
/// of the nested sums, f ← f x + g having ∂f ← ∂f x + f along x and ∂f x + ∂g along others.
template <class T, int P>
struct Cartesian {
  static constexpr bool derived_along_target = false;

  const T* moments;

  template <int Channels, int V>
  FMBEM_INLINE void at(const Block<T, V>& point, Vec<T> (*total)[Channels]) const {
    for (int v = 0; v < V; ++v) at_register(point.x[v], point.y[v], point.z[v], total[v]);
  }

  template <int Channels>
  FMBEM_INLINE void at_register(Vec<T> x, Vec<T> y, Vec<T> z, Vec<T> (&total)[Channels]) const {
    constexpr bool gradient = Channels == 4;
    const T* moment = moments;
    Vec<T> f{}, fx{}, fy{}, fz{};
    for (int i = P; i >= 0; --i) {
      Vec<T> g{}, gy{}, gz{};
      for (int j = P - i; j >= 0; --j) {
        Vec<T> h{}, hz{};
        for (int k = P - i - j; k >= 0; --k) {
          if constexpr (gradient) hz = hz * z + h;
          h = h * z + *moment++;
        }
        if constexpr (gradient) {
          gz = gz * y + hz;
          gy = gy * y + g;
        }
        g = g * y + h;
      }
      if constexpr (gradient) {
        fz = fz * x + gz;
        fy = fy * x + gy;
        fx = fx * x + f;
      }
      f = f * x + g;
    }
    total[0] = f;
    if constexpr (gradient) {
      total[1] = fx;
      total[2] = fy;
      total[3] = fz;
    }
  }
};

template <class T, bool Gradient, int V, class Series>
FMBEM_INLINE void m2p_block(const Series& series, const M2pSource<T>& source,
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
  series.template at<channels, V>(inverted, total);
  for (int v = 0; v < V; ++v) {
    const Vec<T> w = source.inverse_side * square_root<T>(w2[v]);
    const auto add = [&](T* result, Vec<T> value) {
      T* const p = result + first + v * lanes;
      store(p, load(p) + value);
    };
    if (t.potential) add(t.potential, w * total[v][0]);
    if constexpr (Gradient && Series::derived_along_target) {
      for (int axis = 0; axis < 3; ++axis)
        add(t.gradient[axis], source.inverse_side * w * total[v][1 + axis]);
    } else if constexpr (Gradient) {
      const Vec<T>*g = total[v] + 1, f = source.inverse_side * w * w2[v];
      const Vec<T> along = d.x[v] * g[0] + d.y[v] * g[1] + d.z[v] * g[2],
                   radial = total[v][0] + T(2) * w2[v] * along;
      add(t.gradient[0], f * (g[0] - radial * d.x[v]));
      add(t.gradient[1], f * (g[1] - radial * d.y[v]));
      add(t.gradient[2], f * (g[2] - radial * d.z[v]));
    }
  }
}

template <class T, bool Gradient, class Series>
void m2p_all(const Series& series, const M2pSource<T>& source, const M2pTargets<T>& t) {
  constexpr int lanes = Simd<T>::lanes, vectors = Gradient ? 2 : 4;
  int first = 0;
  for (; first + vectors * lanes <= t.count; first += vectors * lanes)
    m2p_block<T, Gradient, vectors>(series, source, t, first);
  for (; first < t.count; first += lanes) m2p_block<T, Gradient, 1>(series, source, t, first);
}

template <class T, class Series>
void m2p_with(const Series& series, const M2pSource<T>& source, const M2pTargets<T>& t) {
  t.gradient[0] ? m2p_all<T, true>(series, source, t) : m2p_all<T, false>(series, source, t);
}

}  // namespace

template <class T, class Kernel>
void m2p(Kernel kernel, HarmonicSteps<T> steps, const M2pSource<T>& source,
         const M2pTargets<T>& targets) {
  const auto at_inverted_points = inverted(kernel);
  m2p_with(Spherical<T, decltype(inverted(kernel))>{at_inverted_points, steps, source.moments},
           source, targets);
}

#define FMBEM_INSTANTIATE(Kernel)                                            \
  template void m2p(Kernel, HarmonicSteps<double>, const M2pSource<double>&, \
                    const M2pTargets<double>&);                              \
  template void m2p(Kernel, HarmonicSteps<float>, const M2pSource<float>&,   \
                    const M2pTargets<float>&);
FMBEM_FOR_EACH_KERNEL(FMBEM_INSTANTIATE)
#undef FMBEM_INSTANTIATE

template <class T>
void m2p_cartesian(int order, const M2pSource<T>& source, const M2pTargets<T>& targets) {
  static_assert(highest_cartesian_order == 6);
  switch (order) {
    case 1:
      return m2p_with(Cartesian<T, 1>{source.moments}, source, targets);
    case 2:
      return m2p_with(Cartesian<T, 2>{source.moments}, source, targets);
    case 3:
      return m2p_with(Cartesian<T, 3>{source.moments}, source, targets);
    case 4:
      return m2p_with(Cartesian<T, 4>{source.moments}, source, targets);
    case 5:
      return m2p_with(Cartesian<T, 5>{source.moments}, source, targets);
    default:
      return m2p_with(Cartesian<T, 6>{source.moments}, source, targets);
  }
}
template void m2p_cartesian(int, const M2pSource<double>&, const M2pTargets<double>&);
template void m2p_cartesian(int, const M2pSource<float>&, const M2pTargets<float>&);

}  // namespace fmbem::fmm::FMBEM_ISA
