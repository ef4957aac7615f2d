#include "cli/sudden_ends.hpp"

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "tests/unit/catch.hpp"

namespace fmbem::test::sudden_ends_tests {
namespace {

using fmbem::cli::Ending;
using fmbem::cli::ending_of_exception;

template <class Thrown>
void check(const Thrown& thrown, ExitCode code, const std::string& sentence) {
  try {
    throw thrown;
  } catch (const std::exception&) {
    const Ending ending = ending_of_exception();
    CHECK(ending.code == code);
    CHECK(std::string(ending.before) + ending.what == sentence);
  }
}

TEST_CASE("exceptions end a run with their exit code and a sentence") {
  check(InputError("the mesh is empty"), ExitCode::bad_input, "the mesh is empty");
  check(ResourceError("the disk is full"), ExitCode::out_of_resource, "the disk is full");
  check(std::bad_alloc(), ExitCode::out_of_resource,
        "out of memory: use a coarser mesh or a looser tolerance, or close other programs");
  check(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again)),
        ExitCode::out_of_resource,
        "no room for another thread: raise the limits, ulimit -u and -v, or use fewer --threads");
  const std::system_error other(std::make_error_code(std::errc::io_error));
  check(other, ExitCode::internal_error, std::string("internal error: ") + other.what());
  check(std::runtime_error("odd"), ExitCode::internal_error, "internal error: odd");
}

}  // namespace
}  // namespace fmbem::test::sudden_ends_tests
