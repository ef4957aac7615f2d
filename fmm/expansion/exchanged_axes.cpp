#include "fmbem/fmm/expansion/exchanged_axes.hpp"

#include <cstdlib>
#include <numbers>

#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/expansion/sphere_rule.hpp"

namespace fmbem::fmm {

ExchangedAxes::ExchangedAxes(const ParityOrder& order)
    : count_(order.count), other_(order.count), sign_(order.count) {
  for (int i = 0; i < order.count; ++i) {
    const int n = order.degree[i], m = order.azimuth[i], turns = std::abs(m) % 4;
    other_[i] = order.position[harmonic_index(n, turns % 2 ? -m : m)];
    sign_[i] = turns == 3 || (turns == 0 && m < 0) || (turns == 2 && m > 0) ? -1 : 1;
  }
  std::array<std::vector<int>, 8> begin;  // [class][degree, and one more]
  for (int e = 0; e < 8; ++e) {
    int i = order.begin[e];
    for (int n = 0; n <= order.p; ++n) {
      begin[e].push_back(i);
      while (i < order.begin[e + 1] && order.degree[i] == n) ++i;
    }
    begin[e].push_back(i);
  }
  for (int e = 0; e < 8; ++e)
    for (int n = 0; n <= order.p; ++n) {
      const int exchanged = (e & 4) | (e & 1) << 1 | (e >> 1 & 1);
      const int size = begin[e][n + 1] - begin[e][n];
      if (size > 0)
        runs_.push_back({begin[e][n], size, begin[exchanged][n],
                         std::vector<double>(static_cast<std::size_t>(size) * size, 0.0)});
    }
  // P_ij is the mean of S_i(x, z, y) S_j(x, y, z) over the sphere, times 2n+1.
  const SphereRule rule(2 * (order.p / 2 + 1));
  std::vector<double> here(order.count), there(order.count);
  const auto value = [&](const std::vector<double>& of, int i) {
    return of[harmonic_index(order.degree[i], order.azimuth[i])];
  };
  for (std::size_t k = 0; k < rule.node.size(); ++k) {
    const Vec3d x = rule.node[k];
    regular_harmonics(x, order.p, here.data());
    regular_harmonics(Vec3d{x.x, x.z, x.y}, order.p, there.data());
    for (Run& run : runs_) {
      const double weight =
          2 / std::numbers::pi * rule.weight[k] * (2 * order.degree[run.begin] + 1);
      for (int a = 0; a < run.count; ++a)
        for (int i = 0; i < run.count; ++i)
          run.p[run.at(a, i)] += weight * value(there, run.begin + i) * value(here, run.from + a);
    }
  }
}

void ExchangedAxes::x_and_y(const LargeVector<double>& from, LargeVector<double>& to) const {
  to.resize(from.size());
  for (int i = 0; i < count_; ++i)
    for (int j = 0; j < count_; ++j)
      to[at(i, j)] = sign_[i] * sign_[j] * from[at(other_[i], other_[j])];
}

void ExchangedAxes::y_and_z(const LargeVector<double>& from, LargeVector<double>& to,
                            std::vector<double>& room) const {
  room.assign(from.size(), 0.0);  // P M
  for (const Run& run : runs_)
    for (int i = 0; i < run.count; ++i) {
      double* const row = room.data() + at(run.begin + i, 0);
      for (int a = 0; a < run.count; ++a) {
        const double factor = run.p[run.at(a, i)];
        const double* const other = from.data() + at(run.from + a, 0);
        for (int j = 0; j < count_; ++j) row[j] += factor * other[j];
      }
    }
  to.resize(from.size());
  for (int i = 0; i < count_; ++i)
    for (const Run& run : runs_) {
      double* const row = to.data() + at(i, run.begin);
      const double* const other = room.data() + at(i, run.from);
      for (int j = 0; j < run.count; ++j) row[j] = 0;
      for (int a = 0; a < run.count; ++a)
        for (int j = 0; j < run.count; ++j) row[j] += other[a] * run.p[run.at(a, j)];
    }
}

}  // namespace fmbem::fmm
