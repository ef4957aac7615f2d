// Prints the table of long panels of docs/accuracy.md: plates of 4 cells along and n across, whose
// cells are a times as long as wide. Products and capacitances of the FMM are compared with the
// dense operator; this is compared, on a plate of 100 cells across, with elimination in long
// double. fmbem-bench-long-panels [FILE.csv]: writes the rows there, too.
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "bench/main.hpp"
#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/bem/layer/fmm_operator.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/problems/solve_capacitance.hpp"
#include "tests/unit/extended_dense.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

using Choice = OperatorOptions::Choice;

SurfaceMesh plate_of_long_cells(double aspect, int across) {
  return plate_of_lines(steps(4), steps(across), {}, {4 * aspect / across, 0, 0}, {0, 1, 0});
}

struct Solved {
  double capacitance;  ///< farads
  int iterations;
};

Solved solve(const SurfaceMesh& mesh, Choice kind, double tolerance) {
  ConductorOptions options;
  options.op.kind = kind;
  options.solver.tolerance = tolerance;
  const CapacitanceSolution solution = solve_capacitance(mesh, options);
  if (!solution.converged) std::fprintf(stderr, "not converged\n");
  return {solution.maxwell(0, 0), solution.solves[0].iterations};
}

/// ‖(Ã−A)x‖/(‖A‖‖x‖) of the FMM, the largest for constant, random and one-panel x.
double product_error(const Panels& panels, const BoundaryOperator& dense, double tolerance) {
  OperatorOptions options;
  options.tolerance = tolerance;
  const auto fast = make_fmm_operator(panels, single_layer, options);
  const std::size_t n = panels.size();
  std::vector<Vector> xs{Vector(n, 1.0), signed_charges(n, 1), Vector(n)};
  xs[2][n / 3] = 1;
  double largest = 0;
  for (const Vector& x : xs)
    largest = larger_error(largest, norm_of(difference(product(*fast, x), product(dense, x))) /
                                        (norm_of(dense) * norm_of(x)));
  return largest;
}

/// Of the dense operator's capacitance, in long double.
double dense_error(const SurfaceMesh& mesh) {
  const Panels panels = make_panels(mesh);
  const std::vector<Real> sigma = solve_in_long_double(panels, std::vector<Real>(panels.size(), 1));
  Real charge = 0;
  for (std::size_t i = 0; i < panels.size(); ++i) charge += panels.area(i) * sigma[i];
  const Real exact = Real(epsilon_0) * charge;
  return static_cast<double>(std::fabs(solve(mesh, Choice::dense, 1e-13).capacitance / exact - 1));
}

/// Prints the table and returns it as a .csv.
std::string print_table() {
  std::ostringstream csv;
  csv.precision(10);
  csv << "aspect,panels,capacitance_4pi_eps0_width,dense_error,tolerance,product_error,"
         "capacitance_error,iterations\n";
  std::printf(
      "| aspect | panels | C / 4πε₀ℓ | dense against long double | tolerance | product | "
      "capacitance | iterations |\n|---|---|---|---|---|---|---|---|\n");
  for (const double aspect : {1e1, 1e2, 1e3, 1e4, 1e5}) {
    const SurfaceMesh mesh = plate_of_long_cells(aspect, 500);
    const Panels panels = make_panels(mesh);
    const double of_dense = dense_error(plate_of_long_cells(aspect, 100));
    const double exact = solve(mesh, Choice::dense, 1e-13).capacitance;
    const double scaled = exact / natural_capacitance(1);
    const auto dense = make_dense_operator(panels, single_layer, {});
    for (const double tolerance : {1e-6, 1e-10}) {
      const Solved fast = solve(mesh, Choice::fmm, tolerance);
      const double of_product = product_error(panels, *dense, 0.1 * tolerance),
                   of_solve = std::abs(fast.capacitance / exact - 1);
      std::printf("| %.0e | %zu | %.10f | %.0e | %.0e | %.1e | %.1e | %d |\n", aspect,
                  panels.size(), scaled, of_dense, tolerance, of_product, of_solve,
                  fast.iterations);
      std::fflush(stdout);
      csv << aspect << ',' << panels.size() << ',' << scaled << ',' << of_dense << ',' << tolerance
          << ',' << of_product << ',' << of_solve << ',' << fast.iterations << '\n';
    }
  }
  return csv.str();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Products and capacitances of plates with long panels");
  std::string file;
  auto* const given = app.add_option("FILE", file, "where the rows are written as a .csv, too");
  return bench::run_main(app, argc, argv, [&] {
    // A file that cannot be written is refused before the work.
    if (*given) OutputFile probe(file);
    const std::string csv = print_table();
    if (*given) write_whole(file, csv);
  });
}
