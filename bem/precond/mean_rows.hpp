#pragma once

#include <span>
#include <vector>

#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/bem/precond/cluster_tree.hpp"
#include "fmbem/bem/precond/mixed_kernel.hpp"

namespace fmbem {

/// The mean rows of all nodes. `panels` are in their own order.
std::vector<MeanRow> mean_rows(const ClusterTree& tree, std::span<const Triangle> panels,
                               const MixedRows& rows);

}  // namespace fmbem
