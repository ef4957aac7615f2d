#include "fmbem/problems/solvation/solvation_forces.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fmbem/bem/geometry/panels_at_vertices.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/solvation/solvation_field.hpp"
#include "fmbem/problems/solvation/surface_gradient.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"
#include "tests/unit/molecules.hpp"

namespace fmbem::test::solvation_forces_tests {

namespace {

/// Of the ion in the middle of a sphere with ions around: φ outside is A exp(−κr)/r.
struct IonInSphere {
  SolvationModel model;
  double radius;
  double outside(double r) const {
    return model.energy_constant / model.permittivity_outside *
           std::exp(-model.kappa * (r - radius)) / (1 + model.kappa * radius) / r;
  }
  double inside(double r) const {
    return model.energy_constant / model.permittivity_inside * (1 / r - 1 / radius) +
           outside(radius);
  }
};

double total_energy(const std::vector<SurfaceMesh>& surfaces, const std::vector<Atom>& atoms,
                    const SolvationModel& model) {
  return solvate_in(surfaces, atoms, model, 1e-10).total_energy();
}

/// By differences of the energy of a molecule that is moved.
template <class Energy>
Vec3d force_by_energies(Energy&& energy, Vec3d at) {
  constexpr double h = 0.02;
  Vec3d force;
  for (int axis = 0; axis < 3; ++axis) {
    Vec3d step{};
    step[axis] = h;
    force[axis] = -(energy(at + step) - energy(at - step)) / (2 * h);
  }
  return force;
}

}  // namespace

TEST_CASE("gradients in a plane are exact for polynomials of degree 2") {
  const Panels panels = make_panels(test::plate(6));
  std::vector<double> value;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Vec3d x = panels.centroid(i) + panels.origin;
    value.push_back(1 + 2 * x.x - x.y + x.x * x.x + 3 * x.x * x.y);
  }
  const std::vector<Vec3d> gradient = surface_gradient(panels, value);
  const PanelsAtVertices at_vertices(panels);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    // In a corner of the plate are fewer than five neighbours.
    const auto is_corner = [&](int v) { return at_vertices.at(v).size() == 1; };
    const auto& corners = panels.corners[i];
    if (std::any_of(corners.begin(), corners.end(), is_corner)) continue;
    const Vec3d x = panels.centroid(i) + panels.origin;
    CHECK(norm(gradient[i] - Vec3d{2 + 2 * x.x + 3 * x.y, -1 + 3 * x.x, 0}) < 1e-10);
  }
}

TEST_CASE("gradients along a surface converge with the panels' size") {
  const Vec3d a{1, -2, 0.5};
  const Vec3d axes = GENERATE(Vec3d{1, 1, 1}, Vec3d{1, 1.5, 0.7});
  std::vector<double> error;
  for (int level = 2; level <= 4; ++level) {
    SurfaceMesh mesh;
    add_ellipsoid(mesh, "ellipsoid", level, axes, {});
    const Panels panels = make_panels(mesh);
    std::vector<double> value;
    for (std::size_t i = 0; i < panels.size(); ++i) {
      const Vec3d x = panels.centroid(i) + panels.origin;
      value.push_back(dot(a, x) + x.x * x.y);
    }
    const std::vector<Vec3d> gradient = surface_gradient(panels, value);
    double sum = 0, size = 0;
    for (std::size_t i = 0; i < panels.size(); ++i) {
      const Vec3d x = panels.centroid(i) + panels.origin, n = panels.triangle(i).normal;
      const Vec3d full = a + Vec3d{x.y, x.x, 0}, along = full - dot(full, n) * n;
      sum += panels.area(i) * norm2(gradient[i] - along);
      size += panels.area(i) * norm2(along);
      CHECK(std::abs(dot(gradient[i], n)) < 1e-12 * norm(a));
    }
    error.push_back(std::sqrt(sum / size));
  }
  INFO(error[0] << ' ' << error[1] << ' ' << error[2]);
  CHECK(std::log2(error[1] / error[2]) > 1);
  CHECK(error[2] < 0.02);
}

