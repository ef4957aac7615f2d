// The near field of two sets of points on each other, by Newton's third law, compiled once for each
// instruction set.
#include <type_traits>

#include "fmbem/fmm/cpu/kernels_isa.hpp"
#include "fmbem/fmm/cpu/roots_isa.hpp"

namespace fmbem::fmm::FMBEM_ISA {
namespace {

/// Points of b whose sums, one register for each result, fit the first cache.
constexpr int points_at_once = 64;

/// Sums of points of b, not yet added up over lanes.
template <class T>
struct Sums {
  Vec<T> u[points_at_once], gx[points_at_once], gy[points_at_once], gz[points_at_once];
};

/// U vectors of points of a against n points of b, from b_first on. The first points of a (`First`)
/// start the sums of those of b, and the first of b those of a.
template <class T, int U, bool Potential, bool Gradient, int Terms, bool First, class Kernel>
FMBEM_INLINE void mutual_block(Kernel kernel, const NearPoints<T>& a, std::int64_t a_first,
                               const NearPoints<T>& b, std::int64_t b_first, int n, Sums<T>& sums,
                               PairsOf<T>& pairs) {
  constexpr int lanes = Simd<T>::lanes;
  constexpr T scale = root_scale<T, Terms>;
  kernel = kernel.for_root_scale(scale);
  Coordinates<T> x[U], y[U], z[U];
  Vec<T> q[U];
  PairSums<T> of_a[U];
  for (int v = 0; v < U; ++v) {
    x[v] = load(a.x + a_first + v * lanes);
    y[v] = load(a.y + a_first + v * lanes);
    z[v] = load(a.z + a_first + v * lanes);
    q[v] = load(a.charge + a_first + v * lanes);
  }
  for (int j = 0; j < n; ++j) {
    const std::int64_t k = b_first + j;
    PairSums<T> of_b;
    for (int v = 0; v < U; ++v) {
      const Vec<T> dx = difference<T>(x[v], b.x[k]), dy = difference<T>(y[v], b.y[k]),
                   dz = difference<T>(z[v], b.z[k]);
      const Vec<T> r2 = dx * dx + dy * dy + dz * dz;
      const Vec<T> w = inverse_root<T, Terms>(kernel, r2, pairs);
      add_mutual_pair<Potential, Gradient>(kernel.template radial<Terms>(r2, w), b.charge[k], q[v],
                                           {dx, dy, dz}, of_a[v], of_b);
    }
    const auto keep = [j](Vec<T>* of_points, Vec<T> value) {
      of_points[j] = First ? value : of_points[j] + value;
    };
    if constexpr (Potential) keep(sums.u, of_b.potential);
    if constexpr (Gradient) {
      keep(sums.gx, of_b.x);
      keep(sums.gy, of_b.y);
      keep(sums.gz, of_b.z);
    }
  }
  const auto add = [&](T* result, Vec<T> value, int v) {
    T* p = result + a_first + v * lanes;
    store(p, b_first == 0 ? value : load(p) + value);
  };
  for (int v = 0; v < U; ++v) {
    if constexpr (Potential) add(a.potential, (1 / scale) * of_a[v].potential, v);
    if constexpr (Gradient) {
      add(a.gradient_x, (1 / (scale * scale * scale)) * of_a[v].x, v);
      add(a.gradient_y, (1 / (scale * scale * scale)) * of_a[v].y, v);
      add(a.gradient_z, (1 / (scale * scale * scale)) * of_a[v].z, v);
    }
  }
}

template <class T, bool Potential, bool Gradient, int Terms, class Kernel>
bool mutual_all(Kernel kernel, const NearPoints<T>& a, const NearPoints<T>& b) {
  constexpr int lanes = Simd<T>::lanes, most = Gradient ? 2 : 4;
  constexpr T scale = root_scale<T, Terms>;
  PairsOf<T> pairs;
  Sums<T> sums;
  std::int64_t b_first = 0;
  do {
    const auto n =
        static_cast<int>(b.count - b_first < points_at_once ? b.count - b_first : points_at_once);
    std::int64_t i = 0;
    /// The next vectors of a, up to `most` of them.
    const auto block = [&](auto first) {
      const std::int64_t left = (a.count - i) / lanes;
      const auto take = [&](auto vectors) {
        mutual_block<T, vectors(), Potential, Gradient, Terms, first()>(kernel, a, i, b, b_first, n,
                                                                        sums, pairs);
        i += vectors() * lanes;
      };
      if constexpr (most > 2) {
        if (left >= 4) return take(std::integral_constant<int, 4>());
        if (left == 3) return take(std::integral_constant<int, 3>());
      }
      if (left >= 2) return take(std::integral_constant<int, 2>());
      take(std::integral_constant<int, 1>());
    };
    block(std::true_type());
    for (int j = n; j % lanes != 0; ++j) {  // read, but not written below
      if constexpr (Potential) sums.u[j] = Vec<T>{};
      if constexpr (Gradient) sums.gx[j] = sums.gy[j] = sums.gz[j] = Vec<T>{};
    }
    while (i < a.count) block(std::false_type());
    const auto write = [&](T* result, Vec<T>* of_points, T factor) {
      for (int j = 0; j < n; j += lanes) {
        const Vec<T> totals = factor * sums_of_lanes<T>(of_points + j);
        T* const p = result + b_first + j;
        if (j + lanes <= n)
          store(p, totals);
        else
          store_part(p, totals, n - j);
      }
    };
    if constexpr (Potential) write(b.potential, sums.u, 1 / scale);
    if constexpr (Gradient) {
      write(b.gradient_x, sums.gx, 1 / (scale * scale * scale));
      write(b.gradient_y, sums.gy, 1 / (scale * scale * scale));
      write(b.gradient_z, sums.gz, 1 / (scale * scale * scale));
    }
    b_first += points_at_once;
  } while (b_first < b.count);
  return !pairs.found();
}

}  // namespace

template <class T, class Kernel>
bool near_mutual(Kernel kernel, int root_terms, const NearPoints<T>& a, const NearPoints<T>& b) {
  bool served = false;
  with_terms<T>(root_terms, [&](auto terms) {
    if (a.potential && a.gradient_x)
      served = mutual_all<T, true, true, terms()>(kernel, a, b);
    else if (a.potential)
      served = mutual_all<T, true, false, terms()>(kernel, a, b);
    else
      served = mutual_all<T, false, true, terms()>(kernel, a, b);
  });
  return served;
}

#define FMBEM_INSTANTIATE(Kernel)                                                               \
  template bool near_mutual(Kernel, int, const NearPoints<double>&, const NearPoints<double>&); \
  template bool near_mutual(Kernel, int, const NearPoints<float>&, const NearPoints<float>&);
FMBEM_FOR_EACH_PAIR_KERNEL(FMBEM_INSTANTIATE)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::fmm::FMBEM_ISA
