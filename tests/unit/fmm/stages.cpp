// Each stage of the CPU backend against its definition. Expansions that no stage has written are
// NaN, so that reading one is noticed.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "fmbem/fmm/cpu/near_data.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/expansion/m2l_blocks.hpp"
#include "fmbem/fmm/tree/merge_leaves.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/oracles.hpp"
#include "tests/unit/fmm/parity.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::stages_tests {

using fmm::Box;
using fmm::HarmonicTable;
using fmm::LevelOperators;
using fmm::M2lOrders;
using fmm::ParityOrder;
using fmm::Pass;
using fmm::PointTree;
using fmm::Range;
using fmm::SortedPoints;

namespace {

using Points = std::vector<Vec3d>;

constexpr double not_written = std::numeric_limits<double>::quiet_NaN();

/// 1e-13 in double precision.
template <class T>
constexpr double precision = 450 * double{std::numeric_limits<T>::epsilon()};

/// The largest distance of a point from the centre of its box, in sides.
const double reach = std::sqrt(0.75);

PointTree point_tree(const Points& y, const Points& x, const Cube& root, int max_leaf,
                     fmm::Leaves leaves = fmm::Leaves::plain) {
  const bool same = &x == &y;
  PointTree tree{.sources_are_targets = same};
  tree.sources = fmm::sort_points(y, 1, root);
  if (!same) tree.other_targets = fmm::sort_points(x, 1, root);
  tree.octree = fmm::build_octree(root, tree.sources, tree.targets(), max_leaf);
  if (leaves == fmm::Leaves::merged) fmm::merge_leaves(tree.octree, max_leaf);
  tree.make_lists();
  return tree;
}

/// Those of an order, made once.
template <class T>
const LevelOperators<T>& operators_of(const ParityOrder& order, M2lOrders orders) {
  static std::map<std::pair<int, M2lOrders>, LevelOperators<T>> known;
  LevelOperators<T>& operators = known[{order.p, orders}];
  if (!operators.serves_all_levels())
    operators = LevelOperators<T>(
        fmm::cpu_operators<T>(fmm::Laplace(), order, orders, fmm::M2l::truncated));
  return operators;
}

enum class What { charges, dipoles, both };

/// A pass with random strengths.
template <class T>
struct Run {
  Run(const Points& y, const Points& x, const Cube& root, int max_leaf, int p, int vectors = 1,
      What what = What::charges, Precision near_precision = Precision::double_precision,
      M2lOrders m2l_orders = M2lOrders::full, fmm::Leaves leaves = fmm::Leaves::plain)
      : orders(m2l_orders),
        tree(point_tree(y, x, root, max_leaf, leaves)),
        order(p),
        accuracy{.order = p, .near_precision = near_precision},
        table(order),
        moments(tree.octree.boxes.size() * vectors * order.count, T(not_written)),
        locals(moments),
        pass{tree,
             order,
             accuracy,
             fmm::cpu_kernels<T>(),
             operators_of<T>(order, orders),
             table,
             vectors,
             &Box::sources,
             &Box::targets,
             {},
             {},
             moments.data(),
             locals.data()} {
    const std::size_t strengths = tree.sources.size() * vectors;
    Uniform uniform(1);
    const auto fill = [&](LargeVector<T>& values) {
      values.resize(strengths);
      for (T& value : values) value = static_cast<T>(uniform(-1, 1));
    };
    if (what != What::dipoles) fill(pass.charges);
    if (what != What::charges)
      for (auto& axis : pass.dipoles) fill(axis);
  }
  Run(const Run&) = delete;

  const LargeVector<Box>& boxes() const { return tree.octree.boxes; }
  int count() const { return order.count; }

  /// Results before the near field is written.
  void ask(bool potential, bool gradient, double start) {
    const std::size_t results = tree.targets().size() * pass.vectors;
    if (potential) pass.potential.assign(results, start);
    if (gradient)
      for (auto& axis : pass.gradient) axis.assign(results, start);
  }

