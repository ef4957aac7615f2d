// Prints the tables of docs/accuracy.md: capacitances under refinement against reference values.
// fmbem-bench-accuracy [PANELS]: up to this many panels (default 10,000).
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>
#include <vector>

#include "bench/main.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/problems/solve_capacitance.hpp"
#include "tests/unit/closed_forms.hpp"
#include "tests/unit/surfaces.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

constexpr double unit_capacitance = 4 * std::numbers::pi * epsilon_0;

CapacitanceSolution solve(const SurfaceMesh& mesh) {
  ConductorOptions options;
  options.solver.tolerance = 1e-8;
  return solve_capacitance(mesh, options);
}

SurfaceMesh ellipsoid(int level, Vec3d axes) {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "ellipsoid", level, axes);
  return mesh;
}

struct Row {
  std::size_t panels;
  double value;
  int iterations;
  double seconds;
};

/// One table: a quantity on finer and finer meshes, its error and the observed order.
void table(const char* title, const char* quantity, double exact, std::size_t panels_at_most,
           const std::function<SurfaceMesh(int)>& mesh_of,
           const std::function<double(const SurfaceMesh&, const CapacitanceSolution&)>& value_of) {
  std::printf(
      "\n### %s\n\n| panels | %s | relative error | order in h | iterations | seconds |\n"
      "|---|---|---|---|---|---|\n",
      title, quantity);
  double previous_error = 0;
  for (int level = 0;; ++level) {
    const SurfaceMesh mesh = mesh_of(level);
    if (mesh.triangles.size() > panels_at_most) break;
    if (mesh.triangles.size() < 100) continue;
    const CapacitanceSolution solution = solve(mesh);
    const double value = value_of(mesh, solution);
    const double error = std::abs(value / exact - 1);
    std::printf("| %zu | %.7f | %.4e | ", mesh.triangles.size(), value, error);
    if (previous_error > 0) std::printf("%.2f", std::log2(previous_error / error));
    std::printf(" | %d | %.2f |\n", solution.solves[0].iterations,
                solution.setup_seconds + solution.solve_seconds);
    std::fflush(stdout);
    previous_error = error;
  }
}

double first_entry(const SurfaceMesh&, const CapacitanceSolution& solution) {
  return solution.maxwell(0, 0) / unit_capacitance;
}

std::function<SurfaceMesh(int)> two_spheres = [](int level) {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "small", level, {1, 1, 1});
  add_ellipsoid(mesh, "large", level, {2, 2, 2}, {5, 0, 0});
  mesh.scale_to_m = 0.01;
  return mesh;
};

std::function<double(const SurfaceMesh&, const CapacitanceSolution&)> entry_in_pf(int i, int j) {
  return [i, j](const SurfaceMesh&, const CapacitanceSolution& solution) {
    return 1e12 * solution.maxwell(i, j);
  };
}

constexpr double gap = 0.01;

std::function<SurfaceMesh(int)> close_spheres = [](int level) {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "left", level, {1, 1, 1});
  add_ellipsoid(mesh, "right", level, {1, 1, 1}, {2 + gap, 0, 0});
  return mesh;
};

std::function<SurfaceMesh(int)> close_disks = [](int level) {
  SurfaceMesh mesh = disk(level);
  const SurfaceMesh other = mesh;
  const int group = add_group(mesh, "upper");
  const int first = static_cast<int>(mesh.vertices.size());
  for (const Vec3d& v : other.vertices) add_vertex(mesh, v + Vec3d{0, 0, gap});
  for (const auto& [a, b, c] : other.triangles)
    add_triangle(mesh, first + a, first + b, first + c, group);
  return mesh;
};

/// Of disks at ±½ V with the gap d, in 4πε₀: 1/4d + (l − 1)/4π + d (l² − 2)/16π², l = ln(16π/d)
/// [Kirchhoff 1877, Shaw 1970].
double close_disks_exactly() {
  constexpr double pi = std::numbers::pi;
  const double l = std::log(16 * pi / gap);
  return 1 / (4 * gap) + (l - 1) / (4 * pi) + gap * (l * l - 2) / (16 * pi * pi);
}

double capacitor(const SurfaceMesh&, const CapacitanceSolution& solution) {
  return (solution.maxwell(0, 0) - solution.maxwell(0, 1)) / 2 / unit_capacitance;
}

/// √27 times the potential at (3, 3, 3): 1 for the unit sphere at 1 V.
double outside_potential(const SurfaceMesh&, const CapacitanceSolution& solution) {
  const std::vector<Vec3d> point{{3, 3, 3}};
  return std::sqrt(27.0) * evaluate_field(solution.panels, solution.sigma[0], point).potential[0];
}

void print_tables(std::size_t most) {
  const char* c = "C / 4πε₀ℓ";
  table(
      "Unit sphere", c, 1, most, [](int k) { return sphere(k); }, first_entry);
  table(
      "Prolate spheroid 2:1", c, 1.31519072, most,
      [](int k) {
        return ellipsoid(k, {1, 1, 2});
      },
      first_entry);
  table(
      "Oblate spheroid 1:½", c, 0.82699334, most,
      [](int k) {
        return ellipsoid(k, {1, 1, 0.5});
      },
      first_entry);
  table(
      "Unit cube, uniform mesh", c, 0.6606782, most, [](int k) { return cube(4 << k); },
      first_entry);
  table("Disk of radius 1 (open)", c, 2 / std::numbers::pi, most, disk, first_entry);
  table("Spheres of 1 and 2 cm, 5 cm apart: C₁₁", "C₁₁ [pF]", 1.230518, most, two_spheres,
        entry_in_pf(0, 0));
  table("the same: C₂₂", "C₂₂ [pF]", 2.431543, most, two_spheres, entry_in_pf(1, 1));
  table("the same: C₁₂", "C₁₂ [pF]", -0.4945668, most, two_spheres, entry_in_pf(0, 1));
  table("Unit spheres 0.01 apart: C₁₁", c, two_spheres_exactly(1, 1, 2 + gap)(0, 0), most,
        close_spheres, first_entry);
  table("the same: C₁₂", c, two_spheres_exactly(1, 1, 2 + gap)(0, 1), most, close_spheres,
        [](const SurfaceMesh&, const CapacitanceSolution& solution) {
          return solution.maxwell(0, 1) / unit_capacitance;
        });
  table("Two unit disks 0.01 apart: the capacitor", c, close_disks_exactly(), most, close_disks,
        capacitor);
  table(
      "First-kind equation on the sphere, potential at (3,3,3)", "φ·√27", 1, most,
      [](int k) { return sphere(k); }, outside_potential);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Capacitances under refinement against reference values");
  std::size_t most = 10'000;
  bench::add_most_panels(app, most);
  return bench::run_main(app, argc, argv, [&] { print_tables(most); });
}
