#pragma once

/// Marks arithmetic that the CPU and the CUDA backend share.
#ifdef __CUDACC__
#define FMBEM_HD __host__ __device__
#else
#define FMBEM_HD
#endif

/// For functions that are called in files compiled once for each instruction set. If such a
/// function were not inlined, the linker would keep one copy of it for all files, for whichever
/// instruction set it met first.
#define FMBEM_INLINE inline __attribute__((always_inline))
