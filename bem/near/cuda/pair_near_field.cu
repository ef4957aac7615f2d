// A block for each row, that is for each leaf with targets.
#include "fmbem/bem/near/cuda/close_difference.cuh"
#include "fmbem/bem/near/cuda/marked_pairs.cuh"
#include "fmbem/bem/near/cuda/near_products.cuh"
#include "fmbem/bem/near/cuda/pair_near_field.cuh"
#include "fmbem/bem/near/cuda/panel_field.cuh"
#include "fmbem/bem/near/cuda/transposed_columns.cuh"

namespace fmbem::cuda::bem {
namespace {

/// What a pair counts in a product.
template <class Entry>
struct alignas(16) PairEntries {
  Entry v, k, k_adjoint, d;
};

/// A row's panels, and the factors of entries in the tree's unit.
struct PairView {
  NearRowsView rows;
  MomentRulesView rules;
  RowPanels panels;
  const Vec3d* normals;  ///< [targets], by number
  GreenTerm factors;

  template <class Entry>
  __device__ PairEntries<Entry> times_factors(const PanelEntries& entries) const {
    return {static_cast<Entry>(factors.v * entries.v), static_cast<Entry>(factors.k * entries.k),
            static_cast<Entry>(factors.k_adjoint * entries.k_adjoint),
            static_cast<Entry>(factors.d * entries.d)};
  }
};

/// Yukawa's kernel less Laplace's, whose derivatives are no more singular than 1/r.
struct LessLaplace {
  static constexpr fmbem::FarKernel integrand = fmbem::FarKernel::potential;

  __device__ static PairRadial at(double kappa, double r) { return difference_radial(kappa, r); }
  __device__ static PanelEntries close(const MomentRulesView&, const CloseRules& rules,
                                       const Triangle& t, Vec3d x, Vec3d normal, double kappa) {
    return close_difference(rules, t, x, normal, kappa);
  }
};

/// Of Laplace's kernel, by closed forms.
__device__ __attribute__((noinline)) PanelEntries close_laplace(const MomentRulesView& rules,
                                                                const Triangle& t, Vec3d x,
                                                                Vec3d normal) {
  const FieldSums field =
      shape(t) > well_shaped ? field_of<true>(t, x, 0) : sliver_field<true>(rules, t, x, 0);
  return {field.potential, -dot(t.normal, field.gradient), dot(normal, field.gradient),
          -along(field.hessian, normal, t.normal)};
}

/// Yukawa's kernel, or Laplace's.
struct WholeKernel {
  static constexpr fmbem::FarKernel integrand = fmbem::FarKernel::hessian;

