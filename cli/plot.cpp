#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "fmbem/pictures/draw_picture.hpp"

namespace fmbem::cli {
namespace {

struct Options {
  std::string file;
  std::optional<std::string> picture, cut;
  PictureOptions how;
  bool quiet = false;
};

/// In the file's unit, which is known where the file is read.
Cut cut_of(const CutOption& option) {
  FMBEM_REQUIRE(!option.at.unit,
                "--cut is in the file's own unit here: leave out \"" << *option.at.unit << "\"");
  return {option.axis, option.at.value};
}

ExitCode run(Context& context, const Options& options) {
  context.console.set_quiet(options.quiet);
  PictureOptions how = options.how;
  if (options.cut) how.cut = cut_of(parse_cut(*options.cut));
  const std::string picture =
      options.picture.value_or(std::filesystem::path(options.file).replace_extension(".png"));
  refuse_overwriting({{"--output", picture}}, {{"result", options.file}});
  draw_picture(options.file, picture, how);
  context.console.print_wrote(picture);
  return ExitCode::solved;
}

}  // namespace

Command add_plot(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      program.add_subcommand("plot", "Draw a result: a picture, or a page for a browser");
  app->footer(
      "Examples:\n"
      "  fmbem plot cube.vtu -o cube.png\n"
      "  fmbem plot bus.vtu --net VDD --log -o bus.html\n"
      "  fmbem plot box.vti --cut x=0 --quantity E -o cut.svg");
  app->add_option("FILE", options->file,
                  "what fmbem capacitance or fmbem field wrote: a surface or a plane (.vtu), a "
                  "plane or a box (.vti)")
      ->required();
  app->add_option("-o,--output", options->picture,
                  "a picture (.png, .svg), or a page to turn it in a browser (.html) (default: "
                  "FILE with the ending .png)")
      ->type_name("PICTURE");
  add_choice(*app, "--quantity", options->how.quantity,
             {{"auto", std::nullopt},
              {"charge", Quantity::charge},
              {"V", Quantity::potential},
              {"E", Quantity::field}},
             "charge density, potential or the field's magnitude; auto: what the file holds first");
  app->add_option("--net", options->how.net,
                  "of a capacitance: the conductor that is at 1 V (default: the first)")
      ->type_name("NAME");
  app->add_option("--cut", options->cut, "of a box: the plane to show, in the file's unit")
      ->type_name("x=X");
  app->add_flag("--log", options->how.log,
                "logarithmic colours, over four decades at the most (default: for positive values "
                "over more than two decades)");
  app->add_flag("--quiet", options->quiet, "print errors and warnings alone");
  return {app, [options](Context& context) { return run(context, *options); }};
}

}  // namespace fmbem::cli
