#include "fmbem/problems/domain_constants.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/compatible_data.hpp"

namespace fmbem {
namespace {

/// Walls of what Robin conditions alone fix.
struct Leak {
  double admittance = 0, area = 0, coefficient = std::numeric_limits<double>::infinity();

  template <class T>
  void add(const ProblemParts& parts, const BasicPanelConditions<T>& conditions, std::size_t i) {
    area += parts.area[i];
    for (const int region : {parts.sides.inside[i], parts.sides.outside[i]})
      if (region != no_region)
        coefficient = std::min(coefficient, std::abs(coefficient_in<T>(parts.problem, region)));
    if (conditions.has_admittance(i)) admittance += parts.area[i] * conditions.admittance[i];
  }
  /// c/(aL): by how much the solver's error in φ's constant is larger than that in what flows.
  double magnifies() const { return coefficient * std::sqrt(area) / admittance; }
};

template <class T>
class Constants {
 public:
  Constants(const ProblemParts& parts, const BasicPanelConditions<T>& conditions,
            const BasicPanelData<T>& data, const FoundValues<T>& found)
      : parts_(parts), conditions_(conditions), data_(data), found_(found) {
    constant_.assign(parts.domains.fixes.size(), T(0));
    for (std::size_t d = 0; d < constant_.size(); ++d) {
      if (parts.domains.robin_alone[d]) balance(static_cast<int>(d));
      if (!parts.domains.fixes[d]) take_means(static_cast<int>(d));
    }
  }

  std::vector<T> result() && { return std::move(constant_); }

 private:
  template <class Visit>
  void for_panels_of(int domain, const Visit& visit) const {
    for (std::size_t i = 0; i < parts_.panels.size(); ++i)
      if (domain_of_panel(parts_, i) == domain) visit(i);
  }

  bool is_neumann(std::size_t i) const {
    return conditions_.gives_flux(i) && !conditions_.is_interface(i) &&
           !conditions_.has_admittance(i);
  }

  void take_means(int domain) {
    T of_neumann = 0, of_conductors = 0;
    double neumann = 0, conductors = 0;
    for_panels_of(domain, [&](std::size_t i) {
      const T potential = parts_.area[i] * found_.potential[i];
      if (is_neumann(i)) {
        of_neumann += potential;
        neumann += parts_.area[i];
      } else if (conditions_.conductor[i] >= 0) {
        of_conductors += potential;
        conductors += parts_.area[i];
      }
    });
    if (neumann > 0)
      constant_[domain] = -of_neumann / neumann;
    else if (conductors > 0)
      constant_[domain] = -of_conductors / conductors;
  }

  void balance(int domain) {
    T leaving = 0;  // by walls
    Leak leak;
    for_panels_of(domain, [&](std::size_t i) {
      leak.add(parts_, conditions_, i);
      if (conditions_.has_admittance(i))
        leaving += parts_.area[i] * conditions_.admittance[i] * found_.potential[i];
    });
    if (leak.magnifies() <= 1) return;
    T entering = 0;
    const auto gives_flux = [&](std::size_t i) { return conditions_.gives_flux(i); };
    add_given(parts_, domain, data_, gives_flux, std::not_fn(gives_flux),
              [&](T flux) { entering += flux; });
    const double to_si = parts_.problem.unit() * parts_.mesh.scale_to_m;
    constant_[domain] = (entering / to_si - leaving) / leak.admittance;
  }

  const ProblemParts& parts_;
  const BasicPanelConditions<T>& conditions_;
  const BasicPanelData<T>& data_;
  const FoundValues<T>& found_;
  std::vector<T> constant_;  ///< [domains]
};

}  // namespace

template <class T>
std::vector<T> domain_constants(const ProblemParts& parts,
                                const BasicPanelConditions<T>& conditions,
                                const BasicPanelData<T>& data, const FoundValues<T>& found) {
  return Constants<T>(parts, conditions, data, found).result();
}

std::vector<std::string> constant_warnings(const ProblemParts& parts, const ProblemResult& result) {
  constexpr double worth_telling = 30;
  std::vector<std::string> sentences;
  for (std::size_t d = 0; d < parts.domains.robin_alone.size(); ++d) {
    if (!parts.domains.robin_alone[d]) continue;
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (std::size_t i = 0; i < parts.panels.size(); ++i) {
      if (domain_of_panel(parts, i) != static_cast<int>(d)) continue;
      const double potential = result.surface.potential[parts.panels.input_index[i]];
      least = std::min(least, potential);
      most = std::max(most, potential);
    }
    const std::size_t region = parts.domains.first[d];
    const double constant = result.constant[region];
    const double times =
        std::max(std::abs(least - constant), std::abs(most - constant)) / (most - least);
    if (!(times > worth_telling)) continue;
    sentences.push_back("potentials in the region \"" + parts.problem.regions[region].name +
                        "\" in " + result.name + " are " +
                        std::to_string(std::llround(std::min(times, 1e15))) +
                        " times as large as what they range over, as little leaves by its Robin "
                        "walls: in differences of potentials and in fields errors of the mesh "
                        "count that often. Refine the mesh if these matter");
  }
  return sentences;
}

template <class T>
std::vector<std::string> leaky_piece_warnings(const ProblemParts& parts,
                                              const BasicPanelConditions<T>& conditions,
                                              double tolerance) {
  constexpr double worth_telling = 0.01;
  std::map<std::int32_t, std::pair<Leak, std::size_t>> leaks;  // of a piece, and a panel there
  for (std::size_t i = 0; i < parts.domains.leaky_piece.size(); ++i)
    if (const std::int32_t piece = parts.domains.leaky_piece[i]; piece >= 0)
      leaks.try_emplace(piece, Leak(), i).first->second.first.add(parts, conditions, i);
  std::map<std::string, std::string> of_region;
  for (const auto& [piece, leak] : leaks) {
    const std::size_t i = leak.second;
    if (leak.first.magnifies() * tolerance <= worth_telling) continue;
    const int region = std::max(parts.sides.inside[i], parts.sides.outside[i]);
    const std::string& name = parts.problem.regions[region].name;
    of_region.try_emplace(
        name, "the region \"" + name + "\" lies in several pieces, and of the one at " +
                  place(parts.panels.centroid(i) + parts.panels.origin) + " " + parts.mesh.unit +
                  " little leaves by Robin walls, which alone say what the potential is there: a "
                  "constant of it is the solver's error. Give that piece a region of its own, or "
                  "ask for a smaller --tolerance");
  }
  std::vector<std::string> sentences;
  for (auto& [name, sentence] : of_region) sentences.push_back(std::move(sentence));
  return sentences;
}

template std::vector<std::string> leaky_piece_warnings(const ProblemParts&, const PanelConditions&,
                                                       double);
template std::vector<std::string> leaky_piece_warnings(const ProblemParts&, const LossyConditions&,
                                                       double);
template std::vector<double> domain_constants(const ProblemParts&, const PanelConditions&,
                                              const PanelData&, const FoundValues<double>&);
template std::vector<Complex> domain_constants(const ProblemParts&, const LossyConditions&,
                                               const LossyData&, const FoundValues<Complex>&);

}  // namespace fmbem
