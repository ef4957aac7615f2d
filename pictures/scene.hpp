#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/pictures/drawing.hpp"
#include "fmbem/pictures/scale.hpp"

namespace fmbem {

inline constexpr int picture_width = 1200, picture_height = 900;

/// What of a colour is there whatever the direction of a surface; the rest goes with the cosine of
/// its angle to the eye.
inline constexpr double ambient_light = 0.75;
/// Of panels and points without a finite value. The grey of colour tables is lighter by more than
/// what light takes away.
inline constexpr Colour no_value_colour{0.5, 0.5, 0.5};

/// Lines of one kind.
struct LineSet {
  Colour colour;
  double width;  ///< pixels
  double opacity;
  std::vector<std::vector<Vec3d>> paths;
};

/// From where a scene is seen, without perspective: orthonormal vectors to the right, up and
/// towards the eye.
struct View {
  Vec3d right, up, toward;
};

/// What a picture shows, whatever kind of file it becomes.
struct Scene {
  std::vector<Vec3d> points;
  std::vector<std::array<int, 3>> triangles;
  std::vector<double> values;  ///< by point or by triangle; not finite where there is none
  bool at_points = false;
  std::vector<double> weights;  ///< areas, of values by triangle
  std::vector<int> group_of;    ///< [n triangles], index into groups; empty where there are none
  std::vector<std::string> groups;
  std::vector<LineSet> lines;

  bool has_silhouette = true;
  bool flat = false;  ///< a plane, which has axes and no light
  View view;
  std::size_t columns = 0;  ///< of a plane: points in a row
  std::string length_unit;  ///< of a plane's axes; empty if unknown
  std::string axes[2];      ///< of a plane: what is to the right, and up
  Vec3d origin;             ///< of a plane: where its axes count from

  Scale scale;
  std::string title;     ///< of the colour bar, with the unit
  std::string subtitle;  ///< what else has to be known; may be empty
  std::string notice;    ///< how many panels or points have no value; empty if all have one
  Prefix prefix;         ///< of the unit
};

/// The place of points in a picture: x to the right and y down from the upper left corner, z
/// towards the eye, all in pixels.
class Projection {
 public:
  /// Fits the scene into its part of the picture.
  explicit Projection(const Scene& scene);
  Vec3d operator()(Vec3d x) const;
  Point2 flat(Vec3d x) const;
  double pixels_per_length() const { return scale_; }

 private:
  View view_;
  Vec3d middle_{};
  double scale_ = 1;
};

/// The colours from fraction 0 to 1: viridis (van der Walt & Smith 2015), or for symmetric scales
/// blue over grey to red (Moreland 2009, "Diverging color maps for scientific visualization"). Both
/// are perceptually uniform and told apart by eyes that confuse red and green. Planes, whose lines
/// have to be seen, take the half from grey to red for all other scales. Molecular ones go from red
/// over white to blue, by the convention of that field.
constexpr int n_colours = 256;
std::array<Colour, n_colours> colour_table(const Scene& scene);
/// The colour of a fraction.
inline std::size_t table_index(double fraction) {
  return std::size_t(std::lround(fraction * (n_colours - 1)));
}

/// Colour bar with its title and numbers.
void add_legend(Drawing& drawing, const Scene& scene);
/// The frame of a plane with the numbers along its edges, or else the directions of x, y and z.
void add_axes(Drawing& drawing, const Scene& scene, const Projection& projection);
/// The scene's lines, which nothing hides in a plane.
void add_lines(Drawing& drawing, const Scene& scene, const Projection& projection);

}  // namespace fmbem
