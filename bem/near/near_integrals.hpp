#pragma once

#include <array>
#include <vector>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/near/far_rules.hpp"

namespace fmbem {

/// Some points at which integrals are wanted, as a structure of arrays.
class IntegralTargets {
 public:
  void clear();
  void add(Vec3d point);
  /// Pads to whole registers with copies of the last point.
  void pad();

  int count() const { return count_; }
  int padded() const { return static_cast<int>(x_.size()); }
  Vec3d operator[](int i) const { return {x_[i], y_[i], z_[i]}; }
  const double* x() const { return x_.data(); }
  const double* y() const { return y_.data(); }
  const double* z() const { return z_.data(); }

 private:
  std::vector<double> x_, y_, z_;
  int count_ = 0;
};

/// Integrals over one panel at many points by quadrature, each with the cheapest rule that is
/// accurate there. Some points are left to the closed forms: those that are too close for any rule,
/// and those that are so close that a rule good enough for them would have to be used for all
/// points. Holds a thread's buffers.
class NearIntegrals {
 public:
  /// `tolerance`: relative error of each integral. With κ > 0 the kernel is Yukawa's; integrals
  /// that are below the tolerance times what they would be close by are 0.
  NearIntegrals(double tolerance, FarKernel kernel, double kappa = 0);

  /// Integrates at all targets but those in close(), whose values are meaningless.
  void integrate(const Triangle& t, const IntegralTargets& targets);

  /// 1/(4π) ∫_T 1/|x_i − y| dS_y, [targets]
  const std::vector<double>& potential() const { return values_[0]; }
  /// Its gradient in x_i along an axis; not with FarKernel::potential.
  const std::vector<double>& gradient(int axis) const { return values_[1 + axis]; }
  /// Its second derivatives, entries of Symmetric3; with FarKernel::hessian alone.
  const std::vector<double>& hessian(int entry) const { return values_[4 + entry]; }
  /// Sets what target i has to 0.
  void clear(int i) {
    for (auto& column : values_)
      if (!column.empty()) column[i] = 0;
  }
  /// Targets that are left to the closed forms.
  const std::vector<int>& close() const { return close_; }

 private:
  void choose_rule(const double* distance2, int first, int count);
  void find_reaches(double radius);
  template <class Kernel>
  void add_rule(const Kernel& kernel, const IntegralTargets& targets, int first, int columns);
  void place_points(const Triangle& t);

  FarKernel kernel_;
  int root_terms_;
  double kappa_;
  double negligible_;  ///< κr from which on integrals do not count
  std::vector<FarRule> rules_;
  std::vector<double> reach2_;  ///< of the rules for the panel, squared distances
  double beyond2_;              ///< from there on integrals are 0
  std::array<std::vector<double>, 10> values_;
  std::vector<double> distance2_;
  std::vector<int> close_;
  const FarRule* rule_ = nullptr;    ///< that serves some targets; null where none is needed
  const FarRule* placed_ = nullptr;  ///< whose points these are
  std::vector<double> x_, y_, z_, weight_;
};

}  // namespace fmbem
