#include "fmbem/problems/study_system.hpp"

#include <cmath>
#include <numeric>
#include <random>

#include "fmbem/bem/near/exact_entry.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/layer_study_system.hpp"
#include "fmbem/problems/media_study_system.hpp"
#include "fmbem/problems/solvation_study_system.hpp"

namespace fmbem {
namespace {

/// Uniform in [−1, 1).
std::vector<double> random_values(std::size_t count, std::size_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<double> values(count);
  for (double& value : values) value = 2 * std::ldexp(double(generator() >> 11), -53) - 1;
  return values;
}

}  // namespace

std::vector<std::int64_t> StudySystem::leaf_begin() const {
  return {panels_.leaf_begin.begin(), panels_.leaf_begin.end()};
}

double StudySystem::layer_entry(const Layer& layer, std::size_t i, std::size_t j) const {
  return exact_entry(layer, NormalRows::averaged, panels_.triangle(i), panels_.triangle(j), i == j);
}

double StudySystem::mixed_entry(const MixedRows& rows, std::size_t i, std::size_t j) const {
  double entry = i == j ? rows.gamma[i] : 0;
  if (rows.alpha[i] != 0) entry += rows.alpha[i] * layer_entry(single_layer, i, j);
  if (rows.beta[i] != 0) entry += rows.beta[i] * layer_entry(adjoint_double_layer, i, j);
  return entry;
}

std::unique_ptr<ApproximateInverse> StudySystem::inverse(std::optional<int> unknowns) const {
  FMBEM_REQUIRE(!unknowns,
                "the cluster inverse with a number of unknowns is that of V on the CPU: "
                "use cluster");
  return op_->approximate_inverse();
}

std::vector<double> StudySystem::right_hand_sides(const StudyData& data) const {
  if (!data.is_vector()) return data_right_hand_sides(data);
  const std::size_t n = unknowns();
  if (n != panels_.size()) {  // unknowns that the mesh has no order of
    FMBEM_REQUIRE(data.kind == StudyData::Kind::random,
                  "this formulation has two unknowns for each panel: a right-hand side cannot be "
                  "given");
    return random_values(n * data.vectors, n);
  }
  const std::vector<double> values =
      data.kind == StudyData::Kind::random ? random_values(n * data.vectors, n) : data.values;
  FMBEM_REQUIRE(!values.empty() && values.size() % n == 0,
                "a right-hand side has " << n << " numbers on this mesh, not " << values.size());
  std::vector<double> b;
  for (std::size_t first = 0; first < values.size(); first += n) {
    const auto one = panels_.from_input_order(std::span(values).subspan(first, n));
    b.insert(b.end(), one.begin(), one.end());
  }
  return b;
}

std::optional<double> StudySystem::quantity(const StudyData& data,
                                            std::span<const double> solution) const {
  if (data.is_vector() || data.kind == StudyData::Kind::groups) return std::nullopt;
  return number_of(data, solution);
}

Vec3d StudySystem::probe() const {
  constexpr double root_third = 0.57735026918962576;
  return panels_.origin + 1.5 * root_third * panels_.extent * Vec3d{1, 1, 1};
}

double StudySystem::mesh_width() const {
  const Areas area = areas_of(panels_);
  return std::sqrt(std::accumulate(area->begin(), area->end(), 0.0) / double(panels_.size()));
}

std::unique_ptr<StudySystem> make_study_system(const StudyProblem& problem,
                                               const StudyEquation& equation,
                                               const OperatorOptions& options) {
  if (equation.formulation == Formulation::media)
    return std::make_unique<MediaStudySystem>(problem, options);
  if (equation.formulation == Formulation::solvate)
    return std::make_unique<SolvationStudySystem>(problem, equation, options);
  return std::make_unique<LayerStudySystem>(problem, equation, options);
}

}  // namespace fmbem
