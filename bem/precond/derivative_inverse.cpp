#include "fmbem/bem/precond/derivative_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fmbem/bem/precond/mixed_kernel.hpp"
#include "fmbem/bem/precond/small_system.hpp"
#include "fmbem/bem/precond/solvation_rows.hpp"
#include "fmbem/fmm/base/simd.hpp"
#include "fmbem/fmm/base/vector_exp.hpp"

namespace fmbem {
namespace {

/// Nodes of a cut, from a leaf's centroid on and in units of its radius, which single precision can
/// hold: places, squares of smears and mean normals, as a structure of arrays.
struct NodeColumns {
  std::vector<float> x, y, z, smear2, normal_x, normal_y, normal_z;

  void resize(std::size_t m) {
    for (auto* column : {&x, &y, &z, &smear2, &normal_x, &normal_y, &normal_z}) column->resize(m);
  }
};

/// Factors of a kernel's V, K, K' and D, with a source's area over 4π, for lengths in that unit.
struct KernelFactors {
  float kappa, v, k, k_adjoint, d;
};

/// Adds what node l gives by one kernel on the nodes [begin, end) to its two columns of a system,
/// each [nodes][equations]. Of a node on itself K and K' are 0.
FMBEM_SIMD_CLONES void add_kernel(int begin, int end, const float* x, const float* y,
                                  const float* z, const float* smear2, const float* normal_x,
                                  const float* normal_y, const float* normal_z, int l,
                                  const KernelFactors& of, float* of_potential, float* of_flux) {
#pragma omp simd
  for (int i = begin; i < end; ++i) {
    const float dx = x[i] - x[l], dy = y[i] - y[l], dz = z[i] - z[l];
    const float r2 = dx * dx + dy * dy + dz * dz + smear2[i] + smear2[l];
    const float over = 1 / std::sqrt(r2), over2 = over * over, kappa_r = of.kappa * r2 * over;
    const float g = expf(-kappa_r) * over, slope = (1 + kappa_r) * g * over2,
                bend = 3 * slope + kappa_r * kappa_r * g * over2;
    // Over r: of panels far smaller than their leaf 1/r⁵ is beyond single precision.
    const float along_source = (normal_x[l] * dx + normal_y[l] * dy + normal_z[l] * dz) * over,
                along_target = (normal_x[i] * dx + normal_y[i] * dy + normal_z[i] * dz) * over,
                normals = normal_x[l] * normal_x[i] + normal_y[l] * normal_y[i] +
                          normal_z[l] * normal_z[i];
    const float slope_r = (1 + kappa_r) * g * over;
    of_potential[2 * i] += of.k * along_source * slope_r;
    of_potential[2 * i + 1] += of.d * (normals * slope - along_source * along_target * bend);
    of_flux[2 * i] += of.v * g;
    of_flux[2 * i + 1] -= of.k_adjoint * along_target * slope_r;
  }
}

/// Solves the small systems. Holds a thread's buffers.
class DerivativeAssembly {
 public:
  DerivativeAssembly(const ClusterTree& tree, std::span<const NodeSides> sides,
                     const PanelSurfaces& surfaces, const SurfaceEquations& equations)
      : tree_(tree), sides_(sides), surfaces_(surfaces), equations_(equations) {}

  /// rows: [cut][equations][own][φ and q]. False if the system is singular.
  bool solve(std::span<const std::int32_t> cut, const Cluster& leaf, float* rows) {
    const auto m = static_cast<int>(cut.size());
    unit_ = 1 / leaf.radius;
    place(cut, leaf.centroid);
    matrix_.resize(2 * m);
    for (int l = 0; l < m; ++l) fill_columns(cut, l);
    return matrix_.invert_last_rows(2 * leaf.size(), rows);
  }

 private:
  /// Nodes of one surface that follow each other in a cut.
  struct Run {
    std::size_t surface;
    int begin, end;
  };

  void place(std::span<const std::int32_t> cut, Vec3d origin) {
    nodes_.resize(cut.size());
    runs_.clear();
    for (std::size_t k = 0; k < cut.size(); ++k) {
      const Cluster& node = tree_.nodes[cut[k]];
      const Vec3d d = unit_ * (node.centroid - origin), normal = sides_[cut[k]].normal;
      nodes_.x[k] = static_cast<float>(d.x);
      nodes_.y[k] = static_cast<float>(d.y);
      nodes_.z[k] = static_cast<float>(d.z);
      nodes_.smear2[k] = placed_point_smear2(node, unit_);
      nodes_.normal_x[k] = static_cast<float>(normal.x);
      nodes_.normal_y[k] = static_cast<float>(normal.y);
      nodes_.normal_z[k] = static_cast<float>(normal.z);
      const auto at = static_cast<int>(k);
      const std::size_t surface = surface_of(cut[k]);
      if (runs_.empty() || runs_.back().surface != surface) runs_.push_back({surface, at, at});
      runs_.back().end = at + 1;
    }
  }

