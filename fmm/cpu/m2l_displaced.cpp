// M2L of a hybrid at displacements that the FMM does not have.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/cpu/hybrid.hpp"
#include "fmbem/fmm/expansion/yukawa_translations.hpp"

namespace fmbem::fmm {
namespace {

/// Targets of a chunk, enough of them to have several pairs of each displacement; and rows of a
/// product, which fit the cache.
constexpr std::size_t targets_of_a_chunk = 256;
constexpr int rows_of_a_product = 128;

using Steps = std::array<int, 3>;

/// The displacement of the centres, target less source, in sides.
Steps steps_between(const Box& to, const Box& from) {
  Steps steps;
  for (int axis = 0; axis < 3; ++axis)
    steps[axis] = static_cast<int>(to.cell[axis] - from.cell[axis]);
  return steps;
}
Steps first_octant(Steps steps) {
  return {std::abs(steps[0]), std::abs(steps[1]), std::abs(steps[2])};
}
int mirror_of(Steps steps) { return 4 * (steps[0] < 0) + 2 * (steps[1] < 0) + (steps[2] < 0); }

/// out += P_h in for the coefficients of one box.
template <class From, class To>
void add_mirrored(const ParityOrder& order, int mirror, const From* in, To* out) {
  for (unsigned c = 0; c < 8; ++c) {
    const bool minus = std::popcount(c & static_cast<unsigned>(mirror)) % 2 != 0;
    for (int i = order.begin[c]; i < order.begin[c + 1]; ++i)
      out[i] += static_cast<To>(minus ? -in[i] : in[i]);
  }
}

}  // namespace

template <class T>
DisplacedM2l<T>::DisplacedM2l(const PointTree& tree, const ParityOrder& order)
    : block_size_(packed_size(cpu_kernels<T>(), order.count, order.count)) {
  const BoxRows& rows = tree.lists.hybrid.m2l;
  const auto& boxes = tree.octree.boxes;
  std::map<Steps, std::int32_t> number;
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    const auto sources = rows[static_cast<std::int32_t>(b)];
    if (sources.empty()) continue;
    if (chunks_.empty() || chunks_.back().targets.size() == targets_of_a_chunk)
      chunks_.emplace_back();
    Chunk& chunk = chunks_.back();
    const auto target = static_cast<std::int32_t>(chunk.targets.size());
    chunk.targets.push_back(static_cast<std::int32_t>(b));
    for (const std::int32_t source : sources) {
      const Steps steps = steps_between(boxes[b], boxes[source]);
      const auto known =
          number.try_emplace(first_octant(steps), static_cast<std::int32_t>(number.size())).first;
      chunk.pairs.push_back({known->second, target, source, mirror_of(steps)});
    }
  }
  for (Chunk& chunk : chunks_)
    std::stable_sort(chunk.pairs.begin(), chunk.pairs.end(),
                     [](const Pair& a, const Pair& b) { return a.displacement < b.displacement; });
  const std::int64_t numbers = block_size_ * static_cast<std::int64_t>(number.size()),
                     needed = numbers * static_cast<std::int64_t>(sizeof(T)),
                     free = available_memory();
  if (needed > free)
    throw ResourceError("M2L at " + std::to_string(number.size()) + " displacements needs " +
                        std::to_string(needed >> 20) + " MiB at order " + std::to_string(order.p) +
                        ", but " + std::to_string(free >> 20) +
                        " MiB are free: use a larger theta or a looser tolerance");
  blocks_ = Buffer<T>(static_cast<std::size_t>(numbers));
  const std::vector<std::pair<Steps, std::int32_t>> all(number.begin(), number.end());
#pragma omp parallel
  {
    std::vector<double> block;
#pragma omp for schedule(dynamic, 1)
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto& [steps, place] = all[k];
      m2l_between(order, Yukawa{0}, {1.0 * steps[0], 1.0 * steps[1], 1.0 * steps[2]}, block);
      pack_panels(cpu_kernels<T>(), order.count, order.count, block.data(), 1, order.count,
                  blocks_.data() + place * block_size_);
    }
  }
}

template <class T>
void DisplacedM2l<T>::add_chunk(const Pass<T>& pass, const Chunk& chunk) const {
  const int count = pass.order.count, stride = whole_registers(pass.kernels, count);
  const std::size_t n = chunk.targets.size() * pass.vectors;
  std::vector<T> in;
  std::vector<double> out(8 * n * stride);  // [mirror][targets][vectors][stride]
  std::vector<std::int32_t> out_row;
  const auto multiply = [&](std::int32_t displacement) {
    if (out_row.empty()) return;
    pass.kernels.multiply(static_cast<int>(out_row.size()), count, count, in.data(), stride,
                          blocks_.data() + displacement * block_size_, out.data(), stride,
                          out_row.data());
    in.clear();
    out_row.clear();
  };
  for (std::size_t k = 0; k < chunk.pairs.size(); ++k) {
    const Pair& pair = chunk.pairs[k];
    if (k > 0 && (chunk.pairs[k - 1].displacement != pair.displacement ||
                  static_cast<int>(out_row.size()) >= rows_of_a_product))
      multiply(chunk.pairs[k - 1].displacement);
    for (int v = 0; v < pass.vectors; ++v) {
      in.resize(in.size() + stride, T(0));
      add_mirrored(pass.order, pair.mirror, pass.moment(pair.source) + v * count,
                   in.data() + in.size() - stride);
      out_row.push_back(static_cast<std::int32_t>(pair.mirror * n) + pair.target * pass.vectors +
                        v);
    }
  }
  if (!chunk.pairs.empty()) multiply(chunk.pairs.back().displacement);
  for (int mirror = 0; mirror < 8; ++mirror)
    for (std::size_t t = 0; t < chunk.targets.size(); ++t)
      for (int v = 0; v < pass.vectors; ++v)
        add_mirrored(pass.order, mirror, out.data() + (mirror * n + t * pass.vectors + v) * stride,
                     pass.local(chunk.targets[t]) + v * count);
}

template <class T>
void DisplacedM2l<T>::add(const Pass<T>& pass) const {
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t c = 0; c < chunks_.size(); ++c) add_chunk(pass, chunks_[c]);
}

template class DisplacedM2l<double>;
template class DisplacedM2l<float>;

}  // namespace fmbem::fmm
