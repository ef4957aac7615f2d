#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/mesh.hpp"
#include "fmbem/meshes/write_vtu.hpp"

namespace fmbem {

// The members of what is sent between processes. A structure that gets another member does not
// compile here until the member is added.

inline auto members(Group& x) {
  auto& [name, tag, named] = x;
  return std::tie(name, tag, named);
}
inline auto members(LoadOptions& x) {
  auto& [mesh_size, refine, unit, grade, numbers, tells_crossings] = x;
  return std::tie(mesh_size, refine, unit, grade, numbers, tells_crossings);
}
inline auto members(Length& x) {
  auto& [value, unit] = x;
  return std::tie(value, unit);
}
inline auto members(ElementData& x) {
  auto& [name, tags, values] = x;
  return std::tie(name, tags, values);
}
inline auto members(PanelField& x) {
  auto& [name, values] = x;
  return std::tie(name, values);
}
inline auto members(VertexField& x) {
  auto& [name, values] = x;
  return std::tie(name, values);
}
inline auto members(GeoNumbers::value_type& x) { return std::tie(x.first, x.second); }
inline auto members(SizeLimit& x) {
  auto& [reason, size, place, group, triangles] = x;
  return std::tie(reason, size, place, group, triangles);
}
inline auto members(SurfaceMesh& x) {
  auto& [vertices, triangles, group_of, groups, vertex_tags, triangle_tags, file, unit, scale_to_m,
         closed, orientable, repairs, notices, sizes, contacts] = x;
  return std::tie(vertices, triangles, group_of, groups, vertex_tags, triangle_tags, file, unit,
                  scale_to_m, closed, orientable, repairs, notices, sizes, contacts);
}

/// Packs values one after the other as bytes, for a process of the same program on the same
/// machine.
class ParcelWriter {
 public:
  template <class T>
  void put(const T& x) {
    if constexpr (std::is_trivially_copyable_v<T>)
      bytes_.append(reinterpret_cast<const char*>(&x), sizeof x);
    else
      std::apply([this](const auto&... member) { (this->put(member), ...); },
                 members(const_cast<T&>(x)));
  }
  void put(const std::string& x) { put_list(x); }
  template <class T>
  void put(const std::optional<T>& x) {
    put(x.has_value());
    if (x) put(*x);
  }
  template <class T>
  void put(const std::vector<T>& x) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      put_list(x);
    } else {
      put(x.size());
      for (const T& one : x) put(one);
    }
  }

  const std::string& bytes() const { return bytes_; }

 private:
  template <class List>
  void put_list(const List& x) {
    put(x.size());
    bytes_.append(reinterpret_cast<const char*>(x.data()), x.size() * sizeof x[0]);
  }

  std::string bytes_;
};

/// Takes them out again, in the same order. Throws Error if there are fewer bytes.
class ParcelReader {
 public:
  explicit ParcelReader(std::span<const char> bytes) : bytes_(bytes) {}

  template <class T>
  void get(T& x) {
    if constexpr (std::is_trivially_copyable_v<T>)
      std::memcpy(static_cast<void*>(&x), next(1, sizeof x), sizeof x);
    else
      std::apply([this](auto&... member) { (this->get(member), ...); }, members(x));
  }
  void get(std::string& x) { get_list(x); }
  template <class T>
  void get(std::optional<T>& x) {
    if (got<bool>()) get(x.emplace());
  }
  template <class T>
  void get(std::vector<T>& x) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      get_list(x);
    } else {
      const auto n = got<std::size_t>();
      for (std::size_t i = 0; i < n; ++i) get(x.emplace_back());
    }
  }
  template <class T>
  T got() {
    T x{};
    get(x);
    return x;
  }

 private:
  template <class List>
  void get_list(List& x) {
    const auto n = got<std::size_t>();
    const char* const from = next(n, sizeof x[0]);
    x.resize(n);
    if (n > 0) std::memcpy(static_cast<void*>(x.data()), from, n * sizeof x[0]);
  }

  const char* next(std::size_t n, std::size_t bytes) {
    if (n > (bytes_.size() - at_) / bytes)
      throw Error(ExitCode::internal_error, "a process of fmbem's sent less than it said");
    at_ += n * bytes;
    return bytes_.data() + at_ - n * bytes;
  }

  std::span<const char> bytes_;
  std::size_t at_ = 0;
};

}  // namespace fmbem