  __device__ static PairRadial at(double kappa, double r) {
    const double u = kappa * r, over_r = 1 / r, over_r2 = over_r * over_r, g = exp(-u) * over_r;
    return {g, (1 + u) * g * over_r2, (3 + u * (3 + u)) * g * over_r2 * over_r2};
  }
  /// Close by, what both kernels have adds up without loss.
  __device__ static PanelEntries close(const MomentRulesView& of_pieces, const CloseRules& rules,
                                       const Triangle& t, Vec3d x, Vec3d normal, double kappa) {
    PanelEntries entries = close_laplace(of_pieces, t, x, normal);
    if (kappa > 0) entries += close_difference(rules, t, x, normal, kappa);
    return entries;
  }
};

/// The first rule that serves, −1 where none does.
__device__ inline int rule_for(const PairView& a, double distance, double radius) {
  for (int rule = 0; rule < a.rules.count; ++rule)
    if (distance * inverse_reach_of_rule(a.rules.reach[rule], a.rules.degree[rule],
                                         a.rows.kernel.kappa * radius) >=
        radius)
      return rule;
  return -1;
}

template <class Kernel>
__device__ inline PanelEntries by_rule(const PairView& a, int rule, std::int64_t panel, Vec3d x,
                                       Vec3d normal) {
  const Vec3d* const v = a.rows.vertices + 3 * panel;
  const double scale = a.rows.scale;
  const Vec3d from = x - scale * v[0], e1 = scale * (v[1] - v[0]), e2 = scale * (v[2] - v[0]),
              across = cross(e1, e2), source_normal = across / norm(across);
  const double n_i[3] = {normal.x, normal.y, normal.z},
               area = inv_4pi * scale * scale * a.rows.area[panel];
  PanelEntries sum;
  for (int q = a.rules.begin[rule]; q < a.rules.begin[rule + 1]; ++q) {
    const Vec3d to = from - a.rules.xi[q] * e1 - a.rules.eta[q] * e2;
    const double d[3] = {to.x, to.y, to.z};
    add_pair_entries(Kernel::at(a.rows.kernel.kappa, norm(to)), area * a.rules.weight[q], d,
                     source_normal, n_i, sum.v, sum.k, sum.k_adjoint, sum.d);
  }
  return sum;
}

template <class Kernel>
__device__ PanelEntries close_entries(const PairView& a, const CloseRules& rules, std::int64_t i,
                                      std::int64_t panel) {
  PanelEntries entries =
      Kernel::close(a.rules, rules, scaled_triangle(a.rows, panel), a.rows.target(i),
                    a.normals[a.rows.targets.order[i]], a.rows.kernel.kappa);
  if (a.rows.own_panel(i) == panel) entries.k = entries.k_adjoint = 0;
  return entries;
}

/// Marks, by NaN, those that no rule serves.
template <class Entry, class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    integrate_by_rules(const __grid_constant__ PairView a, PairEntries<Entry>* entries) {
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.rows.targets_of(row);
  const int n = size_of(targets);
  const std::int32_t* const panels = a.panels.panel + a.panels.begin[row];
  const std::int64_t count = a.rows.pairs_before[row + 1] - a.rows.pairs_before[row];
  entries += a.rows.pairs_before[row];
  for (std::int64_t k = threadIdx.x; k < count; k += blockDim.x) {
    const std::int64_t i = targets.x + k % n, panel = panels[k / n];
    const Vec3d x = a.rows.target(i);
    const double scale = a.rows.scale;
    const int rule =
        rule_for(a, norm(x - scale * a.rows.centroid[panel]), scale * a.rows.radius[panel]);
    if (rule < 0)
      entries[k].v = NAN;
    else
      entries[k] = a.times_factors<Entry>(
          by_rule<Kernel>(a, rule, panel, x, a.normals[a.rows.targets.order[i]]));
  }
}

template <class Entry, class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    integrate_close_entries(const __grid_constant__ PairView a,
                            const __grid_constant__ CloseRules rules, PairEntries<Entry>* entries) {
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.rows.targets_of(row);
  const int n = size_of(targets);
  const std::int32_t* const panels = a.panels.panel + a.panels.begin[row];
  entries += a.rows.pairs_before[row];
  for_marked(
      a.rows.pairs_before[row + 1] - a.rows.pairs_before[row],
      [&](std::int64_t at) { return isnan(entries[at].v); },
      [&](std::int64_t at) {
        entries[at] = a.times_factors<Entry>(
            close_entries<Kernel>(a, rules, targets.x + at % n, panels[at / n]));
      });
}

template <class Entry>
__global__ void __launch_bounds__(threads_per_block)
    add_pairs(const __grid_constant__ NearRowsView a, const RowPanels of_rows,
              const PairEntries<Entry>* entries, const double* x, double* y) {
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.targets_of(row);
  const int n = size_of(targets);
  const std::int32_t* const panels = of_rows.panel + of_rows.begin[row];
  const auto count = static_cast<int>(of_rows.begin[row + 1] - of_rows.begin[row]);
  entries += a.pairs_before[row];
  for_chunks_of_targets(a, [&](const Share& share, int number) {
    const PairEntries<Entry>* const block = entries + (number - targets.x);
    double sum[2] = {};
    for (int j = share.works ? share.group : count; j < count; j += share.groups) {
      const PairEntries<Entry> pair = block[static_cast<std::int64_t>(j) * n];
      const double sigma = x[panels[j]], mu = x[a.panels + panels[j]];
      sum[0] += static_cast<double>(pair.v) * sigma + static_cast<double>(pair.k) * mu;
      sum[1] += static_cast<double>(pair.k_adjoint) * sigma + static_cast<double>(pair.d) * mu;
    }
    write_sums<2, threads_per_block>(share, sum, [&](int result, double total) {
      y[result * a.targets.count + a.targets.order[number]] += total;
    });
  });
}

/// Columns of pairs that a warp takes at a time: a pair has several entries.
constexpr int pair_columns = 4;

/// x_0 += v y_0 + k' y_1, x_1 += k y_0 + d y_1 of each panel: a block for each box with sources of
/// its own.
template <class Entry>
__global__ void __launch_bounds__(column_threads)
    add_pairs_transposed(const __grid_constant__ NearRowsView a, const PairEntries<Entry>* entries,
                         const __grid_constant__ NearTilesView near, const double* y, double* x) {
  multiply_columns<pair_columns, 2>(
      a, entries, near,
      [&](std::int32_t target) {
        return double2{y[target], y[a.targets.count + target]};
      },
      [](double(&sum)[2], double2 of, const PairEntries<Entry>& pair) {
        sum[0] += static_cast<double>(pair.v) * of.x + static_cast<double>(pair.k_adjoint) * of.y;
        sum[1] += static_cast<double>(pair.k) * of.x + static_cast<double>(pair.d) * of.y;
      },
      [&](std::int32_t source, const double(&sum)[2]) {
        x[source] += sum[0];
        x[a.panels + source] += sum[1];
      });
}

template <class Entry>
class StoredPairs final : public PairNearField {
 public:
  StoredPairs(const PanelStore& panels, const SpreadTree& tree, double kappa, cudaStream_t stream)
      : rows_(static_cast<unsigned>(tree.rows())),
        view_(rows_of(panels, tree, {Trace::value, kappa})),
        panels_(view_, rows_, stream),
        entries_(tree.near.pairs, stream) {}

