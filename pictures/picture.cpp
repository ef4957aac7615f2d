// fmbem-picture: draws one picture for draw_picture(), which starts it.
#include <cstdlib>
#include <fstream>
#include <string>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/child_request.hpp"
#include "fmbem/meshes/foreign/vtk_complaints.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/pictures/labels.hpp"
#include "fmbem/pictures/make_scene.hpp"
#include "fmbem/pictures/off_screen.hpp"
#include "fmbem/pictures/picture_request.hpp"
#include "fmbem/pictures/vector_picture.hpp"
#include "fmbem/pictures/web_page.hpp"

namespace {

using namespace fmbem;

/// The bytes of the picture. What of a plane are lines stays lines in .svg; what is coloured is an
/// embedded picture there.
std::string drawn(Scene& scene, const PictureRequest& request) {
  const std::string format = ending(request.picture);
  if (format == "html") return web_page(scene, request.name);
  const Projection projection(scene);
  const VtkComplaints complaints;
  OffScreen screen;
  Drawing drawing;
  if (scene.flat)
    add_lines(drawing, scene, projection);
  else if (scene.has_silhouette)
    add_silhouette(scene);
  add_axes(drawing, scene, projection);
  add_legend(drawing, scene);
  if (!scene.flat) add_labels(drawing, scene, screen.groups_seen(scene, projection));
  const bool is_vector = format == "svg";
  std::vector<Rgb> colours{byte_colour(white), byte_colour(black), byte_colour(no_value_colour)};
  for (const Colour& colour : colour_table(scene)) colours.push_back(byte_colour(colour));
  const std::string picture =
      png(screen.picture(scene, projection, is_vector ? Drawing{} : drawing), colours);
  if (!complaints.first().empty())
    throw Error(ExitCode::internal_error, "VTK could not draw: " + complaints.first());
  return is_vector ? svg(drawing, picture) : picture;
}

/// What the user has to be told of it.
std::string draw(const PictureRequest& request) {
  if (request.is_empty()) return "";
  const Result result = read_result(request.result, request.name);
  Scene scene = make_scene(result, request.options, request.name);
  const std::string bytes = drawn(scene, request);
  std::ofstream out(request.partial, std::ios::binary);
  out << bytes;
  out.close();
  if (!out) throw ResourceError("cannot write " + request.picture + ": is the disk full?");
  return scene.notice;
}

}  // namespace

int main() {
  return answer_as_child("fmbem-picture", "draw", [](ParcelReader& parcel, std::string& what) {
    const auto request = parcel.got<PictureRequest>();
    what = "draw " + request.name;
    return [request](ParcelWriter& answer) {
      // Software draws the same picture on every machine, and needs no device.
      setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
      answer.put(draw(request));
    };
  });
}
