#include "fmbem/bem/near/green_blocks.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "fmbem/bem/near/block_product.hpp"
#include "fmbem/bem/near/difference_entries.hpp"
#include "fmbem/bem/near/near_integrals.hpp"
#include "fmbem/bem/near/near_rows.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/near/transposed_sums.hpp"
#include "fmbem/bem/near/yukawa_integrals.hpp"
#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"

namespace fmbem {
namespace {

double along(const Symmetric3d& h, Vec3d a, Vec3d b) {
  double sum = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) sum += a[i] * h(i, j) * b[j];
  return sum;
}

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

/// What all kernels have of Laplace's.
GreenTerm laplace_of(std::span<const GreenTerm> terms) {
  GreenTerm sum{0, 0, 0, 0, 0};
  for (const GreenTerm& term : terms) {
    sum.v += term.v;
    sum.k += term.k;
    sum.k_adjoint += term.k_adjoint;
    sum.d += term.d;
  }
  return sum;
}

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

  void add(const Triangle& t, std::int32_t panel, const RowTargets& row, EntrySums& sums) {
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

 private:
  GreenTerm term_;
  NearIntegrals integrals_;
};

/// The entries of Yukawa's kernel less Laplace's, whose derivatives are no more singular than 1/r.
class DifferenceColumns {
 public:
  DifferenceColumns(const GreenTerm& term, double tolerance)
      : term_(term), rules_(far_rules(tolerance, FarKernel::potential)) {}

  void add(const Triangle& t, std::int32_t panel, const RowTargets& row, EntrySums& sums) {
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
          PanelEntries entries =
              difference_entries(t, row.places[i], row.normal_of(i), term_.kappa);
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

 private:
  GreenTerm term_;
  std::vector<FarRule> rules_;
};

/// Makes the entries of a row's panels, one by one.
class GreenColumns {
 public:
  GreenColumns(std::span<const Triangle> panels, const GreenTargets& targets,
               const NearPanels& near, std::span<const GreenTerm> terms, double tolerance)
      : panels_(panels), targets_(targets), near_(near) {
    if (terms.size() == 1) {
      kernels_.emplace_back(terms[0], tolerance);
      return;
    }
    kernels_.emplace_back(laplace_of(terms), tolerance);
    for (const GreenTerm& term : terms)
      if (term.kappa > 0) differences_.emplace_back(term, tolerance);
  }

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

template <class Entry>
class GreenBlocksOf final : public GreenBlocks {
 public:
  GreenBlocksOf(std::span<const Triangle> panels, const GreenTargets& targets,
                std::shared_ptr<const NearPanels> near, std::span<const GreenTerm> terms,
                double tolerance)
      : panels_(panels.size()), targets_(targets.own.size()), near_(std::move(near)) {
    for (const GreenTerm& term : terms)
      if (term.has_flux()) outputs_ = 2;
    for (std::size_t row = 0; row < near_->rows(); ++row)
      begin_.push_back(begin_.back() + 2 * outputs_ * near_->count(row) *
                                           near_row(near_->tree(), row).targets.size());
    const std::int64_t needed = begin_.back() * static_cast<std::int64_t>(sizeof(Entry));
    if (needed > available_memory())
      throw ResourceError("the near field of " + std::to_string(panels.size()) + " panels needs " +
                          std::to_string(needed >> 20) + " MiB, but " +
                          std::to_string(available_memory() >> 20) +
                          " MiB are free: use a looser tolerance or a coarser mesh");
    entries_ = Buffer<Entry>(begin_.back() + block_rows);
    std::fill_n(entries_.data() + begin_.back(), block_rows, Entry(0));
#pragma omp parallel
    {
      GreenColumns columns(panels, targets, *near_, terms, tolerance);
#pragma omp for schedule(dynamic, 8)
      for (std::size_t row = 0; row < near_->rows(); ++row) {
        const int count = near_row(near_->tree(), row).targets.size();
        Entry* out = entries_.data() + begin_[row];
        const std::int64_t of_output = 2 * near_->count(row) * count;
        columns.for_row(row, [&](const EntrySums& sums) {
          for (int k = 0; k < 2 * outputs_; ++k)
            for (int i = 0; i < count; ++i)
              out[(k / 2) * of_output + (k % 2) * count + i] = static_cast<Entry>(sums[k][i]);
          out += 2 * count;
        });
      }
    }
  }

  void add(const double* x, double* y) const override {
#pragma omp parallel
    {
      std::vector<double> near_x, sum;
#pragma omp for schedule(dynamic, 8)
      for (std::size_t row = 0; row < near_->rows(); ++row) {
        const RowVectors out{near_->tree(), near_row(near_->tree(), row).targets};
        const int count = out.range.size();
        near_x.clear();
        near_->for_row(row, [&](std::int32_t panel) {
          near_x.push_back(x[panel]);
          near_x.push_back(x[panels_ + panel]);
        });
        sum.resize(count);
        const auto columns = static_cast<std::int64_t>(near_x.size());
        for (int k = 0; k < outputs_; ++k) {
          multiply_block(1, columns, count, entries_.data() + begin_[row] + k * columns * count,
                         near_x.data(), sum.data());
          for (int i = 0; i < count; ++i) y[k * targets_ + out.target(i)] += sum[i];
        }
      }
    }
  }

  std::int64_t bytes() const override {
    return static_cast<std::int64_t>(entries_.size() * sizeof(Entry));
  }

 private:
  std::size_t panels_, targets_;
  std::shared_ptr<const NearPanels> near_;
  int outputs_ = 1;
  std::vector<std::int64_t> begin_{0};  ///< [rows + 1]
  Buffer<Entry> entries_;               ///< row after row, [outputs][near panels][2][targets]
};

}  // namespace

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

std::unique_ptr<GreenBlocks> make_green_blocks(std::span<const Triangle> panels,
                                               const GreenTargets& targets,
                                               std::shared_ptr<const NearPanels> near,
                                               std::span<const GreenTerm> terms, double tolerance,
                                               Precision precision) {
  if (precision == Precision::single_precision)
    return std::make_unique<GreenBlocksOf<float>>(panels, targets, std::move(near), terms,
                                                  tolerance);
  return std::make_unique<GreenBlocksOf<double>>(panels, targets, std::move(near), terms,
                                                 tolerance);
}

}  // namespace fmbem
