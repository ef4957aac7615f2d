#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/cuda/memory_advice.cuh"
#include "fmbem/bem/layer/cuda/green_product.hpp"
#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/layer/green_passes.hpp"
#include "fmbem/bem/near/cuda/difference_near_field.cuh"
#include "fmbem/bem/near/cuda/green_near_field.cuh"
#include "fmbem/bem/near/cuda/near_field.cuh"
#include "fmbem/bem/space/cuda/panel_far_field.cuh"
#include "fmbem/cuda/default_stream.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/staging.cuh"
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

__global__ void add_to(const double* from, std::int64_t n, double* to) {
  const std::int64_t i = thread_index();
  if (i < n) to[i] += from[i];
}

/// Lean, of charges and dipoles, [vectors][2][panels], as the far field has them.
class NearFieldOfBoth final : public NearField {
 public:
  NearFieldOfBoth(std::unique_ptr<NearField> v, std::unique_ptr<NearField> k, std::int64_t panels,
                  cudaStream_t stream)
      : v_(std::move(v)), k_(std::move(k)), panels_(panels), of_k_(panels, stream) {}

  void multiply(const double* x, int vectors, const double* factor, double* y,
                cudaStream_t stream) const override {
    for (int v = 0; v < vectors; ++v, x += 2 * panels_, y += panels_) {
      v_->multiply(x, 1, factor + v, y, stream);
      k_->multiply(x + panels_, 1, factor + v, of_k_.data(), stream);
      launch(add_to, blocks_for(panels_), threads_per_block, 0, stream, of_k_.data(), panels_, y);
    }
  }
  void multiply_transposed(const TransposedLists&, const double*, int, const double*, double*,
                           cudaStream_t) override {
    throw InputError("products of charges and dipoles together have no transpose");
  }
  std::int64_t bytes() const override { return v_->bytes() + k_->bytes() + of_k_.bytes(); }

 private:
  std::unique_ptr<NearField> v_, k_;
  std::int64_t panels_;
  DeviceBuffer<double> of_k_;
};

/// y_0 += p potential, y_1 += f n·gradient of a pass.
__global__ void add_pass(const double* potential, const Vec3d* gradient, const Vec3d* normal,
                         double p, double f, std::int64_t n, double* y) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  y[i] += p * potential[i];
  y[n + i] += f * dot(normal[i], gradient[i]);
}

/// A near field in the order of its targets.
__global__ void add_in_order(const double* near, const std::int32_t* order, std::int64_t n,
                             double* y) {
  const std::int64_t i = thread_index();
  if (i < n) y[order[i]] += near[i];
}

__global__ void find_normals(const Vec3d* vertices, std::int64_t n, Vec3d* normal) {
  const std::int64_t i = thread_index();
  if (i < n)
    normal[i] = make_triangle(vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]).normal;
}

}  // namespace

/// Panels and tree, and what both kinds of products share.
struct GreenProduct::Impl {
  GreenAccuracy accuracy;
  Stream stream{true}, near_stream;
  std::shared_ptr<const PanelStore> panels;
  SpreadTree tree;
  DeviceBuffer<double> x, y;
  NormEstimate estimate;
  bool stored;

  Impl(const Panels& host_panels, double kappa, int outputs, const GreenAccuracy& wanted)
      : accuracy(wanted),
        panels(store_of(host_panels, stream)),
        stored(wanted.near_field != OperatorOptions::NearField::lean) {
    grow(outputs);
    if (wanted.near_field == OperatorOptions::NearField::automatic && !has_room()) {
      stored = false;
      if (!wanted.max_leaf) grow(outputs);
    }
    estimate = estimate_norm(*panels, panels->centroid, tree, kappa, stream);
    x = DeviceBuffer<double>(2 * size(), stream);
    y = DeviceBuffer<double>(outputs * size(), stream);
  }
  virtual ~Impl() = default;

  /// Enqueues y from x.
  virtual void enqueue() = 0;
  virtual std::int64_t bytes() const = 0;

  std::int64_t size() const { return panels->size(); }

  void grow(int outputs) {
    tree = {};  // first, as both may not fit
    tree = grow_panel_tree(*panels, panels->centroid,
                           {.order = accuracy.order,
                            .precision = accuracy.far,
                            .overhang = accuracy.overhang,
                            .near_pair_seconds = outputs * seconds_of_both(!stored, accuracy.far),
                            .max_leaf = accuracy.max_leaf},
                           stream);
  }

