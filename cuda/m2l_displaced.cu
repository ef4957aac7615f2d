#include <algorithm>
#include <limits>
#include <span>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/butterfly.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/m2l_displaced.cuh"

namespace fmbem::cuda {
namespace {

/// Pairs whose products have room at a time: enough for the whole device.
constexpr std::size_t pairs_of_a_part = std::size_t{1} << 18;

/// A product goes through shared memory in pieces of this size; each thread has 4 x 4 of the sums.
constexpr int displaced_rows = 64, displaced_columns = 32, displaced_depth = 16;
constexpr int displaced_threads = displaced_rows / 4 * (displaced_columns / 4);

template <class T>
struct DisplacedArguments {
  const DisplacedSource* sources;
  const DisplacedTile* tiles;
  const T* operators;
  Classes classes;
  ExpansionsView<T> expansions;
  T* products;
};

/// Four numbers that stand one after the other, from a multiple of four on.
template <class T>
struct alignas(16) Four {
  T of[4];
};

/// A block for a tile (x) and some coefficients (y).
template <class T>
__global__ void __launch_bounds__(displaced_threads)
    displaced_products(const __grid_constant__ DisplacedArguments<T> a, int v) {
  __shared__ Four<T> s_moment[displaced_depth][displaced_rows / 4 + 1],
      s_operator[displaced_depth][displaced_columns / 4];
  __shared__ DisplacedSource s_source[displaced_rows];
  const DisplacedTile tile = a.tiles[blockIdx.x];
  const int count = a.expansions.count, thread = static_cast<int>(threadIdx.x),
            first_column = static_cast<int>(blockIdx.y) * displaced_columns;
  const T* const matrix =
      a.operators + static_cast<std::int64_t>(tile.displacement) * count * count;
  if (thread < tile.count) s_source[thread] = a.sources[tile.first + thread];
  const int row_group = thread / (displaced_columns / 4),
            column_group = thread % (displaced_columns / 4);
  T sum[4][4] = {};
  for (int first = 0; first < count; first += displaced_depth) {
    __syncthreads();  // the sources are there, and the pieces before have been used
    for (int k = thread; k < displaced_rows * displaced_depth; k += displaced_threads) {
      const int row = k / displaced_depth, depth = k % displaced_depth, j = first + depth;
      T value = 0;
      if (row < tile.count && j < count)
        value = reflected(a.expansions.moment(s_source[row].box, v)[j], a.classes.of[j],
                          s_source[row].mirror());
      s_moment[depth][row / 4].of[row % 4] = value;
    }
    for (int k = thread; k < displaced_columns * displaced_depth; k += displaced_threads) {
      const int column = k % displaced_columns, depth = k / displaced_columns;
      const int i = first_column + column, j = first + depth;
      s_operator[depth][column / 4].of[column % 4] =
          i < count && j < count ? matrix[static_cast<std::int64_t>(j) * count + i] : T(0);
    }
    __syncthreads();
#pragma unroll
    for (int depth = 0; depth < displaced_depth; ++depth) {
      const Four<T> moment = s_moment[depth][row_group], entry = s_operator[depth][column_group];
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) sum[r][c] += moment.of[r] * entry.of[c];
    }
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int row = 4 * row_group + r;
    if (row >= tile.count) continue;
    const DisplacedSource source = s_source[row];
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int i = first_column + 4 * column_group + c;
      if (i < count)
        a.products[static_cast<std::int64_t>(source.place()) * count + i] =
            reflected(sum[r][c], a.classes.of[i], source.mirror());
    }
  }
}

/// A block for a target (x) and 32 of its coefficients (y), whose warps share the products.
template <class T>
__global__ void __launch_bounds__(2 * threads_per_block)
    add_displaced(const DisplacedTarget* targets, const T* products, ExpansionsView<T> expansions,
                  int v) {
  constexpr int warps = 2 * warps_per_block;
  __shared__ double s_sum[warps][warp_size];
  const DisplacedTarget target = targets[blockIdx.x];
  const int count = expansions.count, lane = static_cast<int>(threadIdx.x) % warp_size,
            warp = static_cast<int>(threadIdx.x) / warp_size,
            k = static_cast<int>(blockIdx.y) * warp_size + lane;
  double sum = 0;
  if (k < count)
#pragma unroll 4
    for (std::int64_t place = target.begin + warp; place < target.end; place += warps)
      sum += static_cast<double>(products[place * count + k]);
  s_sum[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || k >= count) return;
  for (int other = 1; other < warps; ++other) sum += s_sum[other][lane];
  expansions.local(target.box, v)[k] += static_cast<T>(sum);
}

}  // namespace

