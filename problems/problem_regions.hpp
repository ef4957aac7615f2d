#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/meshes/mesh.hpp"
#include "fmbem/problems/boundary_problem.hpp"

namespace fmbem {

class BodyTree;

/// Number of a region in BoundaryProblem::regions, or where there is none.
inline constexpr int no_region = -1;

/// Of that region; 0 of none.
template <class T>
T coefficient_in(const BoundaryProblem& problem, int region) {
  return region == no_region ? T(0) : problem.regions[region].coefficient_as<T>();
}

/// Which region lies on which side of which panel.
struct PanelSides {
  std::vector<int> inside, outside;  ///< [n panels], in the order of Panels
};

/// What holds on each group of a mesh, with the regions on its sides by number.
struct ResolvedGroup {
  const GroupCondition* condition = nullptr;
  int inside = no_region, outside = no_region;

  int region(int side) const { return side == 0 ? inside : outside; }
};

/// [groups of the mesh]. Throws InputError for names of groups and regions that are unknown or used
/// twice, groups without a condition, coefficients out of range, and sides that do not go with the
/// condition.
std::vector<ResolvedGroup> resolve_groups(const SurfaceMesh& mesh, const BoundaryProblem& problem);

PanelSides sides_of_panels(const SurfaceMesh& mesh, const Panels& panels,
                           std::span<const ResolvedGroup> groups);

/// Throws InputError where what bounds a region is not closed, which sheets with a region on one
/// side are not either. Edges of truncated groups may be open, and those in symmetry planes.
/// [regions]: whether the region reaches a ground plane.
std::vector<bool> check_regions_closed(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                                       std::span<const ResolvedGroup> groups);

/// Regions that hang together through interfaces and sheets.
struct Domains {
  std::vector<int> of;      ///< [regions]
  std::vector<bool> fixes;  ///< [domains]: something there, or infinity, says what φ is
  /// [domains]: Robin conditions do, and nothing else, in a domain of one piece.
  std::vector<bool> robin_alone;
  /// [n panels] In a domain of several pieces the one that Robin conditions alone fix, −1 for
  /// others; empty where nobody has looked for pieces.
  std::vector<std::int32_t> leaky_piece;
  std::vector<std::size_t> first;  ///< [domains]: one of the regions
};
/// `robin_alone` takes all domains for one piece.
Domains find_domains(const BoundaryProblem& problem, std::span<const ResolvedGroup> groups,
                     const std::vector<bool>& is_grounded);

/// Number of the region that reaches to infinity.
int region_outside(const BoundaryProblem& problem);

/// Tells which region points lie in, by the solid angles of panels, and of their images, that have
/// different regions on their sides: O(panels) each. Beyond symmetry planes there is none.
class RegionFinder {
 public:
  RegionFinder(const BoundaryProblem& problem, const Panels& panels, const PanelSides& sides);

  /// [regions + 1], how often the surfaces of each wind round x: 1 of where it lies, 1/2 on a
  /// surface; the last is of where there is no region. They add up to 1.
  std::vector<double> windings(Vec3d x) const;

  /// The region that a point lies in, and the side of surfaces that it is seen from.
  struct Place {
    int region;
    Side side;
  };
  /// [n points]. Where truncated surfaces leave a region open it is that on the side of the nearest
  /// one from which it is seen. On a surface between regions it is that of the side; of the mean
  /// of both sides it is the one inside, and where there is a region on one side alone, that one,
  /// seen from there: the field's continuation beyond a wall means nothing. On edges where several
  /// regions come into question it is the first of the problem's. Points on surfaces and those
  /// nearer to the one before than that is to a surface take O(log panels).
  std::vector<Place> places_of(std::span<const Vec3d> points, Side side) const;

 private:
  struct Border {
    Triangle panel;
    int inside, outside;
  };
  bool is_beyond_planes(Vec3d x) const;
  int region_off_surfaces(const BodyTree& surface, Vec3d x) const;
  Place place_on_surface(std::span<const int> borders, Side side) const;
  /// Numbers of those that x lies on.
  std::vector<int> borders_at(const BodyTree& surface, Vec3d x) const;

  const Panels& panels_;
  Vec3d origin_;  ///< of the borders
  std::vector<Border> borders_;
  std::size_t n_regions_;
  int outside_;
};

/// The regions of a problem's sources. Throws InputError for sources on a surface or where there is
/// no region, and where truncated surfaces leave open which it is; `notices` says which lie so
/// close to a surface that its panels are too large.
std::vector<int> regions_of_sources(const BoundaryProblem& problem, const Panels& panels,
                                    const RegionFinder& finder, std::vector<std::string>& notices);

}  // namespace fmbem
