// Measures the rates that the cost model of choose() needs, each by the kernel that does the work.
#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

#include <omp.h>

#include "fmbem/fmm/base/clouds.hpp"
#include "fmbem/fmm/choice/rates.hpp"
#include "fmbem/fmm/cpu/backend.hpp"
#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/cpu/pass.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/lists/hybrid_lists.hpp"

namespace fmbem::fmm {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double trial_seconds = 0.03;
constexpr int trials = 3;
constexpr int boxes = 4096;  // of the butterflies: more than a cache holds, as in a plan
constexpr int leaf_points = 64;

/// Calls a second of one thread while all threads are busy with the same: the best of a few trials.
template <class MakeWork>
double calls_per_second(const MakeWork& make_work) {
  double best = 0;
  for (int trial = 0; trial < trials; ++trial) {
    double slowest = 0;
#pragma omp parallel reduction(max : slowest)
    {
      auto work = make_work();
      work();
      std::int64_t calls = 0;
      const auto start = Clock::now();
      double seconds = 0;
      do {
        for (int k = 0; k < 4; ++k, ++calls) work();
        seconds = std::chrono::duration<double>(Clock::now() - start).count();
      } while (seconds < trial_seconds);
      slowest = seconds / static_cast<double>(calls);
    }
    best = std::max(best, 1 / slowest);
  }
  return best;
}

template <class T>
std::vector<T> random_numbers(std::size_t n) {
  std::mt19937_64 random(n);
  std::uniform_real_distribution<T> uniform(T(-0.5), T(0.5));
  std::vector<T> values(n);
  for (T& v : values) v = uniform(random);
  return values;
}

template <class T>
std::vector<typename NearCoordinate<T>::Type> random_coordinates(std::size_t n) {
  std::vector<typename NearCoordinate<T>::Type> values;
  for (const double x : random_numbers<double>(n))
    values.push_back(static_cast<typename NearCoordinate<T>::Type>(0x1p29 * x));
  return values;
}

/// Points of a near field with their charges and room for their results.
template <class T>
struct NearCloud {
  explicit NearCloud(int n)
      : count(n),
        places(random_coordinates<T>(3 * static_cast<std::size_t>(n))),
        charges(random_numbers<T>(n)),
        results(4 * static_cast<std::size_t>(n)) {}

  NearPoints<T> view(bool gradient) {
    const auto* p = places.data();
    const auto result = [&](int k) { return k == 0 || gradient ? &results[k * count] : nullptr; };
    return {count,     p,         p + count, p + 2 * count, charges.data(),
            result(0), result(1), result(2), result(3)};
  }

