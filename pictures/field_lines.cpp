#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>

#include "fmbem/pictures/make_scene.hpp"

namespace fmbem {
namespace {

// Evenly spaced lines after Jobard & Lefer 1997, "Creating evenly-spaced streamlines of arbitrary
// density". Lengths are parts of the plane's larger side.
constexpr double spacing = 0.04, least_spacing = spacing / 2, step = spacing / 10;
constexpr double longest = 4, shortest = 0.03;

struct Vec2 {
  double x = 0, y = 0;

  friend Vec2 operator+(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }
  friend Vec2 operator-(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }
  friend Vec2 operator*(double s, Vec2 a) { return {s * a.x, s * a.y}; }
};
double size_of(Vec2 a) { return std::hypot(a.x, a.y); }
double dot(Vec2 a, Vec2 b) { return a.x * b.x + a.y * b.y; }
double area(Vec2 a, Vec2 b) { return a.x * b.y - a.y * b.x; }
using Line = std::vector<Vec2>;

/// The directions of a field at the points of a parallelogram, in its own plane.
class Directions {
 public:
  Directions(const Scene& scene, const std::vector<double>& e)
      : scene_(scene), rows_(scene.points.size() / scene.columns) {
    const std::vector<Vec3d>& x = scene.points;
    size_ = 1;
    edges_[0] = flat(x[scene.columns - 1]);
    edges_[1] = flat(x[x.size() - scene.columns]);
    size_ = std::max(std::abs(edges_[0].x) + std::abs(edges_[1].x),
                     std::abs(edges_[0].y) + std::abs(edges_[1].y));
    for (Vec2& edge : edges_) edge = (1 / size_) * edge;
    std::vector<double> sizes;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Vec3d at{e[3 * i], e[3 * i + 1], e[3 * i + 2]};
      values_.push_back({dot(at, scene.view.right), dot(at, scene.view.up)});
      const double size = size_of(values_.back());
      sizes.push_back(std::isfinite(size) ? size : 0);  // there is none on an edge of a panel
    }
    // Inside of conductors a rest of the field remains, which has no direction of its own.
    std::vector<double> sorted = sizes;
    const auto ninth_decile = sorted.begin() + std::ptrdiff_t(sorted.size() * 9 / 10);
    std::nth_element(sorted.begin(), ninth_decile, sorted.end());
    for (std::size_t i = 0; i < sizes.size(); ++i)
      values_[i] = sizes[i] > 0.01 * *ninth_decile ? (1 / sizes[i]) * values_[i] : Vec2{};
  }

  Vec2 flat(Vec3d x) const {
    const Vec3d from_corner = x - scene_.points[0];
    return {dot(from_corner, scene_.view.right) / size_, dot(from_corner, scene_.view.up) / size_};
  }
  Vec3d solid(Vec2 x) const {
    return scene_.points[0] + size_ * x.x * scene_.view.right + size_ * x.y * scene_.view.up;
  }
  /// A place by its parts of both edges.
  Vec2 place(double u, double v) const { return u * edges_[0] + v * edges_[1]; }

  /// Of unit length; nothing outside of the plane and where there is hardly any field.
  std::optional<Vec2> at(Vec2 x) const {
    const double whole = area(edges_[0], edges_[1]);
    const double u = area(x, edges_[1]) / whole * double(scene_.columns - 1);
    const double v = area(edges_[0], x) / whole * double(rows_ - 1);
    if (!(u >= 0 && v >= 0 && u <= double(scene_.columns - 1) && v <= double(rows_ - 1))) return {};
    const auto i = std::min(std::size_t(u), scene_.columns - 2);
    const auto j = std::min(std::size_t(v), rows_ - 2);
    const double s = u - double(i), t = v - double(j);
    const auto value = [&](std::size_t di, std::size_t dj) {
      return values_[(j + dj) * scene_.columns + i + di];
    };
    const Vec2 mean = (1 - t) * ((1 - s) * value(0, 0) + s * value(1, 0)) +
                      t * ((1 - s) * value(0, 1) + s * value(1, 1));
    const double size = size_of(mean);
    if (!(size > 0.5)) return {};
    return (1 / size) * mean;
  }

