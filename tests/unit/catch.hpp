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
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace fmbem::test
