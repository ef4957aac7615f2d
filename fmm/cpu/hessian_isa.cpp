// Second derivatives of the near field, compiled once for each instruction set.
#include "fmbem/fmm/cpu/kernels_isa.hpp"
#include "fmbem/fmm/cpu/roots_isa.hpp"

namespace fmbem::fmm::FMBEM_ISA {
namespace {

struct HessianSums {
  Vec<double> xx{}, xy{}, xz{}, yy{}, yz{}, zz{};
};

template <bool Dipoles, class Kernel>
void hessian_of(Kernel kernel, const NearSources<double>& s, const HessianTargets& t) {
  constexpr int lanes = Simd<double>::lanes, terms = 3;
  for (std::int64_t first = 0; first < t.count; first += lanes) {
    const Vec<double> x = load(t.x + first), y = load(t.y + first), z = load(t.z + first);
    HessianSums sums;
    None all_far;
    for (std::int64_t j = 0; j < s.count; ++j) {
      const Vec<double> dx = x - s.x[j], dy = y - s.y[j], dz = z - s.z[j];
      const Vec<double> r2 = dx * dx + dy * dy + dz * dz;
      Vec<double> w = inverse_root<double, terms>(kernel, r2, all_far);
      w *= 1 / root_scale<double, terms>;
      Vec3d dipole;
      if constexpr (Dipoles) dipole = {s.dipole_x[j], s.dipole_y[j], s.dipole_z[j]};
      add_pair_hessian<Dipoles>(kernel.radial(r2, w), s.charge[j], dipole, {dx, dy, dz}, sums);
    }
    const Vec<double> entries[6] = {sums.xx, sums.xy, sums.xz, sums.yy, sums.yz, sums.zz};
    for (int k = 0; k < 6; ++k) {
      double* p = t.entry[k] + first;
      store(p, load(p) + entries[k]);
    }
  }
}

}  // namespace

template <class Kernel>
void near_hessian(Kernel kernel, const NearSources<double>& s, const HessianTargets& t) {
  s.dipole_x ? hessian_of<true>(kernel, s, t) : hessian_of<false>(kernel, s, t);
}

#define FMBEM_INSTANTIATE(Kernel) \
  template void near_hessian(Kernel, const NearSources<double>&, const HessianTargets&);
FMBEM_FOR_EACH_PAIR_KERNEL(FMBEM_INSTANTIATE)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::fmm::FMBEM_ISA
