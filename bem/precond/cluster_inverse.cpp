#include "fmbem/bem/precond/cluster_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <cblas.h>

#include "fmbem/bem/near/block_product.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/base/simd.hpp"
#include "fmbem/fmm/base/vector_log.hpp"

extern "C" {
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);
void sgetrf_(const int* m, const int* n, float* a, const int* lda, int* pivots, int* info);
void sgetrs_(const char* transposed, const int* n, const int* columns, const float* a,
             const int* lda, const int* pivots, float* b, const int* ldb, int* info);
}

namespace fmbem {
namespace {

/// The nodes whose charges are the unknowns for a leaf, its own panels last.
std::vector<std::int32_t> cut_for(const ClusterTree& tree, std::int32_t leaf_node,
                                  const ClusterInverseOptions& options) {
  const Cluster& own = tree.nodes[leaf_node];
  const LeafView leaf = view_leaf(tree.nodes.data(), leaf_node);
  const auto n_nodes = static_cast<std::int32_t>(tree.nodes.size());
  std::vector<std::int32_t> cut;
  for (double opening = options.opening;; opening *= coarser) {
    cut.clear();
    for (std::int32_t k = 0; k < n_nodes;) {
      const CutStep step = cut_step(leaf, tree.nodes[k], opening, options.nearness);
      if (step == CutStep::take) cut.push_back(k);
      k = step == CutStep::open ? k + 1 : tree.descendants_end(k);
    }
    if (static_cast<int>(cut.size()) + own.size() <= options.most_unknowns ||
        opening > largest_opening)
      break;
  }
  for (std::int32_t k = leaf_node; k < tree.descendants_end(leaf_node); ++k)
    if (tree.nodes[k].is_panel()) cut.push_back(k);
  return cut;
}

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

/// Solves the small systems; what a thread works with.
class ClusterInverse::Assembly {
 public:
  Assembly(std::span<const Triangle> panels, double extent, const ClusterTree& tree)
      : panels_(panels), extent_(extent), tree_(tree) {}

  /// rows[k][i], k in the cut and i in the leaf: of V⁻¹ times the extent of all panels. False if
  /// the system is singular.
  bool solve(std::span<const std::int32_t> cut, const Cluster& leaf, float* rows) {
    place(cut, leaf);
    const int own = leaf.size();
    fill();
    const bool symmetric = !has_long_;
    set_exact_entries(symmetric);
    bool solved = symmetric ? invert_symmetric(own, rows) : invert_general(own, rows);
    if (!solved) {
      // Between sheets that are far closer than clusters are large: those are the same to rounding.
      fill();
      set_exact_entries(true);
      stiffen(1 + rounding_of_sums, stiffer);
      solved = invert_symmetric(own, rows);
    }
    if (!solved) {
      // The smooth kernel alone is positive definite to rounding.
      fill();
      stiffen(stiffer, stiffer);
      if (!invert_symmetric(own, rows)) return false;
    }
    for (int i = 0; i < own; ++i) {
      const float scale =
          row_scale(scale_[m_ - own + i], extent_, unit_, panels_[leaf.begin + i].area);
      for (int k = 0; k < m_; ++k) rows[k * own + i] *= scale * scale_[k];
    }
    return true;
  }

 private:
  /// The last rows of the inverse of the lower triangle's symmetric matrix, [m][own], by Cholesky:
  /// [0 | 1] (L Lᵀ)⁻¹. False if it is not positive definite.
  bool invert_symmetric(int own, float* rows) {
    int failed = 0;
    spotrf_("L", &m_, matrix_.data(), &m_, &failed);
    if (failed != 0) return false;
    const int others = m_ - own;
    std::fill_n(rows, static_cast<std::size_t>(m_) * own, 0.0F);
    float* last = rows + static_cast<std::size_t>(others) * own;
    for (int i = 0; i < own; ++i) last[i * own + i] = 1;
    cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, own, own, 1.0F,
                &matrix_[at(others, others)], m_, last, own);
    cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, own, m_, 1.0F,
                matrix_.data(), m_, rows, own);
    return true;
  }

  /// The same of any matrix, by LU: Aᵀ Xᵀ = [0 | 1]ᵀ. False if it is singular.
  bool invert_general(int own, float* rows) {
    int failed = 0;
    pivots_.resize(m_);
    sgetrf_(&m_, &m_, matrix_.data(), &m_, pivots_.data(), &failed);
    if (failed != 0) return false;
    transposed_.assign(static_cast<std::size_t>(m_) * own, 0.0F);
    for (int i = 0; i < own; ++i) transposed_[at(m_ - own + i, i)] = 1;
    sgetrs_("T", &m_, &own, matrix_.data(), &m_, pivots_.data(), transposed_.data(), &m_, &failed);
    for (int k = 0; k < m_; ++k)
      for (int i = 0; i < own; ++i) rows[k * own + i] = transposed_[at(k, i)];
    return true;
  }

