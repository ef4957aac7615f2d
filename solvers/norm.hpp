#pragma once

#include <span>

namespace fmbem {

/// ‖v‖ by all threads, with the same bits for any number of them.
double norm_of(std::span<const double> values);

}  // namespace fmbem
