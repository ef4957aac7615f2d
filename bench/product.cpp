// Prints the products' tables of docs/performance.md: V, K, K' or mixed rows on surfaces of growing
// size, with its errors at some rows against exact integrals. fmbem-bench-product --surface sphere
// --panels 1e5,1e6
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/main.hpp"
#include "bench/operator_choice.hpp"
#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/mixed_operator.hpp"
#include "fmbem/bem/near/exact_entry.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/device_array.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"

using namespace fmbem;

namespace {

struct Options {
  std::vector<std::string> surfaces{"sphere", "bracket"};
  std::vector<double> panels{1e5, 1e6};
  bench::OperatorChoice choice;
  std::string layer = "V";
  double tolerance = 1e-6, kappa = 0;
  bool stages = false, at_centroids = false, transposed = false;
  int rows = 2000, repeat = 10, threads = 0, vectors = 1;

  NormalRows rows_of_normals() const {
    return at_centroids ? NormalRows::at_centroids : NormalRows::averaged;
  }
};

/// Median milliseconds of a product, on the GPU if the operator is there.
double product_ms(const LinearMap& map, std::vector<double>& x, std::vector<double>& y, int repeat,
                  const Product& product = {}) {
  std::optional<cuda::DeviceArray<double>> d_x, d_y;
  const bool on_device = map.processor() == Processor::gpu;
  if (on_device) {
    d_x.emplace(x);
    d_y.emplace(y.size());
  }
  std::vector<double> ms;
  for (int k = 0; k <= repeat; ++k) {
    const Timer timer;
    if (on_device)
      map.apply_on_device(d_x->data(), d_y->data(), product);
    else
      map.apply(x.data(), y.data(), product);
    map.wait();
    if (k > 0) ms.push_back(1e3 * timer.seconds());  // the first one makes room
  }
  if (on_device) d_y->download(y);
  std::nth_element(ms.begin(), ms.begin() + repeat / 2, ms.end());
  return ms[repeat / 2];
}

/// An operator's layer by panel: the same for all, or of mixed rows V on the left, as conductors
/// have it, and K' on the right, as the surface of a dielectric of permittivity 4 has it.
struct RowLayers {
  std::vector<Layer> of_panel;
  MixedRows mixed;  ///< if there are any

  RowLayers(const Panels& panels, const std::string& name) {
    for (std::size_t i = 0; i < panels.size(); ++i) {
      const bool left = panels.centroid(i).x < 0;
      of_panel.push_back(name != "mixed" ? bench::layer_of(name)
                         : left          ? single_layer
                                         : adjoint_double_layer);
      if (name != "mixed") continue;
      mixed.alpha.push_back(left ? 1 : 0);
      mixed.beta.push_back(left ? 0 : 1.2);
      mixed.gamma.push_back(left ? 0 : 1);
    }
  }
  std::shared_ptr<BoundaryOperator> make(const Panels& panels, const OperatorOptions& how) const {
    if (mixed.alpha.empty()) return make_boundary_operator(panels, of_panel[0], how);
    return std::make_shared<MixedOperator>(panels, mixed, how);
  }
};

/// Some rows of the product with x, exactly. Errors of V are relative to its values, those of K, K'
/// and rows with them, whose products may vanish, to x/2 and their factors.
struct ExactRows {
  std::vector<std::size_t> row;
  /// The latter of averaged K': what is within the tolerance are A K' x, and A⁻¹ K'ᵗ x.
  std::vector<double> value, weight;
  std::vector<bool> is_v;
  double v2 = 0, k2 = 0;  ///< squares of what errors are relative to

