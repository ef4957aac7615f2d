#include "fmbem/meshes/gmsh/gmsh_session.hpp"

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <set>

#include <gmsh.h>
#include <omp.h>
#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/load_here.hpp"

namespace fmbem {
namespace {

std::mutex one_session;

#define FMBEM_GMSH_AT_LEAST(major, minor) \
  (GMSH_API_VERSION_MAJOR * 100 + GMSH_API_VERSION_MINOR >= (major)*100 + (minor))

bool gmsh_is_running() {
#if FMBEM_GMSH_AT_LEAST(4, 9)
  return gmsh::isInitialized() != 0;
#else
  // Asked before its start, Gmsh 4.8 returns without an answer; after its end it throws.
  double terminal = -1;
  try {
    gmsh::option::getNumber("General.Terminal", terminal);
  } catch (...) {
    return false;
  }
  return terminal >= 0;
#endif
}

/// While this lives, Gmsh works with one OpenMP thread, so that its meshes do not depend on their
/// number. At its end it restores what Gmsh changes in the process: every version sets the numeric
/// locale, and 4.8 sets the number of threads for good.
class GmshAtWork {
 public:
  GmshAtWork() : threads_(omp_get_max_threads()), locale_(std::setlocale(LC_NUMERIC, nullptr)) {
    omp_set_num_threads(1);
  }
  ~GmshAtWork() {
    omp_set_num_threads(threads_);
    std::setlocale(LC_NUMERIC, locale_.c_str());
  }

 private:
  int threads_;
  std::string locale_;
};

std::vector<std::string> log_since(std::size_t begin) {
  std::vector<std::string> log;
  gmsh::logger::get(log);
  log.erase(log.begin(), log.begin() + static_cast<std::ptrdiff_t>(std::min(begin, log.size())));
  return log;
}

/// A temporary file for Gmsh, which lives as long as this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& ending) {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder ? folder : "/tmp") + "/fmbem-XXXXXX" + ending;
    const int file = mkstemps(path_.data(), static_cast<int>(ending.size()));
    if (file < 0) throw ResourceError("cannot create the temporary file " + path_);
    close(file);
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// All options that are not Gmsh's defaults, in Gmsh's own words.
std::string current_options() {
  const TemporaryFile file(".opt");
  gmsh::write(file.path());
  std::ifstream in(file.path());
  return {std::istreambuf_iterator<char>(in), {}};
}

void set_options(const std::string& options) {
  const TemporaryFile script(".geo"), file(".opt");
  // A function that restores the defaults is in the API only since 4.11; the language always had
  // one.
  std::ofstream(script.path()) << "Delete Options;\n";
  std::ofstream(file.path()) << options;
  gmsh::merge(script.path());
  gmsh::merge(file.path());
}

}  // namespace

GmshSession::GmshSession() : turn_(one_session), started_gmsh_(!gmsh_is_running()) {
  const GmshAtWork at_work;
  try {
    if (started_gmsh_) {
      gmsh::initialize(0, nullptr, false);
    } else {
      gmsh::model::getCurrent(callers_model_);
      gmsh::model::list(callers_models_);
      gmsh::view::getTags(callers_views_);
      callers_options_ = current_options();
    }
    gmsh::option::setNumber("General.Terminal", 0);
    // Errors are read from the log: an exception thrown through Gmsh's parsers would leave them
    // locked.
    gmsh::option::setNumber("General.AbortOnError", 0);
    gmsh::logger::start();
    // If a logger runs already its log is not empty; a fresh one's is.
    log_begin_ = log_since(0).size();
    started_logger_ = log_begin_ == 0;
    gmsh::model::add("fmbem");
  } catch (const Error&) {
    throw;
  } catch (...) {
    throw Error(ExitCode::internal_error, "Gmsh could not be started");
  }
}

GmshSession::~GmshSession() {
  const GmshAtWork at_work;
  try {
    if (started_logger_) gmsh::logger::stop();
    if (started_gmsh_) {
      gmsh::finalize();
      return;
    }
    set_options(callers_options_);
    std::vector<int> views;
    gmsh::view::getTags(views);
    for (int view : views)
      if (std::count(callers_views_.begin(), callers_views_.end(), view) == 0)
        gmsh::view::remove(view);
    std::vector<std::string> models;
    gmsh::model::list(models);
    for (const std::string& model : models) {
      if (std::count(callers_models_.begin(), callers_models_.end(), model) > 0) continue;
      gmsh::model::setCurrent(model);
      gmsh::model::remove();
    }
    gmsh::model::setCurrent(callers_model_);
  } catch (...) {
    // An error here is ignored: the mesh has been read, and Gmsh belongs to the caller.
  }
}

void GmshSession::run(const std::string& what, const std::function<void()>& call) {
  const GmshAtWork at_work;
  const std::size_t begin = log_since(0).size();
  std::string trouble;
  try {
    call();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw ResourceError(what + ": not enough memory");
  } catch (const std::exception& e) {
    trouble = e.what();
  } catch (...) {  // Gmsh 4.8 throws integers
    trouble = "unknown error";
  }
  const std::string mark = "Error: ";
  for (const std::string& line : log_since(begin))
    if (line.starts_with(mark)) {
      trouble = line.substr(mark.size());
      break;
    }
  if (!trouble.empty()) throw InputError(what + ": Gmsh reports: " + trouble);
}

void GmshSession::interpret(const std::string& what, const std::string& script) {
  const TemporaryFile file(".geo");
  std::ofstream(file.path()) << script << '\n';
  run(what, [&] { gmsh::merge(file.path()); });
}

void GmshSession::mesh_surfaces(const std::string& what, const Size& size) {
  run(what, [&] {
    if (!size) return gmsh::model::mesh::generate(2);
#if FMBEM_GMSH_AT_LEAST(4, 9)
    gmsh::model::mesh::setSizeCallback(
        [&](int dim, int tag, double x, double y, double z, double other) {
          return std::min(other, size(dim, tag, {x, y, z}));
        });
#else
    gmsh::model::mesh::setSizeCallback([&](int dim, int tag, double x, double y, double z) {
      return size(dim, tag, {x, y, z});
    });
#endif
    try {
      gmsh::model::mesh::generate(2);
    } catch (...) {
      gmsh::model::mesh::removeSizeCallback();
      throw;
    }
    gmsh::model::mesh::removeSizeCallback();
  });
}

std::vector<std::string> GmshSession::warnings() const {
  const std::string mark = "Warning: ";
  std::vector<std::string> found;
  std::set<std::string> seen;
  for (const std::string& line : log_since(log_begin_))
    if (line.starts_with(mark) && seen.insert(line).second)
      found.push_back(line.substr(mark.size()));
  return found;
}

void GmshSession::forget_warnings() { log_begin_ = log_since(0).size(); }

ElementType element_type(int type) {
  ElementType e;
  std::vector<double> local;
  try {
    gmsh::model::mesh::getElementProperties(type, e.name, e.dim, e.order, e.nodes, local,
                                            e.corners);
  } catch (...) {
    return {};
  }
  if (e.nodes <= 0) return {};
  return e;
}

std::string gmsh_version_here() {
  GmshSession session;
  std::string version;
  session.run("version of Gmsh", [&] { gmsh::option::getString("General.Version", version); });
  return version;
}

}  // namespace fmbem
