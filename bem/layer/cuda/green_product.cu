#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/cuda/block_panels.cuh"
#include "fmbem/bem/geometry/cuda/memory_advice.cuh"
#include "fmbem/bem/layer/cuda/add_scaled.cuh"
#include "fmbem/bem/layer/cuda/green_product.hpp"
#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/layer/green_passes.hpp"
#include "fmbem/bem/near/cuda/green_near_field.cuh"
#include "fmbem/bem/near/cuda/near_field.cuh"
#include "fmbem/bem/near/cuda/pair_near_field.cuh"
#include "fmbem/bem/space/cuda/panel_far_field.cuh"
#include "fmbem/cuda/copied.cuh"
#include "fmbem/cuda/default_stream.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/staging.cuh"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/check.hpp"

namespace fmbem::cuda::bem {
namespace {

/// What a near pair costs an H200 in a product, both entries: stored, with a part of their
/// integrals, or lean. In double precision the far field costs more, and leaves become larger.
double seconds_of_both(bool lean, Precision far) {
  return (lean ? 12e-12 : 6e-12) * (far == Precision::double_precision ? 2 : 1);
}

/// Charges times v, and dipoles times k and the tree's scale.
__global__ void scale_sources(const double* x, std::int64_t n, double v, double k, double* to) {
  const std::int64_t j = thread_index();
  if (j >= n) return;
  to[j] = v * x[j];
  to[n + j] = k * x[n + j];
}

/// y_0 += p potential, y_1 += f n·gradient of a pass.
__global__ void add_pass(const double* potential, const Vec3d* gradient, const Vec3d* normal,
                         double p, double f, std::int64_t n, double* y) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  y[i] += p * potential[i];
  y[n + i] += f * dot(normal[i], gradient[i]);
}

/// Transposed: what acts on potentials and on gradients in a pass.
__global__ void scale_targets(const double* y, const Vec3d* normal, double p, double f,
                              std::int64_t n, double* charges, Vec3d* dipoles) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  charges[i] = p * y[i];
  dipoles[i] = (f * y[n + i]) * normal[i];
}

/// A near field in the order of its targets.
__global__ void add_in_order(const double* near, const std::int32_t* order, std::int64_t n,
                             double* y) {
  const std::int64_t i = thread_index();
  if (i < n) y[order[i]] += near[i];
}

/// Of chosen panels, or, where that is null, of all.
__global__ void find_normals(const Vec3d* vertices, const std::int32_t* chosen, std::int64_t n,
                             Vec3d* normal) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  const Vec3d* const v = vertices + 3 * static_cast<std::int64_t>(chosen ? chosen[i] : i);
  normal[i] = make_triangle(v[0], v[1], v[2]).normal;
}

/// A tree with what it was grown from. It has a stream of its own, as products whose panels and
/// options are the same, those of the regions on both sides of a surface, share it.
struct GrownTree {
  std::shared_ptr<const PanelStore> panels;
  SpreadOptions options;
  Stream stream{true};
  SpreadTree tree;

  /// What it reads is of other streams, in whose order it may go once this returns or throws.
  GrownTree(const BlockPanels& block, const SpreadOptions& wanted)
      : panels(block.sources), options(wanted) {
    ended_if_it_throws(
        [&] {
          tree = grow_panel_tree(*panels, block.targets(), options, stream);
          if (block.own_source.size() > 0) tree.own_source = copy_of(block.own_source, stream);
          stream.wait();
        },
        stream);
  }
};

/// Of all panels one that there is, if it is the same.
std::shared_ptr<const GrownTree> grown_tree(const BlockPanels& block,
                                            const SpreadOptions& options) {
  if (!block.is_all()) return std::make_shared<const GrownTree>(block, options);
  static std::mutex mutex;
  static std::vector<std::weak_ptr<const GrownTree>> alive;
  const std::lock_guard lock(mutex);
  std::erase_if(alive, [](const auto& tree) { return tree.expired(); });
  for (const std::weak_ptr<const GrownTree>& one : alive)
    if (const auto known = one.lock();
        known && known->panels == block.sources && known->options == options)
      return known;
  auto grown = std::make_shared<const GrownTree>(block, options);
  alive.push_back(grown);
  return grown;
}

}  // namespace

