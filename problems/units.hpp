#pragma once

namespace fmbem {

/// ε₀ in F/m (CODATA 2018).
inline constexpr double epsilon_0 = 8.8541878128e-12;

}  // namespace fmbem
