#pragma once

#include "fmbem/fmm/kernel/laplace.hpp"
#include "fmbem/fmm/kernel/yukawa.hpp"

/// Calls a macro with the type of each kernel, to instantiate the templates that are compiled apart
/// from their callers.
#define FMBEM_FOR_EACH_KERNEL(call) call(Laplace) call(Yukawa)