/// Panels and tree, and what both kinds of products share.
struct GreenProduct::Impl {
  GreenAccuracy accuracy;
  Stream stream{true}, near_stream;
  BlockPanels block;
  std::shared_ptr<const PanelStore> panels;  ///< of the columns
  std::shared_ptr<const GrownTree> grown;
  std::int64_t tree_bytes = 0;                  ///< 0 where another product has the tree, too
  std::unique_ptr<TransposedLists> transposed;  ///< from the first transposed product on
  DeviceBuffer<double> x, y;
  std::int64_t results;  ///< numbers of y that are handed out
  NormEstimate estimate;
  bool stored;

  Impl(const Panels& all, const PanelBlock& chosen, double kappa, int outputs,
       const GreenAccuracy& wanted)
      : accuracy(wanted),
        block(all, chosen, stream),
        panels(block.sources),
        stored(wanted.near_field != OperatorOptions::NearField::lean) {
    grow(outputs);
    if (wanted.near_field == OperatorOptions::NearField::automatic && !has_room()) {
      stored = false;
      if (!wanted.max_leaf) grow(outputs);
    }
    estimate = estimate_norm(*panels, block.targets(), tree(), kappa, stream);
    x = DeviceBuffer<double>(2 * columns(), stream);
    y = DeviceBuffer<double>(outputs * rows(), stream);
    results = static_cast<std::int64_t>(y.size());
  }
  virtual ~Impl() {
    // The tree may go in the order of another stream.
    cudaStreamSynchronize(stream);
    cudaStreamSynchronize(near_stream);
  }

  /// Enqueues y from x.
  virtual void enqueue() = 0;
  /// Enqueues x from y, transposed.
  virtual void enqueue_transposed() = 0;
  virtual std::int64_t bytes() const = 0;

  std::int64_t columns() const { return panels->size(); }
  std::int64_t rows() const { return static_cast<std::int64_t>(block.rows()); }

  const SpreadTree& tree() const { return grown->tree; }

  void grow(int outputs) {
    grown.reset();  // first, as both may not fit
    grown =
        grown_tree(block, {.order = accuracy.order,
                           .precision = accuracy.far,
                           .overhang = accuracy.overhang,
                           .near_pair_seconds = outputs * seconds_of_both(!stored, accuracy.far),
                           .max_leaf = accuracy.max_leaf});
    tree_bytes = grown.use_count() > 1 ? 0 : tree().bytes();
  }

  /// For entries of V and K, and those of operators to come, which have as many for each panel.
  bool has_room() const {
    const std::int64_t entry = accuracy.near == Precision::single_precision ? 4 : 8;
    const double operators =
        1 + static_cast<double>(accuracy.panels_to_come) / static_cast<double>(columns());
    return fits_beside_a_solve(
        static_cast<std::int64_t>(operators * static_cast<double>(2 * entry * tree().near.pairs)),
        columns());
  }

  std::unique_ptr<PanelFarField> far_field(double kappa) const {
    return make_panel_far_field(*panels, tree(), nullptr,
                                {.kind = PanelKind::charges_and_dipoles,
                                 .kappa = kappa,
                                 .order = accuracy.order,
                                 .precision = accuracy.far,
                                 .moments = accuracy.moments,
                                 .reach = far_reach_for(accuracy.moments),
                                 .keeps_moments = stored},
                                stream, near_stream);
  }
  /// Of make(number), the number being of the type of entries.
  template <class Make>
  std::unique_ptr<NearField> stored_near_field(Make&& make) const {
    return accuracy.near == Precision::single_precision ? make(float()) : make(double());
  }

  void multiply(const double* from, double* to) {
    copy_to_device(from, x.size(), x.data(), stream);
    enqueue();
    copy_to_host(y.data(), static_cast<std::size_t>(results), to, stream);
    stream.wait();
    refuse_not_finite({from, x.size()}, rows(), {to[0]});
  }

