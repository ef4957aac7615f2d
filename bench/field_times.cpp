// Times of fields at many points: fmbem-bench-field-times. A row for each of the options'
// combinations: seconds from points in the host's memory to fields there, those of the stages on a
// GPU, and the largest difference to exact integrals at some points.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/main.hpp"
#include "fmbem/bem/layer/cuda/layer_at_points.hpp"
#include "fmbem/bem/layer/double_layer_field.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

struct Options {
  std::vector<std::string> surfaces{"sphere"}, clouds{"box"};
  std::vector<double> tolerances{1e-8};
  std::vector<std::size_t> points{10'000'000};
  std::size_t panels = 100'000, check = 200;
  int repeat = 3;
  std::string backend = "cpu";
  bool dipoles = false, gradient_of_e = false, stages = false;
  bool gpu() const { return backend == "cuda"; }
};

SurfaceMesh surface_of(const std::string& name, std::size_t panels) {
  const auto n = static_cast<double>(panels);
  if (name == "cube") return cube(static_cast<int>(std::lround(std::sqrt(n / 12))));
  if (name == "plate") return plate(static_cast<int>(std::lround(std::sqrt(n / 2))));
  return sphere(static_cast<int>(std::lround(std::log(n / 8) / std::log(4.0))));
}

/// In a box half as large again as the surface, on a plane across it, or within 1e-3 of the panels.
std::vector<Vec3d> cloud_of(const std::string& name, const Panels& panels, std::size_t n) {
  std::vector<Vec3d> points(n);
  const double side = 0.9 * panels.extent;
  Uniform uniform(1);
  for (Vec3d& x : points) {
    if (name == "surface") {
      const Triangle t = panels.triangle(static_cast<std::size_t>(uniform(0, 1) * panels.size()));
      x = t.centroid + 1e-3 * panels.extent * sphere_point(uniform);
    } else {
      for (int axis = 0; axis < 3; ++axis) x[axis] = side * (uniform(0, 1) - 0.5);
      if (name == "plane") x.z = 0.01 * side;
    }
    x += panels.origin;
  }
  return points;
}

Field field_of(const Options& options, const Panels& panels, const std::vector<double>& density,
               std::span<const Vec3d> points, double tolerance) {
  const FieldOptions how{.tolerance = tolerance,
                         .gradient_of_e = options.gradient_of_e,
                         .processor = options.gpu() ? Processor::gpu : Processor::cpu};
  return options.dipoles ? evaluate_double_layer(panels, density, points, how)
                         : evaluate_field(panels, density, points, how);
}

struct Errors {
  double potential, e, gradient_of_e = 0;
};
/// Relative, as FieldOptions::tolerance has them, of every so many points.
Errors errors_of(const Options& options, const Panels& panels, const std::vector<double>& density,
                 std::span<const Vec3d> points, const Field& field) {
  const std::size_t stride = std::max<std::size_t>(1, points.size() / options.check);
  std::vector<Vec3d> some;
  for (std::size_t i = 0; i < points.size(); i += stride) some.push_back(points[i]);
  std::vector<double> sizes;
  for (const double s : density) sizes.push_back(std::abs(s));
  const Field exact = field_of(options, panels, density, some, 0),
              whole = field_of(options, panels, sizes, some, 0);
  double error[3] = {}, size[3] = {};
  for (std::size_t k = 0; k < some.size(); ++k) {
    error[0] += std::pow(field.potential[k * stride] - exact.potential[k], 2);
    error[1] += norm2(field.e[k * stride] - exact.e[k]);
    size[0] += std::pow(whole.potential[k], 2);
    size[1] += norm2(whole.e[k]);
    if (!options.gradient_of_e) continue;
    error[2] += norm2(field.gradient_of_e[k * stride] - exact.gradient_of_e[k]);
    size[2] += norm2(whole.gradient_of_e[k]);
  }
  return {std::sqrt(error[0] / size[0]), std::sqrt(error[1] / size[1]),
          size[2] > 0 ? std::sqrt(error[2] / size[2]) : 0};
}

