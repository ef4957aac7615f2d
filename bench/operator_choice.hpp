#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/main.hpp"
#include "bench/surfaces.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/layer.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/machine.hpp"

namespace fmbem::bench {

/// 0 threads: as many as there are cores.
inline void start_run(const std::string& backend, int threads) {
  set_threads(threads > 0 ? threads : default_threads());
  if (backend == "cuda") start_cuda_device();
}

/// The heading of a table, `| a | b |`, and the line below it.
inline void print_heading(const std::string& heading) {
  std::printf("%s\n|", heading.c_str());
  const auto bars = std::count(heading.begin(), heading.end(), '|');
  for (auto column = bars - 1; column > 0; --column) std::printf("---|");
  std::printf("\n");
}

/// V, K or K'.
inline Layer layer_of(const std::string& name) {
  for (const Layer& layer : {double_layer, adjoint_double_layer})
    if (name == layer.name()) return layer;
  return single_layer;
}

inline void add_surface_option(CLI::App& app, std::vector<std::string>& chosen) {
  std::vector<std::string> names;
  for (const auto& [name, surface] : surfaces()) names.push_back(name);
  app.add_option("--surface", chosen)->delimiter(',')->check(CLI::IsMember(names));
}

/// What benchmarks let the user choose of an operator.
struct OperatorChoice {
  std::string backend = "cpu", near_field = "auto";
  int max_leaf = 0;  ///< 0: the operator's own choice

  /// --backend --near-field --max-leaf
  void add_options(CLI::App& app) {
    app.add_option("--backend", backend)->check(CLI::IsMember({"cpu", "cuda"}));
    app.add_option("--near-field", near_field, "on the GPU")
        ->check(CLI::IsMember({"auto", "stored", "lean"}));
    app.add_option("--max-leaf", max_leaf, "panels in a leaf, at most")->check(between(1, 100000));
  }

  void set(OperatorOptions& options) const {
    if (backend == "cuda") options.processor = Processor::gpu;
    if (near_field == "stored") options.near_field = OperatorOptions::NearField::stored;
    if (near_field == "lean") options.near_field = OperatorOptions::NearField::lean;
    if (max_leaf > 0) options.max_leaf = max_leaf;
  }
};

}  // namespace fmbem::bench
