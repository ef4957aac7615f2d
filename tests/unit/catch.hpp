#pragma once

// What differs between Catch2 2.13 (Debian 12) and 3 (Ubuntu 24.04 and later).
#include <string>

#ifdef FMBEM_CATCH2_3
#include <catch2/catch_all.hpp>
using Catch::Approx;
inline auto contains(const std::string& text) { return Catch::Matchers::ContainsSubstring(text); }
#else
#include <catch2/catch.hpp>
inline auto contains(const std::string& text) { return Catch::Matchers::Contains(text); }
#endif

namespace fmbem::test {

/// Under the address sanitizer everything takes several times as long, so some tests do less. GCC
/// has a macro that tells of it, clang a feature.
#ifdef __SANITIZE_ADDRESS__
#define FMBEM_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FMBEM_SANITIZED
#endif
#endif
#ifdef FMBEM_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace fmbem::test
