#include "fmbem/bem/near/near_integrals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fmbem/fmm/cpu/kernels.hpp"

namespace fmbem {
namespace {

/// Targets that share a rule: two registers of the widest processors.
constexpr int group = 16;
/// The cost of a closed form, in pairs of a rule's point and a target: 100 ns against 0.35 ns.
constexpr double closed_form_pairs = 300;

}  // namespace

void IntegralTargets::clear() {
  for (auto* axis : {&x_, &y_, &z_}) axis->clear();
  count_ = 0;
}

void IntegralTargets::add(Vec3d point) {
  x_.push_back(point.x);
  y_.push_back(point.y);
  z_.push_back(point.z);
  ++count_;
}

void IntegralTargets::pad() {
  const int padded = fmm::whole_registers(fmm::cpu_kernels<double>(), count_);
  for (auto* axis : {&x_, &y_, &z_}) axis->resize(padded, axis->empty() ? 0.0 : axis->back());
}

NearIntegrals::NearIntegrals(double tolerance, FarKernel kernel, double kappa)
    : kernel_(kernel),
      root_terms_(tolerance >= 5e-8    ? 1
                  : tolerance >= 1e-11 ? 2
                                       : 3),
      kappa_(kappa),
      negligible_(std::log(10 / tolerance)),
      rules_(far_rules(tolerance, kernel)),
      reach2_(rules_.size()) {}

void NearIntegrals::find_reaches(double radius) {
  for (std::size_t k = 0; k < rules_.size(); ++k) {
    const double reach = kappa_ == 0 ? rules_[k].reach : rules_[k].reach_for(kappa_ * radius);
    reach2_[k] = reach * reach * (radius * radius);
  }
  const double beyond = radius + negligible_ / kappa_;
  beyond2_ = kappa_ == 0 ? std::numeric_limits<double>::infinity() : beyond * beyond;
}

void NearIntegrals::choose_rule(const double* distance2, int first, int count) {
  const auto serves = [&](std::size_t k, double d2) { return d2 >= reach2_[k] || d2 >= beyond2_; };
  rule_ = nullptr;
  const double nearest2 = *std::min_element(distance2, distance2 + count);
  if (nearest2 >= beyond2_) return;
  for (std::size_t k = 0; k < rules_.size(); ++k) {
    if (!serves(k, nearest2)) continue;
    rule_ = &rules_[k];
    return;
  }
  std::size_t chosen = rules_.size();
  double least = count * closed_form_pairs;
  for (std::size_t k = 0; k < rules_.size(); ++k) {
    const auto left_out =
        std::count_if(distance2, distance2 + count, [&](double d2) { return !serves(k, d2); });
    const double cost = static_cast<double>(left_out) * closed_form_pairs +
                        static_cast<double>(rules_[k].rule.weight.size()) * group;
    if (cost < least) {
      least = cost;
      chosen = k;
      rule_ = &rules_[k];
    }
  }
  for (int i = 0; i < count; ++i)
    if (rule_ ? !serves(chosen, distance2[i]) : distance2[i] < beyond2_)
      close_.push_back(first + i);
}

void NearIntegrals::place_points(const Triangle& t) {
  if (placed_ == rule_) return;
  placed_ = rule_;
  const TriangleRule& rule = rule_->rule;
  const std::size_t n = rule.weight.size();
  for (auto* column : {&x_, &y_, &z_, &weight_}) column->resize(n);
  const Vec3d e1 = t.vertex[1] - t.vertex[0], e2 = t.vertex[2] - t.vertex[0];
  const double scale = inv_4pi * t.area;
  for (std::size_t q = 0; q < n; ++q) {
    x_[q] = t.vertex[0].x + rule.xi[q] * e1.x + rule.eta[q] * e2.x;
    y_[q] = t.vertex[0].y + rule.xi[q] * e1.y + rule.eta[q] * e2.y;
    z_[q] = t.vertex[0].z + rule.xi[q] * e1.z + rule.eta[q] * e2.z;
    weight_[q] = scale * rule.weight[q];
  }
}

void NearIntegrals::integrate(const Triangle& t, const IntegralTargets& targets) {
  const int padded = targets.padded();
  const int columns = kernel_ == FarKernel::potential ? 1 : kernel_ == FarKernel::gradient ? 4 : 10;
  for (int k = 0; k < columns; ++k) values_[k].assign(padded, 0.0);
  distance2_.resize(padded);
  for (int i = 0; i < padded; ++i) {
    const double x = targets.x()[i] - t.centroid.x, y = targets.y()[i] - t.centroid.y,
                 z = targets.z()[i] - t.centroid.z;
    distance2_[i] = x * x + y * y + z * z;
  }
  close_.clear();
  placed_ = nullptr;
  find_reaches(t.radius);
  for (int first = 0; first < targets.count(); first += group) {
    const int count = std::min(group, targets.count() - first);
    choose_rule(distance2_.data() + first, first, count);
    if (!rule_) continue;
    place_points(t);
    fmm::with_kernel(kappa_, [&](auto kernel) { add_rule(kernel, targets, first, columns); });
  }
}

template <class Kernel>
void NearIntegrals::add_rule(const Kernel& kernel, const IntegralTargets& targets, int first,
                             int columns) {
  const auto values = [&](int k) { return k < columns ? values_[k].data() + first : nullptr; };
  const fmm::NearSources<double> points{static_cast<std::int64_t>(x_.size()),
                                        x_.data(),
                                        y_.data(),
                                        z_.data(),
                                        weight_.data(),
                                        nullptr,
                                        nullptr,
                                        nullptr};
  const double *x = targets.x() + first, *y = targets.y() + first, *z = targets.z() + first;
  const std::int64_t many = std::min(group, targets.padded() - first);
  const auto& kernels = fmm::pair_kernels<double, Kernel>();
  kernels.near(kernel, 1, root_terms_, points,
               {many, x, y, z, values(0), values(1), values(2), values(3), nullptr});
  if (kernel_ != FarKernel::hessian) return;
  fmm::HessianTargets second{many, x, y, z, {}};
  for (int entry = 0; entry < 6; ++entry) second.entry[entry] = values(4 + entry);
  kernels.near_hessian(kernel, points, second);
}

}  // namespace fmbem
