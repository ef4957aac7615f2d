#pragma once

#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/near/cuda/rules.cuh"
#include "fmbem/bem/space/cuda/device_pieces.cuh"

namespace fmbem::cuda::bem {

class BoxStacks;

/// Where long panels are cut, their pieces and the rules for these.
struct PieceMoments {
  PiecesView pieces;
  StripMomentRulesView rules;
};

/// What the sources are: charged panels, some of them in pieces, or whole panels of dipoles along
/// their normals, or of charges and dipoles.
enum class PanelKind { whole, with_pieces, dipoles, charges_and_dipoles };

/// P2M of panels or their pieces: M = Σ charge_j ∫ harmonics over source j in the boxes whose own
/// sources they are, over areas in the tree's unit; of dipoles the harmonics' derivative along the
/// normal. Charges are [vectors][sources] in the tree's order, or [vectors][2][sources] with those
/// of dipoles second. Integrals are those of rules that are accurate from a side of the box on,
/// anew in every call: so no moments of panels, K numbers each, are stored. `pieces` and
/// `stacks`, of boxes that are summed as such, are null where there are none.
template <class T>
void panel_p2m(const PanelStore& panels, const SpreadTree& tree, PanelKind kind,
               const MomentRules& rules, const PieceMoments* pieces, const BoxStacks* stacks,
               const TableView<T>& table, const T* charges, const ExpansionsView<T>& expansions,
               const FarKernel& kernel, cudaStream_t stream);

/// The transposed stage, with the same integrals: ∫ L over source j, or of its derivative along the
/// normal, L being the local expansion of the box whose own source it is, in the tree's unit. Fills
/// values, [vectors][sources] by the sources' numbers. Not of charges and dipoles together.
template <class T>
void panel_l2p(const PanelStore& panels, const SpreadTree& tree, PanelKind kind,
               const MomentRules& rules, const PieceMoments* pieces, const TableView<T>& table,
               const ExpansionsView<T>& expansions, const FarKernel& kernel, double* values,
               cudaStream_t stream);

}  // namespace fmbem::cuda::bem
