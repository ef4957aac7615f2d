// The near field of sources on targets, compiled once for each instruction set.
#include <type_traits>

#include "fmbem/fmm/cpu/kernels_isa.hpp"
#include "fmbem/fmm/cpu/roots_isa.hpp"

namespace fmbem::fmm::FMBEM_ISA {
namespace {

/// U vectors of targets against all sources.
template <class T, int U, int R, bool Dipoles, bool Potential, bool Gradient, int Terms,
          class Kernel>
FMBEM_INLINE void near_block(Kernel kernel, const NearSources<T>& s, const NearTargets<T>& t,
                             std::int64_t first) {
  constexpr int lanes = Simd<T>::lanes;
  constexpr bool scaled = !Dipoles;  // results are of one power of 1/r
  constexpr T scale = scaled ? root_scale<T, Terms> : T(1);
  kernel = kernel.for_root_scale(scale);
  Coordinates<T> x[U], y[U], z[U];
  PairSums<T> sums[U][R];
  std::conditional_t<sizeof(T) == 4, Count, None> far[U];
  for (int v = 0; v < U; ++v) {
    x[v] = load(t.x + first + v * lanes);
    y[v] = load(t.y + first + v * lanes);
    z[v] = load(t.z + first + v * lanes);
  }
  for (std::int64_t j = 0; j < s.count; ++j) {
    for (int v = 0; v < U; ++v) {
      const Vec<T> dx = difference<T>(x[v], s.x[j]), dy = difference<T>(y[v], s.y[j]),
                   dz = difference<T>(z[v], s.z[j]);
      const Vec<T> r2 = dx * dx + dy * dy + dz * dz;
      Vec<T> w = inverse_root<T, Terms>(kernel, r2, far[v]);
      if constexpr (!scaled) w *= 1 / root_scale<T, Terms>;
      const auto radial = kernel.template radial<Terms>(r2, w);
      for (int r = 0; r < R; ++r) {
        Vec3<T> dipole;
        if constexpr (Dipoles)
          dipole = {s.dipole_x[j * R + r], s.dipole_y[j * R + r], s.dipole_z[j * R + r]};
        add_pair<Dipoles, Potential, Gradient>(radial, s.charge[j * R + r], dipole, {dx, dy, dz},
                                               sums[v][r]);
      }
    }
  }
  if constexpr (sizeof(T) == 4)
    for (int v = 0; v < U; ++v)
      for (int l = 0; l < lanes; ++l)
        t.close[first + v * lanes + l] += static_cast<std::int32_t>(s.count) - far[v].far[l];
  const auto add = [&](T* result, Vec<T> value, int v, int r) {
    T* p = result + r * t.count + first + v * lanes;
    store(p, load(p) + value);
  };
  constexpr T of_potential = 1 / scale, of_gradient = 1 / (scale * scale * scale);
  for (int v = 0; v < U; ++v) {
    for (int r = 0; r < R; ++r) {
      if constexpr (Potential) add(t.potential, of_potential * sums[v][r].potential, v, r);
      if constexpr (Gradient) {
        add(t.gradient_x, of_gradient * sums[v][r].x, v, r);
        add(t.gradient_y, of_gradient * sums[v][r].y, v, r);
        add(t.gradient_z, of_gradient * sums[v][r].z, v, r);
      }
    }
  }
}

template <class T, int R, bool Dipoles, bool Potential, bool Gradient, int Terms, class Kernel>
void near_all(Kernel kernel, const NearSources<T>& s, const NearTargets<T>& t) {
  constexpr int lanes = Simd<T>::lanes, u = R == 1 ? 2 : 1;
  std::int64_t first = 0;
  for (; first + u * lanes <= t.count; first += u * lanes)
    near_block<T, u, R, Dipoles, Potential, Gradient, Terms>(kernel, s, t, first);
  for (; first < t.count; first += lanes)
    near_block<T, 1, R, Dipoles, Potential, Gradient, Terms>(kernel, s, t, first);
}

template <class T, int R, bool Dipoles, int Terms, class Kernel>
void near_outputs(Kernel kernel, const NearSources<T>& s, const NearTargets<T>& t) {
  if (t.potential && t.gradient_x)
    near_all<T, R, Dipoles, true, true, Terms>(kernel, s, t);
  else if (t.potential)
    near_all<T, R, Dipoles, true, false, Terms>(kernel, s, t);
  else
    near_all<T, R, Dipoles, false, true, Terms>(kernel, s, t);
}

template <class T, int R, bool Dipoles, class Kernel>
void near_roots(Kernel kernel, int root_terms, const NearSources<T>& s, const NearTargets<T>& t) {
  with_terms<T>(root_terms,
                [&](auto terms) { near_outputs<T, R, Dipoles, terms()>(kernel, s, t); });
}

}  // namespace

template <class T, class Kernel>
void near(Kernel kernel, int vectors, int root_terms, const NearSources<T>& s,
          const NearTargets<T>& t) {
  const bool dipoles = s.dipole_x != nullptr;
  if (vectors == 1)
    dipoles ? near_roots<T, 1, true>(kernel, root_terms, s, t)
            : near_roots<T, 1, false>(kernel, root_terms, s, t);
  else
    dipoles ? near_roots<T, near_vectors, true>(kernel, root_terms, s, t)
            : near_roots<T, near_vectors, false>(kernel, root_terms, s, t);
}

#define FMBEM_INSTANTIATE(Kernel)                                                               \
  template void near(Kernel, int, int, const NearSources<double>&, const NearTargets<double>&); \
  template void near(Kernel, int, int, const NearSources<float>&, const NearTargets<float>&);
FMBEM_FOR_EACH_PAIR_KERNEL(FMBEM_INSTANTIATE)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::fmm::FMBEM_ISA
