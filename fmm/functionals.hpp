#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem::fmm {

/// Points with charges and dipole moments, as a structure of arrays.
struct WeightedPoints {
  std::vector<double> x, y, z, weight;
  std::array<std::vector<double>, 3> dipole{};  ///< by component; empty without dipoles

  void clear() {
    for (auto* column : columns()) column->clear();
  }
  void append(WeightedPoints& others) {
    const auto to = columns(), from = others.columns();
    for (std::size_t c = 0; c < to.size(); ++c)
      to[c]->insert(to[c]->end(), from[c]->begin(), from[c]->end());
  }

 private:
  std::array<std::vector<double>*, 7> columns() {
    return {&x, &y, &z, &weight, &dipole[0], &dipole[1], &dipole[2]};
  }
};

/// Some sources as sums of fewer parts: source k is Σ_c coefficients[k][c] times the points of part
/// c.
struct SharedParts {
  int parts = 0;
  std::vector<WeightedPoints> points;  ///< [parts]
  std::vector<double> coefficients;    ///< [sources][parts]
};

/// Whether the sources' moments are kept, K numbers each, or integrated again in every evaluation.
enum class Moments { afresh, kept, kept_in_single };

/// Sources that are not points but spread out, such as panels with a constant density: a few points
/// with charges and dipoles stand for a unit of each. This is S of a far field y = T F S x. T takes
/// values at points or, in a transposed product, is Sᵀ.
class Functionals {
 public:
  virtual ~Functionals() = default;

  virtual std::size_t size() const = 0;
  /// The unknown that source j belongs to: its strength is that of the unknown, which may have
  /// several sources.
  virtual std::size_t unknowns() const { return size(); }
  virtual std::size_t unknown(std::size_t j) const { return j; }
  /// How many strengths an unknown has: 1, or 2 where the first is that of the points' charges and
  /// the second that of their dipoles. Strengths are then [count][2][unknowns].
  virtual int strengths() const { return 1; }
  /// The place of source j, which decides in which boxes it is.
  virtual Vec3d centre(std::size_t j) const = 0;
  /// Smallest and largest coordinates of source j.
  virtual void bounds(std::size_t j, Vec3d& low, Vec3d& high) const = 0;
  /// The points that stand for source j of strength 1 in a box of that side, good for targets that
  /// are at least a side away from the box's centre.
  virtual void quadrature(std::size_t j, double side, WeightedPoints& points) const = 0;
  /// Finds parts that all sources of a box have in common, far fewer than these are, which stand
  /// for them as their points do. False if there are none.
  virtual bool share_parts(std::span<const std::int32_t> /*sources*/, double /*side*/,
                           SharedParts& /*shared*/) const {
    return false;
  }
};

}  // namespace fmbem::fmm
