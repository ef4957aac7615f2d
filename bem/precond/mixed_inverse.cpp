#include "fmbem/bem/precond/mixed_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "fmbem/bem/precond/charge_rows.hpp"
#include "fmbem/bem/precond/close_entries.hpp"
#include "fmbem/bem/precond/mean_rows.hpp"
#include "fmbem/bem/precond/mixed_places.hpp"
#include "fmbem/bem/precond/small_system.hpp"
#include "fmbem/fmm/base/simd.hpp"
#include "fmbem/fmm/base/vector_log.hpp"

namespace fmbem {
namespace {

/// Leaves with too many unknowns are halved down to this number of panels.
constexpr int smallest_leaf = 8;

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

/// largest[k] = max(largest[k], |column[k]|)
FMBEM_SIMD_CLONES void raise_to(int m, const float* column, float* largest) {
#pragma omp simd
  for (int k = 0; k < m; ++k) {
    const float size = std::abs(column[k]);
    largest[k] = size > largest[k] ? size : largest[k];
  }
}

FMBEM_SIMD_CLONES float sum_of_products(int n, const float* a, const float* b) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/// column[k] *= factor[k]
FMBEM_SIMD_CLONES void multiply_by(int m, const float* factor, float* column) {
#pragma omp simd
  for (int k = 0; k < m; ++k) column[k] *= factor[k];
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

const MixedInverseOptions& checked(const MixedInverseOptions& options) {
  checked(options.clusters);
  FMBEM_REQUIRE(options.reach >= 0 && std::isfinite(options.reach),
                "the reach of close entries must not be negative, not " << options.reach);
  return options;
}

}  // namespace

/// Solves the small systems. Holds a thread's buffers.
class MixedInverse::Assembly {
 public:
  Assembly(std::span<const Triangle> panels, const MixedRows& rows, const ClusterTree& tree,
           std::span<const MeanRow> means, const ChargeRows& charges, const CloseEntries& close)
      : panels_(panels),
        rows_(rows),
        tree_(tree),
        means_(means),
        charges_(charges),
        close_(close) {}

  /// rows[k][i], k in the cut and i in the leaf. False if the system is singular.
  bool solve(std::span<const std::int32_t> cut, const Cluster& leaf, float* rows) {
    const int own = leaf.size();
    cut_.place(tree_, cut, leaf, panels_);
    place_rows(cut);
    fill(cut);
    set_close_entries(cut);
    set_exact_entries();
    set_charge_rows(cut, own);
    scale_rows();
    if (!matrix_.invert_last_rows(own, rows)) return false;
    for (int k = 0; k < cut_.m; ++k)
      for (int i = 0; i < own; ++i) rows[k * own + i] *= scale_[k];
    add_means(own, rows);
    return true;
  }

 private:
  void place_rows(std::span<const std::int32_t> cut) {
    for (auto* column : {&smear2_, &alpha_, &flux_x_, &flux_y_, &flux_z_}) column->resize(cut_.m);
    for (int k = 0; k < cut_.m; ++k) {
      const PlacedRow row = place_row(means_[cut[k]], cut_.unit);
      alpha_[k] = row.alpha;
      flux_x_[k] = row.flux_x;
      flux_y_[k] = row.flux_y;
      flux_z_[k] = row.flux_z;
      smear2_[k] = static_cast<float>(cut_.unit * cut_.unit * point_smear2(tree_.nodes[cut[k]]));
    }
    // The potential of long nodes is that of segments.
    no_alpha_.assign(cut_.m, 0.0F);
    has_flux_.resize(cut_.m);
    for (int k = 0; k < cut_.m; ++k)
      has_flux_[k] = !is_single_layer_row(rows_, tree_.panel(tree_.nodes[cut[k]].begin));
  }

