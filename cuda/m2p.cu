// M2P of hybrids.
#include <array>

#include "fmbem/cuda/acting.cuh"
#include "fmbem/cuda/m2p.cuh"
#include "fmbem/cuda/monomials.cuh"

namespace fmbem::cuda {
namespace {

/// Cartesian expansions of boxes that have moments of harmonics.
template <class T, int P>
struct MonomialSeries : CartesianSeries<T, P> {
  RowsView<T> rows;

  __device__ explicit MonomialSeries(const RowsView<T>& of_moments) : rows(of_moments) {}
  template <int Channels>
  __device__ void load(const fmm::Laplace&, const T* moment, T* room) const {
    for (int k = threadIdx.x % warp_size; k < this->monomials; k += warp_size)
      room[k] = monomial_of(rows, k, moment);
  }
};

/// Numbers of shared memory for a warp's expansion: a multiple of 16 bytes.
template <class T>
__host__ __device__ int numbers_of_expansion(const M2pArguments<T>& a, int channels) {
  const int numbers = a.monomials.begin ? fmm::monomial_count(a.table.p)
                                        : numbers_of_series(a.table.pairs, channels);
  return (numbers + 3) / 4 * 4;
}

/// A block for each item, from `first` on. P: 0 for spherical expansions, else the degree of
/// Cartesian ones.
template <class T, class Kernel, int Channels, int P>
__global__ void __launch_bounds__(most_acting_warps* warp_size)
    m2p_kernel(const __grid_constant__ M2pArguments<T> a, std::int64_t first) {
  T* const s_room = dynamic_shared<T>();
  const IrregularSteps<T, Kernel> steps(a.table, s_room);
  const int warps = static_cast<int>(blockDim.x) / warp_size,
            warp = static_cast<int>(threadIdx.x) / warp_size;
  // Steps, then of each warp its expansion, then of each its sums.
  const int numbers = numbers_of_expansion(a, Channels);
  T* const rooms = s_room + IrregularSteps<T, Kernel>::numbers(a.table);
  T* const room = rooms + warp * numbers;
  auto* const sums = reinterpret_cast<ActingSums<Channels>*>(rooms + warps * numbers);
  const auto series = [&] {
    if constexpr (P == 0)
      return SphericalSeries<T, Kernel>{a.table, steps};
    else
      return MonomialSeries<T, P>(a.monomials);
  }();
  const Kernel in_tree = kernel_of<Kernel>(a.kappa);
  const ActingItem item = a.acting.items[first + blockIdx.x];
  sum_item<Channels>(
      item, a.targets, a.results, sums, [&]<int Each>(ItemTargets<Each, Channels>& targets) {
        for (int k = warp; k < item.boxes; k += warps) {
          const std::int32_t box = a.acting.boxes[item.begin + k];
          const Kernel kernel = in_unit(in_tree, ldexp(a.root.side, -a.tree.level(box)));
          __syncwarp();  // all are done with the one before
          series.template load<Channels>(kernel, a.expansions.moment(box, blockIdx.y), room);
          __syncwarp();
          const ToUnitBox<T, double> unit_box(a.root, a.tree, box);
          Vec3<T> d[Each];
#pragma unroll
          for (int t = 0; t < Each; ++t)
            d[t] = unit_box(targets.x[t].x, targets.x[t].y, targets.x[t].z);
          T far[Each][Channels] = {};
          add_m2p(series, kernel, room, d, static_cast<T>(unit_box.scale), far);
          if (targets.group() > 0) continue;  // which has the same targets
#pragma unroll
          for (int t = 0; t < Each; ++t)
#pragma unroll
            for (int c = 0; c < Channels; ++c)
              targets.total[t][c] += static_cast<double>(far[t][c]);
        }
      });
}

template <class T, class Kernel, int Channels>
void launch_m2p(const M2pArguments<T>& a, cudaStream_t stream) {
  const auto launch_kernel = [&](void (*kernel)(M2pArguments<T>, std::int64_t)) {
    launch_items(
        kernel, a, a.expansions.vectors, sizeof(T) * IrregularSteps<T, Kernel>::numbers(a.table),
        sizeof(T) * numbers_of_expansion(a, Channels) + sizeof(ActingSums<Channels>), stream);
  };
  if constexpr (Kernel::homogeneous) {
    static_assert(fmm::highest_cartesian_order == 6);
    const std::array<void (*)(M2pArguments<T>, std::int64_t), 7> kernels{
        m2p_kernel<T, Kernel, Channels, 0>, m2p_kernel<T, Kernel, Channels, 1>,
        m2p_kernel<T, Kernel, Channels, 2>, m2p_kernel<T, Kernel, Channels, 3>,
        m2p_kernel<T, Kernel, Channels, 4>, m2p_kernel<T, Kernel, Channels, 5>,
        m2p_kernel<T, Kernel, Channels, 6>};
    launch_kernel(kernels[a.monomials.begin ? a.table.p : 0]);
  } else {
    launch_kernel(m2p_kernel<T, Kernel, Channels, 0>);
  }
}

}  // namespace

template <class T>
void m2p(const M2pArguments<T>& a, cudaStream_t stream) {
  fmm::with_kernel(a.kappa, [&]<class Kernel>(Kernel) {
    a.results.gradient[0] ? launch_m2p<T, Kernel, 4>(a, stream)
                          : launch_m2p<T, Kernel, 1>(a, stream);
  });
}

template void m2p(const M2pArguments<double>&, cudaStream_t);
template void m2p(const M2pArguments<float>&, cudaStream_t);

}  // namespace fmbem::cuda
