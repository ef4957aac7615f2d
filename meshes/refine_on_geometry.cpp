#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "fmbem/meshes/refine.hpp"
#include "fmbem/meshes/split_edges.hpp"

namespace fmbem {
namespace {

// Allowed distances of a new vertex from its edge's middle, in lengths of the edge. An arc of 30
// degrees rises by 0.065, so with good parameters hardly any vertex beyond the first level needs a
// second look.
constexpr double near_enough = 0.05, far_off = 0.25;
constexpr int most_steps = 4;

double mean(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : 0.5 * (a + b); }
SurfaceParameters mean(SurfaceParameters a, SurfaceParameters b) {
  return {mean(a.u, b.u), mean(a.v, b.v)};
}

/// The parameter shifted by periods to where `close` is.
double wound(double parameter, double period, double close) {
  if (!(period > 0) || std::isnan(close)) return parameter;
  return parameter + period * std::round((close - parameter) / period);
}

double distance(SurfaceParameters a, SurfaceParameters b) {
  const double du = a.u - b.u, dv = a.v - b.v;
  return (std::isnan(du) ? 0 : std::abs(du)) + (std::isnan(dv) ? 0 : std::abs(dv));
}

Vec3d third(const std::vector<double>& x, std::size_t i) {
  return {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
}

/// Sides 3 triangle + k, each with the tag of what it lies on, in the order of tags.
using Tagged = std::vector<std::pair<int, std::size_t>>;

/// Calls visit(tag, sides) for the sides of each tag.
template <class Visit>
void for_each_tag(const Tagged& sorted, Visit&& visit) {
  for (std::size_t first = 0, last; first < sorted.size(); first = last) {
    std::vector<std::size_t> sides;
    for (last = first; last < sorted.size() && sorted[last].first == sorted[first].first; ++last)
      sides.push_back(sorted[last].second);
    visit(sorted[first].first, sides);
  }
}

/// One refinement. Curves come first, then surfaces; each is evaluated once for all of its
/// vertices.
class Refinement {
 public:
  Refinement(const SurfaceMesh& coarse, MeshPlaces& places, Geometry& geometry)
      : coarse_(coarse),
        places_(places),
        geometry_(geometry),
        fine_(split_edges(coarse)),
        on_curve_(fine_.first_side.size(), false),
        side_mean_(coarse.triangles.size()) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < side_mean_.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k)
        side_mean_[i][k] = mean(places_.corners[i][k], places_.corners[i][(k + 1) % 3]);
  }

  SurfaceMesh run() {
    place_on_curves();
    place_on_surfaces();
    hand_down();
    number_tags(fine_.mesh);
    return std::move(fine_.mesh);
  }

 private:
  std::size_t new_vertex(std::size_t side) const {
    return std::size_t(fine_.middle[side / 3][side % 3]) - coarse_.vertices.size();
  }
  Vec3d& position(std::size_t side) {
    return fine_.mesh.vertices[fine_.middle[side / 3][side % 3]];
  }
  SurfaceParameters& parameters(std::size_t side) { return side_mean_[side / 3][side % 3]; }
  double length(std::size_t side) const {
    const auto& t = coarse_.triangles[side / 3];
    return norm(coarse_.vertices[t[side % 3]] - coarse_.vertices[t[(side % 3 + 1) % 3]]);
  }

  /// Replaces the points x of sides that are far off by those that `search` finds, if these are far
  /// nearer. Gives their indices and what `search` gave.
  template <class Search>
  std::pair<std::vector<std::size_t>, std::vector<double>> search_far(
      const std::vector<std::size_t>& sides, std::vector<double>& x, Search&& search) {
    std::vector<std::size_t> far;
    std::vector<double> nearest;
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const Vec3d middle = position(sides[i]);
      if (norm(third(x, i) - middle) <= far_off * length(sides[i])) continue;  // not of a NaN
      far.push_back(i);
      nearest.insert(nearest.end(), {middle.x, middle.y, middle.z});
    }
    if (far.empty()) return {};
    std::vector<double> parameters = search(nearest);
    for (std::size_t k = 0; k < far.size(); ++k) {
      const Vec3d middle = position(sides[far[k]]);
      if (norm(third(x, far[k]) - middle) <= 2 * norm(third(nearest, k) - middle)) continue;
      std::copy_n(&nearest[3 * k], 3, &x[3 * far[k]]);
    }
    return {std::move(far), std::move(parameters)};
  }

  void put(const std::vector<std::size_t>& sides, const std::vector<double>& x) {
    for (std::size_t i = 0; i < sides.size(); ++i) position(sides[i]) = third(x, i);
  }