  std::size_t at(int row, int column) const { return static_cast<std::size_t>(column) * m_ + row; }

  void place(std::span<const std::int32_t> cut, const Cluster& leaf) {
    m_ = static_cast<int>(cut.size());
    unit_ = 1 / leaf.radius;
    for (auto* column : {&x_, &y_, &z_, &smear2_, &scale_}) column->resize(m_);
    segment_.resize(m_);
    has_long_ = false;
    panels_in_cut_.clear();
    for (int k = 0; k < m_; ++k) {
      const Cluster& node = tree_.nodes[cut[k]];
      const PlacedCluster placed = place_cluster(node, leaf.centroid, unit_);
      x_[k] = placed.x;
      y_[k] = placed.y;
      z_[k] = placed.z;
      smear2_[k] = placed.smear2;
      scale_[k] = placed.scale;
      segment_[k] = place_segment(node, unit_);
      has_long_ = has_long_ || node.is_long();
      if (node.is_panel()) panels_in_cut_.push_back({k, &panels_[node.begin]});
    }
  }

  /// By the smooth kernel.
  void fill() {
    matrix_.resize(static_cast<std::size_t>(m_) * m_);
    for (int l = 0; l < m_; ++l) {
      float* column = &matrix_[at(0, l)];
      const PlacedCluster placed{x_[l], y_[l], z_[l], smear2_[l], scale_[l]};
      if (has_long_) {
        fill_segment_column(m_, x_.data(), y_.data(), z_.data(), smear2_.data(), scale_.data(),
                            placed, segment_[l], column);
      } else {
#pragma omp simd
        for (int k = 0; k < m_; ++k)
          column[k] = smooth_entry({x_[k], y_[k], z_[k], smear2_[k], scale_[k]}, placed);
      }
      column[l] = has_long_ ? 1 + rounding_of_sums : 1;
    }
  }

  /// Sets the own entries of panels and of clusters.
  void stiffen(float of_panels, float of_clusters) {
    for (int k = 0; k < m_; ++k) matrix_[at(k, k)] = of_clusters;
    for (const PanelInCut& panel : panels_in_cut_)
      matrix_[at(panel.place, panel.place)] = of_panels;
  }

  /// Entries of panels that touch, from the potential at their centroids: as they are, or the mean
  /// of both directions.
  void set_exact_entries(bool symmetric) {
    for (auto s = panels_in_cut_.begin(); s != panels_in_cut_.end(); ++s) {
      for (auto t = s + 1; t != panels_in_cut_.end(); ++t) {
        if (!triangles_touch(*s->panel, *t->panel)) continue;
        const float scale = scale_[s->place] * scale_[t->place];
        double st = exact_entry(s->panel->centroid, *t->panel, scale, unit_);
        double ts = exact_entry(t->panel->centroid, *s->panel, scale, unit_);
        if (symmetric) st = ts = 0.5 * (st + ts);
        matrix_[at(s->place, t->place)] = static_cast<float>(st);
        matrix_[at(t->place, s->place)] = static_cast<float>(ts);
      }
    }
  }

  struct PanelInCut {
    int place;
    const Triangle* panel;
  };

  std::span<const Triangle> panels_;
  double extent_;
  const ClusterTree& tree_;
  int m_ = 0;
  double unit_ = 1;
  std::vector<float> x_, y_, z_, smear2_, scale_, matrix_, transposed_;
  std::vector<PlacedSegment> segment_;
  bool has_long_ = false;
  std::vector<PanelInCut> panels_in_cut_;
  std::vector<int> pivots_;
};

const ClusterInverseOptions& checked(const ClusterInverseOptions& options) {
  FMBEM_REQUIRE(options.max_leaf >= 1,
                "a leaf must hold at least one panel, not " << options.max_leaf);
  // It grows by a factor until there are few enough unknowns, to which nothing leads from 0.
  FMBEM_REQUIRE(options.opening > 0 && std::isfinite(options.opening),
                "the opening of clusters must be positive, not " << options.opening);
  FMBEM_REQUIRE(options.nearness >= 0 && std::isfinite(options.nearness),
                "the nearness of clusters must not be negative, not " << options.nearness);
  return options;
}

ClusterInverse::ClusterInverse(const Panels& panels, const ClusterInverseOptions& options)
    : ClusterInverse(panels, triangles_of(panels), options) {}

