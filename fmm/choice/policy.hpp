#pragma once

#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/tree/morton_bits.hpp"

namespace fmbem::fmm {

/// What an evaluation computes with, whatever its tree.
struct Accuracy {
  int order = 0;                                           ///< degree p of the expansions
  Precision precision = Precision::double_precision;       ///< of the expansions
  Precision near_precision = Precision::double_precision;  ///< of the near field
  int root_terms = 3;                                      ///< as root_terms()
  double kappa = 0;                                        ///< as PlanOptions
  /// Pairs so far apart, times κ, are left out: e^{−κr} is below all errors.
  double reach = 0;
  Method method = Method::fmm;  ///< as PlanOptions, but never automatic
  double theta = 0, softening = 0;
  Expansion expansion = Expansion::spherical;  ///< of M2P
};

/// κr beyond which pairs are left out, as e^{−κr} is below all errors.
double kappa_reach(double tolerance);

/// θ where the options give none: of a hybrid √3/2, so that boxes of one level that do not touch
/// are far from each other.
constexpr double default_theta(Method method) { return method == Method::hybrid ? 0.8660254 : 0.5; }
/// The largest θ for which orders are known.
constexpr double largest_sure_theta(Method method) { return method == Method::hybrid ? 0.87 : 0.8; }

/// κ in the unit of a tree, of which a length is `scale` times the caller's: at most 1e60, with
/// which e^{−κr} is 0 for all that is farther than 1e-57 of the extent, as with any larger one. Its
/// cube and its product with powers of 1/r stay in the range of numbers; infinities times 0 would
/// be NaN.
double kernel_kappa(double kappa, double scale);
/// How far apart pairs are that count, in that unit: `reach` is as Accuracy has it. Of Laplace's
/// kernel endless.
double kernel_reach(double kappa, double reach, double scale);

/// Plummer's ε in that unit. It is more than check_softening() allows where all points are at one
/// place, so that no pair acts; its square stays in the range of numbers.
double kernel_softening(double softening, double scale);

/// The largest θ of a treecode with which the highest order meets the tolerance.
double theta_of_highest_order(const PlanOptions& options, bool sources_are_targets);

/// What is known of the points when the order is chosen.
struct Cloud {
  double gradient_over_far = 0;  ///< as gradient_over_far(), or 0
  double branching = 8;          ///< as TreeChoice
  bool few_places = false;       ///< many points, as is_crowded()
  bool on_lattice = false;       ///< as is_on_lattice()
  double nearest = 0;            ///< as nearest_pair() or nearest_other(), in the caller's unit
};

/// Whether M2L has the FMM's pairs of boxes, so that the orders are the FMM's, too.
bool has_pairs_of_fmm(const PlanOptions& options);

/// Whether the order depends on Cloud::branching.
bool weighs_branching(const PlanOptions& options, bool sources_are_targets);

/// The accuracy of plans on the CPU: by the tolerance where the options do not say.
Accuracy accuracy_for(const PlanOptions& options, bool sources_are_targets, const Cloud& cloud);

/// Whether e^{−κ nearest} and its products leave little of the range of single precision.
inline bool leaves_range_of_single(double kappa, double nearest) { return kappa * nearest > 10; }

/// Whether single precision would show in sums across a gap.
inline bool needs_double_apart(double nearest, double tolerance) {
  return nearest > 0 && tolerance < 0.99e-5;
}

/// What it is with points in that hull, whose nearest pair is so far apart, in their unit. Results
/// then are e^{−κ nearest}, too, and pairs are left out that far later.
Accuracy accuracy_at(const Accuracy& accuracy, const Cube& hull, double nearest);

/// The lowest order whose calibrated error (docs/accuracy.md) is below the tolerance. An FMM, and a
/// hybrid with its pairs, need a lower one where gradients are large beside the far field, and on
/// surfaces.
int order_for(const PlanOptions& options, bool sources_are_targets, const Cloud& cloud = {});

/// What the options say, or what is faster at that order. Throws InputError for Cartesian
/// expansions of an order that they do not have.
Expansion expansion_for(const PlanOptions& options, int order);

/// Single where the tolerance allows it, unless the options say otherwise. Sums of expansions in
/// single precision are off by some 4e-7 of the far field. A tolerance near 1e-6 allows that only
/// where there is a near field besides, as there is where the sources are the targets. Second
/// derivatives lose more.
Precision precision_of(const PlanOptions& options, bool sources_are_targets);
/// Double for gradients below 1e-6 and for anything with dipoles below 1e-5: they need more digits
/// of the near field than single precision has. So do gradients with e^{−κr}, which multiplies the
/// rounding of r by κr, below 1e-5.
Precision near_precision_of(const PlanOptions& options);

/// Terms of the series for 1/r that the near field needs: 0 for 1e-4, 1 for 1e-8, 2 for 1e-12, 3
/// for all bits.
int root_terms(const PlanOptions& options);
}  // namespace fmbem::fmm
