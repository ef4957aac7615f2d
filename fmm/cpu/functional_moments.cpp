// P2M of sources that are functionals, and L2P where these are the targets.
#include "fmbem/fmm/cpu/functional_moments.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/simd.hpp"
#include "fmbem/fmm/cpu/unit_box.hpp"

namespace fmbem::fmm {
namespace {

template <class T, class Row>
inline void add_rows_to(std::int64_t rows, std::int64_t columns, const T* charge, const Row* row,
                        T* out) {
  constexpr std::int64_t at_once = 4;  // so that sums are read and written once for as many
  std::int64_t j = 0;
  for (; j + at_once <= rows; j += at_once, row += at_once * columns) {
    const T a = charge[j], b = charge[j + 1], c = charge[j + 2], d = charge[j + 3];
    const Row *const row_b = row + columns, *const row_c = row_b + columns,
                     *const row_d = row_c + columns;
#pragma omp simd
    for (std::int64_t k = 0; k < columns; ++k)
      out[k] = out[k] + a * row[k] + b * row_b[k] + c * row_c[k] + d * row_d[k];
  }
  for (; j < rows; ++j, row += columns) {
    const T q = charge[j];
#pragma omp simd
    for (std::int64_t k = 0; k < columns; ++k) out[k] += q * row[k];
  }
}

// out += Σ_j charge_j rows_j
FMBEM_SIMD_CLONES void add_rows(std::int64_t rows, std::int64_t columns, const double* charge,
                                const double* row, double* out) {
  add_rows_to(rows, columns, charge, row, out);
}
FMBEM_SIMD_CLONES void add_rows(std::int64_t rows, std::int64_t columns, const double* charge,
                                const float* row, double* out) {
  add_rows_to(rows, columns, charge, row, out);
}
FMBEM_SIMD_CLONES void add_rows(std::int64_t rows, std::int64_t columns, const float* charge,
                                const float* row, float* out) {
  add_rows_to(rows, columns, charge, row, out);
}

}  // namespace

/// Points of a box's sources that go through the kernel in one call, so that their moments are
/// added up in registers.
template <class T>
struct BoxPoints {
  UnitWeightedPoints<T> unit;
  std::vector<std::int32_t> source;  ///< of each point, among the sorted sources
  std::vector<T> weights, moments;
  std::vector<double> sums;  ///< [vectors][4][slots]

  /// Takes the points of sources from `first` on, up to a number that keeps sums short; returns the
  /// next source.
  std::int32_t take(const Functionals& functionals, const PointTree& tree, const Box& box,
                    std::int32_t first, std::int32_t end) {
    constexpr std::size_t enough = 1024;
    const double side = tree.octree.side(box.level) / tree.scale;
    all_.clear();
    source.clear();
    for (; first < end && source.size() < enough; ++first) {
      functionals.quadrature(tree.sources.order[first], side, one_);
      all_.append(one_);
      source.resize(all_.weight.size(), first);
    }
    unit.fill(all_, tree, box);
    return first;
  }

 private:
  WeightedPoints all_, one_;
};

template <class T>
FunctionalMoments<T>::FunctionalMoments(const PointTree& tree, const HarmonicTable<T>& table,
                                        const Functionals& functionals, Moments moments,
                                        const FunctionalKernel& kernel)
    : tree_(tree), table_(table), functionals_(functionals), kernel_(kernel) {
  const auto keep = [&]<class Row>(Buffer<Row>& kept) {
    Buffer<Row> all(numbers(static_cast<std::int64_t>(tree.sources.size())));
    for_boxes([&](std::int32_t, Range own, const T* rows) {
      std::copy_n(rows, numbers(own.size()), all.data() + numbers(own.begin));
    });
    kept = std::move(all);
  };
  if (moments == Moments::kept) keep(rows_);
  if (moments == Moments::kept_in_single) keep(single_rows_);
}

template <class T>
template <class Body>
void FunctionalMoments<T>::for_boxes(Body&& body) const {
  const auto& boxes = tree_.lists.source_boxes;
#pragma omp parallel
  {
    WeightedPoints points;
    std::vector<T> scratch;
#pragma omp for schedule(dynamic, 16)
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const Range own = tree_.octree.boxes[boxes[i]].own_sources();
      const T* rows = rows_.data() + numbers(own.begin);
      if (rows_.size() == 0) {
        scratch.resize(numbers(own.size()));
        if (single_rows_.size() == 0)
          integrate(boxes[i], points, scratch.data());
        else
          std::copy_n(single_rows_.data() + numbers(own.begin), scratch.size(), scratch.data());
        rows = scratch.data();
      }
      body(boxes[i], own, rows);
    }
  }
}