  void fill(std::span<const std::int32_t> cut) {
    const int m = cut_.m;
    matrix_.resize(m);
    const PlacedNodes nodes{cut_.x.data(), cut_.y.data(),  cut_.z.data(),  smear2_.data(),
                            alpha_.data(), flux_x_.data(), flux_y_.data(), flux_z_.data()};
    PlacedNodes fluxes = nodes;
    fluxes.alpha = no_alpha_.data();
    for (int l = 0; l < m; ++l) {
      const Cluster& node = tree_.nodes[cut[l]];
      const auto strength = static_cast<float>(inv_4pi * cut_.unit * cut_.unit * node.area);
      float* column = matrix_.column(l);
      fill_column(m, cut_.has_long ? fluxes : nodes, l, strength, column);
      if (cut_.has_long)
        add_segment_column(m, nodes, cut_.smear2.data(), l, cut_.segment[l], strength, column);
      MeanRow row = means_[cut[l]];
      row.alpha *= node.is_panel() ? 1 + rounding_of_sums : stiffer;
      column[l] = static_cast<float>(own_entry(node, row));
    }
  }

  /// For nodes close to each other, unless both are panels.
  void set_close_entries(std::span<const std::int32_t> cut) {
    const int m = cut_.m;
    reach_.resize(m);
    is_close_.resize(m);
    for (int k = 0; k < m; ++k) reach_[k] = static_cast<float>(cut_.unit * close_.reach_of(cut[k]));
    for (int l = 0; l < m; ++l) {
      find_close(l + 1, cut_.x.data(), cut_.y.data(), cut_.z.data(), reach_.data(), l,
                 is_close_.data());
      const bool is_panel = tree_.nodes[cut[l]].is_panel();
      for (int k = 0; k <= l; ++k) {
        if (!is_close_[k] || !(has_flux_[k] || has_flux_[l])) continue;
        if (is_panel && tree_.nodes[cut[k]].is_panel()) continue;
        const MutualEntries entries = close_.between(cut[k], cut[l]);
        if (has_flux_[k]) matrix_.at(k, l) = static_cast<float>(entries.kl);
        if (has_flux_[l]) matrix_.at(l, k) = static_cast<float>(entries.lk);
      }
    }
  }

  void set_exact_entries() {
    const auto set = [&](const PlacedCut::PanelInCut& to, const PlacedCut::PanelInCut& from) {
      const auto i = to.panel - panels_.data();
      matrix_.at(to.place, from.place) =
          static_cast<float>(exact_entry(rows_.alpha[i], rows_.beta[i], *to.panel, *from.panel));
    };
    cut_.for_touching_panels([&](const auto& s, const auto& t) {
      set(s, t);
      set(t, s);
    });
  }

  /// A part with a charge equation has rows r less their mean, equal to the right-hand side x less
  /// its mean, and the equation of its charge c:
  ///
  ///     r_k − mean(r) = x_k − mean(x),   c = mean(x).
  ///
  /// The latter stands in place of the largest node's row. If it were added to all rows, as in the
  /// operator, the charges of others, times the contrast, would leave nothing of r in single
  /// precision.
  void set_charge_rows(std::span<const std::int32_t> cut, int own) {
    find_parts(cut, own);
    for (int k = 0; k < cut_.m; ++k) {
      if (!charges_.is_given(tree_.nodes[cut[k]])) continue;
      for (int l = 0; l < cut_.m; ++l)
        matrix_.at(k, l) = static_cast<float>(charges_.given_entry(cut[k], cut[l]));
    }
    for (const PartInCut& part : parts_) {
      for (int l = 0; l < cut_.m; ++l) {
        float* column = matrix_.column(l);
        float mean = 0;
        for (const auto& [begin, end] : {part.others, part.own})
          mean += sum_of_products(end - begin, share_.data() + begin, column + begin);
        for (const auto& [begin, end] : {part.others, part.own})
          for (int k = begin; k < end; ++k) column[k] -= mean;
        column[part.of_charge] = static_cast<float>(charges_.part_entry(part.part, cut[l]));
      }
    }
  }

