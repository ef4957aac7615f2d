#pragma once

#include <algorithm>
#include <memory>

#include "fmbem/cuda/blas.cuh"
#include "fmbem/cuda/level_operators.cuh"
#include "fmbem/cuda/lists.cuh"
#include "fmbem/cuda/pass.cuh"
#include "fmbem/cuda/split_products.cuh"

namespace fmbem::cuda {

/// How many right-hand sides go through the stages together, and which parts of the device's memory
/// their expansions and M2L's buffers may take.
inline constexpr int most_vectors = 8;
inline constexpr std::int64_t expansion_share = 4, gather_share = 32;
/// Rows of M2L that are gathered at a time, at most: in tiles of 128 they give eight products
/// enough blocks for the whole device, just about once or several times.
template <class T>
constexpr std::int64_t gathered_rows(Gathering gathering) {
  constexpr bool single = sizeof(T) == 4;
  return gathering == Gathering::wide ? (single ? 8448 : 6144) : (single ? 2048 : 768);
}
/// In how many parts a row is gathered, each with some of the orbits.
template <class T>
constexpr int gathered_parts(Gathering gathering) {
  return gathering == Gathering::wide || sizeof(T) == 4 ? 1 : 3;
}

/// The stages between P2M and L2P, with their expansions in T. The tree must outlive it.
template <class T>
class FarStages {
 public:
  FarStages(const fmm::ParityOrder& order, const DeviceTree& tree, cudaStream_t stream,
            Gathering gathering = Gathering::wide, const PlanKernel& kernel = {})
      : tree_(tree),
        gathering_(gathering),
        stream_(stream),
        table_(order, stream),
        operators_(kernel, tree),
        order_(order),
        count_(order.count),
        product_stride_((order.count + 3) / 4 * 4) {
    for (int part = 0; part < parts(); ++part)
      gathered_stride_ = std::max<std::int64_t>(gathered_stride_, orbits(part) * count_);
    gathered_stride_ = single ? split_stride(gathered_stride_) : (gathered_stride_ + 1) / 2 * 2;
    prepare();
  }

  /// What the tree asks for, when another has come in its place.
  void renew(const PlanKernel& kernel) {
    const LevelOperators<T> before = std::move(operators_);  // whose sets are in use till then
    operators_ = LevelOperators<T>(kernel, tree_);
    prepare();
  }

  /// Trees of fewer levels have boxes that all touch: nothing is far.
  bool has_far() const { return tree_.levels() > top_level(); }
  const FarKernel& kernel() const { return operators_.kernel(); }
  TableView<T> table() const { return table_.view(); }
  const Classes& classes() const { return table_.classes(); }
  ExpansionsView<T> expansions(int vectors) const {
    return {vectors, count_, moments_.data(), locals_.data()};
  }
  std::int64_t operator_bytes() const { return operators_.bytes(); }
  std::int64_t bytes() const {
    return moments_.bytes() + locals_.bytes() + products_.bytes() + gathered_.bytes() +
           units_.bytes();
  }

  /// How many of so many right-hand sides fit at a time.
  int batch(int count) const {
    const int most = std::min(count, most_vectors);
    if (!has_far()) return most;
    const std::int64_t bytes = 2 * tree_.boxes * count_ * static_cast<std::int64_t>(sizeof(T));
    return static_cast<int>(
        std::clamp<std::int64_t>(total_memory_ / expansion_share / bytes, 1, most));
  }

  /// Makes room for a pass with such rows, with grow(buffer, size).
  void reserve(const M2lRows& m2l, int vectors, auto&& grow) {
    if (!has_far()) return;
    grow(moments_, vectors * tree_.boxes * count_);
    grow(locals_, vectors * tree_.boxes * count_);
    parents_at_once_ = choose_parents_at_once(parents_of(m2l), vectors);
    const std::int64_t rows = vectors * parents_at_once_;
    grow(products_, 8 * rows * product_stride_);
    if (!has_rows(m2l)) return;
    grow(gathered_, 8 * rows * gathered_stride_);
    if (single) grow(units_, gathered_stride_ / split_depth * unit_stride(rows));
  }

