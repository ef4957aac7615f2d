// The hot loops, compiled once for each instruction set with FMBEM_ISA naming it. Nothing here has
// linkage beyond this file except the two tables, so code for one processor cannot end up in
// another's: no templates or inline functions of other headers are used.
#include "fmbem/fmm/cpu/kernels_isa.hpp"

#include <cstdint>

#include "fmbem/fmm/cpu/kernels.hpp"

#if defined(__AVX512F__) || defined(__SSE2__)
#include <immintrin.h>
#endif

#define FMBEM_INLINE inline __attribute__((always_inline))

namespace fmbem::fmm::FMBEM_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif

template <class T>
struct Simd {
  static constexpr int lanes = register_bytes / static_cast<int>(sizeof(T));
  typedef T Aligned __attribute__((vector_size(register_bytes), may_alias));
  /// The same at any address that T may have.
  typedef T V __attribute__((vector_size(register_bytes), may_alias, aligned(alignof(T))));
};
template <class T>
using Vec = typename Simd<T>::Aligned;

template <class T>
FMBEM_INLINE Vec<T> load(const T* p) {
  return *reinterpret_cast<const typename Simd<T>::V*>(p);
}
/// Coordinates of the near field, a register of them.
template <class T>
struct Places {
  typedef typename NearCoordinate<T>::Type Vector __attribute__((vector_size(register_bytes)));
  typedef typename NearCoordinate<T>::Type Unaligned
      __attribute__((vector_size(register_bytes), may_alias, aligned(alignof(T))));

  static FMBEM_INLINE Vector load(const typename NearCoordinate<T>::Type* p) {
    return *reinterpret_cast<const Unaligned*>(p);
  }
};
template <class T>
FMBEM_INLINE Vec<T> difference(typename Places<T>::Vector a, typename NearCoordinate<T>::Type b) {
  return __builtin_convertvector(a - b, Vec<T>);
}
template <class T>
FMBEM_INLINE void store(T* p, Vec<T> v) {
  *reinterpret_cast<typename Simd<T>::V*>(p) = v;
}
/// c += v
FMBEM_INLINE void add(double* c, Vec<double> v) { store(c, load(c) + v); }
FMBEM_INLINE void add(double* c, Vec<float> v) {
  for (int l = 0; l < Simd<float>::lanes; ++l) c[l] += static_cast<double>(v[l]);
}
template <class T>
FMBEM_INLINE Vec<T> broadcast(T value) {
  return value - Vec<T>{};
}
template <class T>
FMBEM_INLINE T sum_of_lanes(Vec<T> v) {
  T sum = 0;
  for (int l = 0; l < Simd<T>::lanes; ++l) sum += v[l];
  return sum;
}

// ---- products -------------------------------------------------------------------------------

constexpr int panel_vectors = 3;

/// Adds A[Rows][depth] B[depth][N vectors] to rows of C.
template <class T, int Rows, int N>
FMBEM_INLINE void tile(int depth, const T* a, std::int64_t lda, const T* b, double* c,
                       std::int64_t ldc, const std::int32_t* c_row) {
  constexpr int lanes = Simd<T>::lanes;
  Vec<T> sum[Rows][N];
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < N; ++j) sum[i][j] = Vec<T>{};
  for (int k = 0; k < depth; ++k) {
    Vec<T> row[N];
    for (int j = 0; j < N; ++j) row[j] = load(b + (k * N + j) * lanes);
    for (int i = 0; i < Rows; ++i) {
      const Vec<T> entry = broadcast(a[i * lda + k]);
      for (int j = 0; j < N; ++j) sum[i][j] += entry * row[j];
    }
  }
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < N; ++j) add(c + c_row[i] * ldc + j * lanes, sum[i][j]);
}

template <class T, int N>
void multiply_panel(int rows, int depth, const T* a, std::int64_t lda, const T* b, double* c,
                    std::int64_t ldc, const std::int32_t* c_row) {
  constexpr int rows_at_once = register_bytes == 64 ? 8 : 4;
  int i = 0;
  for (; i + rows_at_once <= rows; i += rows_at_once)
    tile<T, rows_at_once, N>(depth, a + i * lda, lda, b, c, ldc, c_row + i);
  for (; i < rows; ++i) tile<T, 1, N>(depth, a + i * lda, lda, b, c, ldc, c_row + i);
}

