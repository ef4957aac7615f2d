// Step 12: what is left to do is what fmm/ does: a tree that is deep where points are dense, M2L as
// eight matrix products for all boxes of a level, the near field by Newton's third law in registers
// of single precision, and an order, a leaf size and a method for the tolerance that is asked for.
// The GPU has the same stages; where there is one, the last line is its.
#include <numbers>

#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/plan.hpp"
#include "step.hpp"

int main() {
  const Charges c = charges_in_cube(50'000, {0, 0, 0}, 1, 1);
  std::vector<double> u(c.x.size());
  bool good = true;
  const auto run = [&](const fmbem::fmm::Plan& plan, const std::string& name, double tolerance) {
    const double start = now();
    plan.evaluate({.charges = c.q}, {.potential = u});
    const double seconds = now() - start;
    for (double& value : u) value *= 4 * std::numbers::pi;  // the library's kernel is 1/(4πr)
    const std::string method = name_of(plan.info().method);
    good = tell(name + method, error_of(u, c.x, c), tolerance, seconds) && good;
  };
  for (const double tolerance : {1e-3, 1e-6, 1e-9})
    run(fmbem::fmm::Plan(c.x, {.tolerance = tolerance, .method = fmbem::fmm::Method::automatic}),
        "library, automatic: ", tolerance);
  if (!fmbem::cuda_devices().empty())
    run(fmbem::cuda::make_fmm_plan(c.x, {.tolerance = 1e-6}), "library, GPU: ", 1e-6);
  return !good;
}
