// Times of plans whose points move, beside those of new plans whose operators are there already:
// fmbem-bench-moves. A step is 1e-4 of the cloud's size. Medians.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "bench/main.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/device_array.hpp"
#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "tests/unit/points.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

using Points = std::vector<Vec3d>;

/// The same plan on either processor, with points where it works.
class Cpu {
 public:
  Cpu(const Points& points, const fmm::PlanOptions& options) : plan_(points, options) {}
  static const Points& ready(const Points& points) { return points; }
  void move(const Points& points) { plan_.move(points); }
  fmm::Seconds stages() const { return plan_.plan_seconds(); }

 private:
  fmm::Plan plan_;
};

class Gpu {
 public:
  using Ready = cuda::DeviceArray<Vec3d>;
  Gpu(const Ready& points, const fmm::PlanOptions& options)
      : plan_({points.data(), points.size()}, {points.data(), points.size()}, options) {}
  static Ready ready(const Points& points) { return Ready(std::span<const Vec3d>(points)); }
  void move(const Ready& points) {
    plan_.move({points.data(), points.size()}, {points.data(), points.size()});
    plan_.wait();
  }
  fmm::Seconds stages() const { return plan_.plan_seconds(); }

 private:
  cuda::FmmPlan plan_;
};

double median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[(seconds.size() - 1) / 2];
}

std::string text_of(const fmm::Seconds& stages) {
  std::string text;
  for (const auto& [stage, seconds] : stages) {
    char one[64];
    std::snprintf(one, sizeof one, "%s%s %.3g", text.empty() ? "" : ", ", stage.c_str(),
                  1e3 * seconds);
    text += one;
  }
  return text;
}

template <class Plan>
void run(const std::string& cloud, std::size_t n, const fmm::PlanOptions& options, int repeat) {
  Points points = points_by_name(cloud, n, 1);
  const double step = 1e-4 * extent(points);
  const auto first = Plan::ready(points);
  Plan plan(first, options);  // keeps the operators
  std::vector<double> of_new, of_move;
  fmm::Seconds new_stages, move_stages;
  Uniform uniform(2);
  for (int k = 0; k < repeat; ++k) {
    for (Vec3d& x : points) x += step * Vec3d{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
    const auto moved = Plan::ready(points);
    Timer timer;
    std::optional<Plan> made(std::in_place, moved, options);
    of_new.push_back(timer.seconds());
    new_stages = made->stages();
    made.reset();
    timer = Timer();
    plan.move(moved);
    of_move.push_back(timer.seconds());
    move_stages = plan.stages();
  }
  std::printf("%s,%zu,%.0e,%s,%.3f,%.3f,%.2f,%s,%s\n", cloud.c_str(), n, options.tolerance,
              options.construction == fmm::Construction::histogram ? "histogram" : "sort",
              1e3 * median(of_new), 1e3 * median(of_move), median(of_move) / median(of_new),
              ('"' + text_of(new_stages) + '"').c_str(),
              ('"' + text_of(move_stages) + '"').c_str());
  std::fflush(stdout);
}

struct Options {
  std::vector<std::string> clouds{"cube"};
  std::vector<std::size_t> counts{1'000'000};
  std::vector<double> tolerances{1e-6};
  std::string backend = "cpu", construction = "sort";
  int repeat = 7;
};

void run_all(const Options& o) {
  for (const std::string& cloud : o.clouds) points_by_name(cloud, 1, 1);  // refuses others
  if (o.backend == "cuda") start_cuda_device();
  std::printf(
      "cloud,points,tolerance,construction,new plan [ms],move [ms],ratio,stages of a new "
      "plan [ms],stages of a move [ms]\n");
  for (const std::string& cloud : o.clouds)
    for (const std::size_t n : o.counts)
      for (const double tolerance : o.tolerances) {
        fmm::PlanOptions options{.tolerance = tolerance};
        if (o.construction == "histogram") options.construction = fmm::Construction::histogram;
        o.backend == "cuda" ? run<Gpu>(cloud, n, options, o.repeat)
                            : run<Cpu>(cloud, n, options, o.repeat);
      }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Times of plans whose points move, and of new ones.");
  const auto add_list = [&](const char* name, auto& values, const char* help) {
    return app.add_option(name, values, help)->delimiter(',')->capture_default_str();
  };
  add_list("--distribution", options.clouds, "cube, sphere, plummer, ellipsoid, …");
  add_list("--points", options.counts, "how many")
      ->check(bench::between<std::size_t>(2, 10'000'000'000));
  add_list("--tolerance", options.tolerances, "of the plans")->check(bench::between(1e-14, 0.1));
  app.add_option("--backend", options.backend, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--construction", options.construction, "of trees: sort or histogram")
      ->check(CLI::IsMember({"sort", "histogram"}));
  app.add_option("--repeat", options.repeat, "steps, of which medians are told")
      ->capture_default_str()
      ->check(bench::between(1, 10000));
  return bench::run_main(app, argc, argv, [&] { run_all(options); });
}