  /// L of the boxes from level 2 on, random and falling as those of the far field do.
  void random_locals() {
    Uniform uniform(2);
    for (std::size_t b = 0; b < boxes().size(); ++b)
      if (boxes()[b].level >= 2)
        for (int i = 0; i < pass.vectors * count(); ++i)
          pass.local(b)[i] =
              static_cast<T>(std::pow(2, -order.degree[i % count()]) * uniform(-1, 1));
  }

  double charge(int v, std::int32_t j) const {
    return pass.charges.empty() ? 0 : pass.charges[v * tree.sources.size() + j];
  }
  Vec3d dipole(int v, std::int32_t j) const {
    if (!pass.has_dipoles()) return {};
    const std::size_t at = v * tree.sources.size() + j;
    return {pass.dipoles[0][at], pass.dipoles[1][at], pass.dipoles[2][at]};
  }

  const M2lOrders orders;
  const PointTree tree;
  const ParityOrder order;
  const fmm::Accuracy accuracy;
  const HarmonicTable<T> table;
  std::vector<T> moments, locals;
  Pass<T> pass;
};

Vec3d at(const SortedPoints& points, std::int32_t i) {
  return {points.x[i], points.y[i], points.z[i]};
}

/// From the box's centre, in its sides.
Vec3d in_box(const PointTree& tree, const Box& box, Vec3d x) {
  return (x - tree.octree.root.corner - tree.octree.centre_from_corner(box)) /
         tree.octree.side(box.level);
}

/// Rows i of degree n ≤ p of a matrix times S(x): the derivative along an axis, of S(x).
class Slopes {
 public:
  explicit Slopes(const ParityOrder& order) : order_(order) {
    for (int axis = 0; axis < 3; ++axis) {
      Vec3d unit;
      unit[axis] = 1;
      matrices_[axis] = matrix_by_parity(order, m2m_oracle(unit, 1, order.p));
    }
  }
  std::vector<double> operator()(int axis, const std::vector<double>& s) const {
    std::vector<double> out(s.size());
    // The shift by t is linear in t where the degree falls by one.
    for (int i = 0; i < order_.count; ++i)
      for (int j = 0; j < order_.count; ++j)
        if (order_.degree[j] == order_.degree[i] - 1)
          out[i] += matrices_[axis][i * order_.count + j] * s[j];
    return out;
  }

