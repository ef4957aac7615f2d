#include "cli/study_options.hpp"

#include <fstream>

#include "cli/common_options.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/known_problems.hpp"

namespace fmbem::cli {
namespace {

using Words = std::vector<std::string>;

/// An option with a list of values, separated by commas, and its default in the help.
template <class T>
CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<T>& values,
                      const std::string& help, const std::string& type) {
  return app.add_option(name, values, help)
      ->delimiter(',')
      ->type_name(type + ",...")
      ->allow_extra_args(false)
      ->capture_default_str();
}

/// Words that help and completion offer; the study takes others, too, and checks them.
CLI::Validator offered(const Words& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "{" : ",") + word;
  return {[](std::string&) { return std::string(); }, list + "}"};
}

Json solvent_json(const SolvationModel& model) {
  return {{"permittivity_inside", model.permittivity_inside},
          {"permittivity_outside", model.permittivity_outside},
          {"kappa", model.kappa},
          {"temperature", model.temperature}};
}

std::string known_names() {
  std::string names;
  for (const KnownProblem& each : known_problems()) {
    names += (names.empty() ? "" : "; ") + each.name + (each.size ? "[:X]" : "") + ", " + each.what;
    if (each.size) names += ", X " + decimal(*each.size) + " by default";
  }
  return names;
}

std::vector<std::string> inputs_of(const std::string& file, const Json& value) {
  if (value.is_array()) {
    std::vector<std::string> all;
    for (const Json& one : value)
      for (const std::string& text : inputs_of(file, one)) all.push_back(text);
    return all;
  }
  if (value.is_string()) return {value.get<std::string>()};
  FMBEM_REQUIRE(value.is_number() || value.is_boolean(),
                file << ": values are numbers, words, true or false, and lists of these, not "
                     << value.dump());
  return {value.dump()};
}

std::vector<CLI::ConfigItem> read_items(const std::string& file) {
  std::ifstream stream(file);
  FMBEM_REQUIRE(stream, "cannot read the study " << file << ": is there such a file?");
  if (ending(file) == "json") {
    const Json json = Json::parse(stream, nullptr, false);
    FMBEM_REQUIRE(json.is_object(), file << " is no JSON object with the options of a study");
    std::vector<CLI::ConfigItem> items;
    for (const auto& [name, value] : json.items())
      items.push_back({{}, name, inputs_of(file, value)});
    return items;
  }
  FMBEM_REQUIRE(ending(file) == "toml", "a study's file ends with .toml or .json, not " << file);
  try {
    return CLI::ConfigTOML().from_config(stream);
  } catch (const CLI::Error& e) {
    throw InputError(file + " is no TOML: " + e.what());
  }
}

}  // namespace

