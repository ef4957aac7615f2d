#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/cuda/memory_advice.cuh"
#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/precond/charge_correction.hpp"
#include "fmbem/bem/precond/cuda/cluster_apply.cuh"
#include "fmbem/bem/precond/cuda/device_inverse.cuh"
#include "fmbem/bem/precond/cuda/mixed_inverse.hpp"
#include "fmbem/bem/precond/cuda/mixed_systems.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/copied.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Values at the places of the trees, from values of panels, and back: [vectors][n].
__global__ void take_to_places(const std::int32_t* panel_at, std::int64_t n, const double* x,
                               double* at_places) {
  const std::int64_t k = thread_index();
  if (k < n) at_places[blockIdx.y * n + k] = x[blockIdx.y * n + panel_at[k]];
}
__global__ void take_from_places(const std::int32_t* panel_at, std::int64_t n,
                                 const double* at_places, double* y) {
  const std::int64_t k = thread_index();
  if (k < n) y[blockIdx.y * n + panel_at[k]] = at_places[blockIdx.y * n + k];
}

/// Places that a block sums over, all of one part.
struct Chunk {
  std::int32_t begin, end;
};
constexpr std::int32_t chunk_size = 4096;

/// The sums of area x and of charge_area y over each chunk, of vector number blockIdx.y:
/// sums[vectors][2][chunks].
__global__ void __launch_bounds__(threads_per_block)
    sum_chunks(const Chunk* chunks, const double* area, const double* charge_area, std::int64_t n,
               const double* x, const double* y, double* sums) {
  const Chunk chunk = chunks[blockIdx.x];
  double right = 0, charge = 0;
  for (std::int32_t k = chunk.begin + static_cast<std::int32_t>(threadIdx.x); k < chunk.end;
       k += threads_per_block) {
    right += area[k] * x[blockIdx.y * n + k];
    charge += charge_area[k] * y[blockIdx.y * n + k];
  }
  right = sum_of_block(right);
  charge = sum_of_block(charge);
  if (threadIdx.x > 0) return;
  sums += blockIdx.y * (2 * gridDim.x) + blockIdx.x;
  sums[0] = right;
  sums[gridDim.x] = charge;
}

struct PartView {
  const std::int32_t* part_chunks;  ///< [parts + 1]
  const double* weight2_area;       ///< [parts]
  std::int64_t parts, chunks;
};

/// right, charge, change = 0: [vectors][3][parts].
__global__ void sum_parts(PartView view, const double* sums, double* of_parts) {
  const std::int64_t p = thread_index();
  if (p >= view.parts) return;
  sums += blockIdx.y * 2 * view.chunks;
  of_parts += blockIdx.y * 3 * view.parts;
  double right = 0, charge = 0;
  for (std::int32_t c = view.part_chunks[p]; c < view.part_chunks[p + 1]; ++c) {
    right += sums[c];
    charge += sums[view.chunks + c];
  }
  of_parts[p] = right;
  of_parts[view.parts + p] = charge;
  of_parts[2 * view.parts + p] = 0;
}

struct EquationView {
  const std::int32_t *part, *other_begin;
  const ChargeCorrection::Other* others;
  std::int64_t count;
};

/// One equation after the other, as on the host: a single thread for each vector.
__global__ void correct_parts(EquationView equations, PartView view, double* of_parts) {
  of_parts += blockIdx.y * 3 * view.parts;
  const double* const right = of_parts;
  double *const charge = of_parts + view.parts, *const change = of_parts + 2 * view.parts;
  for (std::int64_t e = 0; e < equations.count; ++e) {
    const std::int32_t part = equations.part[e];
    double missing = right[part] - charge[part], of_change = view.weight2_area[part];
    for (std::int32_t k = equations.other_begin[e]; k < equations.other_begin[e + 1]; ++k) {
      const ChargeCorrection::Other other = equations.others[k];
      missing -= other.factor * charge[other.part];
      if (other.is_free) of_change += other.factor * other.factor * view.weight2_area[other.part];
    }
    const auto add = [&](std::int32_t to, double t) {
      change[to] += t;
      charge[to] += t * view.weight2_area[to];
    };
    add(part, missing / of_change);
    for (std::int32_t k = equations.other_begin[e]; k < equations.other_begin[e + 1]; ++k)
      if (equations.others[k].is_free)
        add(equations.others[k].part, equations.others[k].factor * missing / of_change);
  }
}

__global__ void add_changes(const std::int32_t* part_at, PartView view, const double* of_parts,
                            const double* area, const double* charge_area, std::int64_t n,
                            double* y) {
  const std::int64_t k = thread_index();
  if (k >= n || part_at[k] < 0) return;
  const double change = of_parts[(blockIdx.y * 3 + 2) * view.parts + part_at[k]];
  y[blockIdx.y * n + k] += change * (charge_area[k] / area[k]);
}