 private:
  const ParityOrder& order_;
  std::array<Matrix, 3> matrices_;
};

/// M2L for a distance in sides.
const Matrix& m2l_matrix(const ParityOrder& order, std::array<int, 3> r) {
  static std::map<std::tuple<int, int, int, int>, Matrix> known;
  Matrix& T = known[{order.p, r[0], r[1], r[2]}];
  if (T.empty())
    T = matrix_by_parity(order, m2l_oracle({double(r[0]), double(r[1]), double(r[2])}, order.p));
  return T;
}

/// Points that make a tree whose leaves are the 512 boxes of level 3, two in each; root [0, 1]³.
Points uniform_points() {
  Uniform uniform(3);
  Points points;
  for (int i = 0; i < 1024; ++i)
    points.push_back(
        {(i % 8 + uniform()) / 8, (i / 8 % 8 + uniform()) / 8, (i / 64 % 8 + uniform()) / 8});
  return points;
}

Cube root_of(const Points& y, const Points& x) {
  Points all = y;
  all.insert(all.end(), x.begin(), x.end());
  return bounding_cube(all);
}

/// P2M and M2M against the harmonics of all points of each box.
template <class T>
void check_moments(const Run<T>& run) {
  p2m(run.pass, run.tree.lists.source_boxes);
  m2m(run.pass);
  const ParityOrder& order = run.order;
  const Slopes slopes(order);
  double worst = 0;
  for (std::size_t b = 0; b < run.boxes().size(); ++b) {
    const Box& box = run.boxes()[b];
    if (box.sources.size() == 0 || (!box.is_leaf && box.level < 2)) continue;
    const double side = run.tree.octree.side(box.level);
    std::vector<double> M(run.pass.vectors * run.count()), charge(run.pass.vectors),
        dipole(run.pass.vectors);
    for (std::int32_t j = box.sources.begin; j < box.sources.end; ++j) {
      const auto s = by_parity(
          order, harmonics_oracle(in_box(run.tree, box, at(run.tree.sources, j)), run.order.p));
      std::array<std::vector<double>, 3> slope;
      for (int axis = 0; axis < 3 && run.pass.has_dipoles(); ++axis) slope[axis] = slopes(axis, s);
      for (int v = 0; v < run.pass.vectors; ++v) {
        const double q = run.charge(v, j);
        const Vec3d d = run.dipole(v, j) / side;
        charge[v] += std::abs(q);
        dipole[v] += norm(d);
        for (int i = 0; i < run.count(); ++i) {
          double& sum = M[v * run.count() + i];
          sum += q * s[i];
          for (int axis = 0; axis < 3 && run.pass.has_dipoles(); ++axis)
            sum += d[axis] * slope[axis][i];
        }
      }
    }
    for (int v = 0; v < run.pass.vectors; ++v)
      for (int i = 0; i < run.count(); ++i) {
        // |S_i| is at most reach^n, its slope n reach^(n−1), and so they are in every child.
        const int n = order.degree[i];
        const double size = charge[v] * std::pow(reach, n) + dipole[v] * n * std::pow(reach, n - 1);
        const double error =
            std::abs(run.pass.moment(b)[v * run.count() + i] - M[v * run.count() + i]);
        if (error != 0) worst = larger_error(worst, error / size);  // NaN, too
      }
  }
  CHECK(worst <= precision<T>);
}

/// The order of M2L from a box to another one, by where the source is among the 6³ boxes around the
/// target's parent.
template <class T>
int order_between(const Run<T>& run, const Box& target, const Box& source) {
  int orbit = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const int place = source.cell[axis] - 2 * (target.cell[axis] / 2 - 1);  // 0 … 5
    orbit = 3 * orbit + (place < 3 ? 2 - place : place - 3);
  }
  return fmm::m2l_order(run.order.p, run.orders, orbit);
}

/// M2L against the sum over the boxes between the parent's colleagues and the box's own.
template <class T>
void check_m2l(const Run<T>& run) {
  p2m(run.pass, run.tree.lists.source_boxes);
  m2m(run.pass);
  m2l(run.pass);
  const fmm::Octree& tree = run.tree.octree;
  const ParityOrder& order = run.order;
  double worst = 0;
  int pairs = 0;
  for (std::size_t b = 0; b < run.boxes().size(); ++b) {
    const Box& box = run.boxes()[b];
    if (box.targets.size() == 0 || box.level < 2) continue;
    for (int v = 0; v < run.pass.vectors; ++v) {
      std::vector<double> L(run.count());
      double charge = 0;  // of all boxes around the parent, which go through the products together
      for (const std::int32_t uncle : tree.colleagues[box.parent]) {
        if (uncle < 0) continue;
        for (const std::int32_t c : run.boxes()[uncle].child) {
          if (c < 0) continue;
          const Box& source = run.boxes()[c];
          for (std::int32_t j = source.sources.begin; j < source.sources.end; ++j)
            charge += std::abs(run.charge(v, j));
          std::array<int, 3> r;
          int farthest = 0;
          for (int axis = 0; axis < 3; ++axis) {
            r[axis] = box.cell[axis] - source.cell[axis];
            farthest = std::max(farthest, std::abs(r[axis]));
          }
          if (farthest < 2 || source.sources.size() == 0) continue;
          ++pairs;
          const Matrix& matrix = m2l_matrix(order, r);
          const int p = order_between(run, box, source);
          const T* M = run.pass.moment(c) + v * run.count();
          for (int i = 0; i < run.count(); ++i)
            for (int j = 0; j < run.count(); ++j)
              if (order.degree[i] <= p && order.degree[j] <= p)
                L[i] += matrix[i * run.count() + j] * M[j];
        }
      }
      for (int i = 0; i < run.count(); ++i) {
        // Moments of degree k are at most charge·reach^k, and the operator between the degrees n
        // and k binomial(n+k, n)/|r|^(n+k+1) (see oracles_agree.cpp), |r| ≥ 2. Summed over k:
        const double size = charge / std::pow(2 - reach, order.degree[i] + 1);
        const double error = std::abs(run.pass.local(b)[v * run.count() + i] - L[i]);
        if (error != 0) worst = larger_error(worst, error / size);
      }
    }
  }
  CHECK(pairs > 0);
  CHECK(worst <= precision<T>);
}

