// M2L of a hybrid at displacements that the FMM does not have.
#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/cpu/hybrid.hpp"

namespace fmbem::fmm {
namespace {

/// Targets of a chunk, enough of them to have several pairs of each displacement; and rows of a
/// product, which fit the cache.
constexpr std::size_t targets_of_a_chunk = 256;
constexpr int rows_of_a_product = 128;

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
DisplacedM2l<T>::DisplacedM2l(const PointTree& tree, const ParityOrder& order, double kappa)
    : pairs_(displaced_pairs(tree, targets_of_a_chunk, std::numeric_limits<std::size_t>::max(),
                             kappa == 0 ? DisplacedLevels::together : DisplacedLevels::apart)),
      block_size_(packed_size(cpu_kernels<T>(), order.count, order.count)) {
  const std::vector<BoxSteps>& all = pairs_.displacements;
  const std::int64_t numbers = block_size_ * static_cast<std::int64_t>(all.size()),
                     needed = numbers * static_cast<std::int64_t>(sizeof(T)),
                     free = available_memory();
  if (needed > free)
    throw ResourceError("M2L at " + std::to_string(all.size()) + " displacements needs " +
                        std::to_string(needed >> 20) + " MiB at order " + std::to_string(order.p) +
                        ", but " + std::to_string(free >> 20) +
                        " MiB are free: use a larger theta or a looser tolerance");
  blocks_ = Buffer<T>(static_cast<std::size_t>(numbers));
  std::vector<double> kappas;
  for (const int level : pairs_.levels) kappas.push_back(kappa * tree.octree.side(level));
  const auto pack = [&](std::size_t k, const std::vector<double>& block) {
    pack_panels(cpu_kernels<T>(), order.count, order.count, block.data(), 1, order.count,
                blocks_.data() + static_cast<std::int64_t>(k) * block_size_);
  };
  for_displaced_operators(order, all, pack, kappas);
}

template <class T>
void DisplacedM2l<T>::add_chunk(const Pass<T>& pass, const DisplacedChunk& chunk) const {
  const int count = pass.order.count, stride = whole_registers(pass.kernels, count);
  const std::size_t n = chunk.targets.size() * pass.vectors;
  std::vector<T> in;
  std::vector<double> out(8 * n * stride);  // [mirror][targets][vectors][stride]
  std::vector<std::int32_t> out_row;
  const auto multiply = [&](std::int32_t displacement) {
    pass.kernels.multiply(static_cast<int>(out_row.size()), count, count, in.data(), stride,
                          blocks_.data() + displacement * block_size_, out.data(), stride,
                          out_row.data());
    in.clear();
    out_row.clear();
  };
  std::int32_t k = 0;
  for (const DisplacedChunk::Run& run : chunk.runs)
    for (; k < run.end; ++k) {
      const DisplacedPair& pair = chunk.pairs[k];
      for (int v = 0; v < pass.vectors; ++v) {
        in.resize(in.size() + stride, T(0));
        add_mirrored(pass.order, pair.mirror, pass.moment(pair.source) + v * count,
                     in.data() + in.size() - stride);
        out_row.push_back(static_cast<std::int32_t>(pair.mirror * n) + pair.target * pass.vectors +
                          v);
      }
      if (k + 1 == run.end || static_cast<int>(out_row.size()) >= rows_of_a_product)
        multiply(run.displacement);
    }
  for (int mirror = 0; mirror < 8; ++mirror)
    for (std::size_t t = 0; t < chunk.targets.size(); ++t)
      for (int v = 0; v < pass.vectors; ++v)
        add_mirrored(pass.order, mirror, out.data() + (mirror * n + t * pass.vectors + v) * stride,
                     pass.local(chunk.targets[t]) + v * count);
}

template <class T>
void DisplacedM2l<T>::add(const Pass<T>& pass) const {
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t c = 0; c < pairs_.chunks.size(); ++c) add_chunk(pass, pairs_.chunks[c]);
}

template class DisplacedM2l<double>;
template class DisplacedM2l<float>;

}  // namespace fmbem::fmm
