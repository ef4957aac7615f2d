#pragma once

#include <vector>

#include "fmbem/pictures/scene.hpp"

namespace fmbem {

/// Names of the groups, each where it is seen, as far as there is room; none where there is a
/// single group. `seen` is the group of each pixel, -1 for none.
void add_labels(Drawing& drawing, const Scene& scene, const std::vector<int>& seen);

}  // namespace fmbem