  /// For entries of V and K, and those of operators to come, which have as many for each panel.
  bool has_room() const {
    const std::int64_t entry = accuracy.near == Precision::single_precision ? 4 : 8;
    const double operators =
        1 + static_cast<double>(accuracy.panels_to_come) / static_cast<double>(size());
    return fits_beside_a_solve(
        static_cast<std::int64_t>(operators * static_cast<double>(2 * entry * tree.near.pairs)),
        size());
  }

  std::unique_ptr<PanelFarField> far_field(double kappa) const {
    return make_panel_far_field(*panels, tree, nullptr,
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
    copy_to_host(y.data(), y.size(), to, stream);
    stream.wait();
    if (std::isnan(to[0]))  // as it is everywhere then
      fmm::check_evaluation(x.size(), size(), {.charges = {from, x.size()}}, {});
  }

  void multiply_on_device(const double* from, double* to) {
    in_default_stream(stream, [&] {
      FMBEM_CUDA(cudaMemcpyAsync(x.data(), from, static_cast<std::size_t>(x.bytes()),
                                 cudaMemcpyDeviceToDevice, stream));
      enqueue();
      FMBEM_CUDA(cudaMemcpyAsync(to, y.data(), static_cast<std::size_t>(y.bytes()),
                                 cudaMemcpyDeviceToDevice, stream));
    });
  }
};

namespace {

/// Of one kernel.
struct PotentialProduct final : GreenProduct::Impl {
  GreenTerm term;
  DeviceBuffer<double> scaled;
  std::unique_ptr<PanelFarField> far;
  std::unique_ptr<NearField> near;

  std::unique_ptr<NearField> lean_near_field(Trace source) const {
    const PanelKernel kernel{source, term.kappa};
    return make_lean_near_field(*panels, tree, kernel, accuracy.entries,
                                lean_precision_for(accuracy.entries, kernel, accuracy.near),
                                ClosePairStorage::entries, stream);
  }
  std::unique_ptr<NearField> near_field() const {
    if (!stored)
      return std::make_unique<NearFieldOfBoth>(lean_near_field(Trace::value),
                                               lean_near_field(Trace::normal), size(), stream);
    return stored_near_field([&]<class Entry>(Entry) {
      return make_stored_green_near_field<Entry>(*panels, tree, term.kappa, accuracy.entries,
                                                 stream);
    });
  }

  PotentialProduct(const Panels& host_panels, const GreenTerm& of_term, const GreenAccuracy& wanted)
      : Impl(host_panels, of_term.kappa, 1, wanted),
        term(of_term),
        scaled(2 * size(), stream),
        far(far_field(term.kappa)),
        near(near_field()) {
    stream.wait();
  }
  void enqueue() override {
    launch(scale_sources, blocks_for(size()), threads_per_block, 0, stream, x.data(), size(),
           term.v, term.k * tree.scale, scaled.data());
    far->multiply(*near, scaled.data(), y.data(), 1, nullptr);
  }
  std::int64_t bytes() const override { return scaled.bytes() + far->bytes() + near->bytes(); }
};

/// Of several kernels, with derivatives.
struct DifferenceProduct final : GreenProduct::Impl {
  struct Kernel {
    std::vector<GreenPass> passes;
    std::unique_ptr<PanelFarField> far;
    std::unique_ptr<DifferenceNearField> near;  ///< null of Laplace's
  };
  std::vector<Kernel> kernels;
  std::unique_ptr<NearField> laplace_near;  ///< K
  DeviceBuffer<double> scaled, potential, factor;
  DeviceBuffer<Vec3d> gradient, normal;

