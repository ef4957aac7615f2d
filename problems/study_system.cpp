#include "fmbem/problems/study_system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "fmbem/bem/layer/mixed_operator.hpp"
#include "fmbem/bem/layer/shifted_operator.hpp"
#include "fmbem/bem/near/exact_entry.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/precond/cluster_inverse.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/inner_point.hpp"

namespace fmbem {
namespace {

std::shared_ptr<const BoundaryOperator> make_equation(const Panels& panels, Formulation formulation,
                                                      const OperatorOptions& options) {
  switch (formulation) {
    case Formulation::single:
    case Formulation::direct:
      return make_single_layer(panels, options);
    case Formulation::second:
      return make_shifted_operator(make_boundary_operator(panels, double_layer, options), 0.5, -1);
    case Formulation::adjoint: {
      const std::size_t n = panels.size();
      return std::make_shared<MixedOperator>(
          panels,
          MixedRows{std::vector<double>(n, 0.0), std::vector<double>(n, -1.0),
                    std::vector<double>(n, 0.5)},
          options);
    }
  }
  return nullptr;
}

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

const char* name(Formulation formulation) {
  switch (formulation) {
    case Formulation::single:
      return "single";
    case Formulation::direct:
      return "direct";
    case Formulation::second:
      return "second";
    case Formulation::adjoint:
      return "adjoint";
  }
  return "";
}

const char* layer_name(Formulation formulation) {
  switch (formulation) {
    case Formulation::single:
    case Formulation::direct:
      return "V";
    case Formulation::second:
      return "1/2 - K";
    case Formulation::adjoint:
      return "1/2 - K'";
  }
  return "";
}

StudySystem::StudySystem(const SurfaceMesh& mesh, Formulation formulation,
                         const OperatorOptions& options)
    : formulation_(formulation), closed_(mesh.closed) {
  FMBEM_REQUIRE(closed_ || formulation == Formulation::single,
                "the formulation " << name(formulation)
                                   << " needs a closed surface: use single on open ones");
  panels_ = make_panels(mesh, options.processor.value_or(Processor::cpu));
  op_ = make_equation(panels_, formulation, options);
  if (formulation == Formulation::direct)
    of_data_ = make_boundary_operator(panels_, double_layer, options);
  if (formulation == Formulation::second) of_data_ = make_single_layer(panels_, options);
}

double StudySystem::entry(std::size_t i, std::size_t j) const {
  const Triangle to = panels_.triangle(i), from = panels_.triangle(j);
  const auto of = [&](const Layer& layer) {
    return exact_entry(layer, NormalRows::averaged, to, from, i == j);
  };
  const double half = i == j ? 0.5 : 0;
  if (formulation_ == Formulation::second) return half - of(double_layer);
  if (formulation_ == Formulation::adjoint) return half - of(adjoint_double_layer);
  return of(single_layer);
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

bool StudySystem::has_neumann_data() const {
  return formulation_ == Formulation::second || formulation_ == Formulation::adjoint;
}

Vec3d StudySystem::source() const {
  if (!source_) {
    constexpr Vec3d off_the_surface{0.12, 0.15, 0.16};  // where there is no inside
    source_ = closed_ ? inner_point(panels_) : panels_.extent * off_the_surface;
  }
  return *source_;
}

/// g, or q of Neumann problems.
std::vector<double> StudySystem::boundary_data(const StudyData& data) const {
  std::vector<double> values(panels_.size(), has_neumann_data() ? -1.0 : 1.0);
  if (data.kind == StudyData::Kind::one) return values;
  const Vec3d s = source();
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Triangle t = panels_.triangle(i);
    const Vec3d r = t.centroid - s;
    values[i] =
        has_neumann_data() ? -inv_4pi * dot(r, t.normal) / (norm(r) * norm2(r)) : inv_4pi / norm(r);
  }
  return values;
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
  b = boundary_data(data);
  if (!of_data_) {
    if (has_neumann_data())
      for (double& value : b) value = -value;
    return b;
  }
  std::vector<double> result = b;
  if (formulation_ == Formulation::direct)
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
      formulation_ == Formulation::direct || formulation_ == Formulation::second;
  const std::vector<double> given = by_both_layers ? boundary_data(data) : std::vector<double>{};
  std::vector<double> terms(panels_.size());
#pragma omp parallel for schedule(static)
  for (std::size_t j = 0; j < terms.size(); ++j) {
    const Triangle t = panels_.triangle(j);
    const double v = panel_potential(t, x);
    if (!by_both_layers) {
      terms[j] = v * solution[j];
    } else {
      const bool q_is_found = formulation_ == Formulation::direct;
      const double u = q_is_found ? given[j] : solution[j];
      const double q = q_is_found ? solution[j] : given[j];
      terms[j] = triangle_double_layer(t, x) * u - v * q;
    }
  }
  return sum_of(terms);
}

std::optional<double> StudySystem::exact_potential(const StudyData& data) const {
  if (data.kind == StudyData::Kind::one && point_like_) return *point_like_ / norm(probe());
  if (data.kind != StudyData::Kind::source || !closed_) return std::nullopt;
  return inv_4pi / norm(probe() - panels_.origin - source());
}

double StudySystem::mesh_width() const {
  return std::sqrt(sum_of(areas_of(panels_)) / double(panels_.size()));
}

}  // namespace fmbem
