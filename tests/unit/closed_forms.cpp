#include "tests/unit/closed_forms.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tests/unit/surfaces.hpp"

namespace fmbem::test {
namespace {

constexpr double pi = std::numbers::pi;

SquareMatrix square_matrix(std::size_t n, std::vector<double> values) {
  SquareMatrix matrix(n);
  matrix.values = std::move(values);
  return matrix;
}

/// Carlson's R_F(x, y, z) = ½∫₀^∞ dt/√((t+x)(t+y)(t+z)), by duplication [Carlson 1979].
double carlson_rf(double x, double y, double z) {
  for (int k = 0; k < 40; ++k) {
    const double l = std::sqrt(x * y) + std::sqrt(y * z) + std::sqrt(z * x);
    x = (x + l) / 4, y = (y + l) / 4, z = (z + l) / 4;
  }
  return 1 / std::sqrt(x);
}

/// A grid of cells round the ring and n round the tube, about as long as they are wide.
SurfaceMesh torus(int n, double ring, double tube) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "torus"), around = n * static_cast<int>(ring / tube);
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < n; ++j) {
      const double u = 2 * pi * i / around, v = 2 * pi * j / n;
      const double r = ring + tube * std::cos(v);
      add_vertex(mesh, {r * std::cos(u), r * std::sin(u), tube * std::sin(v)});
    }
  const auto at = [&](int i, int j) { return (i % around) * n + j % n; };
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < n; ++j) {
      add_triangle(mesh, at(i, j), at(i + 1, j), at(i + 1, j + 1), group);
      add_triangle(mesh, at(i, j), at(i + 1, j + 1), at(i, j + 1), group);
    }
  mesh.closed = true;
  return mesh;
}

/// The part of the unit sphere up to this angle from the z axis, from the unit disk.
SurfaceMesh bowl(int level, double angle) {
  SurfaceMesh mesh = disk(level);
  for (Vec3d& v : mesh.vertices) {
    const double rho = norm(v), theta = angle * rho;
    const double s = rho > 0 ? std::sin(theta) / rho : 0;
    v = {s * v.x, s * v.y, std::cos(theta)};
  }
  return mesh;
}

void add_copy(SurfaceMesh& mesh, const SurfaceMesh& other, int group, Vec3d shift) {
  const int first = static_cast<int>(mesh.vertices.size());
  for (const Vec3d& v : other.vertices) add_vertex(mesh, v + shift);
  for (const auto& [a, b, c] : other.triangles)
    add_triangle(mesh, first + a, first + b, first + c, group);
}

struct Ball {
  const char* name;
  double radius;
  Vec3d centre{};
};

std::function<SurfaceMesh(int)> balls(std::vector<Ball> list, int first_level) {
  return [=](int level) {
    SurfaceMesh mesh;
    for (const auto& [name, r, centre] : list)
      add_ellipsoid(mesh, name, level + first_level, {r, r, r}, centre);
    mesh.closed = true;
    return mesh;
  };
}

std::function<SurfaceMesh(int)> ellipsoid(Vec3d axes) {
  return [=](int level) {
    SurfaceMesh mesh;
    add_ellipsoid(mesh, "ellipsoid", level + 2, axes);
    mesh.closed = true;
    return mesh;
  };
}

