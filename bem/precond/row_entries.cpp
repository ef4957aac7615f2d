#include "fmbem/bem/precond/row_entries.hpp"

#include "fmbem/fmm/base/simd.hpp"

namespace fmbem {
namespace {

/// What entries of a column are made of, [m].
struct PlacedNodes {
  const float *x, *y, *z, *smear2, *alpha, *flux_x, *flux_y, *flux_z;
};

FMBEM_SIMD_CLONES void fill_column(int m, const PlacedNodes& of, int l, float strength,
                                   float* column) {
  const float x = of.x[l], y = of.y[l], z = of.z[l], smear2 = of.smear2[l];
#pragma omp simd
  for (int k = 0; k < m; ++k)
    column[k] =
        strength * mixed_entry({of.alpha[k], of.flux_x[k], of.flux_y[k], of.flux_z[k]}, of.x[k] - x,
                               of.y[k] - y, of.z[k] - z, of.smear2[k] + smear2);
}

/// Adds the potential of a node; of long ones that of segments, whose smear is the one across.
FMBEM_SIMD_CLONES void add_segment_column(int m, const PlacedNodes& of, const float* across2, int l,
                                          const PlacedSegment& of_l, float strength,
                                          float* column) {
  const float x = of.x[l], y = of.y[l], z = of.z[l], smear2 = across2[l];
#pragma omp simd
  for (int k = 0; k < m; ++k)
    column[k] += strength * of.alpha[k] / stiffer *
                 segment_potential(Vec3<float>{of.x[k] - x, of.y[k] - y, of.z[k] - z}, of_l.half,
                                   of_l.tilt, across2[k] + smear2);
}

/// Whether nodes k are close to node l, [n].
FMBEM_SIMD_CLONES void find_close(int n, const float* x, const float* y, const float* z,
                                  const float* reach, int l, char* is_close) {
  const float x_l = x[l], y_l = y[l], z_l = z[l], reach_l = reach[l];
#pragma omp simd
  for (int k = 0; k < n; ++k) {
    const float dx = x[k] - x_l, dy = y[k] - y_l, dz = z[k] - z_l, both = reach[k] + reach_l;
    is_close[k] = dx * dx + dy * dy + dz * dz < both * both;
  }
}

}  // namespace

void RowEntries::fill(std::span<const std::int32_t> cut, const PlacedCut& placed,
                      SmallMatrix& matrix) {
  place_rows(cut, placed);
  set_all(cut, placed, matrix);
  set_close_entries(cut, placed, matrix);
  set_exact_entries(placed, matrix);
}

void RowEntries::place_rows(std::span<const std::int32_t> cut, const PlacedCut& placed) {
  for (auto* column : {&smear2_, &alpha_, &flux_x_, &flux_y_, &flux_z_}) column->resize(placed.m);
  for (int k = 0; k < placed.m; ++k) {
    const PlacedRow row = place_row(means_[cut[k]], placed.unit);
    alpha_[k] = row.alpha;
    flux_x_[k] = row.flux_x;
    flux_y_[k] = row.flux_y;
    flux_z_[k] = row.flux_z;
    smear2_[k] = placed_point_smear2(tree_.nodes[cut[k]], placed.unit);
  }
  // The potential of long nodes is that of segments.
  no_alpha_.assign(placed.m, 0.0F);
  has_flux_.resize(placed.m);
  for (int k = 0; k < placed.m; ++k) has_flux_[k] = close_.nodes().has_flux(tree_.nodes[cut[k]]);
}

void RowEntries::set_all(std::span<const std::int32_t> cut, const PlacedCut& placed,
                         SmallMatrix& matrix) {
  const int m = placed.m;
  matrix.resize(m);
  const PlacedNodes nodes{placed.x.data(), placed.y.data(), placed.z.data(), smear2_.data(),
                          alpha_.data(),   flux_x_.data(),  flux_y_.data(),  flux_z_.data()};
  PlacedNodes fluxes = nodes;
  fluxes.alpha = no_alpha_.data();
  for (int l = 0; l < m; ++l) {
    const float strength = placed_strength(tree_.nodes[cut[l]], placed.unit);
    float* column = matrix.column(l);
    fill_column(m, placed.has_long ? fluxes : nodes, l, strength, column);
    if (placed.has_long)
      add_segment_column(m, nodes, placed.smear2.data(), l, placed.segment[l], strength, column);
    column[l] = placed_own_entry(tree_.nodes[cut[l]], means_[cut[l]]);
  }
}

void RowEntries::set_close_entries(std::span<const std::int32_t> cut, const PlacedCut& placed,
                                   SmallMatrix& matrix) {
  const int m = placed.m;
  reach_.resize(m);
  is_close_.resize(m);
  for (int k = 0; k < m; ++k)
    reach_[k] = static_cast<float>(placed.unit * close_.nodes().reach[cut[k]]);
  for (int l = 0; l < m; ++l) {
    find_close(l + 1, placed.x.data(), placed.y.data(), placed.z.data(), reach_.data(), l,
               is_close_.data());
    const bool is_panel = tree_.nodes[cut[l]].is_panel();
    for (int k = 0; k <= l; ++k) {
      if (!is_close_[k] || !(has_flux_[k] || has_flux_[l])) continue;
      if (is_panel && tree_.nodes[cut[k]].is_panel()) continue;
      const MutualEntries entries = close_.between(cut[k], cut[l]);
      if (has_flux_[k]) matrix.at(k, l) = static_cast<float>(entries.kl);
      if (has_flux_[l]) matrix.at(l, k) = static_cast<float>(entries.lk);
    }
  }
}

void RowEntries::set_exact_entries(const PlacedCut& placed, SmallMatrix& matrix) const {
  const auto set_from = [&](const PlacedCut::PanelInCut& to, const PlacedCut::PanelInCut& from) {
    const double entry =
        close_.nodes().exact(static_cast<std::int32_t>(to.panel - panels_.data()),
                             static_cast<std::int32_t>(from.panel - panels_.data()));
    matrix.at(to.place, from.place) = static_cast<float>(entry);
  };
  placed.for_touching_panels([&](const auto& s, const auto& t) {
    set_from(s, t);
    set_from(t, s);
  });
}

}  // namespace fmbem
