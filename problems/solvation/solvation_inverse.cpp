#include "fmbem/problems/solvation/solvation_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "fmbem/bem/near/near_integrals.hpp"
#include "fmbem/bem/precond/cluster_rows.hpp"
#include "fmbem/bem/precond/mixed_kernel.hpp"
#include "fmbem/bem/precond/small_system.hpp"

namespace fmbem {
namespace {

/// Molecules have many turns of the surface close to each other, which alone would be 400 nodes.
constexpr ClusterInverseOptions cut_options{.most_unknowns = 200};
/// Relative error of the integrals between panels.
constexpr double of_entries = 1e-3;

/// Trees of panels between the same regions.
TreePlaces places_of(const Panels& panels, const RegionsOfPanels& regions) {
  const std::size_t n = panels.size();
  TreePlaces places;
  places.panel.resize(n);
  std::iota(places.panel.begin(), places.panel.end(), 0);
  const auto sides = [&](std::int32_t i) {
    return std::pair(regions.inside[i], regions.outside[i]);
  };
  std::stable_sort(places.panel.begin(), places.panel.end(),
                   [&](std::int32_t i, std::int32_t j) { return sides(i) < sides(j); });
  for (std::size_t k = 0; k < n; ++k) {
    places.key.push_back(panels.key[places.panel[k]]);
    if (k == 0 || sides(places.panel[k]) != sides(places.panel[k - 1]))
      places.tree_begin.push_back(static_cast<std::int32_t>(k));
  }
  places.tree_begin.push_back(static_cast<std::int32_t>(n));
  places.part.assign(n, -1);
  places.part_key.assign(n, 0);
  return places;
}

/// V and K between nodes as points that are smeared, without screening: the mean, on node k, of the
/// potential of densities 1 of charges and of dipoles on node l.
class SmoothEntries {
 public:
  SmoothEntries(const ClusterTree& tree, const LargeVector<Triangle>& triangles)
      : tree_(tree), normal_(tree.nodes.size()), own_k_(tree.nodes.size(), 0.0) {
    tree.for_children_first([&](std::int32_t k) {
      const Cluster& node = tree.nodes[k];
      if (node.is_panel()) {
        normal_[k] = triangles[tree.panel(node.begin)].normal;
        return;
      }
      const double left = tree.nodes[node.left].area / node.area, right = 1 - left;
      normal_[k] = left * normal_[node.left] + right * normal_[node.right];
      const double apart = distance(node.left, node.right);
      own_k_[k] = left * (own_k_[node.left] + k_entry(node.left, node.right, apart)) +
                  right * (own_k_[node.right] + k_entry(node.right, node.left, apart));
    });
  }

  double distance(std::int32_t k, std::int32_t l) const {
    const Cluster &a = tree_.nodes[k], &b = tree_.nodes[l];
    return std::sqrt(norm2(a.centroid - b.centroid) + point_smear2(a) + point_smear2(b));
  }
  /// V and K at this distance.
  double v_entry(std::int32_t l, double distance) const {
    return inv_4pi * tree_.nodes[l].area / distance;
  }
  double k_entry(std::int32_t k, std::int32_t l, double distance) const {
    if (k == l) return own_k_[k];
    const Vec3d d = tree_.nodes[k].centroid - tree_.nodes[l].centroid;
    return inv_4pi * tree_.nodes[l].area * dot(normal_[l], d) / (distance * distance * distance);
  }

 private:
  const ClusterTree& tree_;
  std::vector<Vec3d> normal_;  ///< [nodes]: means by area
  std::vector<double> own_k_;  ///< [nodes]: what the halves of a cluster make of each other
};

/// Solves the small systems. Holds a thread's buffers.
class Assembly {
 public:
  Assembly(const LargeVector<Triangle>& triangles, const RegionsOfPanels& regions,
           const ClusterTree& tree, const SmoothEntries& smooth, std::int64_t part_size)
      : triangles_(triangles),
        regions_(regions),
        tree_(tree),
        smooth_(smooth),
        part_size_(part_size) {}

  /// rows: of φ by the equations of the region behind and of that ahead, then of q by both, each
  /// [cut][own]. False if the system is singular.
  bool solve(std::span<const std::int32_t> cut, const Cluster& leaf, float* rows) {
    const auto m = static_cast<int>(cut.size());
    const int own = leaf.size();
    find_panels(cut);
    matrix_.resize(2 * m);
    for (int l = 0; l < m; ++l) {
      integrate(cut, l);
      for (int k = 0; k < m; ++k) put(cut, k, l);
    }
    solution_.resize(static_cast<std::size_t>(4) * m * own);
    if (!matrix_.invert_last_rows(2 * own, solution_.data())) return false;
    const float* from = solution_.data();
    for (int k = 0; k < m; ++k)
      for (int equation = 0; equation < 2; ++equation)
        for (int i = 0; i < own; ++i)
          for (int unknown = 0; unknown < 2; ++unknown)
            rows[(2 * unknown + equation) * part_size_ + k * own + i] = *from++;
    return true;
  }

 private:
  void find_panels(std::span<const std::int32_t> cut) {
    targets_.clear();
    place_.clear();
    for (std::size_t k = 0; k < cut.size(); ++k) {
      if (!tree_.nodes[cut[k]].is_panel()) continue;
      place_.push_back(static_cast<int>(k));
      targets_.add(tree_.nodes[cut[k]].centroid);
    }
    targets_.pad();
  }

