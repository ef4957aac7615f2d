#pragma once

#include <algorithm>
#include <compare>

#include "fmbem/cuda/evaluation.cuh"
#include "fmbem/cuda/strengths.cuh"

namespace fmbem::cuda {

/// What an evaluation of a batch has and is asked for.
struct Asked {
  int vectors;
  bool charges, dipoles, potential, gradient, hessian;
  FMBEM_HD int components() const { return potential + 3 * gradient + 6 * hessian; }
  auto operator<=>(const Asked&) const = default;
};

/// How right-hand sides go through an evaluation.
struct Batches {
  int most;  ///< at a time
  std::int64_t sources, targets;
  Arguments* arguments;  ///< in device memory
  cudaStream_t stream;
};

/// Calls evaluate(asked), with the arguments set, for as many right-hand sides as fit at a time.
template <class Evaluate>
void for_batches(const Batches& batches, const DeviceStrengths& strengths,
                 const DeviceFields& fields, Evaluate&& evaluate) {
  for (int first = 0; first < strengths.count; first += batches.most) {
    const auto part = [&](auto* of_all, std::int64_t each) {
      return of_all ? of_all + first * each : nullptr;
    };
    const std::int64_t s = batches.sources, t = batches.targets;
    const Arguments arguments{part(strengths.charges, s), part(strengths.dipoles, s),
                              part(fields.potential, t), part(fields.gradient, t),
                              part(fields.hessian, t)};
    set_arguments(batches.arguments, arguments, batches.stream);
    evaluate(Asked{std::min(batches.most, strengths.count - first), arguments.charges != nullptr,
                   arguments.dipoles != nullptr, arguments.potential != nullptr,
                   arguments.gradient != nullptr, arguments.hessian != nullptr});
  }
}

}  // namespace fmbem::cuda
