#include <gmsh.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/gmsh/gmsh_session.hpp"
#include "fmbem/meshes/gmsh/precheck.hpp"
#include "fmbem/meshes/load_here.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/reading_limit.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {

std::vector<ElementData> read_element_data_here(const std::string& file) {
  check_readable(file);
  FMBEM_REQUIRE(ending(file) == "msh", "values at elements are read from .msh, not from " << file);
  std::vector<ElementData> all;
  GmshSession gmsh;
  precheck(file);
  gmsh.run("cannot read " + file, [&] {
    const ReadingLimit limit(file);
    gmsh::merge(file);
    std::vector<int> views;
    gmsh::view::getTags(views);
    for (const int view : views) {
      std::string type;
      std::vector<std::vector<double>> rows;
      double time = 0;
      int components = 0;
      ElementData data;
      gmsh::view::getModelData(view, 0, type, data.tags, rows, time, components);
      if (type != "ElementData" || components != 1) continue;
      const std::string option = "View[" + std::to_string(gmsh::view::getIndex(view)) + "].Name";
      gmsh::option::getString(option, data.name);
      for (const std::vector<double>& row : rows) data.values.push_back(row.at(0));
      all.push_back(std::move(data));
    }
  });
  return all;
}

}  // namespace fmbem
