#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/console.hpp"
#include "fmbem/meshes/memory_file.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/pictures/picture_options.hpp"

namespace fmbem::cli {

/// --picture, of every command that solves.
void add_picture_option(CLI::App& app, std::optional<std::string>& picture);

/// --range, of potentials on molecules: what is `drawn`, such as "of --picture".
CLI::Option* add_range_option(CLI::App& app, std::optional<double>& range,
                              const std::string& drawn);
/// Throws InputError for a range that is no length of a colour bar.
void check_range(const std::optional<double>& range);

/// Refuses a picture that could not be written, and one where the program that draws does not
/// start.
void check_picture(const std::optional<std::string>& picture);

/// Draws the result that `write` writes as .vtu to a path, and that errors call `name`, into a
/// picture that its owner commits. What the user has to be told of it, as draw_picture() has it.
std::string draw_result(const std::string& name, OutputFile& picture, const PictureOptions& how,
                        const std::function<bool(const std::string& path)>& write);

/// A result in memory, and the picture of it that is drawn when all else is written: drawing may
/// fail, and then nothing else is lost.
class ResultToDraw {
 public:
  /// `write` writes it as .vtu to a path.
  ResultToDraw(std::string picture, const std::function<bool(const std::string& path)>& write);
  /// Draws it, and says so.
  void draw(Console& console, const PictureOptions& how = {}) const;

 private:
  std::string picture_;
  MemoryFile result_;
};

/// The same at once. Nothing without a picture.
void draw_result(Console& console, const std::optional<std::string>& picture,
                 const std::function<bool(const std::string& path)>& write,
                 const PictureOptions& how = {});

}  // namespace fmbem::cli