ClusterInverse::ClusterInverse(const Panels& panels, std::span<const Triangle> triangles,
                               const ClusterInverseOptions& options)
    : tree_(panels.key, triangles, checked(options).max_leaf), extent_(panels.extent) {
  const std::size_t n_leaves = tree_.leaves.size();
  std::vector<std::vector<std::int32_t>> cuts(n_leaves);
#pragma omp parallel for schedule(dynamic, 16)
  for (std::size_t f = 0; f < n_leaves; ++f) cuts[f] = cut_for(tree_, tree_.leaves[f], options);
  cut_begin_.assign(1, 0);
  row_begin_.assign(1, 0);
  for (std::size_t f = 0; f < n_leaves; ++f) {
    const auto m = static_cast<std::int64_t>(cuts[f].size());
    cut_begin_.push_back(cut_begin_.back() + m);
    row_begin_.push_back(row_begin_.back() + m * tree_.nodes[tree_.leaves[f]].size());
    cut_.insert(cut_.end(), cuts[f].begin(), cuts[f].end());
  }
  const auto bytes = row_begin_.back() * static_cast<std::int64_t>(sizeof(float));
  if (bytes > available_memory())
    throw ResourceError("the preconditioner needs " + std::to_string(bytes >> 20) + " MiB, but " +
                        std::to_string(available_memory() >> 20) +
                        " MiB are free: use a coarser mesh");
  rows_ = Buffer<float>(row_begin_.back() + block_rows);
  std::fill_n(rows_.data() + row_begin_.back(), block_rows, 0.0F);
  const OneBlasThread one_blas_thread;
  constexpr auto none = std::numeric_limits<std::int32_t>::max();
  std::int32_t singular = none;
#pragma omp parallel reduction(min : singular)
  {
    Assembly assembly(triangles, extent_, tree_);
#pragma omp for schedule(dynamic, 16)
    for (std::size_t f = 0; f < n_leaves; ++f) {
      const Cluster& leaf = tree_.nodes[tree_.leaves[f]];
      if (!assembly.solve(cut_of(f), leaf, rows_.data() + row_begin_[f]))
        singular = std::min(singular, leaf.begin);
    }
  }
  FMBEM_REQUIRE(singular == none, "the preconditioner's system at panel "
                                      << singular << " is singular: check the mesh");
}

std::span<const std::int32_t> ClusterInverse::cut_of(std::size_t leaf) const {
  return std::span(cut_).subspan(cut_begin_[leaf], cut_begin_[leaf + 1] - cut_begin_[leaf]);
}

void ClusterInverse::take_means(const double* x, double* means) const {
  const auto take = [&](std::int32_t k) {
    const Cluster& node = tree_.nodes[k];
    if (node.is_panel()) {
      means[k] = x[node.begin];
      return;
    }
    const Cluster &l = tree_.nodes[node.left], &r = tree_.nodes[node.right];
    means[k] = (l.area * means[node.left] + r.area * means[node.right]) / node.area;
  };
#pragma omp parallel for schedule(dynamic, 64)
  for (const std::int32_t leaf : tree_.leaves)
    for (std::int32_t k = tree_.descendants_end(leaf) - 1; k >= leaf; --k) take(k);
  for (const std::int32_t k : tree_.above) take(k);
}

void ClusterInverse::multiply(const double* x, double* y, const Product& product) const {
  refuse_transposed(product, "the cluster inverse");
  const std::size_t n = size(), n_nodes = tree_.nodes.size();
  for_vector_groups(product.vectors, [&](int first, int width, int present) {
    std::vector<double> means(n_nodes * width, 0.0);
    for (int v = 0; v < present; ++v) take_means(x + (first + v) * n, means.data() + v * n_nodes);
#pragma omp parallel
    {
      std::vector<double> at_cut, sum;
#pragma omp for schedule(dynamic, 16)
      for (std::size_t f = 0; f < tree_.leaves.size(); ++f) {
        const auto cut = cut_of(f);
        const Cluster& leaf = tree_.nodes[tree_.leaves[f]];
        const int own = leaf.size();
        at_cut.resize(cut.size() * width);
        sum.resize(static_cast<std::size_t>(own) * width);
        for (std::size_t k = 0; k < cut.size(); ++k)
          for (int v = 0; v < width; ++v) at_cut[k * width + v] = means[v * n_nodes + cut[k]];
        multiply_block(width, static_cast<std::int64_t>(cut.size()), own,
                       rows_.data() + row_begin_[f], at_cut.data(), sum.data());
        for (int v = 0; v < present; ++v)
          for (int i = 0; i < own; ++i)
            y[(first + v) * n + leaf.begin + i] = sum[v * own + i] / extent_;
      }
    }
  });
}

double ClusterInverse::mean_unknowns() const {
  return static_cast<double>(cut_.size()) / static_cast<double>(leaves());
}

std::int64_t ClusterInverse::memory_bytes() const {
  return static_cast<std::int64_t>(rows_.size() * sizeof(float) +
                                   tree_.nodes.size() * sizeof(Cluster) +
                                   cut_.size() * sizeof(std::int32_t));
}

}  // namespace fmbem
