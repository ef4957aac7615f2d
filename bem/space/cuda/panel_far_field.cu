#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "fmbem/bem/geometry/cuda/memory_advice.cuh"
#include "fmbem/bem/space/cuda/panel_far_field.cuh"
#include "fmbem/bem/space/cuda/panel_moments.cuh"
#include "fmbem/bem/space/cuda/stacks.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/spread_field.cuh"
#include "fmbem/fmm/choice/policy.hpp"

namespace fmbem::cuda::bem {
namespace {

__global__ void find_factors(const unsigned long long* largest, double* factor) {
  factor[threadIdx.x] = strength_scale(largest[threadIdx.x]) / fmm::Laplace::scale;
}

/// Each piece has its panel's strength.
__global__ void spread_strengths(const double* x, std::int64_t panels, const std::int32_t* panel,
                                 std::int64_t pieces, double* to) {
  const std::int64_t k = thread_index(), v = blockIdx.y;
  if (k < pieces) to[v * pieces + k] = x[v * panels + panel[k]];
}

/// y = scale (near + far) for each panel, or for its pieces from first[panel] on; `near` and `far`
/// are null where there is nothing.
__global__ void add_near(std::int64_t panels, const std::int32_t* first, std::int64_t sources,
                         const double* near, const double* far, const unsigned long long* largest,
                         double scale, double* y) {
  const std::int64_t j = thread_index(), v = blockIdx.y;
  if (j >= panels) return;
  double sum = near ? near[v * panels + j] : 0;
  if (far) {
    const std::int64_t begin = first ? first[j] : j, end = first ? first[j + 1] : j + 1;
    for (std::int64_t k = begin; k < end; ++k) sum += far[v * sources + k];
  }
  y[v * panels + j] = scale / strength_scale(largest[v]) * sum;
}

Strength strength_of(PanelKind kind) {
  return kind == PanelKind::dipoles               ? Strength::dipole
         : kind == PanelKind::charges_and_dipoles ? Strength::both
                                                  : Strength::charge;
}
PanelKernel moment_kernel(const PanelFarOptions& options) {
  const bool charges = strength_of(options.kind) == Strength::charge;
  return {charges ? Trace::value : Trace::normal, options.kappa};
}

template <class T>
class PanelFarFieldIn final : public PanelFarField {
 public:
  PanelFarFieldIn(const PanelStore& panels, const SpreadTree& tree, const DevicePieces* pieces,
                  const PanelFarOptions& options, const Stream& stream, const Stream& near_stream)
      : panels_(panels),
        tree_(tree),
        pieces_(pieces),
        kind_(pieces ? PanelKind::with_pieces : options.kind),
        stream_(stream),
        near_stream_(near_stream),
        rules_(options.moments, moment_kernel(options), stream),
        field_(tree, fmm::ParityOrder(options.order), strength_of(options.kind), stream,
               options.gathering,
               {fmm::kernel_kappa(options.kappa, tree.scale),
                fmm::kernel_reach(options.kappa, options.reach, tree.scale)}),
        keeps_moments_(options.keeps_moments && !pieces && field_.has_far()) {
    if (!pieces) return;
    // A piece is as long as its box, so the error of its moments does not fall with the distance as
    // fast as that of a small panel.
    const double tolerance = 0.1 * options.moments;
    piece_rules_.emplace(tolerance, stream);
    piece_moments_.emplace(PieceMoments{pieces->view(), piece_rules_->view()});
    stacks_.emplace(sources_of(panels, tree, rules_, piece_moments()), tolerance, stream);
    if (stacks_->count() == 0) stacks_.reset();
  }

  void multiply(const NearField& near, const double* x, double* y, int n_vectors,
                ProductTimes* times) override {
    for_batches(columns(), rows(), x, y, n_vectors,
                [&](const double* from, double* to, int vectors) {
                  field_.enqueue(
                      {strengths_of_sources(from, vectors), nullptr, to, nullptr}, vectors, p2m(),
                      [&](const unsigned long long* largest) {
                        return near_part(largest, vectors, times, [&] {
                          near.multiply(from, vectors, factor_.data(), near_.data(), near_stream_);
                        });
                      },
                      recorder(times));
                });
  }

