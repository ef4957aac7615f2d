#include "fmbem/bem/near/near_integrals.hpp"

#include <algorithm>

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

NearIntegrals::NearIntegrals(double tolerance, FarKernel kernel)
    : kernel_(kernel),
      root_terms_(tolerance >= 5e-8    ? 1
                  : tolerance >= 1e-11 ? 2
                                       : 3),
      rules_(far_rules(tolerance, kernel)) {}

void NearIntegrals::choose_rule(const double* distance2, int first, int count, double radius2) {
  const auto serves = [&](const FarRule& far, double d2) {
    return d2 >= far.reach * far.reach * radius2;
  };
  const double nearest2 = *std::min_element(distance2, distance2 + count);
  const auto enough = std::find_if(rules_.begin(), rules_.end(),
                                   [&](const FarRule& far) { return serves(far, nearest2); });
  if (enough != rules_.end()) {
    rule_ = &*enough;
    return;
  }
  rule_ = nullptr;
  double least = count * closed_form_pairs;
  for (const FarRule& far : rules_) {
    const auto left_out =
        std::count_if(distance2, distance2 + count, [&](double d2) { return !serves(far, d2); });
    const double cost = static_cast<double>(left_out) * closed_form_pairs +
                        static_cast<double>(far.rule.weight.size()) * group;
    if (cost < least) {
      least = cost;
      rule_ = &far;
    }
  }
  for (int i = 0; i < count; ++i)
    if (!rule_ || !serves(*rule_, distance2[i])) close_.push_back(first + i);
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
  const int columns = kernel_ == FarKernel::gradient ? 4 : 1;
  for (int k = 0; k < columns; ++k) values_[k].assign(padded, 0.0);
  distance2_.resize(padded);
  for (int i = 0; i < padded; ++i) {
    const double x = targets.x()[i] - t.centroid.x, y = targets.y()[i] - t.centroid.y,
                 z = targets.z()[i] - t.centroid.z;
    distance2_[i] = x * x + y * y + z * z;
  }
  close_.clear();
  placed_ = nullptr;
  for (int first = 0; first < targets.count(); first += group) {
    const int count = std::min(group, targets.count() - first);
    choose_rule(distance2_.data() + first, first, count, t.radius * t.radius);
    if (!rule_) continue;
    place_points(t);
    const auto values = [&](int k) { return k < columns ? values_[k].data() + first : nullptr; };
    fmm::pair_kernels<double, fmm::Laplace>().near(
        fmm::Laplace(), 1, root_terms_,
        {static_cast<std::int64_t>(x_.size()), x_.data(), y_.data(), z_.data(), weight_.data(),
         nullptr, nullptr, nullptr},
        {std::min(group, padded - first), targets.x() + first, targets.y() + first,
         targets.z() + first, values(0), values(1), values(2), values(3), nullptr});
  }
}

}  // namespace fmbem
