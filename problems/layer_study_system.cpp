#include "fmbem/problems/layer_study_system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "fmbem/bem/layer/shifted_operator.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/precond/cluster_inverse.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/inner_point.hpp"
#include "fmbem/problems/legendre_sum.hpp"

namespace fmbem {
namespace {

/// Of ClusterInverseOptions: θ for which the small systems have so many unknowns on the mean.
double opening_for(const Panels& panels, std::span<const Triangle> triangles, int unknowns) {
  ClusterInverseOptions options;
  double low = 0.1, high = 4;  // many unknowns, few
  for (int step = 0; step < 20; ++step) {
    options.opening = std::sqrt(low * high);
    options.most_unknowns = std::max(options.most_unknowns, 4 * unknowns);
    const ClusterRows rows(ClusterTree(panels.key, triangles, options.max_leaf), options,
                           panels.extent, options.max_leaf);
    (rows.mean_unknowns() > unknowns ? low : high) = options.opening;
  }
  return std::sqrt(low * high);
}

double sum_of(const std::vector<double>& terms) {
  return std::accumulate(terms.begin(), terms.end(), 0.0);
}

}  // namespace

LayerStudySystem::LayerStudySystem(const StudyProblem& problem, const StudyEquation& equation,
                                   const OperatorOptions& options)
    : StudySystem(make_panels(problem.mesh, options.processor.value_or(Processor::cpu))),
      equation_(equation),
      closed_(problem.mesh.closed),
      is_unit_sphere_(problem.is_unit_sphere),
      n_groups_(static_cast<int>(problem.mesh.groups.size())) {
  FMBEM_REQUIRE(
      closed_ || equation.formulation == Formulation::single,
      "the formulation " << name(equation) << " needs a closed surface: use single on open ones");
  for (const auto input : panels_.input_index) group_.push_back(problem.mesh.group_of[input]);
  switch (equation.formulation) {
    case Formulation::single:
      op_ = make_single_layer(panels_, options);
      break;
    case Formulation::direct:
      // K first, as it refuses tolerances that V reaches.
      of_data_ = make_boundary_operator(panels_, double_layer, options);
      op_ = make_single_layer(panels_, options);
      break;
    case Formulation::second:
      op_ = make_shifted_operator(make_boundary_operator(panels_, double_layer, options), 0.5, -1);
      of_data_ = make_single_layer(panels_, options);
      break;
    case Formulation::adjoint:
    case Formulation::mixed:
    case Formulation::dielectric: {
      StudyRows rows = study_rows(panels_, equation);
      charge_factor_ = std::move(rows.charge_factor);
      op_ = mixed_ = std::make_shared<MixedOperator>(panels_, std::move(rows.rows), options);
      break;
    }
    case Formulation::media:
    case Formulation::solvate:
      throw InputError("the formulation " + name(equation) + " is not that of one layer");
  }
}

double LayerStudySystem::entry(std::size_t i, std::size_t j) const {
  if (mixed_) return mixed_entry(mixed_->mixed_rows(), i, j);
  if (equation_.formulation == Formulation::second)
    return (i == j ? 0.5 : 0) - layer_entry(double_layer, i, j);
  return layer_entry(single_layer, i, j);
}

std::unique_ptr<ApproximateInverse> LayerStudySystem::inverse(std::optional<int> unknowns) const {
  if (!unknowns || op_->info().name != "V" || op_->processor() != Processor::cpu)
    return StudySystem::inverse(unknowns);
  const LargeVector<Triangle> triangles = triangles_of(panels_);
  ClusterInverseOptions options;
  options.opening = opening_for(panels_, triangles, *unknowns);
  options.most_unknowns = std::max(options.most_unknowns, 4 * *unknowns);
  return std::make_unique<ClusterInverse>(panels_, triangles, options);
}

bool LayerStudySystem::has_flux(std::size_t i) const {
  return equation_.formulation == Formulation::second ||
         (mixed_ && mixed_->mixed_rows().beta[i] != 0);
}

Vec3d LayerStudySystem::source() const {
  if (!source_) {
    constexpr Vec3d off_the_surface{0.12, 0.15, 0.16};  // where there is no inside
    source_ = closed_ ? inner_point(panels_) : panels_.extent * off_the_surface;
  }
  return *source_;
}

/// g, and q where that is given.
std::vector<double> LayerStudySystem::boundary_data(const StudyData& data) const {
  using Kind = StudyData::Kind;
  std::vector<double> values(panels_.size());
  if (data.kind == Kind::opposite) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = group_[i] % 2 == 0 ? 1 : -1;
    return values;
  }
  const bool are_one = data.kind == Kind::one;
  const Vec3d s = are_one ? Vec3d{} : source();
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Triangle t = panels_.triangle(i);
    const Vec3d r = t.centroid - s;
    if (has_flux(i))
      values[i] = are_one ? -1 : -inv_4pi * dot(r, t.normal) / (norm(r) * norm2(r));
    else
      values[i] = are_one ? 1 : inv_4pi / norm(r);
  }
  return values;
}

