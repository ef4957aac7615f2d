#include "fmbem/bem/space/panel_sources.hpp"

#include <algorithm>

namespace fmbem {
namespace {

void include(Vec3d x, Vec3d& low, Vec3d& high) {
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = std::min(low[axis], x[axis]);
    high[axis] = std::max(high[axis], x[axis]);
  }
}

}  // namespace

StripPiece PanelSources::piece(std::size_t j) const {
  return {make_strip(panels_[pieces_->panel(j)]), pieces_->begin_of(j), pieces_->end_of(j)};
}

double PanelSources::area(std::size_t j) const {
  if (!is_piece(j)) return panels_[unknown(j)].area;
  const StripPiece p = piece(j);
  return extent_of(p.strip, p.a, p.b).area;
}

Vec3d PanelSources::centre(std::size_t j) const {
  if (!is_piece(j)) return panels_[unknown(j)].centroid;
  const StripPiece p = piece(j);
  return extent_of(p.strip, p.a, p.b).centre;
}

Vec3d PanelSources::half(std::size_t j) const {
  if (!is_piece(j)) return {};
  const StripPiece p = piece(j);
  return extent_of(p.strip, p.a, p.b).half;
}

void PanelSources::bounds(std::size_t j, Vec3d& low, Vec3d& high) const {
  if (is_piece(j)) {
    const StripPiece p = piece(j);
    const StripExtent extent = extent_of(p.strip, p.a, p.b);
    low = extent.low;
    high = extent.high;
    return;
  }
  const Triangle& t = panels_[unknown(j)];
  low = high = t.vertex[0];
  for (int k = 1; k < 3; ++k) include(t.vertex[k], low, high);
}

void PanelSources::piece_quadrature(const StripPiece& piece, double side,
                                    fmm::WeightedPoints& points) const {
  const StripRule& rule =
      strip_rule(points_.along(side, piece.b - piece.a), points_.across(side, piece.strip.span()));
  points.clear();
  for_strip_parts(piece.strip, piece.a, piece.b, [&](const StripPart& part) {
    for_strip_points(rule, part, [&](double s, double y, double weight) {
      const Vec3d at = piece.strip.point(s, y);
      points.x.push_back(at.x);
      points.y.push_back(at.y);
      points.z.push_back(at.z);
      points.weight.push_back(weight);
    });
  });
}

bool PanelSources::share_parts(std::span<const std::int32_t> sources, double side,
                               fmm::SharedParts& shared) const {
  // Others are no stack, or too few for one.
  constexpr std::size_t least = 32;
  const auto is_whole = [&](std::int32_t j) { return !is_piece(j); };
  if (!pieces_ || sources.size() < least || std::any_of(sources.begin(), sources.end(), is_whole))
    return false;
  std::vector<StripPiece> pieces(sources.size());
  std::transform(sources.begin(), sources.end(), pieces.begin(),
                 [&](std::int32_t j) { return piece(j); });
  return find_stack_parts(pieces, side, tolerance_, points_, shared);
}

const TriangleRule& PanelSources::rule_for(const Triangle& t, double side) const {
  const auto reach = [&](const FarRule& rule) {
    return kappa_ == 0 ? rule.reach
                       : rule.reach_for(kappa_ * t.radius, spared_by_screening * kappa_ * side);
  };
  const auto far = std::find_if(rules_.begin(), rules_.end(), [&](const FarRule& rule) {
    return side >= reach(rule) * t.radius;
  });
  if (far != rules_.end()) return far->rule;
  return kappa_ == 0 ? rules_.back().rule : densest_moment_rule();
}

void PanelSources::quadrature(std::size_t j, double side, fmm::WeightedPoints& points) const {
  if (is_piece(j)) return piece_quadrature(piece(j), side, points);
  const Triangle& t = panels_[unknown(j)];
  const TriangleRule& rule = rule_for(t, side);
  const std::size_t n = rule.weight.size();
  for (auto* column : {&points.x, &points.y, &points.z, &points.weight}) column->resize(n);
  const Vec3d e1 = t.vertex[1] - t.vertex[0], e2 = t.vertex[2] - t.vertex[0];
  for (std::size_t q = 0; q < n; ++q) {
    const Vec3d y = t.vertex[0] + rule.xi[q] * e1 + rule.eta[q] * e2;
    points.x[q] = y.x;
    points.y[q] = y.y;
    points.z[q] = y.z;
    points.weight[q] = t.area * rule.weight[q];
  }
  if (trace_ == Trace::value) return;
  for (int axis = 0; axis < 3; ++axis) {
    points.dipole[axis].resize(n);
    for (std::size_t q = 0; q < n; ++q) points.dipole[axis][q] = points.weight[q] * t.normal[axis];
  }
  if (strengths_ == Strengths::density) points.weight.assign(n, 0.0);
}

}  // namespace fmbem