TEST_CASE("potentials at points are those of the closed form, in every region") {
  SolvationModel model;
  model.permittivity_inside = 2;
  model.kappa = 0.3;
  const IonInSphere ion{model, 3};
  const Vec3d centre{10, -20, 5}, direction{2.0 / 3, -1.0 / 3, 2.0 / 3};
  const std::vector<Atom> atoms{atom_at(centre)};
  const Solvation solved = solvate_in({named_sphere("s.off", 4, 3, centre)}, atoms, model, 1e-7);
  const Molecule molecule = molecule_of(atoms);
  std::vector<Vec3d> points;
  const std::vector<double> radii{0.5, 1.5, 2.5, 3.2, 4, 8, 30};
  for (const double r : radii) points.push_back(centre + r * direction);
  const std::vector<double> potential = potential_at(solved, molecule, points);
  for (std::size_t k = 0; k < radii.size(); ++k) {
    const double r = radii[k], exact = r < 3 ? ion.inside(r) : ion.outside(r);
    // 2048 panels lie up to 0.25 % below the sphere, where the charge's own potential is 55, and
    // the surface has to make up for most of it.
    CHECK(potential[k] == Approx(exact).epsilon(0.01).margin(2 * 0.0025 * 55));
  }
  // At the charge its own part is left out.
  const double at_charge = potential_at(solved, molecule, std::vector<Vec3d>{centre})[0];
  CHECK(at_charge == Approx(solved.reaction[0]).epsilon(1e-6));
  CHECK(potential_at(solved, molecule, {}).empty());
  CHECK_THAT(refusal([&] {
               potential_at(solved, molecule, std::vector<Vec3d>{{NAN, 0, 0}});
             }),
             contains("not finite"));
}

TEST_CASE("pressures on an ion's sphere are those of the closed form") {
  SolvationModel model;
  model.permittivity_inside = 2;
  model.kappa = 0.3;
  const double a = 3;
  const Solvation solved =
      solvate_in({named_sphere("s.off", 3, a)}, {atom_at({0, 0, 0})}, model, 1e-7);
  const SolvationForces forces = find_solvation_forces(solved, molecule_of({atom_at({0, 0, 0})}));
  const double displacement = model.energy_constant / (a * a);  // ε E_n
  const double potential = IonInSphere{model, a}.outside(a);
  const double half_c = 1 / (8 * std::numbers::pi * model.energy_constant);
  double dielectric = 0, osmotic = 0, area = 0;
  for (std::size_t i = 0; i < solved.panels.size(); ++i) {
    area += solved.panels.area(i);
    dielectric += solved.panels.area(i) * forces.dielectric_pressure[i];
    osmotic += solved.panels.area(i) * forces.osmotic_pressure[i];
  }
  CHECK(dielectric / area ==
        Approx(half_c * displacement * displacement * (1.0 / 80 - 1.0 / 2)).epsilon(0.05));
  CHECK(osmotic / area ==
        Approx(-half_c * 80 * model.kappa * model.kappa * potential * potential).epsilon(0.05));
  CHECK(norm(forces.on_atoms[0]) < 1e-6 * displacement);
}

TEST_CASE("a molecule alone has no force: charges and surface balance") {
  SolvationModel model;
  model.kappa = GENERATE(0.0, 0.2);
  const Vec3d place{1.5, 1, -0.8};
  std::vector<double> imbalance;
  for (int level = 2; level <= 4; ++level) {
    const std::vector<Atom> atoms{atom_at(place)};
    const Solvation solved = solvate_in({named_sphere("s.off", level, 4)}, atoms, model, 1e-7);
    const SolvationForces forces = find_solvation_forces(solved, molecule_of(atoms));
    REQUIRE(forces.solutes.size() == 1);
    CHECK(forces.solutes[0].name == "s");
    // That on the charge is outwards, as the derivative of the series in the place of the field.
    const double h = 1e-4;
    Vec3d exact;
    for (int axis = 0; axis < 3; ++axis) {
      Vec3d step{};
      step[axis] = h;
      exact[axis] =
          -(kirkwood(4, place, place + step, model) - kirkwood(4, place, place - step, model)) /
          (2 * h);
    }
    // Of 512 panels the middles are up to 0.95 % of the radius too deep, which is 1.9 % of the
    // charge's distance from them; the force of an image goes as the distance to the power −2 to
    // −3.
    CHECK(norm(forces.on_atoms[0] - exact) < 3 * 0.019 * std::pow(4, 3 - level) * norm(exact));
    CHECK(norm(forces.solutes[0].force) == 0);
    const Vec3d sum = forces.solutes[0].on_charges + forces.solutes[0].on_surfaces;
    imbalance.push_back(norm(sum) / norm(exact));
  }
  INFO(imbalance[0] << ' ' << imbalance[1] << ' ' << imbalance[2]);
  CHECK(imbalance[2] < 0.02);
  CHECK(std::log2(imbalance[0] / imbalance[2]) > 2 * 1.6);
}