AppliedField LayerStudySystem::applied(const StudyData& data) const {
  AppliedField field;
  field.unit = 1;
  field.zero = panels_.origin;
  if (data.kind == StudyData::Kind::one)
    field.uniform = {0, 0, 1};
  else
    field.charges.push_back({panels_.origin + source(), 1, equation_.permittivity});
  return field;
}

std::vector<double> LayerStudySystem::dielectric_right_hand_side(const StudyData& data) const {
  std::vector<double> b(panels_.size());
  const AppliedField field = applied(data);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = -equation_.beta() * field.mean_flux(panels_.triangle(i), panels_.origin, 1);
  set_charges(
      mixed_->mixed_rows(), *areas_of(panels_),
      [&](std::size_t e, double sum) { return charge_factor_[e] * sum; }, b.data());
  return b;
}

std::vector<double> LayerStudySystem::right_hand_side_of(
    const std::vector<double>& boundary_data) const {
  std::vector<double> b = boundary_data;
  if (equation_.formulation == Formulation::direct) {
    of_data_->apply(boundary_data.data(), b.data(), {.alpha = 1, .beta = -0.5});
  } else if (equation_.formulation == Formulation::second) {
    of_data_->apply(boundary_data.data(), b.data(), {.alpha = -1});
  } else if (mixed_) {
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] *= has_flux(i) ? -1 : mixed_->mixed_rows().alpha[i];
  }
  return b;
}

std::vector<double> LayerStudySystem::data_right_hand_sides(const StudyData& data) const {
  using Kind = StudyData::Kind;
  const bool of_groups = data.kind == Kind::opposite || data.kind == Kind::groups;
  FMBEM_REQUIRE(!of_groups || equation_.formulation == Formulation::single ||
                    equation_.formulation == Formulation::direct,
                "potentials of groups are for the formulations single and direct");
  FMBEM_REQUIRE(data.kind != Kind::opposite || n_groups_ > 1,
                "opposite potentials are for several groups, and there is one");
  if (equation_.formulation == Formulation::dielectric) return dielectric_right_hand_side(data);
  if (data.kind != Kind::groups) return right_hand_side_of(boundary_data(data));
  std::vector<double> all;
  for (int group = 0; group < n_groups_; ++group) {
    std::vector<double> potential(panels_.size());
    for (std::size_t i = 0; i < potential.size(); ++i) potential[i] = group_[i] == group ? 1 : 0;
    const std::vector<double> b = right_hand_side_of(potential);
    all.insert(all.end(), b.begin(), b.end());
  }
  return all;
}

double LayerStudySystem::number_of(const StudyData& data, std::span<const double> solution) const {
  const Vec3d x = probe() - panels_.origin;
  const bool by_both_layers =
      equation_.formulation == Formulation::direct || equation_.formulation == Formulation::second;
  const std::vector<double> given = by_both_layers ? boundary_data(data) : std::vector<double>{};
  std::vector<double> terms(panels_.size());
#pragma omp parallel for schedule(static)
  for (std::size_t j = 0; j < terms.size(); ++j) {
    const Triangle t = panels_.triangle(j);
    const double v = panel_potential(t, x);
    if (!by_both_layers) {
      terms[j] = v * solution[j];
    } else {
      const bool q_is_found = equation_.formulation == Formulation::direct;
      const double u = q_is_found ? given[j] : solution[j];
      const double q = q_is_found ? solution[j] : given[j];
      terms[j] = triangle_double_layer(t, x) * u - v * q;
    }
  }
  const double u0 =
      equation_.formulation == Formulation::dielectric ? applied(data).potential(probe(), 1) : 0;
  return u0 + sum_of(terms);
}

/// In a uniform field −z + (ε − 1)/(ε + 2) z/r³; of a charge at s inside
/// Σ (2n + 1)/(n (ε + 1) + 1) sⁿ/rⁿ⁺¹ Pₙ(cos)/(4π) [Kirkwood 1934, J. Chem. Phys. 2].
std::optional<double> LayerStudySystem::exact_dielectric(const StudyData& data) const {
  if (!is_unit_sphere_) return std::nullopt;
  const double e = equation_.permittivity, r = norm(probe());
  if (data.kind == StudyData::Kind::one) return probe().z * ((e - 1) / ((e + 2) * r * r * r) - 1);
  const Vec3d place = panels_.origin + source();
  const double s = norm(place), cosine = s > 0 ? dot(place, probe()) / (s * r) : 0;
  return inv_4pi / r *
         legendre_sum(s / r, cosine, [&](int n) { return (2 * n + 1) / (n * (e + 1) + 1); });
}

std::optional<double> LayerStudySystem::exact(const StudyData& data) const {
  if (equation_.formulation == Formulation::dielectric) return exact_dielectric(data);
  if (data.kind == StudyData::Kind::one && is_unit_sphere_) return 1 / norm(probe());
  if (data.kind != StudyData::Kind::source || !closed_) return std::nullopt;
  return inv_4pi / norm(probe() - panels_.origin - source());
}

}  // namespace fmbem