  std::size_t surface_of(std::int32_t node) const {
    return surfaces_.surface_of(static_cast<std::size_t>(tree_.panel(tree_.nodes[node].begin)));
  }

  void fill_columns(std::span<const std::int32_t> cut, int l) {
    float *const of_potential = matrix_.column(2 * l), *const of_flux = matrix_.column(2 * l + 1);
    std::fill_n(of_potential, 2 * cut.size(), 0.0F);
    std::fill_n(of_flux, 2 * cut.size(), 0.0F);
    const double charge = inv_4pi * unit_ * unit_ * tree_.nodes[cut[l]].area;
    const std::size_t from = surface_of(cut[l]);
    for (const Run& run : runs_)
      for (const GreenTerm& term : equations_.terms(run.surface, from))
        add_kernel(
            run.begin, run.end, nodes_.x.data(), nodes_.y.data(), nodes_.z.data(),
            nodes_.smear2.data(), nodes_.normal_x.data(), nodes_.normal_y.data(),
            nodes_.normal_z.data(), l,
            {static_cast<float>(term.kappa / unit_), static_cast<float>(charge / unit_ * term.v),
             static_cast<float>(charge * term.k), static_cast<float>(charge * term.k_adjoint),
             static_cast<float>(charge * unit_ * term.d)},
            of_potential, of_flux);
    const double k_of_itself = own_k(cut, l, from);
    // Weighted by areas K' is K transposed, so that both are the same of a node on itself.
    double k = equations_.own[from][0], k_adjoint = equations_.own[from][1];
    for (const GreenTerm& term : equations_.terms(from, from)) {
      const double kappa_r = term.kappa * std::sqrt(2 * point_smear2(tree_.nodes[cut[l]])),
                   screened_k = (1 + kappa_r) * std::exp(-kappa_r) * k_of_itself;
      k += term.k * screened_k;
      k_adjoint += term.k_adjoint * screened_k;
    }
    of_potential[2 * l] += static_cast<float>(k);
    of_flux[2 * l + 1] += static_cast<float>(k_adjoint);
  }

  /// K of a node of a surface on itself. Where K takes the most from constants, as in cavities
  /// with ε of 80 in one of 4, it is what the sums over closed surfaces, −½, leave: else a tenth of
  /// error in K would be all of what is left of them.
  double own_k(std::span<const std::int32_t> cut, int at, std::size_t surface) const {
    double of_constants = 0;
    for (const GreenTerm& term : equations_.terms(surface, surface)) of_constants += term.k;
    if (of_constants <= 0) return sides_[cut[at]].own_k;
    double result = -0.5;
    const Cluster& node = tree_.nodes[cut[at]];
    for (const Run& run : runs_)
      for (int l = run.begin; l < run.end && run.surface == surface; ++l) {
        const Cluster& other = tree_.nodes[cut[l]];
        if (l != at)
          result -= smooth_k(node, other, sides_[cut[l]].normal, smeared_distance(node, other));
      }
    return result;
  }

  const ClusterTree& tree_;
  std::span<const NodeSides> sides_;
  const PanelSurfaces& surfaces_;
  const SurfaceEquations& equations_;
  double unit_ = 1;  ///< the leaf's radius is 1
  NodeColumns nodes_;
  std::vector<Run> runs_;
  SmallMatrix matrix_;
};

}  // namespace

std::unique_ptr<ApproximateInverse> make_derivative_inverse(const Panels& panels,
                                                            const RegionsOfPanels& regions,
                                                            const PanelSurfaces& surfaces,
                                                            const SurfaceEquations& equations,
                                                            const ClusterInverseOptions& cuts) {
  return std::make_unique<SolvationRows>(
      "cluster inverse for equations with derivatives", panels, regions, cuts,
      [&](const LargeVector<Triangle>&, const ClusterTree& tree, std::span<const NodeSides> sides) {
        return DerivativeAssembly(tree, sides, surfaces, equations);
      });
}

}  // namespace fmbem
