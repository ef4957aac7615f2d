#include "fmbem/problems/solvation/solvation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "fmbem/bem/geometry/enclosures.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/join.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/solvation/extrapolate_energy.hpp"
#include "fmbem/problems/solvation/poisson_boltzmann_operator.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"
#include "tests/unit/molecules.hpp"

namespace fmbem::test::solvation_tests {

TEST_CASE("the series of Kirkwood gives the values of other codes") {
  // These took 332.06368 kcal Å/(mol e²).
  SolvationModel model;
  model.energy_constant = 332.06368;
  model.kappa = 0.125;
  const auto energy = [&](double radius, Vec3d r) { return 0.5 * kirkwood(radius, r, r, model); };
  CHECK(energy(4, {1, 1, 1}) == Approx(-12.258363713).epsilon(1e-8));
  CHECK(energy(4, {1, 1, std::sqrt(2.0)}) == Approx(-13.24534516).epsilon(1e-8));
  CHECK(energy(5, {0.1, 0, 0}) == Approx(-8.049262833).epsilon(1e-8));
  CHECK(energy(4, {}) == Approx(-10.03109039).epsilon(1e-8));
  model.kappa = 0;
  CHECK(energy(4, {}) == Approx(-9.85814055).epsilon(1e-8));
}

TEST_CASE("energies of spheres tend to the closed forms with the square of the panels' size",
          "[long][cases]") {
  struct Case {
    const char* name;
    double radius;
    Vec3d charge;
    double inside, outside, kappa;
  };
  const auto [name, radius, charge, inside, outside, kappa] =
      GENERATE(values<Case>({{"Born", 3, {0, 0, 0}, 1, 78.54, 0},
                             {"Kirkwood", 4, {1, 1, 1}, 4, 80, 0},
                             {"Kirkwood with ions", 4, {1, 1, 1}, 4, 80, 0.125},
                             {"strong screening", 4, {1, 1, 1}, 4, 20, 5},
                             {"another way round", 2, {0, 0.8, 0.3}, 80, 4, 0.5}}));
  if (sanitized && radius == 4) return;
  SolvationModel model;
  model.formulation = GENERATE(SolvationFormulation::direct, SolvationFormulation::juffer,
                               SolvationFormulation::lu);
  INFO(name << ", " << name_of(model.formulation));
  model.permittivity_inside = inside;
  model.permittivity_outside = outside;
  model.kappa = kappa;
  const double exact = 0.5 * kirkwood(radius, charge, charge, model);
  std::vector<EnergyLevel> levels;
  for (int level = 1; level <= 3; ++level) {
    const Solvation result =
        solvate_in({named_sphere("s.off", level, radius)}, {atom_at(charge)}, model);
    CHECK(result.converged);
    CHECK(result.coulomb_energy == 0);
    levels.push_back({result.panels.size(), result.solvation_energy, 0});
  }
  std::vector<double> error;
  for (const EnergyLevel& level : levels) error.push_back(std::abs(level.energy / exact - 1));
  INFO(error[0] << ' ' << error[1] << ' ' << error[2]);
  // Of 512 panels in the sphere the middles are up to 0.95 % of the radius below it.
  // In the derivative forms the panels' normals count as well.
  CHECK(error[2] < (model.formulation == SolvationFormulation::direct ? 2 : 3) * 0.0095);
  CHECK(std::log2(error[1] / error[2]) > 1.9);
  const ExtrapolatedEnergy limit = extrapolate_energy(levels);
  CHECK(std::abs(limit.energy / exact - 1) < 0.1 * error[2]);
  CHECK(limit.error > std::abs(limit.energy - exact));
}

TEST_CASE("a charge close below the surface has the energy of the series") {
  const Vec3d charge{0, 0, 3.5};  // half an ångström
  const SolvationModel model;
  const double exact = 0.5 * kirkwood(4, charge, charge, model);
  std::vector<EnergyLevel> levels;
  for (int level = 3; level <= 4; ++level) {
    const Solvation result =
        solvate_in({named_sphere("s.off", level, 4)}, {atom_at(charge)}, model, 1e-6);
    levels.push_back({result.panels.size(), result.solvation_energy, 0});
  }
  // The surface's own distance from the charge, 0.5, is 1 % less with 2048 panels.
  CHECK(levels[1].energy == Approx(exact).epsilon(0.06));
  CHECK(extrapolate_energy(levels).energy == Approx(exact).epsilon(0.02));
}

TEST_CASE("reaction potentials at all atoms are those of all charges") {
  const std::vector<Vec3d> places{{1, 0.5, -1}, {-0.7, 1.2, 0.3}, {0.1, -1.5, 1}};
  const std::vector<double> q{1, -0.5, 0};
  const SolvationModel model;
  std::vector<Atom> atoms;
  for (int a = 0; a < 3; ++a) atoms.push_back(atom_at(places[a], q[a]));
  const Solvation result = solvate_in({named_sphere("s.off", 4, 4)}, atoms, model, 1e-6);
  double energy = 0;
  for (int a = 0; a < 3; ++a) {
    double exact = 0;
    for (int b = 0; b < 3; ++b) exact += q[b] * kirkwood(4, places[b], places[a], model);
    CHECK(result.reaction[a] == Approx(exact).margin(0.01 * 20));
    energy += 0.5 * q[a] * result.reaction[a];
  }
  CHECK(result.solvation_energy == Approx(energy).epsilon(1e-13));
  const double coulomb = q[0] * q[1] * model.energy_constant /
                         (model.permittivity_inside * norm(places[0] - places[1]));
  CHECK(result.coulomb_energy == Approx(coulomb).epsilon(1e-9));
}

TEST_CASE("charges of sites have the energies of the series in each other's reaction field") {
  const SolvationModel model;
  const std::vector<Vec3d> places{{2, 0, 0}, {-1, 1, 0.5}, {0, -1.5, -1}};
  Molecule sites = molecule_of({atom_at(places[0], 1), atom_at(places[1], -0.4),
                                atom_at(places[2], 0.7), atom_at({0, 0, 0}, 0)});
  const int residue_of[] = {1, 2, 2, 2};
  for (int a = 0; a < 4; ++a) sites.atoms[a].residue_number = std::to_string(residue_of[a]);
  const std::vector<ChargeSet> sets = charge_sets_of(sites);
  REQUIRE(sets.size() == 2);
  CHECK(sets[1].name == "ION 2");
  CHECK(sets[1].atoms.size() == 2);  // what has no charge is left out
  LayerOptions options;
  options.solver.tolerance = 1e-7;
  const SurfaceMesh mesh = join_meshes({named_sphere("s.off", 3, 4)});
  const Solvation result = solvate(mesh, molecule_of({atom_at({1, 1, 1})}), model, options, sets);
  REQUIRE(result.site_energies.n == 2);
  CHECK(result.solves.size() == 3);
  const double q[] = {1, -0.4, 0.7};
  SquareMatrix exact(2);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b)
      exact(a > 0, b > 0) += q[a] * q[b] * kirkwood(4, places[b], places[a], model);
  // Panels of 512 lie up to 0.95 % below the sphere, which is twice that of the distance of the
  // nearest charge from it.
  const double scale = std::abs(exact(0, 0));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      CHECK(result.site_energies(i, j) == Approx(exact(i, j)).margin(2 * 0.019 * scale));
  CHECK(std::abs(result.site_energies(0, 1) - result.site_energies(1, 0)) < 0.005 * scale);
  // A set alone is a molecule of its own.
  const Solvation alone = solvate(mesh, molecule_of({atom_at(places[0])}), model, options);
  CHECK(0.5 * result.site_energies(0, 0) == Approx(alone.solvation_energy).epsilon(1e-6));
  CHECK_THAT(refusal([&] {
               ChargeSet outside{"ASP A 3", {atom_at({0, 0, 5})}};
               outside.atoms[0].line = 7;
               solvate(mesh, molecule_of({atom_at({1, 1, 1})}), model, options,
                       std::vector<ChargeSet>{outside});
             }),
             contains("ASP A 3") && contains("line 7") && contains("in no molecule"));
  sites.atoms[0].charge = 0;
  CHECK_THAT(refusal([&] { charge_sets_of(sites); }), contains("ION 1 has no charge"));
  // Atoms of a site need not follow each other.
  sites.atoms[3].residue_number = "1";
  sites.atoms[3].charge = 0.5;
  const std::vector<ChargeSet> apart = charge_sets_of(sites);
  REQUIRE(apart.size() == 2);
  CHECK(apart[0].atoms.size() == 1);
  CHECK(apart[0].atoms[0].line == 4);
  CHECK(apart[1].atoms.size() == 2);
}

