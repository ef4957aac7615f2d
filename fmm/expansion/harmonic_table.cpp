#include "fmbem/fmm/expansion/harmonic_table.hpp"

#include <cmath>

#include "fmbem/fmm/expansion/harmonics.hpp"

namespace fmbem::fmm {

template <class T>
HarmonicTable<T>::HarmonicTable(const ParityOrder& order) : p(order.p) {
  diagonal.push_back(1);
  std::vector<int> slot_at(order.count);
  for (int m = 0; m <= p; ++m) {
    if (m > 0)
      diagonal.push_back(static_cast<T>(m == 1 ? -1.0 : -std::sqrt((2.0 * m - 1) / (2.0 * m))));
    for (int n = m; n <= p; ++n) {
      const double next = std::sqrt((n + 1.0) * (n + 1.0) - m * m);
      up.push_back(static_cast<T>((2 * n + 1) / next));
      down.push_back(static_cast<T>(std::sqrt(static_cast<double>(n) * n - m * m) / next));
      for (const int signed_m : {m, -m}) {
        const bool absent = m == 0 && position.size() % 2 == 1;
        position.push_back(absent ? -1 : order.position[harmonic_index(n, signed_m)]);
        if (!absent) slot_at[position.back()] = static_cast<int>(position.size()) - 1;
      }
    }
  }
  derivatives = fmm::derivatives(order);
  for (int axis = 0; axis < 3; ++axis) {
    for (Derivative& d : derivatives[axis]) {
      // ∂ R_i has R_j, of one degree more, κ²/((2n−1)(2n+1)) times as often as ∂ R_j has R_i, n
      // being the degree of R_j.
      const double n = order.degree[d.from];
      rises[axis].push_back({d.to, slot_at[d.from], d.value / ((2 * n - 1) * (2 * n + 1))});
      d.to = slot_at[d.to];
    }
  }
}

template struct HarmonicTable<double>;
template struct HarmonicTable<float>;

}  // namespace fmbem::fmm
