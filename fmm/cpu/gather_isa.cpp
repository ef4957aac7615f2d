// Brings the points of the near field together for its kernels and takes their sums back; compiled
// once for each instruction set.
#include "fmbem/fmm/cpu/kernels_isa.hpp"
#include "fmbem/fmm/cpu/simd_isa.hpp"

namespace fmbem::fmm::FMBEM_ISA {
namespace {

/// Calls `whole(i)` for each full register of n numbers, and `part(i, left)` for the rest.
template <int Lanes, class Whole, class Part>
FMBEM_INLINE void by_registers(int n, Whole&& whole, Part&& part) {
  int i = 0;
  for (; i + Lanes <= n; i += Lanes) whole(i);
  if (i < n) part(i, n - i);
}

/// to_i = change(from_i)
template <class T, class Change>
FMBEM_INLINE void transform(int n, const T* from, T* to, Change&& change) {
  by_registers<Simd<T>::lanes>(
      n, [&](int i) { store(to + i, change(load(from + i))); },
      [&](int i, int left) { store_part(to + i, change(load_part(from + i, left)), left); });
}

FMBEM_INLINE void gather_axis(const NearRange& piece, int axis, const std::int32_t* from,
                              std::int32_t* to) {
  using V = Vec<std::int32_t>;
  const std::int32_t offset = piece.offset[axis] * (1 << (near_side_bits - near_levels - 1));
  const auto move = [&](auto&& change) { transform(piece.count, from, to, change); };
  if (piece.levels == 0)
    move([=](V x) { return offset + x; });
  else if (piece.levels > 0)
    move([=](V x) { return offset + (1 << piece.levels) * x; });
  else
    move([=](V x) { return offset + ((x + (1 << (-piece.levels - 1))) >> -piece.levels); });
}
FMBEM_INLINE void gather_axis(const NearRange& piece, int, const double* from, double* to) {
  transform(piece.count, from, to, [](Vec<double> x) { return x; });
}

}  // namespace

template <class T>
void gather(const NearRange* pieces, int n, const NearArrays<const T>& from,
            const NearArrays<T>& to) {
  int at = 0;
  for (int k = 0; k < n; at += pieces[k++].count) {
    for (int axis = 0; axis < 3; ++axis)
      gather_axis(pieces[k], axis, from.place[axis] + pieces[k].begin, to.place[axis] + at);
    if (from.charge)
      transform(pieces[k].count, from.charge + pieces[k].begin, to.charge + at,
                [](Vec<T> q) { return q; });
  }
}

template <class T>
void scatter(const NearRange* pieces, int n, const T* sums, double factor, double* results,
             double* buffer) {
  constexpr int lanes = Simd<double>::lanes;
  using Numbers = typename Few<T, lanes>::V;
  for (int k = 0; k < n; sums += pieces[k++].count) {
    double* const to = pieces[k].buffer < 0 ? results + pieces[k].begin : buffer + pieces[k].buffer;
    const auto scaled = [&](int i) {
      return factor *
             __builtin_convertvector(*reinterpret_cast<const Numbers*>(sums + i), Vec<double>);
    };
    by_registers<lanes>(
        pieces[k].count, [&](int i) { store(to + i, load(to + i) + scaled(i)); },
        [&](int i, int left) { store_part(to + i, load_part(to + i, left) + scaled(i), left); });
  }
}

#define FMBEM_INSTANTIATE(T)                                                                     \
  template void gather(const NearRange*, int, const NearArrays<const T>&, const NearArrays<T>&); \
  template void scatter(const NearRange*, int, const T*, double, double*, double*);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::fmm::FMBEM_ISA