  DifferenceProduct(const Panels& host_panels, std::span<const GreenTerm> terms,
                    const GreenAccuracy& wanted)
      : Impl(host_panels, least_kappa(terms), 2, wanted),
        laplace_near(stored_near_field([&]<class Entry>(Entry) {
          return make_stored_near_field<Entry>(*panels, tree, {Trace::normal, 0}, accuracy.entries,
                                               stream);
        })),
        factor(1, stream),
        normal(size(), stream) {
    const double k = laplace_of(terms).k;
    factor.upload(&k);
    std::size_t most = 0;
    for (const GreenTerm& term : terms) {
      Kernel kernel{passes_of(term), far_field(term.kappa), nullptr};
      if (term.kappa > 0)
        kernel.near = make_difference_near_field(*panels, tree, term, accuracy.entries,
                                                 accuracy.near, stream);
      most = std::max(most, kernel.passes.size());
      kernels.push_back(std::move(kernel));
    }
    scaled = DeviceBuffer<double>(2 * most * size(), stream);
    potential = DeviceBuffer<double>(most * size(), stream);
    gradient = DeviceBuffer<Vec3d>(most * size(), stream);
    launch(find_normals, blocks_for(size()), threads_per_block, 0, stream, panels->vertices.data(),
           size(), normal.data());
    stream.wait();
  }
  static double least_kappa(std::span<const GreenTerm> terms) {
    double least = terms[0].kappa;
    for (const GreenTerm& term : terms) least = std::min(least, term.kappa);
    return least;
  }

  void enqueue() override {
    const std::int64_t n = size();
    y.fill_bytes(0);
    laplace_near->multiply(x.data() + n, 1, factor.data(), potential.data(), stream);
    launch(add_in_order, blocks_for(n), threads_per_block, 0, stream, potential.data(),
           tree.target_order.data(), n, y.data());
    for (const Kernel& kernel : kernels) {
      const auto passes = static_cast<int>(kernel.passes.size());
      for (int p = 0; p < passes; ++p)
        launch(scale_sources, blocks_for(n), threads_per_block, 0, stream, x.data(), n,
               kernel.passes[p].sigma, kernel.passes[p].mu * tree.scale, scaled.data() + 2 * n * p);
      kernel.far->evaluate_far(scaled.data(), potential.data(), gradient.data(), passes);
      for (int p = 0; p < passes; ++p)
        launch(add_pass, blocks_for(n), threads_per_block, 0, stream, potential.data() + n * p,
               gradient.data() + n * p, normal.data(), kernel.passes[p].potential,
               kernel.passes[p].flux, n, y.data());
      if (kernel.near) kernel.near->add(x.data(), y.data(), stream);
    }
  }
  std::int64_t bytes() const override {
    std::int64_t sum = laplace_near->bytes() + scaled.bytes() + potential.bytes() +
                       gradient.bytes() + normal.bytes();
    for (const Kernel& kernel : kernels)
      sum += kernel.far->bytes() + (kernel.near ? kernel.near->bytes() : 0);
    return sum;
  }
};

}  // namespace

GreenProduct::GreenProduct(const Panels& panels, std::span<const GreenTerm> terms,
                           const GreenAccuracy& accuracy) {
  require_cuda_device();
  keep_freed_memory();
  fmm::check_overhang(accuracy.overhang);
  fmm::check_tree_options(accuracy.max_leaf, {});
  fmm::check_point_count(panels.size(), "panel");
  const bool can_be_lean = terms.size() == 1;
  with_advice(!can_be_lean || accuracy.near_field == OperatorOptions::NearField::lean, [&] {
    if (can_be_lean)
      impl_ = std::make_unique<PotentialProduct>(panels, terms[0], accuracy);
    else
      impl_ = std::make_unique<DifferenceProduct>(panels, terms, accuracy);
  });
}
GreenProduct::~GreenProduct() = default;

void GreenProduct::multiply(const double* x, double* y) const {
  with_advice(true, [&] { impl_->multiply(x, y); });
}

void GreenProduct::multiply_on_device(const double* x, double* y) const {
  with_advice(true, [&] { impl_->multiply_on_device(x, y); });
}

double GreenProduct::norm_of_v() const { return impl_->estimate.norm; }

void GreenProduct::describe(OperatorInfo& info) const {
  info.processor = Processor::gpu;
  info.near_field_stored = impl_->stored;
  info.memory_bytes = impl_->panels->bytes() + impl_->tree.bytes() + impl_->x.bytes() +
                      impl_->y.bytes() + impl_->bytes();
  info.levels = impl_->tree.tree.levels();
  info.max_leaf = impl_->tree.max_leaf;
  info.inflation = impl_->tree.inflation;
  info.near_entries = impl_->tree.near.pairs;
}

}  // namespace fmbem::cuda::bem