TEST_CASE("a layer without ions around an ion has the energy of the closed form") {
  // Outside of the layer φ is A exp(−κr)/r; there and in the ion q/(εr) and constants.
  SolvationModel model;
  model.permittivity_inside = 2;
  model.kappa = 0.3;
  const double a = 3, b = 5;
  const double exact = 0.5 * model.energy_constant *
                       (1 / (model.permittivity_outside * a) - 1 / (model.permittivity_inside * a) -
                        model.kappa / (model.permittivity_outside * (1 + model.kappa * b)));
  std::vector<EnergyLevel> levels;
  for (int level = 2; level <= 3; ++level) {
    const Solvation result =
        solvate_in({named_sphere("ion.off", level, a), named_sphere("layer.off", level, b)},
                   {atom_at({0, 0, 0})}, model, 1e-8);
    levels.push_back({result.panels.size(), result.solvation_energy, 0});
  }
  CHECK(levels[1].energy == Approx(exact).epsilon(0.015));
  CHECK(extrapolate_energy(levels).energy == Approx(exact).epsilon(1.5e-3));
}

TEST_CASE("molecules take few iterations, whatever their surfaces and panels") {
  SolvationModel model;
  model.kappa = 0.125;
  model.formulation = GENERATE(SolvationFormulation::direct, SolvationFormulation::juffer,
                               SolvationFormulation::lu);
  INFO(name_of(model.formulation));
  const std::vector<Atom> atoms{atom_at({-1, 0, 0}), atom_at({0, 1, -2})};
  for (const int level : {2, 3}) {
    const SurfaceMesh cavity = named_sphere("cavity.off", level, 0.8, {1.5, 0, 0}),
                      solute = named_sphere("s.off", level, 4),
                      layer = named_sphere("layer.off", level, 6);
    for (const auto& surfaces : std::vector<std::vector<SurfaceMesh>>{
             {solute}, {solute, layer}, {cavity, solute, layer}}) {
      const Solvation result = solvate_in(surfaces, atoms, model, 1e-6);
      CAPTURE(level, surfaces.size(), result.solves[0].iterations);
      CHECK(result.solves[0].iterations <= 8);
    }
  }
}

