#pragma once

#include <memory>

#include "fmbem/fmm/plan_data.hpp"

namespace fmbem::fmm {

/// All stages on the CPU. The data must outlive the backend.
std::unique_ptr<Backend> make_cpu_backend(const PlanData& data);

}  // namespace fmbem::fmm
