#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>

#include "cli/report.hpp"
#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem::cli {

/// Reads a JSON file; throws InputError for what is none, and for keys that are there twice.
Json read_json(const std::string& file);

/// An object of a file, with sentences for what is wrong in it.
class JsonObject {
 public:
  /// `where` is the file and the way to the object. Throws InputError if it is none.
  JsonObject(const Json& json, std::string where);
  /// Throws InputError for any other key.
  JsonObject(const Json& json, std::string where, std::initializer_list<const char*> keys);

  bool has(const char* key) const { return json_.contains(key); }
  /// Throws InputError if it is missing.
  const Json& at(const char* key) const;
  std::string where(const std::string& key) const { return where_ + ", \"" + key + "\""; }
  const std::string& where() const { return where_; }
  const Json& json() const { return json_; }

  /// These throw InputError for values of another kind; numbers are finite.
  double number(const char* key) const;
  std::string text(const char* key) const;
  Vec3d vector(const char* key) const;
  std::pair<double, double> pair(const char* key) const;
  void require_true(const char* key) const;

  [[noreturn]] void refuse(const std::string& key, const std::string& must) const;

 private:
  bool has_numbers(const char* key, std::size_t count) const;

  const Json& json_;
  std::string where_;
};

}  // namespace fmbem::cli