  void multiply_transposed(const double* from, double* to) {
    y.fill_bytes(0);
    copy_to_device(from, static_cast<std::size_t>(results), y.data(), stream);
    enqueue_transposed();
    copy_to_host(x.data(), x.size(), to, stream);
    stream.wait();
    refuse_not_finite({from, static_cast<std::size_t>(results)}, columns(), {to[0], to[columns()]});
  }

  /// Strengths that are not finite, which make all results of a kind NaN: one of each is looked at.
  static void refuse_not_finite(std::span<const double> from, std::int64_t to,
                                std::initializer_list<double> results) {
    for (const double result : results)
      if (std::isnan(result)) return fmm::check_evaluation(from.size(), to, {.charges = from}, {});
  }

  void multiply_on_device(const double* from, double* to) {
    in_default_stream(stream, [&] {
      copy(from, 2 * columns(), x.data());
      enqueue();
      copy(y.data(), results, to);
    });
  }

  void flux_on_device(const double* charges, double* flux) {
    in_default_stream(stream, [&] {
      x.fill_bytes(0);
      copy(charges, columns(), x.data());
      enqueue();
      copy(y.data() + rows(), rows(), flux);
    });
  }

  void flux_transposed_on_device(const double* flux, double* charges) {
    in_default_stream(stream, [&] {
      y.fill_bytes(0);
      copy(flux, rows(), y.data() + rows());
      enqueue_transposed();
      copy(x.data(), columns(), charges);
    });
  }

  const TransposedLists& transposed_lists() {
    if (!transposed)
      transposed = std::make_unique<TransposedLists>(tree(), nullptr, columns(), stream);
    return *transposed;
  }

  void copy(const double* from, std::int64_t count, double* to) {
    FMBEM_CUDA(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(double),
                               cudaMemcpyDeviceToDevice, stream));
  }
};

namespace {

/// Of one kernel.
struct PotentialProduct final : GreenProduct::Impl {
  GreenTerm term;
  DeviceBuffer<double> scaled;
  std::unique_ptr<PanelFarField> far;
  std::unique_ptr<NearField> near;

  std::unique_ptr<NearField> near_field() const {
    if (!stored) {
      const Precision precision =
          lean_precision_for(accuracy.entries, {Trace::normal, term.kappa}, accuracy.near);
      return make_lean_green_near_field(*panels, tree(), term.kappa, accuracy.entries, precision,
                                        stream);
    }
    return stored_near_field([&]<class Entry>(Entry) {
      return make_stored_green_near_field<Entry>(*panels, tree(), term.kappa, accuracy.entries,
                                                 stream);
    });
  }

  PotentialProduct(const Panels& all, const PanelBlock& chosen, const GreenTerm& of_term,
                   const GreenAccuracy& wanted)
      : Impl(all, chosen, of_term.kappa, 1, wanted),
        term(of_term),
        scaled(2 * columns(), stream),
        far(far_field(term.kappa)),
        near(near_field()) {
    stream.wait();
  }
  void enqueue() override {
    launch(scale_sources, blocks_for(columns()), threads_per_block, 0, stream, x.data(), columns(),
           term.v, term.k * tree().scale, scaled.data());
    far->multiply(*near, scaled.data(), y.data(), 1, nullptr);
  }
  void enqueue_transposed() override {
    throw InputError(
        "transposed products of potentials of charges and dipoles are the CPU's: make the operator "
        "there");
  }
  std::int64_t bytes() const override { return scaled.bytes() + far->bytes() + near->bytes(); }
};

/// Of several kernels, or with derivatives.
struct FluxProduct final : GreenProduct::Impl {
  struct Kernel {
    std::vector<GreenPass> passes;
    std::unique_ptr<PanelFarField> far;
  };
  std::vector<Kernel> kernels;
  std::vector<std::unique_ptr<PairNearField>> near;
  std::unique_ptr<NearField> near_of_k;  ///< Laplace's, where no more of its kernel is left
  DeviceBuffer<double> scaled, potential, factor;
  DeviceBuffer<Vec3d> gradient, normal;

