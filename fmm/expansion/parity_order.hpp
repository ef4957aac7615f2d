#pragma once

#include <array>
#include <vector>

namespace fmbem::fmm {

/// The order in which coefficients are stored: by parity class, within a class by n and m. A
/// harmonic's class has bit 2, 1 or 0 set where it is odd in x, y or z. An octant's bits are the
/// same (set on the upper side), so that reflections act on both alike.
struct ParityOrder {
  explicit ParityOrder(int order);

  int p;
  int count;                  ///< K = (p+1)²
  std::array<int, 9> begin;   ///< class e has positions begin[e] … begin[e+1]
  std::vector<int> position;  ///< [K], position of the harmonic with index n² + n ± m
  std::vector<int> degree;    ///< [K], n of the harmonic at a position
  std::vector<int> azimuth;   ///< [K], m of it, negative for S_n^|m|
  std::vector<int> parity;    ///< [K], its class
};

/// Class of C_n^m (m ≥ 0) or S_n^|m| (m < 0).
int parity_class(int n, int m);

}  // namespace fmbem::fmm
