#include "fmbem/pictures/labels.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "fmbem/pictures/fit_text.hpp"

namespace fmbem {
namespace {

constexpr double size = 22, line_height = 1.35 * size;
constexpr std::size_t most_characters = 40;
/// A group of fewer pixels is too small to carry a name.
constexpr std::size_t least_pixels = 150;

double width_of(const std::string& text) { return size * (0.55 * double(characters(text)) + 0.5); }

struct Box {
  double left, top, right, bottom;

  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

Box box_at(Point2 middle, const std::string& text) {
  const double w = width_of(text) / 2, h = line_height / 2;
  return {middle.x - w, middle.y - h, middle.x + w, middle.y + h};
}

/// The groups that are seen, pixel by pixel.
class Seen {
 public:
  explicit Seen(const std::vector<int>& groups) : groups_(groups) {}

  /// Whether a box lies on a group, by its middle, corners and what is half way between these.
  bool is_on(const Box& box, int group) const {
    for (const double s : {0.0, 0.5, 1.0})
      for (const double t : {0.0, 0.5, 1.0})
        if (at(box.left + s * (box.right - box.left), box.top + t * (box.bottom - box.top)) !=
            group)
          return false;
    return true;
  }

 private:
  int at(double x, double y) const {
    if (x < 0 || x >= picture_width || y < 0 || y >= picture_height) return -1;
    return groups_[std::size_t(y) * picture_width + std::size_t(x)];
  }

  const std::vector<int>& groups_;
};

/// The pixel nearest to the mean of all where the label meets no other one, and if possible lies on
/// its group.
std::optional<Point2> place_for(const std::string& text, int group,
                                const std::vector<Point2>& pixels, const std::vector<Box>& taken,
                                const Seen& seen) {
  Point2 mean{0, 0};
  for (const Point2& p : pixels) {
    mean.x += p.x / double(pixels.size());
    mean.y += p.y / double(pixels.size());
  }
  for (const bool on_group : {true, false}) {
    std::optional<Point2> best;
    double nearest = INFINITY;
    for (const Point2& p : pixels) {
      const double distance = std::hypot(p.x - mean.x, p.y - mean.y);
      if (distance >= nearest) continue;
      const Box box = box_at(p, text);
      if (box.left < 0 || box.right > picture_width) continue;
      if (on_group && !seen.is_on(box, group)) continue;
      if (std::any_of(taken.begin(), taken.end(), [&](const Box& t) { return box.meets(t); }))
        continue;
      nearest = distance;
      best = p;
    }
    if (best) return best;
  }
  return {};
}

}  // namespace

void add_labels(Drawing& drawing, const Scene& scene, const std::vector<int>& seen) {
  if (scene.groups.size() < 2) return;
  std::vector<std::vector<Point2>> pixels(scene.groups.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const std::size_t row = i / picture_width;
    if (seen[i] >= 0 && std::size_t(seen[i]) < pixels.size())
      pixels[std::size_t(seen[i])].push_back({double(i % picture_width) + 0.5, double(row) + 0.5});
  }
  std::vector<std::size_t> largest_first;
  for (std::size_t g = 0; g < pixels.size(); ++g)
    if (pixels[g].size() >= least_pixels) largest_first.push_back(g);
  std::stable_sort(largest_first.begin(), largest_first.end(), [&](std::size_t a, std::size_t b) {
    return pixels[a].size() > pixels[b].size();
  });
  std::vector<Box> taken;
  for (const std::size_t g : largest_first) {
    const std::string name = shortened(scene.groups[g], most_characters);
    const std::optional<Point2> place = place_for(name, int(g), pixels[g], taken, Seen(seen));
    if (!place) continue;
    const Box box = box_at(*place, name);
    taken.push_back(box);
    const Rectangle behind{box.left, box.top, box.right - box.left, box.bottom - box.top};
    drawing.areas.push_back({behind.corners(), white, 0.75});
    drawing.texts.push_back({*place, name, size, Drawing::Anchor::middle});
  }
}

}  // namespace fmbem
