"""fmbem solve: complex permittivities, formulations, driven electrodes and forces."""

import csv
import json
import math
import unittest

import jsonschema

import test_solve
from harness import ProgramTest, msh, read_vtu

EPS0 = test_solve.EPS0
SPHERE = 4 * math.pi * EPS0  # the capacitance of a sphere of radius 1 m


def spheres(level, *those):
    """Spheres (group, radius, z of the centre) of 8 · 4^level triangles each, whose corners lie on
    them."""
    nodes, elements, names = [], [], []
    for tag, (name, radius, z) in enumerate(those, 1):
        names.append((tag, name))
        number = {}

        def node(x):
            length = math.sqrt(sum(c * c for c in x))
            place = tuple(round(radius * c / length, 9) for c in x)
            if place not in number:
                nodes.append((place[0], place[1], place[2] + z))
                number[place] = len(nodes)
            return number[place]

        def split(a, b, c, depth):
            if depth == 0:
                elements.append((2, tag, tag, node(a), node(b), node(c)))
                return
            middle = lambda p, q: tuple((u + v) / 2 for u, v in zip(p, q))
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            for corners in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)):
                split(*corners, depth - 1)

        for x in (1, -1):
            for y in (1, -1):
                for w in (1, -1):
                    corners = [(x, 0, 0), (0, y, 0), (0, 0, w)]
                    if x * y * w < 0:
                        corners.reverse()
                    split(*corners, level)
    return msh(nodes, elements, names)


