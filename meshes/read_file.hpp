#pragma once

#include <new>
#include <stdexcept>
#include <string>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

/// The whole file. Throws InputError naming the file if it does not exist, is no regular file, is
/// empty or cannot be read.
std::string read_file(const std::string& file);

/// The same checks without reading it.
void check_readable(const std::string& file);

/// What read() returns. Throws InputError naming the file where it announces more than there is
/// memory for, which other libraries take at its word.
template <class Read>
auto read_what_is_there(const std::string& file, Read&& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw InputError(file + " is damaged, or too large: it announces more than there is memory for");
}

}  // namespace fmbem