template <class T>
void FunctionalMoments<T>::integrate(std::int32_t b, WeightedPoints& points, T* rows) const {
  const Box& box = tree_.octree.boxes[b];
  const double side = tree_.octree.side(box.level) / tree_.scale;
  const Range own = box.own_sources();
  const int slots = table_.slots();
  UnitWeightedPoints<T> unit_points;
  std::vector<T> moments;
  if (!has_moments(box)) {
    std::fill_n(rows, numbers(own.size()), T(0));
    return;
  }
  for (std::int32_t k = own.begin; k < own.end; ++k, rows += count()) {
    functionals_.quadrature(tree_.sources.order[k], side, points);
    unit_points.fill(points, tree_, box);
    moments.assign(static_cast<std::size_t>(unit_points.channels) * slots, T(0));
    with_kernel(kappa_of(box), [&](auto kernel) {
      pair_kernels<T, decltype(kernel)>().p2m(
          kernel, steps_of(table_), unit_points.channels, unit_points.padded, unit_points.x.data(),
          unit_points.y.data(), unit_points.z.data(), unit_points.weights.data(), moments.data());
    });
    if (strengths() == 1) {
      moments_from_slots(table_, kappa_of(box), unit_points.channels, moments.data(), rows);
      continue;
    }
    moments_from_slots(table_, kappa_of(box), 1, moments.data(), rows);
    std::fill_n(moments.begin(), slots, T(0));
    moments_from_slots(table_, kappa_of(box), unit_points.channels, moments.data(),
                       rows + own.size() * count());
  }
}

template <class T>
void FunctionalMoments<T>::p2m(const Pass<T>& pass) const {
  // In single precision sums source by source lose less than those of all points at once
  // (docs/decisions.md).
  if (!is_kept() && sizeof(T) == 8) return p2m_of_points(pass);
  const std::int64_t n = static_cast<std::int64_t>(tree_.sources.size());
  const auto add = [&](std::int32_t box, Range own, const auto* rows) {
    std::fill_n(pass.moment(box), pass.vectors * count(), T(0));
    for (int v = 0; v < pass.vectors; ++v)
      for (int s = 0; s < strengths(); ++s)
        add_rows(own.size(), count(), pass.charges.data() + (v * strengths() + s) * n + own.begin,
                 rows + s * own.size() * count(), pass.moment(box) + v * count());
  };
  if (single_rows_.size() == 0) return for_boxes(add);
  const auto& boxes = tree_.lists.source_boxes;
#pragma omp parallel for schedule(dynamic, 16)
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Range own = tree_.octree.boxes[boxes[i]].own_sources();
    add(boxes[i], own, single_rows_.data() + numbers(own.begin));
  }
}

template <class T>
void FunctionalMoments<T>::p2m_of_points(const Pass<T>& pass) const {
  const auto& boxes = tree_.lists.source_boxes;
#pragma omp parallel
  {
    BoxPoints<T> room;
#pragma omp for schedule(dynamic, 16)
    for (std::size_t i = 0; i < boxes.size(); ++i)
      if (has_moments(tree_.octree.boxes[boxes[i]])) add_points(pass, boxes[i], room);
  }
}

template <class T>
void FunctionalMoments<T>::add_points(const Pass<T>& pass, std::int32_t b,
                                      BoxPoints<T>& room) const {
  const Box& box = tree_.octree.boxes[b];
  const Range own = box.own_sources();
  const std::int64_t n = static_cast<std::int64_t>(tree_.sources.size());
  const int slots = table_.slots();
  room.sums.assign(static_cast<std::size_t>(4) * slots * pass.vectors, 0.0);
  for (std::int32_t k = own.begin; k < own.end;) {
    k = room.take(functionals_, tree_, box, k, own.end);
    const std::vector<T>& weights = room.unit.weights;
    const int padded = room.unit.padded, channels = room.unit.channels;
    for (int v = 0; v < pass.vectors; ++v) {
      room.weights.assign(weights.size(), T(0));
      room.moments.assign(static_cast<std::size_t>(channels) * slots, T(0));
      for (int c = 0; c < channels; ++c)
        for (std::size_t q = 0; q < room.source.size(); ++q)
          room.weights[c * padded + q] =
              weights[c * padded + q] *
              pass.charges[(v * strengths() + std::min(c, strengths() - 1)) * n + room.source[q]];
      with_kernel(kappa_of(box), [&](auto kernel) {
        pair_kernels<T, decltype(kernel)>().p2m(
            kernel, steps_of(table_), channels, padded, room.unit.x.data(), room.unit.y.data(),
            room.unit.z.data(), room.weights.data(), room.moments.data());
      });
      double* const sums = room.sums.data() + static_cast<std::size_t>(4) * slots * v;
      for (std::size_t slot = 0; slot < room.moments.size(); ++slot)
        sums[slot] += room.moments[slot];
    }
  }
  for (int v = 0; v < pass.vectors; ++v)
    moments_from_slots(table_, kappa_of(box), room.unit.channels,
                       room.sums.data() + static_cast<std::size_t>(4) * slots * v,
                       pass.moment(b) + v * count());
}

template <class T>
void FunctionalMoments<T>::l2p(Pass<T>& pass) const {
  const std::int64_t n = static_cast<std::int64_t>(tree_.sources.size());
  for_boxes([&](std::int32_t box, Range own, const T* rows) {
    const double from_unit = 1 / tree_.octree.side(tree_.octree.boxes[box].level);
    if (tree_.octree.boxes[box].level < kernel_.top_level) return;  // all is near
    for (int v = 0; v < pass.vectors; ++v) {
      const T* const local = pass.local(box) + v * count();
      for (std::int32_t j = 0; j < own.size(); ++j) {
        T sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t k = 0; k < count(); ++k) sum += rows[j * count() + k] * local[k];
        pass.potential[v * n + own.begin + j] += from_unit * sum;
      }
    }
  });
}

template class FunctionalMoments<double>;
template class FunctionalMoments<float>;

}  // namespace fmbem::fmm
