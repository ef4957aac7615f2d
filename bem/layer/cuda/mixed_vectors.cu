#include <algorithm>
#include <cub/block/block_reduce.cuh>
#include <numeric>

#include "fmbem/bem/layer/cuda/mixed_vectors.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Panels that a block sums over.
constexpr std::int32_t chunk_size = 4096;

template <bool add>
__global__ void scale_by(const double* factor, std::int64_t n, const double* x, double* y) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  const std::int64_t at = blockIdx.y * n + i;
  const double scaled = factor[i] * x[at];
  y[at] = add ? y[at] + scaled : scaled;
}

/// The sums of charge_weight x and of area y over each chunk: sums[2][chunks].
__global__ void __launch_bounds__(threads_per_block)
    sum_chunks(const std::int32_t* order, const std::int32_t* chunk_begin, const double* x,
               const double* y, const double* charge_weight, const double* area, double* sums) {
  using Reduce = cub::BlockReduce<double, threads_per_block>;
  __shared__ typename Reduce::TempStorage s_charge, s_mean;
  double charge = 0, mean = 0;
  for (std::int32_t k = chunk_begin[blockIdx.x] + static_cast<std::int32_t>(threadIdx.x);
       k < chunk_begin[blockIdx.x + 1]; k += threads_per_block) {
    const std::int32_t i = order[k];
    charge += charge_weight[i] * x[i];
    mean += area[i] * y[i];
  }
  charge = Reduce(s_charge).Sum(charge);
  mean = Reduce(s_mean).Sum(mean);
  if (threadIdx.x > 0) return;
  sums[blockIdx.x] = charge;
  sums[gridDim.x + blockIdx.x] = mean;
}

__device__ inline double sum_of_part(const double* sums, const std::int32_t* part_chunks,
                                     std::int32_t part) {
  double sum = 0;
  for (std::int32_t c = part_chunks[part]; c < part_chunks[part + 1]; ++c) sum += sums[c];
  return sum;
}

/// What an equation adds to the rows of its part.
__global__ void find_shifts(const std::int32_t* equation_part, const std::int32_t* other_begin,
                            const std::int32_t* other_part, const double* other_factor,
                            std::int64_t equations, const double* sums, std::int64_t chunks,
                            const std::int32_t* part_chunks, const double* part_area,
                            double* shift) {
  const std::int64_t e = thread_index();
  if (e >= equations) return;
  const std::int32_t part = equation_part[e];
  double sum = sum_of_part(sums, part_chunks, part) - sum_of_part(sums + chunks, part_chunks, part);
  for (std::int32_t k = other_begin[e]; k < other_begin[e + 1]; ++k)
    sum += other_factor[k] * sum_of_part(sums, part_chunks, other_part[k]);
  shift[part] = sum / part_area[part];
}

__global__ void add_shifts(const std::int32_t* part, const double* shift, std::int64_t n,
                           double* y) {
  const std::int64_t i = thread_index();
  if (i < n) y[i] += shift[part[i]];
}

using Indices = std::vector<std::int32_t>;

DeviceArray<std::int32_t> upload(const Indices& indices) {
  return DeviceArray<std::int32_t>(std::span<const std::int32_t>(indices));
}

}  // namespace

/// The charge equations on the device. A chunk is a stretch of `order` within one part, so that
/// long parts have many chunks and short ones one.
struct MixedVectors::Parts {
  explicit Parts(const ChargeEquations& equations);
  DeviceArray<double> area, charge_weight;  ///< [panels]
  DeviceArray<double> part_area;            ///< [parts]
  DeviceArray<std::int32_t> part;           ///< [panels]
  DeviceArray<std::int32_t> order;          ///< [panels], by parts
  DeviceArray<std::int32_t> chunk_begin;    ///< [chunks + 1], in the order
  DeviceArray<std::int32_t> part_chunks;    ///< [parts + 1]
  DeviceArray<std::int32_t> equation_part;  ///< [equations]
  DeviceArray<std::int32_t> other_begin;    ///< [equations + 1]
  DeviceArray<std::int32_t> other_part;
  DeviceArray<double> other_factor;
  DeviceArray<double> sums;   ///< [2][chunks]: of charges and of rows
  DeviceArray<double> shift;  ///< [parts]
};

