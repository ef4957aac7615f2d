"""fmbem solvate: energies of molecules in their surfaces, its outputs, and what it refuses."""

import csv
import json
import math
import unittest

from harness import ROOT, ProgramTest, read_vtu, release_alone
from solvation_files import atom, sphere_file, spheres

ATOM = "ATOM 1 NA ION A 1 1 1 1 1 1\n"
KCAL = 4.184


def shared_data(*parts):
    """A file of the reference data beside the repository, or beside a folder of it."""
    for folder in (ROOT.parent, ROOT.parent.parent):
        path = folder.joinpath("shared", "data", *parts)
        if path.exists():
            return path
    raise unittest.SkipTest("there is no shared/data/" + "/".join(parts))


class Solvate(ProgramTest):
    def sphere_file(self, name="s.off", level=2, radius=4.0, centre=(0, 0, 0), turned=False):
        return sphere_file(self.folder, name, level, radius, centre, turned)

    def setUp(self):
        super().setUp()
        self.ion = self.write("ion.pqr", ATOM)
        self.sphere = self.sphere_file()

    def energy(self, *arguments, unit="kcal_per_mol"):
        report = self.report("solvate", self.ion, "--surface", self.sphere, *arguments)
        return report["results"]["solvation_energy_" + unit]["value"]

    def test_kirkwoods_energy_by_extrapolation(self):
        coarse, fine = self.sphere_file("c.off", 3), self.sphere_file("f.off", 4)
        report = self.report("solvate", self.ion, "--surface", fine, "--extrapolate",
                             f"{self.sphere},{coarse}", "--kappa", 0.125, "--energy-constant", 332.06368,
                             "--tolerance", 1e-7)
        exact = -12.258363713  # checked, with that constant
        limit = report["results"]["extrapolated_solvation_energy_kcal_per_mol"]
        self.assertLess(abs(limit["value"] / exact - 1), 5e-4)
        self.assertGreater(limit["error"][0], abs(limit["value"] - exact))
        levels = report["solvation"]["levels"]
        self.assertEqual([level["panels"] for level in levels], [128, 512, 2048])
        errors = [level["solvation_energy_kcal_per_mol"] / exact - 1 for level in levels]
        self.assertLess(abs(errors[2]), 0.25 * 1.05 * abs(errors[1]))  # order 2
        self.assertLess(levels[2]["iterations"], 15)

    def test_units_echo_and_kappa(self):
        report = self.report("solvate", self.ion, "--surface", self.sphere, "--ionic-strength", 0.15,
                             "--temperature", 310, "--permittivity-inside", 2, "--permittivity-outside", 78)
        results, model = report["results"], report["solvation"]
        energy = results["solvation_energy_kcal_per_mol"]["value"]
        self.assertAlmostEqual(results["solvation_energy_kJ_per_mol"]["value"], KCAL * energy, places=9)
        self.assertAlmostEqual(results["solvation_energy_kT"]["value"],
                               KCAL * energy / (8.31446261815324e-3 * 310), places=9)
        debye = math.sqrt(8.8541878128e-12 * 78 * 1.380649e-23 * 310 /
                          (2000 * 6.02214076e23 * 1.602176634e-19 ** 2 * 0.15))
        self.assertAlmostEqual(model["kappa_per_angstrom"], 1e-10 / debye, places=12)
        self.assertEqual((model["permittivity_inside"], model["permittivity_outside"],
                          model["temperature_K"], model["charge_e"], model["atoms"]), (2, 78, 310, 1, 1))
        self.assertEqual(model["energy_constant_kcal_angstrom_per_mol"], 332.0637133)
        self.assertEqual([region["kind"] for region in model["regions"]], ["solvent", "solute"])
        # What is printed says so, too.
        self.assertIn(f"{energy:.4f} kcal/mol", self.fmbem(
            "solvate", self.ion, "--surface", self.sphere, "--ionic-strength", 0.15, "--temperature", 310,
            "--permittivity-inside", 2, "--permittivity-outside", 78, "--quiet").stdout)
        # Ions stabilise the charge; with the constant everything scales.
        self.assertLess(self.energy("--kappa", 1), self.energy())
        self.assertAlmostEqual(self.energy("--energy-constant", 664.1274266), 2 * self.energy(), places=4)

    def test_formulations(self):
        layer = self.sphere_file("layer.off", 2, 6.0)
        energies = {}
        for formulation in ("direct", "juffer", "lu"):
            report = self.report("solvate", self.ion, "--surface", self.sphere, "--surface", layer,
                                 "--kappa", 0.125, "--formulation", formulation, "--tolerance", 1e-8)
            self.assertEqual(report["solvation"]["formulation"], formulation)
            self.assertLess(report["solver"]["iterations"][0], 20)
            energies[formulation] = report["results"]["solvation_energy_kcal_per_mol"]["value"]
        # The same equations in other units, and others with an error of their own (9 % with 128 panels).
        self.assertLess(abs(energies["lu"] / energies["juffer"] - 1), 1e-6)
        self.assertLess(abs(energies["juffer"] / energies["direct"] - 1), 0.1)

    def test_molecules_far_apart_take_little_memory(self):
        surfaces = [self.sphere_file(f"s{x}.off", 3, 2, (x, 0, 0)) for x in (0, 1000)]
        ions = self.write("ions.pqr", "".join(f"ATOM 1 NA ION A 1 {x} 0 0 1 1\n" for x in (0, 1000)))
        energies = {}
        for operator in ("auto", "dense", "fmm"):
            report = self.report("solvate", ions, "--surface", surfaces[0], "--surface", surfaces[1], "--kappa", 0.1,
                                 "--tolerance", 1e-7, "--operator", operator)
            self.assertLess(report["operators"][0]["memory_bytes"], 200e6)
            energies[operator] = report["results"]["solvation_energy_kT"]["value"]
        for operator, energy in energies.items():
            self.assertAlmostEqual(energy / energies["dense"], 1, delta=1e-6, msg=operator)

    def test_residuals_that_are_known_less_well_than_asked_for(self):
        given = ("solvate", self.ion, "--surface", self.sphere, "--permittivity-inside", 80, "--permittivity-outside", 4,
                 "--tolerance", 1e-8)
        self.assertEqual(self.report(*given)["warnings"], [])  # a dense matrix knows more digits
        warnings = self.report(*given, "--operator", "fmm")["warnings"]
        self.assertEqual(len(warnings), 1)
        self.assertRegex(warnings[0], r"true residual \S+\): charges cancel so far that products know residuals to "
                                      r"\S+ only$")

    def test_outputs(self):
        self.write("two.pqr", ATOM + "HETATM 2 O HOH B 7 -1 0.5 0 -0.25 0\n")
        report = self.report("solvate", "two.pqr", "--surface", self.sphere, "--output", "s.vtu",
                             "--potentials", "p.pqr", "--picture", "s.png")
        self.fmbem("plot", "s.vtu", "-o", "plotted.png")
        self.assertEqual((self.folder / "plotted.png").read_bytes(), (self.folder / "s.png").read_bytes())
        potentials = report["results"]["reaction_potential_kT_per_e"]["value"]
        self.fmbem("solvate", "two.pqr", "--surface", self.sphere, "--output", "s.msh", "--potentials", "p.csv")
        lines = (self.folder / "p.pqr").read_text().splitlines()
        atoms = [line.split() for line in lines if line.startswith(("ATOM", "HETATM"))]
        rows = list(csv.DictReader((self.folder / "p.csv").read_text().splitlines()))
        for k in range(2):
            self.assertAlmostEqual(float(atoms[k][-1]), potentials[k], places=8)
            self.assertAlmostEqual(float(rows[k]["reaction potential [kT/e]"]), potentials[k], places=9)
        again = self.report("solvate", "p.pqr", "--surface", self.sphere)
        self.assertEqual(again["results"]["reaction_potential_kT_per_e"]["value"], potentials)
        self.assertAlmostEqual(sum(float(row["solvation energy [kcal/mol]"]) for row in rows),
                               report["results"]["solvation_energy_kcal_per_mol"]["value"], places=9)
        self.assertEqual(report["results"]["residues"]["value"], ["ION A 1", "HOH B 7"])
        self.assertAlmostEqual(sum(report["results"]["residue_solvation_energy_kcal_per_mol"]["value"]),
                               report["results"]["solvation_energy_kcal_per_mol"]["value"], places=9)
        arrays = read_vtu(self.folder / "s.vtu")
        self.assertEqual(len(arrays["potential [kT/e]"]), 128)
        for potential in arrays["potential [kT/e]"]:
            self.assertGreater(potential, 0)
        self.assertIn("normal field inside [kT/(e angstrom)]", arrays)
        self.assertTrue((self.folder / "s.msh").exists())

    def test_residues_whose_atoms_are_apart(self):
        """A residue is all of its atoms, wherever they stand, here and among sites."""
        lines = ("ATOM 1 CG ASP A 5 1 1 0 -0.75 1\n", "ATOM 2 NZ LYS A 5A -1 0 1 1 1\n",
                 "ATOM 3 OD ASP A 5 1.5 1 0 -0.25 1\n", "ATOM 4 CG ASP B 5 0 -1.5 0 0.5 1\n")
        self.write("apart.pqr", "".join(lines))
        report = self.report("solvate", "apart.pqr", "--surface", self.sphere, "--sites", "apart.pqr")
        results = report["results"]
        self.assertEqual(results["residues"]["value"], ["ASP A 5", "LYS A 5A", "ASP B 5"])
        self.assertEqual(results["sites"]["value"], results["residues"]["value"])
        potentials = results["reaction_potential_kT_per_e"]["value"]
        charges = [-0.75, 1, -0.25, 0.5]
        kt = 8.31446261815324e-3 / KCAL * report["solvation"]["temperature_K"]
        energies = [0.5 * kt * q * phi for q, phi in zip(charges, potentials)]
        of_residues = results["residue_solvation_energy_kcal_per_mol"]["value"]
        for value, exact in zip(of_residues, (energies[0] + energies[2], energies[1], energies[3]), strict=True):
            self.assertAlmostEqual(value, exact, places=9)
        means = results["residue_reaction_potential_kT_per_e"]["value"]
        self.assertAlmostEqual(means[0], (potentials[0] + potentials[2]) / 2, places=9)
        # A set's row times all sets is twice its energy in the molecule.
        row = results["site_energy_kcal_per_mol"]["value"][0]
        self.assertAlmostEqual(sum(row), 2 * of_residues[0], delta=1e-4 * abs(of_residues[0]))

    def test_charges_that_see_the_panels_are_told(self):
        points, faces = spheres.octahedron(2, 4.0)
        corners = [points[i] for i in faces[40]]
        middle = [sum(x) / 3 for x in zip(*corners)]
        self.write("close.pqr", ATOM + "ATOM 2 CL ION A 2 {} {} {} -1 1\n".format(*[(1 - 1e-4) * x for x in middle]))
        self.fmbem("solvate", "close.pqr", "--surface", self.sphere, "--json", "r.json")
        warnings = json.loads((self.folder / "r.json").read_text())["warnings"]
        self.assertEqual(len(warnings), 1)
        self.assertIn("1 atom with a charge is closer to the surface than a quarter of a panel's edge, "
                      "most of all CL of ION A 2 (line 2), 0.000", warnings[0])
        self.write("close.pqr", ATOM + ATOM.replace(" 1 1 1 1 1\n", " 1 1 1.000000001 -1 1\n"))
        done = self.fmbem("solvate", "close.pqr", "--surface", self.sphere)
        self.assertIn("are only 1e-09 angstrom apart", done.stderr.replace("\n  ", " "))

    def test_rerun_and_threads_give_the_same_bits(self):
        first = self.report("solvate", self.ion, "--surface", self.sphere, "--kappa", 0.2, "--threads", 1)
        second = self.report("solvate", self.ion, "--surface", self.sphere, "--kappa", 0.2, "--threads", 2)
        self.assertEqual(first["results"], second["results"])
        self.fmbem("solvate", self.ion, "--surface", self.sphere, "--json", "r.json", "--output", "s.vtu")
        self.assertIn("the same bits", self.fmbem("rerun", "r.json").stdout)
        self.fmbem("solvate", self.ion, "--surface", self.sphere, "--json", "f.json", "--forces", "f.csv")
        (self.folder / "f.csv").unlink()
        self.assertIn("the same bits", self.fmbem("rerun", "f.json").stdout)
        self.assertFalse((self.folder / "f.csv").exists())

    def test_petsc_options(self):
        done = self.fmbem("solvate", self.ion, "--surface", self.sphere, "-pc_type", "vpbjacobi")
        self.assertIn("vpbjacobi of the blocks of", done.stdout)
        self.fmbem("solvate", self.ion, "--surface", self.sphere, "-ksp_max_it", 1, code=3)

    def test_surfaces_that_are_turned_inside_out_are_turned_round(self):
        turned = self.sphere_file("t.off", turned=True)
        done = self.fmbem("solvate", self.ion, "--surface", turned)
        self.assertIn("turned round", done.stderr)

    def test_a_surface_that_crosses_itself_is_a_warning(self):
        points, faces = spheres.octahedron(3, 4.0)
        points[points.index((4, 0, 0))] = (-4.5, 0.1, 0.2)  # a spike, through the other side
        spheres.write_off(self.folder / "spike.off", points, faces)
        done = self.fmbem("solvate", self.ion, "--surface", "spike.off", "--quiet")
        self.assertIn("warning: the surface spike crosses itself at (-", done.stderr)
        warnings = self.report("solvate", self.ion, "--surface", "spike.off")["warnings"]
        self.assertEqual(len([sentence for sentence in warnings if "crosses itself" in sentence]), 1)

    def test_bad_input(self):
        def refused(saying, *arguments, ion=self.ion, surface=self.sphere):
            with self.subTest(saying):
                self.refused("solvate", ion, "--surface", surface, *arguments, saying=saying)

        refused("outside of all surfaces", ion=self.write("far.pqr", ATOM + "ATOM 2 CL ION A 2 0 0 5 -1 1\n"))
        refused("far.pqr, line 2", ion="far.pqr")
        refused("has no atoms", ion=self.write("none.pqr", "REMARK nothing\nEND\n"))
        refused("nan.pqr, line 1: z is not finite", ion=self.write("nan.pqr", "ATOM 1 NA ION 1 1 1 nan 1 1\n"))
        refused("wrong.pqr, line 1 is no atom", ion=self.write("wrong.pqr", "ATOM 1 NA ION 1 1 1\n"))
        refused("there is no file", surface="none.off")
        points, faces = spheres.octahedron(1, 4)
        spheres.write_off(self.folder / "open.off", points, faces[1:])
        refused("not closed", surface="open.off")
        refused("cross at", "--surface", self.sphere_file("x.off", 2, 4, (4.1, 0.2, 0.1)))
        refused("cross at", "--surface", self.sphere_file("a.off", 2, 1, (-2, 0, 0)),
                "--surface", self.sphere_file("b.off", 2, 1, (-2.1, 1, 0.05)))
        refused("no atom inside of the surface e", "--surface", self.sphere_file("e.off", 1, 1, (9, 0, 0)))
        refused("must be 0 or positive", "--kappa", -0.1)
        refused("at most 1e+06 per angstrom", "--kappa", 1e30)
        refused("must be 0 or positive", "--ionic-strength", -1)
        refused("exclude each other", "--kappa", 0.1, "--ionic-strength", 1)
        refused("solute must be positive", "--permittivity-inside", 0)
        refused("solvent must be positive", "--permittivity-outside", -80)
        refused("solvent must be positive", "--permittivity-outside", 1e308)
        refused("temperature must be positive", "--temperature", 1e-300)
        refused("temperature must be positive", "--temperature", 0)
        refused("energy constant must be positive", "--energy-constant", 0)
        refused("the coarsest first", "--extrapolate", self.sphere_file("g.off", 3))
        refused("goes with each --surface", "--extrapolate", "g.off", "--extrapolate", "g.off")
        refused("would overwrite", "--potentials", self.ion)
        refused("are for --volume", "--spacing", -5)
        refused("--potentials writes .pqr and .csv", "--potentials", "p.txt")

    @release_alone("it would take minutes under the address sanitizer")
    def test_lysozyme_with_cavities_and_a_layer_without_ions(self):
        molecule = shared_data("lysozyme", "lys1_charges.pqr")
        surfaces = [option for name in ("Lys1", "Lys1_1", "Lys1_2", "Lys1_3")
                    for option in ("--surface", shared_data("lysozyme", name + ".vert"))]
        report = self.report("solvate", molecule, *surfaces, "--surface",
                             shared_data("lysozyme", "Lys1_stern.face"), "--kappa", 0.125,
                             "--tolerance", 1e-4, timeout=900)
        self.assertEqual(report["mesh"]["panels"], 30170)
        energy = report["results"]["solvation_energy_kJ_per_mol"]["value"]
        self.assertLess(abs(energy / -2432.138 - 1), 0.01)  # PyGBe's
        self.assertAlmostEqual(report["results"]["coulomb_energy_kcal_per_mol"]["value"], -7858.1587, places=3)
        self.assertLessEqual(report["solver"]["iterations"][0], 40)
        kinds = [region["kind"] for region in report["solvation"]["regions"]]
        self.assertEqual(sorted(kinds), ["solute", *4 * ["solvent"], "solvent without ions"])

    @release_alone("it would take minutes under the address sanitizer")
    def test_lysozyme_by_the_derivative_formulations(self):
        """Lu's and Juffer's equations are the same in other unknowns; the numbers are accuracy.md's."""
        molecule = shared_data("lysozyme", "lys1_charges.pqr")
        surfaces = [option for name in ("Lys1", "Lys1_1", "Lys1_2", "Lys1_3", "Lys1_stern")
                    for option in ("--surface", shared_data("lysozyme", name + ".vert"))]
        energies = []
        for formulation in ("juffer", "lu"):
            report = self.report("solvate", molecule, *surfaces, "--kappa", 0.125, "--formulation", formulation,
                                 timeout=900)
            self.assertLessEqual(report["solver"]["iterations"][0], 30)
            energies.append(report["results"]["solvation_energy_kJ_per_mol"]["value"])
        self.assertLess(abs(energies[0] / -2604.9 - 1), 1e-3)
        self.assertLess(abs(energies[1] / energies[0] - 1), 1e-4)  # ten tolerances

    @release_alone("it would take minutes under the address sanitizer")
    def test_spheres_of_closed_forms_in_the_limit(self):
        """Errors fall with the panels' area, which two meshes extrapolate; what is left falls with its square: from
        the observed 1e-4 of 512 and 2048 panels to 1/16 of that."""
        exact = {"Kirkwood, (1, 1, 1)": -12.258363713, "Kirkwood, (1, 1, √2)": -13.24534516,
                 "Kirkwood, R = 5, (0.1, 0, 0)": -8.049262833, "centred, R = 4": -10.03109039,
                 "centred, R = 4, κ = 0": -9.85814055}
        for name, radius, charge, inside, outside, kappa in spheres.CASES:
            if name not in exact:
                continue
            with self.subTest(name):
                molecule = self.write("charge.pqr", atom(charge, 1))
                coarse, fine = self.sphere_file("c.off", 4, radius), self.sphere_file("f.off", 5, radius)
                report = self.report("solvate", molecule, "--surface", fine, "--extrapolate", coarse, "--kappa", kappa,
                                     "--permittivity-inside", inside, "--permittivity-outside", outside,
                                     "--energy-constant", spheres.CONSTANT, "--tolerance", 1e-8)
                limit = report["results"]["extrapolated_solvation_energy_kcal_per_mol"]["value"]
                self.assertLess(abs(limit / exact[name] - 1), 1e-5)

    def test_the_spheres_of_other_codes(self):
        report = self.report("solvate", shared_data("kirkwood_sphere", "offcenter_R2.pqr"), "--surface",
                             shared_data("kirkwood_sphere", "sphere500_R4.vert"), "--kappa", 0.125,
                             "--energy-constant", 332.06368, "--tolerance", 1e-7)
        energy = report["results"]["solvation_energy_kcal_per_mol"]["value"]
        self.assertLess(abs(energy / -13.45812 - 1), 1e-4)  # PyGBe on the same mesh

    def test_the_two_spheres_of_other_codes(self):
        data = "two_spheres"
        surfaces = [shared_data(data, name) for name in ("sphere2K_R4.vert", "sphere2K_R4_D12.vert")]
        molecule = self.write("two.pqr", "".join(shared_data(data, name).read_text()
                                                 for name in ("centered_ion.pqr", "offcenter_R12.pqr")))
        report = self.report("solvate", molecule, "--surface", surfaces[0], "--surface", surfaces[1], "--kappa", 0.125,
                             "--energy-constant", 332.06368, "--tolerance", 1e-7)
        self.assertEqual(report["mesh"]["panels"], 4096)
        energy = report["results"]["solvation_energy_kcal_per_mol"]["value"]
        self.assertLess(abs(energy / -20.010678 - 1), 1e-5)  # PyGBe on the same meshes, to its own 1e-5
        self.assertLessEqual(report["solver"]["iterations"][0], 18)


if __name__ == "__main__":
    unittest.main()