  void evaluate_far(const double* x, double* potential, Vec3d* gradient, int n_vectors) override {
    for_batches(columns(), rows(), x, potential, n_vectors,
                [&](const double* from, double* to, int vectors) {
                  Vec3d* const slopes = gradient ? gradient + (to - potential) : nullptr;
                  field_.enqueue(
                      {strengths_of_sources(from, vectors), nullptr, to, slopes}, vectors, p2m(),
                      [](const unsigned long long*) { return NearPart{}; },
                      [](std::string_view) {});
                });
  }

  void multiply_transposed(const TransposedLists& lists, NearField& near, const double* x,
                           double* y, int n_vectors, ProductTimes* times) override {
    for_batches(rows(), panels_.size(), x, y, n_vectors,
                [&](const double* from, double* to, int vectors) {
                  field_.enqueue_transposed(
                      lists.m2l, {from, nullptr, nullptr, nullptr}, vectors,
                      [&](const unsigned long long* largest) {
                        return near_part(largest, vectors, times, [&] {
                          near.multiply_transposed(lists, from, vectors, factor_.data(),
                                                   near_.data(), near_stream_);
                        });
                      },
                      [&](const ExpansionsView<T>& expansions) {
                        grow(spread_, vectors * tree_.sources(), stream_);
                        l2p(kind_, expansions, spread_.data());
                      },
                      [&](const NearView& of_near, const unsigned long long* largest) {
                        add_up(of_near.potential, spread_.data(), largest, vectors, to);
                      },
                      recorder(times));
                });
  }

  void evaluate_far_transposed(const TransposedLists& lists, const FarTargets& from,
                               const FarSources& to, int n_vectors) override {
    keep_moments();
    const int batch = field_.batch(n_vectors);
    for (int first = 0; first < n_vectors; first += batch) {
      const int vectors = std::min(batch, n_vectors - first);
      const std::int64_t before = first * rows(), numbers = vectors * tree_.sources();
      grow(spread_, 2 * numbers, stream_);
      const auto of = [&](auto* strengths) { return strengths ? strengths + before : nullptr; };
      const auto for_kinds = [&](auto&& act) {
        if (to.of_charges) act(PanelKind::whole, spread_.data(), to.of_charges);
        if (to.of_dipoles) act(PanelKind::dipoles, spread_.data() + numbers, to.of_dipoles);
      };
      field_.enqueue_transposed(
          lists.m2l, {of(from.charges), of(from.dipoles), nullptr, nullptr}, vectors,
          [](const unsigned long long*) { return NearPart{}; },
          [&](const ExpansionsView<T>& expansions) {
            for_kinds([&](PanelKind kind, double* sums, double*) { l2p(kind, expansions, sums); });
          },
          [&](const NearView&, const unsigned long long* largest) {
            for_kinds([&](PanelKind, const double* sums, double* result) {
              add_up(nullptr, sums, largest, vectors, result + first * panels_.size());
            });
          },
          [](std::string_view) {});
    }
  }

  void release() override {
    field_.release();
    near_ = {};
    spread_ = {};
  }

  std::int64_t bytes() const override {
    return field_.bytes() + field_.operator_bytes() + near_.bytes() + spread_.bytes() +
           (stacks_ ? stacks_->bytes() : 0) + (kept_ ? kept_->bytes() : 0);
  }

 private:
  /// At the first product, when near entries are there: if an eighth of what a solve leaves free
  /// suffices.
  void keep_moments() {
    constexpr int part = 8;
    if (!std::exchange(keeps_moments_, false)) return;
    const TableView<T> table = field_.table();
    if (fits_beside_a_solve(part * PanelMoments<T>::bytes_for(tree_.sources(), kind_, table),
                            panels_.size()))
      kept_.emplace(panels_, tree_, kind_, rules_, table, field_.kernel(), stream_);
  }

  /// ∫ L over the sources, or of its derivative along their normals.
  void l2p(PanelKind kind, const ExpansionsView<T>& expansions, double* sums) {
    if (kept_) return kept_->l2p(kind, expansions, sums, stream_);
    panel_l2p(panels_, tree_, kind, rules_, piece_moments(), field_.table(), expansions,
              field_.kernel(), sums, stream_);
  }