class Formulations(ProgramTest):
    def solve(self, problem, mesh, *arguments):
        """The report of a problem, whose schemas are checked."""
        file = {"version": 1, **problem}
        jsonschema.validate(file, test_solve.PROBLEM_SCHEMA)
        self.write("problem.json", json.dumps(file))
        self.write("mesh.msh", mesh)
        report = self.report("solve", "mesh.msh", "--problem", "problem.json", *arguments)
        self.assertEqual(report["problem"], file)
        return report

    def text(self, *arguments):
        return self.fmbem("solve", "mesh.msh", "--problem", "problem.json", *arguments).stdout

    def refused(self, problem, mesh, *saying, command="solve", options=()):
        with self.subTest(saying):
            self.write("problem.json", json.dumps({"version": 1, **problem}))
            self.write("mesh.msh", mesh)
            super().refused(command, "mesh.msh", "--problem", "problem.json", *options,
                            saying=saying)

    def value(self, report, name):
        return report["results"][name]["value"]

    def coated(self, permittivity, **group):
        groups = {"coat": {"interface": True, "inside": "oxide", "outside": "air"},
                  "ball": {"conductor": {"potential": 1}, "outside": "oxide"}}
        return {"regions": {"air": {"permittivity": 1}, "oxide": permittivity}, "outside": "air",
                "groups": groups, **group}

    def test_complex_permittivities(self):
        mesh = spheres(3, ("ball", 1, 0), ("coat", 2, 0))
        exact = SPHERE / (0.5 / (4 - 3j) + 0.5)
        for permittivity in ({"permittivity": [4, -3]}, {"permittivity": 4, "loss_tangent": 0.75}):
            report = self.solve(self.coated(permittivity), mesh, "--basis", "--line",
                                "0,0,1.5,0,0,3,2", "--output", "line.csv", "--surface", "s.vtu")
            charge = complex(self.value(report, "charge_C")[0],
                             self.value(report, "charge_C_imaginary")[0])
            self.assertLess(abs(charge / exact - 1), 1.3e-2)
            self.assertEqual(report["results"]["charge_C_imaginary"]["unit"], "C")
            energy = complex(self.value(report, "energy_J"), self.value(report, "energy_J_imaginary"))
            self.assertLess(abs(2 * energy / charge - 1), 1e-5)
            self.assertAlmostEqual(self.value(report, "capacitance_F_imaginary")[0][0] / charge.imag,
                                   1, delta=1e-5)
        with open(self.folder / "line.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        for row, z, permittivity in zip(rows, (1.5, 3), (4 - 3j, 1)):
            # From outside in: Q/(4πε₀ 2), and in the coat what is between.
            known = exact / SPHERE * (1 / z if z > 2 else 0.5 + (1 / z - 0.5) / permittivity)
            found = complex(*(float(row[f"the problem, {part} part: potential [V]"])
                              for part in ("real", "imaginary")))
            self.assertLess(abs(found - known), 1e-2)
        arrays = read_vtu(self.folder / "s.vtu")
        self.assertIn("the problem, imaginary part: flux density outward [C/m^2]", arrays)
        text = self.text()
        for line in ("oxide: permittivity (4 - 3i)", "conductor ball: (1.000 + 0i) V, charge ("):
            self.assertIn(line, text)
        real = self.solve(self.coated({"permittivity": 4}), mesh)
        self.assertNotIn("charge_C_imaginary", real["results"])

    def test_formulations(self):
        """The harmonic r² g inside and g/r³ outside, of which the energy is ½ ε k ∮ g² = ½ ε k 8π/15 with k = 2
        and 3. The mesh has the volume of a sphere 0.8 % smaller: that is 1.6 and 2.4 % of the potentials, and the
        rest of the bounds is for densities that are constant on each of 512 panels."""
        mesh = spheres(3, ("ball", 1, 0))
        g = "(x*y + 0.5*(z^2 - x^2)) / (x^2 + y^2 + z^2)"
        for is_outside in (False, True):
            side = {"outside" if is_outside else "inside": "water"}
            problem = {"regions": {"water": {"permittivity": 80}},
                       "outside": "water" if is_outside else None,
                       "groups": {"ball": {"dirichlet": g, **side}}}
            place = (0.3, 0.4, 0.2) if not is_outside else (0.9, 1.2, 0.6)
            r = math.sqrt(sum(c * c for c in place))
            known = (place[0] * place[1] + 0.5 * (place[2] ** 2 - place[0] ** 2))
            known /= r ** 5 if is_outside else 1
            known_energy = 0.5 * 80 * EPS0 * (3 if is_outside else 2) * 8 * math.pi / 15
            self.write("point.xyz", " ".join(map(str, place)) + "\n")
            for formulation in ("single layer", "direct", "second kind"):
                with self.subTest(formulation=formulation, is_outside=is_outside):
                    report = self.solve({**problem, "formulation": formulation}, mesh, "--points",
                                        "point.xyz", "--output", "phi.npy", "--surface", "s.npy")
                    _, (potential, *_) = test_solve.read_npy(self.folder / "phi.npy")
                    self.assertAlmostEqual(potential / known, 1, delta=0.05)
                    _, values = test_solve.read_npy(self.folder / "s.npy")
                    self.assertEqual(math.isnan(values[3 if is_outside else 2]),
                                     formulation == "second kind")
                    energy = self.value(report, "energy_J")
                    if formulation == "second kind":
                        self.assertIsNone(energy)
                        self.assertEqual(report["warnings"], [])
                    else:
                        self.assertAlmostEqual(energy / known_energy, 1, delta=0.025)
        problem = {"formulation": "second kind", "outside": "vacuum",
                   "groups": {"ball": {"conductor": {"potential": 2}, "outside": "vacuum"}}}
        del problem["outside"]
        report = self.solve(problem, mesh)
        self.assertAlmostEqual(self.value(report, "charge_C")[0] / (2 * SPHERE), 1, delta=0.02)
        self.assertEqual(self.value(report, "flux_outside_C"), [None])
        self.assertIn("second kind", self.text())
        floating = {"ball": {"conductor": {"charge": 1}, "outside": "vacuum"}}
        self.refused({**problem, "groups": floating}, mesh, "second kind", "charge is given")
        self.refused({**problem, "groups": {"ball": {"neumann": 0, "outside": "vacuum"}}}, mesh,
                     "another condition", '"formulation"')
        self.refused({**problem, "groups": {"ball": {"conductor": {"potential": 1}}}}, mesh,
                     "regions on both sides")
        for command, options in (("capacitance", ()),
                                 ("field", ("--line", "0,0,2,0,0,3,2", "--output", "f.csv"))):
            self.refused(problem, mesh, "formulation", "fmbem solve", command=command,
                         options=options)
            self.refused({"regions": {"a": {"permittivity": [1, -1]}}, "outside": "a",
                          "groups": {"ball": {"conductor": {"potential": 1}}}},
                         mesh, "complex", "fmbem solve", command=command, options=options)

    def test_driven_electrodes(self):
        conductivity, current = 0.3, 2e-3
        resistance = 3 / (conductivity * 1e-3)
        groups = {"start": {"conductor": {"current": current}, "inside": "tissue"},
                  "end": {"conductor": {"current": -current}, "inside": "tissue"},
                  "sides": {"neumann": 0, "inside": "tissue"}}
        problem = {"regions": {"tissue": {"conductivity": conductivity}}, "outside": None,
                   "groups": groups}
        report = self.solve(problem, test_solve.box(4), "--unit", "mm")
        volts = self.value(report, "conductor_potential_V")
        self.assertAlmostEqual((volts[0] - volts[1]) / (current * resistance), 1, delta=0.05)
        self.assertAlmostEqual(volts[0] / volts[1], -1, delta=0.02)
        for found, given in zip(self.value(report, "current_A"), (current, -current)):
            self.assertAlmostEqual(found / given, 1, delta=1e-4)
        self.assertEqual([d["conductor"] for d in report["driven"]], ["start", "end"])
        self.assertTrue(all(d["converged"] for d in report["driven"]))
        groups["end"] = {"conductor": {"potential": 1}, "inside": "tissue"}
        volts = self.value(self.solve(problem, test_solve.box(4), "--unit", "mm"),
                           "conductor_potential_V")
        self.assertAlmostEqual((volts[0] - 1) / (current * resistance), 1, delta=0.05)
        groups["end"] = {"conductor": {"current": current}, "inside": "tissue"}
        self.refused(problem, test_solve.box(2), "adds up to", "tissue")
        # A shell with water in it: (1/2 − 1/3)/(4πκ) from its inner to its outer wall.
        shell = {"regions": {"tissue": {"conductivity": conductivity}}, "outside": None,
                 "groups": {"inner": {"conductor": {"current": current}, "outside": "tissue"},
                            "outer": {"conductor": {"potential": 0}, "inside": "tissue"}}}
        mesh = spheres(3, ("inner", 2, 0), ("outer", 3, 0))
        volts = self.value(self.solve(shell, mesh), "conductor_potential_V")[0]
        exact = (1 / 2 - 1 / 3) / (4 * math.pi * conductivity)
        self.assertAlmostEqual(volts / (current * exact), 1, delta=0.02)

    def test_forces(self):
        mesh = spheres(3, ("a", 1, 0), ("b", 1, 10))
        q = 1e-9
        groups = {name: {"conductor": {"charge": q}} for name in ("a", "b")}
        report = self.solve({"groups": groups}, mesh, "--forces")
        # At a distance of ten radii what they polarize is below 0.4 % of Coulomb's force.
        coulomb = q * q / (4 * math.pi * EPS0 * 100)
        self.assertEqual(self.value(report, "bodies"), ["a", "b"])
        force = self.value(report, "force_N")
        self.assertAlmostEqual(force[1][2] / coulomb, 1, delta=5e-3)
        self.assertAlmostEqual(force[0][2] / coulomb, -1, delta=5e-3)
        self.assertAlmostEqual(self.value(report, "stress_force_N")[1][2] / coulomb, 1, delta=0.1)
        self.assertAlmostEqual(self.value(report, "body_charge_C")[0] / q, 1, delta=1e-4)
        self.assertGreater(self.value(report, "energy_J"), 0)
        self.assertIn("by Maxwell's stress", self.text("--forces"))
        # A charge before a dielectric ball; torque about a point beside it.
        ball = spheres(3, ("ball", 1, 0))
        problem = {"regions": {"air": {"permittivity": 1}, "glass": {"permittivity": 4}},
                   "outside": "air",
                   "groups": {"ball": {"interface": True, "inside": "glass", "outside": "air"}},
                   "sources": {"charges": [{"at": [0, 0, 2], "charge": q}]},
                   "bodies": {"the ball": {"groups": ["ball"], "about": [1, 0, 0]}}}
        report = self.solve(problem, ball)
        exact = sum(n * (n + 1) * 3 / (n * 4 + n + 1) / 2 ** (2 * n + 3) for n in range(1, 60))
        force = self.value(report, "force_N")[0][2] / (q * q / SPHERE)
        self.assertAlmostEqual(force / exact, 1, delta=0.06)
        on_charge = self.value(report, "force_on_charges_N")[0][2] / (q * q / SPHERE)
        self.assertAlmostEqual(on_charge / -force, 1, delta=1e-3)
        self.assertAlmostEqual(self.value(report, "torque_Nm")[0][1] / (force * q * q / SPHERE), 1,
                               delta=1e-3)
        bodies = {"x": {"groups": ["nobody"]}}
        self.refused({**problem, "bodies": bodies}, ball, "nobody")
        self.refused({**problem, "bodies": {}}, ball, "no body")
        self.refused({**problem, "bodies": {"x": {"groups": []}}}, ball, '"groups"')
        self.refused({**problem, "sources": {"dipoles": [{"at": [0, 0, 2], "moment": [0, 0, 1]}]}},
                     ball, "dipoles")
        self.refused(problem, ball, "fmbem solve", command="capacitance")
        self.write("b.npy", "refused before it is read")
        self.refused(problem, ball, "forces and --rhs exclude", options=("--rhs", "b.npy"))
        conducting = {"regions": {"a": {"conductivity": 1}}, "outside": "a",
                      "groups": {"ball": {"conductor": {"potential": 1}}}}
        self.refused(conducting, ball, "conductivities", options=("--forces",))

    def test_permittivities_that_cannot_be(self):
        mesh = spheres(1, ("ball", 1, 0), ("coat", 2, 0))
        for region, saying in (({"permittivity": [1, 2]}, "not positive"),
                               ({"permittivity": [-1, 0]}, "not negative"),
                               ({"permittivity": [0, 0]}, "not both 0"),
                               ({"permittivity": [1, -1, 0]}, "two finite numbers"),
                               ({"permittivity": [1, -1], "loss_tangent": 1}, "leave one out"),
                               ({"permittivity": 1, "loss_tangent": -1}, "0 or more")):
            self.refused(self.coated(region), mesh, saying)


if __name__ == "__main__":
    unittest.main()
