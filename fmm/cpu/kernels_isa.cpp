// The hot loops that do not depend on the kernel G, compiled once for each instruction set.
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

/// n coefficients of class c from place i on; those of the input stand `shift` farther.
template <int n, class T>
FMBEM_INLINE void butterfly_few(int c, int i, int shift, const T* const* in, T* const* out) {
  using V = typename Few<T, n>::V;
  typename Few<T, n>::Aligned v[8];
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
    // A register may reach into the next classes: they are written afterwards.
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
  typename Few<double, n>::Aligned v[8];
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

template <class T>
constexpr CpuKernels<T> table = {FMBEM_ISA_NAME,    Simd<T>::lanes, multiply<T>, butterfly<T>,
                                 butterfly_back<T>, gather<T>,      scatter<T>,  m2p_cartesian<T>};

}  // namespace

template <class T>
const CpuKernels<T>& cpu_kernels() {
  return table<T>;
}
template const CpuKernels<double>& cpu_kernels();
template const CpuKernels<float>& cpu_kernels();

}  // namespace fmbem::fmm::FMBEM_ISA
