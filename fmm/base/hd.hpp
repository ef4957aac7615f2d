#pragma once

/// Marks arithmetic that the CPU and the CUDA backend share.
#ifdef __CUDACC__
#define FMBEM_HD __host__ __device__
#else
#define FMBEM_HD
#endif