  /// y of what is near and the sums of what is far, if anything is.
  void add_up(const double* near, const double* sums, const unsigned long long* largest,
              int vectors, double* y) {
    const std::int64_t n = panels_.size();
    launch(add_near, dim3(blocks_for(n), vectors), threads_per_block, 0, stream_, n,
           pieces_ ? pieces_->first.data() : nullptr, tree_.sources(), near,
           field_.has_far() ? sums : nullptr, largest, field_.scale(), y);
  }

  const PieceMoments* piece_moments() const { return piece_moments_ ? &*piece_moments_ : nullptr; }

  /// What enqueues moments.
  auto p2m() {
    return [this](const T* charges, const ExpansionsView<T>& expansions) {
      if (kept_) return kept_->p2m(charges, expansions, stream_);
      panel_p2m(panels_, tree_, kind_, rules_, piece_moments(), stacks_ ? &*stacks_ : nullptr,
                field_.table(), charges, expansions, field_.kernel(), stream_);
    };
  }

  /// What is called after each stage.
  static auto recorder(ProductTimes* times) {
    return [times](std::string_view stage) {
      if (times && stage != "gather") times->far.record(stage.data());  // it is a part of M2L
    };
  }

  std::int64_t rows() const { return tree_.targets().count; }
  /// Twice as many as panels if there are strengths of both kinds.
  std::int64_t columns() const {
    return panels_.size() * (kind_ == PanelKind::charges_and_dipoles ? 2 : 1);
  }

  /// Calls multiply(x, y, vectors) for as many of the vectors, of `in` and `out` numbers, as go
  /// through at a time.
  template <class Multiply>
  void for_batches(std::int64_t in, std::int64_t out, const double* x, double* y, int n_vectors,
                   Multiply&& multiply) {
    keep_moments();
    const int batch = field_.batch(n_vectors);
    for (int first = 0; first < n_vectors; first += batch) {
      const int vectors = std::min(batch, n_vectors - first);
      grow(near_, vectors * out, stream_);
      grow(factor_, vectors, stream_);
      ended_if_it_throws([&] { multiply(x + first * in, y + first * out, vectors); }, near_stream_);
    }
  }

  /// Lets enqueue() put a batch's near field into its stream.
  template <class Enqueue>
  NearPart near_part(const unsigned long long* largest, int vectors, ProductTimes* times,
                     Enqueue&& enqueue) {
    launch(find_factors, 1, vectors, 0, stream_, largest, factor_.data());
    FMBEM_CUDA(cudaEventRecord(fork_, stream_));
    FMBEM_CUDA(cudaStreamWaitEvent(near_stream_, fork_));
    if (times) times->near.start();
    enqueue();
    if (times) times->near.record("near field");
    FMBEM_CUDA(cudaEventRecord(join_, near_stream_));
    return NearPart{{near_.data()}, join_};
  }

  const double* strengths_of_sources(const double* x, int vectors) {
    if (!pieces_) return x;
    const std::int64_t n = pieces_->size();
    grow(spread_, vectors * n, stream_);
    launch(spread_strengths, dim3(blocks_for(n), vectors), threads_per_block, 0, stream_, x,
           panels_.size(), pieces_->panel.data(), n, spread_.data());
    return spread_.data();
  }

  const PanelStore& panels_;
  const SpreadTree& tree_;
  const DevicePieces* pieces_;
  PanelKind kind_;
  const Stream &stream_, &near_stream_;
  MomentRules rules_;
  SpreadField<T> field_;
  std::optional<StripMomentRules> piece_rules_;
  std::optional<PieceMoments> piece_moments_;
  std::optional<BoxStacks> stacks_;
  bool keeps_moments_;
  std::optional<PanelMoments<T>> kept_;
  DeviceBuffer<double> near_, factor_;
  DeviceBuffer<double> spread_;  ///< strengths of pieces or, transposed, the sources' results
  Event fork_, join_;
};

}  // namespace

std::unique_ptr<PanelFarField> make_panel_far_field(
    const PanelStore& panels, const SpreadTree& tree, const DevicePieces* pieces,
    const PanelFarOptions& options, const Stream& stream, const Stream& near_stream) {
  if (options.precision == Precision::single_precision)
    return std::make_unique<PanelFarFieldIn<float>>(panels, tree, pieces, options, stream,
                                                    near_stream);
  return std::make_unique<PanelFarFieldIn<double>>(panels, tree, pieces, options, stream,
                                                   near_stream);
}

}  // namespace fmbem::cuda::bem