  FluxProduct(const Panels& all, const PanelBlock& chosen, std::span<const GreenTerm> terms,
              const GreenAccuracy& wanted)
      : Impl(all, chosen, least_kappa(terms), 2, wanted),
        factor(1, stream),
        normal(rows(), stream) {
    const auto row_panels = copied_to_device(chosen.rows, stream);
    launch(find_normals, blocks_for(rows()), threads_per_block, 0, stream,
           block.all->vertices.data(), row_panels.data(), rows(), normal.data());
    if (!has_flux(terms)) results = rows();
    std::int64_t most = 0;
    for (const GreenTerm& term : terms) {
      kernels.push_back({passes_of(term), far_field(term.kappa)});
      most = std::max(most, static_cast<std::int64_t>(kernels.back().passes.size()));
    }
    set_near(terms);
    scaled = DeviceBuffer<double>(2 * most * columns(), stream);
    potential = DeviceBuffer<double>(most * rows(), stream);
    gradient = DeviceBuffer<Vec3d>(most * rows(), stream);
    stream.wait();
  }
  static double least_kappa(std::span<const GreenTerm> terms) {
    double least = terms[0].kappa;
    for (const GreenTerm& term : terms) least = std::min(least, term.kappa);
    return least;
  }

  /// One kernel as it is; of several what all have of Laplace's, and what each has less than that.
  void set_near(std::span<const GreenTerm> terms) {
    const auto add = [&](const GreenTerm& term, YukawaPart part) {
      near.push_back(make_pair_near_field(*panels, tree(), normal.data(), term, part,
                                          accuracy.entries, accuracy.near, stream));
    };
    if (terms.size() == 1) return add(terms[0], YukawaPart::all);
    const GreenTerm laplace = laplace_of(terms);
    if (laplace.v != 0 || laplace.has_flux()) {
      add(laplace, YukawaPart::all);
    } else if (laplace.k != 0) {
      factor.upload(&laplace.k);
      near_of_k = stored_near_field([&]<class Entry>(Entry) {
        return make_stored_near_field<Entry>(*panels, tree(), {Trace::normal, 0}, accuracy.entries,
                                             stream);
      });
    }
    for (const GreenTerm& term : terms)
      if (term.kappa > 0) add(term, YukawaPart::less_laplace);
  }

  void enqueue() override {
    const std::int64_t n = columns(), m = rows();
    y.fill_bytes(0);
    if (near_of_k) {
      near_of_k->multiply(x.data() + n, 1, factor.data(), potential.data(), stream);
      launch(add_in_order, blocks_for(m), threads_per_block, 0, stream, potential.data(),
             tree().target_order.data(), m, y.data());
    }
    for (const Kernel& kernel : kernels) {
      const auto passes = static_cast<int>(kernel.passes.size());
      for (int p = 0; p < passes; ++p)
        launch(scale_sources, blocks_for(n), threads_per_block, 0, stream, x.data(), n,
               kernel.passes[p].sigma, kernel.passes[p].mu * tree().scale,
               scaled.data() + 2 * n * p);
      kernel.far->evaluate_far(scaled.data(), potential.data(), gradient.data(), passes);
      for (int p = 0; p < passes; ++p)
        launch(add_pass, blocks_for(m), threads_per_block, 0, stream, potential.data() + m * p,
               gradient.data() + m * p, normal.data(), kernel.passes[p].potential,
               kernel.passes[p].flux, m, y.data());
    }
    for (const auto& of_kernel : near) of_kernel->add(x.data(), y.data(), stream);
  }