  int count;
  std::vector<typename NearCoordinate<T>::Type> places;
  std::vector<T> charges, results;
};

constexpr int tile_sources = 128;

template <class T>
double near_rate(bool gradient, int root_terms) {
  return leaf_points * tile_sources * calls_per_second([&] {
           return [=, a = NearCloud<T>(leaf_points), b = NearCloud<T>(tile_sources),
                   close = std::vector<std::int32_t>(leaf_points)]() mutable {
             const NearPoints<T> t = a.view(gradient), s = b.view(false);
             pair_kernels<T, Laplace>().near(
                 Laplace(), 1, root_terms,
                 {s.count, s.x, s.y, s.z, s.charge, nullptr, nullptr, nullptr},
                 {t.count, t.x, t.y, t.z, t.potential, t.gradient_x, t.gradient_y, t.gradient_z,
                  close.data()});
           };
         });
}

template <class T>
double mutual_rate(bool gradient, int root_terms) {
  return 2 * leaf_points * tile_sources * calls_per_second([&] {
           return [=, a = NearCloud<T>(tile_sources), b = NearCloud<T>(leaf_points)]() mutable {
             pair_kernels<T, Laplace>().near_mutual(Laplace(), root_terms, a.view(gradient),
                                                    b.view(gradient));
           };
         });
}

template <class T>
double product_rate(int order) {
  constexpr int rows = 64;
  const int count = (order + 1) * (order + 1);
  const auto& kernels = cpu_kernels<T>();
  const double operations = 2.0 * rows * count * count;
  return operations * calls_per_second([&] {
           std::vector<std::int32_t> row_of(rows);
           for (int i = 0; i < rows; ++i) row_of[i] = i;
           const int padded = whole_registers(kernels, count);
           return [=, &kernels, a = random_numbers<T>(static_cast<std::size_t>(rows) * padded),
                   b = random_numbers<T>(packed_size(kernels, count, count)),
                   c = std::vector<double>(static_cast<std::size_t>(rows) * padded)]() mutable {
             std::fill(c.begin(), c.end(), 0.0);
             kernels.multiply(rows, count, count, a.data(), padded, b.data(), c.data(), padded,
                              row_of.data());
           };
         });
}

template <class T>
double butterfly_rate(const ParityOrder& order) {
  return 8.0 * order.count * calls_per_second([&] {
           return [&order, k = 0,
                   in = random_numbers<T>(static_cast<std::size_t>(boxes) * order.count),
                   out = std::vector<T>(8 * static_cast<std::size_t>(order.count))]() mutable {
             const T* from[8];
             T* to[8];
             for (int g = 0; g < 8; ++g) {
               from[g] = in.data() + static_cast<std::size_t>((k + 37 * g) % boxes) * order.count;
               to[g] = out.data() + g * static_cast<std::size_t>(order.count);
             }
             k = (k + 8) % boxes;
             cpu_kernels<T>().butterfly(order.begin.data(), order.begin.data(), from, to);
           };
         });
}

template <class T>
double point_rate(const ParityOrder& order) {
  const HarmonicTable<T> table(order);
  return static_cast<double>(leaf_points) * order.count * calls_per_second([&] {
           return [&table, points = random_numbers<T>(4 * leaf_points),
                   values = std::vector<T>(leaf_points),
                   moments = std::vector<T>(table.slots())]() mutable {
             const T* p = points.data();
             const auto& kernels = pair_kernels<T, Laplace>();
             std::fill(moments.begin(), moments.end(), T(0));
             kernels.p2m(Laplace(), steps_of(table), 1, leaf_points, p, p + leaf_points,
                         p + 2 * leaf_points, p + 3 * leaf_points, moments.data());
             kernels.l2p(Laplace(), steps_of(table), 1, leaf_points, p, p + leaf_points,
                         p + 2 * leaf_points, moments.data(), values.data());
           };
         });
}

/// A hybrid of points in a cube, by lists that have one way alone for boxes that are far apart, so
/// that its stages have the caches and the overheads that they have in plans.
enum class Way { m2p, p2l, m2l };
class OneWay {
 public:
  OneWay(Way way, Precision precision)
      : points_(clouds::cube_points(count, 1)), ones_(count, 1.0), results_(count) {
    constexpr double theta = 0.5, often = 1e-9, never = 1e9;  // M2L goes by displacements
    const Hull hull = bounding_cube(points_);
    tree_.scale = scale_for(hull);
    const Hull root = scaled(hull, tree_.scale);
    tree_.sources = sort_points(points_, tree_.scale, root);
    tree_.octree = build_octree(root, tree_.sources, tree_.sources, leaf_points);
    make_hybrid_lists(tree_, theta,
                      {.pair = 1,
                       .m2l_pair = way == Way::m2l ? often : never,
                       .m2p_target = way == Way::m2p ? often : never,
                       .p2l_source = way == Way::p2l ? often : never});
    backend_ = make_cpu_backend(tree_, {.order = order_of_hybrids,
                                        .precision = precision,
                                        .root_terms = 1,
                                        .reach = kappa_reach(1e-6),
                                        .method = Method::hybrid,
                                        .theta = theta});
  }

