#pragma once

#include <cmath>

/// Declares that the C library has a logarithm of whole vector registers (libmvec, accurate to 4
/// units in the last place), for loops that are vectorised. Include it before the code that calls
/// the logarithm.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__)
extern "C" {
__attribute__((simd("notinbranch"))) double log(double) noexcept;
__attribute__((simd("notinbranch"))) float logf(float) noexcept;
}
#endif