  void enqueue_transposed() override {
    const TransposedLists& lists = transposed_lists();
    const std::int64_t n = columns(), m = rows();
    x.fill_bytes(0);
    const auto add = [&](const double* from, double times, double* to) {
      launch(add_scaled, blocks_for(n), threads_per_block, 0, stream, from, times, n, to);
    };
    if (near_of_k) {
      near_of_k->multiply_transposed(lists, y.data(), 1, factor.data(), scaled.data(), stream);
      add(scaled.data(), 1, x.data() + n);
    }
    for (const Kernel& kernel : kernels) {
      const auto passes = static_cast<int>(kernel.passes.size());
      const auto any_has = [&](double GreenPass::*what) {
        return std::ranges::any_of(kernel.passes, [&](const auto& p) { return p.*what != 0; });
      };
      for (int p = 0; p < passes; ++p)
        launch(scale_targets, blocks_for(m), threads_per_block, 0, stream, y.data(), normal.data(),
               kernel.passes[p].potential, kernel.passes[p].flux, m, potential.data() + m * p,
               gradient.data() + m * p);
      const FarTargets from{any_has(&GreenPass::potential) ? potential.data() : nullptr,
                            any_has(&GreenPass::flux) ? gradient.data() : nullptr};
      const FarSources to{any_has(&GreenPass::sigma) ? scaled.data() : nullptr,
                          any_has(&GreenPass::mu)
                              ? scaled.data() + static_cast<std::int64_t>(passes) * n
                              : nullptr};
      kernel.far->evaluate_far_transposed(lists, from, to, passes);
      for (int p = 0; p < passes; ++p) {
        if (to.of_charges) add(to.of_charges + p * n, kernel.passes[p].sigma, x.data());
        if (to.of_dipoles)
          add(to.of_dipoles + p * n, kernel.passes[p].mu * tree().scale, x.data() + n);
      }
    }
    for (const auto& of_kernel : near)
      of_kernel->add_transposed(lists.tiles_of(tree()), y.data(), x.data(), stream);
  }
  std::int64_t bytes() const override {
    std::int64_t sum = scaled.bytes() + potential.bytes() + gradient.bytes() + normal.bytes() +
                       (near_of_k ? near_of_k->bytes() : 0);
    for (const Kernel& kernel : kernels) sum += kernel.far->bytes();
    for (const auto& of_kernel : near) sum += of_kernel->bytes();
    return sum;
  }
};

}  // namespace

GreenProduct::GreenProduct(const Panels& panels, const PanelBlock& block,
                           std::span<const GreenTerm> terms, const GreenAccuracy& accuracy) {
  require_cuda_device();
  keep_freed_memory();
  fmm::check_overhang(accuracy.overhang);
  fmm::check_tree_options(accuracy.max_leaf, {});
  fmm::check_point_count(panels.size(), "panel");
  const bool can_be_lean = terms.size() == 1 && !has_flux(terms);
  with_advice(!can_be_lean || accuracy.near_field == OperatorOptions::NearField::lean, [&] {
    if (can_be_lean)
      impl_ = std::make_unique<PotentialProduct>(panels, block, terms[0], accuracy);
    else
      impl_ = std::make_unique<FluxProduct>(panels, block, terms, accuracy);
  });
}
GreenProduct::~GreenProduct() = default;

void GreenProduct::multiply(const double* x, double* y) const {
  with_advice(true, [&] { impl_->multiply(x, y); });
}

void GreenProduct::multiply_on_device(const double* x, double* y) const {
  with_advice(true, [&] { impl_->multiply_on_device(x, y); });
}

void GreenProduct::flux_on_device(const double* charges, double* flux) const {
  with_advice(true, [&] { impl_->flux_on_device(charges, flux); });
}

void GreenProduct::multiply_transposed(const double* y, double* x) const {
  with_advice(true, [&] { impl_->multiply_transposed(y, x); });
}

void GreenProduct::flux_transposed_on_device(const double* flux, double* charges) const {
  with_advice(true, [&] { impl_->flux_transposed_on_device(flux, charges); });
}

void GreenProduct::wait() const { impl_->stream.wait(); }

double GreenProduct::norm_of_v() const { return impl_->estimate.norm; }

void GreenProduct::describe(OperatorInfo& info) const {
  info.processor = Processor::gpu;
  info.near_field_stored = impl_->stored;
  info.memory_bytes = impl_->panels->bytes() + impl_->tree_bytes + impl_->x.bytes() +
                      impl_->y.bytes() + impl_->bytes() +
                      (impl_->transposed ? impl_->transposed->bytes() : 0);
  info.levels = impl_->tree().tree.levels();
  info.max_leaf = impl_->tree().max_leaf;
  info.inflation = impl_->tree().inflation;
  info.near_entries = impl_->tree().near.pairs;
}

}  // namespace fmbem::cuda::bem
