#include "fmbem/pictures/draw_picture.hpp"

#include <cstring>
#include <string>

#include <sys/resource.h>
#include <sys/wait.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/child_request.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/pictures/picture_request.hpp"

namespace fmbem {
namespace {

void check_picture_format(const std::string& path) {
  const std::string format = ending(path);
  FMBEM_REQUIRE(format == "png" || format == "svg" || format == "html",
                "cannot write " << path << ": a picture is written as .png, .svg or .html");
#ifndef FMBEM_WITH_PICTURES
  throw InputError("cannot draw " + path +
                   ": this fmbem was built without VTK's rendering (Debian: libvtk9-dev) or EGL "
                   "(libegl-dev)");
#endif
}

[[noreturn]] void explain_start(int status) {
  require_not_ended(status, "would draw");
  throw ResourceError("fmbem-picture, which draws, could not start; run it to see why");
}

[[noreturn]] void explain(int status, const std::string& name) {
  require_not_ended(status, "drew " + name);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) explain_start(status);
  const std::string how =
      WIFSIGNALED(status) ? std::string(" (") + strsignal(WTERMSIG(status)) + ")" : "";
  // Mesa does not say when it finds no memory.
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY)
    throw ResourceError("VTK or OpenGL crashed" + how + " while drawing " + name + " in " +
                        std::to_string(addresses.rlim_cur >> 20) +
                        " MiB of addresses: raise that limit, ulimit -v");
  throw InputError("VTK or OpenGL crashed" + how + " while drawing " + name +
                   ": the file is damaged, or Mesa's libegl1 and libgl1-mesa-dri are broken");
}

std::string draw(const PictureRequest& request, const std::vector<HandedFile>& result) {
  std::string notice;
  ParcelWriter parcel;
  parcel.put(request);
  ask_child(
      {"fmbem-picture", "FMBEM_PICTURE", "the program that draws pictures", "to draw"}, parcel,
      result,
      [&](int status) {
        request.is_empty() ? explain_start(status) : explain(status, request.name);
      },
      [&](ParcelReader& answer) { answer.get(notice); });
  return notice;
}

}  // namespace

void check_picture_path(const std::string& path) {
  check_picture_format(path);
  OutputFile probe(path);
}

void check_drawing_program() { draw({}, {}); }

std::string draw_picture(const std::string& file, const std::string& picture,
                         const PictureOptions& options) {
  check_picture_format(picture);
  check_readable(file);
  const std::string format = ending(file);
  FMBEM_REQUIRE(
      format == "vtu" || format == "vtp" || format == "vti",
      "cannot draw " << file
                     << ": results are drawn from the .vtu, .vtp, .vti and .msh that fmbem "
                        "has written, and from solutions that --save has kept");
  OutputFile output(picture);
  std::string notice = draw({file, file, picture, output.partial_path(), options}, {});
  output.commit();
  return notice;
}

std::string draw_picture(const MemoryFile& result, const std::string& name, OutputFile& picture,
                         const PictureOptions& options) {
  check_picture_format(picture.path());
  return draw({"/proc/self/fd/" + std::to_string(result_file), name, picture.path(),
               picture.partial_path(), options},
              {{result.number(), result_file}});
}

}  // namespace fmbem