 private:
  const Scene& scene_;
  std::size_t rows_;
  double size_ = 1;
  Vec2 edges_[2];
  std::vector<Vec2> values_;
};

/// Places of lines, in boxes as large as the spacing.
class Taken {
 public:
  void add(Vec2 x) { boxes_[index(x.y)][index(x.x)].push_back(x); }
  bool is_near(Vec2 x, double distance) const {
    for (std::size_t j = index(x.y) - 1; j <= index(x.y) + 1; ++j)
      for (std::size_t i = index(x.x) - 1; i <= index(x.x) + 1; ++i)
        for (const Vec2& other : boxes_[j][i])
          if (size_of(x - other) < distance) return true;
    return false;
  }

 private:
  /// Places lie between −1 and 1, with a box more at either end.
  static constexpr std::size_t n = std::size_t(2 / spacing) + 4;
  static std::size_t index(double x) {
    return std::size_t(std::clamp((x + 1) / spacing + 1, 1.0, double(n - 2)));
  }

  std::vector<std::vector<std::vector<Vec2>>> boxes_{n, std::vector<std::vector<Vec2>>(n)};
};

/// From a place on, along or against the directions, until these end, turn round, as they do where
/// they are interpolated across a sheet, or another line is near.
Line half_line(const Directions& directions, const Taken& taken, Vec2 x, double sign) {
  Line line{x};
  while (double(line.size()) * step < longest) {
    const std::optional<Vec2> first = directions.at(x);
    if (!first) break;
    const std::optional<Vec2> middle = directions.at(x + sign * step / 2 * *first);
    if (!middle || dot(*first, *middle) <= 0) break;
    x = x + sign * step * *middle;
    const std::optional<Vec2> last = directions.at(x);
    if (!last || dot(*first, *last) <= 0 || taken.is_near(x, least_spacing)) break;
    line.push_back(x);
  }
  return line;
}

std::vector<Line> evenly_spaced(const Directions& directions) {
  std::vector<Line> lines;
  Taken taken;
  // Beside a line come the next ones; where none reaches, a lattice has their beginnings.
  std::deque<Vec2> seeds;
  constexpr int lattice = int(1 / spacing);
  for (int j = 0; j <= lattice; ++j)
    for (int i = 0; i <= lattice; ++i)
      seeds.push_back(directions.place(double(i) / lattice, double(j) / lattice));
  while (!seeds.empty()) {
    const Vec2 seed = seeds.front();
    seeds.pop_front();
    if (!directions.at(seed) || taken.is_near(seed, spacing)) continue;
    Line line = half_line(directions, taken, seed, -1);
    std::reverse(line.begin(), line.end());
    const Line ahead = half_line(directions, taken, seed, 1);
    line.insert(line.end(), ahead.begin() + 1, ahead.end());
    for (const Vec2& x : line) taken.add(x);
    for (std::size_t i = 0; i < line.size(); i += 10)
      if (const std::optional<Vec2> along = directions.at(line[i]))
        for (const double side : {-1.001, 1.001})
          seeds.push_front(line[i] + side * spacing * Vec2{-along->y, along->x});
    lines.push_back(std::move(line));
  }
  return lines;
}

bool cross_each_other(Vec2 a, Vec2 b, Vec2 c, Vec2 d) {
  return (area(b - a, c - a) > 0) != (area(b - a, d - a) > 0) &&
         (area(d - c, a - c) > 0) != (area(d - c, b - c) > 0);
}

}  // namespace

std::vector<std::vector<Vec3d>> field_lines(const Scene& scene, const std::vector<double>& e,
                                            const std::vector<std::array<Vec3d, 2>>& outline) {
  const Directions directions(scene, e);
  std::vector<std::array<Vec2, 2>> walls;
  for (const auto& [a, b] : outline) walls.push_back({directions.flat(a), directions.flat(b)});
  std::vector<std::vector<Vec3d>> pieces;
  std::vector<Vec3d> piece;
  const auto finish = [&] {  // short ends reach into conductors, as directions are interpolated
    if (double(piece.size()) * step > shortest) pieces.push_back(piece);
    piece.clear();
  };
  for (const Line& line : evenly_spaced(directions)) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i > 0 && std::any_of(walls.begin(), walls.end(), [&](const auto& wall) {
            return cross_each_other(line[i - 1], line[i], wall[0], wall[1]);
          }))
        finish();
      piece.push_back(directions.solid(line[i]));
    }
    finish();
  }
  return pieces;
}

}  // namespace fmbem
