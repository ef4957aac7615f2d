#include "fmbem/fmm/choice/policy.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/choice/search.hpp"
#include "fmbem/fmm/expansion/cartesian.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/lists/hybrid_lists.hpp"
#include "fmbem/fmm/lists/reach.hpp"

namespace fmbem::fmm {
namespace {

/// Relative L2 errors of order 1, 2, …, of the potential of charges; and of gradients or of the
/// potential of dipoles, which agree. Each is the worst of a cube, a sphere, a Plummer sphere and a
/// graded ellipsoid of 100,000 points with charges of mixed sign (docs/accuracy.md), with the same
/// order of M2L for all boxes; m2l_order() adds up to 40 % from order 14 on.
constexpr double potential_errors[] = {
    3.9e-2,  1.0e-2,  3.0e-3,  7.1e-4,  2.5e-4,  8.6e-5,  3.1e-5,  1.0e-5,  3.6e-6,  1.4e-6,
    5.3e-7,  2.1e-7,  7.3e-8,  3.0e-8,  1.0e-8,  4.3e-9,  1.7e-9,  6.5e-10, 2.6e-10, 1.0e-10,
    4.2e-11, 1.8e-11, 8.1e-12, 5.2e-12, 3.0e-12, 1.8e-12, 1.0e-12, 5.5e-13};
constexpr double derivative_errors[] = {
    4.1e-2,  1.3e-2,  4.1e-3,  1.1e-3,  3.9e-4,  1.6e-4,  5.8e-5,  2.3e-5, 9.1e-6,  3.7e-6,
    1.5e-6,  5.8e-7,  2.4e-7,  9.4e-8,  3.8e-8,  1.5e-8,  7.0e-9,  1.8e-9, 7.6e-10, 3.2e-10,
    1.4e-10, 5.9e-11, 2.7e-11, 1.3e-11, 7.5e-12, 4.4e-12, 2.2e-12, 1.1e-12};
/// The part of the tolerance that the table's error may take, by what is asked for: gradient or
/// dipoles, both, second derivatives, those of dipoles. The table's points have close pairs, whose
/// large derivatives hide the far field's error. A lattice has none; and where targets are not the
/// sources none may be near at all, so that the far field is everything.
constexpr double safety[] = {0.6, 0.25, 0.04, 0.02, 0.005},
                 safety_apart[] = {0.2, 0.03, 0.008, 0.001, 0.0003};

/// Errors of potentials with Yukawa's kernel over those of the table, κ times the side of the cloud
/// from 3 to 60: up to 2.0 at orders 5 to 11 and 2.6 beyond, as what is far adds to the errors as
/// before, and less to the potentials.
constexpr double safety_of_screened = 0.63;

/// Gradients of a million points of a lattice are off by 3.7 times the table's error at order 7,
/// and by 6.4 times from order 13 on. So above order 8 less of the tolerance is taken, and of
/// lattices at all orders.
constexpr int low_order = 8;
constexpr double safety_of_high_orders = 0.14;
/// The part of the tolerance that lattices get with given leaves, whose far field may be a larger
/// part of the whole: gradients were off by up to 3.7 times the tolerance. Below 1e-8 they get it
/// with any leaves: of 53 lattices up to 5 had gradients of up to 4.4 times 1e-9, 1e-10 and 1e-11.
constexpr double safety_of_lattices = 0.2, sure_tolerance = 0.99e-8;

/// Errors of gradients over those of the table, where gradients are in units of the far field
/// (gradient_over_far()): 40 to 118 of points in volumes, 15 to 40 on surfaces, 1 to 8 on lines.
constexpr double gradient_error_of_far = 120;

/// Errors of potentials on surfaces over those of the table, up to the order from which on farther
/// boxes get a lower one: 0.3 to 0.4 on spheres and sides of a cube, 0.45 to 0.74 on planes, tilted
/// or with a lattice; with Yukawa's kernel, beside safety_of_screened, up to 1.2. Beyond that order
/// they are up to 1.3 (docs/decisions.md).
constexpr double error_on_surfaces = 0.65;
constexpr int highest_order_on_surfaces = 13;

/// Errors of orders 4, 7, 10, … where all points are at corners of boxes that have nothing near,
/// relative to potentials and to gradients: twice or three times those of lattices of 3 places an
/// axis with many points in each (docs/decisions.md).
constexpr int first_corner_order = 4, corner_order_step = 3;
constexpr double corner_potential_errors[] = {3e-2,   2e-3, 4e-5,  4e-6,  9e-7,  2e-7,   6e-8,
                                              1.2e-8, 3e-9, 8e-10, 2e-10, 5e-11, 1.2e-11},
                 corner_derivative_errors[] = {1.5e-1, 2.5e-2, 1.3e-3, 1.6e-4, 3.3e-5, 1.3e-5, 4e-6,
                                               1.1e-6, 3.5e-7, 1.1e-7, 3.3e-8, 1e-8,   3e-9};
/// What errors of treecodes are over those of random points there, at most.
constexpr double corners_of_treecodes = 600;

/// The lowest order of the table with that error.
int table_order(std::span<const double> errors, double wanted) {
  const auto enough =
      std::find_if(errors.begin(), errors.end(), [&](double error) { return error <= wanted; });
  const int order = 1 + static_cast<int>(enough - errors.begin());
  if (enough != errors.end()) return order;
  // Beyond the table the error falls by 2 an order, or faster.
  const double more = std::log2(errors.back() / wanted);
  return std::min(order + static_cast<int>(more), highest_order);
}

/// The lowest order of an FMM or a hybrid with that error at corners, or the highest there is.
int corner_order(bool derivatives, double wanted) {
  const std::span<const double> errors = derivatives
                                             ? std::span<const double>(corner_derivative_errors)
                                             : std::span<const double>(corner_potential_errors);
  const auto enough =
      std::find_if(errors.begin(), errors.end(), [&](double error) { return error <= wanted; });
  return std::min(
      first_corner_order + corner_order_step * static_cast<int>(enough - errors.begin()),
      highest_order);
}

/// The order of potentials where the sources are the targets.
int potential_order(double tolerance, bool on_surfaces) {
  const double wanted = safety[0] * tolerance;
  const int order = table_order(potential_errors, wanted),
            lower = table_order(potential_errors, wanted / error_on_surfaces);
  return on_surfaces && lower <= highest_order_on_surfaces ? lower : order;
}

/// The lowest order of a treecode with that error, or the highest there is. Errors of potentials of
/// a cube, a sphere and a Plummer sphere, with θ from 0.3 to 0.8, are at most a twentieth of
/// c^(p+1), c = θ/(2 − θ) being r_s/(R − r_t) of boxes of equal size (docs/papers.md).
int treecode_order(const PlanOptions& options, double wanted) {
  const double theta = options.theta.value_or(default_theta(options.method));
  if (theta > largest_sure_theta(options.method)) return highest_order;  // an order is given
  const double order = std::ceil(std::log(20 * wanted) / std::log(theta / (2 - theta))) - 1;
  return static_cast<int>(std::clamp<double>(order, 1, highest_order));
}

/// Gradients, dipoles and second derivatives that a plan is for.
int derivatives_of(const PlanOptions& options) {
  return (options.hessian ? 3 : options.gradient) + options.dipoles;
}
/// The part of the tolerance that the error of an order may take.
double safety_of(const PlanOptions& options, bool sources_are_targets) {
  return (sources_are_targets ? safety : safety_apart)[derivatives_of(options)];
}

}  // namespace

bool has_pairs_of_fmm(const PlanOptions& options) {
  if (options.method == Method::hybrid)
    return options.theta.value_or(default_theta(options.method)) >= theta_of_blocks;
  return options.method == Method::fmm || options.method == Method::automatic;
}

double theta_of_highest_order(const PlanOptions& options, bool sources_are_targets) {
  const double wanted = safety_of(options, sources_are_targets) * options.tolerance,
               c = std::pow(20 * wanted, 1.0 / (highest_order + 1));
  return std::min(2 * c / (1 + c), largest_sure_theta(Method::treecode));
}

double kappa_reach(double tolerance) { return std::log(10 / tolerance); }

double kernel_kappa(double kappa, double scale) { return std::min(kappa / scale, 1e60); }

double kernel_reach(double kappa, double reach, double scale) {
  return kappa == 0 ? endless : reach / kernel_kappa(kappa, scale);
}

double kernel_softening(double softening, double scale) { return std::min(scale * softening, 1e3); }

Accuracy accuracy_at(const Accuracy& accuracy, const Cube& hull, double nearest) {
  Accuracy result = accuracy;
  if (nearest > 0) {
    const double tolerance = 10 * std::exp(-accuracy.reach);
    result.reach += accuracy.kappa * nearest;
    if (leaves_range_of_single(accuracy.kappa, nearest))
      result.precision = result.near_precision = Precision::double_precision;
    // e^{−κr} multiplies by κ the errors of r, of its root and of its rounding.
    constexpr double root_errors[] = {1e-4, 1e-8, 1e-12, 0};
    while (accuracy.kappa * nearest * root_errors[result.root_terms] > 0.1 * tolerance)
      ++result.root_terms;
    // Sums of charges of mixed sign are small beside their terms there.
    if (accuracy.kappa * hull.side > 5e6 * tolerance || needs_double_apart(nearest, tolerance))
      result.near_precision = Precision::double_precision;
  }
  // (κr)² would leave the range of single precision.
  if (accuracy.kappa * hull.side > 1e15) result.near_precision = Precision::double_precision;
  return result;
}

bool weighs_branching(const PlanOptions& options, bool sources_are_targets) {
  return sources_are_targets && !options.order && !options.dipoles && !options.hessian &&
         has_pairs_of_fmm(options);
}

Accuracy accuracy_for(const PlanOptions& options, bool sources_are_targets, const Cloud& cloud) {
  const bool treecode = options.method == Method::treecode;
  const int order = order_for(options, sources_are_targets, cloud);
  return {order,
          precision_of(options, sources_are_targets),
          treecode ? Precision::double_precision : near_precision_of(options),
          root_terms(options),
          options.kappa,
          kappa_reach(options.tolerance),
          options.method,
          options.theta.value_or(default_theta(options.method)),
          options.softening,
          expansion_for(options, order)};
}

Expansion expansion_for(const PlanOptions& options, int order) {
  FMBEM_REQUIRE(options.expansion != Expansion::cartesian || order <= highest_cartesian_order,
                "Cartesian expansions have orders up to "
                    << highest_cartesian_order << ", but " << order
                    << " is asked for or needed: give a lower order or a looser tolerance, or take "
                       "spherical ones");
  const bool has_cartesian = order <= highest_cartesian_order && options.kappa == 0;
  return options.expansion.value_or(has_cartesian ? Expansion::cartesian : Expansion::spherical);
}

int order_for(const PlanOptions& options, bool sources_are_targets, const Cloud& cloud) {
  if (options.order) return *options.order;
  const int derivatives = derivatives_of(options);
  const std::span<const double> errors = derivatives > 0
                                             ? std::span<const double>(derivative_errors)
                                             : std::span<const double>(potential_errors);
  const bool keeps_more =
      cloud.on_lattice && (options.max_leaf || options.tolerance < sure_tolerance);
  const double tolerance = (keeps_more ? safety_of_lattices : 1) * options.tolerance,
               wanted = safety_of(options, sources_are_targets) * tolerance;
  if (options.method == Method::treecode)
    return treecode_order(options, cloud.few_places ? wanted / corners_of_treecodes : wanted);
  if (cloud.few_places)
    return std::max(order_for(options, sources_are_targets),
                    corner_order(derivatives > 0, derivatives > 1 ? wanted : tolerance));
  // Where all points are apart, nothing near hides what the far field lacks.
  const bool has_near = cloud.nearest == 0;
  const int of_potentials =
      potential_order((options.kappa > 0 ? safety_of_screened : 1) * tolerance,
                      has_near && weighs_branching(options, sources_are_targets) &&
                          cloud.branching < branching_of_volumes);
  int order = sources_are_targets && derivatives == 0 ? of_potentials : table_order(errors, wanted);
  if (sources_are_targets && derivatives == 1 && (order > low_order || cloud.on_lattice))
    order = table_order(errors, safety_of_high_orders * tolerance);
  // Both expansions of M2L end, a treecode's alone acts; and farther boxes are never worse.
  if (options.method == Method::hybrid && !has_pairs_of_fmm(options))
    return std::min(order, treecode_order(options, wanted) + 1);
  if (cloud.gradient_over_far == 0 || !has_near) return order;
  const double of_gradient = cloud.gradient_over_far / gradient_error_of_far * tolerance;
  return std::min(order, std::max(of_potentials, table_order(errors, of_gradient)));
}

Precision precision_of(const PlanOptions& options, bool sources_are_targets) {
  const double least = options.hessian                           ? 1e-4
                       : sources_are_targets && !options.dipoles ? 1e-6
                                                                 : 5e-6;
  return options.precision.value_or(options.tolerance >= least ? Precision::single_precision
                                                               : Precision::double_precision);
}

Precision near_precision_of(const PlanOptions& options) {
  const double least = options.dipoles || (options.kappa > 0 && options.gradient) ? 1e-5 : 1e-6;
  if ((options.gradient || options.dipoles) && options.tolerance < least)
    return Precision::double_precision;
  return options.precision.value_or(options.tolerance >= least ? Precision::single_precision
                                                               : Precision::double_precision);
}

int root_terms(const PlanOptions& options) {
  const double coarse = options.gradient || options.dipoles ? 3e-4 : 1e-4;
  return options.tolerance >= coarse  ? 0
         : options.tolerance >= 1e-6  ? 1
         : options.tolerance >= 1e-12 ? 2
                                      : 3;
}

}  // namespace fmbem::fmm
