#pragma once

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/cpu/pass.hpp"

namespace fmbem::fmm {

/// Moments of spread sources in their boxes, kept or integrated again for each pass.
template <class T>
class SpreadMoments {
 public:
  SpreadMoments(const PlanData& data, const HarmonicTable<T>& table);

  /// [sources][K] in parity order, for all boxes.
  static Buffer<T> all_rows(const PlanData& data, const HarmonicTable<T>& table);

  /// P2M: M of every box with sources of its own.
  void p2m(const Pass<T>& pass) const;

 private:
  /// [own sources][K] of one box.
  static void integrate(const PlanData& data, const HarmonicTable<T>& table, std::int32_t box,
                        WeightedPoints& points, T* rows);

  const PlanData& data_;
  const HarmonicTable<T>& table_;
  Buffer<T> rows_;  ///< [sources][K] in parity order, or empty
};

}  // namespace fmbem::fmm