MixedVectors::Parts::Parts(const ChargeEquations& equations)
    : area(equations.area()),
      charge_weight(equations.charge_weight()),
      part_area(equations.part_area()),
      part(equations.part()) {
  const std::span<const std::int32_t> part_of = equations.part();
  const auto n = static_cast<std::int32_t>(part_of.size());
  const std::size_t parts = equations.part_area().size();
  Indices sorted(n), chunks{0}, chunks_of(parts + 1, 0);
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::int32_t i, std::int32_t j) { return part_of[i] < part_of[j]; });
  for (std::int32_t k = 0; k < n;) {
    const std::int32_t of_part = part_of[sorted[k]], first = k;
    while (k < n && part_of[sorted[k]] == of_part && k - first < chunk_size) ++k;
    chunks.push_back(k);
    ++chunks_of[of_part + 1];
  }
  std::partial_sum(chunks_of.begin(), chunks_of.end(), chunks_of.begin());
  order = upload(sorted);
  chunk_begin = upload(chunks);
  part_chunks = upload(chunks_of);
  Indices of_equation, others_begin{0}, others;
  std::vector<double> factors;
  for (const ChargeEquation& equation : equations.all()) {
    of_equation.push_back(equation.part);
    for (const auto& [other, factor] : equation.others) {
      others.push_back(other);
      factors.push_back(factor);
    }
    others_begin.push_back(static_cast<std::int32_t>(others.size()));
  }
  equation_part = upload(of_equation);
  other_begin = upload(others_begin);
  other_part = upload(others);
  other_factor = DeviceArray<double>(std::span<const double>(factors));
  sums = DeviceArray<double>(2 * (chunks.size() - 1));
  shift = DeviceArray<double>(std::span<const double>(std::vector<double>(parts, 0.0)));
}

MixedVectors::MixedVectors(const std::vector<std::span<const double>>& factors,
                           const ChargeEquations& equations)
    : size_(factors.front().size()) {
  for (const std::span<const double> factor : factors) factors_.emplace_back(factor);
  if (!equations.empty()) parts_ = std::make_unique<Parts>(equations);
}

MixedVectors::~MixedVectors() = default;

void MixedVectors::set(std::size_t f, const double* x, double* y, int vectors) const {
  const auto n = static_cast<std::int64_t>(size_);
  launch(scale_by<false>, dim3(blocks_for(n), vectors), threads_per_block, 0, nullptr,
         factors_[f].data(), n, x, y);
}

void MixedVectors::add(std::size_t f, const double* x, double* y, int vectors) const {
  const auto n = static_cast<std::int64_t>(size_);
  launch(scale_by<true>, dim3(blocks_for(n), vectors), threads_per_block, 0, nullptr,
         factors_[f].data(), n, x, y);
}

void MixedVectors::replace_means(const double* x, double* y, int vectors) {
  if (!parts_) return;
  const Parts& p = *parts_;
  const auto n = static_cast<std::int64_t>(size_);
  const auto chunks = static_cast<std::int64_t>(p.chunk_begin.size()) - 1,
             equations = static_cast<std::int64_t>(p.equation_part.size());
  for (int v = 0; v < vectors; ++v, x += n, y += n) {
    launch(sum_chunks, static_cast<unsigned>(chunks), threads_per_block, 0, nullptr, p.order.data(),
           p.chunk_begin.data(), x, y, p.charge_weight.data(), p.area.data(), p.sums.data());
    launch(find_shifts, blocks_for(equations), threads_per_block, 0, nullptr,
           p.equation_part.data(), p.other_begin.data(), p.other_part.data(), p.other_factor.data(),
           equations, p.sums.data(), chunks, p.part_chunks.data(), p.part_area.data(),
           p.shift.data());
    launch(add_shifts, blocks_for(n), threads_per_block, 0, nullptr, p.part.data(), p.shift.data(),
           n, y);
  }
}

double* MixedVectors::room(int vectors) {
  if (room_.size() < size_ * vectors) room_ = DeviceArray<double>(size_ * vectors);
  return room_.data();
}

}  // namespace fmbem::cuda::bem
