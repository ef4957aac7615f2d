#include "fmbem/bem/precond/solvation_inverse.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/near/near_integrals.hpp"
#include "fmbem/bem/precond/cuda/solvation_inverse.hpp"
#include "fmbem/bem/precond/small_system.hpp"
#include "fmbem/bem/precond/solvation_nodes.hpp"
#include "fmbem/bem/precond/solvation_rows.hpp"
#include "fmbem/fmm/base/simd.hpp"
#include "fmbem/fmm/base/vector_exp.hpp"

namespace fmbem {
namespace {

/// Relative error of the integrals between panels.
constexpr double of_entries = 1e-3;

/// Nodes of a cut, from a leaf's centroid on, as a structure of arrays.
struct CutNodes {
  std::vector<float> x, y, z, smear2;
};

/// A node as a source: its place, 1/(4π) times its area, and that times its normal.
struct SmearedSource {
  float x, y, z, smear2, charge, dipole_x, dipole_y, dipole_z;
};

/// Distances, V and K of a source at nodes as points that are smeared, without screening.
FMBEM_SIMD_CLONES void add_smeared(int m, const float* x, const float* y, const float* z,
                                   const float* smear2, const SmearedSource& from, float* distance,
                                   float* v, float* k) {
#pragma omp simd
  for (int i = 0; i < m; ++i) {
    const float dx = x[i] - from.x, dy = y[i] - from.y, dz = z[i] - from.z;
    const float d2 = dx * dx + dy * dy + dz * dz + smear2[i] + from.smear2;
    const float over = 1 / std::sqrt(d2);
    distance[i] = d2 * over;
    v[i] = from.charge * over;
    k[i] = (from.dipole_x * dx + from.dipole_y * dy + from.dipole_z * dz) * over * over * over;
  }
}

/// Factors of K and V in the equations of nodes, of the region on one of their sides, [nodes]; 0
/// where a source does not border on it. And κ of that region.
struct SideFactors {
  std::vector<float> of_k, of_v, kappa;
};
struct SideView {
  const float *of_k, *of_v, *kappa;
};

/// Two columns of a system, each [nodes][equations].
FMBEM_SIMD_CLONES void fill_columns(int m, const float* distance, const float* v, const float* k,
                                    const SideView& behind, const SideView& ahead,
                                    float* of_potential, float* of_flux) {
#pragma omp simd
  for (int i = 0; i < m; ++i) {
    const float near = behind.kappa[i] * distance[i], far = ahead.kappa[i] * distance[i];
    const float screened = expf(-near), screened_ahead = expf(-far);
    of_potential[2 * i] = behind.of_k[i] * (1 + near) * screened * k[i];
    of_potential[2 * i + 1] = ahead.of_k[i] * (1 + far) * screened_ahead * k[i];
    of_flux[2 * i] = behind.of_v[i] * screened * v[i];
    of_flux[2 * i + 1] = ahead.of_v[i] * screened_ahead * v[i];
  }
}

/// Solves the small systems. Holds a thread's buffers.
class Assembly {
 public:
  Assembly(const LargeVector<Triangle>& triangles, const RegionsOfPanels& regions,
           const ClusterTree& tree, std::span<const NodeSides> sides)
      : triangles_(triangles), regions_(regions), tree_(tree), sides_(sides) {}

  /// rows: [cut][equations of the region behind and of that ahead][own][φ and q]. False if the
  /// system is singular.
  bool solve(std::span<const std::int32_t> cut, const Cluster& leaf, float* rows) {
    const auto m = static_cast<int>(cut.size());
    place(cut, leaf.centroid);
    matrix_.resize(2 * m);
    const NodeSides* last = nullptr;
    for (int l = 0; l < m; ++l) {
      const NodeSides& sides = sides_[cut[l]];
      if (!last || last->inside != sides.inside || last->outside != sides.outside)
        find_factors(cut, sides);
      last = &sides;
      integrate(cut, l, leaf.centroid);
      float* const of_potential = matrix_.column(2 * l);
      fill_columns(m, distance_.data(), v_.data(), k_.data(), view(behind_), view(ahead_),
                   of_potential, matrix_.column(2 * l + 1));
      of_potential[2 * l] += 0.5F;
      of_potential[2 * l + 1] += 0.5F;
    }
    return matrix_.invert_last_rows(2 * leaf.size(), rows);
  }

 private:
  static SideView view(const SideFactors& of) {
    return {of.of_k.data(), of.of_v.data(), of.kappa.data()};
  }

