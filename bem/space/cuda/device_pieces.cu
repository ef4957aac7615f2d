#include <vector>

#include "fmbem/bem/space/cuda/device_pieces.cuh"
#include "fmbem/bem/space/panel_sources.hpp"

namespace fmbem::cuda::bem {

DevicePieces::DevicePieces(std::span<const Triangle> panels,
                           std::shared_ptr<const PanelPieces> pieces, cudaStream_t stream)
    : inflation(pieces->inflation()),
      panel(to_device(pieces->panel_of_pieces(), stream)),
      first(to_device(pieces->first_pieces(), stream)),
      place(to_device(pieces->places(), stream)) {
  const PanelSources sources(panels, std::move(pieces), 1);
  const auto n = static_cast<std::int64_t>(sources.size());
  std::vector<Vec3d> centres(n), lows(n), highs(n);
  std::vector<double> areas(n);
#pragma omp parallel for schedule(static)
  for (std::int64_t j = 0; j < n; ++j) {
    centres[j] = sources.centre(j);
    areas[j] = sources.area(j);
    sources.bounds(j, lows[j], highs[j]);
  }
  centre = to_device(centres, stream);
  low = to_device(lows, stream);
  high = to_device(highs, stream);
  area = to_device(areas, stream);
  FMBEM_CUDA(cudaStreamSynchronize(stream));  // the vectors end here
}

}  // namespace fmbem::cuda::bem
