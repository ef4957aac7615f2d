// Prints iterations of GMRES to 1e-6 on mixed rows with their cluster inverse, for each case's own
// data and for random data, and the setup's time beside that of V's inverse: fmbem-bench-mixed
// --panels 5000 --case shell. With --backend cuda the setup's seconds on the GPU, the second time.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "bench/main.hpp"
#include "fmbem/bem/precond/cluster_inverse.hpp"
#include "fmbem/bem/precond/cuda/mixed_inverse.hpp"
#include "fmbem/bem/precond/mixed_inverse.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "tests/unit/mixed_dense.hpp"
#include "tests/unit/mixed_surfaces.hpp"
#include "tests/unit/points.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

/// Microseconds of the processor's time for each panel.
template <class Body>
double microseconds(std::size_t panels, Body&& body) {
  const std::clock_t start = std::clock();
  body();
  return 1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC /
         static_cast<double>(panels);
}

void run(const MixedCase& mixed, int n, bool setup_only) {
  const MixedSurface surface = mixed.make(n);
  const Panels panels = make_panels(surface.mesh);
  const MixedRows rows = mixed_rows(surface, panels);
  const auto triangles = triangles_of(panels);
  std::unique_ptr<MixedInverse> inverse;
  const double setup = microseconds(
      panels.size(), [&] { inverse = std::make_unique<MixedInverse>(panels, triangles, rows); });
  double unknowns_of_v = 0;
  const double setup_of_v = microseconds(
      panels.size(), [&] { unknowns_of_v = ClusterInverse(panels, triangles).mean_unknowns(); });
  std::printf("%-32s %6zu  ", mixed.name.c_str(), panels.size());
  if (!setup_only) {
    const DenseMixed a(panels, rows);
    const auto m = [&](const Vector& x) {
      Vector y(x.size());
      inverse->apply(x.data(), y.data());
      return y;
    };
    const auto apply = [&](const Vector& x) { return a(x); };
    std::printf("%3d (%3d)  ", gmres(apply, m, right_hand_side(surface, panels), 1e-6).iterations,
                gmres(apply, m, signed_charges(panels.size(), 1), 1e-6).iterations);
  }
  std::printf("%5.0f (%4.0f)  %6.1f (%4.1f)\n", inverse->mean_unknowns(), unknowns_of_v, setup,
              setup_of_v);
  std::fflush(stdout);
}

void run_on_gpu(const MixedCase& mixed, int n) {
  const MixedSurface surface = mixed.make(n);
  const Panels panels = make_panels(surface.mesh);
  const MixedRows rows = mixed_rows(surface, panels);
  double seconds = 0;
  for (int time = 0; time < 2; ++time) {
    const Timer timer;
    const cuda::bem::MixedInverse inverse(panels, rows);
    seconds = timer.seconds();
  }
  std::printf("%-32s %8zu  %.4f\n", mixed.name.c_str(), panels.size(), seconds);
  std::fflush(stdout);
}

struct Options {
  double fewest = 0, panels = 3000;
  std::string backend = "cpu", only;
  bool setup_only = false;
};

void run_all(const Options& options) {
  FMBEM_REQUIRE(options.fewest <= options.panels, "--fewest is more than --panels");
  std::vector<MixedCase> cases = mixed_cases();
  std::erase_if(cases, [&](const MixedCase& mixed) {
    return mixed.name.find(options.only) == std::string::npos;
  });
  FMBEM_REQUIRE(!cases.empty(),
                "no case has \"" << options.only << "\" in its name: leave --case out for all");
  const bool on_gpu = options.backend == "cuda";
  if (on_gpu)
    std::printf("%-32s   panels  setup, s\n", "case");
  else
    std::printf("%-32s panels  iterations, random  unknowns (V)  setup, us a panel (V)\n", "case");
  for (const MixedCase& mixed : cases)
    for (int n = mixed.coarse;; n = std::max(n + 1, n * mixed.fine / mixed.coarse)) {
      const auto panels = static_cast<double>(mixed.make(n).mesh.triangles.size());
      if (panels > options.panels) break;
      if (panels < options.fewest) continue;
      on_gpu ? run_on_gpu(mixed, n) : run(mixed, n, options.setup_only);
    }
}

}  // namespace

int main(int argc, char** argv) {
  using bench::between;
  Options options;
  CLI::App app("Iterations with the cluster inverse for mixed rows");
  app.add_option("--fewest", options.fewest, "at least so many")->check(between(0.0, 2e8));
  app.add_option("--backend", options.backend)->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--panels", options.panels, "at most so many panels")->check(between(1.0, 2e8));
  app.add_option("--case", options.only, "cases with this in their name");
  app.add_flag("--setup-only", options.setup_only,
               "no iterations, which dense matrices are made for");
  return bench::run_main(app, argc, argv, [&] { run_all(options); });
}
