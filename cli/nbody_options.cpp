#include "cli/nbody_options.hpp"

#include <cmath>

#include "cli/picture_options.hpp"
#include "fmbem/fmm/base/clouds.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/point_set.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/write_points.hpp"
#include "fmbem/meshes/xyz_file.hpp"

namespace fmbem::cli {

void add_nbody_options(CLI::App& app, NbodyOptions& o) {
  app.add_option("--points", o.points,
                 "how many points, such as 1e5, or a file of lines `x y z` or `x y z charge`")
      ->type_name("N|FILE")
      ->required();
  add_choice(
      app, "--distribution", o.distribution,
      {{"cube", "cube"},
       {"sphere", "sphere"},
       {"plummer", "plummer"},
       {"ellipsoid", "ellipsoid"},
       {"lattice", "lattice"},
       {"centres", "centres"},
       {"filament", "filament"},
       {"cluster", "cluster"},
       {"scales", "scales"}},
      "where N points are: in a cube, on a sphere, in a Plummer sphere, on an ellipsoid with half "
      "of them at its tip, on a lattice, at distance u^3 (u uniform) around two centres, about a "
      "helix, 99 % in a cube of 1/1000 of the edge, or half in one of 1/1000000 "
      "(default: cube)");
  add_choice(app, "--charges", o.equal_charges, {{"mixed", false}, {"equal", true}},
             "of N points and of files without: uniform in [-1, 1), or all 1 (default: mixed)");
  app.add_option("--seed", o.seed, "of the random numbers (default: 1)");
  add_choice(app, "--method", o.plan.method,
             {{"automatic", fmm::Method::automatic},
              {"direct", fmm::Method::direct},
              {"treecode", fmm::Method::treecode},
              {"fmm", fmm::Method::fmm},
              {"hybrid", fmm::Method::hybrid}},
             "how the sums are done; automatic takes what is foreseen to be fastest");
  app.add_option("--tolerance", o.plan.tolerance,
                 "relative L2 error of potential and force (default: 1e-4)")
      ->type_name("E");
  app.add_option("--order", o.plan.order, "of expansions (default: what the tolerance needs)")
      ->type_name("P");
  app.add_option("--theta", o.plan.theta,
                 "of a treecode or a hybrid: radii over distance, above 0 and at most 1 (default: "
                 "0.5; 0.866)")
      ->type_name("T");
  add_choice(app, "--expansion", o.plan.expansion,
             {{"auto", std::nullopt},
              {"spherical", fmm::Expansion::spherical},
              {"cartesian", fmm::Expansion::cartesian}},
             "of a treecode or a hybrid, where expansions act on points; auto: what is faster");
  app.add_option("--leaf", o.plan.max_leaf,
                 "most points of a leaf; the FMM's, in the mean of a box and its colleagues "
                 "(default: what is fastest)")
      ->type_name("N");
  app.add_option("--kappa", o.plan.kappa,
                 "of Yukawa's kernel exp(-K r)/(4 pi r), 1/length (default: 0)")
      ->type_name("K");
  app.add_option("--softening", o.plan.softening,
                 "of direct sums: 1/(4 pi r) becomes 1/(4 pi sqrt(r^2 + L^2)) (default: 0)")
      ->type_name("L");
  add_choice(app, "--precision", o.plan.precision,
             {{"auto", std::nullopt},
              {"double", Precision::double_precision},
              {"single", Precision::single_precision}},
             "auto: single where the tolerance allows it");
  add_choice(app, "--backend", o.backend, {{"cpu", Processor::cpu}, {"cuda", Processor::gpu}},
             "where the work is done");
  add_choice(
      app, "--construction", o.plan.construction,
      {{"radix-sort", fmm::Construction::radix_sort}, {"histogram", fmm::Construction::histogram}},
      "how points are sorted; both ways give the same tree");
  app.add_flag("--potential-only", o.potential_only, "no forces");
  app.add_option(
         "--repeats", o.repeats,
         "evaluations, of which the fastest is told; stages on a GPU are of one more, in which "
         "they go one after the other (default: 1)")
      ->type_name("N");
  app.add_option("--check", o.check,
                 "targets, picked at random, where errors are found by compensated direct sums "
                 "(default: 200)")
      ->type_name("N");
  app.add_option("--threads", o.threads, "default: the cores that the process may use");
  app.add_option("--output", o.file,
                 "points, charges, potentials and forces: a table (.csv), for ParaView (.vtp, "
                 ".vtu), or an array [points][4] of potential and force (.npy)")
      ->type_name("FILE")
      ->group(output_group);
  app.add_option("--picture,--plot", o.picture,
                 "points coloured by potential (.png, .svg), or a page to turn them in a browser "
                 "(.html); fmbem plot draws a .vtu, forces too")
      ->type_name("FILE")
      ->group(output_group);
  add_output_options(app, o.output);
}

void check_nbody_options(const NbodyOptions& o) {
  FMBEM_REQUIRE(o.repeats >= 1, "--repeats must be 1 or more, not " << o.repeats);
  FMBEM_REQUIRE(o.seed.value_or(1) >= 0, "--seed must be 0 or more, not " << *o.seed);
  FMBEM_REQUIRE(o.check >= 0, "--check must be 0 or more, not " << o.check);
  FMBEM_REQUIRE(
      o.plan.method != fmm::Method::direct || o.plan.construction == fmm::Construction::radix_sort,
      "a direct sum has no tree to be made by histogram: leave out --construction");
  if (o.file && !o.file->ends_with(".npy")) check_points_path(*o.file);
  FMBEM_REQUIRE(
      !o.file || !o.file->ends_with(".vti"),
      "scattered points are no grid: write them as .csv, .vtp, .vtu or .npy, not " << *o.file);
  check_picture(o.picture);
}

Bodies read_bodies(const NbodyOptions& o) {
  Bodies bodies;
  const auto seed = static_cast<std::uint64_t>(o.seed.value_or(1));
  if (const std::optional<double> count = parse_number(o.points)) {
    FMBEM_REQUIRE(
        *count >= 1 && *count <= most_points && *count == std::floor(*count),
        "--points must be a whole number from 1 to " << most_points << ", not " << o.points);
    bodies.points = clouds::points_by_name(o.distribution.value_or("cube"),
                                           static_cast<std::size_t>(*count), seed);
  } else {
    FMBEM_REQUIRE(!o.distribution, "--distribution is for a number of --points, and "
                                       << o.points << " is a file: leave it out");
    PointFile file = read_xyz_file(o.points);
    FMBEM_REQUIRE(!o.equal_charges || file.charges.empty(),
                  o.points << " has charges: leave out --charges");
    FMBEM_REQUIRE(!o.seed || (file.charges.empty() && !o.equal_charges.value_or(false)),
                  "--seed is for points or charges that are random: leave it out");
    bodies = {std::move(file.points), std::move(file.charges)};
  }
  if (bodies.charges.empty()) {
    bodies.charges.assign(bodies.points.size(), 1.0);
    if (!o.equal_charges.value_or(false))
      bodies.charges = clouds::signed_charges(bodies.points.size(), seed + 1);
  }
  return bodies;
}

}  // namespace fmbem::cli
