#pragma once

#include <cmath>

/// Says that the C library has the logarithm for whole registers, too (libmvec, to 4 units in the
/// last place), for loops that ask for it. To be included before the code that calls it.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__)
extern "C" {
__attribute__((simd("notinbranch"))) double log(double) noexcept;
__attribute__((simd("notinbranch"))) float logf(float) noexcept;
}
#endif