/// P2P of what is asked for (1: potential, 2: gradient); the largest error over its bound, against
/// sums in double precision. Leaves near to one are at most `larger` times as large.
template <class T>
double worst_of_p2p(Run<T>& run, int asked, int larger) {
  const bool single = run.accuracy.near_precision == Precision::single_precision;
  run.ask(asked & 1, asked & 2, not_written);
  p2p(fmm::NearData(run.tree, run.accuracy.near_precision, fmm::Method::fmm), run.pass);
  const double epsilon = single ? double{std::numeric_limits<float>::epsilon()}
                                : std::numeric_limits<double>::epsilon();
  const std::size_t n_targets = run.tree.targets().size();
  double worst = 0;  // error over its bound
  for (std::size_t row = 0; row < run.tree.lists.p2p.targets.size(); ++row) {
    const Box& box = run.boxes()[run.tree.lists.p2p.targets[row]];
    // In single precision coordinates are whole multiples of 2^-29 sides of the leaf that holds the
    // point, which is at most `larger` times as large as this one.
    const double grid =
        single ? larger * std::sqrt(3.0) * std::ldexp(run.tree.octree.side(box.level), -29) : 0;
    for (std::int32_t i = box.targets.begin; i < box.targets.end; ++i) {
      for (int v = 0; v < run.pass.vectors; ++v) {
        std::array<double, 4> sum{}, bound{};
        int terms = 0;
        for (auto k = run.tree.lists.p2p.begin[row]; k < run.tree.lists.p2p.begin[row + 1]; ++k)
          terms += run.boxes()[run.tree.lists.p2p.sources[k]].sources.size();
        for (auto k = run.tree.lists.p2p.begin[row]; k < run.tree.lists.p2p.begin[row + 1]; ++k) {
          const Range range = run.boxes()[run.tree.lists.p2p.sources[k]].sources;
          for (std::int32_t j = range.begin; j < range.end; ++j) {
            const Vec3d r = at(run.tree.targets(), i) - at(run.tree.sources, j),
                        d = run.dipole(v, j);
            const double s = norm(r), q = run.charge(v, j);
            if (s == 0) continue;
            // See kernels.cpp; a fifth power takes five times the error of 1/r.
            const double relative = (20 + terms) * epsilon + 5 * grid / s;
            sum[0] += q / s + dot(d, r) / (s * s * s);
            bound[0] += relative * (std::abs(q) / s + norm(d) / (s * s));
            for (int axis = 0; axis < 3; ++axis) {
              sum[1 + axis] += (d[axis] - (q + 3 * dot(d, r) / (s * s)) * r[axis]) / (s * s * s);
              bound[1 + axis] += relative * (std::abs(q) / (s * s) + 4 * norm(d) / (s * s * s));
            }
          }
        }
        for (int k = 0; k < 4; ++k) {
          const auto& results = k == 0 ? run.pass.potential : run.pass.gradient[k - 1];
          if (results.empty()) continue;
          const double error = std::abs(results[v * n_targets + i] - sum[k]);
          if (error != 0) worst = larger_error(worst, error / bound[k]);
        }
      }
    }
  }
  return worst;
}

}  // namespace

TEMPLATE_TEST_CASE("moments of a box are the harmonics of its charges and dipoles", "", double,
                   float) {
  const What what = GENERATE(What::charges, What::dipoles, What::both);
  const Points y = plummer_points(400, 4), x = sphere_points(50, 5), cube = cube_points(120, 6);
  const int p = what == What::charges ? 8 : 5;
  check_moments(Run<TestType>(y, y, root_of(y, y), 10, p, 2, what));
  check_moments(Run<TestType>(y, x, root_of(y, x), 10, p, 1, what));  // boxes without sources
  check_moments(Run<TestType>(cube, cube, {{-1, -1, -1}, 3}, 20, p, 1, what));
  check_moments(Run<TestType>(x, x, root_of(x, x), 50, p, 1, what));  // the root alone
}