  /// V and K of node l at all nodes, and the distances by which they are screened.
  void integrate(std::span<const std::int32_t> cut, int l) {
    for (auto* column : {&v_, &k_, &distance_}) column->resize(cut.size());
    for (std::size_t k = 0; k < cut.size(); ++k) {
      distance_[k] = smooth_.distance(cut[k], cut[l]);
      v_[k] = smooth_.v_entry(cut[l], distance_[k]);
      k_[k] = smooth_.k_entry(cut[k], cut[l], distance_[k]);
    }
    const Cluster& node = tree_.nodes[cut[l]];
    if (!node.is_panel()) return;
    const Triangle& from = triangles_[tree_.panel(node.begin)];
    integrals_.integrate(from, targets_);
    const auto set = [&](int at, double v, double k) {
      v_[place_[at]] = v;
      k_[place_[at]] = place_[at] == l ? 0 : k;
    };
    for (int at = 0; at < targets_.count(); ++at)
      set(at, integrals_.potential()[at],
          -dot(from.normal, Vec3d{integrals_.gradient(0)[at], integrals_.gradient(1)[at],
                                  integrals_.gradient(2)[at]}));
    for (const int at : integrals_.close())
      set(at, triangle_potential(from, targets_[at]), triangle_double_layer(from, targets_[at]));
  }

  void put(std::span<const std::int32_t> cut, int k, int l) {
    const std::int32_t i = tree_.panel(tree_.nodes[cut[k]].begin),
                       j = tree_.panel(tree_.nodes[cut[l]].begin);
    const double back = regions_.permittivity[regions_.inside[j]];
    for (int side = 0; side < 2; ++side) {
      const int region = side == 0 ? regions_.inside[i] : regions_.outside[i];
      const bool is_behind = region == regions_.inside[j];
      double of_potential = k == l ? 0.5 : 0, of_flux = 0;
      if (is_behind || region == regions_.outside[j]) {
        const double sign = is_behind ? 1 : -1, kr = regions_.kappa[region] * distance_[k],
                     screened = kr == 0 ? 1 : std::exp(-kr);
        of_potential += sign * (1 + kr) * screened * k_[k];
        of_flux = -sign * back / regions_.permittivity[region] * screened * v_[k];
      }
      matrix_.at(2 * k + side, 2 * l) = static_cast<float>(of_potential);
      matrix_.at(2 * k + side, 2 * l + 1) = static_cast<float>(of_flux);
    }
  }

  const LargeVector<Triangle>& triangles_;
  const RegionsOfPanels& regions_;
  const ClusterTree& tree_;
  const SmoothEntries& smooth_;
  std::int64_t part_size_;
  NearIntegrals integrals_{of_entries, FarKernel::gradient};
  IntegralTargets targets_;
  std::vector<int> place_;  ///< of the panels in the cut
  SmallMatrix matrix_;
  std::vector<float> solution_;
  std::vector<double> v_, k_, distance_;
};

class SolvationInverse final : public ApproximateInverse {
 public:
  SolvationInverse(const Panels& panels, const RegionsOfPanels& regions)
      : SolvationInverse(triangles_of(panels), panels, regions) {}

  std::string name() const override { return "cluster inverse for potentials and fluxes"; }
  std::size_t size() const override { return 2 * rows_.tree().size(); }
  std::int64_t memory_bytes() const override { return rows_.memory_bytes(); }

 protected:
  /// The same bits for any number of threads.
  void multiply(const double* x, double* y, const Product& product) const override {
    refuse_transposed(product, "the cluster inverse");
    const std::size_t n = rows_.tree().size(), all = n * product.vectors;
    std::vector<double> of_equation(all), of_unknown(all);
    std::fill_n(y, 2 * all, 0.0);
    for (int equation = 0; equation < 2; ++equation) {
      for (std::size_t i = 0; i < all; ++i) of_equation[i] = x[2 * i + equation];
      for (int unknown = 0; unknown < 2; ++unknown) {
        rows_.multiply(of_equation.data(), of_unknown.data(), {.vectors = product.vectors},
                       2 * unknown + equation);
        for (std::size_t i = 0; i < all; ++i) y[2 * i + unknown] += of_unknown[i];
      }
    }
  }

 private:
  SolvationInverse(const LargeVector<Triangle>& triangles, const Panels& panels,
                   const RegionsOfPanels& regions)
      : rows_(ClusterTree(places_of(panels, regions), triangles, cut_options.max_leaf), cut_options,
              1, cut_options.max_leaf, {}, 4) {
    const SmoothEntries smooth(rows_.tree(), triangles);
    rows_.solve(
        [&] { return Assembly(triangles, regions, rows_.tree(), smooth, rows_.part_size()); });
  }

  ClusterRows rows_;  ///< parts: unknowns, each by both equations
};

}  // namespace

std::unique_ptr<ApproximateInverse> make_solvation_inverse(const Panels& panels,
                                                           const RegionsOfPanels& regions) {
  return std::make_unique<SolvationInverse>(panels, regions);
}

}  // namespace fmbem
