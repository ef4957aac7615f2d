#pragma once

#include "fmbem/bem/space/cuda/panel_stages.cuh"

namespace fmbem::cuda::bem {

/// The moments of each panel in the box whose own source it is, of density one: ∫ harmonics over
/// the panel, or of their derivatives along its normal. With them P2M and L2P of panels are sums of
/// what is read, once for up to four vectors, as matrices and their transposes are multiplied. They
/// take (p + 1)(p + 2) numbers of T a panel, twice as many for charges and dipoles.
template <class T>
class PanelMoments {
 public:
  /// Of whole panels: kind is not with_pieces. Enqueues their integrals. Panels and tree must
  /// outlive it.
  PanelMoments(const PanelStore& panels, const SpreadTree& tree, PanelKind kind,
               const MomentRules& rules, const TableView<T>& table, const FarKernel& kernel,
               cudaStream_t stream);

  static std::int64_t bytes_for(std::int64_t sources, PanelKind kind, const TableView<T>& table);
  std::int64_t bytes() const { return moments_.bytes(); }

  /// As panel_p2m() and panel_l2p(), that of `kind` PanelKind::whole or PanelKind::dipoles.
  void p2m(const T* charges, const ExpansionsView<T>& expansions, cudaStream_t stream) const;
  void l2p(PanelKind kind, const ExpansionsView<T>& expansions, double* values,
           cudaStream_t stream) const;

 private:
  const PanelStore& panels_;
  const SpreadTree& tree_;
  const MomentRules& rules_;
  TableView<T> table_;
  int top_level_, kinds_;
  DeviceBuffer<T> moments_;  ///< [kinds][sources][stride]
};

}  // namespace fmbem::cuda::bem
