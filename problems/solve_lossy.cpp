#include "fmbem/problems/solve_lossy.hpp"

#include "fmbem/problems/given_tolerance.hpp"

namespace fmbem {

LossySolution solve_lossy(LossySystem& system, const std::vector<LossyData>& data,
                          const LayerOptions& options) {
  LossySolution result;
  LinearSolver solver(options.solver);
  OperatorOptions op_options = options.op;
  if (op_options.tolerance == 0) op_options.tolerance = 0.1 * solver.tolerance();
  const auto op = made_to_tolerance(options.op.tolerance, solver.tolerance(),
                                    [&] { return system.make_operator(op_options); });
  solver.set_operator(op, leaves_of_unknowns(system.panels(), op->size()));
  std::vector<double> b;
  for (const LossyData& of : data) {
    const std::vector<double> of_problem = system.right_hand_side(of);
    b.insert(b.end(), of_problem.begin(), of_problem.end());
  }
  if (data.empty()) return result;
  std::vector<double> x(b.size());
  result.solves = solver.solve(b, x, static_cast<int>(data.size()));
  result.op = op->info();
  for (std::size_t k = 0; k < data.size(); ++k)
    result.sigma.push_back(
        values_of<Complex>(std::span<const double>(x).subspan(k * op->size(), op->size())));
  return result;
}

}  // namespace fmbem
