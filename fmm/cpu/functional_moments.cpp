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
FMBEM_SIMD_CLONES void add_rows(std::int64_t rows, std::int64_t columns, const float* charge,
                                const double* row, float* out) {
  add_rows_to(rows, columns, charge, row, out);
}

/// out_j = row_j · x
template <class T, class Row>
void take_rows(std::int64_t rows, std::int64_t columns, const Row* row, const T* x, T* out) {
  for (std::int64_t j = 0; j < rows; ++j, row += columns) {
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t k = 0; k < columns; ++k) sum += static_cast<T>(row[k]) * x[k];
    out[j] = sum;
  }
}

}  // namespace

/// Points of a box's sources that go through the kernel in one call, so that their moments are
/// added up in registers.
template <class T>
struct BoxPoints {
  UnitWeightedPoints<T> unit;
  std::vector<std::int32_t> source;  ///< of each point: its number in the box
  std::vector<T> weights, moments;
  std::vector<double> sums;  ///< [vectors][4][slots]
  std::vector<T> charges;
  SharedParts parts;

  WeightedPoints all, one;

  /// Takes the points of sources from `first` on, up to a number that keeps sums short; returns the
  /// next source. points_of(k) are those of source k.
  template <class PointsOf>
  std::int32_t take(const PointTree& tree, const Box& box, std::int32_t first, std::int32_t end,
                    PointsOf&& points_of) {
    constexpr std::size_t enough = 1024;
    all.clear();
    source.clear();
    for (; first < end && source.size() < enough; ++first) {
      all.append(points_of(first));
      source.resize(all.weight.size(), first);
    }
    unit.fill(all, tree, box);
    return first;
  }
};

template <class T>
FunctionalMoments<T>::FunctionalMoments(const PointTree& tree, const HarmonicTable<T>& table,
                                        const Functionals& functionals, Moments moments,
                                        const FunctionalKernel& kernel)
    : tree_(tree), table_(table), functionals_(functionals), kernel_(kernel), moments_(moments) {
  if (moments == Moments::kept) keep(kept_);
  if (moments == Moments::kept_in_single) keep(single_);
}

template <class T>
bool FunctionalMoments<T>::share_parts(const Box& box, SharedParts& shared) const {
  const Range own = box.own_sources();
  return strengths() == 1 && has_moments(box) &&
         functionals_.share_parts(std::span(tree_.sources.order).subspan(own.begin, own.size()),
                                  tree_.octree.side(box.level) / tree_.scale, shared);
}

template <class T>
template <class Row>
void FunctionalMoments<T>::keep(KeptMoments<Row>& kept) const {
  const auto& boxes = tree_.lists.source_boxes;
  kept.shared.resize(boxes.size());
#pragma omp parallel
  {
    BoxPoints<T> room;
    SharedParts parts;
    std::vector<T> row(count());
#pragma omp for schedule(dynamic, 16)
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const Box& box = tree_.octree.boxes[boxes[i]];
      if (!share_parts(box, parts)) continue;
      auto& shared = kept.shared[i];
      shared.parts = parts.parts;
      shared.moments = Buffer<Row>(parts.parts * count());
      for (int c = 0; c < parts.parts; ++c) {
        integrate_points(box, parts.points[c], room, row.data(), 0);
        std::copy(row.begin(), row.end(), shared.moments.data() + c * count());
      }
      shared.coefficients = Buffer<Row>(parts.coefficients.size());
      std::copy(parts.coefficients.begin(), parts.coefficients.end(), shared.coefficients.data());
    }
  }
  kept.begin.assign(1, 0);
  for (std::size_t i = 0; i < boxes.size(); ++i)
    kept.begin.push_back(kept.begin.back() +
                         (kept.shared[i].parts > 0 ? 0 : numbers(own_of(tree_, i).size())));
  kept.rows = Buffer<Row>(kept.begin.back());
#pragma omp parallel
  {
    BoxPoints<T> room;
    std::vector<T> scratch;
#pragma omp for schedule(dynamic, 16)
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (kept.shared[i].parts > 0) continue;
      scratch.resize(kept.begin[i + 1] - kept.begin[i]);
      integrate(boxes[i], room, scratch.data());
      std::copy(scratch.begin(), scratch.end(), kept.rows.data() + kept.begin[i]);
    }
  }
}

