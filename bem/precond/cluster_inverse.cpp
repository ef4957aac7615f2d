#include "fmbem/bem/precond/cluster_inverse.hpp"

#include "fmbem/bem/precond/small_system.hpp"
#include "fmbem/fmm/base/simd.hpp"
#include "fmbem/fmm/base/vector_log.hpp"

namespace fmbem {
namespace {

/// Entries [m] of a column of a system in which some nodes are long.
FMBEM_SIMD_CLONES void fill_segment_column(int m, const float* x, const float* y, const float* z,
                                           const float* smear2, const float* scale,
                                           const PlacedCluster& l, const PlacedSegment& of_l,
                                           float* column) {
#pragma omp simd
  for (int k = 0; k < m; ++k)
    column[k] = segment_entry({x[k], y[k], z[k], smear2[k], scale[k]}, l, of_l);
}

}  // namespace

/// Solves the small systems. Holds a thread's buffers.
class ClusterInverse::Assembly {
 public:
  Assembly(std::span<const Triangle> panels, double extent, const ClusterTree& tree)
      : panels_(panels), extent_(extent), tree_(tree) {}

  /// rows[k][i], k in the cut and i in the leaf: of V⁻¹ times the extent of all panels. False if
  /// the system is singular.
  bool solve(std::span<const std::int32_t> cut, const Cluster& leaf, float* rows) {
    cut_.place(tree_, cut, leaf, panels_);
    const int own = leaf.size();
    fill();
    const bool symmetric = !cut_.has_long;
    set_exact_entries(symmetric);
    bool solved =
        symmetric ? matrix_.invert_symmetric(own, rows) : matrix_.invert_general(own, rows);
    if (!solved) {
      // On sheets that are far closer than clusters are large, facing clusters have entries that
      // are the same to rounding.
      fill();
      set_exact_entries(true);
      stiffen(1 + rounding_of_sums, stiffer);
      solved = matrix_.invert_symmetric(own, rows);
    }
    if (!solved) {
      // The smooth kernel alone is positive definite to rounding.
      fill();
      stiffen(stiffer, stiffer);
      if (!matrix_.invert_symmetric(own, rows)) return false;
    }
    for (int i = 0; i < own; ++i) {
      const float scale =
          row_scale(cut_.scale[cut_.m - own + i], extent_, cut_.unit, panels_[leaf.begin + i].area);
      for (int k = 0; k < cut_.m; ++k) rows[k * own + i] *= scale * cut_.scale[k];
    }
    return true;
  }

 private:
  /// By the smooth kernel.
  void fill() {
    const int m = cut_.m;
    const auto *x = cut_.x.data(), *y = cut_.y.data(), *z = cut_.z.data(),
               *smear2 = cut_.smear2.data(), *scale = cut_.scale.data();
    matrix_.resize(m);
    for (int l = 0; l < m; ++l) {
      float* column = matrix_.column(l);
      const PlacedCluster placed{x[l], y[l], z[l], smear2[l], scale[l]};
      if (cut_.has_long) {
        fill_segment_column(m, x, y, z, smear2, scale, placed, cut_.segment[l], column);
      } else {
#pragma omp simd
        for (int k = 0; k < m; ++k)
          column[k] = smooth_entry({x[k], y[k], z[k], smear2[k], scale[k]}, placed);
      }
      column[l] = cut_.has_long ? 1 + rounding_of_sums : 1;
    }
  }

  /// Sets the own entries of panels and of clusters.
  void stiffen(float of_panels, float of_clusters) {
    for (int k = 0; k < cut_.m; ++k) matrix_.at(k, k) = of_clusters;
    for (const PlacedCut::PanelInCut& panel : cut_.panels_in_cut)
      matrix_.at(panel.place, panel.place) = of_panels;
  }

  /// Entries of panels that touch, from the potential at their centroids: as they are, or the mean
  /// of both directions.
  void set_exact_entries(bool symmetric) {
    cut_.for_touching_panels([&](const auto& s, const auto& t) {
      const float scale = cut_.scale[s.place] * cut_.scale[t.place];
      double st = exact_entry(s.panel->centroid, *t.panel, scale, cut_.unit);
      double ts = exact_entry(t.panel->centroid, *s.panel, scale, cut_.unit);
      if (symmetric) st = ts = 0.5 * (st + ts);
      matrix_.at(s.place, t.place) = static_cast<float>(st);
      matrix_.at(t.place, s.place) = static_cast<float>(ts);
    });
  }

  std::span<const Triangle> panels_;
  double extent_;
  const ClusterTree& tree_;
  PlacedCut cut_;
  SmallMatrix matrix_;
};

ClusterInverse::ClusterInverse(const Panels& panels, const ClusterInverseOptions& options)
    : ClusterInverse(panels, triangles_of(panels), options) {}

ClusterInverse::ClusterInverse(const Panels& panels, std::span<const Triangle> triangles,
                               const ClusterInverseOptions& options)
    : rows_(ClusterTree(panels.key, triangles, checked(options).max_leaf), options, panels.extent,
            options.max_leaf) {
  rows_.solve([&] { return Assembly(triangles, panels.extent, rows_.tree()); });
}

void ClusterInverse::multiply(const double* x, double* y, const Product& product) const {
  refuse_transposed(product, "the cluster inverse");
  rows_.multiply(x, y, product);
}

}  // namespace fmbem
