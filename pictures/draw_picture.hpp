#pragma once

#include <string>

#include "fmbem/meshes/memory_file.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/pictures/picture_options.hpp"

namespace fmbem {

/// Throws InputError if no picture can be written there: an ending other than .png, .svg and .html,
/// a folder that is missing or not writable, or a program that was built without VTK's rendering.
void check_picture_path(const std::string& path);

/// Starts the program fmbem-picture, with nothing to draw. Throws InputError or ResourceError where
/// that fails, so that this comes to light before a result is computed.
void check_drawing_program();

/// Draws a result that fmbem wrote (.vtu, .vtp, .vti). The program fmbem-picture does it, in a
/// process of its own: VTK and OpenGL may crash where drivers or displays are missing. The picture
/// appears whole or not at all. What the user has to be told of it, such as how many panels have no
/// value; empty for nothing. Throws InputError for a file that is no result, for what it does
/// not hold, and where check_picture_path() does; ResourceError when the disk is full.
std::string draw_picture(const std::string& file, const std::string& picture,
                         const PictureOptions& options);

/// The same of a .vtu that was written into memory and that errors call `name`; the picture's owner
/// commits it.
std::string draw_picture(const MemoryFile& result, const std::string& name, OutputFile& picture,
                         const PictureOptions& options);

}  // namespace fmbem
