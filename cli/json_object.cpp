#include "cli/json_object.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/read_file.hpp"

namespace fmbem::cli {
namespace {

/// nlohmann's own, from "line" or from behind its number.
std::string words_of(const std::string& what) {
  if (const std::size_t at = what.find("line "); at != what.npos) return what.substr(at);
  const std::size_t end = what.find("] ");
  return end == what.npos ? what : what.substr(end + 2);
}

std::string list_of(std::initializer_list<const char*> keys) {
  std::string list;
  for (const char* key : keys) list += (list.empty() ? "" : ", ") + std::string(key);
  return list;
}

}  // namespace

Json read_json(const std::string& file) {
  const std::string text = read_file(file);
  std::vector<std::set<std::string>> keys;
  std::string twice;
  const auto look = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && twice.empty() &&
        !keys.back().insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    return true;
  };
  Json json;
  try {
    json = Json::parse(text, look);
  } catch (const Json::exception& e) {
    throw InputError(file + " is no valid JSON: " + words_of(e.what()));
  }
  FMBEM_REQUIRE(twice.empty(), file << " has the key \"" << twice << "\" twice in one object");
  return json;
}

JsonObject::JsonObject(const Json& json, std::string where)
    : json_(json), where_(std::move(where)) {
  FMBEM_REQUIRE(json.is_object(), where_ << " must be an object, { … }");
}

JsonObject::JsonObject(const Json& json, std::string where, std::initializer_list<const char*> keys)
    : JsonObject(json, std::move(where)) {
  for (const auto& [key, value] : json.items())
    FMBEM_REQUIRE(
        std::find(keys.begin(), keys.end(), key) != keys.end(),
        where_ << " has the unknown key \"" << key << "\": there may be " << list_of(keys));
}

const Json& JsonObject::at(const char* key) const {
  FMBEM_REQUIRE(has(key), where_ << " has no \"" << key << '"');
  return json_.at(key);
}

void JsonObject::refuse(const std::string& key, const std::string& must) const {
  throw InputError(where(key) + " must be " + must);
}

double JsonObject::number(const char* key) const {
  const Json& value = at(key);
  if (!value.is_number() || !std::isfinite(value.get<double>())) refuse(key, "a finite number");
  return value.get<double>();
}

std::string JsonObject::text(const char* key) const {
  const Json& value = at(key);
  if (!value.is_string()) refuse(key, "a text");
  return value.get<std::string>();
}

bool JsonObject::has_numbers(const char* key, std::size_t count) const {
  const Json& value = at(key);
  const auto is_number = [](const Json& x) {
    return x.is_number() && std::isfinite(x.get<double>());
  };
  return value.is_array() && value.size() == count &&
         std::all_of(value.begin(), value.end(), is_number);
}

Vec3d JsonObject::vector(const char* key) const {
  if (!has_numbers(key, 3)) refuse(key, "three finite numbers");
  const Json& value = at(key);
  return {value[0].get<double>(), value[1].get<double>(), value[2].get<double>()};
}

std::pair<double, double> JsonObject::pair(const char* key) const {
  if (!has_numbers(key, 2)) refuse(key, "two finite numbers");
  const Json& value = at(key);
  return {value[0].get<double>(), value[1].get<double>()};
}

void JsonObject::require_true(const char* key) const {
  const Json& value = at(key);
  if (!value.is_boolean() || !value.get<bool>()) refuse(key, "true, or left out");
}

}  // namespace fmbem::cli
