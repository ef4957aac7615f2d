#include "cli/problem_file.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "cli/json_object.hpp"
#include "cli/problem_values.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cli {
namespace {

using Kind = GroupCondition::Kind;

/// Reads a file into a problem.
class Reader {
 public:
  explicit Reader(const std::string& file)
      : folder_(std::filesystem::path(file).parent_path().string()),
        result_{read_json(file), {}, {}} {
    const JsonObject top(result_.json, file,
                         {"version", "description", "regions", "outside", "groups", "planes",
                          "sources", "formulation", "bodies"});
    const Json& version = top.at("version");
    if (!version.is_number_integer() || version.get<long long>() != 1) top.refuse("version", "1");
    if (top.has("description")) top.text("description");
    if (top.has("regions")) read_regions(top, problem());
    if (top.has("outside")) {
      problem().outside = side(top, "outside");
      FMBEM_REQUIRE(
          top.has("regions") || problem().outside == "vacuum" || problem().outside.empty(),
          top.where("outside") << " names a region, and there are no \"regions\"");
    } else {
      FMBEM_REQUIRE(!top.has("regions"),
                    file << " has \"regions\": say which of them is \"outside\" of all, or null");
    }
    read_groups(top);
    if (top.has("sources")) read_sources(top);
    if (top.has("planes")) read_planes(top);
    if (top.has("formulation")) read_formulation(top);
    if (top.has("bodies")) read_bodies(top);
  }

  ProblemFile result() { return std::move(result_); }

 private:
  BoundaryProblem& problem() { return result_.problem; }

  /// A region's name, or "" for null.
  static std::string side(const JsonObject& object, const char* key) {
    if (object.at(key).is_null()) return "";
    std::string name = object.text(key);
    if (name.empty()) object.refuse(key, "a region's name, or null");
    return name;
  }

  SurfaceData data(const JsonObject& object, const char* key) {
    const Json& value = object.at(key);
    if (value.is_object() && value.contains("file") && value["file"].is_string())
      result_.data_files.push_back(
          (std::filesystem::path(folder_) / value["file"].get<std::string>()).string());
    return read_surface_data(object, key, folder_);
  }

  /// The key for what is given off, in C or A; refuses the other one.
  const char* charge_key(const JsonObject& object) {
    const bool conducts = problem().conducts();
    const char* const other = conducts ? "charge" : "current";
    FMBEM_REQUIRE(!object.has(other), object.where(other)
                                          << (conducts ? ": regions with conductivities have a "
                                                         "\"current\""
                                                       : ": regions with permittivities have a "
                                                         "\"charge\""));
    return conducts ? "current" : "charge";
  }

  GroupCondition::OfConductor read_conductor(const JsonObject& group, const std::string& name) {
    const JsonObject conductor(group.at("conductor"), group.where("conductor"),
                               {"name", "potential", "charge", "current", "floating"});
    GroupCondition::OfConductor result{conductor.has("name") ? conductor.text("name") : name};
    const char* const charge = charge_key(conductor);
    const int count =
        conductor.has("potential") + conductor.has(charge) + conductor.has("floating");
    FMBEM_REQUIRE(count == 1, conductor.where() << " needs one of \"potential\", \"" << charge
                                                << "\" and \"floating\", and has " << count);
    result.has_charge = !conductor.has("potential");
    if (conductor.has("floating"))
      conductor.require_true("floating");
    else
      result.value = conductor.number(result.has_charge ? charge : "potential");
    return result;
  }

  void read_groups(const JsonObject& top) {
    const JsonObject groups(top.at("groups"), top.where("groups"));
    for (const auto& [name, json] : groups.json().items()) {
      const JsonObject group(json, groups.where(name),
                             {"conductor", "dirichlet", "neumann", "robin", "interface", "inside",
                              "outside", "truncated"});
      problem().groups.push_back(read_condition(group, name));
      GroupCondition& condition = problem().groups.back();
      if (group.has("inside")) condition.inside = side(group, "inside");
      if (group.has("outside")) condition.outside = side(group, "outside");
      if (group.has("truncated")) {
        group.require_true("truncated");
        condition.truncated = true;
      }
    }
  }

  GroupCondition read_condition(const JsonObject& group, const std::string& name) {
    static constexpr std::pair<const char*, Kind> kinds[] = {{"conductor", Kind::conductor},
                                                             {"dirichlet", Kind::dirichlet},
                                                             {"neumann", Kind::neumann},
                                                             {"robin", Kind::robin},
                                                             {"interface", Kind::interface}};
    const auto is_there = [&](const auto& kind) { return group.has(kind.first); };
    const auto kind = std::find_if(std::begin(kinds), std::end(kinds), is_there);
    FMBEM_REQUIRE(kind != std::end(kinds),
                  group.where() << " has no condition: it needs \"conductor\", \"dirichlet\", "
                                   "\"neumann\", \"robin\" or \"interface\"");
    const auto another = std::find_if(kind + 1, std::end(kinds), is_there);
    if (another != std::end(kinds))
      throw InputError(group.where() + " has two conditions, \"" + kind->first + "\" and \"" +
                       another->first + "\"");
    GroupCondition condition{.group = name, .kind = kind->second};
    switch (condition.kind) {
      case Kind::conductor:
        condition.conductor = read_conductor(group, name);
        break;
      case Kind::dirichlet:
      case Kind::neumann:
        condition.value = data(group, kind->first);
        break;
      case Kind::robin: {
        const JsonObject robin(group.at("robin"), group.where("robin"), {"coefficient", "value"});
        condition.coefficient = data(robin, "coefficient");
        condition.value = data(robin, "value");
        break;
      }
      case Kind::interface:
        group.require_true("interface");
    }
    return condition;
  }

