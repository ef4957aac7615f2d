#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/foreign/cgal_text.hpp"
#include "fmbem/meshes/foreign/polygons.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/text.hpp"

#ifdef FMBEM_WITH_CGAL
#include <iostream>
#include <sstream>
#include <utility>

#include <CGAL/IO/OBJ.h>
#include <CGAL/IO/OFF.h>
#include <CGAL/IO/PLY.h>
#include <CGAL/Simple_cartesian.h>

namespace fmbem {

Polygons read_with_cgal(const std::string& file) {
  std::vector<CGAL::Simple_cartesian<double>::Point_3> points;
  Polygons polygons;
  const std::string format = ending(file);
  std::string text = read_file(file);
  if (format == "obj") text = obj_for_cgal(text, file);
  if (format == "ply") text = ply_for_cgal(std::move(text), file);
  if (format == "off") check_off_begins(text, file);
  std::istringstream in(text);
  const bool is_read = format == "obj"   ? CGAL::IO::read_OBJ(in, points, polygons.corners)
                       : format == "off" ? CGAL::IO::read_OFF(in, points, polygons.corners)
                                         : CGAL::IO::read_PLY(in, points, polygons.corners);
  FMBEM_REQUIRE(is_read, file << " is damaged, truncated or no ." << format
                              << " file: CGAL could not read it");
  if (format == "off") check_off_ends(text, in, file);
  for (const auto& p : points) polygons.points.push_back({p.x(), p.y(), p.z()});
  return polygons;
}

}  // namespace fmbem

#else

namespace fmbem {

Polygons read_with_cgal(const std::string& file) {
  throw InputError("cannot read " + file +
                   ": this fmbem was built without CGAL, which reads .obj, .off and .ply");
}

}  // namespace fmbem
#endif
