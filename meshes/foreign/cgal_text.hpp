#pragma once

#include <istream>
#include <string>
#include <string_view>

namespace fmbem {

/// An .obj as CGAL reads it: lines that a \ at the end continues are joined, lines and curves (l)
/// left out, and of faces the vertices alone are there. Throws InputError for corners of faces that
/// are no integers.
std::string obj_for_cgal(const std::string& text, const std::string& file);

/// A .ply whose faces have the integers that CGAL reads: in ASCII others are as good. Throws
/// InputError for what it does not read.
std::string ply_for_cgal(std::string text, const std::string& file);

/// Throws InputError where an .off begins with its counts.
void check_off_begins(std::string_view text, const std::string& file);

/// Throws InputError where an .off in ASCII goes on behind what it announces, which is what CGAL
/// has read from the stream.
void check_off_ends(const std::string& text, std::istream& in, const std::string& file);

}  // namespace fmbem