  template <class Kernel>
  void integrate(const Vec3d* normals, const GreenTerm& term, double tolerance,
                 cudaStream_t stream) {
    const MomentRules rules(tolerance, Kernel::integrand, view_.kernel.kappa, stream);
    const PairView view{
        view_,
        rules.view(),
        of_rows(),
        normals,
        {term.kappa, term.v / view_.scale, term.k, term.k_adjoint, term.d * view_.scale}};
    launch(integrate_by_rules<Entry, Kernel>, rows_, threads_per_block, 0, stream, view,
           entries_.data());
    launch(integrate_close_entries<Entry, Kernel>, rows_, threads_per_block, 0, stream, view,
           CloseRules(tolerance), entries_.data());
  }
  void add(const double* x, double* y, cudaStream_t stream) const override {
    launch(add_pairs<Entry>, rows_, threads_per_block, 0, stream, view_, of_rows(), entries_.data(),
           x, y);
  }
  void add_transposed(const NearTilesView& near, const double* y, double* x,
                      cudaStream_t stream) const override {
    launch(add_pairs_transposed<Entry>, static_cast<unsigned>(near.n_boxes), column_threads, 0,
           stream, view_, entries_.data(), near, y, x);
  }
  std::int64_t bytes() const override { return entries_.bytes() + panels_.bytes(); }

 private:
  RowPanels of_rows() const { return {panels_.begin.data(), panels_.source.data()}; }

  unsigned rows_;
  NearRowsView view_;
  RowSources panels_;
  DeviceBuffer<PairEntries<Entry>> entries_;
};

template <class Entry>
std::unique_ptr<PairNearField> make_stored_pairs(const PanelStore& panels, const SpreadTree& tree,
                                                 const Vec3d* normals, const GreenTerm& term,
                                                 YukawaPart part, double tolerance,
                                                 cudaStream_t stream) {
  auto pairs = std::make_unique<StoredPairs<Entry>>(panels, tree, term.kappa, stream);
  if (part == YukawaPart::all)
    pairs->template integrate<WholeKernel>(normals, term, tolerance, stream);
  else
    pairs->template integrate<LessLaplace>(normals, term, tolerance, stream);
  return pairs;
}

}  // namespace

std::unique_ptr<PairNearField> make_pair_near_field(const PanelStore& panels,
                                                    const SpreadTree& tree, const Vec3d* normals,
                                                    const GreenTerm& term, YukawaPart part,
                                                    double tolerance, Precision precision,
                                                    cudaStream_t stream) {
  return precision == Precision::single_precision
             ? make_stored_pairs<float>(panels, tree, normals, term, part, tolerance, stream)
             : make_stored_pairs<double>(panels, tree, normals, term, part, tolerance, stream);
}

}  // namespace fmbem::cuda::bem
