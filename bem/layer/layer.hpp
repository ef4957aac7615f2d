#pragma once

#include <string>

namespace fmbem {

/// What is taken of a potential on a surface, or of the kernel at a source: the value, or the
/// derivative along the normal.
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

}  // namespace fmbem
