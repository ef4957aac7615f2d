#include "fmbem/meshes/gmsh/read_gmsh.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include <gmsh.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/gmsh/tag_index.hpp"
#include "fmbem/meshes/split.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

constexpr int no_group = 0;  // tags of physical surfaces are positive

/// Puts a list into the order of a permutation.
template <class T>
void permute(std::vector<T>& list, const std::vector<std::size_t>& order) {
  std::vector<T> sorted;
  sorted.reserve(order.size());
  for (std::size_t i : order) sorted.push_back(list[i]);
  list = std::move(sorted);
}

/// The order that makes tags ascend; empty if they do already.
std::vector<std::size_t> ascending(const std::vector<std::size_t>& tags) {
  if (std::is_sorted(tags.begin(), tags.end())) return {};
  std::vector<std::size_t> order(tags.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return tags[a] < tags[b]; });
  return order;
}

/// Reads one model into one mesh.
class ModelReader {
 public:
  ModelReader(GmshSession& gmsh, const std::string& file) : gmsh_(gmsh) { mesh_.file = file; }

  ModelMesh read() {
    read_nodes();
    gmsh::vectorpair surfaces;
    ask([&] { gmsh::model::getEntities(surfaces, 2); });
    for (const auto& [dim, surface] : surfaces) read_surface(surface);
    FMBEM_REQUIRE(!mesh_.triangles.empty(),
                  mesh_.file << " has no surface elements"
                             << (count_volume_elements() > 0
                                     ? ", only volume elements; write the boundary surface into it"
                                     : ""));
    sort_elements();
    for (SplitHalf& half : halves_) {
      mesh_.triangles.push_back(half.corners);
      mesh_.triangle_tags.push_back(mesh_.triangle_tags.back() + 1);
      mesh_.group_of.push_back(half.group);
      surface_of_.push_back(half.surface);
    }
    number_groups();
    mesh_.repairs.split_quadrangles = halves_.size();
    mesh_.repairs.ignored_elements = count_volume_elements();
    add_notices();
    return {std::move(mesh_), std::move(surface_of_)};
  }

 private:
  void ask(const std::function<void()>& call) { gmsh_.run("cannot read " + mesh_.file, call); }

  void read_nodes() {
    std::vector<double> x, parameters;
    ask([&] { gmsh::model::mesh::getNodes(mesh_.vertex_tags, x, parameters); });
    FMBEM_REQUIRE(mesh_.vertex_tags.size() < std::numeric_limits<int>::max(),
                  mesh_.file << " has more than 2^31 nodes");
    mesh_.vertices.resize(mesh_.vertex_tags.size());
    for (std::size_t v = 0; v < mesh_.vertices.size(); ++v)
      mesh_.vertices[v] = {x[3 * v], x[3 * v + 1], x[3 * v + 2]};
    const std::vector<std::size_t> order = ascending(mesh_.vertex_tags);
    if (!order.empty()) {
      permute(mesh_.vertices, order);
      permute(mesh_.vertex_tags, order);
    }
    node_ = TagIndex(mesh_.vertex_tags);
  }

  void read_surface(int surface) {
    std::vector<int> types;
    std::vector<std::vector<std::size_t>> tags, nodes;
    ask([&] { gmsh::model::mesh::getElements(types, tags, nodes, 2, surface); });
    for (std::size_t k = 0; k < types.size(); ++k)
      if (!tags[k].empty())
        read_elements(element_type(types[k]), tags[k], nodes[k], surface,
                      group_of(surface, tags[k][0]));
  }

  /// Tag of the physical surface that a surface is in.
  int group_of(int surface, std::size_t element) {
    std::vector<int> groups;
    ask([&] { gmsh::model::getPhysicalGroupsForEntity(2, surface, groups); });
    for (int& g : groups) g = std::abs(g);  // a negative tag tells of a reversed surface
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    if (groups.empty()) return no_group;
    FMBEM_REQUIRE(groups.size() == 1,
                  "in " << mesh_.file << " the element " << element << " is in two groups, '"
                        << name_of(groups[0]) << "' and '" << name_of(groups[1])
                        << "'; every element of a surface entity is in all of its groups, so give "
                           "each group entities of its own");
    return groups[0];
  }

  std::string name_of(int group) {
    std::string name;
    ask([&] { gmsh::model::getPhysicalName(2, group, name); });
    return name.empty() ? "surface " + std::to_string(group) : name;
  }

