// fmbem-reader: reads one file for load_mesh(), which starts it.
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "fmbem/meshes/reader_process.hpp"

int main() {
  if (fcntl(fmbem::reader_file, F_GETFD) < 0) {
    std::fputs("fmbem-reader: fmbem starts this program to read a file; it has no use by itself\n",
               stderr);
    return 2;
  }
  // Without destructors and atexit(): libraries that a bad file has upset could crash there.
  _exit(fmbem::answer_request());
}
