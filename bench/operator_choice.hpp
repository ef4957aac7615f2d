#pragma once

#include <string>
#include <vector>

#include "bench/main.hpp"
#include "bench/surfaces.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"

namespace fmbem::bench {

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