  /// Local expansions of zero, down to that level: for P2L to add to, or where no L2L writes them.
  void clear_locals(int vectors, int last_level) {
    const std::int64_t boxes = tree_.box_begin[last_level + 1];
    FMBEM_CUDA(cudaMemsetAsync(locals_.data(), 0, vectors * boxes * count_ * sizeof(T), stream_));
  }

  /// Gives that room back.
  void release() {
    for (auto* buffer : {&moments_, &locals_, &products_}) *buffer = {};
    gathered_ = {};
    units_ = {};
  }

  /// Enqueues M2M, M2L and L2L, for which there must be room; calls done(stage) after each.
  void enqueue(const FarPass& pass, int vectors, auto&& done) {
    enqueue_m2m(pass.tree, vectors);
    done("M2M");
    enqueue_m2l_and_l2l(pass, vectors, done);
  }
  void enqueue_m2m(const TreeView& tree, int vectors) {
    const int deepest = tree_.levels() - 2;
    for (int level = deepest; level >= top_level(); --level)
      m2m(tree, {tree_.split_begin[level], tree_.split_begin[level + 1], level < deepest},
          table_.classes(), operators_.of_parents(level), expansions(vectors), stream_);
  }
  /// Without rows there is only L2L.
  void enqueue_m2l_and_l2l(const FarPass& pass, int vectors, auto&& done) {
    const TreeView& tree = pass.tree;
    const M2lRows& m2l = pass.m2l;
    const std::int64_t parents = parents_of(m2l);
    const Classes& classes = table_.classes();
    const ExpansionsView<T> all = expansions(vectors);
    std::int64_t first = m2l.parent_begin[top_level() - 1];  // 0 where all levels have M2L
    for (std::int64_t last = first; first < parents; first = last) {
      last = std::min(first + parents_at_once_, parents);
      int product_level = 1;  // of Laplace's kernel any level
      if (!operators_.serves_all_levels()) {
        while (m2l.parent_begin[product_level + 1] <= first) ++product_level;
        last = std::min<std::int64_t>(last, m2l.parent_begin[product_level + 1]);
      }
      const ProductsView<T> products{products_.data(), vectors * first, product_stride_,
                                     vectors * (last - first) * product_stride_};
      if (has_rows(m2l))
        enqueue_products(m2l, product_level, products, vectors * (last - first), all, done);
      else
        FMBEM_CUDA(cudaMemsetAsync(products_.data(), 0, 8 * products.block * sizeof(T), stream_));
      // Parents are in the order of their levels, so these have their local expansions before they
      // pass them on.
      bool follows = false;
      for (int level = 1; level + 1 < tree_.levels(); ++level) {
        const auto from = std::max<std::int64_t>(first, m2l.parent_begin[level]),
                   to = std::min<std::int64_t>(last, m2l.parent_begin[level + 1]);
        if (from >= to) continue;
        l2l(tree,
            {m2l.parents.data(), static_cast<std::int32_t>(from), static_cast<std::int32_t>(to),
             level >= top_level(), pass.adds, follows},
            classes, operators_.of_parents(std::max(level, top_level())), products, all, stream_);
        follows = true;
      }
      done("L2L");
    }
  }

 private:
  void prepare() {
    if (!has_far()) return;
    operators_.make(order_, tree_);
    if (!single && !blas_) blas_ = std::make_unique<Blas>(stream_);
    if (total_memory_ == 0) total_memory_ = total_device_memory();
  }

  static constexpr bool single = sizeof(T) == sizeof(float);

  /// Room for the rows of the last block of products.
  static std::int64_t unit_stride(std::int64_t rows) { return (rows + 3) / 4 * 4 + 128; }

