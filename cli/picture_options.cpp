#include "cli/picture_options.hpp"

#include "cli/common_options.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/view_script.hpp"
#include "fmbem/pictures/draw_picture.hpp"

namespace fmbem::cli {
namespace {

void write_to(const MemoryFile& result, const std::string& picture,
              const std::function<bool(const std::string& path)>& write) {
  if (!write("/proc/self/fd/" + std::to_string(result.number())))
    throw ResourceError("not enough memory to draw " + picture);
}

}  // namespace

void add_picture_option(CLI::App& app, std::optional<std::string>& picture) {
  app.add_option("--picture", picture,
                 "a picture of the result (.png, .svg), or a page to turn it in a browser (.html); "
                 "fmbem plot has more choices")
      ->type_name("FILE")
      ->group(output_group);
}

CLI::Option* add_range_option(CLI::App& app, std::optional<double>& range,
                              const std::string& drawn) {
  return app
      .add_option("--range", range,
                  drawn +
                      ": potentials from -KT to KT, in kT/e, go from red over white to blue "
                      "(default: " +
                      decimal(drawn_potential) + ")")
      ->type_name("KT");
}

void check_range(const std::optional<double>& range) {
  FMBEM_REQUIRE(!range || (*range >= 1e-6 && *range <= 1e6),
                "--range must be between 1e-6 and 1e6 kT/e, not " << *range);
}

void check_picture(const std::optional<std::string>& picture) {
  if (!picture) return;
  check_picture_path(*picture);
  check_drawing_program();
}

std::string draw_result(const std::string& name, OutputFile& picture, const PictureOptions& how,
                        const std::function<bool(const std::string& path)>& write) {
  const MemoryFile result;
  write_to(result, picture.path(), write);
  return draw_picture(result, name, picture, how);
}

ResultToDraw::ResultToDraw(std::string picture,
                           const std::function<bool(const std::string& path)>& write)
    : picture_(std::move(picture)) {
  write_to(result_, picture_, write);
}

void ResultToDraw::draw(Console& console, const PictureOptions& how) const {
  OutputFile file(picture_);
  const std::string sentence = draw_picture(result_, "the result", file, how);
  file.commit();
  console.print_wrote(picture_);
  if (!sentence.empty()) console.notice(sentence);
}

void draw_result(Console& console, const std::optional<std::string>& picture,
                 const std::function<bool(const std::string& path)>& write,
                 const PictureOptions& how) {
  if (picture) ResultToDraw(*picture, write).draw(console, how);
}

}  // namespace fmbem::cli
