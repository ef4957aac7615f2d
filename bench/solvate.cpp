// Prints the table of docs/performance.md of molecules in solution: seconds from panels to energies
// by phases. The surface is an octahedron whose faces are split into f² triangles each and pushed
// to a radius of about 50 Å; charges of a fixed seed are inside of it.
// fmbem-bench-solvate --backend cuda --panels 373248,2097152 --formulation direct
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/main.hpp"
#include "bench/operator_choice.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/problems/solvation/solvation.hpp"
#include "tests/unit/surfaces.hpp"

using namespace fmbem;

namespace {

const std::map<std::string, SolvationFormulation> formulations{
    {"direct", SolvationFormulation::direct},
    {"lu", SolvationFormulation::lu},
    {"juffer", SolvationFormulation::juffer}};

struct Options {
  std::vector<double> panels{373248};
  std::vector<std::string> formulations{"direct"};
  bench::OperatorChoice choice;
  int charges = 1000, threads = 0, repeat = 2;
  double tolerance = 1e-4, kappa = 0.1, layer = 0;
};

/// Of the surface, in a direction.
double radius(Vec3d u) {
  return 50 * (1 + 0.06 * std::sin(9 * u.x + 1) * std::cos(8 * u.y) +
               0.05 * std::sin(11 * u.z) * std::cos(7 * u.x + 2));
}

/// That surface, with faces in f² parts and all lengths times the factor.
void add_round_surface(SurfaceMesh& mesh, int f, double factor) {
  constexpr std::array<std::array<int, 3>, 6> corners{
      {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}}};
  constexpr std::array<std::array<int, 3>, 8> faces{
      {{0, 1, 2}, {1, 3, 2}, {3, 4, 2}, {4, 0, 2}, {1, 0, 5}, {3, 1, 5}, {4, 3, 5}, {0, 4, 5}}};
  const int group = test::add_group(mesh, factor == 1 ? "surface" : "layer");
  std::unordered_map<std::int64_t, int> number;  // of vertices, by their places
  const std::int64_t side = 2 * f + 1;
  for (const auto& [a, b, c] : faces) {
    std::vector<std::vector<int>> rows(f + 1);
    for (int i = 0; i <= f; ++i)
      for (int j = 0; j <= f - i; ++j) {
        std::array<int, 3> at;
        for (int axis = 0; axis < 3; ++axis)
          at[axis] = (f - i - j) * corners[a][axis] + i * corners[b][axis] + j * corners[c][axis];
        const std::int64_t key = ((at[0] + f) * side + at[1] + f) * side + at[2] + f;
        const auto [entry, is_new] = number.try_emplace(key, mesh.vertices.size());
        if (is_new) {
          const Vec3d v{double(at[0]), double(at[1]), double(at[2])}, u = v / norm(v);
          test::add_vertex(mesh, factor * radius(u) * u);
        }
        rows[i].push_back(entry->second);
      }
    for (int i = 0; i < f; ++i)
      for (int j = 0; j < f - i; ++j) {
        test::add_triangle(mesh, rows[i][j], rows[i + 1][j], rows[i][j + 1], group);
        if (i + j + 1 < f)
          test::add_triangle(mesh, rows[i + 1][j], rows[i + 1][j + 1], rows[i][j + 1], group);
      }
  }
}

/// With a layer without ions there is one more surface, and half of the panels on each.
SurfaceMesh surfaces_of(double panels, double layer) {
  constexpr double mean_radius = 50;
  const double of_each = layer > 0 ? panels / 2 : panels;
  const int f = static_cast<int>(std::lround(std::sqrt(of_each / 8)));
  SurfaceMesh mesh;
  add_round_surface(mesh, f, 1);
  if (layer > 0) add_round_surface(mesh, f, 1 + layer / mean_radius);
  mesh.closed = mesh.orientable = true;
  mesh.contacts.emplace();  // there are none
  return mesh;
}

/// Of that many charges up to 38 Å from the middle.
Molecule charges_inside(int count) {
  std::mt19937 random(1);
  const auto number = [&](double low, double high) {
    return low + (high - low) * random() / double(std::mt19937::max());
  };
  Molecule molecule;
  while (static_cast<int>(molecule.atoms.size()) < count) {
    Atom atom;
    atom.place = {number(-38, 38), number(-38, 38), number(-38, 38)};
    atom.charge = number(-1, 1);
    atom.radius = 1.5;
    if (norm(atom.place) > 38) continue;
    molecule.atoms.push_back(atom);
    molecule.atoms.back().line = molecule.atoms.size();
  }
  return molecule;
}

void run(const Options& options, const SurfaceMesh& mesh, const Molecule& molecule,
         const std::string& formulation) {
  SolvationModel model;
  model.kappa = options.kappa;
  model.formulation = formulations.at(formulation);
  LayerOptions how;
  how.solver.tolerance = options.tolerance;
  options.choice.set(how.op);
  reset_peak_device_memory();
  const Solvation solved = solvate(mesh, molecule, model, how);
  const double regions =
      solved.setup_seconds - solved.assembly_seconds - solved.preconditioner_seconds;
  std::printf(
      "| %zu | %s | %s | %g | %d | %lld | %d | %d | %.12g | %.4f | %.4f | %.4f | %.5f | %.4f | "
      "%.4f | **%.4f** | %.2f |\n",
      mesh.triangles.size(), options.choice.backend.c_str(), formulation.c_str(), options.tolerance,
      solved.op.order, static_cast<long long>(solved.op.near_entries), solved.op.max_leaf,
      solved.solves[0].iterations, solved.solvation_energy, regions, solved.assembly_seconds,
      solved.preconditioner_seconds, solved.product_median_seconds, solved.solve_seconds,
      solved.potential_seconds,
      solved.setup_seconds + solved.solve_seconds + solved.potential_seconds,
      double(solved.device_bytes) / 1e9);
  std::fflush(stdout);
}

void run_all(const Options& options) {
  bench::start_run(options.choice.backend, options.threads);
  bench::print_heading(
      "| panels | backend | formulation | tolerance | order | near entries | leaf | iterations | "
      "energy kcal/mol | regions, right-hand side | operators | preconditioner | product | solve | "
      "energies | **sum** | GPU GB |");
  const Molecule molecule = charges_inside(options.charges);
  for (const double panels : options.panels) {
    const SurfaceMesh mesh = surfaces_of(panels, options.layer);
    for (const std::string& formulation : options.formulations)
      for (int k = 0; k < options.repeat; ++k) run(options, mesh, molecule, formulation);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using bench::between;
  Options options;
  CLI::App app("Solvation of a round molecule with bumps; times in seconds, memory in GB");
  std::vector<std::string> names;
  for (const auto& [name, formulation] : formulations) names.push_back(name);
  options.choice.add_options(app);
  app.add_option("--panels", options.panels, "about as many")
      ->delimiter(',')
      ->check(between(20.0, 2e8));
  app.add_option("--formulation", options.formulations)
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_option("--charges", options.charges)->check(between(1, 1000000));
  app.add_option("--tolerance", options.tolerance)->check(between(1e-10, 0.1));
  app.add_option("--kappa", options.kappa, "1/Å")->check(between(0.0, 1e6));
  app.add_option("--layer", options.layer, "without ions, of about that width in Å")
      ->check(between(0.0, 1e3));
  app.add_option("--repeat", options.repeat, "the first one starts libraries")
      ->check(between(1, 100));
  app.add_option("--threads", options.threads)->check(between(1, 1024));
  return bench::run_main(app, argc, argv, [&] { run_all(options); });
}
