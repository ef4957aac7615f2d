// fmbem-picture: draws one picture for draw_picture(), which starts it.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"
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
  else
    add_silhouette(scene);
  add_axes(drawing, scene, projection);
  add_legend(drawing, scene);
  if (!scene.flat) add_labels(drawing, scene, screen.groups_seen(scene, projection));
  const bool is_vector = format == "svg";
  std::vector<Rgb> colours{byte_colour(white), byte_colour(black)};
  for (const Colour& colour : colour_table(scene)) colours.push_back(byte_colour(colour));
  const std::string picture =
      png(screen.picture(scene, projection, is_vector ? Drawing{} : drawing), colours);
  if (!complaints.first().empty())
    throw Error(ExitCode::internal_error, "VTK could not draw: " + complaints.first());
  return is_vector ? svg(drawing, picture) : picture;
}

void draw(const PictureRequest& request) {
  const Result result = read_result(request.result, request.name);
  Scene scene = make_scene(result, request.options, request.name);
  const std::string bytes = drawn(scene, request);
  std::ofstream out(request.partial, std::ios::binary);
  out << bytes;
  out.close();
  if (!out) throw ResourceError("cannot write " + request.picture + ": is the disk full?");
}

ParcelWriter answer_to(const PictureRequest& request) {
  const auto answer = [](ExitCode code, const std::string& sentence) {
    ParcelWriter parcel;
    parcel.put(true);
    parcel.put(code);
    parcel.put(sentence);
    return parcel;
  };
  try {
    draw(request);
    return answer(ExitCode::solved, "");
  } catch (const Error& e) {
    return answer(e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return answer(ExitCode::out_of_resource, "not enough memory to draw " + request.name);
  } catch (const std::exception& e) {
    return answer(ExitCode::internal_error,
                  "internal error while drawing " + request.name + ": " + e.what());
  }
}

void answer_request() {
  MemoryFile memory(request_file);
  ParcelReader parcel(memory.read());
  parcel.got<bool>();  // that it is no answer
  const auto parent = parcel.got<pid_t>();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return;
  const auto request = parcel.got<PictureRequest>();
  // Software draws the same picture on every machine, and needs no device.
  setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
  memory.write(answer_to(request).bytes());
}

}  // namespace

int main() {
  if (fcntl(request_file, F_GETFD) < 0) {
    std::fputs("fmbem-picture: fmbem starts this program to draw; it has no use by itself\n",
               stderr);
    return 2;
  }
  const rlimit no_core{};  // a driver that crashes is no news here
  setrlimit(RLIMIT_CORE, &no_core);
  answer_request();
  _exit(0);  // no destructors of drivers, which could crash
}
