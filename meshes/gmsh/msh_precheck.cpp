#include "fmbem/meshes/gmsh/msh_precheck.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/gmsh/gmsh_session.hpp"
#include "fmbem/meshes/gmsh/msh_scanner.hpp"
#include "fmbem/meshes/gmsh/tag_index.hpp"
#include "fmbem/meshes/read_file.hpp"

namespace fmbem {
namespace {

/// Bytes of a group's name that Gmsh reads.
constexpr std::size_t longest_msh_name = 250;
constexpr std::int64_t largest_tag = std::numeric_limits<std::int32_t>::max();

/// Parses the sections of one file.
class MshPrecheck {
 public:
  MshPrecheck(std::string_view text, std::string file) : scan_(text, std::move(file)) {}

  void run() {
    read_format();
    while (!scan_.at_end()) {
      const std::string marker(scan_.token());
      scan_.section = marker.substr(0, 40);
      if (!marker.starts_with('$')) scan_.fail("stands where a section begins");
      const std::string name = marker.substr(1);
      if (name == "Nodes" && parsed()) {
        version_ < 3 ? read_nodes_2() : read_nodes_4();
      } else if (name == "Elements" && parsed()) {
        version_ < 3 ? read_elements_2() : read_elements_4();
      } else if (name == "PhysicalNames" && parsed()) {
        read_names();
      } else if (name == "Entities" && parsed()) {
        begin();
        read_entities_4(false);
      } else if (name == "PartitionedEntities" && parsed()) {
        read_partitions_4();
      } else {
        // The old format 1 has sections $NOD … $ENDNOD.
        scan_.skip_section(name);
        continue;
      }
      scan_.expect("$End" + name);
    }
    scan_.section = "";
    if (parsed() && !has_elements_) scan_.fail("it has no section $Elements");
  }

 private:
  bool parsed() const { return (version_ >= 2 && version_ < 3) || version_ == 4.1; }

  void read_format() {
    scan_.section = "$MeshFormat";
    if (scan_.token() != "$MeshFormat") {
      scan_.section = "";
      scan_.fail("it does not begin with $MeshFormat");
    }
    version_ = scan_.text_real();
    const std::int64_t type = scan_.text_integer(), bytes = scan_.text_integer();
    if (type != 0 && type != 1) scan_.fail("gives the file type " + std::to_string(type));
    if (bytes != 8) scan_.fail("gives the data size " + std::to_string(bytes) + ", not 8");
    scan_.binary = type == 1;
    if (scan_.binary) {
      scan_.skip_line();
      const std::int64_t one = scan_.int32();
      scan_.swapped = one == 0x01000000;
      if (one != 1 && !scan_.swapped) scan_.fail("gives no byte order");
    }
    scan_.expect("$EndMeshFormat");
  }

  /// Begins a section's numbers: behind the marker's line in a binary file.
  void begin() {
    if (scan_.binary) scan_.skip_line();
  }

  /// One a line, in quotation marks, in binary files as well. Gmsh would read on behind long ones.
  void read_names() {
    scan_.text_integer();  // how many
    for (scan_.skip_line(); !scan_.at_end(); scan_.skip_line()) {
      const std::string_view line = scan_.peek_line();
      if (line.starts_with('$')) return;
      const std::size_t begin = line.find('"') + 1, end = line.rfind('"');
      if (end != line.npos && end > begin + longest_msh_name)
        scan_.fail("has a name of " + std::to_string(end - begin) +
                   " bytes: Gmsh reads names of up to " + std::to_string(longest_msh_name));
    }
  }

  void read_nodes_2() {
    const std::int64_t n =
        scan_.checked_count(scan_.text_integer(), scan_.binary ? 28 : 8, "nodes");
    begin();
    std::vector<std::size_t> tags;
    tags.reserve(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      tags.push_back(positive(scan_.int32(), "node tag"));
      for (int k = 0; k < 3; ++k) scan_.real();
    }
    keep_nodes(std::move(tags));
  }

  void read_nodes_4() {
    begin();
    const std::int64_t blocks = scan_.checked_count(scan_.size(), 8, "blocks");
    const std::int64_t n = scan_.checked_count(scan_.size(), 8, "nodes");
    scan_.size();  // smallest tag
    scan_.size();  // largest tag
    std::vector<std::size_t> tags;
    tags.reserve(static_cast<std::size_t>(n));
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t dim = dimension();
      scan_.int32();  // entity tag
      const std::int64_t parameters = scan_.int32() != 0 ? dim : 0;
      const std::int64_t in_block = scan_.checked_count(scan_.size(), 8, "nodes");
      for (std::int64_t i = 0; i < in_block; ++i)
        tags.push_back(positive(scan_.size(), "node tag"));
      for (std::int64_t i = 0; i < in_block * (3 + parameters); ++i) scan_.real();
    }
    if (tags.size() != static_cast<std::size_t>(n))
      scan_.fail("announces " + std::to_string(n) + " nodes and holds " +
                 std::to_string(tags.size()));
    keep_nodes(std::move(tags));
  }