  void read_elements(const ElementType& type, const std::vector<std::size_t>& tags,
                     const std::vector<std::size_t>& nodes, int surface, int group) {
    FMBEM_REQUIRE(type.corners == 3 || type.corners == 4,
                  "in " << mesh_.file << " the element " << tags[0] << " is of the type '"
                        << type.name << "'; only triangles and quadrangles can be read");
    if (type.order > 1) mesh_.repairs.curved_elements += tags.size();
    for (std::size_t e = 0; e < tags.size(); ++e) {
      std::array<int, 4> corners{};
      for (int k = 0; k < type.corners; ++k) {
        const std::size_t node = nodes[e * std::size_t(type.nodes) + std::size_t(k)];
        corners[k] = node_.find(node);
        FMBEM_REQUIRE(corners[k] >= 0, "in " << mesh_.file << " the element " << tags[e]
                                             << " has the unknown node " << node);
      }
      const auto [a, b, c, d] = corners;
      if (type.corners == 3) {
        mesh_.triangles.push_back({a, b, c});
      } else {
        const auto [first, second] = split_quadrangle(mesh_.vertices, corners);
        mesh_.triangles.push_back(first);
        halves_.push_back({tags[e], second, surface, group});
      }
      mesh_.triangle_tags.push_back(tags[e]);
      mesh_.group_of.push_back(group);
      surface_of_.push_back(surface);
    }
  }

  std::size_t count_volume_elements() {
    std::vector<int> types;
    std::vector<std::vector<std::size_t>> tags, nodes;
    ask([&] { gmsh::model::mesh::getElements(types, tags, nodes, 3); });
    std::size_t n = 0;
    for (const auto& list : tags) n += list.size();
    return n;
  }

  void sort_elements() {
    const std::vector<std::size_t> order = ascending(mesh_.triangle_tags);
    if (!order.empty()) {
      permute(mesh_.triangles, order);
      permute(mesh_.triangle_tags, order);
      permute(mesh_.group_of, order);
      permute(surface_of_, order);
    }
    const auto& tags = mesh_.triangle_tags;
    const auto twice = std::adjacent_find(tags.begin(), tags.end());
    FMBEM_REQUIRE(twice == tags.end(),
                  "in " << mesh_.file << " the element tag " << *twice << " occurs twice");
    std::stable_sort(halves_.begin(), halves_.end(),
                     [](const SplitHalf& a, const SplitHalf& b) { return a.of < b.of; });
  }

  /// Turns tags of physical surfaces into indices of groups, in the order of the tags; where there
  /// is none at all, the groups stay open.
  void number_groups() {
    std::map<int, int> index;
    for (int tag : mesh_.group_of) index.emplace(tag, 0);
    if (index.size() == 1 && index.begin()->first == no_group) {
      std::fill(mesh_.group_of.begin(), mesh_.group_of.end(), -1);
      return;
    }
    for (auto& [tag, i] : index)
      if (tag != no_group) {
        i = static_cast<int>(mesh_.groups.size());
        mesh_.groups.push_back({unused_name(name_of(tag), tag), tag});
      }
    if (index.contains(no_group)) {
      const auto n = std::count(mesh_.group_of.begin(), mesh_.group_of.end(), no_group);
      index[no_group] = static_cast<int>(mesh_.groups.size());
      mesh_.groups.push_back({unused_name("unnamed", 0), 0});
      mesh_.notices.push_back(counted(std::size_t(n), "triangle is", "triangles are") +
                              " in no physical surface and " + (n == 1 ? "forms" : "form") +
                              " the group '" + mesh_.groups.back().name + "'");
    }
    for (int& g : mesh_.group_of) g = index.at(g);
  }

  /// Two physical surfaces may have one name; groups are chosen by name.
  std::string unused_name(const std::string& name, int tag) const {
    std::string candidate = name;
    const auto taken = [&](const Group& group) { return group.name == candidate; };
    while (std::any_of(mesh_.groups.begin(), mesh_.groups.end(), taken))
      candidate += " (" + std::to_string(tag) + ")";
    return candidate;
  }

  void add_notices() {
    const MeshRepairs& r = mesh_.repairs;
    if (r.ignored_elements > 0)
      mesh_.notices.push_back(
          counted(r.ignored_elements, "volume element was", "volume elements were") + " ignored");
    if (r.curved_elements > 0)
      mesh_.notices.push_back(counted(r.curved_elements, "element", "elements") +
                              " of order 2 or higher " + (r.curved_elements == 1 ? "was" : "were") +
                              " read by the corners alone");
    if (r.split_quadrangles > 0)
      mesh_.notices.push_back(counted(r.split_quadrangles, "quadrangle was", "quadrangles were") +
                              " split into two triangles" +
                              (r.split_quadrangles == 1 ? "" : " each"));
  }

  struct SplitHalf {
    std::size_t of;  // tag of the quadrangle
    std::array<int, 3> corners;
    int surface, group;
  };

  GmshSession& gmsh_;
  SurfaceMesh mesh_;
  std::vector<int> surface_of_;
  TagIndex node_;
  std::vector<SplitHalf> halves_;
};

}  // namespace

ModelMesh read_model(GmshSession& gmsh, const std::string& file) {
  return ModelReader(gmsh, file).read();
}

}  // namespace fmbem
