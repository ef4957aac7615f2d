#include "fmbem/problems/study_system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "fmbem/bem/layer/shifted_operator.hpp"
#include "fmbem/bem/near/exact_entry.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/precond/cluster_inverse.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/inner_point.hpp"

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

StudySystem::StudySystem(const SurfaceMesh& mesh, const StudyEquation& equation,
                         const OperatorOptions& options)
    : equation_(equation), closed_(mesh.closed) {
  FMBEM_REQUIRE(
      closed_ || equation.formulation == Formulation::single,
      "the formulation " << name(equation) << " needs a closed surface: use single on open ones");
  panels_ = make_panels(mesh, options.processor.value_or(Processor::cpu));
  switch (equation.formulation) {
    case Formulation::single:
      op_ = make_single_layer(panels_, options);
      break;
    case Formulation::direct:
      op_ = make_single_layer(panels_, options);
      of_data_ = make_boundary_operator(panels_, double_layer, options);
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
    }
  }
}

double StudySystem::entry(std::size_t i, std::size_t j) const {
  const Triangle to = panels_.triangle(i), from = panels_.triangle(j);
  const auto of = [&](const Layer& layer) {
    return exact_entry(layer, NormalRows::averaged, to, from, i == j);
  };
  if (equation_.formulation == Formulation::second) return (i == j ? 0.5 : 0) - of(double_layer);
  if (!mixed_) return of(single_layer);
  const MixedRows& rows = mixed_->mixed_rows();
  double entry = i == j ? rows.gamma[i] : 0;
  if (rows.alpha[i] != 0) entry += rows.alpha[i] * of(single_layer);
  if (rows.beta[i] != 0) entry += rows.beta[i] * of(adjoint_double_layer);
  return entry;
}

std::unique_ptr<ApproximateInverse> StudySystem::inverse(std::optional<int> unknowns) const {
  if (!unknowns) return op_->approximate_inverse();
  FMBEM_REQUIRE(
      op_->info().name == "V" && op_->processor() == Processor::cpu,
      "the cluster inverse with a number of unknowns is that of V on the CPU: use cluster");
  const LargeVector<Triangle> triangles = triangles_of(panels_);
  ClusterInverseOptions options;
  options.opening = opening_for(panels_, triangles, *unknowns);
  options.most_unknowns = std::max(options.most_unknowns, 4 * *unknowns);
  return std::make_unique<ClusterInverse>(panels_, triangles, options);
}

bool StudySystem::has_flux(std::size_t i) const {
  return equation_.formulation == Formulation::second ||
         (mixed_ && mixed_->mixed_rows().beta[i] != 0);
}

Vec3d StudySystem::source() const {
  if (!source_) {
    constexpr Vec3d off_the_surface{0.12, 0.15, 0.16};  // where there is no inside
    source_ = closed_ ? inner_point(panels_) : panels_.extent * off_the_surface;
  }
  return *source_;
}

/// g, and q where that is given.
std::vector<double> StudySystem::boundary_data(const StudyData& data) const {
  std::vector<double> values(panels_.size());
  const bool are_one = data.kind == StudyData::Kind::one;
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

AppliedField StudySystem::applied(const StudyData& data) const {
  AppliedField field;
  field.unit = 1;
  field.zero = panels_.origin;
  if (data.kind == StudyData::Kind::one)
    field.uniform = {0, 0, 1};
  else
    field.charges.push_back({panels_.origin + source(), 1, equation_.permittivity});
  return field;
}

std::vector<double> StudySystem::dielectric_right_hand_side(const StudyData& data) const {
  std::vector<double> b(panels_.size());
  const AppliedField field = applied(data);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = -equation_.beta() * field.mean_flux(panels_.triangle(i), panels_.origin, 1);
  set_charges(
      mixed_->mixed_rows(), areas_of(panels_),
      [&](std::size_t e, double sum) { return charge_factor_[e] * sum; }, b.data());
  return b;
}

std::vector<double> StudySystem::right_hand_sides(const StudyData& data) const {
  const std::size_t n = panels_.size();
  std::vector<double> b;
  if (!has_potential(data)) {
    std::vector<double> values = data.values;
    if (data.kind == StudyData::Kind::random) {
      std::mt19937_64 generator(n);
      for (std::size_t k = 0; k < n * data.vectors; ++k)
        values.push_back(2 * std::ldexp(double(generator() >> 11), -53) - 1);
    }
    FMBEM_REQUIRE(!values.empty() && values.size() % n == 0,
                  "a right-hand side has " << n << " numbers on this mesh, not " << values.size());
    for (std::size_t first = 0; first < values.size(); first += n) {
      const auto one = panels_.from_input_order(std::span(values).subspan(first, n));
      b.insert(b.end(), one.begin(), one.end());
    }
    return b;
  }
  if (equation_.formulation == Formulation::dielectric) return dielectric_right_hand_side(data);
  b = boundary_data(data);
  if (!of_data_) {
    if (mixed_)
      for (std::size_t i = 0; i < n; ++i) b[i] *= has_flux(i) ? -1 : mixed_->mixed_rows().alpha[i];
    return b;
  }
  std::vector<double> result = b;
  if (equation_.formulation == Formulation::direct)
    of_data_->apply(b.data(), result.data(), {.alpha = 1, .beta = -0.5});
  else
    of_data_->apply(b.data(), result.data(), {.alpha = -1});
  return result;
}

bool StudySystem::has_potential(const StudyData& data) {
  return data.kind == StudyData::Kind::one || data.kind == StudyData::Kind::source;
}

Vec3d StudySystem::probe() const {
  constexpr double root_third = 0.57735026918962576;
  return panels_.origin + 1.5 * root_third * panels_.extent * Vec3d{1, 1, 1};
}

double StudySystem::potential(const StudyData& data, std::span<const double> solution) const {
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
std::optional<double> StudySystem::exact_dielectric_potential(const StudyData& data) const {
  if (!is_unit_sphere_) return std::nullopt;
  const double e = equation_.permittivity, r = norm(probe());
  if (data.kind == StudyData::Kind::one) return probe().z * ((e - 1) / ((e + 2) * r * r * r) - 1);
  const Vec3d place = panels_.origin + source();
  const double s = norm(place), cosine = s > 0 ? dot(place, probe()) / (s * r) : 0;
  double sum = 0, power = 1 / r, legendre = 1, next = cosine;  // Pₙ and Pₙ₊₁
  for (int n = 0; n < 200; ++n) {
    sum += (2 * n + 1) / (n * (e + 1) + 1) * power * legendre;
    power *= s / r;
    const double after = ((2 * n + 3) * cosine * next - (n + 1) * legendre) / (n + 2);
    legendre = std::exchange(next, after);
  }
  return inv_4pi * sum;
}

std::optional<double> StudySystem::exact_potential(const StudyData& data) const {
  if (equation_.formulation == Formulation::dielectric) return exact_dielectric_potential(data);
  if (data.kind == StudyData::Kind::one && is_unit_sphere_) return 1 / norm(probe());
  if (data.kind != StudyData::Kind::source || !closed_) return std::nullopt;
  return inv_4pi / norm(probe() - panels_.origin - source());
}

double StudySystem::mesh_width() const {
  return std::sqrt(sum_of(areas_of(panels_)) / double(panels_.size()));
}

}  // namespace fmbem
