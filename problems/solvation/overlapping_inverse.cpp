#include "fmbem/problems/solvation/overlapping_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <new>

#include "fmbem/bem/near/near_integrals.hpp"
#include "fmbem/bem/precond/small_system.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/panels_at_vertices.hpp"

namespace fmbem {
namespace {

/// Panels of a small system over those of its leaf.
constexpr std::size_t overlap = 3;
/// Relative error of the entries' integrals.
constexpr double of_entries = 1e-3;

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

class OverlappingInverse final : public ApproximateInverse {
 public:
  OverlappingInverse(const Panels& panels, const RegionsOfPanels& regions)
      : size_(2 * panels.size()), leaves_(panels.leaves()) {
    const PanelsAtVertices at_vertices(panels);
    const LargeVector<Triangle> triangles = triangles_of(panels);
    const auto n = static_cast<std::int64_t>(leaves_.size());
    bool singular = false;
#pragma omp parallel reduction(|| : singular)
    {
      Entries entries(triangles, regions);
      SmallMatrix matrix;
#pragma omp for schedule(dynamic)
      for (std::int64_t l = 0; l < n; ++l) {
        const std::int64_t begin = panels.leaf_begin[l], end = panels.leaf_begin[l + 1];
        Leaf& leaf = leaves_[l];
        leaf.begin = begin;
        leaf.own = static_cast<int>(2 * (end - begin));
        leaf.panels = panels_around(panels, at_vertices, begin, end);
        entries.fill(matrix, leaf.panels);
        leaf.rows.resize(2 * leaf.panels.size() * leaf.own);
        singular = !matrix.invert_last_rows(leaf.own, leaf.rows.data()) || singular;
      }
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

  /// Fills the systems of leaves, with a thread's buffers.
  class Entries {
   public:
    Entries(const LargeVector<Triangle>& triangles, const RegionsOfPanels& regions)
        : triangles_(triangles), regions_(regions) {}

    void fill(SmallMatrix& matrix, const std::vector<std::int32_t>& panels) {
      const auto m = static_cast<int>(panels.size());
      matrix.resize(2 * m);
      targets_.clear();
      for (const std::int32_t i : panels) targets_.add(triangles_[i].centroid);
      targets_.pad();
      for (int b = 0; b < m; ++b) {
        std::fill_n(matrix.column(2 * b), 2 * m, 0.0F);
        std::fill_n(matrix.column(2 * b + 1), 2 * m, 0.0F);
        integrate(triangles_[panels[b]], b);
        for (int a = 0; a < m; ++a) put(matrix, a, panels[a], b, panels[b]);
      }
    }

   private:
    /// V and K without screening from panel b of the system, at all of its centroids.
    void integrate(const Triangle& from, int b) {
      const int m = targets_.count();
      integrals_.integrate(from, targets_);
      v_ = integrals_.potential();
      k_.resize(m);
      for (int a = 0; a < m; ++a)
        k_[a] = -dot(from.normal, Vec3d{integrals_.gradient(0)[a], integrals_.gradient(1)[a],
                                        integrals_.gradient(2)[a]});
      for (const int a : integrals_.close()) {
        v_[a] = triangle_potential(from, targets_[a]);
        k_[a] = a == b ? 0 : triangle_double_layer(from, targets_[a]);
      }
    }

    /// Screened by the distance of the centroids.
    void put(SmallMatrix& matrix, int a, std::int32_t i, int b, std::int32_t j) const {
      const double back = regions_.permittivity[regions_.inside[j]],
                   distance = norm(triangles_[i].centroid - triangles_[j].centroid);
      for (int side = 0; side < 2; ++side) {
        const int region = side == 0 ? regions_.inside[i] : regions_.outside[i];
        if (region != regions_.inside[j] && region != regions_.outside[j]) continue;
        const double sign = region == regions_.inside[j] ? 1 : -1;
        const double kr = regions_.kappa[region] * distance, screened = std::exp(-kr);
        matrix.at(2 * a + side, 2 * b) =
            static_cast<float>(sign * (1 + kr) * screened * k_[a] + (i == j ? 0.5 : 0));
        matrix.at(2 * a + side, 2 * b + 1) =
            static_cast<float>(-sign * back / regions_.permittivity[region] * screened * v_[a]);
      }
    }

    const LargeVector<Triangle>& triangles_;
    const RegionsOfPanels& regions_;
    NearIntegrals integrals_{of_entries, FarKernel::gradient};
    IntegralTargets targets_;
    std::vector<double> v_, k_;
  };

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
