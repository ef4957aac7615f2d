#include "fmbem/meshes/refine.hpp"

#include <limits>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/split_edges.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {

SurfaceMesh refine_uniformly(const SurfaceMesh& mesh, int times) {
  constexpr int most_times = 12;
  constexpr std::size_t most_triangles = std::numeric_limits<int>::max() / 3;
  FMBEM_REQUIRE(times >= 0 && times <= most_times,
                "a mesh can be refined 0 to " << most_times << " times, not " << times);
  FMBEM_REQUIRE(mesh.triangles.size() <= most_triangles >> (2 * times),
                "refined " << counted(static_cast<std::size_t>(times), "time") << ", the "
                           << counted(mesh.triangles.size(), "triangle") << " of " << mesh.file
                           << " would become more than " << most_triangles
                           << "; refine fewer times");
  SurfaceMesh fine = mesh;
  if (times == 0) return fine;
  for (int t = 0; t < times; ++t) fine = split_edges(fine).mesh;
  number_tags(fine);
  return fine;
}

}  // namespace fmbem