/// ChargeCorrection of vectors at places.
class Correction {
 public:
  /// `part_at`: [places], the number of the part, or −1.
  Correction(const ChargeCorrection& of, DeviceBuffer<std::int32_t> part_at, cudaStream_t stream) {
    if (of.equations().empty()) return;
    std::vector<std::int32_t> part_chunks{0}, part, other_begin{0};
    std::vector<double> weight2_area;
    std::vector<Chunk> chunks;
    std::vector<ChargeCorrection::Other> others;
    for (const ChargeCorrection::Part& own : of.parts()) {
      weight2_area.push_back(own.weight2_area);
      for (std::int32_t k = own.begin; k < own.end; k += chunk_size)
        chunks.push_back({k, std::min(k + chunk_size, own.end)});
      part_chunks.push_back(static_cast<std::int32_t>(chunks.size()));
    }
    for (const ChargeCorrection::Equation& equation : of.equations()) {
      part.push_back(equation.part);
      others.insert(others.end(), equation.others.begin(), equation.others.end());
      other_begin.push_back(static_cast<std::int32_t>(others.size()));
    }
    part_at_ = std::move(part_at);
    part_chunks_ = copied_to_device(part_chunks, stream);
    weight2_area_ = copied_to_device(weight2_area, stream);
    chunks_ = copied_to_device(chunks, stream);
    part_ = copied_to_device(part, stream);
    other_begin_ = copied_to_device(other_begin, stream);
    others_ = copied_to_device(others, stream);
    area_ = copied_to_device(of.area_at(), stream);
    if (&of.charge_area_at() != &of.area_at())
      charge_area_ = copied_to_device(of.charge_area_at(), stream);
  }

  /// Of [vectors][n].
  void apply(const double* x, double* y, int vectors, cudaStream_t stream) const {
    if (part_.size() == 0) return;
    const auto n = static_cast<std::int64_t>(part_at_.size()),
               n_chunks = static_cast<std::int64_t>(chunks_.size()),
               n_parts = static_cast<std::int64_t>(weight2_area_.size());
    DeviceBuffer<double> sums(vectors * 2 * n_chunks, stream),
        of_parts(vectors * 3 * n_parts, stream);
    const auto grid = [&](unsigned blocks) { return dim3(blocks, vectors); };
    const PartView parts{part_chunks_.data(), weight2_area_.data(), n_parts, n_chunks};
    launch(sum_chunks, grid(static_cast<unsigned>(n_chunks)), threads_per_block, 0, stream,
           chunks_.data(), area_.data(), charge_area(), n, x, y, sums.data());
    launch(sum_parts, grid(blocks_for(n_parts)), threads_per_block, 0, stream, parts, sums.data(),
           of_parts.data());
    const EquationView equations{part_.data(), other_begin_.data(), others_.data(),
                                 static_cast<std::int64_t>(part_.size())};
    launch(correct_parts, grid(1), 1, 0, stream, equations, parts, of_parts.data());
    launch(add_changes, grid(blocks_for(n)), threads_per_block, 0, stream, part_at_.data(), parts,
           of_parts.data(), area_.data(), charge_area(), n, y);
  }

  std::int64_t bytes() const {
    return part_at_.bytes() + part_chunks_.bytes() + part_.bytes() + other_begin_.bytes() +
           weight2_area_.bytes() + area_.bytes() + charge_area_.bytes() + chunks_.bytes() +
           others_.bytes();
  }

 private:
  const double* charge_area() const {
    return charge_area_.size() > 0 ? charge_area_.data() : area_.data();
  }

  DeviceBuffer<std::int32_t> part_at_, part_chunks_, part_, other_begin_;
  DeviceBuffer<double> weight2_area_, area_;
  DeviceBuffer<double> charge_area_;  ///< empty where that is area_
  DeviceBuffer<Chunk> chunks_;
  DeviceBuffer<ChargeCorrection::Other> others_;
};

/// What MixedInverse applies.
struct MixedParts {
  RowsProduct rows;
  DeviceBuffer<std::int32_t> panel_at;
  Correction correction;
};

/// Waits for the stream, as others apply what was built in it.
MixedParts build(const Panels& panels, const MixedRows& rows, const MixedInverseOptions& options,
                 cudaStream_t stream) {
  const std::shared_ptr<const PanelStore> store = store_of(panels, stream);
  const MixedPlaces places(panels, rows);
  DeviceMixedNodes nodes(*store, rows, places, options, stream);
  DeviceRows of_leaves = solve_mixed_systems(nodes, stream);
  RowsProduct product(nodes.tree, std::move(nodes.cuts), std::move(of_leaves), 1,
                      options.clusters.max_leaf, stream);
  Correction correction(ChargeCorrection(places, rows), std::move(nodes.part_at), stream);
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return {std::move(product), std::move(nodes.panel_at), std::move(correction)};
}

struct MixedImpl final : DeviceInverse::Impl {
  MixedImpl(const Panels& panels, const MixedRows& of_panels, const MixedInverseOptions& options)
      : parts(build(panels, of_panels, checked(options), stream)) {}
  void apply(const double* x, double* y, int vectors, cudaStream_t in) const override {
    const std::int64_t n = size();
    const std::int32_t* const panel_at = parts.panel_at.data();
    DeviceBuffer<double> x_at(n * vectors, in), y_at(n * vectors, in);
    const dim3 grid(blocks_for(n), vectors);
    launch(take_to_places, grid, threads_per_block, 0, in, panel_at, n, x, x_at.data());
    parts.rows.apply(x_at.data(), y_at.data(), vectors, in);
    parts.correction.apply(x_at.data(), y_at.data(), vectors, in);
    launch(take_from_places, grid, threads_per_block, 0, in, panel_at, n, y_at.data(), y);
  }
  std::int64_t size() const override { return parts.rows.size(); }
  std::int64_t bytes() const override {
    return parts.rows.bytes() + parts.panel_at.bytes() + parts.correction.bytes();
  }

  Stream stream;  // outlives what was allocated in it
  MixedParts parts;
};

}  // namespace

MixedInverse::MixedInverse(const Panels& panels, const MixedRows& rows,
                           const MixedInverseOptions& options)
    : DeviceInverse("cluster inverse for mixed rows") {
  require_cuda_device();
  keep_freed_memory();
  with_advice(false, [&] { set(std::make_unique<MixedImpl>(panels, rows, options)); });
}

}  // namespace fmbem::cuda::bem
