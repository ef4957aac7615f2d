#include "fmbem/meshes/write.hpp"

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/reader_process.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/write_vtu.hpp"

namespace fmbem {
namespace {

bool is_msh(const std::string& path) {
  const std::string format = ending(path);
  FMBEM_REQUIRE(format == "vtu" || format == "msh",
                "cannot write " << path << ": a mesh is written as .vtu or .msh");
  return format == "msh";
}

template <class Field>
void check_length(const Field& field, std::size_t n, const char* of) {
  FMBEM_REQUIRE(field.values.size() == n, "the field '" << field.name << "' has "
                                                        << field.values.size()
                                                        << " values, and the mesh " << n << of);
}

}  // namespace

void check_output_path(const std::string& path) {
  is_msh(path);
  OutputFile probe(path);
}

void write_mesh(const std::string& path, const SurfaceMesh& mesh,
                const std::vector<PanelField>& fields,
                const std::vector<VertexField>& at_vertices) {
  for (const PanelField& field : fields) check_length(field, mesh.triangles.size(), " panels");
  for (const VertexField& field : at_vertices)
    check_length(field, mesh.vertices.size(), " vertices");
  const bool msh = is_msh(path);
  OutputFile file(path);
  const bool whole = msh ? write_msh(file, mesh, fields, at_vertices)
                         : write_vtu(file.partial_path(), mesh, fields, at_vertices);
  if (!whole) throw ResourceError("cannot write " + path + ": is the disk full?");
  file.commit();
}

}  // namespace fmbem