template <class T>
void FunctionalMoments<T>::integrate_points(const Box& box, const WeightedPoints& points,
                                            BoxPoints<T>& room, T* row, std::int64_t next) const {
  UnitWeightedPoints<T>& unit = room.unit;
  unit.fill(points, tree_, box);
  room.moments.assign(static_cast<std::size_t>(unit.channels) * table_.slots(), T(0));
  with_kernel(kappa_of(box), [&](auto kernel) {
    pair_kernels<T, decltype(kernel)>().p2m(kernel, steps_of(table_), unit.channels, unit.padded,
                                            unit.x.data(), unit.y.data(), unit.z.data(),
                                            unit.weights.data(), room.moments.data());
  });
  if (strengths() == 1)
    return moments_from_slots(table_, kappa_of(box), unit.channels, room.moments.data(), row);
  moments_from_slots(table_, kappa_of(box), 1, room.moments.data(), row);
  std::fill_n(room.moments.begin(), table_.slots(), T(0));
  moments_from_slots(table_, kappa_of(box), unit.channels, room.moments.data(), row + next);
}

template <class T>
void FunctionalMoments<T>::integrate(std::int32_t b, BoxPoints<T>& room, T* rows) const {
  const Box& box = tree_.octree.boxes[b];
  const double side = tree_.octree.side(box.level) / tree_.scale;
  const Range own = box.own_sources();
  if (!has_moments(box)) {
    std::fill_n(rows, numbers(own.size()), T(0));
    return;
  }
  for (std::int32_t k = own.begin; k < own.end; ++k, rows += count()) {
    functionals_.quadrature(tree_.sources.order[k], side, room.one);
    integrate_points(box, room.one, room, rows, own.size() * count());
  }
}

template <class T>
template <class Row>
void FunctionalMoments<T>::add_own(const Pass<T>& pass, int v, Range own, const Row* rows,
                                   T* moment) const {
  const auto n = static_cast<std::int64_t>(tree_.sources.size());
  const auto add = [&](std::int32_t begin, std::int32_t some, T* to) {
    for (int s = 0; s < strengths(); ++s)
      add_rows(some, count(), pass.charges.data() + (v * strengths() + s) * n + own.begin + begin,
               rows + (std::int64_t{s} * own.size() + begin) * count(), to);
  };
  // Thousands of charges of one sign would lose digits in single precision, one after the other.
  constexpr std::int32_t most = 64;
  if (sizeof(T) == 8 || own.size() <= most) return add(0, own.size(), moment);
  std::vector<double> sums(count(), 0.0);
  std::vector<T> of_some(count());
  for (std::int32_t begin = 0; begin < own.size(); begin += most) {
    std::fill(of_some.begin(), of_some.end(), T(0));
    add(begin, std::min(most, own.size() - begin), of_some.data());
    for (int i = 0; i < count(); ++i) sums[i] += of_some[i];
  }
  for (int i = 0; i < count(); ++i) moment[i] += static_cast<T>(sums[i]);
}

template <class T>
template <class Row>
void FunctionalMoments<T>::p2m_kept(const Pass<T>& pass, const KeptMoments<Row>& kept) const {
  const std::int64_t n = static_cast<std::int64_t>(tree_.sources.size());
  const auto& boxes = tree_.lists.source_boxes;
#pragma omp parallel
  {
    std::vector<T> of_parts;
#pragma omp for schedule(dynamic, 16)
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const Range own = own_of(tree_, i);
      const auto& shared = kept.shared[i];
      std::fill_n(pass.moment(boxes[i]), pass.vectors * count(), T(0));
      for (int v = 0; v < pass.vectors; ++v) {
        T* const moment = pass.moment(boxes[i]) + v * count();
        if (shared.parts > 0) {
          of_parts.assign(shared.parts, T(0));
          add_rows(own.size(), shared.parts, pass.charges.data() + v * n + own.begin,
                   shared.coefficients.data(), of_parts.data());
          add_rows(shared.parts, count(), of_parts.data(), shared.moments.data(), moment);
        } else {
          add_own(pass, v, own, kept.rows.data() + kept.begin[i], moment);
        }
      }
    }
  }
}

template <class T>
void FunctionalMoments<T>::p2m(const Pass<T>& pass) const {
  if (moments_ == Moments::kept) return p2m_kept(pass, kept_);
  if (moments_ == Moments::kept_in_single) return p2m_kept(pass, single_);
  // In single precision sums source by source lose less than those of all points at once
  // (docs/decisions.md).
  if (sizeof(T) == 8) return p2m_of_points(pass);
  const auto& boxes = tree_.lists.source_boxes;
#pragma omp parallel
  {
    BoxPoints<T> room;
    std::vector<T> rows;
#pragma omp for schedule(dynamic, 16)
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const Range own = own_of(tree_, i);
      rows.resize(numbers(own.size()));
      integrate(boxes[i], room, rows.data());
      std::fill_n(pass.moment(boxes[i]), pass.vectors * count(), T(0));
      for (int v = 0; v < pass.vectors; ++v)
        add_own(pass, v, own, rows.data(), pass.moment(boxes[i]) + v * count());
    }
  }
}

