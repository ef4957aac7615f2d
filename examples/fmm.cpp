// Potential and field of charges at their own places, without any mesh: example_fmm [POINTS]
#include <cstdlib>
#include <exception>
#include <iostream>
#include <random>

#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/plan.hpp"

int main(int argc, char** argv) try {
  const int n = argc > 1 ? std::atoi(argv[1]) : 20'000;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<fmbem::Vec3d> points(n);
  std::vector<double> charges(n);
  for (fmbem::Vec3d& p : points) p = {uniform(random), uniform(random), uniform(random)};
  for (double& q : charges) q = uniform(random);

  fmbem::fmm::PlanOptions options;
  options.tolerance = 1e-6;
  options.gradient = true;
  fmbem::fmm::Plan plan(points, options);  // serves any number of evaluations

  std::vector<double> potential(n), exact(1);
  std::vector<fmbem::Vec3d> gradient(n);
  plan.evaluate({.charges = charges}, {.potential = potential, .gradient = gradient});

  fmbem::fmm::direct_sum(points, std::span(points).first(1), {.charges = charges},
                         {.potential = exact});
  std::cout << n << " points, order " << plan.info().order << ": the first potential is "
            << potential[0] << ", summed directly " << exact[0] << '\n';

  // A step along the field: the plan comes along, in a fraction of the time of a new one.
  for (int i = 0; i < n; ++i) points[i] = points[i] - 1e-6 * charges[i] * gradient[i];
  plan.move(points);
  plan.evaluate({.charges = charges}, {.potential = potential});
  std::cout << "and " << potential[0] << " after a step\n";
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
