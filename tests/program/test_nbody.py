"""fmbem nbody: methods, errors, files and what it refuses."""

import csv
import math
import struct
import unittest

from harness import ProgramTest, numbers_alone, read_vtu


class Nbody(ProgramTest):
    def nbody(self, *arguments):
        return self.report("nbody", "--check", 100, *arguments)["nbody"]

    @numbers_alone
    def test_every_method_meets_the_tolerance_on_every_distribution(self):
        for method in ("direct", "treecode", "fmm", "hybrid", "automatic"):
            for cloud in ("cube", "sphere", "plummer", "ellipsoid"):
                with self.subTest(method=method, cloud=cloud):
                    result = self.nbody("--points", 3000, "--distribution", cloud, "--method", method, "--tolerance", "1e-5")
                    self.assertIn(result["method"], ("direct", "fmm", "treecode", "hybrid") if method == "automatic" else (method,))
                    self.assertLess(result["potential_error"], 1e-5)
                    self.assertLess(result["force_error"], 1e-5)
                    self.assertEqual(result["checked_targets"], 100)
                    self.assertGreater(result["gflops"]["P2P"], 0)

    def test_stages_and_pairs_are_those_of_the_method(self):
        direct = self.nbody("--points", 2000, "--method", "direct")
        self.assertEqual(direct["near_pairs"], 2000**2)
        self.assertEqual((direct["order"], direct["leaf"], direct["theta"]), (None, None, None))
        tree = self.nbody("--points", 5000, "--method", "treecode", "--theta", 0.6, "--order", 5, "--leaf", 20)
        self.assertEqual((tree["order"], tree["leaf"], tree["theta"]), (5, 20, 0.6))
        self.assertGreater(tree["m2p_pairs"], 5000)
        self.assertEqual(set(tree["stages_s"]), {"sort", "P2M", "M2M", "M2P", "P2P"})
        fmm = self.nbody("--points", "5e3", "--method", "fmm", "--leaf", 40, "--repeats", 2)
        self.assertLessEqual({"M2L", "L2L", "L2P", "P2P"}, set(fmm["stages_s"]))
        self.assertGreater(fmm["gflops"]["M2L"], 0)
        hybrid = self.nbody("--points", "5e3", "--method", "hybrid", "--leaf", 2000)
        self.assertLess(hybrid["leaf"], 2000)
        self.assertAlmostEqual(hybrid["theta"], 0.866, places=3)
        self.assertLessEqual({"M2L", "P2L", "M2P", "P2P"}, set(hybrid["stages_s"]))
        displaced = self.nbody("--points", "5e3", "--method", "hybrid", "--theta", 0.5, "--order", 2, "--leaf", 20)
        self.assertEqual(displaced["m2l_rows"], 0)
        self.assertGreater(displaced["m2l_pairs"], 0)

    def test_expansions_are_the_same_series(self):
        for method in ("treecode", "hybrid"):
            arguments = ("--points", 3000, "--method", method, "--theta", 0.6, "--order", 4, "--leaf", 10, "--precision", "double")
            results = {name: self.nbody(*arguments, "--expansion", name) for name in ("spherical", "cartesian", "auto")}
            self.assertEqual([r["expansion"] for r in results.values()], ["spherical", "cartesian", "cartesian"])
            for error in ("potential_error", "force_error"):
                self.assertGreater(results["cartesian"][error], 1e-9)
            # The same tree, whatever hybrids take for faster.
            if method == "treecode":
                self.assertAlmostEqual(results["cartesian"]["force_error"] / results["spherical"]["force_error"], 1, places=6)
        self.assertEqual(self.nbody("--points", 1000, "--method", "treecode", "--order", 7)["expansion"], "spherical")
        self.assertIsNone(self.nbody("--points", 1000, "--method", "fmm")["expansion"])

    def test_constructions_of_the_tree_give_the_same_bits(self):
        for method in ("treecode", "fmm", "hybrid"):
            for construction in ("radix-sort", "histogram"):
                self.nbody("--points", 5000, "--distribution", "plummer", "--method", method,
                           "--construction", construction, "--output", f"{construction}.npy")
            self.assertEqual((self.folder / "histogram.npy").read_bytes(), (self.folder / "radix-sort.npy").read_bytes())

    def same(self, values, wanted):
        """To the tolerance of 1e-12, of numbers below 1."""
        for value, number in zip(values, wanted, strict=True):
            self.assertAlmostEqual(value, number, delta=1e-12)

    def table(self, name):
        """The columns of a .csv by the names before their units."""
        with open(self.folder / name, newline="", encoding="utf-8") as stream:
            header, *rows = csv.reader(stream)
        return dict(zip((title.split(" [")[0] for title in header), ([*map(float, column)] for column in zip(*rows))))

    def test_softening(self):
        """Two charges 3 apart with a softening of 4: q/(4π·5), and 3 q/(4π·5³) on a unit charge."""
        two = self.write("two.xyz", "0 0 0 1\n3 0 0 -2\n")
        result = self.nbody("--points", two, "--method", "direct", "--softening", 4, "--tolerance", 1e-12,
                            "--output", "soft.csv")
        self.assertLess(result["force_error"], 1e-12)
        soft = self.table("soft.csv")
        self.same(soft["potential"], [q / (20 * math.pi) for q in (-2, 1)])
        self.same(soft["force x"], [3 * q / (500 * math.pi) for q in (2, 1)])

    def test_yukawa(self):
        """Two charges 3 apart: q e^{−κr}/(4πr), and q (1 + κr) e^{−κr}/(4πr²) on a unit charge."""
        two = self.write("two.xyz", "0 0 0 1\n3 0 0 -2\n")
        result = self.nbody("--points", two, "--kappa", 0.5, "--tolerance", 1e-12, "--output", "yukawa.csv")
        self.assertEqual(result["kappa"], 0.5)
        self.assertLess(result["force_error"], 1e-12)
        yukawa, falls = self.table("yukawa.csv"), math.exp(-1.5)
        self.same(yukawa["potential"], [q * falls / (12 * math.pi) for q in (-2, 1)])
        self.same(yukawa["force x"], [2.5 * q * falls / (36 * math.pi) for q in (2, 1)])
        for method in ("direct", "treecode", "fmm", "hybrid"):
            leaf = [] if method == "direct" else ["--leaf", 40]
            many = self.nbody("--points", 4000, "--kappa", 6, "--method", method, *leaf)
            self.assertEqual((many["method"], many["kappa"], many["gflops"]), (method, 6, {}))
            self.assertLess(max(many["potential_error"], many["force_error"]), 1e-4)

    def test_potentials_alone(self):
        two = self.write("two.xyz", "0 0 0 1\n3 0 0 -2\n")
        result = self.nbody("--points", two, "--potential-only", "--tolerance", 1e-12, "--output", "alone.csv")
        self.assertIsNone(result["force_error"])
        alone = self.table("alone.csv")
        self.assertEqual([*alone], ["x", "y", "z", "charge", "potential"])
        self.same(alone["potential"], [q / (12 * math.pi) for q in (-2, 1)])

    def test_files_hold_points_potentials_and_forces(self):
        points, charges = [(0, 0, 0), (1, 0, 0), (0, 2, 0)], [1, -2, 4]
        potentials, forces = [], []
        for x in points:  # u = Σ q/(4π|d|), and −∇u = Σ q d/(4π|d|³) on a unit charge
            others = [(q / (4 * math.pi), y) for q, y in zip(charges, points) if y != x]
            potentials.append(sum(q / math.dist(x, y) for q, y in others))
            forces.append([sum(q * (x[k] - y[k]) / math.dist(x, y) ** 3 for q, y in others) for k in range(3)])
        file = self.write("three.xyz", "0 0 0 1  # the first\n1 0 0 -2\n0,2,0,4\n")
        for name in ("out.csv", "out.npy", "out.vtu", "out.vtp"):
            self.nbody("--points", file, "--tolerance", 1e-12, "--output", name)
        table = self.table("out.csv")
        wanted = [*zip(*points), charges, potentials, *zip(*forces)]
        header = (self.folder / "out.csv").read_text().splitlines()[0]
        self.assertEqual(header, "x,y,z,charge,potential,force x,force y,force z")
        for column, numbers in zip(table.values(), wanted):
            self.same(column, numbers)
        content = (self.folder / "out.npy").read_bytes()
        self.assertIn(b"'shape': (3,4,)", content)
        self.same(struct.unpack("<12d", content[-96:]),
                  [number for u, force in zip(potentials, forces) for number in (u, *force)])
        for name in ("out.vtu", "out.vtp"):
            arrays = read_vtu(self.folder / name)
            self.assertEqual(arrays["connectivity"], [0, 1, 2])
            self.assertEqual(arrays["offsets"], [1, 2, 3])
            self.assertEqual(arrays["Points"], [c for point in points for c in point])
            self.assertEqual(arrays["charge"], charges)
            self.same(arrays["potential"], potentials)
            self.same(arrays["force"], [c for force in forces for c in force])
        self.assertEqual(read_vtu(self.folder / "out.vtu")["types"], [1, 1, 1])

    def test_what_is_not_finite_is_warned_of(self):
        close = self.write("close.xyz", "0 0 0 1\n1e-300 0 0 2\n")
        report = self.report("nbody", "--points", close, "--method", "direct", "--output", "f.csv")
        self.assertEqual(len(report["warnings"]), 1)
        self.assertIn("2 points are not finite", report["warnings"][0])
        self.assertIn("(0, 0, 0)", report["warnings"][0])
        self.assertLess(report["nbody"]["potential_error"], 1e-6)  # of some 1e299
        self.assertIsNone(report["nbody"]["force_error"])  # 1e599 is no number
        done = self.fmbem("nbody", "--points", close, "--method", "direct")
        self.assertIn("warning: potentials or forces of 2 points", done.stderr)
        self.assertRegex(done.stdout, "(?m)^error of force +not known")

    def test_errors_of_the_least_and_largest_results(self):
        for size in (1e-95, 1e-60, 1e60, 1e95):  # squares of forces are 1/size⁴
            lines = "".join(f"{x * size} {y * size} 0 {1 + x}\n" for x in range(6) for y in range(6))
            report = self.report("nbody", "--points", self.write("a.xyz", lines), "--method", "direct", "--check", 36)
            self.assertEqual(report["warnings"], [])
            for error in ("potential_error", "force_error"):
                self.assertLess(report["nbody"][error], 1e-4)

    def test_one_point_and_points_in_one_place(self):
        self.assertEqual(self.nbody("--points", 1)["method"], "direct")
        heap = self.write("heap.xyz", "1 2 3 1\n" * 50)
        for method in ("direct", "treecode", "fmm", "hybrid"):
            result = self.nbody("--points", heap, "--method", method)
            self.assertIsNone(result["potential_error"])  # all is zero

    def test_bad_input_gets_one_sentence(self):
        broken = self.write("broken.xyz", "0 0 0\n1 2\n")
        charged = self.write("charged.xyz", "0 0 0 1\n1 2 3 -1\n")
        nan = self.write("nan.xyz", "0 0 0\n1 2 nan\n")
        empty = self.write("empty.xyz", "# nothing\n")
        for arguments, saying in (
                (("--points", 0), "whole number from 1"),
                (("--points", -5), "whole number from 1"),
                (("--points", 1.5), "whole number from 1"),
                (("--points", "missing.xyz"), "missing.xyz"),
                (("--points", broken), "broken.xyz, line 2"),
                (("--points", nan), ("nan.xyz, line 2", "finite")),
                (("--points", empty), "no points"),
                (("--points", 9, "--method", "treecode", "--theta", 0), "θ must be above 0"),
                (("--points", 9, "--method", "treecode", "--theta", -1), "θ must be above 0"),
                (("--points", 9, "--method", "treecode", "--theta", 1.01), "at most 1"),
                (("--points", 9, "--method", "fmm", "--theta", 0.5), "θ is a treecode's or a hybrid's"),
                (("--points", 9, "--method", "hybrid", "--theta", 1.01), "at most 1"),
                (("--points", 9, "--method", "hybrid", "--theta", 0), "θ must be above 0"),
                (("--points", 9, "--method", "fmm", "--order", 41), "between 1 and 40"),
                (("--points", 9, "--method", "fmm", "--order", 0), "between 1 and 40"),
                (("--points", 9, "--method", "treecode", "--order", 7, "--expansion", "cartesian"), "orders up to 6"),
                (("--points", 9, "--method", "fmm", "--expansion", "cartesian"), "treecode's or a hybrid's"),
                (("--points", 9, "--method", "treecode", "--expansion", "taylor"), "--expansion"),
                (("--points", 9, "--method", "direct", "--order", 3), "neither order nor leaves"),
                (("--points", 9, "--method", "fmm", "--leaf", 0), "at least one point"),
                (("--points", 9, "--method", "fmm", "--softening", 1), "direct sums alone"),
                (("--points", 9, "--method", "direct", "--softening", -1), "0 or more"),
                (("--points", 9, "--kappa", -1), "κ must be positive"),
                (("--points", 9, "--kappa", 1, "--method", "direct", "--softening", 1), "softening is of Laplace's"),
                (("--points", 9, "--tolerance", 0), "between"),
                (("--points", 9, "--method", "nonsense"), "--method"),
                (("--points", 9, "--distribution", "torus"), "--distribution"),
                (("--points", 9, "--repeats", 0), "--repeats"),
                (("--points", 9, "--check", -1), "--check"),
                (("--points", 9, "--output", "out.vti"), "no grid"),
                (("--points", 9, "--picture", "out.txt"), "out.txt"),
                (("--points", 9, "--construction", "bookmarks"), "--construction"),
                (("--points", 9, "--output", "out.txt"), "out.txt"),
                (("--points", 9, "--output", "nowhere/out.csv"), "nowhere"),
                (("--points", charged, "--distribution", "plummer"), "leave it out"),
                (("--points", charged, "--charges", "equal"), "has charges"),
                (("--points", charged, "--seed", 2), "that are random"),
                (("--points", 9, "--seed", -1), "--seed must be 0 or more"),
                (("--points", 9, "--method", "direct", "--construction", "histogram"), "has no tree"),
                (("--points", broken, "--output", broken), "broken.xyz")):
            with self.subTest(arguments):
                self.refused("nbody", *arguments, saying=saying)


if __name__ == "__main__":
    unittest.main()
