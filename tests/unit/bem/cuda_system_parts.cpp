// What the GPU makes small systems of mixed rows of: its cuts against the host's, and its parts,
// put together and solved in double precision by plain elimination, against the rows of the host's
// inverse.
#include <algorithm>
#include <cmath>
#include <vector>

#include "fmbem/bem/precond/mixed_inverse.hpp"
#include "tests/unit/bem/device_systems.hpp"
#include "tests/unit/bem/plain_inverse.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/mixed_dense.hpp"
#include "tests/unit/mixed_surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::cuda_system_parts_tests {

namespace {

/// The equations of a leaf: smooth entries, what is set, given rows, and laws in place of means.
Matrix equations_of(const SystemBatch& batch, std::size_t leaf) {
  const SystemNode* const nodes = batch.nodes.data() + batch.node_begin[leaf];
  const int m = batch.node_begin[leaf + 1] - batch.node_begin[leaf];
  Matrix a(m, std::vector<double>(m));
  for (int k = 0; k < m; ++k) REQUIRE(norm2(nodes[k].segment.half) == 0);  // none is long
  for (int k = 0; k < m; ++k)
    for (int l = 0; l < m; ++l) {
      const SystemNode &to = nodes[k], &from = nodes[l];
      const Vec3<float> d{to.x - from.x, to.y - from.y, to.z - from.z};
      const double r2 = double(norm2(d)) + to.smear2 + from.smear2, r = std::sqrt(r2);
      a[k][l] = k == l
                    ? to.own
                    : from.strength / r *
                          (to.row.alpha -
                           (to.row.flux_x * d.x + to.row.flux_y * d.y + to.row.flux_z * d.z) / r2);
    }
  for (int e = batch.entry_begin[leaf]; e < batch.entry_begin[leaf + 1]; ++e)
    a[batch.entries[e].row][batch.entries[e].column] = batch.entries[e].value;
  for (int g = batch.given_begin[leaf]; g < batch.given_begin[leaf + 1]; ++g)
    for (int l = 0; l < m; ++l)
      a[batch.given[g].place][l] = batch.numbers[batch.given[g].numbers + l];
  const Matrix before = a;
  for (int n = batch.law_begin[leaf]; n < batch.law_begin[leaf + 1]; ++n) {
    const SystemLaw& law = batch.laws[n];
    for (int l = 0; l < m; ++l) {
      double mean = 0, entry = batch.numbers[law.numbers + l];
      for (int k = 0; k < m; ++k)
        if (nodes[k].law == n - batch.law_begin[leaf]) mean += nodes[k].share * before[k][l];
      for (int t = law.terms_begin; t < law.terms_end; ++t)
        entry += batch.terms[t].factor * before[batch.terms[t].place][l];
      for (int k = 0; k < m; ++k)
        if (nodes[k].law == n - batch.law_begin[leaf]) a[k][l] -= mean;
      a[law.place][l] = entry;
    }
  }
  return a;
}

/// What the equations with laws make of right-hand sides, for each: rows less their mean, and the
/// mean in the row of the law. [m][m], of the batch's leaf.
Matrix right_sides_of(const SystemBatch& batch, std::size_t leaf) {
  const SystemNode* const nodes = batch.nodes.data() + batch.node_begin[leaf];
  const int m = batch.node_begin[leaf + 1] - batch.node_begin[leaf];
  Matrix s(m, std::vector<double>(m, 0.0));
  for (int k = 0; k < m; ++k) s[k][k] = 1;
  for (int n = batch.law_begin[leaf]; n < batch.law_begin[leaf + 1]; ++n)
    for (int l = 0; l < m; ++l) {
      if (nodes[l].law != n - batch.law_begin[leaf]) continue;
      for (int k = 0; k < m; ++k)
        if (nodes[k].law == nodes[l].law) s[k][l] -= nodes[l].share;
      s[batch.laws[n].place][l] = nodes[l].share;
    }
  return s;
}

/// ‖rows of the equations' inverse − the host's rows‖ over the former, of the batch's leaf.
double difference_of_rows(const SystemBatch& batch, std::size_t leaf, int own,
                          const float* of_host) {
  const Matrix x = inverse_of(equations_of(batch, leaf)), s = right_sides_of(batch, leaf);
  const auto m = static_cast<int>(x.size());
  double error2 = 0, size2 = 0;
  for (int i = 0; i < own; ++i)
    for (int k = 0; k < m; ++k) {
      double here = 0;
      for (int l = 0; l < m; ++l) here += x[m - own + i][l] * s[l][k];
      error2 += std::pow(here - of_host[k * own + i], 2);
      size2 += here * here;
    }
  return std::sqrt(error2 / size2);
}

/// Those of two dielectrics, where a law of charges, fluxes and rows has replaced the mean of the
/// first one's.
MixedRows stretched_rows(const Panels& panels, const MixedSurface& surface) {
  MixedRows rows = mixed_rows(surface, panels);
  rows.equations.clear();
  rows.shifts = {{0, {{0, 1, 0, -1}, {1, 0, 0.3, 0.2}}}};
  rows.stretched = {{{0, 1}}};
  return rows;
}

void check_against_host(const Panels& panels, const MixedRows& rows) {
  const auto triangles = triangles_of(panels);
  const MixedInverse host(panels, triangles, rows);
  const SystemsOnDevice device = systems_on_device(panels, rows);
  const ClusterRows& cuts = host.cluster_rows();
  const ClusterTree& tree = cuts.tree();
  CAPTURE(panels.size());

  // Trees to rounding, cuts exactly.
  REQUIRE(device.nodes.size() == tree.nodes.size());
  double worst = 0;
  int different = 0;
  for (std::size_t k = 0; k < tree.nodes.size(); ++k) {
    const Cluster &here = tree.nodes[k], &there = device.nodes[k];
    different += here.begin != there.begin || here.end != there.end || here.left != there.left ||
                 here.right != there.right;
    for (const double error :
         {std::abs(there.area / here.area - 1),
          norm(there.centroid - here.centroid) / panels.extent,
          std::abs(there.radius - here.radius) / panels.extent,
          std::abs(there.smear2 - here.smear2) / (here.smear2 > 0 ? here.smear2 : here.area)})
      worst = larger_error(worst, error);
  }
  CHECK(different == 0);
  CHECK(worst < 1e-12);
  REQUIRE(device.leaves == tree.leaves);
  REQUIRE(device.cuts == std::vector<std::int32_t>(cuts.cuts().begin(), cuts.cuts().end()));
  REQUIRE(std::equal(device.cut_begin.begin(), device.cut_begin.end(), cuts.cut_begin().begin(),
                     cuts.cut_begin().end()));

  std::size_t f = 0;
  for (const SystemBatch& batch : device.batches)
    for (std::size_t leaf = 0; leaf + 1 < batch.node_begin.size(); ++leaf, ++f) {
      CAPTURE(f);
      // The host's elimination is in single precision; rows go on in half precision anyway.
      CHECK(difference_of_rows(batch, leaf, tree.nodes[tree.leaves[f]].size(),
                               cuts.rows() + cuts.row_begin()[f]) < 1e-3);
    }
  CHECK(f == tree.leaves.size());
}

}  // namespace

TEST_CASE("small systems of mixed rows on the GPU have the host's cuts and rows") {
  if (!gpu_is_there()) return;
  for (const MixedSurface& surface :
       {two_balls(4, 0.3, 4), coated_conductor(4, 1e4), mixed_cube(4, true), memory_cell(1, true),
        balls_between_plates(2, 2, 1e4, true), balls_between_plates(3, 1, 1e4, false)}) {
    const Panels panels = make_panels(surface.mesh);
    check_against_host(panels, mixed_rows(surface, panels));
  }
}

TEST_CASE("small systems on the GPU know the laws of stretched rows") {
  if (!gpu_is_there()) return;
  const MixedSurface surface = two_balls(4, 0.3, 4);
  const Panels panels = make_panels(surface.mesh);
  check_against_host(panels, stretched_rows(panels, surface));
}

}  // namespace fmbem::test::cuda_system_parts_tests
