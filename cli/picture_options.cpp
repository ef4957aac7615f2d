#include "cli/picture_options.hpp"

#include "cli/common_options.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/pictures/draw_picture.hpp"

namespace fmbem::cli {

void add_picture_option(CLI::App& app, std::optional<std::string>& picture) {
  app.add_option("--picture", picture,
                 "a picture of the result (.png, .svg), or a page to turn it in a browser (.html); "
                 "fmbem plot has more choices")
      ->type_name("FILE")
      ->group(output_group);
}

void check_picture(const std::optional<std::string>& picture) {
  if (picture) check_picture_path(*picture);
}

std::string draw_result(const std::string& name, OutputFile& picture, const PictureOptions& how,
                        const std::function<bool(const std::string& path)>& write) {
  const MemoryFile result;
  if (!write("/proc/self/fd/" + std::to_string(result.number())))
    throw ResourceError("not enough memory to draw " + picture.path());
  return draw_picture(result, name, picture, how);
}

void draw_result(Console& console, const std::optional<std::string>& picture,
                 const std::function<bool(const std::string& path)>& write) {
  if (!picture) return;
  OutputFile file(*picture);
  const std::string sentence = draw_result("the result", file, {}, write);
  file.commit();
  console.print_wrote(*picture);
  if (!sentence.empty()) console.notice(sentence);
}

}  // namespace fmbem::cli
