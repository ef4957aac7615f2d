#include "fmbem/meshes/contact.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <omp.h>

#include "fmbem/meshes/box_tree.hpp"
#include "fmbem/meshes/triangle_pair.hpp"

namespace fmbem {
namespace {

/// One contact for each pair of groups: the first crossing, or else the first that touches.
class Witnesses {
 public:
  const Contact* find(int a, int b) const {
    const auto found = of_pair_.find({a, b});
    return found == of_pair_.end() ? nullptr : &found->second;
  }
  void add(const Contact& contact) {
    const auto [found, is_new] = of_pair_.try_emplace({contact.a, contact.b}, contact);
    if (!is_new && contact.cross && !found->second.cross) found->second = contact;
  }
  void add(const Witnesses& later) {
    for (const auto& [pair, contact] : later.of_pair_) add(contact);
  }
  std::vector<Contact> list() const {
    std::vector<Contact> result;
    for (const auto& [pair, contact] : of_pair_) result.push_back(contact);
    return result;
  }

 private:
  std::map<std::pair<int, int>, Contact> of_pair_;
};

Corners corners(const SurfaceMesh& mesh, int triangle) {
  const auto& [a, b, c] = mesh.triangles[triangle];
  return {mesh.vertices[a], mesh.vertices[b], mesh.vertices[c]};
}

/// A vertex that both triangles have; −1 if there is none.
int common_vertex(const std::array<int, 3>& s, const std::array<int, 3>& t) {
  for (const int v : s)
    if (v == t[0] || v == t[1] || v == t[2]) return v;
  return -1;
}

void look_at_pair(const SurfaceMesh& mesh, int i, int j, double reach, Witnesses& found) {
  const auto [a, b] = std::minmax({mesh.group_of[i], mesh.group_of[j]});
  const int vertex = common_vertex(mesh.triangles[i], mesh.triangles[j]);
  if (vertex >= 0) {
    if (a != b) found.add({a, b, false, mesh.vertices[vertex], 0});
    return;
  }
  const Contact* known = a != b ? found.find(a, b) : nullptr;
  if (known && known->cross) return;
  const Corners s = corners(mesh, i), t = corners(mesh, j);
  if (a != b && separated(s, t, reach)) return;
  // Half of the reach: what crosses less deeply is within reach, so that rounding leaves nothing
  // undecided.
  if (const auto place = crossing(s, t, 0.5 * reach)) {
    found.add({a, b, true, *place, 0});
  } else if (a != b && !known) {
    const ClosestPoints g = gap(s, t);
    if (g.distance <= reach) found.add({a, b, false, g.place, g.distance});
  }
}

}  // namespace

std::vector<Contact> find_contacts(const SurfaceMesh& mesh) {
  const Box box = bounding_box(mesh);
  const double reach = contact_gap * norm(box.max - box.min);
  const BoxTree tree(mesh, reach);
  // Threads have consecutive leaves, so the first contact of the first thread is the first of all.
  std::vector<Witnesses> of_thread(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel for schedule(static)
  for (int leaf = 0; leaf < tree.leaves(); ++leaf)
    tree.for_each_pair(leaf, [&](int i, int j) {
      look_at_pair(mesh, i, j, reach, of_thread[static_cast<std::size_t>(omp_get_thread_num())]);
    });
  Witnesses all;
  for (const Witnesses& later : of_thread) all.add(later);
  return all.list();
}

}  // namespace fmbem
