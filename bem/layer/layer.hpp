#pragma once

#include <string>

namespace fmbem {

/// What is taken of a potential on a surface (the target's trace), or of the kernel at a source
/// (the source's): the value, or the derivative along the normal.
enum class Trace { value, normal };

/// A boundary operator by its traces of G at target and source: V is (value, value), K (value,
/// normal), K' (normal, value) and −W (normal, normal).
struct Layer {
  Trace target = Trace::value, source = Trace::value;

  std::string name() const {
    if (target == Trace::value) return source == Trace::value ? "V" : "K";
    return source == Trace::value ? "K'" : "W";
  }
  friend bool operator==(const Layer&, const Layer&) = default;
};

inline constexpr Layer single_layer{};
inline constexpr Layer double_layer{Trace::value, Trace::normal};
inline constexpr Layer adjoint_double_layer{Trace::normal, Trace::value};

/// A kernel, Yukawa's where κ > 0, and its trace at the panels.
struct PanelKernel {
  Trace source = Trace::value;
  double kappa = 0;
};

/// What the rows of K' are, one for each panel i.
enum class NormalRows {
  /// Means over panel i of the flux from panels whose charge is lumped at their centroids. Then A
  /// K' = Kᵀ A with the panels' areas A, and the flux out of closed surfaces is exact, whatever the
  /// panels ("qualocation"). Source: Tausch, Wang and White 2001, IEEE Trans. CAD 20.
  averaged,
  at_centroids,  ///< the flux at the centroid of panel i
};

}  // namespace fmbem
