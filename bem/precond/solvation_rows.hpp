#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/precond/cluster_rows.hpp"
#include "fmbem/bem/precond/solvation_nodes.hpp"

namespace fmbem {

/// An inverse for φ and q of panels by small systems, on cuts of solvation_trees(), which have two
/// equations and two unknowns for each node. On the CPU.
class SolvationRows final : public ApproximateInverse {
 public:
  /// Each thread has one solver = make(triangles, tree, sides of nodes), as ClusterRows::solve()
  /// has it.
  template <class Make>
  SolvationRows(std::string name, const Panels& panels, const RegionsOfPanels& regions,
                const ClusterInverseOptions& cuts, const Make& make)
      : SolvationRows(std::move(name), triangles_of(panels), panels, regions, cuts, make) {}

  std::string name() const override { return name_; }
  std::size_t size() const override { return 2 * rows_.tree().size(); }
  std::int64_t memory_bytes() const override { return rows_.memory_bytes(); }

 protected:
  /// The same bits for any number of threads.
  void multiply(const double* x, double* y, const Product& product) const override {
    refuse_transposed(product, "the cluster inverse");
    rows_.multiply(x, y, product);
  }

 private:
  template <class Make>
  SolvationRows(std::string name, const LargeVector<Triangle>& triangles, const Panels& panels,
                const RegionsOfPanels& regions, const ClusterInverseOptions& cuts, const Make& make)
      : name_(std::move(name)),
        rows_(solvation_trees(panels, triangles, regions, checked(cuts).max_leaf), cuts, 1,
              cuts.max_leaf, {}, 1, 2) {
    const std::vector<NodeSides> sides = sides_of_nodes(rows_.tree(), triangles, regions);
    rows_.solve([&] { return make(triangles, rows_.tree(), std::span(sides)); });
  }

  std::string name_;
  ClusterRows rows_;  ///< fields: both equations, and φ and q
};

}  // namespace fmbem
