#pragma once

#include <memory>

#include "fmbem/fmm/plan_data.hpp"

namespace fmbem::cuda {

/// The stages of fmm::FarField on the current GPU, with a tree that the host has built and moments
/// that it has integrated, which stay in device memory whether or not they are to be kept. For
/// fmm::FarFieldOptions::make_backend. Throws InputError without a usable GPU and ResourceError for
/// want of its memory.
std::unique_ptr<fmm::Backend> make_spread_backend(const fmm::PlanData& data);

}  // namespace fmbem::cuda
