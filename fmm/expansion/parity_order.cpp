#include "fmbem/fmm/expansion/parity_order.hpp"

#include <cstdlib>

#include "fmbem/fmm/expansion/harmonics.hpp"

namespace fmbem::fmm {

int parity_class(int n, int m) {
  const bool sine = m < 0, odd_m = m % 2 != 0;
  const int x = odd_m != sine, y = sine, z = (n + std::abs(m)) % 2;
  return 4 * x + 2 * y + z;
}

ParityOrder::ParityOrder(int order)
    : p(order), count(harmonic_count(order)), begin{}, position(count) {
  for (int e = 0; e < 8; ++e) {
    begin[e] = static_cast<int>(degree.size());
    for (int n = 0; n <= p; ++n) {
      for (int m = -n; m <= n; ++m) {
        if (parity_class(n, m) != e) continue;
        position[harmonic_index(n, m)] = static_cast<int>(degree.size());
        degree.push_back(n);
        azimuth.push_back(m);
        parity.push_back(e);
      }
    }
  }
  begin[8] = count;
}

}  // namespace fmbem::fmm