TEST_CASE("a very small kappa gives what none gives") {
  const std::vector<SurfaceMesh> surfaces{named_sphere("s.off", 2, 4)};
  SolvationModel model;
  const double none = solvate_in(surfaces, {atom_at({1, 1, 1})}, model).solvation_energy;
  model.kappa = 1e-9;
  CHECK(solvate_in(surfaces, {atom_at({1, 1, 1})}, model).solvation_energy ==
        Approx(none).epsilon(1e-7));
}

TEST_CASE("equal permittivities make no reaction, whatever the surfaces") {
  SolvationModel model;
  model.permittivity_inside = model.permittivity_outside = 5;
  const Solvation result =
      solvate_in({named_sphere("cavity.off", 2, 0.8, {1.5, 0, 0}), named_sphere("s.off", 3, 4),
                  named_sphere("layer.off", 3, 6)},
                 {atom_at({-1, 0, 0})}, model);
  // The potential on the surfaces is the charge's own, up to the error of panels, 1 %.
  const double scale = model.energy_constant / (5 * 4);
  CHECK(std::abs(result.reaction[0]) < 0.02 * scale);
}

TEST_CASE("the derivatives' equations of one medium have no integrals, and give no energy") {
  SolvationModel model;
  model.permittivity_inside = model.permittivity_outside = 5;
  model.formulation = GENERATE(SolvationFormulation::juffer, SolvationFormulation::lu);
  const std::vector<Atom> atoms{atom_at({-1, 0, 0}), atom_at({2, 0.5, 0}, -0.5)};
  LayerOptions options;
  options.op.kind = GENERATE(OperatorOptions::Choice::dense, OperatorOptions::Choice::fmm);
  const Solvation result =
      solvate(join_meshes({named_sphere("s.off", 3, 4)}), molecule_of(atoms), model, options);
  CHECK(result.converged);
  const double scale = model.energy_constant / (5 * 4);
  for (const double reaction : result.reaction) CHECK(std::abs(reaction) < 0.02 * scale);
  for (std::size_t i = 0; i < result.panels.size(); ++i) {
    const Vec3d x = result.panels.centroid(static_cast<std::int32_t>(i)) + result.panels.origin;
    double sum = 0;
    for (const Atom& atom : atoms) sum += atom.charge / norm(x - atom.place);
    CHECK(result.potential[i] == Approx(model.energy_constant / 5 * sum).epsilon(1e-4));
  }
}

