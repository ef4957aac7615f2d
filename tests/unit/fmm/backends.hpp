#pragma once

// The tests of plans are compiled twice: for the CPU, and with FMBEM_TEST_CUDA for the GPU.
#include <span>

#include "fmbem/fmm/plan.hpp"
#include "tests/unit/catch.hpp"

#ifdef FMBEM_TEST_CUDA
#include "fmbem/cuda/fmm_plan.hpp"
#include "tests/unit/cuda/gpu.hpp"
#endif

namespace fmbem::test {

#ifdef FMBEM_TEST_CUDA

struct Plan : fmm::Plan {
  explicit Plan(std::span<const Vec3d> points, const fmm::PlanOptions& options = {})
      : fmm::Plan(cuda::make_fmm_plan(points, options)) {}
  Plan(std::span<const Vec3d> sources, std::span<const Vec3d> targets,
       const fmm::PlanOptions& options = {})
      : fmm::Plan(cuda::make_fmm_plan(sources, targets, options)) {}
};

inline bool backend_is_there() { return gpu_is_there(); }

#else

using fmm::Plan;
inline bool backend_is_there() { return true; }

#endif

}  // namespace fmbem::test

/// A test case of either backend, with its name and tags; it is skipped where the backend cannot
/// run.
#define FMBEM_BACKEND_TEST_NAMED(function, ...)      \
  static void function();                            \
  TEST_CASE(__VA_ARGS__) {                           \
    if (fmbem::test::backend_is_there()) function(); \
  }                                                  \
  static void function()
#define FMBEM_BACKEND_TEST_JOINED(line, ...) \
  FMBEM_BACKEND_TEST_NAMED(backend_test_##line, __VA_ARGS__)
#define FMBEM_BACKEND_TEST_AT(line, ...) FMBEM_BACKEND_TEST_JOINED(line, __VA_ARGS__)
#define BACKEND_TEST_CASE(...) FMBEM_BACKEND_TEST_AT(__LINE__, __VA_ARGS__)
