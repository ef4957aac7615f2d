#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/near/difference_entries.hpp"
#include "fmbem/bem/near/near_integrals.hpp"
#include "fmbem/bem/near/near_panels.hpp"

namespace fmbem {

/// What a kernel's V, K, K' and D = ∂_n K count in a sum of kernels: potentials V σ and K μ, and
/// their derivatives along the normals of the rows, K' σ and D μ. κ = 0 is Laplace's kernel.
struct GreenTerm {
  double kappa = 0;
  double v = 1, k = 1, k_adjoint = 0, d = 0;

  bool has_flux() const { return k_adjoint != 0 || d != 0; }
  bool acts() const { return v != 0 || k != 0 || has_flux(); }
};

inline bool has_flux(std::span<const GreenTerm> terms) {
  return std::any_of(terms.begin(), terms.end(), [](const GreenTerm& t) { return t.has_flux(); });
}

/// What all kernels have of Laplace's: a term with κ = 0. Factors that cancel but for rounding are
/// 0.
GreenTerm laplace_of(std::span<const GreenTerm> terms);

/// The entries of a sum of kernels between a panel and a point with a normal, times their factors,
/// by closed forms. `same`: the point is the panel's own centroid, where K and K' are 0, the mean
/// of both sides' limits. Of several terms what Laplace's kernel has in all of
/// them is taken together, and the rest are entries of differences, so that nothing cancels.
PanelEntries green_entries(std::span<const GreenTerm> terms, const Triangle& t, Vec3d x,
                           Vec3d normal, bool same);

/// The rows of a near field.
struct GreenTargets {
  std::vector<Vec3d> centroid, normal;
  std::vector<std::int32_t> own;  ///< the panel's column, −1 where it has none
};

/// The targets of a row, with their normals.
struct RowTargets {
  IntegralTargets places;
  std::vector<double> normal[3];  ///< padded
  std::vector<std::int32_t> own;

  void fill(const GreenTargets& all, const std::int32_t* order, int count) {
    places.clear();
    own.clear();
    for (auto& axis : normal) axis.clear();
    for (int i = 0; i < count; ++i) {
      places.add(all.centroid[order[i]]);
      own.push_back(all.own[order[i]]);
      for (int axis = 0; axis < 3; ++axis) normal[axis].push_back(all.normal[order[i]][axis]);
    }
    places.pad();
    for (auto& axis : normal) axis.resize(places.padded(), 0.0);
  }
  Vec3d normal_of(int i) const { return {normal[0][i], normal[1][i], normal[2][i]}; }
};

/// Sums of entries for one panel and the targets of a row.
class EntrySums {
 public:
  void clear(int count) {
    for (auto& column : columns_) column.assign(count, 0.0);
  }
  void add(int i, const GreenTerm& factors, const PanelEntries& entries) {
    columns_[0][i] += factors.v * entries.v;
    columns_[1][i] += factors.k * entries.k;
    columns_[2][i] += factors.k_adjoint * entries.k_adjoint;
    columns_[3][i] += factors.d * entries.d;
  }
  const double* operator[](int k) const { return columns_[k].data(); }

 private:
  std::array<std::vector<double>, 4> columns_;
};

/// The entries of one kernel as it is.
class KernelEntries {
 public:
  KernelEntries(const GreenTerm& term, double tolerance)
      : term_(term),
        integrals_(tolerance, term.d != 0 ? FarKernel::hessian : FarKernel::gradient, term.kappa) {}

  void add(const Triangle& t, std::int32_t panel, const RowTargets& row, EntrySums& sums);

 private:
  GreenTerm term_;
  NearIntegrals integrals_;
};

/// The entries of Yukawa's kernel less Laplace's, whose derivatives are no more singular than 1/r.
class DifferenceColumns {
 public:
  DifferenceColumns(const GreenTerm& term, double tolerance)
      : term_(term), rules_(far_rules(tolerance, FarKernel::potential)) {}

  void add(const Triangle& t, std::int32_t panel, const RowTargets& row, EntrySums& sums);

 private:
  GreenTerm term_;
  std::vector<FarRule> rules_;
};

/// Makes the entries of a row's panels, one by one.
class GreenColumns {
 public:
  GreenColumns(std::span<const Triangle> panels, const GreenTargets& targets,
               const NearPanels& near, std::span<const GreenTerm> terms, double tolerance);

  /// Calls body(sums) for each near panel of the row, in its order.
  template <class Body>
  void for_row(std::size_t row, Body body) {
    const fmm::Range range = near_row(near_.tree(), row).targets;
    row_.fill(targets_, near_.tree().targets().order.data() + range.begin, range.size());
    near_.for_row(row, [&](std::int32_t panel) {
      sums_.clear(range.size());
      for (KernelEntries& entries : kernels_) entries.add(panels_[panel], panel, row_, sums_);
      for (DifferenceColumns& entries : differences_)
        entries.add(panels_[panel], panel, row_, sums_);
      body(sums_);
    });
  }

 private:
  std::span<const Triangle> panels_;
  const GreenTargets& targets_;
  const NearPanels& near_;
  std::vector<KernelEntries> kernels_;
  std::vector<DifferenceColumns> differences_;
  RowTargets row_;
  EntrySums sums_;
};

}  // namespace fmbem