  template <class Read>
  static void for_each_of(const JsonObject& sources, const char* key, Read&& read) {
    if (!sources.has(key)) return;
    const Json& all = sources.at(key);
    if (!all.is_array()) sources.refuse(key, "a list, [ … ]");
    for (std::size_t k = 0; k < all.size(); ++k)
      read(all[k], sources.where(key) + ", number " + std::to_string(k));
  }

  void read_sources(const JsonObject& top) {
    const JsonObject sources(top.at("sources"), top.where("sources"),
                             {"charges", "dipoles", "lines", "field"});
    const auto add = [&](const JsonObject& object, ProblemSource source) {
      if (object.has("region")) source.region = object.text("region");
      problem().sources.push_back(std::move(source));
    };
    for_each_of(sources, "charges", [&](const Json& json, const std::string& where) {
      const JsonObject charge(json, where, {"at", "charge", "current", "region"});
      add(charge, {.at = charge.vector("at"), .charge = charge.number(charge_key(charge))});
    });
    for_each_of(sources, "dipoles", [&](const Json& json, const std::string& where) {
      const JsonObject dipole(json, where, {"at", "moment", "region"});
      add(dipole, {.kind = ProblemSource::Kind::dipole,
                   .at = dipole.vector("at"),
                   .moment = dipole.vector("moment")});
    });
    for_each_of(sources, "lines", [&](const Json& json, const std::string& where) {
      const JsonObject line(json, where, {"from", "to", "charge", "current", "region"});
      add(line, {.kind = ProblemSource::Kind::line,
                 .at = line.vector("from"),
                 .to = line.vector("to"),
                 .charge = line.number(charge_key(line))});
    });
    if (sources.has("field")) problem().field = sources.vector("field");
  }

  void read_planes(const JsonObject& top) {
    const JsonObject planes(top.at("planes"), top.where("planes"), {"x", "y", "z"});
    FMBEM_REQUIRE(!planes.json().empty(), planes.where() << " has no plane: leave it out");
    const char* const axes[] = {"x", "y", "z"};
    for (int axis = 0; axis < 3; ++axis) {
      if (!planes.has(axes[axis])) continue;
      const std::string kind = planes.text(axes[axis]);
      if (kind != "ground" && kind != "mirror")
        planes.refuse(axes[axis], "\"ground\" or \"mirror\"");
      problem().planes.at[axis] =
          SymmetryPlane{kind == "ground" ? PlaneKind::ground : PlaneKind::mirror};
    }
  }

  void read_formulation(const JsonObject& top) {
    using Formulation = ProblemFormulation;
    const std::string name = top.text("formulation");
    if (name == "direct")
      problem().formulation = Formulation::direct;
    else if (name == "second kind")
      problem().formulation = Formulation::second_kind;
    else if (name != "single layer")
      top.refuse("formulation", "\"single layer\", \"direct\" or \"second kind\"");
  }

  void read_bodies(const JsonObject& top) {
    const JsonObject bodies(top.at("bodies"), top.where("bodies"));
    FMBEM_REQUIRE(!bodies.json().empty(), bodies.where() << " has no body: leave it out");
    for (const auto& [name, json] : bodies.json().items()) {
      const JsonObject body(json, bodies.where(name), {"groups", "about"});
      BodyOfGroups& added = result_.bodies.emplace_back(BodyOfGroups{{name}, {}});
      for_each_of(body, "groups", [&](const Json& group, const std::string& where) {
        FMBEM_REQUIRE(group.is_string(), where << " must be a group's name");
        added.groups.push_back(group.get<std::string>());
      });
      FMBEM_REQUIRE(!added.groups.empty(), body.where() << " has no \"groups\"");
      if (body.has("about")) added.body.about = body.vector("about");
    }
  }

  std::string folder_;
  ProblemFile result_;
};

}  // namespace

void refuse_what_solve_does(const ProblemFile& problem, const std::string& file) {
  const auto refuse = [&](bool is_there, const char* what) {
    FMBEM_REQUIRE(!is_there, file << " has " << what << ": use fmbem solve");
  };
  refuse(problem.problem.has_losses(), "complex permittivities");
  refuse(problem.problem.formulation != ProblemFormulation::single, "a \"formulation\"");
  refuse(!problem.bodies.empty(), "\"bodies\", on which forces are asked for");
}

ProblemFile read_problem(const std::string& file) { return Reader(file).result(); }

}  // namespace fmbem::cli