  void place_on_curves() {
    Tagged sides;
    curve_mean_.resize(places_.sides.size());
    for (std::size_t c = 0; c < places_.sides.size(); ++c) {
      const CurveSide& side = places_.sides[c];
      curve_mean_[c] = 0.5 * (side.begin + side.end);
      const std::size_t v = new_vertex(side.side);
      if (!on_curve_[v]) sides.emplace_back(side.curve, c);
      on_curve_[v] = true;
    }
    std::stable_sort(sides.begin(), sides.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for_each_tag(sides, [&](int curve, const std::vector<std::size_t>& of_curve) {
      std::vector<double> t;
      std::vector<std::size_t> on;
      for (const std::size_t c : of_curve) {
        t.push_back(curve_mean_[c]);
        on.push_back(places_.sides[c].side);
      }
      std::vector<double> x = geometry_.on_curve(curve, t);
      search_far(on, x, [&](std::vector<double>& y) { return geometry_.to_curve(curve, y); });
      put(on, x);
    });
    find_curves_on_surfaces();
  }

  /// Parameters, on each surface, of the new vertices on its curves. On a curve that is bent in the
  /// surface, the mean of the ends' parameters lies beside the curve.
  void find_curves_on_surfaces() {
    std::vector<std::size_t> order(places_.sides.size());
    for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
    const auto pair_of = [&](std::size_t c) {
      return std::pair(places_.sides[c].curve, places_.surface[places_.sides[c].side / 3]);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return pair_of(a) < pair_of(b); });
    for (std::size_t first = 0, last; first < order.size(); first = last) {
      const auto [curve, surface] = pair_of(order[first]);
      std::vector<double> t;
      for (last = first; last < order.size() && pair_of(order[last]) == pair_of(order[first]);
           ++last)
        t.push_back(curve_mean_[order[last]]);
      if (geometry_.is_flat(surface)) continue;
      const std::vector<double> ends[] = {geometry_.curve_on_surface(curve, t, surface, 0),
                                          geometry_.curve_on_surface(curve, t, surface, 1)};
      for (std::size_t i = first; i < last; ++i) {
        SurfaceParameters& mine = parameters(places_.sides[order[i]].side);
        SurfaceParameters best = mine;
        double least = std::numeric_limits<double>::infinity();
        for (const std::vector<double>& uv : ends) {
          if (uv.empty()) continue;
          const SurfaceParameters candidate{uv[2 * (i - first)], uv[2 * (i - first) + 1]};
          if (distance(candidate, mine) >= least) continue;
          least = distance(candidate, mine);
          best = candidate;
        }
        mine = best;
      }
    }
  }

  void place_on_surfaces() {
    Tagged sides;
    for (std::size_t v = 0; v < fine_.first_side.size(); ++v)
      if (!on_curve_[v])
        sides.emplace_back(places_.surface[fine_.first_side[v] / 3], fine_.first_side[v]);
    std::stable_sort(sides.begin(), sides.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for_each_tag(sides, [&](int surface, const std::vector<std::size_t>& on) {
      if (!geometry_.is_flat(surface)) place_on(surface, on);
    });
    keep_found();
  }

  void place_on(int surface, const std::vector<std::size_t>& on) {
    std::vector<double> uv;
    uv.reserve(2 * on.size());
    for (const std::size_t side : on) {
      const SurfaceParameters p = parameters(side);
      uv.insert(uv.end(), {p.u, p.v});
    }
    std::vector<double> x = points(surface, uv);
    step_nearer(surface, on, uv, x);
    const auto [far, found] =
        search_far(on, x, [&](std::vector<double>& y) { return geometry_.to_surface(surface, y); });
    for (std::size_t k = 0; k < far.size(); ++k)
      found_[new_vertex(on[far[k]])] = {found[2 * k], found[2 * k + 1]};
    put(on, x);
  }

  /// Moves points that are not near enough towards those nearest to the middles m, by steps p of
  /// (u, v) with JᵀJ p = Jᵀ(m − x), as long as they come nearer.
  void step_nearer(int surface, const std::vector<std::size_t>& on, std::vector<double>& uv,
                   std::vector<double>& x) {
    std::vector<std::size_t> active;
    for (std::size_t i = 0; i < on.size(); ++i)
      if (norm(third(x, i) - position(on[i])) > near_enough * length(on[i])) active.push_back(i);
    for (int step = 0; step < most_steps && !active.empty(); ++step) {
      std::vector<double> tried;
      for (const std::size_t i : active) tried.insert(tried.end(), {uv[2 * i], uv[2 * i + 1]});
      const std::vector<double> d = geometry_.derivatives(surface, tried);
      std::vector<double> moved(active.size());
      for (std::size_t k = 0; k < active.size(); ++k)
        moved[k] = gauss_step(third(d, 2 * k), third(d, 2 * k + 1),
                              position(on[active[k]]) - third(x, active[k]), &tried[2 * k]);
      const std::vector<double> y = geometry_.on_surface(surface, tried);
      std::vector<std::size_t> still;
      for (std::size_t k = 0; k < active.size(); ++k) {
        const std::size_t i = active[k];
        const Vec3d middle = position(on[i]);
        if (!(norm(third(y, k) - middle) < norm(third(x, i) - middle))) continue;
        std::copy_n(&y[3 * k], 3, &x[3 * i]);
        std::copy_n(&tried[2 * k], 2, &uv[2 * i]);
        found_[new_vertex(on[i])] = {uv[2 * i], uv[2 * i + 1]};
        if (moved[k] > 0.2 * near_enough * length(on[i])) still.push_back(i);
      }
      active = std::move(still);
    }
  }

  /// Adds the step to uv; gives how far it moves a point along the surface.
  static double gauss_step(Vec3d du, Vec3d dv, Vec3d r, double* uv) {
    const double uu = dot(du, du), vv = dot(dv, dv), mixed = dot(du, dv), ru = dot(du, r),
                 rv = dot(dv, r), det = uu * vv - mixed * mixed;
    if (!(det > 1e-12 * uu * vv)) return 0;
    const double pu = (vv * ru - mixed * rv) / det, pv = (uu * rv - mixed * ru) / det;
    uv[0] += pu;
    uv[1] += pv;
    return norm(pu * du + pv * dv);
  }

  /// Points of a surface; NaN for parameters that nobody knows.
  std::vector<double> points(int surface, const std::vector<double>& of) {
    std::vector<double> uv = of;
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < uv.size() / 2; ++i)
      if (std::isnan(uv[2 * i]) || std::isnan(uv[2 * i + 1])) unknown.push_back(i);
    // The geometry is never asked with NaN.
    for (const std::size_t i : unknown) uv[2 * i] = uv[2 * i + 1] = 0;
    std::vector<double> x = geometry_.on_surface(surface, uv);
    for (const std::size_t i : unknown)
      x[3 * i] = x[3 * i + 1] = x[3 * i + 2] = SurfaceParameters::any;
    return x;
  }