TEST_CASE("forces are the derivative of the energy as a molecule moves with its surfaces") {
  SolvationModel model;
  model.kappa = 0.1;
  const bool has_layer = GENERATE(false, true);
  const auto surfaces = [&](Vec3d shift) {
    std::vector<SurfaceMesh> all{named_sphere("a.off", 2, 3), named_sphere("b.off", 2, 2, shift)};
    if (has_layer) all.push_back(named_sphere("layer.off", 2, 2.5, shift));
    return all;
  };
  const auto atoms = [&](Vec3d shift) {
    return std::vector<Atom>{atom_at({1.8, 0.3, 0}), atom_at(shift + Vec3d{-0.8, 0.2, 0}, -1),
                             atom_at(shift + Vec3d{0.3, -0.5, 0.2}, 0.5)};
  };
  const Vec3d at{6.1, 0.6, -0.3};
  const Solvation solved = solvate_in(surfaces(at), atoms(at), model, 1e-10);
  const SolvationForces forces = find_solvation_forces(solved, molecule_of(atoms(at)));
  REQUIRE(forces.solutes.size() == 2);
  const SoluteForce& moved = forces.solutes[0].about.x > 3 ? forces.solutes[0] : forces.solutes[1];
  const SoluteForce& other = forces.solutes[0].about.x > 3 ? forces.solutes[1] : forces.solutes[0];
  CHECK(other.name == "a");
  const Vec3d exact = force_by_energies(
      [&](Vec3d there) { return total_energy(surfaces(there), atoms(there), model); }, at);
  const auto text = [](Vec3d v) { return place(v); };
  INFO("energies " << text(exact) << "; moved " << text(moved.force) << "; other "
                   << text(other.force) << "; parts "
                   << text(moved.on_charges + moved.on_surfaces));
  // Panels of 128 are as large as the gap; with 512 the errors are a quarter of these.
  CHECK(norm(moved.force - exact) < 0.06 * norm(exact));
  CHECK(norm(moved.force + other.force) < 0.06 * norm(exact));
  CHECK(norm(other.force + exact) < 0.02 * norm(exact));
  CHECK(norm(exact) > 0.05);
}

TEST_CASE("forces in a layer that molecules share, or in a cavity, are derivatives as well") {
  SolvationModel model;
  model.kappa = 0.1;
  const bool in_cavity = GENERATE(false, true);
  // The second molecule moves; the surface around both, or the first with its cavity, stays.
  const auto surfaces = [&](Vec3d at) {
    std::vector<SurfaceMesh> all{named_sphere("b.off", 3, 2, at)};
    if (in_cavity) {
      all.push_back(named_sphere("cavity.off", 3, 4));
      all.push_back(named_sphere("a.off", 3, 8));
    } else {
      all.push_back(named_sphere("a.off", 3, 3, {-5, 0, 0}));
      all.push_back(named_sphere("layer.off", 3, 10));
    }
    return all;
  };
  const auto atoms = [&](Vec3d at) {
    return std::vector<Atom>{atom_at(in_cavity ? Vec3d{6, 0, 0} : Vec3d{-3.4, 0.3, 0}),
                             atom_at(at + Vec3d{-0.8, 0.2, 0}, -1),
                             atom_at(at + Vec3d{0.3, -0.5, 0.2}, 0.5)};
  };
  const Vec3d at = in_cavity ? Vec3d{0.8, 0.3, 0} : Vec3d{1.1, 0.6, -0.3};
  const Solvation solved = solvate_in(surfaces(at), atoms(at), model, 1e-9);
  const SolvationForces forces = find_solvation_forces(solved, molecule_of(atoms(at)));
  REQUIRE(forces.solutes.size() == 2);
  const SoluteForce& moved = forces.solutes[forces.solutes[0].name == "b" ? 0 : 1];
  CHECK(moved.name == "b");
  CHECK(forces.solutes[forces.solutes[0].name == "b" ? 1 : 0].name == "a");
  const Vec3d exact = force_by_energies(
      [&](Vec3d there) { return total_energy(surfaces(there), atoms(there), model); }, at);
  INFO("energies " << place(exact) << "; moved " << place(moved.force) << "; parts "
                   << place(moved.on_charges + moved.on_surfaces));
  CHECK(norm(exact) > 0.05);
  CHECK(norm(moved.force - exact) < 0.03 * norm(exact));
}

}  // namespace fmbem::test::solvation_forces_tests
