#pragma once

#include <memory>

#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/precond/charge_rows.hpp"
#include "fmbem/bem/precond/cuda/close_table.cuh"
#include "fmbem/bem/precond/cuda/cluster_tree.cuh"
#include "fmbem/bem/precond/mixed_systems.hpp"

namespace fmbem::cuda::bem {

/// Lists of parts in device memory.
struct DevicePartLists {
  DevicePartLists(const ChargeLaws<double>::Lists& lists, cudaStream_t stream);
  PartLists<double> view() const {
    return {begin.data(), number.data(), factor.data(), sum_before.data()};
  }
  DeviceBuffer<std::int32_t> begin, number;
  DeviceBuffer<double> factor, sum_before;
};

/// fmbem::ChargeRows in device memory.
class DeviceLaws {
 public:
  /// Waits for the device.
  DeviceLaws(const ChargeLaws<double>& laws, const DeviceClusterTree& tree,
             const std::int32_t* part_at, DeviceBuffer<double> charge_area, cudaStream_t stream);
  bool empty() const { return area_.size() == 0; }
  LawsOfNodes<double> view() const;

 private:
  NodeParts parts_;
  DeviceBuffer<double> charge_area_, share_of_part_, area_;
  DeviceBuffer<std::int32_t> law_of_part_, list_of_;
  DevicePartLists charges_, rows_;
  std::unique_ptr<DevicePartLists> others_;
};

/// What small systems of mixed rows are made of, in device memory: MixedSystems, whose places the
/// host finds.
class DeviceMixedNodes {
 public:
  /// Waits for the device. The panels and `places` must outlive it.
  DeviceMixedNodes(const PanelStore& panels, const MixedRows& rows, const MixedPlaces& places,
                   const MixedInverseOptions& options, cudaStream_t stream);

  DeviceClusterTree tree;
  DeviceCuts cuts;
  DeviceBuffer<std::int32_t> panel_at, part_at;  ///< [places]
  DeviceRowNodes view() const;
  const CloseTable& close() const { return *close_; }
  const DeviceLaws& laws() const { return *laws_; }

 private:
  void measure_rows(const MixedRows& rows, const MixedPlaces& places, double reach,
                    cudaStream_t stream);

  DevicePanels panels_;
  DeviceBuffer<MeanRow> means_;
  DeviceBuffer<double> reach_, alpha_, beta_;
  std::unique_ptr<CloseTable> close_;
  std::unique_ptr<DeviceLaws> laws_;
};

}  // namespace fmbem::cuda::bem