template <class T>
void multiply(int rows, int columns, int depth, const T* a, std::int64_t lda, const T* b, double* c,
              std::int64_t ldc, const std::int32_t* c_row) {
  constexpr int lanes = Simd<T>::lanes;
  int vectors = (columns + lanes - 1) / lanes;
  for (; vectors >= panel_vectors; vectors -= panel_vectors) {
    multiply_panel<T, panel_vectors>(rows, depth, a, lda, b, c, ldc, c_row);
    b += static_cast<std::int64_t>(depth) * panel_vectors * lanes;
    c += panel_vectors * lanes;
  }
  if (vectors == 2) multiply_panel<T, 2>(rows, depth, a, lda, b, c, ldc, c_row);
  if (vectors == 1) multiply_panel<T, 1>(rows, depth, a, lda, b, c, ldc, c_row);
}

// ---- butterflies ----------------------------------------------------------------------------

/// Walsh-Hadamard transform: v[k] = Σ_g (−1)^|k & g| v[g].
template <class V>
FMBEM_INLINE void transform(V* v) {
  for (int half = 1; half < 8; half *= 2) {
    for (int g = 0; g < 8; ++g) {
      if (g & half) continue;
      const V sum = v[g] + v[g | half], difference = v[g] - v[g | half];
      v[g] = sum;
      v[g | half] = difference;
    }
  }
}

template <class T>
void butterfly(const int* begin, const T* const* in, T* const* out) {
  constexpr int lanes = Simd<T>::lanes;
  for (int c = 0; c < 8; ++c) {
    int i = begin[c];
    for (; i + lanes <= begin[c + 1]; i += lanes) {
      Vec<T> v[8];
      for (int g = 0; g < 8; ++g) v[g] = load(in[g] + i);
      transform(v);
      for (int k = 0; k < 8; ++k) store(out[k ^ c] + i, v[k]);
    }
    for (; i < begin[c + 1]; ++i) {
      T v[8];
      for (int g = 0; g < 8; ++g) v[g] = in[g][i];
      transform(v);
      for (int k = 0; k < 8; ++k) out[k ^ c][i] = v[k];
    }
  }
}

template <class T>
void butterfly_back(const int* begin, const double* const* in, T* const* out) {
  constexpr int lanes = Simd<double>::lanes;
  typedef T Narrow __attribute__((vector_size(lanes * sizeof(T)), may_alias, aligned(alignof(T))));
  for (int c = 0; c < 8; ++c) {
    int i = begin[c];
    for (; i + lanes <= begin[c + 1]; i += lanes) {
      Vec<double> v[8];
      for (int k = 0; k < 8; ++k) v[k] = load(in[k ^ c] + i);
      transform(v);
      for (int g = 0; g < 8; ++g)
        *reinterpret_cast<Narrow*>(out[g] + i) += __builtin_convertvector(v[g], Narrow);
    }
    for (; i < begin[c + 1]; ++i) {
      double v[8];
      for (int k = 0; k < 8; ++k) v[k] = in[k ^ c][i];
      transform(v);
      for (int g = 0; g < 8; ++g) out[g][i] += static_cast<T>(v[g]);
    }
  }
}

// ---- points and expansions ------------------------------------------------------------------

/// Points in registers, a block of V vectors.
template <class T, int V>
struct Block {
  Vec<T> x[V], y[V], z[V], r2[V];

  FMBEM_INLINE Block(const T* px, const T* py, const T* pz) {
    for (int v = 0; v < V; ++v) {
      x[v] = load(px + v * Simd<T>::lanes);
      y[v] = load(py + v * Simd<T>::lanes);
      z[v] = load(pz + v * Simd<T>::lanes);
      r2[v] = x[v] * x[v] + y[v] * y[v] + z[v] * z[v];
    }
  }
};

/// Turns (c, s) into diagonal (x + iy) (c + is).
template <class T>
FMBEM_INLINE void next_order(T diagonal, Vec<T> x, Vec<T> y, Vec<T>& c, Vec<T>& s) {
  const Vec<T> real = diagonal * (c * x - s * y);
  s = diagonal * (c * y + s * x);
  c = real;
}

