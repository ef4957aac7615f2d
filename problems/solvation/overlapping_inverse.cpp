#include "fmbem/problems/solvation/overlapping_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <new>
#include <numbers>

#include "fmbem/bem/near/exact_entry.hpp"
#include "fmbem/bem/precond/small_system.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/panels_at_vertices.hpp"

namespace fmbem {
namespace {

/// Panels of a small system over those of its leaf.
constexpr std::size_t overlap = 3;
/// Entries at more than so many radii of the source are those of one point.
constexpr double close_radii = 4;

/// Panels from begin to end, last, and before them those around, ring by ring.
std::vector<std::int32_t> panels_around(const Panels& panels, const PanelsAtVertices& at_vertices,
                                        std::int64_t begin, std::int64_t end) {
  std::vector<std::int32_t> found;
  for (std::int64_t i = begin; i < end; ++i) found.push_back(static_cast<std::int32_t>(i));
  const std::size_t own = found.size();
  for (std::size_t from = 0; from < found.size() && found.size() < overlap * own;) {
    const std::size_t ring_end = found.size();
    std::vector<std::int32_t> ring;
    for (; from < ring_end; ++from)
      for (const int v : panels.corners[found[from]]) {
        const auto there = at_vertices.at(v);
        ring.insert(ring.end(), there.begin(), there.end());
      }
    std::sort(ring.begin(), ring.end());
    ring.erase(std::unique(ring.begin(), ring.end()), ring.end());
    std::vector<std::int32_t> known(found);
    std::sort(known.begin(), known.end());
    std::set_difference(ring.begin(), ring.end(), known.begin(), known.end(),
                        std::back_inserter(found));
  }
  std::rotate(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(own), found.end());
  return found;
}

/// V_ij and K_ij without screening, and the distance of the centroids.
struct PairEntries {
  double v, k, distance;
};
PairEntries entries_between(const Triangle& to, const Triangle& from, bool same) {
  const Vec3d d = to.centroid - from.centroid;
  const double distance = norm(d), over_4pi = 1 / (4 * std::numbers::pi);
  if (distance > close_radii * from.radius)
    return {over_4pi * from.area / distance,
            over_4pi * from.area * dot(from.normal, d) / (distance * distance * distance),
            distance};
  return {exact_entry(single_layer, NormalRows::at_centroids, to, from, same),
          exact_entry(double_layer, NormalRows::at_centroids, to, from, same), distance};
}

class OverlappingInverse final : public ApproximateInverse {
 public:
  OverlappingInverse(const Panels& panels, const RegionsOfPanels& regions)
      : size_(2 * panels.size()), leaves_(panels.leaves()) {
    const PanelsAtVertices at_vertices(panels);
    const LargeVector<Triangle> triangles = triangles_of(panels);
    const auto n = static_cast<std::int64_t>(leaves_.size());
    bool singular = false;
#pragma omp parallel for schedule(dynamic) reduction(|| : singular)
    for (std::int64_t l = 0; l < n; ++l) {
      const std::int64_t begin = panels.leaf_begin[l], end = panels.leaf_begin[l + 1];
      Leaf& leaf = leaves_[l];
      leaf.begin = begin;
      leaf.own = static_cast<int>(2 * (end - begin));
      leaf.panels = panels_around(panels, at_vertices, begin, end);
      SmallMatrix matrix;
      fill(matrix, leaf.panels, triangles, regions);
      leaf.rows.resize(2 * leaf.panels.size() * leaf.own);
      singular = !matrix.invert_last_rows(leaf.own, leaf.rows.data()) || singular;
    }
    FMBEM_REQUIRE(!singular,
                  "a small system of panels is singular, which panels that coincide "
                  "can make: fmbem mesh-info tells of the mesh");
  }

  std::string name() const override { return "overlapping inverse"; }
  std::size_t size() const override { return size_; }
  std::int64_t memory_bytes() const override {
    std::size_t bytes = 0;
    for (const Leaf& leaf : leaves_)
      bytes += leaf.rows.size() * sizeof(float) + leaf.panels.size() * sizeof(std::int32_t);
    return static_cast<std::int64_t>(bytes);
  }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    refuse_transposed(product, "the overlapping inverse");
    const auto n = static_cast<std::int64_t>(leaves_.size());
    for (std::size_t v = 0; v < static_cast<std::size_t>(product.vectors); ++v) {
      const double* from = x + v * size_;
      double* to = y + v * size_;
#pragma omp parallel for schedule(dynamic)
      for (std::int64_t l = 0; l < n; ++l) {
        const Leaf& leaf = leaves_[l];
        double* own = to + 2 * leaf.begin;
        std::fill_n(own, leaf.own, 0.0);
        const float* rows = leaf.rows.data();
        for (const std::int32_t panel : leaf.panels)
          for (int unknown = 0; unknown < 2; ++unknown, rows += leaf.own) {
            const double value = from[2 * static_cast<std::size_t>(panel) + unknown];
            for (int r = 0; r < leaf.own; ++r) own[r] += rows[r] * value;
          }
      }
    }
  }

 private:
  struct Leaf {
    std::int64_t begin = 0;            ///< its first panel
    int own = 0;                       ///< unknowns of its own panels
    std::vector<std::int32_t> panels;  ///< of its system, its own last
    std::vector<float> rows;           ///< [2 panels][own]
  };

  static void fill(SmallMatrix& matrix, const std::vector<std::int32_t>& panels,
                   const LargeVector<Triangle>& triangles, const RegionsOfPanels& regions) {
    const auto m = static_cast<int>(panels.size());
    matrix.resize(2 * m);
    for (int b = 0; b < m; ++b) {
      const std::int32_t j = panels[b];
      std::fill_n(matrix.column(2 * b), 2 * m, 0.0F);
      std::fill_n(matrix.column(2 * b + 1), 2 * m, 0.0F);
      const double back = regions.permittivity[regions.inside[j]];
      for (int a = 0; a < m; ++a) {
        const std::int32_t i = panels[a];
        const PairEntries pair = entries_between(triangles[i], triangles[j], i == j);
        for (int side = 0; side < 2; ++side) {
          const int region = side == 0 ? regions.inside[i] : regions.outside[i];
          if (region != regions.inside[j] && region != regions.outside[j]) continue;
          const double sign = region == regions.inside[j] ? 1 : -1;
          const double kr = regions.kappa[region] * pair.distance, screened = std::exp(-kr);
          matrix.at(2 * a + side, 2 * b) =
              static_cast<float>(sign * (1 + kr) * screened * pair.k + (i == j ? 0.5 : 0));
          matrix.at(2 * a + side, 2 * b + 1) =
              static_cast<float>(-sign * back / regions.permittivity[region] * screened * pair.v);
        }
      }
    }
  }

  std::size_t size_;
  std::vector<Leaf> leaves_;
};

}  // namespace

std::unique_ptr<ApproximateInverse> make_overlapping_inverse(const Panels& panels,
                                                             const RegionsOfPanels& regions) try {
  return std::make_unique<OverlappingInverse>(panels, regions);
} catch (const std::bad_alloc&) {
  throw ResourceError(
      "no memory for the preconditioner: use -pc_type vpbjacobi or a coarser surface");
}

}  // namespace fmbem