TEST_CASE("without ions a surface between equal media changes little") {
  const std::vector<Atom> atoms{atom_at({1, 1, 1})};
  const double alone = solvate_in({named_sphere("s.off", 3, 4)}, atoms).solvation_energy;
  const Solvation both =
      solvate_in({named_sphere("layer.off", 3, 6), named_sphere("s.off", 3, 4)}, atoms);
  CHECK(both.solvation_energy == Approx(alone).epsilon(2e-3));
  CHECK(both.regions.regions[1].kind == SoluteRegion::Kind::solvent_no_ions);
  CHECK(both.regions.regions[2].kind == SoluteRegion::Kind::solute);
}

TEST_CASE("two molecules far apart have the energies of each") {
  const double one =
      solvate_in({named_sphere("a.off", 2, 4)}, {atom_at({0, 0, 0})}).solvation_energy;
  const Solvation two =
      solvate_in({named_sphere("a.off", 2, 4), named_sphere("b.off", 2, 4, {400, 0, 0})},
                 {atom_at({0, 0, 0}), atom_at({400, 0, 0})});
  // What is left is the energy of two charges in the solvent, q²/(ε_out r).
  CHECK(two.solvation_energy - 2 * one == Approx(332.0637133 / 80 / 400).epsilon(0.02));
  CHECK(two.coulomb_energy == 0);
}

TEST_CASE("the dense operator and the FMM give the same energies") {
  const SurfaceMesh mesh = join_meshes({named_sphere("s.off", 3, 4), named_sphere("t.off", 3, 6)});
  const Molecule molecule = molecule_of({atom_at({1, 1, 1}), atom_at({-1, 0, 0.5}, -0.3)});
  LayerOptions options;
  options.op.kind = OperatorOptions::Choice::dense;
  const double dense = solvate(mesh, molecule, {}, options).solvation_energy;
  options.op.kind = OperatorOptions::Choice::fmm;
  CHECK(solvate(mesh, molecule, {}, options).solvation_energy == Approx(dense).epsilon(1e-5));
}

TEST_CASE("diagonal blocks are those of the operator's columns") {
  const SurfaceMesh mesh = join_meshes({named_sphere("s.off", 1, 4), named_sphere("t.off", 1, 6)});
  const Panels panels = make_panels(mesh);
  const Molecule molecule = molecule_of({atom_at({1, 1, 1})});
  const SoluteRegions found = find_solute_regions(mesh, panels, molecule);
  std::vector<ScreenedRegion> regions;
  const double permittivity[] = {80, 70, 4};
  for (std::size_t r = 0; r < found.regions.size(); ++r)
    regions.push_back({permittivity[r], r == 0 ? 0.3 : 0.0, found.regions[r].panels});
  const auto formulation = GENERATE(SolvationFormulation::direct, SolvationFormulation::juffer,
                                    SolvationFormulation::lu);
  const auto made =
      make_poisson_boltzmann(panels, regions, found.inside, found.outside, formulation, {});
  const PoissonBoltzmannOperator& op = *made;
  const std::size_t n = op.size();
  REQUIRE(n == 2 * panels.size());
  const std::int64_t begin = 5, end = 26, m = end - begin;
  std::vector<double> block(m * m);
  op.diagonal_block(begin, end, block.data());
  for (std::int64_t j = begin; j < end; ++j) {
    std::vector<double> unit(n), column(n);
    unit[j] = 1;
    op.apply(unit.data(), column.data());
    for (std::int64_t i = begin; i < end; ++i)
      CHECK(block[(i - begin) * m + j - begin] == Approx(column[i]).epsilon(1e-10).margin(1e-12));
  }
}

