// Small systems of mixed rows in parts, as a GPU gets them, put together and solved in double
// precision by plain elimination, against the rows of the host's inverse.
#include "fmbem/bem/precond/system_parts.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "fmbem/bem/precond/mixed_inverse.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/mixed_dense.hpp"
#include "tests/unit/mixed_surfaces.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

/// [row][column]
using Matrix = std::vector<std::vector<double>>;

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

/// The inverse by Gauss' and Jordan's elimination with pivots.
Matrix inverse_of(Matrix a) {
  const std::size_t m = a.size();
  Matrix x(m, std::vector<double>(m, 0.0));
  for (std::size_t k = 0; k < m; ++k) x[k][k] = 1;
  for (std::size_t k = 0; k < m; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < m; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    std::swap(x[k], x[pivot]);
    for (std::size_t i = 0; i < m; ++i) {
      if (i == k || a[i][k] == 0) continue;
      const double factor = a[i][k] / a[k][k];
      for (std::size_t l = k; l < m; ++l) a[i][l] -= factor * a[k][l];
      for (std::size_t l = 0; l < m; ++l) x[i][l] -= factor * x[k][l];
    }
    for (std::size_t l = 0; l < m; ++l) x[k][l] /= a[k][k];
    for (std::size_t l = m; l-- > k;) a[k][l] /= a[k][k];
  }
  return x;
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

}  // namespace

TEST_CASE("small systems of mixed rows in parts have the rows of the host's inverse") {
  for (const MixedSurface& surface : {two_balls(4, 0.3, 4), coated_conductor(4, 1e4),
                                      mixed_cube(4, true), balls_between_plates(2, 2, 1e4, true)}) {
    const Panels panels = make_panels(surface.mesh);
    const MixedRows rows = mixed_rows(surface, panels);
    const auto triangles = triangles_of(panels);
    const MixedInverse host(panels, triangles, rows);
    const MixedSystems<double> systems(panels, triangles, rows, {}, false);
    const ClusterRows& cuts = systems.rows;
    REQUIRE(cuts.leaves() == host.leaves());
    const std::size_t half = cuts.leaves() / 2;
    for (const auto& [first, last] : {std::pair(std::size_t{0}, half), {half, cuts.leaves()}}) {
      const SystemBatch batch = system_batch(triangles, systems, first, last);
      for (std::size_t f = first; f < last; ++f) {
        const Matrix x = inverse_of(equations_of(batch, f - first)),
                     s = right_sides_of(batch, f - first);
        const auto m = static_cast<int>(x.size());
        const int own = cuts.tree().nodes[cuts.tree().leaves[f]].size();
        const float* const there = host.cluster_rows().rows() + host.cluster_rows().row_begin()[f];
        double error2 = 0, size2 = 0;
        for (int i = 0; i < own; ++i)
          for (int k = 0; k < m; ++k) {
            double here = 0;
            for (int l = 0; l < m; ++l) here += x[m - own + i][l] * s[l][k];
            error2 += std::pow(here - there[k * own + i], 2);
            size2 += here * here;
          }
        CAPTURE(surface.mesh.triangles.size(), f, m);
        // The host's elimination is in single precision; rows go on in half precision anyway.
        CHECK(error2 < 1e-3 * 1e-3 * size2);
      }
    }
  }
}