  static std::int64_t parents_of(const M2lRows& m2l) {
    return static_cast<std::int64_t>(m2l.parents.size());
  }
  static bool has_rows(const M2lRows& m2l) { return m2l.sources.size() > 0; }

  int top_level() const { return operators_.kernel().top_level; }
  int parts() const { return gathered_parts<T>(gathering_); }
  /// The first orbit of a part: a multiple of 4, so that products begin at multiples of 16 bytes.
  int part_begin(int part) const {
    constexpr int places = fmm::orbits - 1;
    return part == parts() ? places : part * places / parts() / 4 * 4;
  }
  int orbits(int part) const { return part_begin(part + 1) - part_begin(part); }

  /// Enqueues the eight products of so many rows, parents of that level.
  void enqueue_products(const M2lRows& m2l, int level, const ProductsView<T>& products,
                        std::int64_t rows, const ExpansionsView<T>& expansions, auto&& done) {
    const OperatorsView<T> operators = operators_.of_children(level);
    const int all = operators_.orbits_of_children(level);
    for (int part = 0; part < parts() && part_begin(part) < all; ++part) {
      const int some = std::min(orbits(part), all - part_begin(part));
      const GatheredView<T> gathered{
          gathered_.data(), units_.data(), unit_stride(rows), products.first_row, rows,
          part_begin(part), some,          gathered_stride_};
      gather(m2l.sources.data(), table_.classes(), expansions, gathered, stream_);
      done("gather");
      multiply(gathered, operators, products, part > 0);
      done("M2L");
    }
  }

  void multiply(const GatheredView<float>& gathered, const OperatorsView<float>& operators,
                const ProductsView<float>& products, bool /*add: they are one part*/) {
    multiply_split(gathered, operators, count_, products, stream_);
  }
  void multiply(const GatheredView<double>& gathered, const OperatorsView<double>& operators,
                const ProductsView<double>& products, bool add) {
    const EightMatrices<const double> a{gathered.values, gathered.stride,
                                        gathered.rows * gathered.stride},
        b{operators.m2l + gathered.first_orbit * count_, operators.m2l_stride,
          count_ * operators.m2l_stride};
    blas_->multiply_eight(gathered.rows, count_, gathered.orbits * count_, a, b,
                          {products.values, products.stride, products.block}, add);
  }

  /// Free memory decides only where it must, because products of another number of rows may differ
  /// in their last bits.
  std::int64_t choose_parents_at_once(std::int64_t parents, int vectors) const {
    const std::int64_t row = 8 * (gathered_stride_ + product_stride_) *
                             static_cast<std::int64_t>(sizeof(T)),
                       parent = vectors * row, kept = gathered_.bytes() + products_.bytes();
    constexpr std::int64_t fewest = 64;
    const auto most = std::clamp<std::int64_t>(total_memory_ / gather_share / row, fewest,
                                               gathered_rows<T>(gathering_)) /
                      vectors;
    const std::int64_t batches = std::max<std::int64_t>(1, (parents + most - 1) / most);
    std::int64_t some = (parents + batches - 1) / batches;
    if (some * parent <= kept) return some;
    const std::int64_t free = available_device_memory() + kept;
    while (some * vectors > fewest && some * parent > free / 2) some = (some + 1) / 2;
    return some;
  }

  const DeviceTree& tree_;
  Gathering gathering_;
  cudaStream_t stream_;
  DeviceTable<T> table_;
  LevelOperators<T> operators_;
  fmm::ParityOrder order_;
  int count_;
  std::int64_t product_stride_, gathered_stride_ = 0, total_memory_ = 0, parents_at_once_ = 0;
  std::unique_ptr<Blas> blas_;
  DeviceBuffer<T> moments_, locals_, products_;
  DeviceBuffer<M2lNumber<T>> gathered_;
  DeviceBuffer<float> units_;  ///< of gathered split numbers
};

}  // namespace fmbem::cuda
