#include <malloc.h>

#ifdef FMBEM_CATCH2_3
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int argc, char** argv) {
  // What a test frees serves the next one: memory that goes back to the system is cleared by it
  // anew, which took a tenth of the time.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_ARENA_MAX, 1);
  return Catch::Session().run(argc, argv);
}