  ExactRows(const Panels& panels, const RowLayers& layers, double kappa,
            const std::vector<double>& x, const Options& options)
      : row(options.rows), value(options.rows) {
    const int rows = options.rows;
    if (rows == 0) return;
    const NormalRows normal_rows = options.rows_of_normals();
    const std::size_t n = panels.size();
    const LargeVector<Triangle> triangles = triangles_of(panels);
    const MixedRows& mixed = layers.mixed;
    const bool is_mixed = !mixed.alpha.empty();
    test::Uniform uniform(1);
    for (std::size_t& i : row)
      i = std::min(n - 1, static_cast<std::size_t>(uniform() * static_cast<double>(n)));
#pragma omp parallel for schedule(dynamic, 1)
    for (int k = 0; k < rows; ++k) {
      const std::size_t i = row[k];
      for (std::size_t j = 0; j < n; ++j) {
        const std::size_t target = options.transposed ? j : i, source = options.transposed ? i : j;
        value[k] += x[j] * exact_entry(layers.of_panel[target], normal_rows, triangles[target],
                                       triangles[source], j == i, kappa);
      }
      if (is_mixed) value[k] = (mixed.alpha[i] + mixed.beta[i]) * value[k] + mixed.gamma[i] * x[i];
    }
    for (int k = 0; k < rows; ++k) {
      const std::size_t i = row[k];
      const bool is_averaged =
          layers.of_panel[i] == adjoint_double_layer && normal_rows == NormalRows::averaged;
      weight.push_back(is_averaged ? std::pow(triangles[i].area, options.transposed ? -1 : 1) : 1);
      is_v.push_back(layers.of_panel[i] == single_layer);
      const double half = is_mixed ? 0.5 * mixed.beta[i] + mixed.gamma[i] : 0.5,
                   size = weight[k] * (is_v[k] ? value[k] : half * x[i]);
      (is_v[k] ? v2 : k2) += size * size;
    }
  }

  /// Root mean square error of y there, relative to their size; of mixed rows the larger one. A
  /// dash where no rows were asked for.
  std::string error_of(const std::vector<double>& y) const {
    if (row.empty()) return "–";
    double of_v = 0, of_k = 0;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double error = weight[k] * (y[row[k]] - value[k]);
      (is_v[k] ? of_v : of_k) += error * error;
    }
    char text[32];
    std::snprintf(text, sizeof text, "%.1e",
                  std::sqrt(test::larger_error(v2 > 0 ? of_v / v2 : 0, k2 > 0 ? of_k / k2 : 0)));
    return text;
  }
};

void print_stages(const char* what, const std::map<std::string, double>& seconds) {
  std::printf("stages of %s, ms:", what);
  for (const auto& [stage, of_stage] : seconds)
    std::printf(" %s %.3f", stage.c_str(), 1e3 * of_stage);
  std::printf("\n");
}

