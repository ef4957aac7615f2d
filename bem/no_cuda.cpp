#include <utility>

#include "fmbem/bem/geometry/cuda/sort_panels.hpp"
#include "fmbem/bem/layer/cuda/area_scaling.hpp"
#include "fmbem/bem/layer/cuda/fmm_operator.hpp"
#include "fmbem/bem/layer/cuda/green_product.hpp"
#include "fmbem/bem/layer/cuda/layer_at_points.hpp"
#include "fmbem/bem/layer/cuda/mixed_vectors.hpp"
#include "fmbem/bem/layer/cuda/pair_vectors.hpp"
#include "fmbem/bem/layer/cuda/potential_at_points.hpp"
#include "fmbem/bem/precond/cuda/cluster_inverse.hpp"
#include "fmbem/bem/precond/cuda/mixed_inverse.hpp"
#include "fmbem/bem/precond/cuda/panel_blocks.hpp"
#include "fmbem/bem/precond/cuda/solvation_inverse.hpp"
#include "fmbem/cuda/device.hpp"

namespace fmbem::cuda::bem {

SortedPanels sort_panels(std::span<const Vec3d>, std::span<const std::array<int, 3>>, double) {
  require_cuda_device();
  return {};
}

std::shared_ptr<BoundaryOperator> make_fmm_operator(const Panels&, const Layer&,
                                                    const OperatorOptions&, const PanelBlock&) {
  require_cuda_device();
  return nullptr;
}

struct GreenProduct::Impl {};

GreenProduct::GreenProduct(const Panels&, const PanelBlock&, std::span<const GreenTerm>,
                           const GreenAccuracy&) {
  require_cuda_device();
}
GreenProduct::~GreenProduct() = default;

std::vector<double> layer_potential(const Panels&, const SurfaceDensities&, std::span<const Vec3d>,
                                    const PotentialAtPoints&) {
  require_cuda_device();
  return {};
}

std::vector<PointOnPanel> set_layer_field(const Panels&, std::span<const double>,
                                          std::span<const Vec3d>, const LayerAtPoints&, Field&,
                                          LayerAtPointsInfo*) {
  require_cuda_device();
  return {};
}

struct DeviceInverse::Impl {};
DeviceInverse::DeviceInverse(std::string name) : name_(std::move(name)) {}
DeviceInverse::~DeviceInverse() = default;

ClusterInverse::ClusterInverse(const Panels&, const ClusterInverseOptions&) : DeviceInverse("") {
  require_cuda_device();
}
ClusterInverse::ClusterInverse(const DevicePanels&, const ClusterInverseOptions&)
    : DeviceInverse("") {
  require_cuda_device();
}

MixedInverse::MixedInverse(const Panels&, const MixedRows&, const MixedInverseOptions&)
    : DeviceInverse("") {
  require_cuda_device();
}

SolvationInverse::SolvationInverse(const Panels&, const RegionsOfPanels&) : DeviceInverse("") {
  require_cuda_device();
}

struct PairPart::Impl {};

PairPart::PairPart(const PairBlocks&, const PairPlaces&) { require_cuda_device(); }
PairPart::~PairPart() = default;
PairPart::PairPart(PairPart&&) noexcept = default;
PairPart& PairPart::operator=(PairPart&&) noexcept = default;

PairBlocks inverse_of_panel_blocks(const Panels&, const PanelSurfaces&,
                                   std::span<const PanelBlockTerms>) {
  require_cuda_device();
  return PairBlocks(DeviceArray<double>());
}

struct MixedVectors::Parts {};

MixedVectors::MixedVectors(const std::vector<RowFactors>&, const ChargeEquations&) {
  require_cuda_device();
}
MixedVectors::~MixedVectors() = default;

// None can be made, so none of these is reached.
void GreenProduct::multiply(const double*, double*) const {}
void GreenProduct::multiply_on_device(const double*, double*) const {}
void GreenProduct::flux_on_device(const double*, double*) const {}
void GreenProduct::multiply_transposed(const double*, double*) const {}
void GreenProduct::flux_transposed_on_device(const double*, double*) const {}
void GreenProduct::wait() const {}
double GreenProduct::norm_of_v() const { return 0; }
void GreenProduct::describe(OperatorInfo&) const {}
const double* AreaScaling::multiplied(const double*, int) { return nullptr; }
const double* AreaScaling::divided(const double*, int) { return nullptr; }
void AreaScaling::multiply(double*, int) const {}
void AreaScaling::divide(double*, int) const {}
void AreaScaling::multiply_each(double*, const Columns&, std::size_t) const {}
void AreaScaling::divide_each(double*, const Columns&, std::size_t) const {}
void AreaScaling::wait() const {}
void MixedVectors::clear(double*, int) const {}
void MixedVectors::set(std::size_t, const double*, double*, int) const {}
void MixedVectors::set_columns(std::size_t, const Columns&, double*) const {}
void MixedVectors::add(std::size_t, const double*, double*, int) const {}
void MixedVectors::sum_fluxes(std::size_t, const double*, int) {}
void MixedVectors::change_rows(const double*, double*, int) {}
const double* MixedVectors::change_rows_transposed(const double*, double*, int) { return nullptr; }
void MixedVectors::take(std::size_t, const double*, bool, double*, int) const {}
void MixedVectors::add(const double*, double*, int) const {}
double* MixedVectors::room(int) { return nullptr; }
void MixedVectors::wait() const {}
void PairBlocks::multiply(const double*, double*, int) const {}
const double* PairPart::sources(const double*) const { return nullptr; }
double* PairPart::results() const { return nullptr; }
double* PairPart::flux() const { return nullptr; }
void PairBlocks::wait() const {}
void PairPart::clear() const {}
void PairPart::add_flux(double) const {}
void PairPart::add(double*) const {}
void DeviceInverse::multiply(const double*, double*, const Product&) const {}
void DeviceInverse::multiply_on_device(const double*, double*, const Product&) const {}
void DeviceInverse::wait() const {}
std::int64_t DeviceInverse::memory_bytes() const { return 0; }
std::size_t DeviceInverse::size() const { return 0; }

}  // namespace fmbem::cuda::bem
