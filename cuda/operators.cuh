#pragma once

#include <memory>

#include "fmbem/cuda/memory.cuh"
#include "fmbem/cuda/pass.cuh"
#include "fmbem/fmm/expansion/harmonic_table.hpp"
#include "fmbem/fmm/expansion/parity_order.hpp"
#include "fmbem/fmm/kernel/kernels.hpp"

namespace fmbem::cuda {

/// Translation operators of one kernel and order in device memory, shared by all living plans.
/// Those of a homogeneous kernel serve boxes of all levels; Yukawa's is in the unit of the boxes'
/// side, the parents' of upward and downward. M2L is made on the device, upward and downward
/// on the host.
template <class T>
struct DeviceOperators {
  DeviceBuffer<M2lNumber<T>> m2l;
  DeviceBuffer<float> m2l_units;  ///< of split numbers
  DeviceBuffer<T> upward, downward;
  std::int64_t m2l_stride = 0;
  OperatorsView<T> view() const {
    return {m2l.data(), m2l_units.data(), upward.data(), downward.data(), m2l_stride};
  }
  std::int64_t bytes() const {
    return m2l.bytes() + m2l_units.bytes() + upward.bytes() + downward.bytes();
  }
};
/// Treecodes have no M2L, and hybrids with a small θ none in the FMM's blocks.
enum class M2lBlocks { all, none };
template <class T, class Kernel>
std::shared_ptr<const DeviceOperators<T>> device_operators(const Kernel& kernel,
                                                           const fmm::ParityOrder& order,
                                                           M2lBlocks m2l = M2lBlocks::all);
/// The same if a plan has it, or null.
template <class T, class Kernel>
std::shared_ptr<const DeviceOperators<T>> known_operators(const Kernel& kernel,
                                                          const fmm::ParityOrder& order,
                                                          M2lBlocks m2l);

/// fmm::HarmonicTable in device memory.
template <class T>
class DeviceTable {
 public:
  DeviceTable(const fmm::ParityOrder& order, cudaStream_t stream);
  TableView<T> view() const { return view_; }
  const Classes& classes() const { return classes_; }

 private:
  struct Rows {
    DeviceBuffer<std::int32_t> begin, index;
    DeviceBuffer<T> value;
    RowsView<T> view() const { return {begin.data(), index.data(), value.data()}; }
  };
  struct Term {
    int row, index;
    double value;
  };
  static Rows rows_of(int rows, std::vector<Term> terms, cudaStream_t stream);

  DeviceBuffer<T> up_, down_, diagonal_;
  DeviceBuffer<std::int32_t> position_;
  DeviceBuffer<std::uint8_t> parity_;
  static std::vector<Term> dipole_terms(const std::array<std::vector<fmm::Derivative>, 3>& axes,
                                        int slots);

  Rows moment_of_dipoles_, rises_of_dipoles_;
  DeviceBuffer<DerivativeTerms<T>> derivative_, rise_;
  TableView<T> view_;
  Classes classes_;
};

/// fmm::RaisedMoments in device memory: the table of one degree more, in whose view `position` says
/// where a box's moments are, and `derivative` and `rise` make moments of the derivatives of them.
template <class T>
class RaisedTable {
 public:
  /// For expansions of that order.
  RaisedTable(const fmm::ParityOrder& order, cudaStream_t stream);
  TableView<T> view() const {
    TableView<T> view = table_.view();
    view.position = position_.data();
    view.derivative = derivative_.data();
    view.rise = rise_.data();
    return view;
  }

 private:
  DeviceTable<T> table_;
  DeviceBuffer<std::int32_t> position_;
  DeviceBuffer<DerivativeTerms<T>> derivative_, rise_;
};

}  // namespace fmbem::cuda
