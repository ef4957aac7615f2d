// P2M of sources that are spread out.
#include "fmbem/fmm/cpu/spread.hpp"

#include <algorithm>
#include <vector>

#include "fmbem/fmm/base/simd.hpp"

namespace fmbem::fmm {
namespace {

template <class T>
inline void add_rows_to(std::int64_t rows, std::int64_t columns, const T* charge, const T* row,
                        T* out) {
  for (std::int64_t j = 0; j < rows; ++j, row += columns) {
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
FMBEM_SIMD_CLONES void add_rows(std::int64_t rows, std::int64_t columns, const float* charge,
                                const float* row, float* out) {
  add_rows_to(rows, columns, charge, row, out);
}

/// Takes points to the unit box about the centre, and pads them to whole registers.
template <class T>
struct UnitBoxPoints {
  std::vector<T> x, y, z, weight;
  int padded = 0;

  void fill(const WeightedPoints& points, const PlanData& data, const Box& box) {
    const Vec3d corner = data.tree.root.corner, centre = data.tree.centre_from_corner(box);
    const double scale = 1 / data.tree.side(box.level), unit = data.unit;
    const std::size_t n = points.weight.size();
    padded = whole_registers(cpu_kernels<T>(), static_cast<int>(n));
    for (auto* column : {&x, &y, &z, &weight}) column->assign(padded, T(0));
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = static_cast<T>((unit * points.x[i] - corner.x - centre.x) * scale);
      y[i] = static_cast<T>((unit * points.y[i] - corner.y - centre.y) * scale);
      z[i] = static_cast<T>((unit * points.z[i] - corner.z - centre.z) * scale);
      weight[i] = static_cast<T>(points.weight[i] * (unit * unit));
    }
  }
};

}  // namespace

template <class T>
SpreadMoments<T>::SpreadMoments(const PlanData& data, const HarmonicTable<T>& table)
    : data_(data), table_(table) {
  if (kept_moment_bytes(data) > 0) rows_ = all_rows(data, table);
}

template <class T>
Buffer<T> SpreadMoments<T>::all_rows(const PlanData& data, const HarmonicTable<T>& table) {
  const std::int64_t count = data.order.count;
  Buffer<T> rows(data.sources.size() * count);
#pragma omp parallel
  {
    WeightedPoints points;
#pragma omp for schedule(dynamic, 16)
    for (std::size_t i = 0; i < data.source_boxes.size(); ++i) {
      const std::int32_t box = data.source_boxes[i];
      integrate(data, table, box, points, rows.data() + data.tree.boxes[box].sources.begin * count);
    }
  }
  return rows;
}

template <class T>
void SpreadMoments<T>::integrate(const PlanData& data, const HarmonicTable<T>& table,
                                 std::int32_t b, WeightedPoints& points, T* rows) {
  const Box& box = data.tree.boxes[b];
  const double side = data.tree.side(box.level) / data.unit;
  const Range own = box.own_sources();
  UnitBoxPoints<T> unit_points;
  std::vector<T> moments(table.slots());
  for (std::int32_t k = own.begin; k < own.end; ++k, rows += data.order.count) {
    data.spread->quadrature(data.sources.order[k], side, points);
    unit_points.fill(points, data, box);
    std::fill(moments.begin(), moments.end(), T(0));
    pair_kernels<T, Laplace>().p2m(Laplace(), steps_of(table), 1, unit_points.padded,
                                   unit_points.x.data(), unit_points.y.data(), unit_points.z.data(),
                                   unit_points.weight.data(), moments.data());
    for (int slot = 0; slot < table.slots(); ++slot)
      if (table.position[slot] >= 0) rows[table.position[slot]] = moments[slot];
  }
}

template <class T>
void SpreadMoments<T>::p2m(const Pass<T>& pass) const {
  const std::int64_t count = data_.order.count, n = data_.sources.size();
#pragma omp parallel
  {
    WeightedPoints points;
    std::vector<T> scratch;
#pragma omp for schedule(dynamic, 16)
    for (std::size_t i = 0; i < data_.source_boxes.size(); ++i) {
      const std::int32_t box = data_.source_boxes[i];
      const Range own = data_.tree.boxes[box].own_sources();
      const T* rows = rows_.data() + own.begin * count;
      if (rows_.size() == 0) {
        scratch.resize(own.size() * count);
        integrate(data_, table_, box, points, scratch.data());
        rows = scratch.data();
      }
      std::fill_n(pass.moment(box), pass.vectors * count, T(0));
      for (int v = 0; v < pass.vectors; ++v)
        add_rows(own.size(), count, pass.charges.data() + v * n + own.begin, rows,
                 pass.moment(box) + v * count);
    }
  }
}

template class SpreadMoments<double>;
template class SpreadMoments<float>;

}  // namespace fmbem::fmm
