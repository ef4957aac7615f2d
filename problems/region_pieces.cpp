#include "fmbem/problems/region_pieces.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/tree/unions.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/chambers.hpp"

namespace fmbem {
namespace {

/// A panel of the whole and one of its sides, behind (0) or ahead (1).
struct Wall {
  std::int32_t panel;
  int side;
};

/// A chamber's walls, and what they say.
struct Walls {
  std::vector<Wall> all{};
  CoordinateBounds bounds = CoordinateBounds::of_nothing();
  int region = no_region;
  bool is_one = true;  ///< all walls name the same region, and none falls together with another
  double cones = 0;    ///< Σ |volume| of the walls' cones, by which roundings of the volume go
};

class Pieces {
 public:
  Pieces(const SurfaceMesh& mesh, const BoundaryProblem& problem,
         std::span<const ResolvedGroup> groups, const Panels& panels)
      : mesh_(mesh),
        problem_(problem),
        groups_(groups),
        panels_(panels),
        whole_(whole_of(panels)),
        numbers_(panels),
        chambers_(find_chambers(whole_, all_panels())),
        walls_(chambers_.all.size()),
        around_(chambers_.all.size(), -1),
        unions_(chambers_.all.size() + 1) {
    for (std::int32_t w = 0; w < size(whole_); ++w)
      for (const int side : {0, 1}) add_wall({w, side});
    for (std::size_t c = 0; c < walls_.size(); ++c) {
      if (chambers_.all[c].is_clear) check_names(walls_[c]);
      walls_[c].is_one = walls_[c].is_one && chambers_.all[c].is_clear;
    }
    for (std::size_t c = 0; c < walls_.size(); ++c) put_into_surroundings(c);
    const bool is_used = is_used_outside();
    for (std::size_t c = 0; c < walls_.size(); ++c)
      if (is_used || around_[c] != unbounded() || walls_[c].region != no_region)
        check_surroundings(c);
  }

  /// Refuses pieces of one domain that are several where one of them is not fixed.
  void check_constants(Domains& domains) {
    Unions joined(walls_.size() + 1);
    std::vector<char> is_fixed(walls_.size() + 1, false), has_robin = is_fixed;
    std::map<std::string, std::int32_t> at_floating;  // a piece
    for (std::int32_t w = 0; w < size(whole_); ++w) {
      const ResolvedGroup& group = group_of(w);
      const GroupCondition& condition = *group.condition;
      if (group.inside != no_region && group.outside != no_region)
        joined.join(piece_of(w, 0), piece_of(w, 1));
      for (const int side : {0, 1}) {
        const std::int32_t piece = piece_of(w, side);
        if (group.region(side) == no_region) continue;
        if (condition.floats())
          joined.join(at_floating.emplace(condition.conductor_name(), piece).first->second, piece);
        if (condition.kind == GroupCondition::Kind::robin)
          has_robin[piece] = true;
        else if (condition.fixes_potential())
          is_fixed[piece] = true;
      }
    }
    for (const std::int32_t piece : grounded_pieces()) is_fixed[piece] = true;
    if (region_outside(problem_) != no_region) is_fixed[unions_.root(unbounded())] = true;
    for (std::size_t p = 0; p < is_fixed.size(); ++p) {
      const std::int32_t root = joined.root(static_cast<std::int32_t>(p));
      if (is_fixed[p]) is_fixed[root] = true;
      if (has_robin[p]) has_robin[root] = true;
    }

    std::vector<std::set<std::int32_t>> of_domain(domains.fixes.size());
    for_own_walls([&](Wall wall, int region) {
      of_domain[domains.of[region]].insert(joined.root(piece_of(wall.panel, wall.side)));
    });
    for (std::size_t d = 0; d < of_domain.size(); ++d)
      domains.robin_alone[d] = domains.robin_alone[d] && of_domain[d].size() == 1;
    domains.leaky_piece.assign(panels_.size(), -1);
    for_own_walls([&](Wall wall, int region) {
      const int domain = domains.of[region];
      if (of_domain[domain].size() == 1 && (!domains.fixes[domain] || domains.robin_alone[domain]))
        return;
      if (!walls_[chamber_of(wall.panel, wall.side)].is_one) return;
      const std::int32_t piece = joined.root(piece_of(wall.panel, wall.side));
      FMBEM_REQUIRE(is_fixed[piece] || has_robin[piece],
                    "the region \"" << problem_.regions[region].name
                                    << "\" lies in several pieces, and nothing says what the "
                                       "potential is in the one at "
                                    << place(whole_.centroid(wall.panel) + whole_.origin) << ' '
                                    << mesh_.unit << ": give that a region of its own");
      if (!is_fixed[piece]) domains.leaky_piece[numbers_.source(wall.panel)] = piece;
    });
  }

