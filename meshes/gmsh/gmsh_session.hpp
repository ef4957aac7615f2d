#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// A silent Gmsh with an empty model of its own. Starts Gmsh unless it is running, and ends what it
/// started. In a Gmsh that the caller runs, it leaves models, views, options and log as they were.
/// Differences between Gmsh's versions are dealt with here. One session at a time: others wait.
class GmshSession {
 public:
  GmshSession();
  ~GmshSession();
  GmshSession(const GmshSession&) = delete;
  GmshSession& operator=(const GmshSession&) = delete;

  /// Runs a call of Gmsh. Throws InputError "`what`: …" with Gmsh's words if it reports an error,
  /// ResourceError if memory runs out.
  void run(const std::string& what, const std::function<void()>& call);

  /// Runs a script in Gmsh's language. Errors as those of run().
  void interpret(const std::string& what, const std::string& script);

  /// Meshes the curves and surfaces of the current model, nowhere coarser than size(dim, tag, x)
  /// where there is a size. Errors as those of run().
  using Size = std::function<double(int dim, int tag, Vec3d x)>;
  void mesh_surfaces(const std::string& what, const Size& size = {});

  /// Gmsh's warnings until now, each sentence once, without those that were to be forgotten.
  std::vector<std::string> warnings() const;
  void forget_warnings();

 private:
  std::unique_lock<std::mutex> turn_;
  bool started_gmsh_, started_logger_ = false;
  std::string callers_model_, callers_options_;
  std::vector<std::string> callers_models_;
  std::vector<int> callers_views_;
  std::size_t log_begin_ = 0;
};

/// The shape of a Gmsh element type; corners = 0 for a type that Gmsh does not know.
struct ElementType {
  std::string name;
  int dim = 0, order = 0, nodes = 0, corners = 0;
};

/// Needs a session.
ElementType element_type(int type);

}  // namespace fmbem
