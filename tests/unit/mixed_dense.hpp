#pragma once

// Mixed rows as products of dense matrices, and GMRES.
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"
#include "tests/unit/mixed_surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test {

/// y = A x with mixed rows and charge equations, of stored entries.
class DenseMixed {
 public:
  DenseMixed(const Panels& panels, MixedRows rows) : panels_(panels), rows_(std::move(rows)) {
    if (has(rows_.alpha)) v_ = make_dense_operator(panels, single_layer, {});
    if (has(rows_.beta)) k_ = make_dense_operator(panels, adjoint_double_layer, {});
  }

  Vector operator()(const Vector& x) const {
    Vector y(x.size(), 0.0);
    if (v_) add(product(*v_, x), rows_.alpha, y);
    if (k_) add(product(*k_, x), rows_.beta, y);
    add(x, rows_.gamma, y);
    replace_means(panels_, rows_, y, [&](const ChargeEquation& equation, double area) {
      double charge = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        double factor = rows_.part[i] == equation.part ? 1 : 0;
        for (const auto& other : equation.others)
          if (rows_.part[i] == other.part) factor += other.factor;
        if (!rows_.weight.empty()) factor *= rows_.weight[i];
        charge += factor * panels_.area(i) * x[i];
      }
      return charge / area;
    });
    return y;
  }

 private:
  static bool has(const Vector& factors) {
    for (const double factor : factors)
      if (factor != 0) return true;
    return false;
  }
  static void add(const Vector& x, const Vector& factors, Vector& y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += factors[i] * x[i];
  }

  const Panels& panels_;
  MixedRows rows_;
  std::shared_ptr<BoundaryOperator> v_, k_;
};

/// The iterations of GMRES until ‖b − A M y‖ is at most tolerance ‖b‖, by modified Gram-Schmidt and
/// Givens' rotations [Saad and Schultz 1986], or `most`; and x = M y.
struct GmresResult {
  int iterations;
  Vector x;
};
inline GmresResult gmres(const std::function<Vector(const Vector&)>& a,
                         const std::function<Vector(const Vector&)>& m, const Vector& b,
                         double tolerance, int most = 100) {
  const auto dot_of = [](const Vector& u, const Vector& v) {
    double sum = 0;
    for (std::size_t i = 0; i < u.size(); ++i) sum += u[i] * v[i];
    return sum;
  };
  const double size = norm_of(b);
  std::vector<Vector> basis{b}, h;
  Vector cosine, sine, g{size};
  for (double& v : basis[0]) v /= size;
  int k = 0;
  while (k < most && std::abs(g[k]) > tolerance * size) {
    Vector w = a(m(basis[k])), column;
    for (const Vector& v : basis) {
      column.push_back(dot_of(v, w));
      for (std::size_t i = 0; i < w.size(); ++i) w[i] -= column.back() * v[i];
    }
    const double length = norm_of(w);
    for (double& v : w) v /= length;
    basis.push_back(w);
    for (int j = 0; j < k; ++j) {
      const double upper = column[j];
      column[j] = cosine[j] * upper + sine[j] * column[j + 1];
      column[j + 1] = cosine[j] * column[j + 1] - sine[j] * upper;
    }
    const double r = std::hypot(column[k], length);
    cosine.push_back(column[k] / r);
    sine.push_back(length / r);
    column[k] = r;
    g.push_back(-sine[k] * g[k]);
    g[k] *= cosine[k];
    h.push_back(column);
    ++k;
  }
  Vector y(k), sum(b.size(), 0.0);
  for (int j = k - 1; j >= 0; --j) {
    y[j] = g[j];
    for (int l = j + 1; l < k; ++l) y[j] -= h[l][j] * y[l];
    y[j] /= h[j][j];
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += y[j] * basis[j][i];
  }
  return {k, m(sum)};
}

}  // namespace fmbem::test