 private:
  std::int32_t unbounded() const { return static_cast<std::int32_t>(walls_.size()); }
  static std::int32_t size(const Panels& panels) {
    return static_cast<std::int32_t>(panels.size());
  }
  std::vector<std::int32_t> all_panels() const {
    std::vector<std::int32_t> all(whole_.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  const ResolvedGroup& group_of(std::int32_t w) const {
    return groups_[mesh_.group_of[panels_.input_index[numbers_.source(w)]]];
  }
  std::int32_t chamber_of(std::int32_t w, int side) const { return chambers_.of[w][side]; }
  std::int32_t piece_of(std::int32_t w, int side) { return unions_.root(chamber_of(w, side)); }

  /// Those that a ground plane passes through: they go on to the side of the images.
  std::vector<std::int32_t> grounded_pieces() {
    std::vector<std::int32_t> result;
    if (!panels_.images) return result;
    std::set<std::int32_t> here, beyond;
    for (std::int32_t w = 0; w < size(whole_); ++w)
      for (const int side : {0, 1})
        (panels_.images->sign[w] < 0 ? beyond : here).insert(piece_of(w, side));
    std::set_intersection(here.begin(), here.end(), beyond.begin(), beyond.end(),
                          std::back_inserter(result));
    return result;
  }

  /// Calls visit(wall, region) for what is no image and bounds a region.
  template <class Visit>
  void for_own_walls(const Visit& visit) const {
    for (std::int32_t i = 0; i < size(panels_); ++i)
      for (const int side : {0, 1}) {
        const std::int32_t w = numbers_.itself(i);
        const int region = group_of(w).region(side);
        if (region != no_region) visit(Wall{w, side}, region);
      }
  }

  void add_wall(Wall wall) {
    Walls& walls = walls_[chamber_of(wall.panel, wall.side)];
    const int region = group_of(wall.panel).region(wall.side);
    if (walls.all.empty()) walls.region = region;
    walls.is_one = walls.is_one && walls.region == region &&
                   !numbers_.lies_in_plane(numbers_.source(wall.panel));
    walls.all.push_back(wall);
    const Vec3d a = whole_.vertex(wall.panel, 0), b = whole_.vertex(wall.panel, 1),
                c = whole_.vertex(wall.panel, 2);
    for (const Vec3d& x : {a, b, c}) walls.bounds.add(x);
    walls.cones += std::abs(dot(a - whole_.vertex(0, 0), cross(b - a, c - a))) / 6;
  }

  /// What lies in one chamber is one region.
  void check_names(const Walls& walls) const {
    const auto region = [&](Wall wall) { return group_of(wall.panel).region(wall.side); };
    const Wall* first = nullptr;
    for (const Wall& wall : walls.all) {
      if (numbers_.lies_in_plane(numbers_.source(wall.panel))) return;
      if (region(wall) == no_region) continue;
      if (!first) first = &wall;
      FMBEM_REQUIRE(region(wall) == region(*first),
                    "the groups \"" << group_of(first->panel).condition->group << "\" and \""
                                    << group_of(wall.panel).condition->group
                                    << "\" bound the same space, and name different regions there, "
                                    << text_of(region(*first)) << " and " << text_of(region(wall))
                                    << ", at " << place(whole_.centroid(wall.panel) + whole_.origin)
                                    << ' ' << mesh_.unit
                                    << ": swap \"inside\" and \"outside\" of what lies the other "
                                       "way round, or add what is between");
    }
  }

  /// Walls that bound what is outside of them, or nothing, are in the piece around them.
  void put_into_surroundings(std::size_t c) {
    constexpr double rounding = 1e-10;
    if (chambers_.all[c].volume > rounding * walls_[c].cones) return;
    const Wall wall = walls_[c].all.front();
    const Triangle t = whole_.triangle(wall.panel);
    const Vec3d x = t.centroid + (wall.side == 0 ? -1e-3 : 1e-3) * t.radius * t.normal;
    std::int32_t around = unbounded();
    for (std::size_t other = 0; other < walls_.size(); ++other) {
      if (other == c || !(chambers_.all[other].volume > 0) || !walls_[other].bounds.contains(x))
        continue;
      const double winding = winding_at(x, walls_[other]);
      if (std::abs(winding - std::round(winding)) > 0.1) {  // where surfaces touch
        walls_[c].is_one = false;
        return;
      }
      if (winding > 0.5 &&
          (around == unbounded() || chambers_.all[other].volume < chambers_.all[around].volume))
        around = static_cast<std::int32_t>(other);
    }
    around_[c] = around;
    unions_.join(static_cast<std::int32_t>(c), around);
  }

  /// Where nothing is solved for outside of all, whatever its name, walls have nothing (null)
  /// there.
  bool is_used_outside() const {
    for (std::size_t c = 0; c < walls_.size(); ++c)
      if (around_[c] == unbounded() && walls_[c].region == region_outside(problem_)) return true;
    return false;
  }

  void check_surroundings(std::size_t c) {
    const std::int32_t around = around_[c];
    if (around < 0 || !walls_[c].is_one || (around != unbounded() && !walls_[around].is_one))
      return;
    const int region = around == unbounded() ? region_outside(problem_) : walls_[around].region;
    const Wall wall = walls_[c].all.front();
    FMBEM_REQUIRE(walls_[c].region == region,
                  "the group \"" << group_of(wall.panel).condition->group << "\" has "
                                 << text_of(walls_[c].region) << " on its "
                                 << (wall.side == 0 ? "inside" : "outside") << ", and lies in "
                                 << text_of(region) << " there, at "
                                 << place(whole_.centroid(wall.panel) + whole_.origin) << ' '
                                 << mesh_.unit << ": name that, or add what is between");
  }

  std::string text_of(int region) const {
    return region == no_region ? "nothing (null)"
                               : "the region \"" + problem_.regions[region].name + '"';
  }

  /// How often walls wind round a point that lies on none of them.
  double winding_at(Vec3d x, const Walls& walls) const {
    double sum = 0;
    for (const Wall& wall : walls.all) {
      const double angle = triangle_double_layer(whole_.triangle(wall.panel), x);
      sum += wall.side == 0 ? -angle : angle;
    }
    return sum;
  }

  const SurfaceMesh& mesh_;
  const BoundaryProblem& problem_;
  std::span<const ResolvedGroup> groups_;
  const Panels& panels_;
  const Panels& whole_;
  PanelNumbers numbers_;
  Chambers chambers_;
  std::vector<Walls> walls_;  ///< [chambers]
  /// [chambers]: which one each lies in, unbounded() for none, −1 if that has not been asked.
  std::vector<std::int32_t> around_;
  Unions unions_;  ///< of chambers, and of what is around all
};

}  // namespace

void check_pieces_of_regions(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                             std::span<const ResolvedGroup> groups, const Panels& panels,
                             Domains& domains) {
  bool says_nothing = false;  // of the sides of surfaces: all is in the region outside
  bool is_truncated = false;
  for (const ResolvedGroup& group : groups) {
    is_truncated = is_truncated || group.condition->truncated;
    says_nothing = says_nothing || group.inside == no_region || group.outside == no_region;
  }
  if (is_truncated || (!says_nothing && problem.regions.size() == 1))
    domains.robin_alone.assign(domains.fixes.size(), false);
  else
    Pieces(mesh, problem, groups, panels).check_constants(domains);
}

}  // namespace fmbem
