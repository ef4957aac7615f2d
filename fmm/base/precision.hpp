#pragma once

namespace fmbem {

/// What an operator works in; what goes in and comes out is always in double precision.
enum class Precision { double_precision, single_precision };

}  // namespace fmbem
