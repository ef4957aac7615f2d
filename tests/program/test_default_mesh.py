"""Bodies from CAD, solved without any option, against references."""

import math
import unittest

from harness import ROOT, ProgramTest

EPSILON_0 = 8.8541878128e-12

# In 4πε₀ of the files' unit: the first row of Maxwell's matrix. The torus by its series of Legendre
# functions; the others by this program, extrapolated from finer and graded meshes (docs/accuracy.md).
BODIES = {
    "wires": (20.1782, -12.8296),
    "torus": (5.245649,),
    "coaxial": (11.8380, -11.8042),
    "comb": (50.3761, -44.9483),
    "via": (10.2248, -2.8901),
    "sphere_in_box": (14.3093, -1.09575),
    "cone": (3.17478,),
}


class DefaultMesh(ProgramTest):
    def test_bodies_are_within_three_percent_and_refined_ones_within_the_estimate(self):
        for name, exact in BODIES.items():
            with self.subTest(name):
                body = ROOT / "tests" / "data" / "bodies" / f"{name}.geo"
                # Half a minute for all on two cores, some ten times that with sanitizers.
                report = self.report("capacitance", body, "--refine", "2", "--tolerance", "1e-5",
                                     timeout=3000)
                coarse = report["levels"][0]
                self.assertLess(coarse["panels"], 50_000)
                unit = 4 * math.pi * EPSILON_0 * report["mesh"]["scale_to_m"]
                for value, reference in zip(coarse["capacitance_F"][0], exact, strict=True):
                    self.assertLess(abs(value / (unit * reference) - 1), 0.03)
                result = report["results"]["capacitance_4pi_eps0_length"]
                for value, error, reference in zip(result["value"][0], result["error"][0], exact,
                                                   strict=True):
                    self.assertLess(abs(value - reference), error)
                    self.assertLess(error, 5e-3 * abs(value))

    def test_what_limits_sizes_is_told(self):
        body = ROOT / "tests" / "data" / "bodies" / "via.geo"
        report = self.report("mesh-info", body)
        sizes = report["mesh"]["sizes"]
        self.assertEqual({s["group"] for s in sizes}, {"plane", "via"})
        self.assertEqual(sum(s["panels"] for s in sizes), report["mesh"]["panels"])
        self.assertIn("curvature", {s["limit"] for s in sizes})
        self.assertIn("by the width of a face", " ".join(self.fmbem("mesh-info", body).stdout.split()))
        cone = ROOT / "tests" / "data" / "bodies" / "cone.geo"
        solve = self.fmbem("capacitance", cone, "--mesh-size", "0.5")
        self.assertIn("sizes     0.5 m (the size asked for)", solve.stdout)

    def test_sizes_that_make_no_sense_are_refused(self):
        cube = self.cube_file()
        self.refused("mesh-info", cube, "--mesh-size", "1.8", saying="larger than")
        self.refused("mesh-info", cube, "--grade", "0", saying="graded")
        self.refused("mesh-info", cube, "--grade", "2", saying="graded")
        for options in ([], ["--mesh-size", "0.5"]):
            self.refused("mesh-info", cube, "--grade", "1e-9", *options, saying="would have about")
        self.refused("mesh-info", self.tetrahedron_file(), "--grade", "0.5", saying="a mesh already")

    def test_a_graded_mesh_is_finer_at_edges(self):
        cube = self.cube_file()
        plain = self.report("mesh-info", cube, "--mesh-size", "0.2")
        graded = self.report("mesh-info", cube, "--mesh-size", "0.2", "--grade", "0.2")
        smallest = [r["results"]["smallest_edge"]["value"] for r in (plain, graded)]
        self.assertLess(smallest[1], 0.3 * smallest[0])


if __name__ == "__main__":
    unittest.main()