void run(const Options& options, const std::string& name, double about) {
  reset_peak_device_memory();
  OperatorOptions how{.kind = OperatorOptions::Choice::fmm};
  how.tolerance = options.tolerance;
  how.time_stages = options.stages;
  how.normal_rows = options.rows_of_normals();
  options.choice.set(how);
  std::optional<SurfaceMesh> mesh = bench::surfaces().at(name).make(about);
  Timer timer;
  const auto lap = [&] { return 1e3 * std::exchange(timer, Timer()).seconds(); };
  const Panels panels = make_panels(*mesh, *how.processor);
  const double panels_ms = lap();
  mesh.reset();  // some gigabytes
  const RowLayers layers(panels, options.layer);
  how.kappa = options.kappa / panels.extent;
  lap();
  const auto v = layers.make(panels, how);
  const double operator_ms = lap();
  const auto inverse = v->approximate_inverse();
  const double inverse_ms = lap();
  const std::size_t n = panels.size();
  std::vector<double> x(options.vectors * n), y(x.size()), z(n);
  for (std::size_t k = 0; k < x.size(); ++k)
    x[k] = 1 + std::cos(static_cast<double>(3 + k / n) * panels.centroid(k % n).x / panels.extent);
  const Product product{.vectors = options.vectors, .transposed = options.transposed};
  const double apply_ms = product_ms(*v, x, y, options.repeat, product);
  const double inverse_apply_ms = inverse ? product_ms(*inverse, x, z, options.repeat) : 0;
  OperatorInfo info = v->info();
  info.setup_seconds["sorted panels"] = 1e-3 * panels_ms;
  lap();
  v->apply(x.data(), z.data(),
           {.tolerance = v->accurate_tolerance(), .transposed = options.transposed});
  const double accurate_ms = lap();
  const ExactRows exact(panels, layers, how.kappa, x, options);
  std::printf("| %s | %zu | %d | %d | %d | %.0f | %s |", name.c_str(), panels.size(), info.order,
              info.levels, info.max_leaf, double(info.near_entries) / double(panels.size()),
              info.near_field_stored ? "stored" : "lean");
  for (const char* part : {"tree", "far field", "near field"}) {
    const auto seconds = info.setup_seconds.find(part);
    std::printf(" %.1f |", seconds == info.setup_seconds.end() ? 0 : 1e3 * seconds->second);
  }
  std::printf(" %.1f | %.1f | **%.2f** | %.2f | %.0f | %s | %s | %.2f | %.2f | %.2f |\n",
              operator_ms, inverse_ms, apply_ms, inverse_apply_ms, accurate_ms,
              exact.error_of(y).c_str(), exact.error_of(z).c_str(), double(info.memory_bytes) / 1e9,
              inverse ? double(inverse->memory_bytes()) / 1e9 : 0,
              double(peak_device_memory()) / 1e9);
  if (options.stages) {
    print_stages("the setup", info.setup_seconds);
    print_stages("the last product", info.product_seconds);
  }
  std::fflush(stdout);
}

void run_all(const Options& options) {
  FMBEM_REQUIRE(!options.transposed || options.layer != "mixed" || options.rows == 0,
                "errors of transposed mixed rows are not measured: give --rows 0");
  bench::start_run(options.choice.backend, options.threads);
  bench::print_heading(
      "| surface | panels | order | levels | leaf | near/row | near field | tree | far field | "
      "near "
      "field | operator | preconditioner | **product** | preconditioner's | accurate product | "
      "error | error of the accurate one | operator GB | preconditioner GB | GPU peak GB |");
  for (const std::string& name : options.surfaces)
    for (const double n : options.panels) run(options, name, n);
}

}  // namespace

int main(int argc, char** argv) {
  using bench::between;
  Options options;
  CLI::App app(
      "Products with V, K, K' or mixed rows on surfaces of growing size; times in ms, memory in "
      "GB");
  bench::add_surface_option(app, options.surfaces);
  options.choice.add_options(app);
  app.add_option("--panels", options.panels, "about as many")
      ->delimiter(',')
      ->check(between(20.0, 2e8));
  app.add_option("--layer", options.layer,
                 "V; K or K', which have no preconditioner; V and K' by halves")
      ->check(CLI::IsMember({"V", "K", "K'", "mixed"}));
  app.add_option("--tolerance", options.tolerance, "of the operator")->check(between(1e-14, 0.5));
  app.add_option("--kappa", options.kappa,
                 "of Yukawa's kernel, over the diagonal of the surface's box; 0 is Laplace's")
      ->check(between(0.0, 1e6));
  app.add_option("--rows", options.rows, "at which errors are measured; 0: none")
      ->check(between(0, 1000000));
  app.add_flag("--stages", options.stages,
               "lines with those of the setup and of a product after each row");
  app.add_option("--repeat", options.repeat)->check(between(1, 10000));
  app.add_flag("--at-centroids", options.at_centroids,
               "K' at centroids, in the place of averages over panels");
  app.add_flag("--transposed", options.transposed, "products with the transposed operator");
  app.add_option("--vectors", options.vectors,
                 "that a product takes at once; errors are the first's")
      ->check(between(1, 1000));
  app.add_option("--threads", options.threads)->check(between(1, 1024));
  return bench::run_main(app, argc, argv, [&] { run_all(options); });
}