TEST_CASE("tighter products are made afresh", "[long]") {
  const SurfaceMesh mesh = join_meshes({named_sphere("s.off", 3, 4)});
  const Panels panels = make_panels(mesh);
  const SoluteRegions found = find_solute_regions(mesh, panels, molecule_of({atom_at({1, 1, 1})}));
  std::vector<ScreenedRegion> regions;
  for (const SoluteRegion& region : found.regions)
    regions.push_back({region.kind == SoluteRegion::Kind::solute ? 4.0 : 80.0,
                       region.kind == SoluteRegion::Kind::solute ? 0.0 : 0.3, region.panels});
  const auto formulation = GENERATE(SolvationFormulation::direct, SolvationFormulation::juffer);
  const auto product = [&](OperatorOptions::Choice kind, double tolerance) {
    OperatorOptions options;
    options.kind = kind;
    options.tolerance = 1e-3;
    options.max_leaf = 20;
    const auto op =
        make_poisson_boltzmann(panels, regions, found.inside, found.outside, formulation, options);
    std::vector<double> x(op->size()), y(op->size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::cos(static_cast<double>(i));
    op->apply(x.data(), y.data(), {.tolerance = tolerance});
    return y;
  };
  const std::vector<double> exact = product(OperatorOptions::Choice::dense, 0),
                            tight = product(OperatorOptions::Choice::fmm, 1e-8);
  double largest = 0;
  for (const double value : exact) largest = larger_error(largest, std::abs(value));
  for (std::size_t i = 0; i < exact.size(); ++i)
    CHECK(std::abs(tight[i] - exact[i]) < 1e-7 * largest);
}

TEST_CASE("enclosures of known components are those that are found") {
  // Panels of three spheres of different sizes are mixed in the order of panels.
  const SurfaceMesh mesh =
      join_meshes({named_sphere("b.off", 2, 2, {3, 1, 0}), named_sphere("s.off", 3, 4),
                   named_sphere("c.off", 1, 0.8, {1.5, 0, 0})});
  const Panels panels = make_panels(mesh);
  std::vector<int> group_of;
  for (const std::int64_t i : panels.input_index)
    group_of.push_back(mesh.group_of[static_cast<std::size_t>(i)]);
  const Enclosures found = find_enclosures(panels, std::vector<int>(panels.size(), 0)),
                   known = enclosures_of_classes(panels, group_of);
  CHECK(known.of == found.of);
  CHECK(known.of_whole == found.of_whole);
  REQUIRE(known.parts.size() == 3);
  REQUIRE(found.parts.size() == 3);
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(known.parts[k].first == found.parts[k].first);
    CHECK(known.parts[k].closed);
    CHECK(found.parts[k].closed);
    CHECK(known.parts[k].volume == found.parts[k].volume);
    CHECK(norm(known.parts[k].bounds.low - found.parts[k].bounds.low) == 0);
    CHECK(norm(known.parts[k].bounds.high - found.parts[k].bounds.high) == 0);
  }
}

TEST_CASE("regions are found from what lies in what") {
  const SurfaceMesh mesh = join_meshes(
      {named_sphere("cavity.off", 1, 1, {2, 0, 0}), named_sphere("mol.off", 2, 4),
       named_sphere("cavity layer.off", 1, 2, {-1.5, 0, 0}), named_sphere("layer.off", 2, 6),
       named_sphere("cavity water.off", 1, 1, {-1.5, 0, 0}),
       named_sphere("other.off", 2, 3, {20, 0, 0})});
  const SoluteRegions found = find_solute_regions(
      mesh, make_panels(mesh),
      molecule_of({atom_at({0, 3, 0}), atom_at({20, 1, 0}), atom_at({0, 0, 3})}));
  const auto region_in = [&](const std::string& surface) {
    for (const SoluteRegion& region : found.regions)
      if (region.outer >= 0 && found.surfaces[region.outer] == surface) return region;
    throw std::logic_error("no " + surface);
  };
  using Kind = SoluteRegion::Kind;
  CHECK(found.regions[0].kind == Kind::solvent);
  CHECK(found.regions[0].inner.size() == 2);
  CHECK(region_in("layer").kind == Kind::solvent_no_ions);
  CHECK(region_in("mol").kind == Kind::solute);
  CHECK(region_in("mol").atoms == std::vector<std::int32_t>{0, 2});
  CHECK(region_in("mol").inner.size() == 2);
  CHECK(region_in("mol").panels.size() == 128 + 32 + 32);
  CHECK(region_in("cavity").kind == Kind::solvent);
  CHECK(region_in("cavity layer").kind == Kind::solvent_no_ions);
  CHECK(region_in("cavity water").kind == Kind::solvent);
  CHECK(region_in("other").atoms == std::vector<std::int32_t>{1});
}

