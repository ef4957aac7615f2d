#pragma once

#include <cmath>

/// Declares that the C library has an exponential of whole vector registers (libmvec, accurate to 4
/// units in the last place), for loops that are vectorised, as vector_log.hpp has a logarithm.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__)
extern "C" {
__attribute__((simd("notinbranch"))) float expf(float) noexcept;
}
#endif