void add_study_options(CLI::App& app, StudyOptions& options) {
  app.add_option("MESH", options.meshes, "closed or open surfaces, as for capacitance");
  add_list(app, "--problem", options.problems, "surfaces that need no file: " + known_names(),
           "NAME");
  app.add_option("--out", options.folder,
                 "folder of the tables, made if need be; a study that was ended goes on there")
      ->type_name("DIR")
      ->group(output_group);
  app.add_option("--config", options.file,
                 "a .toml or .json file with the names of these options, \"mesh\" for MESH; the "
                 "command line beats it")
      ->type_name("FILE");
  app.add_option("--plot", options.plot,
                 "make the pictures of the tables in DIR anew, without solving")
      ->type_name("DIR");
  app.add_option("--set", options.sets, "values of a number that a .geo defines")
      ->type_name("NAME=X,...")
      ->allow_extra_args(false);
  add_list(app, "--mesh-size", options.mesh_sizes, "edges when geometry is meshed", "H");
  app.add_option("--unit", options.unit, "of the meshes, as for capacitance")->type_name("U");
  app.add_option("--media", options.media,
                 "a problem's file, as fmbem solve has it: what lies in the meshes, for the "
                 "formulation media")
      ->type_name("FILE.json");
  app.add_option("--pqr", options.molecule,
                 "the molecule in the meshes, which are its surfaces, for the formulation solvate")
      ->type_name("FILE.pqr");
  add_medium_options(app, options.solvation);
  add_list(app, "--refine", options.refine, "how often triangles are split into four", "K");
  add_list(
      app, "--formulation", options.formulations,
      "single: V s = u; direct: V q = (K - 1/2) u; second: (1/2 - K) u = -V q; adjoint: "
      "(1/2 - K') s = -q, for u or q = du/dn outside; mixed: u given on one half, q on the "
      "other; dielectric:E: bodies of permittivity E in an applied field; media: conductors and "
      "dielectrics of a problem; solvate[:direct|juffer|lu]: a molecule among ions",
      "F")
      ->check(offered(
          {"single", "direct", "second", "adjoint", "mixed", "dielectric:80", "media", "solvate"}));
  add_list(app, "--ksp", options.methods,
           "PETSc's methods, with what they keep until a restart: gmres, fgmres, lgmres, gcr, "
           "bcgs, bcgsl, tfqmr, cgs, ...",
           "TYPE[:RESTART]");
  add_list(app, "--pc", options.preconditioners,
           "cluster, or cluster:N with N unknowns in its small systems; none, jacobi, leaves "
           "(blocks), on the matrix of close panels asm, ilu, gamg, and on all of it lu (with "
           "--ksp preonly, a dense direct solver)",
           "WORD")
      ->check(offered(preconditioner_words));
  add_list(app, "--side", options.sides, "default: right where the method has it", "WORD")
      ->check(CLI::IsMember(Words{"default", "right", "left"}));
  add_list(app, "--tolerance", options.tolerances, "relative residual of the solve", "T");
  add_list(app, "--operator-tolerance", options.operator_tolerances,
           "relative error of the operator (default: a tenth of the solver's tolerance)", "T");
  add_list(app, "--relax", options.relax,
           "products lose accuracy as the residual falls (gmres, fgmres, gcr)", "WORD")
      ->check(CLI::IsMember(Words{"no", "yes"}));
  add_list(app, "--true-residual", options.true_residuals,
           "correct solutions by tighter products until this is left of b; 0: leave them", "T");
  add_list(app, "--operator", options.operators, "by the FMM, or as a matrix", "WORD")
      ->check(CLI::IsMember(Words{"auto", "fmm", "dense"}));
  add_list(app, "--precision", options.precisions, "of stored entries", "WORD")
      ->check(CLI::IsMember(Words{"auto", "double", "single"}));
  add_list(app, "--backend", options.backends, "where products are made", "WORD")
      ->check(CLI::IsMember(Words{"cpu", "cuda"}));
  add_list(app, "--rhs", options.right_hand_sides,
           "one (u = 1, du/dn = -1, a uniform field, or what the problem has); source: of a charge "
           "inside, whose potential is known; opposite: u = 1 and -1 on groups in turn; groups: "
           "u = 1 on each group, one after the other; random or random:K; an array of NumPy's, "
           "[N] or [K][N]",
           "WORD|FILE.npy");
  add_list(app, "--in-step", options.in_step,
           "so many right-hand sides share products, 1 to 4 (with cluster; 1 otherwise)", "N");
  app.add_option("--axis", options.axes, "values of a PETSc option")
      ->type_name("-OPTION=X,...")
      ->allow_extra_args(false);
  app.add_option("--max-iterations", options.most_iterations, "of each solve")
      ->capture_default_str();
  app.add_option("--repeat", options.repeats, "solve so often, for the spread of the times")
      ->capture_default_str();
  app.add_flag("--ritz", options.ritz,
               "Ritz values of each Krylov space and an estimate of the condition, at any size");
  app.add_flag("--spectrum", options.spectrum,
               "eigenvalues, singular values and field of values of each preconditioned operator, "
               "up to 3000 unknowns");
  app.add_flag("--export", options.exports,
               "A, b and the panels' order as .npy for each system, up to 3000 unknowns")
      ->group(output_group);
  app.add_option("--threads", options.threads, "default: the cores that the process may use");
  app.add_flag("--quiet", options.quiet, "print errors and warnings alone");
}

void read_study_file(CLI::App& app, const std::string& file) {
  for (const CLI::ConfigItem& item : read_items(file)) {
    const std::string option_name = item.name == "mesh" ? "MESH" : "--" + item.name;
    CLI::Option* option = app.get_option_no_throw(option_name);
    FMBEM_REQUIRE(
        option && item.parents.empty() && item.name != "config" && item.name != "help",
        file << ": \"" << item.fullname() << "\" is no option of a study (see fmbem study --help)");
    if (option->count() > 0) continue;
    try {
      for (const std::string& input : item.inputs) option->add_result(input);
      option->run_callback();
    } catch (const CLI::ParseError& e) {
      throw InputError(file + ": " + e.what());
    }
  }
}

Json study_arguments(const StudyOptions& o) {
  return {{"mesh", o.meshes},
          {"problem", o.problems},
          {"set", o.sets},
          {"mesh-size", o.mesh_sizes},
          {"unit", o.unit ? Json(*o.unit) : Json(nullptr)},
          {"media", o.media ? Json(*o.media) : Json(nullptr)},
          {"pqr", o.molecule ? Json(*o.molecule) : Json(nullptr)},
          {"solvent", solvent_json(model_of(o.solvation))},
          {"refine", o.refine},
          {"formulation", o.formulations},
          {"ksp", o.methods},
          {"pc", o.preconditioners},
          {"side", o.sides},
          {"tolerance", o.tolerances},
          {"operator-tolerance", o.operator_tolerances},
          {"relax", o.relax},
          {"true-residual", o.true_residuals},
          {"operator", o.operators},
          {"precision", o.precisions},
          {"backend", o.backends},
          {"rhs", o.right_hand_sides},
          {"in-step", o.in_step},
          {"axis", o.axes},
          {"max-iterations", o.most_iterations},
          {"repeat", o.repeats},
          {"ritz", o.ritz},
          {"spectrum", o.spectrum},
          {"export", o.exports}};
}

std::pair<std::string, std::vector<std::string>> parse_axis(const std::string& option,
                                                            const std::string& text) {
  const std::size_t equals = text.find('=');
  std::vector<std::string> values;
  if (equals != std::string::npos && equals > 0) values = split_at_commas(text.substr(equals + 1));
  bool good = !values.empty();
  for (const std::string& value : values) good = good && !value.empty();
  FMBEM_REQUIRE(good, option << " takes NAME=X,Y,…, not \"" << text << "\"");
  return {text.substr(0, equals), values};
}

}  // namespace fmbem::cli