  const PointTree& tree() const { return tree_; }
  /// Times a thread does a stage in a second, all threads having a part: the best of a few trials.
  double per_second(const char* stage, bool gradient) {
    std::vector<Vec3d> gradients(gradient ? count : 0);
    double least = std::numeric_limits<double>::infinity();
    for (int trial = 0; trial <= trials; ++trial) {
      Seconds seconds;
      backend_->evaluate({.charges = ones_}, {.potential = results_, .gradient = gradients},
                         Direction::forward, seconds);
      least = std::min(least, seconds[stage]);
    }
    return 1 / (least * omp_get_max_threads());
  }

 private:
  static constexpr std::size_t count = 20'000;

  std::vector<Vec3d> points_;
  std::vector<double> ones_, results_;
  PointTree tree_{};
  std::unique_ptr<Backend> backend_;
};

/// Points of the boxes that are acted on (M2P) or act (P2L), in whole registers, for each pair.
template <class T>
double points_of_pairs(const PointTree& tree, Way way) {
  const HybridLists& lists = tree.lists.hybrid;
  const auto in_registers = [](Range points) {
    return static_cast<double>(whole_registers(cpu_kernels<T>(), points.size()));
  };
  double points = 0;
  for (std::size_t k = 0; k < tree.octree.boxes.size(); ++k) {
    const auto b = static_cast<std::int32_t>(k);
    if (way == Way::p2l)
      for (const std::int32_t source : lists.p2l[b])
        points += in_registers(tree.octree.boxes[source].sources);
  }
  if (way == Way::m2p)
    for (const std::int32_t leaf : tree.lists.p2p.targets)
      for (std::int32_t box = leaf; box >= 0; box = tree.octree.boxes[box].parent)
        points += in_registers(tree.octree.boxes[leaf].targets) *
                  static_cast<double>(lists.m2p[box].size());
  return points;
}

/// M2P, P2L and M2L by displacements.
template <class T>
void measure_hybrids(ThreadRates& rates) {
  constexpr Precision precision =
      std::is_same_v<T, double> ? Precision::double_precision : Precision::single_precision;
  const double count = harmonic_count(order_of_hybrids), of_a_point = count + work_of_a_box;
  OneWay m2p(Way::m2p, precision), p2l(Way::p2l, precision), m2l(Way::m2l, precision);
  const double targets = points_of_pairs<T>(m2p.tree(), Way::m2p);
  rates.m2p = of_a_point * targets * m2p.per_second("M2P", false);
  rates.m2p_gradient = of_a_point * targets * m2p.per_second("M2P", true);
  rates.p2l = of_a_point * points_of_pairs<T>(p2l.tree(), Way::p2l) * p2l.per_second("P2L", false);
  const auto pairs = static_cast<double>(m2l.tree().lists.hybrid.m2l.sources.size());
  rates.displaced = 2 * count * count * pairs * m2l.per_second("M2L", false);
}

template <class T>
ThreadRates measure_thread() {
  const ParityOrder order(11);
  constexpr int few = fewest_root_terms<T>;
  ThreadRates rates{near_rate<T>(false, few),
                    near_rate<T>(true, few),
                    near_rate<T>(false, few + 1),
                    near_rate<T>(true, few + 1),
                    mutual_rate<T>(false, few),
                    mutual_rate<T>(true, few),
                    mutual_rate<T>(false, few + 1),
                    mutual_rate<T>(true, few + 1),
                    butterfly_rate<T>(order),
                    point_rate<T>(order),
                    0,
                    0,
                    0,
                    0,
                    {}};
  measure_hybrids<T>(rates);
  for (const int p : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 28})
    rates.products.push_back({p, product_rate<T>(p)});
  return rates;
}

}  // namespace

Rates measure_rates() { return {measure_thread<double>(), measure_thread<float>()}; }

}  // namespace fmbem::fmm
