// Prints iterations of GMRES to 1e-6 on mixed rows with their cluster inverse, for each case's own
// data and for random data, and the setup's time beside that of V's inverse: fmbem-bench-mixed
// --panels 5000 --case shell
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "fmbem/bem/precond/cluster_inverse.hpp"
#include "fmbem/bem/precond/mixed_inverse.hpp"
#include "fmbem/fmm/base/error.hpp"
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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("iterations with the cluster inverse for mixed rows");
  double most_panels = 3000;
  std::string only;
  bool setup_only = false;
  app.add_option("--panels", most_panels, "at most so many panels");
  app.add_option("--case", only, "cases with this in their name");
  app.add_flag("--setup-only", setup_only, "no iterations, which dense matrices are made for");
  CLI11_PARSE(app, argc, argv);
  try {
    std::printf("%-32s panels  iterations, random  unknowns (V)  setup, us a panel (V)\n", "case");
    for (const MixedCase& mixed : mixed_cases()) {
      if (mixed.name.find(only) == std::string::npos) continue;
      for (int n = mixed.coarse;; n = std::max(n + 1, n * mixed.fine / mixed.coarse)) {
        if (static_cast<double>(mixed.make(n).mesh.triangles.size()) > most_panels) break;
        run(mixed, n, setup_only);
      }
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
