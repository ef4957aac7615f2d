#include <algorithm>
#include <array>
#include <memory>

#include "fmbem/cuda/monomials.cuh"
#include "fmbem/cuda/operators.cuh"
#include "fmbem/cuda/plain_evaluation.cuh"
#include "fmbem/cuda/treecode.cuh"
#include "fmbem/cuda/treecode_kernel.cuh"

namespace fmbem::cuda {
namespace {

/// A warp for each leaf.
__global__ void count_kernel(LeavesView leaves, double theta2, double reach,
                             const std::uint8_t* one_place, unsigned long long* pairs) {
  __shared__ WalkStack s_stack[warps_per_block];
  const std::int64_t row = thread_index() / warp_size;
  if (row >= leaves.count) return;
  const std::int32_t leaf = leaves.boxes[row];
  const TreeView& tree = leaves.tree;
  std::int64_t m2p = 0, p2p = 0;
  walk(
      tree, UnitBox(tree, leaf), theta2, KernelReach{leaves.root.side, reach},
      s_stack[threadIdx.x / warp_size], [&](std::int32_t, const UnitBox&) { ++m2p; },
      [&](std::int32_t box) {
        if (acts_point_by_point(box, leaf, one_place)) p2p += size_of(tree.sources[box]);
      },
      [] {});
  if (threadIdx.x % warp_size != 0) return;
  const std::int64_t targets = size_of(tree.targets[leaf]);
  atomicAdd(pairs, static_cast<unsigned long long>(m2p * targets));
  atomicAdd(pairs + 1, static_cast<unsigned long long>(p2p * targets));
}

/// Moments in monomials, [boxes][vectors][monomials].
template <class T>
__global__ void monomials_kernel(const T* moments, int count, std::int64_t boxes, RowsView<T> rows,
                                 int monomials, T* out) {
  const std::int64_t i = thread_index();
  if (i >= boxes * monomials) return;
  const int monomial = static_cast<int>(i % monomials);
  out[i] = monomial_of(rows, monomial, moments + i / monomials * count);
}

template <class T>
class TreecodeEvaluation final : public PlainEvaluation {
 public:
  TreecodeEvaluation(const PlanTree& tree, PlanPoints points, const fmm::ParityOrder& order,
                     const TreecodeOptions& options, const Stream& stream)
      : PlainEvaluation(tree.scale, tree.same, std::move(points), stream),
        tree_(tree),
        options_(options),
        order_(order),
        table_(order, stream),
        operators_(options.kernel, tree.tree),
        count_(order.count) {
    operators_.make(order, tree.tree);
    if (is_cartesian()) rows_ = std::make_unique<MonomialRows<T>>(order, stream);
    // Leaves of points that coincide are larger: their warps take several pieces.
    constexpr std::int64_t of_a_warp = most_targets_of_a_thread * warp_size, most_pieces = 64;
    const std::int64_t most = std::min<std::int64_t>(options.max_leaf, targets().count);
    pieces_ = static_cast<int>(
        std::clamp<std::int64_t>((most + of_a_warp - 1) / of_a_warp, 1, most_pieces));
  }

  std::int64_t operator_bytes() const override { return operators_.bytes(); }
  std::int64_t bytes() const override {
    return PlainEvaluation::bytes() + moments_.bytes() + monomials_.bytes();
  }

 private:
  bool is_cartesian() const { return options_.expansion == fmm::Expansion::cartesian; }
  int numbers() const { return is_cartesian() ? fmm::monomial_count(table_.view().p) : count_; }
  /// Expansions may take a quarter of the device's memory.
  int most_together() const override {
    const std::int64_t bytes = tree_.tree.boxes * (count_ + (is_cartesian() ? numbers() : 0)) *
                               static_cast<std::int64_t>(sizeof(T));
    return static_cast<int>(std::clamp<std::int64_t>(total_device_memory() / 4 / bytes, 1, 8));
  }

  void enqueue_sums(const Asked& asked, const PartsView& out, StageTimes* times) override {
    const auto done = [&](const char* stage) {
      if (times) times->record(stage);
    };
    const std::int64_t boxes = tree_.tree.boxes, all = asked.vectors * boxes;
    grow(moments_, all * count_, stream());
    const ExpansionsView<T> expansions{asked.vectors, count_, moments_.data(), nullptr};
    const FarKernel& kernel = operators_.kernel();
    if (kernel.top_level < tree_.tree.levels())
      p2m(sources().count, strengths(asked), leaves_of(tree_.tree, tree_.far.source_boxes),
          table_.view(), expansions, kernel, stream());
    done("P2M");
    // The root never acts as a whole.
    const int deepest = tree_.tree.levels() - 2;
    for (int level = deepest; level >= kernel.top_level; --level)
      m2m(tree_.tree.view(),
          {tree_.tree.split_begin[level], tree_.tree.split_begin[level + 1], level < deepest},
          table_.classes(), operators_.of_parents(level), expansions, stream());
    if (is_cartesian()) {
      grow(monomials_, all * numbers(), stream());
      launch(monomials_kernel<T>, blocks_for(all * numbers()), threads_per_block, 0, stream(),
             moments_.data(), count_, all, rows_->view(), numbers(), monomials_.data());
    }
    done("M2M");
    fmm::with_kernel(kernel.kappa, [&](const auto& of) { enqueue_walks(of, asked, out); });
    done("M2P");
  }

