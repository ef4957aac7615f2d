// fmbem-reader: reads one file for load_mesh(), which starts it.
#include <csignal>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include <fcntl.h>
#include <omp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fmbem/meshes/load_here.hpp"
#include "fmbem/meshes/memory_file.hpp"
#include "fmbem/meshes/parcel.hpp"

namespace {

using namespace fmbem;

/// The meshes, or the reason why there are none.
ParcelWriter answer_to(const std::string& file, const LoadOptions& options, int coarsest) {
  ParcelWriter answer;
  const auto refuse = [&](ExitCode code, const std::string& sentence) {
    answer = {};
    answer.put(true);
    answer.put(code);
    answer.put(sentence);
  };
  try {
    const std::vector<SurfaceMesh> meshes = load_mesh_levels_here(file, options, coarsest);
    answer.put(true);
    answer.put(ExitCode::solved);
    answer.put(meshes);
  } catch (const Error& e) {
    refuse(e.code(), e.what());
  } catch (const std::bad_alloc&) {
    refuse(ExitCode::out_of_resource, "not enough memory to read " + file);
  } catch (const std::exception& e) {
    refuse(ExitCode::internal_error, "internal error while reading " + file + ": " + e.what());
  }
  return answer;
}

void answer_request() {
  MemoryFile memory(reader_file);
  ParcelReader request(memory.read());
  request.got<bool>();  // that it is no answer
  const auto parent = request.got<pid_t>();
  // An interrupt of the program ends this process too.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return;
  omp_set_num_threads(request.got<int>());
  const auto file = request.got<std::string>();
  const auto options = request.got<LoadOptions>();
  const int coarsest = request.got<int>();
  memory.write("");  // no answer yet
  memory.write(answer_to(file, options, coarsest).bytes());
}

}  // namespace

int main() {
  if (fcntl(reader_file, F_GETFD) < 0) {
    std::fputs("fmbem-reader: fmbem starts this program to read a file; it has no use by itself\n",
               stderr);
    return 2;
  }
  const rlimit no_core{};  // a library that crashes is no news here
  setrlimit(RLIMIT_CORE, &no_core);
  answer_request();
  _exit(0);  // no destructors of libraries, which could crash after a bad file
}
