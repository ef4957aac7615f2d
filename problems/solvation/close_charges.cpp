#include "fmbem/problems/solvation/close_charges.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "fmbem/meshes/distance.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/points_in_cells.hpp"

namespace fmbem {
namespace {

constexpr double close_to_panel = 0.25;  // of its longest edge
constexpr double close_to_charge = 0.01;

/// Atoms with charges, by their x.
std::vector<const Atom*> charges_by_x(const Molecule& molecule) {
  std::vector<const Atom*> charges;
  for (const Atom& atom : molecule.atoms)
    if (atom.charge != 0) charges.push_back(&atom);
  std::sort(charges.begin(), charges.end(),
            [](const Atom* a, const Atom* b) { return a->place.x < b->place.x; });
  return charges;
}

/// A charge and how far it is from what it is close to.
struct CloseCharge {
  double distance = std::numeric_limits<double>::infinity();
  double edge = 1;  ///< the longest of the panel
  double ratio() const { return distance / edge; }
};

/// [charges]: the panel that is closest as compared with its edge, of those that are close.
std::vector<CloseCharge> close_panels(const Panels& panels,
                                      const std::vector<const Atom*>& charges) {
  std::vector<CloseCharge> closest(charges.size());
  if (charges.empty()) return closest;
  std::vector<Vec3d> places;
  for (const Atom* charge : charges) places.push_back(charge->place);
  const PointsInCells cells(places);
#pragma omp parallel for schedule(dynamic, 1024)
  for (std::size_t i = 0; i < panels.size(); ++i) {
    std::array<Vec3d, 3> corners;
    for (int k = 0; k < 3; ++k) corners[k] = panels.vertex(i, k) + panels.origin;
    const double edge =
        std::sqrt(std::max({norm2(corners[1] - corners[0]), norm2(corners[2] - corners[1]),
                            norm2(corners[0] - corners[2])}));
    const double reach = close_to_panel * edge, beyond = edge + reach;
    const Vec3d around{beyond, beyond, beyond};
    cells.for_points_in({corners[0] - around, corners[0] + around}, [&](std::int32_t charge) {
      if (norm2(places[charge] - corners[0]) >= beyond * beyond) return;
      const CloseCharge found{distance_to_triangle(places[charge], corners), edge};
      if (found.distance >= reach) return;
      CloseCharge& kept = closest[charge];
#pragma omp critical(fmbem_close_charges)
      if (found.ratio() < kept.ratio()) kept = found;
    });
  }
  return closest;
}

std::string notice_of_panels(const Panels& panels, const std::vector<const Atom*>& charges) {
  const std::vector<CloseCharge> closest = close_panels(panels, charges);
  std::size_t count = 0, first = 0;
  for (std::size_t k = 0; k < closest.size(); ++k) {
    if (closest[k].ratio() < close_to_panel) ++count;
    if (closest[k].ratio() < closest[first].ratio()) first = k;
  }
  if (count == 0) return "";
  return counted(count, "atom with a charge is", "atoms with charges are") +
         " closer to the surface than a quarter of a panel's edge, most of all " +
         charges[first]->title_and_line() + ", " + decimal(closest[first].distance) +
         " angstrom from a panel of " + decimal(closest[first].edge) +
         ": energies there are off by 10 % and more; finer panels help";
}

std::string notice_of_pairs(const std::vector<const Atom*>& charges) {
  for (std::size_t i = 0; i < charges.size(); ++i)
    for (std::size_t j = i + 1; j < charges.size(); ++j) {
      if (charges[j]->place.x - charges[i]->place.x >= close_to_charge) break;
      const double distance = norm(charges[j]->place - charges[i]->place);
      if (distance < close_to_charge)
        return "the charges of " + charges[i]->title_and_line() + " and " +
               charges[j]->title_and_line() + " are only " + decimal(distance) +
               " angstrom apart, which makes the Coulomb energy what it is: leave one of them out";
    }
  return "";
}

}  // namespace

std::vector<std::string> notices_of_close_charges(const Panels& panels, const Molecule& molecule) {
  const std::vector<const Atom*> charges = charges_by_x(molecule);
  std::vector<std::string> notices;
  for (std::string sentence : {notice_of_panels(panels, charges), notice_of_pairs(charges)})
    if (!sentence.empty()) notices.push_back(std::move(sentence));
  return notices;
}

}  // namespace fmbem
