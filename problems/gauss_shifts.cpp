#include "fmbem/problems/gauss_shifts.hpp"

#include <algorithm>
#include <complex>
#include <map>
#include <utility>

#include "fmbem/problems/complex_shifts.hpp"
#include "fmbem/problems/touching_chambers.hpp"

namespace fmbem {
namespace {

/// Gives each wall a part of its own.
template <class T>
std::vector<std::int32_t> split_parts(const TouchingChambers<T>& touching, GaussShifts<T>& result) {
  std::int32_t next = *std::max_element(result.part.begin(), result.part.end()) + 1;
  std::vector<char> is_left(next, false);
  result.made_of.resize(next);
  for (std::size_t i = 0; i < result.part.size(); ++i)
    if (touching.wall_of[i] < 0) is_left[result.part[i]] = true;
  for (std::size_t p = 0; p < is_left.size(); ++p)
    if (is_left[p]) result.made_of[p].push_back(static_cast<std::int32_t>(p));
  std::vector<std::int32_t> part_of_wall;
  for (const ChamberWall<T>& wall : touching.walls) {
    result.made_of[wall.old_part].push_back(next);
    part_of_wall.push_back(next++);
  }
  for (std::size_t i = 0; i < result.part.size(); ++i)
    if (touching.wall_of[i] >= 0) result.part[i] = part_of_wall[touching.wall_of[i]];
  return part_of_wall;
}

/// What free charges of walls where φ is given follow from.
template <class T>
void set_charges_by_flux(const TouchingChambers<T>& touching, GaussShifts<T>& result) {
  const std::size_t n = touching.wall_of.size();
  for (auto* flags : {&result.charge_by_flux, &result.is_metal_behind, &result.is_metal_ahead})
    flags->assign(n, false);
  const auto is_metal = [&](std::int32_t c) { return c >= 0 && touching.chambers[c].is_metal; };
  for (std::size_t i = 0; i < n; ++i) {
    if (touching.wall_of[i] < 0) continue;
    const ChamberWall<T>& wall = touching.walls[touching.wall_of[i]];
    if (wall.gives_flux || (wall.behind < 0 && wall.ahead < 0)) continue;
    result.charge_by_flux[i] = true;
    result.is_metal_behind[i] = is_metal(wall.behind);
    result.is_metal_ahead[i] = is_metal(wall.ahead);
  }
}

/// The charge of interfaces that hang together, where nothing else touches them.
template <class T>
KnownCharge<T> charge_of(const TouchingChambers<T>& touching, T around,
                         std::span<const std::int32_t> walls,
                         std::span<const std::int32_t> part_of_wall,
                         std::span<const std::vector<std::int32_t>> made_of) {
  KnownCharge<T> result;
  std::map<std::int32_t, T> permittivity;  // of chambers
  for (const std::int32_t w : walls) {
    const ChamberWall<T>& wall = touching.walls[w];
    result.parts.push_back(part_of_wall[w]);
    result.sums.push_back(
        {part_of_wall[w], 0.5 * (wall.permittivity_behind + wall.permittivity_ahead) / around});
    if (wall.behind >= 0) permittivity[wall.behind] = wall.permittivity_behind;
    if (wall.ahead >= 0) permittivity[wall.ahead] = wall.permittivity_ahead;
  }
  for (const auto& [chamber, epsilon] : permittivity)
    for (const std::int32_t old_part : touching.chambers[chamber].inside)
      for (const std::int32_t part : made_of[old_part])
        result.charges.push_back({part, (epsilon - around) / around});
  return result;
}

}  // namespace

template <class T>
GaussShifts<T> find_gauss_shifts(const Panels& panels, const Enclosures& enclosures,
                                 const BasicPanelConditions<T>& conditions, std::span<const T> beta,
                                 std::span<const std::int32_t> part) {
  const TouchingChambers<T> touching =
      find_touching_chambers(panels, enclosures, conditions, beta, part);
  std::map<std::int32_t, std::vector<std::int32_t>> walls_of;
  for (std::size_t p = 0; p < touching.walls.size(); ++p)
    walls_of[touching.walls[p].complex].push_back(static_cast<std::int32_t>(p));
  GaussShifts<T> result;
  std::vector<ComplexShifts<T>> complexes;
  for (auto& [complex, walls] : walls_of)
    if (ComplexShifts<T> shifts(touching, walls); shifts.is_worth_it())
      complexes.push_back(std::move(shifts));
  if (complexes.empty()) return result;
  result.part.assign(part.begin(), part.end());
  const std::vector<std::int32_t> part_of_wall = split_parts(touching, result);
  for (ComplexShifts<T>& shifts : complexes) shifts.add_to(part_of_wall, result);
  for (const auto& [complex, walls] : walls_of)
    if (const auto around = touching.surroundings.find(complex);
        around != touching.surroundings.end())
      result.known.push_back(
          charge_of<T>(touching, around->second, walls, part_of_wall, result.made_of));
  set_charges_by_flux(touching, result);
  return result;
}

template GaussShifts<double> find_gauss_shifts(const Panels&, const Enclosures&,
                                               const PanelConditions&, std::span<const double>,
                                               std::span<const std::int32_t>);
template GaussShifts<std::complex<double>> find_gauss_shifts(const Panels&, const Enclosures&,
                                                             const LossyConditions&,
                                                             std::span<const std::complex<double>>,
                                                             std::span<const std::int32_t>);

}  // namespace fmbem