/// n Gauss points and weights on [0, 1], by Newton's method on Legendre's polynomial.
std::vector<std::pair<double, double>> gauss_rule(int n) {
  std::vector<std::pair<double, double>> rule;
  for (int i = 0; i < n; ++i) {
    double x = std::cos(pi * (i + 0.75) / (n + 0.5)), slope = 0;
    for (int k = 0; k < 8; ++k) {
      double p = 1, before = 0;
      for (int m = 1; m <= n; ++m) {
        const double next = ((2 * m - 1) * x * p - (m - 1) * before) / m;
        before = p, p = next;
      }
      slope = n * (x * p - before) / (x * x - 1);
      x -= p / slope;
    }
    rule.emplace_back((1 + x) / 2, 1 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

SquareMatrix two_disks_exactly(double gap) {
  const double like = disk_of_two(gap, 1), unlike = disk_of_two(gap, -1);
  const double own = (like + unlike) / 2, between = (like - unlike) / 2;
  return square_matrix(2, {own, between, between, own});
}

std::function<SurfaceMesh(int)> two_disks(double gap) {
  return [=](int level) {
    SurfaceMesh mesh = disk(level + 2);
    add_copy(mesh, disk(level + 2), add_group(mesh, "upper"), {0, 0, gap});
    return mesh;
  };
}

/// Unit spheres that cut each other at right angles, without what is inside: to bowls of 135
/// degrees [Maxwell 1873, 165].
SurfaceMesh snowman(int level) {
  SurfaceMesh mesh = bowl(level + 2, 0.75 * pi), other = mesh;
  for (Vec3d& v : other.vertices) v.z = -v.z - std::sqrt(2.0);
  add_copy(mesh, other, 0, {});
  mesh.closed = true;
  return mesh;
}

/// A ball in a shell, and a ball outside that the first one does not affect.
ClosedForm shielded() {
  const double inner = 0.5 * 1 / (1 - 0.5);
  const SquareMatrix outer = two_spheres_exactly(1, 1, 3);
  return {"a ball in a shell, one outside",
          balls({{"inner", 0.5}, {"shell", 1}, {"outside", 1, {3, 0, 0}}}, 2),
          square_matrix(3, {inner, -inner, 0, -inner, inner + outer(0, 0), outer(0, 1), 0,
                            outer(1, 0), outer(1, 1)})};
}

}  // namespace

double ellipsoid_capacitance(double a, double b, double c) {
  return 1 / carlson_rf(a * a, b * b, c * c);
}

SquareMatrix two_spheres_exactly(double a, double b, double c) {
  const double alpha = std::acosh((c * c - a * a - b * b) / (2 * a * b));
  double c11 = 0, c12 = 0, c22 = 0;
  for (int n = 1; n * alpha < 40; ++n) {
    const double at = std::sinh(n * alpha), before = std::sinh((n - 1) * alpha);
    c11 += 1 / (b * at + a * before);
    c22 += 1 / (a * at + b * before);
    c12 -= 1 / (c * at);
  }
  const double factor = a * b * std::sinh(alpha);
  return scaled(square_matrix(2, {c11, c12, c12, c22}), factor);
}

double torus_capacitance(double ring, double tube) {
  const double x = ring / tube, s = std::sqrt(x * x - 1);
  double sum = 0;
  for (int n = 0; n < 200; ++n) {
    double p = 0, q = 0;
    constexpr int steps = 2000;
    for (int k = 0; k < steps; ++k) {
      p += std::pow(x + s * std::cos((k + 0.5) * pi / steps), n - 0.5) / steps;
      q += std::pow(x + s * std::cosh((k + 0.5) * 60.0 / steps), -n - 0.5) * 60.0 / steps;
    }
    sum += (n == 0 ? 1 : 2) * q / p;
  }
  return 2 / pi * std::sqrt(ring * ring - tube * tube) * sum;
}

double disk_of_two(double gap, int sign) {
  const auto rule = gauss_rule(std::max(60, static_cast<int>(8 / gap)));
  const std::size_t n = rule.size();
  std::vector<std::vector<double>> a(n, std::vector<double>(n + 1, 1.0));
  const auto kernel = [&](double d) { return gap / (pi * (gap * gap + d * d)); };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      a[i][j] = (i == j) +
                sign * rule[j].second *
                    (kernel(rule[i].first - rule[j].first) + kernel(rule[i].first + rule[j].first));
  // Elimination without pivots: the matrix is dominated by its diagonal.
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double f = a[i][k] / a[k][k];
      for (std::size_t j = k; j <= n; ++j) a[i][j] -= f * a[k][j];
    }
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += 2 * rule[i].second * a[i][n] / a[i][i];
  return sum / pi;
}

std::vector<ClosedForm> closed_forms() {
  const auto one = [](double value) { return square_matrix(1, {value}); };
  const auto concentric = [](double a, double b) {
    const double c = a * b / (b - a);
    return square_matrix(2, {c, -c, -c, c + b});
  };
  return {
      {"sphere", balls({{"sphere", 1}}, 2), one(1)},
      {"spheroid 2:1", ellipsoid({1, 1, 2}), one(ellipsoid_capacitance(1, 1, 2))},
      {"spheroid 1:2", ellipsoid({1, 1, 0.5}), one(ellipsoid_capacitance(1, 1, 0.5))},
      {"ellipsoid 1:2:3", ellipsoid({1, 2, 3}), one(ellipsoid_capacitance(1, 2, 3))},
      {"ellipsoid 1:0.3:0.1", ellipsoid({1, 0.3, 0.1}), one(ellipsoid_capacitance(1, 0.3, 0.1))},
      {"torus 3:1", [](int level) { return torus(6 << level, 3, 1); },
       one(torus_capacitance(3, 1))},
      {"torus 10:1", [](int level) { return torus(4 << level, 10, 1); },
       one(torus_capacitance(10, 1))},
      {"spheres that cut each other", snowman, one(2 - std::sqrt(0.5))},
      {"cube", [](int level) { return cube(4 << level); }, one(0.6606782)},
      {"square plate", [](int level) { return plate(6 << level); }, one(0.36679)},
      {"disk", [](int level) { return disk(level + 2); }, one(2 / pi)},
      {"half of a sphere's surface", [](int level) { return bowl(level + 2, pi / 2); },
       one(0.5 + 1 / pi)},
      {"spheres of 1 and 2, 2 apart", balls({{"small", 1}, {"large", 2, {5, 0, 0}}}, 2),
       two_spheres_exactly(1, 2, 5)},
      {"spheres 0.1 apart", balls({{"left", 1}, {"right", 1, {2.1, 0, 0}}}, 2),
       two_spheres_exactly(1, 1, 2.1)},
      {"spheres 0.01 apart", balls({{"left", 1}, {"right", 1, {2.01, 0, 0}}}, 2),
       two_spheres_exactly(1, 1, 2.01)},
      {"concentric spheres 1:2", balls({{"inner", 1}, {"outer", 2}}, 2), concentric(1, 2)},
      {"concentric spheres 1:1.1", balls({{"inner", 1}, {"outer", 1.1}}, 2), concentric(1, 1.1)},
      shielded(),
      {"disks 1 apart", two_disks(1), two_disks_exactly(1)},
      {"disks 0.1 apart", two_disks(0.1), two_disks_exactly(0.1)},
      {"disks 0.01 apart", two_disks(0.01), two_disks_exactly(0.01)},
  };
}

}  // namespace fmbem::test