  /// The rows of each part with an equation. Nodes are in the order of places, so they are in at
  /// most two ranges: among the others, and among the leaf's own.
  void find_parts(std::span<const std::int32_t> cut, int own) {
    parts_.clear();
    share_.assign(cut_.m, 0.0F);
    for (int k = 0; k < cut_.m; ++k) {
      const Cluster& node = tree_.nodes[cut[k]];
      const std::int32_t part = charges_.part_of(node);
      if (part < 0) continue;
      share_[k] = static_cast<float>(node.area / charges_.area_of_part(part));
      auto at = std::find_if(parts_.begin(), parts_.end(),
                             [&](const PartInCut& found) { return found.part == part; });
      if (at == parts_.end()) at = parts_.insert(at, {part, {k, k}, {k, k}, k});
      Range& range = k < cut_.m - own ? at->others : at->own;
      if (range.begin == range.end) range.begin = k;
      range.end = k + 1;
      if (share_[k] > share_[at->of_charge]) at->of_charge = k;
    }
  }

  /// Converts rows of the inverse that act on a part's x less its mean, and on the mean, to rows
  /// that act on x.
  void add_means(int own, float* rows) const {
    for (const PartInCut& part : parts_) {
      for (int i = 0; i < own; ++i) {
        double of_mean = 2 * static_cast<double>(rows[part.of_charge * own + i]);
        for (const auto& [begin, end] : {part.others, part.own})
          for (int k = begin; k < end; ++k) of_mean -= rows[k * own + i];
        rows[part.of_charge * own + i] = 0;
        for (const auto& [begin, end] : {part.others, part.own})
          for (int k = begin; k < end; ++k)
            rows[k * own + i] += share_[k] * static_cast<float>(of_mean);
      }
    }
  }

  /// Brings the largest entry of each row to 1.
  void scale_rows() {
    scale_.assign(cut_.m, 0.0F);
    for (int l = 0; l < cut_.m; ++l) raise_to(cut_.m, matrix_.column(l), scale_.data());
    for (float& scale : scale_) scale = 1 / scale;
    for (int l = 0; l < cut_.m; ++l) multiply_by(cut_.m, scale_.data(), matrix_.column(l));
  }

  std::span<const Triangle> panels_;
  const MixedRows& rows_;
  const ClusterTree& tree_;
  std::span<const MeanRow> means_;
  const ChargeRows& charges_;
  const CloseEntries& close_;
  PlacedCut cut_;
  SmallMatrix matrix_;
  std::vector<float> smear2_, alpha_, flux_x_, flux_y_, flux_z_, no_alpha_, scale_, reach_;
  std::vector<char> has_flux_, is_close_;

  struct Range {
    int begin, end;
  };
  /// The rows of a part with an equation; one of them is that of its charge.
  struct PartInCut {
    std::int32_t part;
    Range others, own;
    int of_charge;
  };
  std::vector<PartInCut> parts_;
  std::vector<float> share_;  ///< [m] of nodes in their part's area
};

MixedInverse::MixedInverse(const Panels& panels, std::span<const Triangle> triangles,
                           const MixedRows& rows, const MixedInverseOptions& options)
    : MixedInverse(triangles, rows, checked(options), MixedPlaces(panels, triangles, rows)) {}

MixedInverse::MixedInverse(std::span<const Triangle> triangles, const MixedRows& rows,
                           const MixedInverseOptions& options, const MixedPlaces& places)
    : rows_(ClusterTree(places.trees, triangles, options.clusters.max_leaf), options.clusters, 1,
            smallest_leaf),
      correction_(places, rows, rows_.tree()) {
  const ClusterTree& tree = rows_.tree();
  const std::vector<MeanRow> means = mean_rows(tree, triangles, rows);
  const ChargeRows charges(places, rows, tree);
  const CloseEntries close(tree, triangles, rows, means, options.reach);
  rows_.solve([&] { return Assembly(triangles, rows, tree, means, charges, close); });
}

std::int64_t MixedInverse::memory_bytes() const {
  return rows_.memory_bytes() + correction_.memory_bytes();
}

void MixedInverse::multiply(const double* x, double* y, const Product& product) const {
  refuse_transposed(product, "the cluster inverse");
  rows_.multiply(x, y, product);
  for (int v = 0; v < product.vectors; ++v)
    correction_.apply(rows_.tree(), x + v * size(), y + v * size());
}

}  // namespace fmbem
