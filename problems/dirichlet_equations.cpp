#include "fmbem/problems/dirichlet_equations.hpp"

#include <utility>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

std::vector<double> times(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
  return a;
}

/// Throws InputError for parts that are open, or of which the region is on both sides.
Enclosures closed_parts(const Panels& panels, const std::vector<double>& jump) {
  Enclosures parts = find_enclosures(panels, std::vector<int>(panels.size(), 0));
  for (const Enclosure& part : parts.parts)
    FMBEM_REQUIRE(part.closed, "the surface at "
                                   << place(panels.centroid(part.first) + panels.origin)
                                   << " is not closed: of a region all of the boundary is needed");
  for (std::size_t i = 0; i < panels.size(); ++i)
    FMBEM_REQUIRE(jump[i] == jump[parts.parts[parts.of[i]].first],
                  "the surface at " << place(panels.centroid(i) + panels.origin)
                                    << " has the region on both of its sides");
  return parts;
}

}  // namespace

DirichletEquations::DirichletEquations(const Panels& panels, std::span<const RegionSide> side,
                                       DirichletFormulation formulation)
    : panels_(panels), formulation_(formulation) {
  FMBEM_REQUIRE(side.size() == panels.size(),
                "there are " << panels.size() << " panels, but " << side.size() << " sides");
  for (const RegionSide s : side) jump_.push_back(static_cast<double>(s));
  parts_ = closed_parts(panels, jump_);
}

std::shared_ptr<const BoundaryOperator> DirichletEquations::make_operator(OperatorOptions options) {
  options.processor = Processor::cpu;
  k_ = make_boundary_operator(panels_, double_layer, options);
  if (formulation_ == DirichletFormulation::direct) return make_single_layer(panels_, options);
  second_kind_ = std::make_shared<SecondKindOperator>(panels_, k_, jump_, charges_of(options));
  return second_kind_;
}

/// Of the surfaces that the region lies outside of. What touches a ground plane needs none: its
/// image has the opposite density.
std::vector<SecondKindOperator::Charge> DirichletEquations::charges_of(
    const OperatorOptions& options) const {
  std::vector<SecondKindOperator::Charge> result;
  std::shared_ptr<const BoundaryOperator> v;
  const std::size_t n = panels_.size();
  for (std::size_t p = 0; p < parts_.parts.size(); ++p) {
    const Enclosure& part = parts_.parts[p];
    if (part.grounded || jump_[part.first] * part.volume > 0) continue;
    SecondKindOperator::Charge charge{{}, 0, 0, std::vector<double>(n)};
    std::vector<double> density(n, 0.0);
    double potential = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (parts_.of[i] != static_cast<std::int32_t>(p)) continue;
      charge.panels.push_back(static_cast<std::int32_t>(i));
      charge.area += panels_.area(i);
      density[i] = 1;
    }
    if (!v) v = make_single_layer(panels_, options);
    v->apply(density.data(), charge.potential.data());
    for (const std::int32_t i : charge.panels) potential += panels_.area(i) * charge.potential[i];
    charge.density = charge.area / potential;
    for (double& value : charge.potential) value *= charge.density;
    result.push_back(std::move(charge));
  }
  return result;
}

std::vector<double> DirichletEquations::right_hand_side(const std::vector<double>& g) const {
  FMBEM_REQUIRE(g.size() == panels_.size(),
                "there are " << panels_.size() << " panels, but " << g.size() << " potentials");
  if (second_kind_) return g;
  std::vector<double> b(g.size());
  k_->apply(times(g, jump_).data(), b.data(), {.tolerance = k_->accurate_tolerance()});
  for (std::size_t i = 0; i < g.size(); ++i) b[i] += 0.5 * g[i];
  return b;
}

DirichletDensities DirichletEquations::densities(const std::vector<double>& g,
                                                 std::vector<double> x) const {
  DirichletDensities result;
  if (!second_kind_) {
    result.normal_derivative = times(x, jump_);
    result.sigma = std::move(x);
    result.mu = times(g, jump_);
    for (double& mu : result.mu) mu = -mu;
    return result;
  }
  result.sigma.assign(g.size(), 0.0);
  for (const SecondKindOperator::Charge& charge : second_kind_->charges())
    for (const std::int32_t i : charge.panels)
      result.sigma[i] = charge.density * second_kind_->mean(charge, x.data());
  result.mu = std::move(x);
  return result;
}

}  // namespace fmbem
