#include "fmbem/meshes/gmsh/owners.hpp"

#include <algorithm>
#include <cstdlib>

#include <gmsh.h>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

constexpr const char* no_name = "Open CASCADE STEP translator";  // OpenCASCADE's own for parts

std::string last_part(const std::string& label) { return label.substr(label.rfind('/') + 1); }

std::vector<int> physical_groups(int dim, int tag) {
  std::vector<int> groups;
  gmsh::model::getPhysicalGroupsForEntity(dim, tag, groups);
  for (int& g : groups) g = std::abs(g);  // a negative tag tells of a reversed surface
  return groups;
}

}  // namespace

Owners::Owners(GmshSession& gmsh, const std::string& file) : gmsh_(gmsh), file_(file) {
  gmsh_.run("cannot read " + file_, [&] {
    gmsh::vectorpair physical;
    gmsh::model::getPhysicalGroups(physical, 2);
    has_physical_surfaces_ = !physical.empty();
    find_labels();
  });
}

void Owners::find_labels() {
  for (const int dim : {3, 2}) {
    gmsh::vectorpair entities;
    gmsh::model::getEntities(entities, dim);
    for (const auto& [d, tag] : entities) {
      std::string label;
      gmsh::model::getEntityName(d, tag, label);
      if (!last_part(label).empty() && !last_part(label).starts_with(no_name))
        labels_.try_emplace(label, int(labels_.size()) + 1);
      else if (dim == 3)
        ++unlabelled_;
    }
  }
  if (labels_.empty()) unlabelled_ = 0;
  if (labels_.size() < 2) return labels_.clear();  // one tells nobody from others
  std::map<std::string, int> parts;
  for (const auto& [label, number] : labels_) ++parts[last_part(label)];
  for (const auto& [label, number] : labels_) {
    const std::string part = last_part(label);
    const std::string root = "Shapes/";
    name_of_[number] =
        parts[part] == 1 ? part : label.substr(label.starts_with(root) ? root.size() : 0);
  }
}

int Owners::label_of(int dim, int tag) const {
  std::string label;
  gmsh::model::getEntityName(dim, tag, label);
  const auto found = labels_.find(label);
  return found == labels_.end() ? 0 : found->second;
}

std::vector<int> Owners::volumes_of(int surface) const {
  std::vector<int> volumes, curves;
  gmsh::model::getAdjacencies(2, surface, volumes, curves);
  std::sort(volumes.begin(), volumes.end());
  return volumes;
}

std::vector<std::string> Owners::groups_of_nothing() const {
  std::vector<std::string> result;
  gmsh_.run("cannot read " + file_, [&] {
    for (const int dim : {2, 3}) {
      gmsh::vectorpair used;
      gmsh::model::getPhysicalGroups(used, dim);
      int last = 1000;
      for (const auto& [d, tag] : used) last = std::max(last, tag);
      for (int tag = 1; tag <= last; ++tag) {
        if (std::ranges::find(used, std::pair(dim, tag)) != used.end()) continue;
        std::string name;
        gmsh::model::getPhysicalName(dim, tag, name);
        if (!name.empty())
          result.push_back(std::string("the physical ") + (dim == 2 ? "surface" : "volume") +
                           " \"" + name + '"');
      }
    }
  });
  return result;
}

int Owners::solid_of(int surface) const {
  std::vector<int> volumes;
  gmsh_.run("cannot read " + file_, [&] { volumes = volumes_of(surface); });
  return volumes.empty() ? 0 : volumes.front();
}

Owner Owners::of(int surface, std::size_t element) const {
  using Kind = Owner::Kind;
  std::vector<Owner> surfaces, volumes, labels;
  int solid = 0;
  gmsh_.run("cannot read " + file_, [&] {
    for (const int g : physical_groups(2, surface)) surfaces.push_back({Kind::physical_surface, g});
    for (const int volume : volumes_of(surface)) {
      if (solid == 0) solid = volume;
      for (const int g : physical_groups(3, volume)) volumes.push_back({Kind::physical_volume, g});
      if (const int label = label_of(3, volume)) labels.push_back({Kind::label, label});
    }
    const int own = labels.empty() ? label_of(2, surface) : 0;
    if (own > 0) labels.push_back({Kind::label, own});
  });
  const std::string entities =
      "every element of a surface entity is in all of its groups, so give each group entities of "
      "its own";
  const std::string between = "it lies between their volumes; make a physical surface of it";
  if (!surfaces.empty()) return only_one(surfaces, element, entities);
  if (!volumes.empty()) return only_one(volumes, element, between);
  if (!labels.empty()) return only_one(labels, element, between);
  return solid > 0 && !has_physical_surfaces_ ? Owner{Kind::solid, solid} : Owner{};
}

Owner Owners::only_one(const std::vector<Owner>& found, std::size_t element,
                       const std::string& advice) const {
  for (const Owner& other : found)
    FMBEM_REQUIRE(other == found[0], "in " << file_ << " the element " << element
                                           << " is in two groups, '"
                                           << name(std::min(other, found[0])) << "' and '"
                                           << name(std::max(other, found[0])) << "'; " << advice);
  return found[0];
}

std::string Owners::name(const Owner& owner) const {
  using Kind = Owner::Kind;
  if (owner.kind == Kind::label) return name_of_.at(owner.tag);
  if (owner.kind == Kind::solid) return "solid " + std::to_string(owner.tag);
  if (owner.kind == Kind::nobody) return "unnamed";
  const bool volume = owner.kind == Kind::physical_volume;
  std::string given;
  gmsh_.run("cannot read " + file_,
            [&] { gmsh::model::getPhysicalName(volume ? 3 : 2, owner.tag, given); });
  return given.empty() ? (volume ? "volume " : "surface ") + std::to_string(owner.tag) : given;
}

}  // namespace fmbem