  template <class Kernel>
  void enqueue_walks(const Kernel& of, const Asked& asked, const PartsView& out) {
    const bool needs_raised = options_.kernel.kappa > 0 && asked.gradient;
    if (needs_raised && !raised_) raised_ = std::make_unique<RaisedTable<T>>(order_, stream());
    const TableView<T> table = needs_raised ? raised_->view() : table_.view();
    const int channels = asked.gradient ? 4 : 1;
    const int shared = is_cartesian() ? numbers() : numbers_of_series(table.pairs, channels);
    // Squares of distances, in sides of the leaf, of pairs that single precision knows well enough:
    // coordinates near the leaf are known to 2^-25.
    const double close = 8 * 0x1p-24 / options_.tolerance;
    TreecodeArguments<T, Kernel> a{targets(),
                                   strengths(asked),
                                   sources().count,
                                   leaves_of(tree_.tree, tree_.far.target_leaves),
                                   options_.one_place,
                                   table,
                                   is_cartesian() ? monomials_.data() : moments_.data(),
                                   asked.vectors,
                                   numbers(),
                                   (shared + 3) / 4 * 4,
                                   of,
                                   options_.kernel.reach,
                                   options_.theta * options_.theta,
                                   static_cast<float>(close * close),
                                   pieces_,
                                   asked.potential,
                                   out.sums};
    const std::size_t steps = sizeof(T) * IrregularSteps<T, Kernel>::numbers(table),
                      of_a_warp = sizeof(T) * a.numbers_in_shared + sizeof(TreecodeRoom<T>);
    const int warps = static_cast<int>(std::clamp<std::size_t>(
        (shared_memory_of_a_block() - steps) / of_a_warp, 1, warps_per_block));
    launch(asked.gradient ? walks<Kernel, 4>() : walks<Kernel, 1>(),
           dim3(blocks_for(a.leaves.count * a.pieces, warps), asked.vectors), warps * warp_size,
           steps + warps * of_a_warp, stream(), a);
  }

  template <class Kernel, int Channels>
  auto walks() const {
    using Walks = void (*)(TreecodeArguments<T, Kernel>);
    if constexpr (Kernel::homogeneous) {
      static_assert(fmm::highest_cartesian_order == 6);
      const std::array<Walks, 7> kernels{
          treecode_kernel<T, Kernel, Channels, 0>, treecode_kernel<T, Kernel, Channels, 1>,
          treecode_kernel<T, Kernel, Channels, 2>, treecode_kernel<T, Kernel, Channels, 3>,
          treecode_kernel<T, Kernel, Channels, 4>, treecode_kernel<T, Kernel, Channels, 5>,
          treecode_kernel<T, Kernel, Channels, 6>};
      return kernels[is_cartesian() ? table_.view().p : 0];
    } else {
      return Walks(treecode_kernel<T, Kernel, Channels, 0>);
    }
  }

  const PlanTree& tree_;
  TreecodeOptions options_;
  fmm::ParityOrder order_;
  DeviceTable<T> table_;
  LevelOperators<T> operators_;
  int count_, pieces_ = 1;
  std::unique_ptr<MonomialRows<T>> rows_;   ///< of Cartesian expansions
  std::unique_ptr<RaisedTable<T>> raised_;  ///< of Yukawa's kernel
  DeviceBuffer<T> moments_, monomials_;
};

}  // namespace

std::unique_ptr<Evaluation> make_treecode_evaluation(const PlanTree& tree, PlanPoints points,
                                                     const fmm::ParityOrder& order,
                                                     const TreecodeOptions& options,
                                                     const Stream& stream) {
  const auto make = [&]<class T>(T) -> std::unique_ptr<Evaluation> {
    return std::make_unique<TreecodeEvaluation<T>>(tree, std::move(points), order, options, stream);
  };
  return options.precision == Precision::single_precision ? make(float{}) : make(double{});
}

TreecodePairs count_treecode(const PlanTree& tree, double theta, const PlanKernel& kernel,
                             const std::uint8_t* one_place, cudaStream_t stream) {
  DeviceBuffer<unsigned long long> pairs(2, stream);
  pairs.fill_bytes(0);
  const LeavesView leaves = leaves_of(tree.tree, tree.far.target_leaves);
  launch(count_kernel, blocks_for(leaves.count, warps_per_block), threads_per_block, 0, stream,
         leaves, theta * theta, kernel.reach, one_place, pairs.data());
  unsigned long long found[2];
  pairs.download(found);
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return {static_cast<std::int64_t>(found[0]), static_cast<std::int64_t>(found[1])};
}

}  // namespace fmbem::cuda
