#include "fmbem/meshes/gmsh/read_gmsh.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include <gmsh.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/gmsh/owners.hpp"
#include "fmbem/meshes/gmsh/tag_index.hpp"
#include "fmbem/meshes/split.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/topology.hpp"

namespace fmbem {
namespace {

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
  ModelReader(GmshSession& gmsh, const std::string& file) : gmsh_(gmsh), owners_(gmsh, file) {
    mesh_.file = file;
  }

  ModelMesh read() {
    read_nodes();
    gmsh::vectorpair surfaces;
    ask([&] { gmsh::model::getEntities(surfaces, 2); });
    for (const auto& [dim, surface] : surfaces) read_surface(surface);
    check_all_were_read();
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
    return {std::move(mesh_), std::move(surface_of_), std::move(solid_of_)};
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
    for (std::size_t k = 0; k < types.size(); ++k) {
      if (tags[k].empty()) continue;
      const Owner owner = owners_.of(surface, tags[k][0]);
      if (const int solid = owners_.solid_of(surface)) solid_of_[surface] = solid;
      const auto known = owner_number_.try_emplace(owner, int(owner_number_.size())).first;
      read_elements(element_type(types[k]), tags[k], nodes[k], surface, known->second);
    }
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

  /// Where the elements of one surface are of several orders, Gmsh lists those of one alone.
  void check_all_were_read() {
    double triangles = 0, quadrangles = 0;
    ask([&] { gmsh::option::getNumber("Mesh.NbTriangles", triangles); });
    ask([&] { gmsh::option::getNumber("Mesh.NbQuadrangles", quadrangles); });
    FMBEM_REQUIRE(static_cast<double>(mesh_.triangles.size()) == triangles + quadrangles,
                  mesh_.file << " has " << triangles + quadrangles << " surface elements, and "
                             << "Gmsh gives " << mesh_.triangles.size()
                             << ", as one surface has elements of several orders: write them in "
                                "one order, or as surfaces of their own");
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

  /// Turns owners' numbers into indices of groups, in the order of owners. If none has a name,
  /// groups are left to components.
  void number_groups() {
    const auto is_solid = [](const auto& entry) { return entry.first.kind == Owner::Kind::solid; };
    if (const auto n = static_cast<std::size_t>(owners_.unlabelled());
        n > 0 && std::any_of(owner_number_.begin(), owner_number_.end(), is_solid))
      mesh_.notices.push_back(counted(n, "solid has", "solids have") +
                              " no name, as the bodies of a STEP part that has several: each is a "
                              "conductor of its own");
    if (std::none_of(owner_number_.begin(), owner_number_.end(),
                     [](const auto& entry) { return entry.first.has_name(); })) {
      std::fill(mesh_.group_of.begin(), mesh_.group_of.end(), -1);
      return;
    }
    std::vector<int> index(owner_number_.size());
    for (const auto& [owner, number] : owner_number_) {
      index[number] = static_cast<int>(mesh_.groups.size());
      const std::string own = owners_.name(owner), name = unused_name(mesh_.groups, own, owner.tag);
      if (name != own)
        mesh_.notices.push_back(std::string("two groups have the name \"")
                                    .append(own)
                                    .append("\": the second is called \"")
                                    .append(name)
                                    .append("\" here"));
      mesh_.groups.push_back(
          {name, owner.kind == Owner::Kind::physical_surface ? owner.tag : 0, owner.has_name()});
      if (owner.kind != Owner::Kind::nobody) continue;
      const auto n = std::count(mesh_.group_of.begin(), mesh_.group_of.end(), number);
      mesh_.notices.push_back(counted(std::size_t(n), "triangle is", "triangles are") +
                              " in no physical surface and " + (n == 1 ? "forms" : "form") +
                              " the group '" + mesh_.groups.back().name + "'");
    }
    for (int& g : mesh_.group_of) g = index[g];
  }

  void add_notices() {
    for (const std::string& group : owners_.groups_of_nothing())
      mesh_.notices.push_back(group + " has nothing in it: is a tag misspelt?");
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
  Owners owners_;
  std::map<Owner, int> owner_number_;  // in the order in which they were found
  std::vector<int> surface_of_;
  std::map<int, int> solid_of_;
  TagIndex node_;
  std::vector<SplitHalf> halves_;
};

}  // namespace

ModelMesh read_model(GmshSession& gmsh, const std::string& file) {
  return ModelReader(gmsh, file).read();
}

void name_components(ModelMesh& model) {
  SurfaceMesh& mesh = model.mesh;
  const Components components = connected_components(mesh);
  std::vector<int> first(std::size_t(components.n));  // component that a component is joined to
  std::iota(first.begin(), first.end(), 0);
  const auto root = [&](int c) {
    while (first[c] != c) c = first[c];
    return c;
  };
  std::map<int, int> component_of_solid;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto solid = model.solid_of.find(model.surface_of[i]);
    if (solid == model.solid_of.end()) continue;
    const int mine = components.of[i];
    const int other = component_of_solid.try_emplace(solid->second, mine).first->second;
    const int a = root(mine), b = root(other);
    first[std::max(a, b)] = std::min(a, b);
  }
  std::vector<int> group(std::size_t(components.n), -1);
  for (int c = 0; c < components.n; ++c) {
    int& mine = group[root(c)];
    if (mine < 0) {
      mine = static_cast<int>(mesh.groups.size());
      mesh.groups.push_back({"component " + std::to_string(mine + 1), 0, false});
    }
    group[c] = mine;
  }
  mesh.group_of.clear();
  for (const int c : components.of) mesh.group_of.push_back(group[c]);
}

}  // namespace fmbem
