#include "fmbem/problems/capacitance.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/contact.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

std::string names_of(const std::vector<Group>& groups) {
  std::string names;
  for (const Group& group : groups) names += (names.empty() ? "" : ", ") + group.name;
  return names;
}

/// Contacts are found between groups, once for a mesh. Whether a contact is allowed depends on
/// which groups are joined.
void refuse_contact(const SurfaceMesh& mesh, const std::vector<Conductor>& conductors) {
  const std::vector<int> of_group = conductor_of_groups(mesh, conductors);
  const bool has_interfaces = std::count(of_group.begin(), of_group.end(), -1) > 0;
  if (conductors.size() < 2 && !has_interfaces) return;
  for (const Contact& contact : mesh.contacts ? *mesh.contacts : find_contacts(mesh)) {
    const int a = of_group[contact.a], b = of_group[contact.b];
    if (a < 0 || b < 0) {
      FMBEM_REQUIRE(!contact.cross || contact.a == contact.b,
                    "the groups \"" << mesh.groups[contact.a].name << "\" and \""
                                    << mesh.groups[contact.b].name << "\" cross at "
                                    << place(contact.place) << ' ' << mesh.unit
                                    << ": cut the interface there, so that it ends at the other");
      continue;
    }
    FMBEM_REQUIRE(a == b, "conductors \"" << conductors[a].name << "\" and \"" << conductors[b].name
                                          << "\" " << (contact.cross ? "cross" : "touch") << " at "
                                          << place(contact.place) << ' ' << mesh.unit
                                          << " (distance " << decimal(contact.distance) << ' '
                                          << mesh.unit
                                          << "): move them apart, or join them with --conductor "
                                             "NAME=GROUP,GROUP");
  }
}

}  // namespace

std::vector<int> conductor_of_groups(const SurfaceMesh& mesh,
                                     const std::vector<Conductor>& conductors) {
  std::vector<int> result(mesh.groups.size(), -1);
  for (std::size_t c = 0; c < conductors.size(); ++c) {
    for (const std::string& name : conductors[c].groups) {
      for (std::size_t g = 0; g < mesh.groups.size(); ++g)
        if (mesh.groups[g].name == name) result[g] = static_cast<int>(c);
    }
  }
  return result;
}

SquareMatrix scaled(SquareMatrix matrix, double factor) {
  for (double& value : matrix.values) value *= factor;
  return matrix;
}

double largest_entry(const SquareMatrix& matrix) {
  double largest = 0;
  for (const double value : matrix.values) largest = std::max(largest, std::abs(value));
  return largest;
}

double natural_capacitance(double scale_to_m) {
  return 4 * std::numbers::pi * epsilon_0 * scale_to_m;
}

std::vector<Conductor> make_conductors(const SurfaceMesh& mesh, const std::vector<Conductor>& asked,
                                       const std::vector<std::string>& interfaces) {
  const auto has_name = [](const std::string& name) {
    return [&name](const auto& x) { return x.name == name; };
  };
  std::vector<Conductor> result;
  std::vector<const Conductor*> owner(mesh.groups.size(), nullptr);
  for (const Conductor& conductor : asked) {
    FMBEM_REQUIRE(!conductor.name.empty() && !conductor.groups.empty(),
                  "a conductor needs a name and at least one group: --conductor NAME=GROUP,GROUP");
    FMBEM_REQUIRE(std::none_of(result.begin(), result.end(), has_name(conductor.name)),
                  "conductor \"" << conductor.name << "\" is defined twice");
    for (const std::string& name : conductor.groups) {
      const auto group = std::find_if(mesh.groups.begin(), mesh.groups.end(), has_name(name));
      FMBEM_REQUIRE(group != mesh.groups.end(),
                    "conductor \"" << conductor.name << "\" names the group \"" << name
                                   << "\", and the mesh has: " << names_of(mesh.groups));
      const Conductor*& of_group = owner[group - mesh.groups.begin()];
      FMBEM_REQUIRE(!of_group, "group \"" << name << "\" is named twice, by conductors \""
                                          << of_group->name << "\" and \"" << conductor.name
                                          << "\"");
      of_group = &conductor;
    }
    result.push_back(conductor);
  }
  for (const std::string& name : interfaces) {
    const auto group = std::find_if(mesh.groups.begin(), mesh.groups.end(), has_name(name));
    FMBEM_REQUIRE(group != mesh.groups.end(),
                  "the mesh has no group \""
                      << name << "\" to be an interface, it has: " << names_of(mesh.groups));
    FMBEM_REQUIRE(!owner[group - mesh.groups.begin()],
                  "group \"" << name << "\" is an interface and belongs to a conductor");
  }
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    if (owner[g] || std::any_of(interfaces.begin(), interfaces.end(), [&](const std::string& name) {
          return name == mesh.groups[g].name;
        }))
      continue;
    FMBEM_REQUIRE(
        std::none_of(result.begin(), result.end(), has_name(mesh.groups[g].name)),
        "conductor \"" << mesh.groups[g].name
                       << "\" has the name of a group that it leaves out: choose another name");
    result.push_back({mesh.groups[g].name, {mesh.groups[g].name}});
  }
  refuse_contact(mesh, result);
  return result;
}

std::vector<int> conductor_of_panels(const SurfaceMesh& mesh, const Panels& panels,
                                     const std::vector<Conductor>& conductors) {
  const std::vector<int> of_group = conductor_of_groups(mesh, conductors);
  std::vector<int> result(panels.size());
  const auto n = static_cast<std::int64_t>(panels.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < n; ++k) result[k] = of_group[mesh.group_of[panels.input_index[k]]];
  return result;
}

SquareMatrix mutual_capacitance(const SquareMatrix& maxwell) {
  SquareMatrix mutual(maxwell.n);
  for (std::size_t i = 0; i < maxwell.n; ++i) {
    for (std::size_t j = 0; j < maxwell.n; ++j) {
      const double mean = 0.5 * (maxwell(i, j) + maxwell(j, i));
      mutual(i, i) += mean;
      if (i != j) mutual(i, j) = -mean;
    }
  }
  return mutual;
}

double asymmetry(const SquareMatrix& maxwell) {
  const double largest = largest_entry(maxwell);
  double difference = 0;
  for (std::size_t i = 0; i < maxwell.n; ++i)
    for (std::size_t j = 0; j < maxwell.n; ++j)
      difference = std::max(difference, std::abs(maxwell(i, j) - maxwell(j, i)));
  return largest > 0 ? difference / largest : 0;
}

}  // namespace fmbem