TEST_CASE("surfaces and atoms that do not go together are refused") {
  const auto refused = [](const std::vector<SurfaceMesh>& surfaces,
                          const std::vector<Atom>& atoms) {
    return refusal([&] { solvate_in(surfaces, atoms); });
  };
  const SurfaceMesh mol = named_sphere("mol.off", 2, 4);
  const Atom inside = atom_at({1, 1, 1});
  Atom outside = atom_at({5, 0, 0});
  outside.name = "CL";
  CHECK_THAT(refused({mol}, {inside, outside}),
             contains("line 2") && contains("CL of ION 1") && contains("outside of all surfaces"));
  CHECK_THAT(refused({mol, named_sphere("far.off", 1, 1, {9, 0, 0})}, {inside}),
             contains("no atom inside of the surface far"));
  CHECK_THAT(
      refused({mol, named_sphere("in.off", 1, 2)}, {atom_at({0.5, 0.5, 0.5}), atom_at({0, 0, 3})}),
      contains("atoms on both of its sides"));
  CHECK_THAT(refused({mol, named_sphere("across.off", 2, 4, {4.1, 0.2, 0.1})}, {inside}),
             contains("across and mol cross") || contains("mol and across cross"));
  CHECK_THAT(refused({mol, named_sphere("a.off", 2, 1, {2, 0, 0}),
                      named_sphere("b.off", 2, 1, {2.1, 1, 0.05})},
                     {atom_at({-1, 0, 0})}),
             contains(" cross at "));
  SurfaceMesh open = mol;
  open.triangles.pop_back();
  open.group_of.pop_back();
  CHECK_THAT(refused({open}, {inside}), contains("mol") && contains("is not closed"));
  SurfaceMesh flipped = mol;
  for (auto& t : flipped.triangles) std::swap(t[0], t[1]);
  CHECK_THAT(refused({flipped}, {inside}), contains("normals point outward"));
  CHECK_THAT(refused({mol}, {inside, inside}), contains("has a charge at the place of"));
  CHECK_THAT(refused({mol, named_sphere("l.off", 2, 5), named_sphere("m.off", 2, 6)}, {inside}),
             contains("no atom"));
}

TEST_CASE("charges that are too close to panels or to each other are told") {
  const SurfaceMesh mesh = join_meshes({named_sphere("s.off", 2, 4, {1, 2, 3})});
  const Panels panels = make_panels(mesh);
  const auto told = [&](std::vector<Atom> atoms) {
    return find_solute_regions(mesh, panels, molecule_of(std::move(atoms))).notices;
  };
  const Triangle panel = panels.triangle(17);
  const double edge = std::max({panel.length[0], panel.length[1], panel.length[2]});
  const auto below = [&](double depth, double charge) {
    return atom_at(panel.centroid + panels.origin - depth * edge * panel.normal, charge);
  };
  CHECK(told({atom_at({1, 2, 3}), below(0.26, 1), below(0.01, 0)}).empty());
  const auto close = told({atom_at({1, 2, 3}), below(0.24, 1), below(1e-4, -0.5)});
  REQUIRE(close.size() == 1);
  CHECK_THAT(close[0], contains("2 atoms with charges") && contains("ION of ION 1 (line 3)"));
  CHECK_THAT(close[0],
             contains(decimal(1e-4 * edge) + " angstrom from a panel of " + decimal(edge)));
  const auto pair = told({atom_at({1, 2, 3}), atom_at({1, 2 + 1e-3, 3}), atom_at({1, 2.02, 3})});
  REQUIRE(pair.size() == 1);
  CHECK_THAT(pair[0], contains("(line 1)") && contains("(line 2)") && contains("0.001 angstrom"));
}