TEMPLATE_TEST_CASE("M2L adds up the boxes of the interaction list", "", double, float) {
  const Points uniform = uniform_points();
  const Run<TestType> run(uniform, uniform, {}, 2, 4);
  REQUIRE(run.boxes().size() == 1 + 8 + 64 + 512);
  check_m2l(run);
  const Points y = plummer_points(500, 7), x = sphere_points(300, 8);
  check_m2l(Run<TestType>(y, y, root_of(y, y), 8, 5, 3));
  check_m2l(Run<TestType>(y, x, root_of(y, x), 8, 5));
}

TEMPLATE_TEST_CASE("M2L of boxes farther away is of lower order", "[long][accuracy]", double,
                   float) {
  const Points uniform = uniform_points();
  const Run<TestType> run(uniform, uniform, {}, 2, 8, 1, What::charges, Precision::double_precision,
                          M2lOrders::by_distance);
  CHECK(run.pass.operators.of_children(1).m2l.size() == 3);  // orders 8, 7 and 6
  check_m2l(run);
  const Points y = plummer_points(500, 7), x = sphere_points(300, 8);
  constexpr int order = 14;
  check_m2l(Run<TestType>(y, x, root_of(y, x), 8, order, 2, What::charges,
                          Precision::double_precision, M2lOrders::by_distance));
}

TEST_CASE("orders of M2L fall with the distance of the nearest box") {
  // By the distances along the axes of an orbit's nearest box that does not touch the child.
  const auto order = [](int x, int y, int z) {
    return fmm::m2l_order(28, M2lOrders::by_distance, 9 * x + 3 * y + z);
  };
  for (const int nearest : {order(1, 0, 0), order(0, 2, 0)}) CHECK(nearest == 28);
  for (const int next : {order(1, 1, 0), order(0, 1, 2)}) CHECK(next == 26);
  for (const int corner : {order(1, 1, 1), order(1, 2, 1)}) CHECK(corner == 24);
  for (const int far : {order(2, 2, 0), order(1, 2, 2), order(2, 2, 2)}) CHECK(far == 21);
  for (int p = 0; p <= 30; ++p) {
    double operations = 0;
    for (int orbit = 1; orbit < fmm::orbits; ++orbit)
      operations += 16 * std::pow(fmm::m2l_order(p, M2lOrders::by_distance, orbit) + 1, 4) / 26;
    CHECK(fmm::m2l_row_operations(p, M2lOrders::by_distance) == Approx(operations));
    CHECK(fmm::m2l_row_operations(p, M2lOrders::full) == Approx(16 * std::pow(p + 1, 4)));
  }
}

