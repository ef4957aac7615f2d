// Prints the table of docs/performance.md of conductors in dielectrics: coated spheres in rows,
// each of radius 1 with a coat to radius 2, half of the panels conductors', half interfaces'.
// fmbem-bench-media --conductors 1 --panels 1e5,1e6 --backend cuda
// fmbem-bench-media --edge-parts 158,500 --backend cuda
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/main.hpp"
#include "bench/operator_choice.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/problems/solve_capacitance.hpp"
#include "tests/unit/surfaces.hpp"

using namespace fmbem;

namespace {

struct Options {
  std::vector<double> panels{1e5};
  std::vector<int> edge_parts;
  bench::OperatorChoice choice;
  int conductors = 1, threads = 0;
  double permittivity = 4, tolerance = 1e-6;
  bool compare = true;
};

/// Copies of a unit sphere, as conductors and coats, five radii apart.
SurfaceMesh coated_spheres(int count, const SurfaceMesh& one, ConductorOptions& options,
                           double permittivity) {
  SurfaceMesh mesh;
  const int in_row = static_cast<int>(std::ceil(std::cbrt(count)));
  for (int k = 0; k < count; ++k) {
    const Vec3d centre{5.0 * (k % in_row), 5.0 * (k / in_row % in_row),
                       5.0 * (k / in_row / in_row)};
    const std::string conductor = "conductor " + std::to_string(k),
                      coat = "coat " + std::to_string(k);
    options.media.push_back({conductor, permittivity, permittivity});
    options.media.push_back({coat, permittivity, 1});
    options.interfaces.push_back(coat);
    for (const double radius : {1.0, 2.0}) {
      const int group = test::add_group(mesh, (radius > 1 ? coat : conductor).c_str()),
                first = static_cast<int>(mesh.vertices.size());
      for (const Vec3d& v : one.vertices) test::add_vertex(mesh, centre + radius * v);
      for (const auto& [a, b, c] : one.triangles)
        test::add_triangle(mesh, first + a, first + b, first + c, group);
    }
  }
  mesh.closed = true;
  mesh.contacts.emplace();  // there are none
  return mesh;
}

/// Seconds of a product, the median of nine.
double product_seconds(const BoundaryOperator& op) {
  std::vector<double> x(op.columns(), 1.0), y(op.rows()), seconds;
  for (int k = 0; k < 9; ++k) {
    const Timer timer;
    op.apply(x.data(), y.data());
    seconds.push_back(timer.seconds());
  }
  std::nth_element(seconds.begin(), seconds.begin() + 4, seconds.end());
  return seconds[4];
}

/// The sphere that was split so often that all have about as many panels.
SurfaceMesh sphere_of(const Options& options, double panels) {
  return test::icosphere(std::max(
      0, static_cast<int>(std::lround(std::log2(panels / (40.0 * options.conductors)) / 2))));
}

void run(const Options& options, const SurfaceMesh& sphere) {
  ConductorOptions problem;
  problem.solver.tolerance = options.tolerance;
  problem.op.kind = OperatorOptions::Choice::fmm;
  options.choice.set(problem.op);
  const SurfaceMesh mesh =
      coated_spheres(options.conductors, sphere, problem, options.permittivity);
  reset_peak_device_memory();
  const Timer timer;
  const CapacitanceSolution solution = solve_capacitance(mesh, problem);
  const double seconds = timer.seconds();
  double of_v = 0, of_k = 0;
  if (options.compare) {
    const Panels sorted = make_panels(mesh, *problem.op.processor);
    problem.op.tolerance = 0.1 * options.tolerance;
    of_v = product_seconds(*make_boundary_operator(sorted, single_layer, problem.op));
    of_k = product_seconds(*make_boundary_operator(sorted, adjoint_double_layer, problem.op));
  }
  int iterations = 0;
  for (const SolveReport& report : solution.solves)
    iterations = std::max(iterations, report.iterations);
  // The capacitance of a single coated sphere; several influence each other.
  const double exact = 1 / (0.5 / options.permittivity + 0.5),
               c = solution.maxwell(0, 0) / natural_capacitance(1);
  std::printf(
      "| %d | %zu | %.3f | %.3f | **%.3f** | %.4f | %.4f | **%.4f** | %d | **%.3f** | **%.3f** | "
      "%.1e | %.6f | %.1e | %.2f | %.2f | %.2f |\n",
      options.conductors, mesh.triangles.size(), solution.assembly_seconds,
      solution.preconditioner_seconds, solution.setup_seconds, of_v, of_k,
      solution.product_median_seconds, iterations, solution.solve_seconds, seconds,
      solution.solves[0].true_residual, c, c / exact - 1, double(solution.op.memory_bytes) / 1e9,
      double(peak_memory()) / 1e9, double(solution.device_bytes) / 1e9);
  std::fflush(stdout);
}

void run_all(const Options& options) {
  bench::start_run(options.choice.backend, options.threads);
  bench::print_heading(
      "| conductors | panels | operator s | preconditioner s | **setup** | V | K' | **mixed** | "
      "iterations | **solve** | **all** | true residual | C11 | against one alone | operator GB | "
      "peak GB | GPU GB |");
  for (const int parts : options.edge_parts) run(options, test::geodesic_sphere(parts));
  for (std::size_t k = 0; options.edge_parts.empty() && k < options.panels.size(); ++k)
    run(options, sphere_of(options, options.panels[k]));
}

}  // namespace

int main(int argc, char** argv) {
  using bench::between;
  Options options;
  CLI::App app("Capacitances of coated spheres; times in seconds, memory in GB");
  options.choice.add_options(app);
  auto* const panels = app.add_option("--panels", options.panels, "about as many")
                           ->delimiter(',')
                           ->check(between(20.0, 2e8));
  app.add_option(
         "--edge-parts", options.edge_parts,
         "in the place of --panels: 40 n² panels a conductor, of icosahedra whose edges are "
         "cut into n parts")
      ->delimiter(',')
      ->check(between(1, 2000))
      ->excludes(panels);
  app.add_option("--conductors", options.conductors)->check(between(1, 1000));
  app.add_option("--permittivity", options.permittivity)->check(between(1e-9, 1e9));
  app.add_option("--tolerance", options.tolerance)->check(between(1e-12, 0.1));
  app.add_option("--threads", options.threads)->check(between(1, 1024));
  app.add_flag("!--no-products", options.compare, "leave out products of V and K' by themselves");
  return bench::run_main(app, argc, argv, [&] { run_all(options); });
}
