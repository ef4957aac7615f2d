#pragma once

/// Compiles a hot loop for several instruction sets. The loader takes the best one that the
/// processor has, so that one portable build uses AVX-512 where there is one. Not used under the
/// sanitizers, whose code would run before the choice is made.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__CUDACC__)
#define FMBEM_SIMD_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FMBEM_SIMD_CLONES
#endif
