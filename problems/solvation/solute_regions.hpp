#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/meshes/mesh.hpp"
#include "fmbem/meshes/pqr_file.hpp"

namespace fmbem {

/// What fills a region, whose surfaces' panels it borders on.
struct SoluteRegion {
  enum class Kind {
    solvent,          ///< with its ions: around everything, and in cavities
    solvent_no_ions,  ///< a layer that ions do not reach
    solute,           ///< a molecule, with its atoms
  };
  Kind kind = Kind::solvent;
  int outer = -1;                    ///< the surface around it; −1 of the one that has no end
  std::vector<int> inner;            ///< surfaces of what lies in it
  std::vector<std::int32_t> atoms;   ///< in it
  LargeVector<std::int32_t> panels;  ///< of all its surfaces, ascending, in the order of Panels
};

struct SoluteRegions {
  std::vector<SoluteRegion> regions;  ///< the unbounded one first, then those inside each surface
  std::vector<std::string> surfaces;  ///< their names; a surface is a connected component
  /// [n panels]: the region at the back of the panel, and the one that its normal points to.
  LargeVector<int> inside, outside;
  std::vector<std::string> notices;  ///< on what makes energies less accurate, one sentence each
};

/// Finds which surfaces lie in which, and so regions, and what they are: those with atoms are
/// solutes. Of those without, the unbounded one is the solvent; in the solvent a region around
/// solutes is a layer without ions; a region in a solute is a cavity, filled with solvent, or with
/// such a layer if there is one more surface in it. Each group of `mesh` is a connected component,
/// as join_meshes() has it. Throws InputError for surfaces that are open or one-sided, that touch
/// or cross (by more than 10 % of the smaller one's area) or without any atom that they are for,
/// and for atoms that are outside of all surfaces or on both sides of one.
SoluteRegions find_solute_regions(const SurfaceMesh& mesh, const Panels& panels,
                                  const Molecule& molecule);

/// [points]: the regions that they lie in. Throws InputError for points that are not finite.
/// O(panels + surfaces · points · log panels).
std::vector<int> regions_of_points(const Panels& panels, const SoluteRegions& regions,
                                   std::span<const Vec3d> points);

}  // namespace fmbem
