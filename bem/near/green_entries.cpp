#include "fmbem/bem/near/green_entries.hpp"

#include <algorithm>
#include <cmath>

#include "fmbem/bem/near/closed_hessian.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/near/yukawa_integrals.hpp"

namespace fmbem {
namespace {

/// The entries of one kernel by closed forms, those whose factor is not 0.
PanelEntries kernel_entries(const GreenTerm& term, const Triangle& t, Vec3d x, Vec3d normal,
                            bool same) {
  PanelEntries entries;
  if (term.kappa > 0) {
    const YukawaIntegrals of_v = yukawa_integrals(t, x, term.kappa);
    entries = {of_v.potential, of_v.double_layer, dot(normal, of_v.gradient)};
  } else {
    if (term.v != 0) entries.v = panel_potential(t, x);
    entries.k = triangle_double_layer(t, x);
    if (term.k_adjoint != 0) entries.k_adjoint = dot(normal, panel_gradient(t, x, 0));
  }
  if (same) entries.k = entries.k_adjoint = 0;
  if (term.d != 0) {
    entries.d = -along(panel_hessian(t, x), normal, t.normal);
    if (term.kappa > 0) entries.d += difference_entries(t, x, normal, term.kappa).d;
  }
  return entries;
}

void add_entries(PanelEntries& sum, const GreenTerm& factors, const PanelEntries& entries) {
  sum.v += factors.v * entries.v;
  sum.k += factors.k * entries.k;
  sum.k_adjoint += factors.k_adjoint * entries.k_adjoint;
  sum.d += factors.d * entries.d;
}

}  // namespace

GreenTerm laplace_of(std::span<const GreenTerm> terms) {
  const auto sum_of = [&](double GreenTerm::*factor) {
    double sum = 0, size = 0;
    for (const GreenTerm& term : terms) {
      sum += term.*factor;
      size += std::abs(term.*factor);
    }
    return std::abs(sum) <= 1e-14 * size ? 0 : sum;
  };
  return {0, sum_of(&GreenTerm::v), sum_of(&GreenTerm::k), sum_of(&GreenTerm::k_adjoint),
          sum_of(&GreenTerm::d)};
}

PanelEntries green_entries(std::span<const GreenTerm> terms, const Triangle& t, Vec3d x,
                           Vec3d normal, bool same) {
  PanelEntries sum;
  const GreenTerm whole = terms.size() == 1 ? terms[0] : laplace_of(terms);
  add_entries(sum, whole, kernel_entries(whole, t, x, normal, same));
  if (terms.size() == 1) return sum;
  for (const GreenTerm& term : terms) {
    if (term.kappa == 0) continue;
    PanelEntries entries = difference_entries(t, x, normal, term.kappa);
    if (same) entries.k = entries.k_adjoint = 0;
    add_entries(sum, term, entries);
  }
  return sum;
}

void KernelEntries::add(const Triangle& t, std::int32_t panel, const RowTargets& row,
                        EntrySums& sums) {
  integrals_.integrate(t, row.places);
  const std::vector<int>& close = integrals_.close();
  auto next = close.begin();
  for (int i = 0; i < row.places.count(); ++i) {
    if (next != close.end() && *next == i) {
      ++next;
      sums.add(i, term_,
               kernel_entries(term_, t, row.places[i], row.normal_of(i), row.own[i] == panel));
      continue;
    }
    const Vec3d gradient{integrals_.gradient(0)[i], integrals_.gradient(1)[i],
                         integrals_.gradient(2)[i]};
    PanelEntries entries{integrals_.potential()[i], -dot(t.normal, gradient)};
    if (term_.k_adjoint != 0) entries.k_adjoint = dot(row.normal_of(i), gradient);
    if (term_.d != 0) {
      Symmetric3d hessian;
      for (int entry = 0; entry < 6; ++entry) hessian[entry] = integrals_.hessian(entry)[i];
      entries.d = -along(hessian, row.normal_of(i), t.normal);
    }
    sums.add(i, term_, entries);
  }
}

void DifferenceColumns::add(const Triangle& t, std::int32_t panel, const RowTargets& row,
                            EntrySums& sums) {
  constexpr int group = 8;
  const double* const places[3] = {row.places.x(), row.places.y(), row.places.z()};
  for (int first = 0; first < row.places.count(); first += group) {
    const int count = std::min(group, row.places.count() - first);
    double nearest2 = norm2(row.places[first] - t.centroid);
    for (int i = first + 1; i < first + count; ++i)
      nearest2 = std::min(nearest2, norm2(row.places[i] - t.centroid));
    const auto rule = std::find_if(rules_.begin(), rules_.end(), [&](const FarRule& far) {
      const double reach = far.reach_for(term_.kappa * t.radius);
      return nearest2 >= reach * reach * t.radius * t.radius;
    });
    if (rule == rules_.end()) {
      for (int i = first; i < first + count; ++i) {
        PanelEntries entries = difference_entries(t, row.places[i], row.normal_of(i), term_.kappa);
        if (row.own[i] == panel) entries.k = entries.k_adjoint = 0;
        sums.add(i, term_, entries);
      }
      continue;
    }
    double values[4][group] = {};
    const double *const at[3] = {places[0] + first, places[1] + first, places[2] + first},
                        *const normal[3] = {row.normal[0].data() + first,
                                            row.normal[1].data() + first,
                                            row.normal[2].data() + first};
    add_difference_entries(rule->rule, t, term_.kappa, count, at, normal,
                           {values[0], values[1], values[2], values[3]});
    for (int i = 0; i < count; ++i)
      sums.add(first + i, term_, {values[0][i], values[1][i], values[2][i], values[3][i]});
  }
}

GreenColumns::GreenColumns(std::span<const Triangle> panels, const GreenTargets& targets,
                           const NearPanels& near, std::span<const GreenTerm> terms,
                           double tolerance)
    : panels_(panels), targets_(targets), near_(near) {
  if (terms.size() == 1) {
    kernels_.emplace_back(terms[0], tolerance);
    return;
  }
  if (const GreenTerm laplace = laplace_of(terms); laplace.acts())
    kernels_.emplace_back(laplace, tolerance);
  for (const GreenTerm& term : terms)
    if (term.kappa > 0) differences_.emplace_back(term, tolerance);
}

}  // namespace fmbem