void run(const Options& options, const std::string& surface, const std::string& cloud,
         std::size_t n, double tolerance) {
  const Panels panels = make_panels(surface_of(surface, options.panels),
                                    options.gpu() ? Processor::gpu : Processor::cpu);
  const std::vector<double> density = signed_charges(panels.size(), 2);
  const std::vector<Vec3d> points = cloud_of(cloud, panels, n);
  std::vector<double> seconds;
  Field field;
  for (int k = 0; k < options.repeat; ++k) {
    field = {};
    const Timer timer;
    field = field_of(options, panels, density, points, tolerance);
    seconds.push_back(timer.seconds());
  }
  std::sort(seconds.begin(), seconds.end());
  const Errors errors = errors_of(options, panels, density, points, field);
  std::printf("%s,%zu,%s,%zu,%.0e,%s,%.4f,%.4f,%.1e,%.1e", surface.c_str(), panels.size(),
              cloud.c_str(), n, tolerance, options.gpu() ? "cuda" : "cpu", seconds.front(),
              seconds[seconds.size() / 2], errors.potential, errors.e);
  if (options.gradient_of_e) std::printf(",%.1e", errors.gradient_of_e);
  if (options.gpu() && options.stages) {
    cuda::bem::LayerAtPointsInfo info;
    cuda::bem::set_layer_field(panels, density, points,
                               {.source = options.dipoles ? Trace::normal : Trace::value,
                                .tolerance = (options.gradient_of_e ? 0.001 : 0.02) * tolerance,
                                .gradient_of_e = options.gradient_of_e},
                               field, &info);
    std::printf(",order %d; %d levels; leaf %d; near pairs %.3g", info.order, info.levels,
                info.max_leaf, static_cast<double>(info.near_pairs));
    for (const auto& [stage, of_stage] : info.seconds)
      std::printf("; %s %.4f", stage.c_str(), of_stage);
  }
  std::printf("\n");
  std::fflush(stdout);
}

void run_all(const Options& options) {
  if (options.gpu()) start_cuda_device();
  std::printf(
      "surface,panels,cloud,points,tolerance,backend,best [s],median [s],error of φ,of E%s%s\n",
      options.gradient_of_e ? ",of its gradient" : "",
      options.gpu() && options.stages ? ",stages [s]" : "");
  for (const std::string& surface : options.surfaces)
    for (const std::string& cloud : options.clouds)
      for (const std::size_t n : options.points)
        for (const double tolerance : options.tolerances)
          run(options, surface, cloud, n, tolerance);
}

}  // namespace

int main(int argc, char** argv) {
  using bench::between;
  Options options;
  CLI::App app("Times of potential and field at points.");
  const auto add_list = [&](const char* name, auto& values, const char* help) {
    return app.add_option(name, values, help)->delimiter(',')->capture_default_str();
  };
  add_list("--surface", options.surfaces, "of charges")
      ->check(CLI::IsMember({"sphere", "cube", "plate"}));
  add_list("--cloud", options.clouds, "of points")
      ->check(CLI::IsMember({"box", "plane", "surface"}));
  add_list("--points", options.points, "how many")->check(between<std::size_t>(1, 10'000'000'000));
  add_list("--tolerance", options.tolerances, "of FieldOptions")->check(between(0.0, 0.1));
  app.add_option("--panels", options.panels, "about how many")
      ->capture_default_str()
      ->check(between<std::size_t>(20, 200'000'000));
  app.add_option("--check", options.check, "points with exact integrals")
      ->capture_default_str()
      ->check(between<std::size_t>(1, 1'000'000'000));
  app.add_option("--repeat", options.repeat, "evaluations; the best and the median are told")
      ->capture_default_str()
      ->check(between(1, 10000));
  app.add_option("--backend", options.backend, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_flag("--dipoles", options.dipoles, "a double layer");
  app.add_flag("--gradient-of-e", options.gradient_of_e, "and its error, of Laplace's kernel");
  app.add_flag("--stages", options.stages, "seconds of the stages on the GPU");
  return bench::run_main(app, argc, argv, [&] { run_all(options); });
}
