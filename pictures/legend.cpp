#include <algorithm>
#include <cmath>

#include "fmbem/pictures/fit_text.hpp"
#include "fmbem/pictures/scene.hpp"

namespace fmbem {
namespace {

constexpr double title_size = 25, title_line = 34, number_size = 23;
/// The colour bar, in pixels.
constexpr double bar_left = 1000, bar_top = 200, bar_width = 30, bar_height = 512;

/// So many characters fit above the bar, below it, and there beside what is drawn, which ends at
/// 950.
constexpr std::size_t title_width = 14, width_right_of_bar = 15, caption_width = 21;

/// The square that shows the colour of no value, below the bar and what is written there.
constexpr double no_value_top = 856;

void add_line(Drawing& drawing, Point2 a, Point2 b, double width = 1.5) {
  drawing.paths.push_back({{a, b}, black, width});
}

/// How many ticks an axis has at the least, so that the numbers of one to the right stay apart.
int least_ticks(const Scale& range, double pixels, bool is_to_the_right) {
  int least = std::max(1, int(pixels / 160));
  const auto meet = [&] {
    const std::vector<Tick> list = ticks(range, 1, least);
    double width = 0;
    for (const Tick& tick : list) width += number_size * (0.5 * double(tick.text.size()) + 0.5);
    return width > pixels;
  };
  while (is_to_the_right && least > 1 && meet()) --least;
  return least;
}

/// An axis of a plane: from one corner to another, with numbers along it.
void add_axis(Drawing& drawing, const Scene& scene, const Projection& projection, int axis,
              Vec3d from, Vec3d to) {
  const Vec3d along = axis == 0 ? scene.view.right : scene.view.up;
  const auto coordinate = [&](Vec3d x) { return dot(x - scene.origin, along); };
  const Scale range{Scale::Kind::linear, coordinate(from), coordinate(to)};
  const double pixels = projection.pixels_per_length() * (range.max - range.min);
  const int least = least_ticks(range, pixels, axis == 0);
  for (const Tick& tick : ticks(range, 1, least)) {
    const Point2 at = projection.flat(from + (tick.value - range.min) * along);
    if (axis == 0) {
      add_line(drawing, at, {at.x, at.y + 8});
      drawing.texts.push_back({{at.x, at.y + 24}, tick.text, number_size, Drawing::Anchor::middle});
    } else {
      add_line(drawing, at, {at.x - 8, at.y});
      drawing.texts.push_back({{at.x - 14, at.y}, tick.text, number_size, Drawing::Anchor::end});
    }
  }
  std::string title = scene.axes[axis];
  if (!scene.length_unit.empty()) title += " [" + scene.length_unit + "]";
  const std::string offset = ticks_offset(range, 1, least);
  if (!offset.empty()) title += "  " + offset + " " + scene.length_unit;
  const Point2 a = projection.flat(from), b = projection.flat(to);
  if (axis == 0)
    drawing.texts.push_back(
        {{(a.x + b.x) / 2, a.y + 60}, title, title_size, Drawing::Anchor::middle});
  else if (offset.empty())
    drawing.texts.push_back({{b.x, b.y - 36}, title, title_size, Drawing::Anchor::middle});
  else  // too long to stand about the corner
    drawing.texts.push_back({{b.x - 90, b.y - 36}, title, title_size});
}

void add_frame(Drawing& drawing, const Scene& scene, const Projection& projection) {
  double min[2] = {INFINITY, INFINITY}, max[2] = {-INFINITY, -INFINITY};
  for (const Vec3d& x : scene.points)
    for (const int k : {0, 1}) {
      const double along = dot(x - scene.origin, k == 0 ? scene.view.right : scene.view.up);
      min[k] = std::min(min[k], along);
      max[k] = std::max(max[k], along);
    }
  const auto corner = [&](double right, double up) {
    const double height = dot(scene.points.front() - scene.origin, scene.view.toward);
    return scene.origin + right * scene.view.right + up * scene.view.up +
           height * scene.view.toward;
  };
  const Vec3d corners[] = {corner(min[0], min[1]), corner(max[0], min[1]), corner(max[0], max[1]),
                           corner(min[0], max[1])};
  Drawing::Path frame{{}, black, 1.5};
  for (const int k : {0, 1, 2, 3, 0}) frame.points.push_back(projection.flat(corners[k]));
  drawing.paths.push_back(frame);
  add_axis(drawing, scene, projection, 0, corners[0], corners[1]);
  add_axis(drawing, scene, projection, 1, corners[0], corners[3]);
}

void add_directions(Drawing& drawing, const Scene& scene) {
  constexpr double length = 46;
  constexpr Point2 middle{70, 830};
  constexpr const char* names[] = {"x", "y", "z"};
  for (int axis = 0; axis < 3; ++axis) {
    const double right = scene.view.right[axis], up = scene.view.up[axis];
    const auto at = [&](double r) {
      return Point2{middle.x + r * length * right, middle.y - r * length * up};
    };
    drawing.paths.push_back({{middle, at(1)}, dark_grey, 2});
    if (std::hypot(right, up) > 0.2)
      drawing.texts.push_back({at(1.35), names[axis], 20, Drawing::Anchor::middle, dark_grey});
  }
}

/// The quantity, its unit and what its numbers count from, above the bar.
void add_title(Drawing& drawing, const Scene& scene) {
  const std::string& title = scene.title;
  const std::size_t open = title.find(" [");
  const bool has_unit = open != std::string::npos;
  std::vector<std::string> lines = fitted_lines(title.substr(0, open), title_width, 2);
  if (has_unit) lines.push_back(title.substr(open + 1));
  const std::string offset = ticks_offset(scene.scale, scene.prefix.factor);
  if (!offset.empty())
    lines.push_back(has_unit ? offset + " " + title.substr(open + 2, title.size() - open - 3)
                             : offset);
  double y = bar_top - 58 - title_line * double(std::max<std::size_t>(lines.size(), 2) - 1);
  for (const std::string& line : lines) {
    drawing.texts.push_back({{bar_left, y}, line, title_size});
    y += title_line;
  }
}

/// What a picture is of, below the bar. Lines that would leave the picture end at its margin.
void add_caption(Drawing& drawing, const Scene& scene, double y) {
  if (scene.subtitle.empty()) return;
  const std::vector<std::string> lines = caption_lines(scene.subtitle, caption_width, 3);
  const bool fit = std::all_of(lines.begin(), lines.end(), [](const std::string& line) {
    return characters(line) <= width_right_of_bar;
  });
  for (const std::string& line : lines) {
    drawing.texts.push_back({{fit ? bar_left : picture_width - 8.0, y},
                             line,
                             number_size,
                             fit ? Drawing::Anchor::start : Drawing::Anchor::end,
                             dark_grey});
    y += 30;
  }
}

}  // namespace

void add_legend(Drawing& drawing, const Scene& scene) {
  const std::array<Colour, n_colours> colours = colour_table(scene);
  constexpr double step = bar_height / n_colours;
  for (int i = 0; i < n_colours; ++i)
    drawing.areas.push_back(
        {Rectangle{bar_left, bar_top + (n_colours - 1 - i) * step, bar_width, step}.corners(),
         colours[std::size_t(i)]});
  constexpr double right = bar_left + bar_width, bottom = bar_top + bar_height;
  constexpr double tip = bar_left + bar_width / 2;
  Drawing::Path outline{{{bar_left, bottom}, {bar_left, bar_top}}, black, 1.5};
  const auto add_end = [&](bool has_values_beyond, Point2 top, Point2 end, const Colour& colour) {
    if (has_values_beyond) {
      outline.points.push_back(top);
      drawing.areas.push_back({{{bar_left, end.y}, top, {right, end.y}}, colour});
    }
    outline.points.push_back(end);
  };
  add_end(scene.scale.beyond_max, {tip, bar_top - bar_width}, {right, bar_top}, colours.back());
  outline.points.push_back({right, bottom});
  add_end(scene.scale.beyond_min, {tip, bottom + bar_width}, {bar_left, bottom}, colours.front());
  drawing.paths.push_back(std::move(outline));
  for (const Tick& tick : ticks(scene.scale, scene.prefix.factor)) {
    const double y = bottom - bar_height * scene.scale.fraction(tick.value);
    add_line(drawing, {right, y}, {right + 7, y});
    drawing.texts.push_back({{right + 14, y}, tick.text, number_size});
  }
  add_title(drawing, scene);
  add_caption(drawing, scene, bottom + 60);
  if (!scene.notice.empty()) {
    drawing.areas.push_back(
        {Rectangle{bar_left, no_value_top, bar_width, bar_width}.corners(), no_value_colour});
    drawing.texts.push_back({{right + 14, no_value_top + bar_width / 2}, "no value", number_size});
  }
}

void add_axes(Drawing& drawing, const Scene& scene, const Projection& projection) {
  if (scene.flat)
    add_frame(drawing, scene, projection);
  else
    add_directions(drawing, scene);
}

void add_lines(Drawing& drawing, const Scene& scene, const Projection& projection) {
  for (const LineSet& set : scene.lines)
    for (const std::vector<Vec3d>& path : set.paths) {
      Drawing::Path flat{{}, set.colour, set.width, set.opacity};
      for (const Vec3d& x : path) flat.points.push_back(projection.flat(x));
      drawing.paths.push_back(std::move(flat));
    }
}

}  // namespace fmbem