TEST_CASE("Coulomb energies of many charges have all the digits that are printed") {
  std::vector<Atom> atoms;
  constexpr int n = 23;
  for (int i = 0; i < n * n * n; ++i) {
    const Vec3d place{0.2 * std::cos(2.0 * i) + i % n, 0.2 * std::cos(3.0 * i) + i / n % n,
                      0.2 * std::cos(5.0 * i) + i / (n * n)};
    atoms.push_back(atom_at(place - Vec3d{11, 11, 11}, 0.8 * std::cos(7.0 * i)));
  }
  const SolvationModel model;
  double exact = 0;
#pragma omp parallel for reduction(+ : exact) schedule(static)
  for (std::size_t i = 0; i < atoms.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      exact += atoms[i].charge * atoms[j].charge / norm(atoms[i].place - atoms[j].place);
  exact *= model.energy_constant / model.permittivity_inside;
  const Solvation result = solvate_in({named_sphere("s.off", 1, 30)}, atoms, model, 1e-3);
  INFO(exact);
  CHECK(std::abs(result.coulomb_energy - exact) < 5e-5);
}

TEST_CASE("surfaces may cross by a little, and it is told") {
  // A cavity that sticks out by a cap of 2 % of its area.
  const Solvation result =
      solvate_in({named_sphere("mol.off", 3, 4), named_sphere("cavity.off", 3, 1, {3.06, 0, 0})},
                 {atom_at({-1, 0, 0})});
  REQUIRE(result.regions.notices.size() == 1);
  CHECK_THAT(result.regions.notices[0], contains("mol and cavity cross"));
  CHECK(result.regions.regions[2].kind == SoluteRegion::Kind::solvent);
  CHECK(result.converged);
}

TEST_CASE("models that cannot be are refused") {
  const auto refused = [](auto change) {
    SolvationModel model;
    change(model);
    return refusal([&] { model.check(); });
  };
  CHECK_THAT(refused([](auto& m) { m.permittivity_inside = 0; }),
             contains("solute must be positive"));
  CHECK_THAT(refused([](auto& m) { m.permittivity_outside = -1; }),
             contains("solvent must be positive"));
  CHECK_THAT(refused([](auto& m) { m.kappa = -0.1; }), contains("must be 0 or positive"));
  CHECK_THAT(refused([](auto& m) { m.temperature = 0; }), contains("temperature must be positive"));
  CHECK_THAT(refused([](auto& m) { m.energy_constant = NAN; }), contains("energy constant"));
  CHECK_THAT(refusal([] { kappa_of(-1, 80, 300); }), contains("ionic strength"));
}

TEST_CASE("Debye's length of 0.1 mol/L in water is 9.6 angstrom") {
  CHECK(1 / kappa_of(0.1, 78.54, 298.15) == Approx(9.62).epsilon(1e-3));
  CHECK(kappa_of(0, 80, 300) == 0);
  CHECK(kappa_of(0.4, 80, 300) == Approx(2 * kappa_of(0.1, 80, 300)));
}

TEST_CASE("energies are extrapolated in the number of panels") {
  std::vector<EnergyLevel> levels;
  for (const std::size_t n : {100, 300, 800}) levels.push_back({n, -7 + 5.0 / double(n), 0});
  CHECK(extrapolate_energy(levels).energy == Approx(-7).epsilon(1e-13));
  CHECK(extrapolate_energy(levels).error < 1e-13);
  levels.pop_back();
  CHECK(extrapolate_energy(levels).error == Approx(5.0 / 300));
  levels.push_back({300, -7, 0});
  CHECK_THAT(refusal([&] { extrapolate_energy(levels); }), contains("the coarsest first"));
  levels.resize(1);
  CHECK_THROWS_AS(extrapolate_energy(levels), InputError);
}

}  // namespace fmbem::test::solvation_tests