/// Takes the recurrence in the degree a step up.
template <class T, int V>
FMBEM_INLINE void next_degree(T up, T down, const Block<T, V>& point, Vec<T>* low, Vec<T>* here) {
  for (int v = 0; v < V; ++v) {
    const Vec<T> next = up * point.z[v] * here[v] - down * point.r2[v] * low[v];
    low[v] = here[v];
    here[v] = next;
  }
}

/// Adds the moments of V vectors of points to sums [pairs][Channels][2].
template <class T, int Channels, int V>
FMBEM_INLINE void p2m_block(HarmonicSteps<T> steps, int count, int first, const T* x, const T* y,
                            const T* z, const T* weights, Vec<T>* sums) {
  constexpr int lanes = Simd<T>::lanes;
  const Block<T, V> point(x + first, y + first, z + first);
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
          sum[0] += here[v] * c[v][k];
          sum[1] += here[v] * s[v][k];
        }
      }
      next_degree(steps.up[t], steps.down[t], point, low, here);
    }
  }
}

template <class T, int Channels, int V>
void p2m_channels(HarmonicSteps<T> steps, int count, const T* x, const T* y, const T* z,
                  const T* weights, T* moments) {
  constexpr int lanes = Simd<T>::lanes;
  const int pairs = (steps.p + 1) * (steps.p + 2) / 2;
  Vec<T> sums[2 * most_pairs * Channels];
  for (int k = 0; k < 2 * pairs * Channels; ++k) sums[k] = Vec<T>{};
  int first = 0;
  for (; first + V * lanes <= count; first += V * lanes)
    p2m_block<T, Channels, V>(steps, count, first, x, y, z, weights, sums);
  for (; first < count; first += lanes)
    p2m_block<T, Channels, 1>(steps, count, first, x, y, z, weights, sums);
  for (int k = 0; k < Channels; ++k)
    for (int t = 0; t < pairs; ++t)
      for (int part = 0; part < 2; ++part)
        moments[(k * pairs + t) * 2 + part] += sum_of_lanes<T>(sums[(t * Channels + k) * 2 + part]);
}

template <class T, int Channels, int V>
FMBEM_INLINE void l2p_block(HarmonicSteps<T> steps, int count, int first, const T* x, const T* y,
                            const T* z, const T* locals, T* values) {
  constexpr int lanes = Simd<T>::lanes;
  const int pairs = (steps.p + 1) * (steps.p + 2) / 2;
  const Block<T, V> point(x + first, y + first, z + first);
  Vec<T> c[V], s[V], total[V][Channels];
  for (int v = 0; v < V; ++v) {
    c[v] = broadcast(T(1));
    s[v] = Vec<T>{};
    for (int k = 0; k < Channels; ++k) total[v][k] = Vec<T>{};
  }
  int t = 0;
  for (int m = 0; m <= steps.p; ++m) {
    if (m > 0)
      for (int v = 0; v < V; ++v) next_order(steps.diagonal[m], point.x[v], point.y[v], c[v], s[v]);
    Vec<T> low[V], here[V], even[V][Channels], odd[V][Channels];
    for (int v = 0; v < V; ++v) {
      low[v] = Vec<T>{};
      here[v] = broadcast(T(1));
      for (int k = 0; k < Channels; ++k) even[v][k] = odd[v][k] = Vec<T>{};
    }
    for (int n = m; n <= steps.p; ++n, ++t) {
      for (int k = 0; k < Channels; ++k) {
        const T* local = locals + (k * pairs + t) * 2;
        for (int v = 0; v < V; ++v) {
          even[v][k] += local[0] * here[v];
          odd[v][k] += local[1] * here[v];
        }
      }
      next_degree(steps.up[t], steps.down[t], point, low, here);
    }
    for (int v = 0; v < V; ++v)
      for (int k = 0; k < Channels; ++k) total[v][k] += c[v] * even[v][k] + s[v] * odd[v][k];
  }
  for (int v = 0; v < V; ++v)
    for (int k = 0; k < Channels; ++k)
      store(values + k * static_cast<std::int64_t>(count) + first + v * lanes, total[v][k]);
}