DisplacedDeviceLists displaced_device_lists(const fmm::PointTree& tree, fmm::DisplacedLevels levels,
                                            cudaStream_t stream) {
  fmm::DisplacedPairs pairs =
      fmm::displaced_pairs(tree, std::numeric_limits<std::size_t>::max(), pairs_of_a_part, levels);
  DisplacedDeviceLists lists;
  std::vector<DisplacedSource> sources;
  std::vector<DisplacedTile> tiles;
  std::vector<DisplacedTarget> targets;
  const auto end_part = [&] {
    lists.parts.push_back({static_cast<std::int64_t>(sources.size()),
                           static_cast<std::int64_t>(tiles.size()),
                           static_cast<std::int64_t>(targets.size())});
  };
  for (const fmm::DisplacedChunk& chunk : pairs.chunks) {
    end_part();
    // Places by target, and of one target by displacement.
    std::vector<std::int32_t> place(chunk.targets.size());
    for (const fmm::DisplacedPair& pair : chunk.pairs) ++place[pair.target];
    std::int32_t before = 0;
    for (std::size_t t = 0; t < place.size(); ++t) {
      const std::int32_t end = before + place[t];
      targets.push_back({chunk.targets[t], before, end});
      place[t] = before;
      before = end;
    }
    std::int32_t first = 0;
    for (const fmm::DisplacedChunk::Run& run : chunk.runs) {
      for (; first < run.end; first += displaced_rows)
        tiles.push_back({lists.parts.back().sources + first,
                         std::min(run.end - first, displaced_rows), run.displacement});
      first = run.end;
    }
    for (const fmm::DisplacedPair& pair : chunk.pairs)
      sources.push_back(
          {pair.source, static_cast<std::uint32_t>(8 * place[pair.target]++ + pair.mirror)});
    lists.most_sources =
        std::max(lists.most_sources, static_cast<std::int64_t>(chunk.pairs.size()));
  }
  end_part();
  lists.displacements = std::move(pairs.displacements);
  for (const int level : pairs.levels) lists.sides.push_back(tree.octree.side(level));
  lists.sources = to_device(sources, stream);
  lists.tiles = to_device(tiles, stream);
  lists.targets = to_device(targets, stream);
  FMBEM_CUDA(cudaStreamSynchronize(stream));  // before the host's arrays go
  return lists;
}

template <class T>
DisplacedM2l<T>::DisplacedM2l(const DisplacedDeviceLists& lists, const fmm::ParityOrder& order,
                              double kappa, cudaStream_t stream)
    : lists_(lists), stream_(stream) {
  const auto count = static_cast<std::size_t>(order.count), numbers = count * count;
  const std::span<const fmm::BoxSteps> all = lists.displacements;
  operators_ = DeviceBuffer<T>(all.size() * numbers, stream);
  products_ = DeviceBuffer<T>(static_cast<std::size_t>(lists.most_sources) * count, stream);
  std::vector<double> kappas;
  for (const double side : lists.sides) kappas.push_back(kappa * side);
  constexpr std::size_t bytes_at_once = std::size_t{64} << 20;
  const std::size_t at_once = std::max<std::size_t>(1, bytes_at_once / (numbers * sizeof(T)));
  std::vector<T> some(std::min(at_once, all.size()) * numbers);
  for (std::size_t first = 0; first < all.size(); first += at_once) {
    const auto these = all.subspan(first, std::min(at_once, all.size() - first));
    const auto use = [&](std::size_t k, const std::vector<double>& matrix) {
      T* const out = some.data() + k * numbers;
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < count; ++j)
          out[j * count + i] = static_cast<T>(matrix[i * count + j]);
    };
    fmm::for_displaced_operators(order, these, use,
                                 kappas.empty() ? std::span<const double>()
                                                : std::span(kappas).subspan(first, these.size()));
    FMBEM_CUDA(cudaMemcpyAsync(operators_.data() + first * numbers, some.data(),
                               these.size() * numbers * sizeof(T), cudaMemcpyHostToDevice, stream));
    FMBEM_CUDA(cudaStreamSynchronize(stream));  // before the next ones come
  }
}

template <class T>
void DisplacedM2l<T>::enqueue(const Classes& classes, const ExpansionsView<T>& expansions) const {
  for (std::size_t k = 0; k + 1 < lists_.parts.size(); ++k) {
    const DisplacedPart &part = lists_.parts[k], &next = lists_.parts[k + 1];
    const DisplacedArguments<T> a{lists_.sources.data(),
                                  lists_.tiles.data() + part.tiles,
                                  operators_.data(),
                                  classes,
                                  expansions,
                                  products_.data()};
    for (int v = 0; v < expansions.vectors; ++v) {
      launch(displaced_products<T>,
             dim3(static_cast<unsigned>(next.tiles - part.tiles),
                  blocks_for(expansions.count, displaced_columns)),
             displaced_threads, 0, stream_, a, v);
      launch(add_displaced<T>,
             dim3(static_cast<unsigned>(next.targets - part.targets),
                  blocks_for(expansions.count, warp_size)),
             2 * threads_per_block, 0, stream_, lists_.targets.data() + part.targets,
             products_.data(), expansions, v);
    }
  }
}

template class DisplacedM2l<double>;
template class DisplacedM2l<float>;

}  // namespace fmbem::cuda