TEMPLATE_TEST_CASE("L2L adds the parent's local expansion", "", double, float) {
  using T = TestType;
  const Points y = plummer_points(1000, 9), x = ellipsoid_points(800, 10);
  Run<T> run(y, x, root_of(y, x), 10, 8, 2);
  const ParityOrder& order = run.order;
  const int K = run.count();
  std::array<Matrix, 8> shifts;  // M2M of an octant
  for (int octant = 0; octant < 8; ++octant)
    shifts[octant] =
        matrix_by_parity(order, m2m_oracle({octant & 4 ? 0.25 : -0.25, octant & 2 ? 0.25 : -0.25,
                                            octant & 1 ? 0.25 : -0.25},
                                           0.5, order.p));
  // S of degree k at x/2 + t has a part of degree n of at most binomial(k, n) |x/2|^n |t|^(k−n).
  std::array<std::array<double, 9>, 9> sizes{};
  for (int k = 0; k <= order.p; ++k)
    for (int n = 0; n <= k; ++n)
      sizes[n][k] = 0.5 * std::tgamma(k + 1) / (std::tgamma(n + 1) * std::tgamma(k - n + 1)) *
                    std::pow(0.5, n) * std::pow(reach / 2, k - n);
  run.random_locals();
  const std::vector<T> before = run.locals;
  l2l(run.pass);
  double worst = 0;
  int children = 0;
  for (std::size_t b = 0; b < run.boxes().size(); ++b) {
    const Box& box = run.boxes()[b];
    if (box.targets.size() == 0 || box.level < 3) continue;
    ++children;
    const int octant = 4 * (box.cell[0] % 2) + 2 * (box.cell[1] % 2) + box.cell[2] % 2;
    for (int v = 0; v < run.pass.vectors; ++v) {
      const T* parent = run.pass.local(box.parent) + v * K;
      for (int i = 0; i < K; ++i) {
        const std::size_t own = (b * run.pass.vectors + v) * K + i;
        double sum = before[own], size = std::abs(before[own]);
        for (int j = 0; j < K; ++j) sum += 0.5 * shifts[octant][j * K + i] * parent[j];
        const int n = order.degree[i];
        for (int j = 0; j < K; ++j) size += sizes[n][order.degree[j]] * std::abs(parent[j]);
        const double error = std::abs(run.locals[own] - sum);
        if (error != 0) worst = larger_error(worst, error / size);
      }
    }
  }
  CHECK(children > 100);
  CHECK(worst <= precision<T>);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Box& box = run.boxes()[i / (run.pass.vectors * K)];
    if (box.level == 2) CHECK(run.locals[i] == before[i]);
  }
}

TEMPLATE_TEST_CASE("L2P adds the values of the local expansions", "", double, float) {
  using T = TestType;
  const bool potential = GENERATE(true, false), gradient = GENERATE(true, false);
  if (!potential && !gradient) return;
  const Points large = plummer_points(400, 11), small = cube_points(60, 12);
  for (const Points* x : {&large, &small}) {  // the small one has no box of level 2 but leaves
    Run<T> run(*x, *x, root_of(*x, *x), 12, 6, 2);
    const ParityOrder& order = run.order;
    const Slopes slopes(order);
    const std::size_t n_targets = x->size();
    run.random_locals();
    run.ask(potential, gradient, 0.125);
    l2p(run.pass);
    double worst = 0;
    const auto compare = [&](double value, double sum, double size) {
      const double error = std::abs(value - (0.125 + sum));
      worst = larger_error(worst, error / (0.125 + size));
    };
    for (std::size_t b = 0; b < run.boxes().size(); ++b) {
      const Box& box = run.boxes()[b];
      if (!box.is_leaf) continue;
      const double side = run.tree.octree.side(box.level);
      for (std::int32_t t = box.targets.begin; t < box.targets.end; ++t) {
        const Vec3d place = in_box(run.tree, box, at(run.tree.sources, t));
        const auto s = by_parity(order, harmonics_oracle(place, order.p));
        std::array<std::vector<double>, 3> slope;
        for (int axis = 0; axis < 3; ++axis) slope[axis] = slopes(axis, s);
        for (int v = 0; v < run.pass.vectors; ++v) {
          double u = 0, u_size = 0, g_size = 0;
          Vec3d g;
          for (int i = 0; i < run.count() && box.level >= 2; ++i) {
            const double L = run.pass.local(b)[v * run.count() + i];
            const int n = order.degree[i];
            u += L * s[i] / side;
            u_size += std::abs(L) * std::pow(reach, n) / side;
            for (int axis = 0; axis < 3; ++axis) g[axis] += L * slope[axis][i] / (side * side);
            g_size += std::abs(L) * n * std::pow(reach, n - 1) / (side * side);
          }
          if (potential) compare(run.pass.potential[v * n_targets + t], u, u_size);
          for (int axis = 0; axis < 3 && gradient; ++axis)
            compare(run.pass.gradient[axis][v * n_targets + t], g[axis], g_size);
        }
      }
    }
    CHECK(worst <= precision<T>);
  }
}

