#include "fmbem/meshes/precheck.hpp"

#include "fmbem/meshes/msh_precheck.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {

void precheck(const std::string& file) {
  check_readable(file);
  const std::string format = ending(file);
  if (format == "msh") precheck_msh(file);
}

}  // namespace fmbem
