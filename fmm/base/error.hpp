#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace fmbem {

/// Exit codes of the program; a library call throws the exception that carries the code.
enum class ExitCode {
  solved = 0,
  internal_error = 1,
  bad_input = 2,
  not_converged = 3,
  out_of_resource = 4,
  interrupted = 130,
};

/// Base of what fmbem throws: one sentence that says what, where and what to do.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// Input or usage that the caller can correct.
class InputError : public Error {
 public:
  explicit InputError(const std::string& sentence) : Error(ExitCode::bad_input, sentence) {}
};

/// Host memory, device memory or disk does not suffice.
class ResourceError : public Error {
 public:
  explicit ResourceError(const std::string& sentence)
      : Error(ExitCode::out_of_resource, sentence) {}
};

}  // namespace fmbem

/// Checks a caller's input at an API edge: FMBEM_REQUIRE(n == m, "x has " << n << ", need " << m).
#define FMBEM_REQUIRE(condition, message)              \
  do {                                                 \
    if (!(condition)) {                                \
      std::ostringstream fmbem_sentence;               \
      fmbem_sentence << message;                       \
      throw ::fmbem::InputError(fmbem_sentence.str()); \
    }                                                  \
  } while (false)
