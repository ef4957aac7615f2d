#pragma once

/// Marks arithmetic that the CPU and the CUDA backend share.
#ifdef __CUDACC__
#define FMBEM_HD __host__ __device__
#else
#define FMBEM_HD
#endif

/// For what the files compiled once for each instruction set call: a function that is not inlined
/// there would be one for all of them, of the instruction set that the linker happens to take.
#define FMBEM_INLINE inline __attribute__((always_inline))