  /// Parameters other than the mean, on both sides of their edges.
  void keep_found() {
    if (found_.empty()) return;
    for (std::size_t side = 0; side < 3 * fine_.middle.size(); ++side) {
      const std::size_t v = new_vertex(side);
      const int surface = places_.surface[side / 3];
      const auto at = found_.find(v);
      if (at == found_.end() || surface != places_.surface[fine_.first_side[v] / 3]) continue;
      const SurfaceParameters period = geometry_.periods(surface);
      SurfaceParameters& mine = parameters(side);
      mine = {wound(at->second.u, period.u, mine.u), wound(at->second.v, period.v, mine.v)};
    }
  }

  /// The children's places.
  void hand_down() {
    const std::size_t n = coarse_.triangles.size();
    MeshPlaces fine;
    fine.surface.resize(4 * n);
    fine.corners.resize(4 * n);
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) {
      const auto& [a, b, c] = places_.corners[i];
      const auto& [ab, bc, ca] = side_mean_[i];
      const std::array<SurfaceParameters, 3> children[] = {
          {a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}};
      for (std::size_t k = 0; k < 4; ++k) {
        fine.surface[4 * i + k] = places_.surface[i];
        fine.corners[4 * i + k] = children[k];
      }
    }
    for (std::size_t c = 0; c < places_.sides.size(); ++c) {
      const auto& [side, curve, begin, end] = places_.sides[c];
      const std::size_t i = side / 3, k = side % 3;
      fine.sides.push_back({3 * (4 * i + k), curve, begin, curve_mean_[c]});
      fine.sides.push_back({3 * (4 * i + (k + 1) % 3) + 2, curve, curve_mean_[c], end});
    }
    std::sort(fine.sides.begin(), fine.sides.end(),
              [](const CurveSide& a, const CurveSide& b) { return a.side < b.side; });
    places_ = std::move(fine);
  }

  const SurfaceMesh& coarse_;
  MeshPlaces& places_;
  Geometry& geometry_;
  SplitMesh fine_;
  std::vector<char> on_curve_;                                // [n new vertices]
  std::vector<std::array<SurfaceParameters, 3>> side_mean_;   // [n], of the side k's new vertex
  std::vector<double> curve_mean_;                            // [n sides on curves]
  std::unordered_map<std::size_t, SurfaceParameters> found_;  // of new vertices, instead of means
};

}  // namespace

void turn_round(MeshPlaces& places, std::size_t i) {
  std::swap(places.corners[i][1], places.corners[i][2]);
  const auto first =
      std::lower_bound(places.sides.begin(), places.sides.end(), 3 * i,
                       [](const CurveSide& s, std::size_t side) { return s.side < side; });
  const auto last =
      std::find_if(first, places.sides.end(), [&](const CurveSide& s) { return s.side / 3 != i; });
  for (auto s = first; s != last; ++s) {
    s->side = 3 * i + (2 - s->side % 3);  // the sides 0 and 2 change places, 1 stays
    std::swap(s->begin, s->end);
  }
  std::sort(first, last, [](const CurveSide& a, const CurveSide& b) { return a.side < b.side; });
}

SurfaceMesh refine_on_geometry(const SurfaceMesh& mesh, MeshPlaces& places, Geometry& geometry) {
  return Refinement(mesh, places, geometry).run();
}

}  // namespace fmbem