template <class T, int Channels, int V>
void l2p_channels(HarmonicSteps<T> steps, int count, const T* x, const T* y, const T* z,
                  const T* locals, T* values) {
  constexpr int lanes = Simd<T>::lanes;
  int first = 0;
  for (; first + V * lanes <= count; first += V * lanes)
    l2p_block<T, Channels, V>(steps, count, first, x, y, z, locals, values);
  for (; first < count; first += lanes)
    l2p_block<T, Channels, 1>(steps, count, first, x, y, z, locals, values);
}

constexpr int block_vectors = 4;  // of points, for one channel; half of it for more

template <class T>
void p2m(HarmonicSteps<T> steps, int channels, int count, const T* x, const T* y, const T* z,
         const T* weights, T* moments) {
  constexpr int few = block_vectors / 2;
  if (channels == 1) p2m_channels<T, 1, block_vectors>(steps, count, x, y, z, weights, moments);
  if (channels == 3) p2m_channels<T, 3, few>(steps, count, x, y, z, weights, moments);
  if (channels == 4) p2m_channels<T, 4, few>(steps, count, x, y, z, weights, moments);
}

template <class T>
void l2p(HarmonicSteps<T> steps, int channels, int count, const T* x, const T* y, const T* z,
         const T* locals, T* values) {
  constexpr int few = block_vectors / 2;
  if (channels == 1) l2p_channels<T, 1, block_vectors>(steps, count, x, y, z, locals, values);
  if (channels == 3) l2p_channels<T, 3, few>(steps, count, x, y, z, locals, values);
  if (channels == 4) l2p_channels<T, 4, few>(steps, count, x, y, z, locals, values);
}

// ---- near field -----------------------------------------------------------------------------

/// Pairs of at most this distance, squared, are left out.
template <class T>
constexpr T least_r2 = sizeof(T) == 4 ? T(close_distance) * T(close_distance) : T(0);

/// Counts of pairs that are not left out, lane by lane; in single precision alone.
template <class T>
struct Kept {};
template <>
struct Kept<float> {
  typedef std::int32_t Counts __attribute__((vector_size(register_bytes)));
  Counts counts{};
};

/// A first guess of 1/√r2, 0 for pairs that are left out.
#if defined(__AVX512F__)
FMBEM_INLINE Vec<double> guess(Vec<double> r2, Kept<double>&) {
  return _mm512_maskz_rsqrt14_pd(_mm512_cmp_pd_mask(r2, _mm512_setzero_pd(), _CMP_GT_OQ), r2);
}
FMBEM_INLINE Vec<float> guess(Vec<float> r2, Kept<float>& kept) {
  const __mmask16 far = _mm512_cmp_ps_mask(r2, _mm512_set1_ps(least_r2<float>), _CMP_GT_OQ);
  const __m512i counts = reinterpret_cast<__m512i>(kept.counts);
  kept.counts = reinterpret_cast<Kept<float>::Counts>(
      _mm512_mask_add_epi32(counts, far, counts, _mm512_set1_epi32(1)));
  return _mm512_maskz_rsqrt14_ps(far, r2);
}
constexpr int coarse_steps = 0;
#else
/// By the exponent's bits (Lomont 2003), 3.5 % off.
FMBEM_INLINE Vec<double> guess(Vec<double> r2, Kept<double>&) {
  typedef std::int64_t Bits __attribute__((vector_size(register_bytes)));
  const Bits bits = 0x5fe6eb50c7b537a9 - (reinterpret_cast<Bits>(r2) >> 1);
  return reinterpret_cast<Vec<double> >(bits & reinterpret_cast<Bits>(r2 > least_r2<double>));
}
FMBEM_INLINE Vec<float> guess(Vec<float> r2, Kept<float>& kept) {
  using Bits = Kept<float>::Counts;
  const Bits bits = 0x5f375a86 - (reinterpret_cast<Bits>(r2) >> 1);
  const Bits far = r2 > least_r2<float>;  // −1 where true
  kept.counts -= far;
  return reinterpret_cast<Vec<float> >(bits & far);
}
constexpr int coarse_steps = 1;
#endif

