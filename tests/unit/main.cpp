// Catch2 2.13 makes main() from its header, 3 brings one along.
#ifndef FMBEM_CATCH2_3
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