  void place(std::span<const std::int32_t> cut, Vec3d origin) {
    targets_.clear();
    place_.clear();
    for (auto* column : {&nodes_.x, &nodes_.y, &nodes_.z, &nodes_.smear2, &distance_, &v_, &k_})
      column->resize(cut.size());
    for (std::size_t k = 0; k < cut.size(); ++k) {
      const Cluster& node = tree_.nodes[cut[k]];
      const Vec3d d = node.centroid - origin;
      nodes_.x[k] = static_cast<float>(d.x);
      nodes_.y[k] = static_cast<float>(d.y);
      nodes_.z[k] = static_cast<float>(d.z);
      nodes_.smear2[k] = static_cast<float>(point_smear2(node));
      if (!node.is_panel()) continue;
      place_.push_back(static_cast<int>(k));
      targets_.add(node.centroid);
    }
    targets_.pad();
  }

  /// Of a source between two regions.
  void find_factors(std::span<const std::int32_t> cut, const NodeSides& from) {
    for (SideFactors* side : {&behind_, &ahead_}) {
      for (auto* column : {&side->of_k, &side->of_v, &side->kappa}) column->resize(cut.size());
      for (std::size_t k = 0; k < cut.size(); ++k) {
        const NodeSides& node = sides_[cut[k]];
        const std::int32_t region = side == &behind_ ? node.inside : node.outside;
        const double sign = region == from.inside ? 1 : region == from.outside ? -1 : 0;
        side->of_k[k] = static_cast<float>(sign);
        side->of_v[k] = static_cast<float>(-sign * regions_.permittivity[from.inside] /
                                           regions_.permittivity[region]);
        side->kappa[k] = static_cast<float>(regions_.kappa[region]);
      }
    }
  }

  /// V and K of node l at all nodes, and the distances by which they are screened.
  void integrate(std::span<const std::int32_t> cut, int l, Vec3d origin) {
    const Cluster& node = tree_.nodes[cut[l]];
    const NodeSides& sides = sides_[cut[l]];
    const double charge = inv_4pi * node.area;
    const Vec3d d = node.centroid - origin, dipole = charge * sides.normal;
    add_smeared(static_cast<int>(cut.size()), nodes_.x.data(), nodes_.y.data(), nodes_.z.data(),
                nodes_.smear2.data(),
                {static_cast<float>(d.x), static_cast<float>(d.y), static_cast<float>(d.z),
                 nodes_.smear2[l], static_cast<float>(charge), static_cast<float>(dipole.x),
                 static_cast<float>(dipole.y), static_cast<float>(dipole.z)},
                distance_.data(), v_.data(), k_.data());
    k_[l] = static_cast<float>(sides.own_k);
    if (!node.is_panel()) return;
    const Triangle& from = triangles_[tree_.panel(node.begin)];
    integrals_.integrate(from, targets_);
    const auto set = [&](int at, double v, double k) {
      v_[place_[at]] = static_cast<float>(v);
      k_[place_[at]] = place_[at] == l ? 0 : static_cast<float>(k);
    };
    for (int at = 0; at < targets_.count(); ++at)
      set(at, integrals_.potential()[at],
          -dot(from.normal, Vec3d{integrals_.gradient(0)[at], integrals_.gradient(1)[at],
                                  integrals_.gradient(2)[at]}));
    for (const int at : integrals_.close())
      set(at, triangle_potential(from, targets_[at]), triangle_double_layer(from, targets_[at]));
  }

  const LargeVector<Triangle>& triangles_;
  const RegionsOfPanels& regions_;
  const ClusterTree& tree_;
  std::span<const NodeSides> sides_;
  NearIntegrals integrals_{of_entries, FarKernel::gradient};
  IntegralTargets targets_;
  std::vector<int> place_;  ///< of the panels in the cut
  CutNodes nodes_;
  SideFactors behind_, ahead_;
  SmallMatrix matrix_;
  std::vector<float> v_, k_, distance_;
};

}  // namespace

std::unique_ptr<ApproximateInverse> make_solvation_inverse(const Panels& panels,
                                                           const RegionsOfPanels& regions,
                                                           Processor processor) {
  if (processor == Processor::gpu)
    return std::make_unique<cuda::bem::SolvationInverse>(panels, regions);
  return std::make_unique<SolvationRows>(
      "cluster inverse for potentials and fluxes", panels, regions, solvation_cuts,
      [&](const LargeVector<Triangle>& triangles, const ClusterTree& tree,
          std::span<const NodeSides> sides) { return Assembly(triangles, regions, tree, sides); });
}

}  // namespace fmbem