/// Terms of the series of (1 − e)^(−1/2), e = 1 − r2 y²: a guess that is off by ε comes out off by
/// about ε^(Terms + 1).
template <class T, int Terms>
FMBEM_INLINE Vec<T> refine(Vec<T> r2, Vec<T> y) {
  const Vec<T> e = T(1) - r2 * (y * y);
  if constexpr (Terms == 1) return y + (T(0.5) * y) * e;
  if constexpr (Terms == 2) return y + (y * e) * (T(0.5) + T(0.375) * e);
  return y + (y * e) * (T(0.5) + e * (T(0.375) + T(0.3125) * e));
}

template <class T, int Terms>
FMBEM_INLINE Vec<T> inverse_root(Vec<T> r2, Kept<T>& kept) {
  Vec<T> y = guess(r2, kept);
  if constexpr (coarse_steps > 0) y = refine<T, 3>(r2, y);
  return refine<T, Terms>(r2, y);
}

/// U vectors of targets against all sources.
template <class T, int U, int R, bool Dipoles, bool Potential, bool Gradient, int Terms>
FMBEM_INLINE void near_block(const NearSources<T>& s, const NearTargets<T>& t, std::int64_t first) {
  constexpr int lanes = Simd<T>::lanes;
  typename Places<T>::Vector x[U], y[U], z[U];
  Vec<T> u[U][R], gx[U][R], gy[U][R], gz[U][R];
  Kept<T> kept[U];
  for (int v = 0; v < U; ++v) {
    x[v] = Places<T>::load(t.x + first + v * lanes);
    y[v] = Places<T>::load(t.y + first + v * lanes);
    z[v] = Places<T>::load(t.z + first + v * lanes);
    for (int r = 0; r < R; ++r) u[v][r] = gx[v][r] = gy[v][r] = gz[v][r] = Vec<T>{};
  }
  for (std::int64_t j = 0; j < s.count; ++j) {
    for (int v = 0; v < U; ++v) {
      const Vec<T> dx = difference<T>(x[v], s.x[j]), dy = difference<T>(y[v], s.y[j]),
                   dz = difference<T>(z[v], s.z[j]);
      const Vec<T> w = inverse_root<T, Terms>(dx * dx + dy * dy + dz * dz, kept[v]);
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
        t.close[first + v * lanes + l] += static_cast<std::int32_t>(s.count) - kept[v].counts[l];
  const auto add = [&](T* result, Vec<T> value, int v, int r) {
    T* p = result + r * t.count + first + v * lanes;
    store(p, load(p) + value);
  };
  for (int v = 0; v < U; ++v) {
    for (int r = 0; r < R; ++r) {
      if constexpr (Potential) add(t.potential, u[v][r], v, r);
      if constexpr (Gradient) {
        add(t.gradient_x, gx[v][r], v, r);
        add(t.gradient_y, gy[v][r], v, r);
        add(t.gradient_z, gz[v][r], v, r);
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
  // A guess of 14 bits and one term leave nothing to gain in single precision.
  if (sizeof(T) == 4 || root_terms == 1)
    near_outputs<T, R, Dipoles, 1>(s, t);
  else if (root_terms == 2)
    near_outputs<T, R, Dipoles, 2>(s, t);
  else
    near_outputs<T, R, Dipoles, 3>(s, t);
}

constexpr int near_vectors = 4;

template <class T>
void near(int vectors, int root_terms, const NearSources<T>& s, const NearTargets<T>& t) {
  const bool dipoles = s.dipole_x != nullptr;
  if (vectors == 1)
    dipoles ? near_roots<T, 1, true>(root_terms, s, t) : near_roots<T, 1, false>(root_terms, s, t);
  else
    dipoles ? near_roots<T, near_vectors, true>(root_terms, s, t)
            : near_roots<T, near_vectors, false>(root_terms, s, t);
}

template <class T>
constexpr CpuKernels<T> table{FMBEM_ISA_NAME, Simd<T>::lanes, near_vectors,
                              multiply<T>,    butterfly<T>,   butterfly_back<T>,
                              p2m<T>,         l2p<T>,         near<T>};

}  // namespace

const CpuKernels<double>& double_kernels() { return table<double>; }
const CpuKernels<float>& float_kernels() { return table<float>; }

}  // namespace fmbem::fmm::FMBEM_ISA
