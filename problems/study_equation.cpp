#include "fmbem/problems/study_equation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/enclosures.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

struct FormulationNames {
  Formulation formulation;
  const char *name, *layers;
};
constexpr std::array all_names{FormulationNames{Formulation::single, "single", "V"},
                               FormulationNames{Formulation::direct, "direct", "V"},
                               FormulationNames{Formulation::second, "second", "1/2 - K"},
                               FormulationNames{Formulation::adjoint, "adjoint", "1/2 - K'"},
                               FormulationNames{Formulation::mixed, "mixed", "V, 1/2 - K'"},
                               FormulationNames{Formulation::dielectric, "dielectric", "1 + b K'"},
                               FormulationNames{Formulation::media, "media", "V, 1 + b K'"},
                               FormulationNames{Formulation::solvate, "solvate", "V, K"}};
constexpr std::array solvation_formulations{SolvationFormulation::direct,
                                            SolvationFormulation::juffer, SolvationFormulation::lu};

const FormulationNames& names_of(Formulation formulation) {
  return *std::find_if(all_names.begin(), all_names.end(), [&](const FormulationNames& each) {
    return each.formulation == formulation;
  });
}

StudyEquation dielectric_equation(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto permittivity = colon == std::string::npos
                                ? std::nullopt
                                : parse_number(std::string_view(text).substr(colon + 1));
  FMBEM_REQUIRE(permittivity && *permittivity > 0 && std::isfinite(*permittivity),
                "the formulation " << text
                                   << ": write dielectric:E with the bodies' relative permittivity "
                                      "E, positive, such as dielectric:80");
  return {Formulation::dielectric, *permittivity};
}

StudyEquation solvation_equation(const std::string& text) {
  StudyEquation equation = Formulation::solvate;
  for (const SolvationFormulation each : solvation_formulations) {
    equation.solvation = each;
    if (name(equation) == text) return equation;
  }
  throw InputError("the formulation " + text +
                   ": solvate is followed by :direct, :juffer or :lu, or by nothing for direct");
}

/// Panels whose centroids are below the middle of all centroids along x.
std::vector<bool> lower_half(const Panels& panels) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    least = std::min(least, panels.centroid(i).x);
    most = std::max(most, panels.centroid(i).x);
  }
  std::vector<bool> result(panels.size());
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = panels.centroid(i).x < 0.5 * (least + most);
  return result;
}

/// Of each closed body, Q = (Σ A b − ±β Q_inside)/(1 − ±β/2), as MediaSystem has it: the sign is
/// that of its volume, which is negative where normals point inward.
void add_gauss_equations(const Panels& panels, double beta, StudyRows& result) {
  MixedRows& rows = result.rows;
  const Enclosures enclosures = find_enclosures(panels, std::vector<int>(panels.size(), 0));
  rows.part.assign(enclosures.of.begin(), enclosures.of.end());
  const auto panels_of = panels_of_parts(enclosures);
  for (std::size_t body = 0; body < enclosures.parts.size(); ++body) {
    const double outward = std::copysign(1.0, enclosures.parts[body].volume) * beta,
                 own = 1 / (1 - outward / 2);
    ChargeEquation equation{static_cast<std::int32_t>(body)};
    const auto is_inside = parts_inside(panels, enclosures, equation.part, panels_of[body]);
    for (std::size_t part = 0; part < is_inside.size(); ++part)
      if (part != body && is_inside[part].value_or(false))
        equation.others.push_back({static_cast<std::int32_t>(part), -outward * own});
    result.charge_factor.push_back(own);
    rows.equations.push_back(std::move(equation));
  }
}

}  // namespace

std::string name(const StudyEquation& equation) {
  std::string text = names_of(equation.formulation).name;
  if (equation.formulation == Formulation::dielectric)
    text.append(":").append(decimal(equation.permittivity));
  if (equation.formulation == Formulation::solvate)
    text.append(":").append(name_of(equation.solvation));
  return text;
}

StudyEquation study_equation(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string word = text.substr(0, colon);
  std::string list;
  for (const FormulationNames& each : all_names) {
    const bool is_dielectric = each.formulation == Formulation::dielectric,
               is_solvation = each.formulation == Formulation::solvate;
    list.append(list.empty() ? "" : ", ").append(each.name);
    list.append(is_dielectric ? ":E" : is_solvation ? "[:direct|juffer|lu]" : "");
    if (word != each.name) continue;
    if (is_dielectric) return dielectric_equation(text);
    if (colon == std::string::npos) return each.formulation;
    FMBEM_REQUIRE(is_solvation, "the formulation " << text
                                                   << ": only dielectric has a number, and solvate "
                                                      "a word");
    return solvation_equation(text);
  }
  throw InputError("the formulation is one of " + list + ", not \"" + text + "\"");
}

const char* layer_name(const StudyEquation& equation) {
  const bool has_derivatives = equation.formulation == Formulation::solvate &&
                               equation.solvation != SolvationFormulation::direct;
  return has_derivatives ? "V, K, K', W" : names_of(equation.formulation).layers;
}

StudyRows study_rows(const Panels& panels, const StudyEquation& equation) {
  const std::size_t n = panels.size();
  const bool is_dielectric = equation.formulation == Formulation::dielectric;
  StudyRows result;
  MixedRows& rows = result.rows;
  rows.alpha.assign(n, 0.0);
  rows.beta.assign(n, is_dielectric ? equation.beta() : -1.0);
  rows.gamma.assign(n, is_dielectric ? 1.0 : 0.5);
  if (equation.formulation == Formulation::mixed) {
    const std::vector<bool> has_potential = lower_half(panels);
    for (std::size_t i = 0; i < n; ++i) {
      if (!has_potential[i]) continue;
      rows.alpha[i] = 1 / panels.extent;
      rows.beta[i] = rows.gamma[i] = 0;
    }
  }
  if (is_dielectric) add_gauss_equations(panels, equation.beta(), result);
  return result;
}

}  // namespace fmbem
