// The hot loops but for the near field, compiled once for each instruction set.
#include "fmbem/fmm/cpu/kernels_isa.hpp"

#include "fmbem/fmm/cpu/simd_isa.hpp"

namespace fmbem::fmm::FMBEM_ISA {
namespace {

/// c += v
FMBEM_INLINE void add(double* c, Vec<double> v) { store(c, load(c) + v); }
template <std::size_t... l>
FMBEM_INLINE void add_halves(double* c, Vec<float> v, std::index_sequence<l...>) {
  constexpr int half = sizeof...(l);
  store(c, load(c) + __builtin_convertvector(__builtin_shufflevector(v, v, l...), Vec<double>));
  store(c + half, load(c + half) + __builtin_convertvector(
                                       __builtin_shufflevector(v, v, half + l...), Vec<double>));
}
FMBEM_INLINE void add(double* c, Vec<float> v) {
  add_halves(c, v, std::make_index_sequence<Simd<double>::lanes>());
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

/// n coefficients of class c from place i on, in places `shift` farther of the input.
template <int n, class T>
FMBEM_INLINE void butterfly_few(int c, int i, int shift, const T* const* in, T* const* out) {
  using V = typename Few<T, n>::V;
  V v[8];
  for (int g = 0; g < 8; ++g) v[g] = *reinterpret_cast<const V*>(in[g] + i + shift);
  transform(v);
  for (int k = 0; k < 8; ++k) *reinterpret_cast<V*>(out[k ^ c] + i) = v[k];
}

template <class T>
void butterfly(const int* begin, const int* in_begin, const T* const* in, T* const* out) {
  constexpr int lanes = Simd<T>::lanes;
  const int count = begin[8];
  for (int c = 0; c < 8; ++c) {
    const int shift = in_begin[c] - begin[c];
    // A register may reach into the classes that are written after this one.
    for (int i = begin[c]; i < begin[c + 1];) {
      const int left = begin[c + 1] - i, room = count - i;
      if (left > lanes / 2 && room >= lanes) {
        butterfly_few<lanes>(c, i, shift, in, out);
        i += lanes;
      } else if (left > lanes / 4 && room >= lanes / 2) {
        butterfly_few<lanes / 2>(c, i, shift, in, out);
        i += lanes / 2;
      } else if (room >= 2) {
        butterfly_few<2>(c, i, shift, in, out);
        i += 2;
      } else {
        butterfly_few<1>(c, i, shift, in, out);
        ++i;
      }
    }
  }
}

template <int n, class T>
FMBEM_INLINE void butterfly_back_few(int c, int i, int shift, const double* const* in,
                                     T* const* out) {
  using V = typename Few<double, n>::V;
  using Narrow = typename Few<T, n>::V;
  V v[8];
  for (int k = 0; k < 8; ++k) v[k] = *reinterpret_cast<const V*>(in[k ^ c] + i);
  transform(v);
  for (int g = 0; g < 8; ++g)
    *reinterpret_cast<Narrow*>(out[g] + i + shift) += __builtin_convertvector(v[g], Narrow);
}

template <class T>
void butterfly_back(const int* begin, const int* out_begin, const double* const* in,
                    T* const* out) {
  constexpr int lanes = Simd<double>::lanes;
  for (int c = 0; c < 8; ++c) {
    const int shift = out_begin[c] - begin[c];
    int i = begin[c];
    for (; i + lanes <= begin[c + 1]; i += lanes) butterfly_back_few<lanes>(c, i, shift, in, out);
    for (; i + 2 <= begin[c + 1]; i += 2) butterfly_back_few<2>(c, i, shift, in, out);
    if (i < begin[c + 1]) butterfly_back_few<1>(c, i, shift, in, out);
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

template <class T>
constexpr CpuKernels<T> table_of() {
  return {FMBEM_ISA_NAME, Simd<T>::lanes, near_vectors_at_once,
          multiply<T>,    butterfly<T>,   butterfly_back<T>,
          p2m<T>,         l2p<T>,         near<T>,
          near_mutual<T>, gather<T>,      scatter<T>};
}

}  // namespace

const CpuKernels<double>& double_kernels() {
  static constexpr CpuKernels<double> table = table_of<double>();
  return table;
}
const CpuKernels<float>& float_kernels() {
  static constexpr CpuKernels<float> table = table_of<float>();
  return table;
}

}  // namespace fmbem::fmm::FMBEM_ISA
