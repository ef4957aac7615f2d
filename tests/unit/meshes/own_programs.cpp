#include <filesystem>
#include <vector>

#include <unistd.h>

#include "fmbem/meshes/child_process.hpp"
#include "tests/unit/catch.hpp"

namespace fmbem::test::own_programs_tests {

TEST_CASE("what runs outside of the build folder takes programs that are installed first") {
  using Folders = std::vector<std::filesystem::path>;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const Folders built = folders_of_own_programs(here),
                installed = folders_of_own_programs("/elsewhere/bin");
  CHECK(built.front() == here);
  CHECK(installed.front() == "/elsewhere/bin");
  CHECK(access((installed.back() / "fmbem-reader").c_str(), X_OK) == 0);
  CHECK(built.end()[-2] == installed.back());
  CHECK(built.back() == installed.end()[-2]);
}

}  // namespace fmbem::test::own_programs_tests
