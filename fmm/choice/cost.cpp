#include "fmbem/fmm/choice/cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/expansion/m2l_blocks.hpp"

namespace fmbem::fmm {
namespace {

/// What the near field costs beside its pairs, in pairs of the fastest kernel: for each source near
/// to a leaf (bringing it there, taking its sums back), and for each box of such sources. Without
/// Newton's third law it is twice as much, as each source is brought to twice as many leaves.
/// Fitted, like the constants below, to times of a million points in leaves of 20 to 640
/// (docs/decisions.md).
constexpr double pairs_of_a_source = 11, pairs_of_a_box = 220, with_gradients = 1.8;
/// A pair of Yukawa's kernel, with its e^{−κr}, in pairs of Laplace's: in single and in double
/// precision, where the exponential has more terms.
constexpr double laplace_pairs_of_yukawa = 1.7, laplace_pairs_of_yukawa_in_double = 2.2;
/// The time of M2L's products over that of the kernel alone; and what else a row costs, counted in
/// numbers that go through a butterfly.
constexpr double product_overhead = 1.1, numbers_of_a_row = 60;

/// The time of M2P by monomials over that by harmonics: 0.57 to 0.61 at orders 3 and 6.
constexpr double cartesian_part = 0.6;
/// The time of M2P and of P2L of Yukawa's kernel over that of Laplace's: 1.25 to 1.6, the less the
/// higher the order, and 1.05 to 1.5.
constexpr double laplace_m2p_of_yukawa = 1.4, laplace_p2l_of_yukawa = 1.2;

double laplace_pairs_per_second(const PlanOptions& options, bool sources_are_targets) {
  const Precision precision = near_precision_of(options);
  const ThreadRates& r = machine_rates().of(precision);
  const bool exact = root_terms(options) > (precision == Precision::single_precision ? 0 : 1);
  if (options.dipoles)  // some half as many operations again
    return (options.gradient ? r.near_gradient_exact : r.near_potential_exact) / 1.5;
  if (sources_are_targets)
    return options.gradient ? (exact ? r.mutual_gradient_exact : r.mutual_gradient)
                            : (exact ? r.mutual_potential_exact : r.mutual_potential);
  return options.gradient ? (exact ? r.near_gradient_exact : r.near_gradient)
                          : (exact ? r.near_potential_exact : r.near_potential);
}

}  // namespace

double near_pairs_per_second(const PlanOptions& options, bool sources_are_targets) {
  const double laplace = laplace_pairs_per_second(options, sources_are_targets);
  if (options.kappa == 0) return laplace;
  return laplace / (near_precision_of(options) == Precision::single_precision
                        ? laplace_pairs_of_yukawa
                        : laplace_pairs_of_yukawa_in_double);
}

double m2p_pairs_per_second(const PlanOptions& options, int order) {
  const ThreadRates& rates = machine_rates().of(precision_of(options, false));
  const double part = (expansion_for(options, order) == Expansion::cartesian ? cartesian_part : 1) *
                      (options.kappa > 0 ? laplace_m2p_of_yukawa : 1);
  return (options.gradient ? rates.m2p_gradient : rates.m2p) /
         (part * (harmonic_count(order) + work_of_a_box));
}

CostModel::CostModel(const PlanOptions& options, bool sources_are_targets, int order, double weight)
    : weight_(weight) {
  const ThreadRates& rates = machine_rates().of(precision_of(options, sources_are_targets));
  const double count = harmonic_count(order);
  pair_ = 1 / near_pairs_per_second(options, sources_are_targets);
  if (options.hessian)  // a pass of its own, of some twice a gradient's operations
    pair_ += 2 / machine_rates().of(Precision::double_precision).near_gradient_exact;
  const double unit = (options.gradient ? with_gradients : 1) * (sources_are_targets ? 1 : 2) /
                      machine_rates().of(Precision::single_precision).mutual_potential;
  near_source_ = pairs_of_a_source * unit;
  near_box_ = pairs_of_a_box * unit;
  row_ = product_overhead * m2l_row_operations(order, m2l_orders(sources_are_targets)) /
             rates.product_at(order) +
         8 * (count + numbers_of_a_row) / rates.butterfly;
  point_ = ((options.gradient ? 2.5 : 1) + (options.hessian ? 3 : 0)) * count / rates.points;
  m2l_pair_ = 2 * count * count * rates.product_at(order_of_hybrids) /
              (rates.displaced * rates.product_at(order));
  lanes_ = precision_of(options, sources_are_targets) == Precision::single_precision
               ? cpu_kernels<float>().lanes
               : cpu_kernels<double>().lanes;
  m2p_target_ = 1 / m2p_pairs_per_second(options, order);
  // Local expansions take charges alone.
  p2l_source_ = options.dipoles ? std::numeric_limits<double>::infinity()
                                : (options.kappa > 0 ? laplace_p2l_of_yukawa : 1) *
                                      (count + work_of_a_box) / rates.p2l;
  PlanOptions in_double = options;  // as pairs are that integers do not hold
  in_double.precision = Precision::double_precision;
  far_pair_ = 1 / near_pairs_per_second(in_double, sources_are_targets) -
              1 / near_pairs_per_second(options, sources_are_targets);
  // M2M and L2L of a child, and what P2M and L2P cost for a leaf beside its points.
  box_ = 4 * count * count / 8 / rates.product_at(order) + 8 * count / rates.butterfly +
         8 * count / rates.points;
}

double CostModel::far_seconds(const TreeWork& work) const {
  return row_ * work.m2l_rows + box_ * work.expansions +
         (work.has_far ? point_ * weight_ * work.points : 0);
}

double CostModel::near_seconds(const TreeWork& work) const {
  return pair_ * weight_ * weight_ * work.near_pairs + near_source_ * weight_ * work.near_sources +
         near_box_ * work.near_boxes;
}

double CostModel::direct_seconds(std::size_t sources, std::size_t targets) const {
  return pair_ * static_cast<double>(sources) * static_cast<double>(targets);
}

HybridCosts CostModel::hybrid_costs() const {
  return {.pair = weight_ * weight_ * pair_,
          .near_source = weight_ * near_source_,
          .near_box = near_box_,
          .far_pair = weight_ * weight_ * far_pair_,
          .m2l_row = row_,
          .m2l_pair = m2l_pair_,
          .m2p_target = weight_ * m2p_target_,
          .p2l_source = weight_ * p2l_source_,
          .lanes = std::max(1, static_cast<int>(lanes_ / weight_)),
          .box = box_};
}

double CostModel::balanced_leaf() const {
  // In uniformly filled space a leaf of n points has 27 n² pairs, and an eighth of its parent's 26
  // rows.
  return std::max(8.0, std::sqrt(26.0 / 8 * row_ / (27 * pair_)));
}

}  // namespace fmbem::fmm
