#include "fmbem/fmm/expansion/raised_moments.hpp"

#include <algorithm>
#include <cstddef>

#include "fmbem/fmm/expansion/harmonics.hpp"

namespace fmbem::fmm {

template <class T>
RaisedMoments<T>::RaisedMoments(const ParityOrder& order) : table_(ParityOrder(order.p + 1)) {
  const ParityOrder raised(order.p + 1);
  for (const int position : table_.position) {
    const bool is_there = position >= 0 && raised.degree[position] <= order.p;
    lower_.push_back(
        is_there ? order.position[harmonic_index(raised.degree[position], raised.azimuth[position])]
                 : -1);
  }
}

template <class T>
void RaisedMoments<T>::write(double kappa, const T* moments, T* out) const {
  const int slots = table_.slots();
  for (int slot = 0; slot < slots; ++slot)
    out[slot] = lower_[slot] < 0 ? T(0) : moments[lower_[slot]];
  std::vector<T> derived(static_cast<std::size_t>(harmonic_count(table_.p)));
  for (int axis = 0; axis < 3; ++axis) {
    std::fill(derived.begin(), derived.end(), T(0));
    table_.for_derivative(axis, kappa, [&](int from, int to, double value) {
      derived[from] -= static_cast<T>(value) * out[to];
    });
    T* const derivative = out + (axis + 1) * slots;
    for (int slot = 0; slot < slots; ++slot)
      derivative[slot] = table_.position[slot] < 0 ? T(0) : derived[table_.position[slot]];
  }
}

template class RaisedMoments<double>;
template class RaisedMoments<float>;

}  // namespace fmbem::fmm