  void read_elements_2() {
    const std::int64_t n = scan_.checked_count(scan_.text_integer(), 8, "elements");
    begin();
    std::vector<std::size_t> tags;  // of two elements of one Gmsh would take the first
    tags.reserve(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n;) {
      std::int64_t tag = 0, type = 0, in_block = 1, parameters = 0;
      if (scan_.binary) {
        type = scan_.int32();
        in_block = scan_.checked_count(scan_.int32(), 4, "elements");
        parameters = scan_.checked_count(scan_.int32(), 1, "tags");
        if (in_block < 1 || in_block > n - i)
          scan_.fail("has a block of " + std::to_string(in_block) + " elements");
      } else {
        tag = positive(scan_.text_integer(), "element tag");
        type = scan_.text_integer();
        parameters = scan_.checked_count(scan_.text_integer(), 1, "tags");
      }
      const int nodes = nodes_of(type);
      for (std::int64_t k = 0; k < in_block; ++k) {
        if (scan_.binary) tag = positive(scan_.int32(), "element tag");
        tags.push_back(static_cast<std::size_t>(tag));
        for (std::int64_t j = 0; j < parameters; ++j) scan_.int32();
        for (int j = 0; j < nodes; ++j) check_node(scan_.int32(), tag);
      }
      i += in_block;
    }
    refuse_twice(TagIndex(std::move(tags)), "element");
    has_elements_ = true;
  }

  void read_elements_4() {
    begin();
    const std::int64_t blocks = scan_.checked_count(scan_.size(), 8, "blocks");
    const std::int64_t n = scan_.checked_count(scan_.size(), 4, "elements");
    scan_.size();  // smallest tag
    scan_.size();  // largest tag
    std::int64_t found = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t dim = dimension();
      const std::int64_t entity = scan_.int32();
      if (has_entities_ && !entities_.contains({dim, entity}))
        scan_.fail("has a block on the unknown entity " + std::to_string(entity) +
                   " of dimension " + std::to_string(dim));
      const int nodes = nodes_of(scan_.int32());
      const std::int64_t in_block = scan_.checked_count(scan_.size(), 4, "elements");
      for (std::int64_t i = 0; i < in_block; ++i) {
        const std::int64_t tag = positive(scan_.size(), "element tag");
        for (int j = 0; j < nodes; ++j) check_node(scan_.size(), tag);
      }
      found += in_block;
    }
    if (found != n)
      scan_.fail("announces " + std::to_string(n) + " elements and holds " + std::to_string(found));
    has_elements_ = true;
  }

  /// What a partitioned mesh has its elements on, beside the entities that the parts are of.
  void read_partitions_4() {
    begin();
    scan_.size();  // how many parts
    const std::int64_t ghosts = scan_.checked_count(scan_.size(), 4, "ghost entities");
    for (std::int64_t i = 0; i < 2 * ghosts; ++i) scan_.int32();  // tag, part
    read_entities_4(true);
  }

  void read_entities_4(bool are_parts) {
    std::int64_t counts[4];
    for (std::int64_t& n : counts) n = scan_.checked_count(scan_.size(), 8, "entities");
    for (std::int64_t dim = 0; dim < 4; ++dim)
      for (std::int64_t i = 0; i < counts[dim]; ++i) {
        entities_.insert({dim, scan_.int32()});
        if (are_parts) {
          scan_.int32();  // dimension and tag of what it is a part of
          scan_.int32();
          skip_integers("parts");
        }
        for (int k = 0; k < (dim == 0 ? 3 : 6); ++k) scan_.real();
        skip_integers("physical groups");
        if (dim > 0) skip_integers("bounding entities");
      }
    has_entities_ = true;
  }

  void skip_integers(const char* what) {
    const std::int64_t n = scan_.checked_count(scan_.size(), 2, what);
    for (std::int64_t i = 0; i < n; ++i) scan_.int32();
  }

  std::int64_t dimension() {
    const std::int64_t dim = scan_.int32();
    if (dim < 0 || dim > 3) scan_.fail("has an entity of dimension " + std::to_string(dim));
    return dim;
  }

  std::size_t positive(std::int64_t tag, const char* what) const {
    if (tag <= 0) scan_.fail("has the " + std::string(what) + " " + std::to_string(tag));
    if (tag > largest_tag)
      scan_.fail("has the " + std::string(what) + " " + std::to_string(tag) +
                 ": Gmsh has tags up to " + std::to_string(largest_tag));
    return static_cast<std::size_t>(tag);
  }

  int nodes_of(std::int64_t type) {
    const auto [it, is_new] = nodes_of_type_.try_emplace(type, 0);
    if (is_new && type > 0 && type < 1000) it->second = element_type(static_cast<int>(type)).nodes;
    if (it->second == 0) scan_.fail("has an element of the unknown type " + std::to_string(type));
    return it->second;
  }

  void keep_nodes(std::vector<std::size_t> tags) {
    nodes_ = TagIndex(std::move(tags));
    refuse_twice(nodes_, "node");
  }

  void refuse_twice(const TagIndex& tags, const char* what) const {
    if (tags.duplicate())
      scan_.fail("has the " + std::string(what) + " " + std::to_string(*tags.duplicate()) +
                 " twice");
  }

  void check_node(std::int64_t node, std::int64_t element) const {
    if (node <= 0 || nodes_.find(static_cast<std::size_t>(node)) < 0)
      scan_.fail("has the element " + std::to_string(element) + " with the unknown node " +
                 std::to_string(node));
  }

  MshScanner scan_;
  double version_ = 0;
  bool has_elements_ = false, has_entities_ = false;
  std::set<std::pair<std::int64_t, std::int64_t>> entities_;  // dimension, tag
  std::map<std::int64_t, int> nodes_of_type_;
  TagIndex nodes_;
};

}  // namespace

void precheck_msh(const std::string& file) {
  const std::string text = read_file(file);
  if (text.starts_with("$NOD")) return;  // format 1
  MshPrecheck(text, file).run();
}

}  // namespace fmbem
