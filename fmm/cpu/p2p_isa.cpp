// The near field of sources on targets, compiled once for each instruction set.
#include <type_traits>

#include "fmbem/fmm/cpu/kernels_isa.hpp"
#include "fmbem/fmm/cpu/roots_isa.hpp"

namespace fmbem::fmm::FMBEM_ISA {
namespace {

/// U vectors of targets against all sources.
template <class T, int U, int R, bool Dipoles, bool Potential, bool Gradient, int Terms>
FMBEM_INLINE void near_block(const NearSources<T>& s, const NearTargets<T>& t, std::int64_t first) {
  constexpr int lanes = Simd<T>::lanes;
  constexpr T unit = root_unit<T, Terms>;
  Places<T> x[U], y[U], z[U];
  Vec<T> u[U][R], gx[U][R], gy[U][R], gz[U][R];
  std::conditional_t<sizeof(T) == 4, Count, None> far[U];
  for (int v = 0; v < U; ++v) {
    x[v] = load(t.x + first + v * lanes);
    y[v] = load(t.y + first + v * lanes);
    z[v] = load(t.z + first + v * lanes);
    for (int r = 0; r < R; ++r) u[v][r] = gx[v][r] = gy[v][r] = gz[v][r] = Vec<T>{};
  }
  for (std::int64_t j = 0; j < s.count; ++j) {
    for (int v = 0; v < U; ++v) {
      const Vec<T> dx = difference<T>(x[v], s.x[j]), dy = difference<T>(y[v], s.y[j]),
                   dz = difference<T>(z[v], s.z[j]);
      Vec<T> w = inverse_root<T, Terms>(dx * dx + dy * dy + dz * dz, far[v]);
      if constexpr (Dipoles) w *= 1 / unit;  // else results are of one power of it
      for (int r = 0; r < R; ++r) {
        const T q = s.charge[j * R + r];
        if constexpr (!Dipoles) {
          const Vec<T> qw = q * w;
          if constexpr (Potential) u[v][r] += qw;
          if constexpr (Gradient) {
            const Vec<T> f = qw * (w * w);
            gx[v][r] -= f * dx;
            gy[v][r] -= f * dy;
            gz[v][r] -= f * dz;
          }
        } else {
          const T px = s.dipole_x[j * R + r], py = s.dipole_y[j * R + r],
                  pz = s.dipole_z[j * R + r];
          const Vec<T> w2 = w * w, pd = (px * dx + py * dy + pz * dz) * w2;
          if constexpr (Potential) u[v][r] += (q + pd) * w;
          if constexpr (Gradient) {
            const Vec<T> w3 = w2 * w, f = (q + T(3) * pd) * w3;
            gx[v][r] += px * w3 - f * dx;
            gy[v][r] += py * w3 - f * dy;
            gz[v][r] += pz * w3 - f * dz;
          }
        }
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
  constexpr T of_potential = Dipoles ? T(1) : 1 / unit,
              of_gradient = Dipoles ? T(1) : 1 / (unit * unit * unit);
  for (int v = 0; v < U; ++v) {
    for (int r = 0; r < R; ++r) {
      if constexpr (Potential) add(t.potential, of_potential * u[v][r], v, r);
      if constexpr (Gradient) {
        add(t.gradient_x, of_gradient * gx[v][r], v, r);
        add(t.gradient_y, of_gradient * gy[v][r], v, r);
        add(t.gradient_z, of_gradient * gz[v][r], v, r);
      }
    }
  }
}

template <class T, int R, bool Dipoles, bool Potential, bool Gradient, int Terms>
void near_all(const NearSources<T>& s, const NearTargets<T>& t) {
  constexpr int lanes = Simd<T>::lanes, u = R == 1 ? 2 : 1;
  std::int64_t first = 0;
  for (; first + u * lanes <= t.count; first += u * lanes)
    near_block<T, u, R, Dipoles, Potential, Gradient, Terms>(s, t, first);
  for (; first < t.count; first += lanes)
    near_block<T, 1, R, Dipoles, Potential, Gradient, Terms>(s, t, first);
}

template <class T, int R, bool Dipoles, int Terms>
void near_outputs(const NearSources<T>& s, const NearTargets<T>& t) {
  if (t.potential && t.gradient_x)
    near_all<T, R, Dipoles, true, true, Terms>(s, t);
  else if (t.potential)
    near_all<T, R, Dipoles, true, false, Terms>(s, t);
  else
    near_all<T, R, Dipoles, false, true, Terms>(s, t);
}

template <class T, int R, bool Dipoles>
void near_roots(int root_terms, const NearSources<T>& s, const NearTargets<T>& t) {
  with_terms<T>(root_terms, [&](auto terms) { near_outputs<T, R, Dipoles, terms()>(s, t); });
}

}  // namespace

template <class T>
void near(int vectors, int root_terms, const NearSources<T>& s, const NearTargets<T>& t) {
  const bool dipoles = s.dipole_x != nullptr;
  if (vectors == 1)
    dipoles ? near_roots<T, 1, true>(root_terms, s, t) : near_roots<T, 1, false>(root_terms, s, t);
  else
    dipoles ? near_roots<T, near_vectors_at_once, true>(root_terms, s, t)
            : near_roots<T, near_vectors_at_once, false>(root_terms, s, t);
}

template void near(int, int, const NearSources<double>&, const NearTargets<double>&);
template void near(int, int, const NearSources<float>&, const NearTargets<float>&);

}  // namespace fmbem::fmm::FMBEM_ISA
