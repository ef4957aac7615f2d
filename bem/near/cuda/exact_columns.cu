// Entries of dense matrices: by rules of all digits where these serve, close by by closed forms.
#include <cmath>

#include "fmbem/bem/near/cuda/close_integral.cuh"
#include "fmbem/bem/near/cuda/exact_columns.cuh"
#include "fmbem/bem/near/cuda/panel_integral.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Relative error of rules and closed forms, as of the host's exact integrals.
constexpr double exact_tolerance = 1e-13;

/// Lengths are the panels' times `scale`, a power of two, so that no square leaves the range of
/// numbers.
struct ExactPanels {
  const Vec3d* vertices;           ///< [columns][3]
  const Vec3d* target;             ///< [rows]
  const std::int32_t* own_source;  ///< [rows], as SpreadTree::own_source, or null
  std::int64_t rows, columns;
  double scale, kappa;  ///< κ in the unit of lengths here
  MomentRulesView rules;
  CloseRules close;
};

/// V or K of Yukawa's kernel, as the host has it: slivers are cut until a rule serves or the pieces
/// are well shaped.
template <Trace source>
__device__ inline double exact_screened(const ExactPanels& a, const Triangle& t, Vec3d x) {
  constexpr bool is_charge = source == Trace::value;
  const NearYukawa<double> kernel(fmm::Yukawa{a.kappa});
  double sum = 0;
  const auto add_by_rule = [&](const Piece& piece, double distance2, double radius2) {
    const int rule =
        rule_for<fmm::Yukawa>(a.rules, a.rules.count, a.kappa, sqrt(radius2), distance2);
    if (rule >= 0)
      sum += potential_by_rule(a.rules, rule, kernel, piece, t.normal, is_charge, !is_charge);
    return rule >= 0;
  };
  const Piece whole = seen_from(t, x);
  if (add_by_rule(whole, norm2(t.centroid - x), t.radius * t.radius)) return sum;
  const auto add_closed = [&](const Triangle& part, Vec3d from) {
    const OfBoth<double> both = closed_yukawa(a.close.edges, part, from, a.kappa);
    sum += is_charge ? both.v : both.k;
  };
  if (shape(t) > well_shaped)
    add_closed(t, x);
  else
    for_sliver_pieces(whole, add_by_rule, [&](const Triangle& part) { add_closed(part, {}); });
  return sum;
}

template <Trace source, class Kernel>
__device__ inline double exact_entry(const ExactPanels& a, std::int64_t i, std::int64_t j) {
  constexpr bool is_charge = source == Trace::value;
  // K of a flat panel with itself: the mean of both sides, one of which rounding puts it on.
  if (!is_charge && (a.own_source ? a.own_source[i] : i) == j) return 0;
  const Vec3d* const v = a.vertices + 3 * j;
  const Triangle t = make_triangle(a.scale * v[0], a.scale * v[1], a.scale * v[2]);
  const Vec3d x = a.scale * a.target[i];
  if constexpr (!Kernel::homogeneous) return exact_screened<source>(a, t, x);
  // The solid angle loses nothing far away.
  if constexpr (is_charge) {
    const int rule =
        rule_for<fmm::Laplace>(a.rules, a.rules.count, 0, t.radius, norm2(t.centroid - x));
    if (rule >= 0)
      return potential_by_rule(a.rules, rule, fmm::Laplace(), seen_from(t, x), t.normal, 1, 0);
  }
  return close_integral<source, Kernel>(a.close, t, x, a.kappa);
}

/// V is a length.
template <Trace source, class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    integrate_columns(const __grid_constant__ ExactPanels a, Columns columns, double* entries) {
  const std::int64_t k = thread_index(), length = columns.transposed ? a.columns : a.rows,
                     column = columns.begin + k / length, row = k % length;
  if (column >= columns.end) return;
  const double entry = columns.transposed ? exact_entry<source, Kernel>(a, column, row)
                                          : exact_entry<source, Kernel>(a, row, column);
  entries[k] = source == Trace::value ? entry / a.scale : entry;
}

}  // namespace

void exact_columns(const BlockPanels& panels, const PanelKernel& kernel, const Columns& columns,
                   double* entries, cudaStream_t stream) {
  const double scale = std::ldexp(1.0, -std::ilogb(panels.all->extent)),
               kappa = kernel.kappa / scale;
  const MomentRules rules(exact_tolerance, PanelKernel{kernel.source, kappa}, stream);  // waits
  const ExactPanels a{panels.sources->vertices.data(),
                      panels.targets().data(),
                      panels.own_source.data(),
                      static_cast<std::int64_t>(panels.rows()),
                      static_cast<std::int64_t>(panels.columns()),
                      scale,
                      kappa,
                      rules.view(),
                      CloseRules(exact_tolerance)};
  const std::int64_t count = columns.count() * (columns.transposed ? a.columns : a.rows);
  with_trace(kernel.source, [&]<Trace source>(std::integral_constant<Trace, source>) {
    fmm::with_kernel(kappa, [&]<class Kernel>(const Kernel&) {
      launch(integrate_columns<source, Kernel>, blocks_for(count), threads_per_block, 0, stream, a,
             columns, entries);
    });
  });
}

}  // namespace fmbem::cuda::bem