template <class T>
template <class Row>
void FunctionalMoments<T>::take_kept(const KeptMoments<Row>& kept, std::size_t i, const T* local,
                                     std::vector<T>& sums) const {
  const auto& shared = kept.shared[i];
  const auto own = static_cast<std::int64_t>(sums.size());
  if (shared.parts == 0)
    return take_rows(own, count(), kept.rows.data() + kept.begin[i], local, sums.data());
  std::vector<T> of_parts(shared.parts);
  take_rows(shared.parts, count(), shared.moments.data(), local, of_parts.data());
  take_rows(own, shared.parts, shared.coefficients.data(), of_parts.data(), sums.data());
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
  const double side = tree_.octree.side(box.level) / tree_.scale;
  const bool shares = share_parts(box, room.parts);
  const int sources = shares ? room.parts.parts : own.size();
  // [vectors][strengths][sources]: of parts, or of sources themselves.
  room.charges.assign(static_cast<std::size_t>(pass.vectors) * strengths() * sources, T(0));
  for (int row = 0; row < pass.vectors * strengths(); ++row) {
    const T* const of_own = pass.charges.data() + row * n + own.begin;
    T* const charges = room.charges.data() + static_cast<std::size_t>(row) * sources;
    if (shares)
      add_rows(own.size(), sources, of_own, room.parts.coefficients.data(), charges);
    else
      std::copy_n(of_own, sources, charges);
  }
  const auto points_of = [&](std::int32_t k) -> WeightedPoints& {
    if (shares) return room.parts.points[k];
    functionals_.quadrature(tree_.sources.order[own.begin + k], side, room.one);
    return room.one;
  };
  room.sums.assign(static_cast<std::size_t>(4) * slots * pass.vectors, 0.0);
  for (std::int32_t k = 0; k < sources;) {
    k = room.take(tree_, box, k, sources, points_of);
    const std::vector<T>& weights = room.unit.weights;
    const int padded = room.unit.padded, channels = room.unit.channels;
    for (int v = 0; v < pass.vectors; ++v) {
      room.weights.assign(weights.size(), T(0));
      room.moments.assign(static_cast<std::size_t>(channels) * slots, T(0));
      for (int c = 0; c < channels; ++c)
        for (std::size_t q = 0; q < room.source.size(); ++q)
          room.weights[c * padded + q] =
              weights[c * padded + q] *
              room.charges[static_cast<std::size_t>(v * strengths() +
                                                    std::min(c, strengths() - 1)) *
                               sources +
                           room.source[q]];
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
  const auto& boxes = tree_.lists.source_boxes;
#pragma omp parallel
  {
    BoxPoints<T> room;
    std::vector<T> rows, sums;
#pragma omp for schedule(dynamic, 16)
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const Box& box = tree_.octree.boxes[boxes[i]];
      const Range own = box.own_sources();
      const double from_unit = 1 / tree_.octree.side(box.level);
      if (box.level < kernel_.top_level) continue;  // all is near
      if (moments_ == Moments::afresh) {
        rows.resize(numbers(own.size()));
        integrate(boxes[i], room, rows.data());
      }
      sums.resize(static_cast<std::size_t>(strengths()) * own.size());
      for (int v = 0; v < pass.vectors; ++v) {
        const T* const local = pass.local(boxes[i]) + v * count();
        if (moments_ == Moments::afresh)
          take_rows(static_cast<std::int64_t>(sums.size()), count(), rows.data(), local,
                    sums.data());
        else if (moments_ == Moments::kept)
          take_kept(kept_, i, local, sums);
        else
          take_kept(single_, i, local, sums);
        for (int s = 0; s < strengths(); ++s)
          for (std::int32_t j = 0; j < own.size(); ++j)
            pass.potential[(v * strengths() + s) * n + own.begin + j] +=
                from_unit * sums[static_cast<std::size_t>(s) * own.size() + j];
      }
    }
  }
}

template class FunctionalMoments<double>;
template class FunctionalMoments<float>;

}  // namespace fmbem::fmm
