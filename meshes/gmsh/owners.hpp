#pragma once

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "fmbem/meshes/gmsh/gmsh_session.hpp"

namespace fmbem {

/// The owner of a surface of Gmsh's current model: the first of these that exists.
struct Owner {
  enum class Kind {
    physical_surface,
    physical_volume,
    label,  ///< of a solid or surface of a CAD file, by which an assembly names its parts
    solid,  ///< a volume without a name, where no surface is physical
    nobody,
  };
  Kind kind = Kind::nobody;
  int tag = 0;  ///< of physical surface, physical volume or solid; a label's number

  bool has_name() const { return kind < Kind::solid; }
  auto operator<=>(const Owner&) const = default;
};

/// Finds owners. A label is "Shapes/ASSEMBLY/…/PART"; labels count only in files that have several.
class Owners {
 public:
  Owners(GmshSession& gmsh, const std::string& file);

  /// Throws InputError if there are two, as for a surface between two volumes; `element` is one of
  /// its elements.
  Owner of(int surface, std::size_t element) const;
  /// The volume that a surface bounds, the one of the least tag; 0 without any.
  int solid_of(int surface) const;
  std::string name(const Owner& owner) const;
  /// Physical surfaces and volumes, such as 'the physical surface "lid"', that the file names and
  /// no entity has, as where a tag is misspelt. Of others than the first thousand and those up to
  /// the largest tag that is used Gmsh tells no names.
  std::vector<std::string> groups_of_nothing() const;
  /// How many volumes have no label in a file that has labels: those of parts with several bodies
  /// have none.
  int unlabelled() const { return unlabelled_; }

 private:
  void find_labels();
  /// Number of the label of an entity, 0 without one.
  int label_of(int dim, int tag) const;
  std::vector<int> volumes_of(int surface) const;
  Owner only_one(const std::vector<Owner>& found, std::size_t element,
                 const std::string& advice) const;

  GmshSession& gmsh_;
  std::string file_;
  bool has_physical_surfaces_ = false;
  int unlabelled_ = 0;
  std::map<std::string, int> labels_;   // numbers, in the file's order
  std::map<int, std::string> name_of_;  // of labels' numbers
};

}  // namespace fmbem
