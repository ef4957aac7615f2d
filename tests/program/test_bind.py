"""fmbem bind: energies of binding, which are small differences."""

import json
import math
import unittest

from harness import ProgramTest
from solvation_files import atom, sphere_file

KCAL = 332.0637133


class Bind(ProgramTest):
    """Two balls of 4 angstrom with charges in their middles, or elsewhere."""

    def part(self, name, *balls):
        """The PQR file of balls {centre, charge, place of the charge} and options of their surfaces."""
        self.write(name + ".pqr", "".join(atom(place, charge) for _, charge, place in balls))
        files = [sphere_file(self.folder, f"{name}{k}.off", 2, 4.0, centre)
                 for k, (centre, _, _) in enumerate(balls)]
        return [option for file in files for option in (f"--{name}-surface", file)]

    def bind(self, receptor, ligand, *arguments):
        surfaces = [*self.part("complex", receptor, ligand), *self.part("receptor", receptor),
                    *self.part("ligand", ligand)]
        return self.report("bind", "complex.pqr", "receptor.pqr", "ligand.pqr", *surfaces, *arguments)

    def test_what_is_far_apart_does_not_bind(self):
        report = self.bind(((0, 0, 0), 1, (1, 0, 0)), ((150, 20, 0), -1, (150, 19, 1)), "--kappa", 0.25)
        results = report["results"]
        energies = results["solvation_energy_kcal_per_mol"]["value"]
        energy = results["binding_energy_kcal_per_mol"]
        self.assertLess(abs(energy["value"]), 1e-6 * sum(map(abs, energies)))
        self.assertLess(abs(energy["value"]), energy["error"][0])
        self.assertEqual(results["binding_coulomb_energy_kcal_per_mol"]["value"], 0)
        self.assertEqual(list(report["binding"]), ["complex", "receptor", "ligand"])
        self.assertEqual([part["atoms"] for part in report["binding"].values()], [2, 1, 1])
        self.assertEqual(report["tolerance"]["solver"], 1e-6)
        self.write("r.json", json.dumps(report))
        self.assertIn("the same bits", self.fmbem("rerun", "r.json").stdout)

    def test_screened_coulomb_energy_of_balls_at_a_distance(self):
        """q^2 (exp(kappa a)/(1 + kappa a))^2 exp(-kappa r)/(eps r), as Derjaguin, Landau, Verwey and
        Overbeek have it; what each charge makes in the other ball is less by (a/r)^3, 0.1 %."""
        kappa, r, a = 0.05, 40, 4
        report = self.bind(((0, 0, 0), 1, (0, 0, 0)), ((r, 0, 0), -2, (r, 0, 0)), "--kappa", kappa,
                           "--permittivity-outside", 78)
        exact = -2 * KCAL / 78 / r * (math.exp(kappa * a) / (1 + kappa * a)) ** 2 * math.exp(-kappa * r)
        energy = report["results"]["binding_energy_kcal_per_mol"]["value"]
        # Panels of 128 lie a few per cent below the ball's surface, which is where ions end.
        self.assertLess(abs(energy / exact - 1), 0.01)

    def test_digits_that_tolerances_leave(self):
        """The error that is told bounds what tighter tolerances change, and binding is told to it."""
        balls = ((0, 0, 0), 1, (1, 2, 0)), ((9, 1, 0), -1, (7, 1, 0.5))
        loose, tight = [self.bind(*balls, "--tolerance", tolerance)["results"]["binding_energy_kcal_per_mol"]
                        for tolerance in (1e-4, 1e-9)]
        self.assertLess(abs(loose["value"] - tight["value"]), loose["error"][0])
        self.assertLess(loose["error"][0], 1e-2 * abs(tight["value"]))
        done = self.fmbem("bind", "complex.pqr", "receptor.pqr", "ligand.pqr", "--complex-surface",
                          "complex0.off", "--complex-surface", "complex1.off", "--receptor-surface",
                          "receptor0.off", "--ligand-surface", "ligand0.off", "--quiet")
        printed = done.stdout.split("binding:")[1].split("total")[1].split()[0]
        self.assertLess(abs(float(printed) - tight["value"]), 1e-3)
        self.assertLess(len(printed), 9)

    def test_rigid_motion(self):
        """The same complex elsewhere, a quarter of a turn about z and one about x later."""
        balls = [((0, 0, 0), 1, (1, 2, 0)), ((9, 1, 0), -1, (7, 1, 0.5))]
        turn = lambda x: (-x[1] + 3.3, -x[2] - 20.1, x[0] + 7.7)
        here, there = [self.bind(*moved)["results"]["binding_energy_kcal_per_mol"] for moved in
                       (balls, [(turn(centre), charge, turn(place)) for centre, charge, place in balls])]
        self.assertLess(abs(here["value"] - there["value"]), here["error"][0] + there["error"][0])

    def test_coulomb_energy_in_one_surface(self):
        """A complex in one surface has the Coulomb energy of both parts' charges with each other."""
        for name, atoms in {"complex": [(-1, 1), (1, -1)], "receptor": [(-1, 1)], "ligand": [(1, -1)]}.items():
            self.write(name + ".pqr", "".join(atom((x, 0, 0), charge) for x, charge in atoms))
        sphere_file(self.folder, "s.off", 2, 4.0)
        surfaces = [word for part in ("complex", "receptor", "ligand")
                    for word in (f"--{part}-surface", "s.off")]
        results = self.report("bind", "complex.pqr", "receptor.pqr", "ligand.pqr", *surfaces)["results"]
        coulomb = results["binding_coulomb_energy_kcal_per_mol"]["value"]
        self.assertAlmostEqual(coulomb, -KCAL / 4 / 2, places=5)
        self.assertAlmostEqual(results["binding_energy_kJ_per_mol"]["value"],
                               4.184 * (coulomb + results["binding_solvation_energy_kcal_per_mol"]["value"]),
                               places=9)

    def test_what_does_not_go_together(self):
        surfaces = [*self.part("complex", ((0, 0, 0), 1, (0, 0, 0))), *self.part("receptor", ((0, 0, 0), 1, (0, 0, 0))),
                    *self.part("ligand", ((0, 0, 0), 1, (0, 0, 0)))]
        files = ["complex.pqr", "receptor.pqr", "ligand.pqr"]
        self.assertIn("the complex has 1 atom of together 1 e, receptor and ligand 2 atoms of together 2 e",
                      self.fmbem("bind", *files, *surfaces).stderr)
        self.write("complex.pqr", atom((0, 0, 0), 3) + atom((1, 0, 0), -1))
        told = self.fmbem("bind", *files, *surfaces, "--json", "b.json").stderr.replace("\n  ", " ")
        difference = "the atom NA of ION A 1 (line 1) of the complex has the charge 3 e, but 1 e in the receptor"
        self.assertIn(difference, told)
        self.assertIn(difference, (self.folder / "b.json").read_text())
        # The same charges at other atoms, and the same atoms in another shape.
        self.write("complex.pqr", atom((0, 0, 0), 2) + atom((1, 0, 0), -1) + atom((1, 1, 0), 0.3))
        self.write("receptor.pqr", atom((0, 0, 0), 2))
        self.write("ligand.pqr", atom((1, 0, 0), 0.3) + atom((1, 1, 0), -1))
        self.assertIn("-1 e, but 0.3 e in the ligand",
                      self.fmbem("bind", *files, *surfaces).stderr.replace("\n  ", " "))
        self.write("ligand.pqr", atom((1, 0, 0), -1) + atom((1, 1.2, 0), 0.3))
        self.assertIn("1 angstrom apart, but 1.2 in the ligand",
                      self.fmbem("bind", *files, *surfaces).stderr.replace("\n  ", " "))
        self.write("ligand.pqr", atom((-1, 1, 0), -1) + atom((0, 1, 0), 0.3))
        self.assertNotIn("binding need", self.fmbem("bind", *files, *surfaces).stderr)
        self.refused("bind", *files[:2], *surfaces, saying="LIGAND is required")
        self.refused("bind", *files, *surfaces[:4], saying="--ligand-surface is required")
        self.refused("bind", *files, *surfaces, "--json", "ligand.pqr", saying="would overwrite")
        self.refused("bind", *files, *surfaces, "--kappa", -1, saying="must be 0 or positive")
        self.write("ligand.pqr", atom((9, 9, 9), 1))
        self.refused("bind", *files, *surfaces, saying=("ligand.pqr, line 1", "outside of all surfaces"))


if __name__ == "__main__":
    unittest.main()