TEMPLATE_TEST_CASE("P2P adds up the pairs of the near lists", "", double, float) {
  using T = TestType;
  const What what = GENERATE(What::charges, What::dipoles, What::both);
  // They go four by four, three as four, two and one on their own.
  const int vectors = GENERATE(1, 2, 3, 4, 5, 8);
  Points y = plummer_points(300, 13), x = sphere_points(150, 14);
  y.insert(y.end(), 700, Vec3d{0.3, 0.2, 0.1});  // more than a tile takes
  x.push_back(y.back());
  const int asked = GENERATE(1, 2, 3);
  const Precision near_precision =
      GENERATE(Precision::double_precision, Precision::single_precision);
  const bool same = GENERATE(false, true);  // then charges on their own act mutually
  const Points& targets = same ? y : x;
  Run<T> run(y, targets, root_of(y, targets), 20, 3, vectors, what, near_precision);
  CHECK(worst_of_p2p(run, asked, 2) <= 1);
}

TEMPLATE_TEST_CASE("P2P of merged leaves, of which near ones are up to two levels apart", "",
                   double, float) {
  using T = TestType;
  const What what = GENERATE(What::charges, What::both);
  const Precision near_precision =
      GENERATE(Precision::double_precision, Precision::single_precision);
  const Points y = points_by_name("centres", 3000, 15);
  Run<T> run(y, y, root_of(y, y), 12, 3, 1, what, near_precision, M2lOrders::full,
             fmm::Leaves::merged);
  const fmm::NearLists& near = run.tree.lists.p2p;
  int most_apart = 0;
  for (std::size_t row = 0; row < near.targets.size(); ++row)
    for (auto k = near.begin[row]; k < near.begin[row + 1]; ++k)
      most_apart = std::max(
          most_apart, run.boxes()[near.targets[row]].level - run.boxes()[near.sources[k]].level);
  CHECK(most_apart == 2);
  CHECK(worst_of_p2p(run, 3, 4) <= 1);
}

// Every vector is a row of its own in the products, and a row is added up in the same order
// wherever it stands. The near field is left out: four vectors have another kernel, in which the
// compiler may fuse other products and sums. "P2P adds up the pairs" holds it to rounding.
TEMPLATE_TEST_CASE("vectors that go through the far field together come out as alone", "", double,
                   float) {
  using T = TestType;
  const Points y = plummer_points(700, 15), x = cube_points(400, 16);
  const int vectors = 5;
  Run<T> all(y, x, root_of(y, x), 12, 6, vectors, What::both);
  const auto far_field = [](Run<T>& run) {
    run.ask(true, true, 0);
    p2m(run.pass, run.tree.lists.source_boxes);
    m2m(run.pass);
    m2l(run.pass);
    l2l(run.pass);
    l2p(run.pass);
  };
  far_field(all);
  const std::size_t n_sources = y.size(), n_targets = x.size();
  for (int v = 0; v < vectors; ++v) {
    Run<T> one(y, x, root_of(y, x), 12, 6, 1, What::both);
    const auto part = [&](const auto& from, std::size_t n) {
      return std::decay_t<decltype(from)>(from.begin() + v * n, from.begin() + (v + 1) * n);
    };
    one.pass.charges = part(all.pass.charges, n_sources);
    for (int axis = 0; axis < 3; ++axis)
      one.pass.dipoles[axis] = part(all.pass.dipoles[axis], n_sources);
    far_field(one);
    bool equal = true;
    for (std::size_t b = 0; b < all.boxes().size(); ++b) {
      const Box& box = all.boxes()[b];
      const std::size_t first = v * all.count();
      if (box.sources.size() > 0 && (box.is_leaf || box.level >= 2))
        equal = equal && std::equal(one.pass.moment(b), one.pass.moment(b) + all.count(),
                                    all.pass.moment(b) + first);
      if (box.targets.size() > 0 && box.level >= 2)
        equal = equal && std::equal(one.pass.local(b), one.pass.local(b) + all.count(),
                                    all.pass.local(b) + first);
    }
    CHECK(equal);
    CHECK(one.pass.potential == part(all.pass.potential, n_targets));
    for (int axis = 0; axis < 3; ++axis)
      CHECK(one.pass.gradient[axis] == part(all.pass.gradient[axis], n_targets));
  }
}

}  // namespace fmbem::test::stages_tests
