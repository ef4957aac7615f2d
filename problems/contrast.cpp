#include "fmbem/problems/contrast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace fmbem {
namespace {

constexpr double error_of_layer = 0.6, worth_telling = 0.1;

/// What a region's walls are.
struct Walls {
  double area = 0;
  double least = std::numeric_limits<double>::infinity(), most = -least;  ///< of φ
  double sum = 0;  ///< Σ A (A σ)² of those behind which the coefficient is smaller
};

}  // namespace

template <class T>
std::vector<std::string> contrast_warnings(const ProblemParts& parts, const FoundValues<T>& found,
                                           const std::string& result) {
  const std::vector<Region>& regions = parts.problem.regions;
  std::vector<Walls> walls(regions.size());
  const auto coefficient = [&](int region) {
    return std::abs(coefficient_in<T>(parts.problem, region));
  };
  for (std::size_t i = 0; i < found.sigma.size(); ++i) {
    const int sides[] = {parts.sides.inside[i], parts.sides.outside[i]};
    for (const int side : {0, 1}) {
      const int region = sides[side], other = sides[1 - side];
      if (region == no_region) continue;
      Walls& own = walls[region];
      own.area += parts.area[i];
      own.least = std::min(own.least, std::real(found.potential[i]));
      own.most = std::max(own.most, std::real(found.potential[i]));
      if (other != no_region && coefficient(other) < coefficient(region))
        own.sum += parts.area[i] * std::norm(parts.area[i] * found.sigma[i]);
    }
  }
  std::vector<std::string> sentences;
  for (std::size_t r = 0; r < regions.size(); ++r) {
    Walls& own = walls[r];
    if (own.sum == 0) continue;
    if (static_cast<int>(r) == region_outside(parts.problem)) {  // φ is 0 at infinity
      own.least = std::min(own.least, 0.0);
      own.most = std::max(own.most, 0.0);
    }
    const double error = error_of_layer * std::sqrt(4 * std::numbers::pi * own.sum) / own.area;
    if (!(error > worth_telling * (own.most - own.least))) continue;
    const auto percent =
        std::min(100L, std::lround(100 * std::min(1.0, error / (own.most - own.least))));
    sentences.push_back(
        "potentials and fields in the region \"" + regions[r].name + "\" and on its walls in " +
        result + " may be off by " + (percent < 100 ? "some " : "") + std::to_string(percent) +
        " %" + (percent < 100 ? "" : " and more") +
        " of what potentials range over there: beside a smaller coefficient they are small "
        "differences of large numbers; charges and fluxes are not. Refine the mesh, or solve that "
        "region alone with the fluxes that were found");
  }
  return sentences;
}

template std::vector<std::string> contrast_warnings(const ProblemParts&, const FoundValues<double>&,
                                                    const std::string&);
template std::vector<std::string> contrast_warnings(const ProblemParts&,
                                                    const FoundValues<Complex>&,
                                                    const std::string&);

}  // namespace fmbem
