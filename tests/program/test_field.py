"""fmbem field: potentials and fields at points, reports, files, refusals."""

import csv
import json
import math
import os
import re
import unittest

from harness import CUBE, ProgramTest, read_vtu

SPHERE = """
    SetFactory("OpenCASCADE");
    Sphere(1) = {0, 0, 0, 1};
    Physical Surface("sphere") = {1};
    """


class FieldTest(ProgramTest):
    def table(self, *arguments, name="out.csv", **keywords):
        """Rows [x, y, z, potential, Ex, Ey, Ez] of a run's table."""
        self.fmbem("field", *arguments, "--output", name, **keywords)
        with open(self.folder / name, newline="") as file:
            self.header, *rows = csv.reader(file)
        return [[float(word) for word in row] for row in rows]

    def vtu(self, name):
        """The arrays of a .vtu by name, as lists of numbers, and the piece's numbers."""
        arrays = read_vtu(self.folder / name)
        points, cells = len(arrays["potential [V]"]), len(arrays["types"])
        self.assertEqual(len(arrays["Points"]), 3 * points)
        self.assertEqual(len(arrays["E [V/m]"]), 3 * points)
        self.assertEqual(len(arrays["offsets"]), cells)
        self.assertEqual(arrays["offsets"][-1], len(arrays["connectivity"]))
        self.assertLess(max(arrays["connectivity"]), points)
        return arrays


class Values(FieldTest):
    def test_sphere_at_1_volt(self):
        """φ = 1/r and E = r/r³ outside, φ = 1 and E = 0 inside, up to the discretization."""
        mesh = self.write("sphere.geo", SPHERE)
        points = [(0, 0, 0), (0.3, -0.2, 0.4), (0, 0, 1.5), (-1, 2, 2), (30, -40, 0)]
        self.write("points.xyz", "# x y z\n" + "".join(f"{x} {y} {z}\n" for x, y, z in points))
        rows = self.table(mesh, "--mesh-size", "0.15", "--unit", "mm", "--points", "points.xyz")
        self.assertEqual(self.header, ["x [mm]", "y [mm]", "z [mm]", "potential [V]",
                                       "Ex [V/m]", "Ey [V/m]", "Ez [V/m]"])
        self.assertEqual([tuple(row[:3]) for row in rows], points)
        for x, y, z, potential, *field in rows:
            r = math.hypot(x, y, z)
            self.assertAlmostEqual(potential, 1 / max(r, 1), delta=0.01 / max(r, 1))
            expected = [1e3 * c / r ** 3 if r > 1 else 0 for c in (x, y, z)]  # metres
            self.assertLess(math.dist(field, expected), 10 / max(r, 1) ** 2)

    def test_several_sets_of_points_have_the_results_of_each(self):
        mesh = self.two_tetrahedra_file()
        self.write("p.xyz", "3 3 3\n1 1 1\n")
        sets = {"points-1": ("--points", "p.xyz"), "line-1": ("--line", "2,2,2,3,3,3,4"),
                "line-2": ("--line", "4,0,1,5,0,1,2"), "plane-1": ("--plane", "0,0,2,1,0,0,0,1,0,3,2")}
        report = self.report("field", mesh, *(word for words in sets.values() for word in words),
                             "--output", "all.csv")
        self.assertEqual(report["point_sets"], list(sets))
        self.assertEqual(report["results"]["points"]["value"], [2, 4, 2, 6])
        for name, words in sets.items():
            with self.subTest(name):
                alone = self.table(mesh, *words, name="alone.csv")
                with open(self.folder / f"all-{name}.csv", newline="") as file:
                    together = [[float(word) for word in row] for row in list(csv.reader(file))[1:]]
                self.assertEqual(together, alone)
        self.assertFalse((self.folder / "all.csv").exists())
        again = self.fmbem("rerun", self.write("report.json", json.dumps(report))).stdout
        self.assertEqual(again, "the same bits: every result is what it was\n")

    def test_files_of_several_sets_appear_together_or_not_at_all(self):
        mesh = self.two_tetrahedra_file()
        (self.folder / "all-cut-2.vti").mkdir()
        self.refused("field", mesh, "--cut", "z=0.5", "--cut", "z=2", "--output", "all.vti",
                     saying="all-cut-2.vti")
        self.refused("field", mesh, "--cut", "z=0.5", "--line", "0,0,2,1,0,2,3", "--output", "all.csv",
                     "--json", "all-cut-1.csv", saying="same file")

    def test_cube_is_an_equipotential_volume(self):
        for x, y, z, potential, *field in self.table(CUBE, "--line", "0.2,0.3,0.4,0.7,0.6,0.8,6"):
            self.assertAlmostEqual(potential, 1, delta=1e-3)
            self.assertLess(math.hypot(*field), 0.01)

    def test_voltages_superpose(self):
        where = (self.two_tetrahedra_file(), "--line", "-1,0.3,0.2,4,0.5,0.4,9", "--tolerance", "1e-10")
        left = self.table(*where, "--voltage", "left=1")
        right = self.table(*where, "--voltage", "right=1", "--voltage", "left=0")
        default = self.table(*where)
        both = self.table(*where, "--voltage", "left=2", "--voltage", "right=-3.5")
        for l, r, d, b in zip(left, right, default, both):
            for k in range(3, 7):
                self.assertAlmostEqual(d[k], l[k] + r[k], delta=1e-8)
                self.assertAlmostEqual(b[k], 2 * l[k] - 3.5 * r[k], delta=1e-8)

    def test_the_least_voltages_have_their_charges(self):
        where = (self.tetrahedron_file(), "--line", "-1,0,0,-2,0,0,2", "--output", "l.csv")
        one = self.report("field", *where, "--voltage", "body=1")["results"]["charge_C"]["value"][0]
        for size in ("1e-60", "1e-170", "1e-280"):
            charge = self.report("field", *where, "--voltage", f"body={size}")["results"]["charge_C"]["value"][0]
            self.assertAlmostEqual(charge / float(size) / one, 1, delta=1e-9)

    def test_charges_are_those_of_the_capacitances_with_digits_of_their_estimate(self):
        two = self.two_tetrahedra_file()
        where = ("--line", "-1,0,0,-2,0,0,2", "--output", "l.csv")
        voltages = ("--voltage", "left=2", "--voltage", "right=-3")
        report = self.report("field", two, "--refine", "2", *voltages, *where)
        charge = report["results"]["charge_C"]
        c = self.report("capacitance", two, "--refine", "2")["results"]["capacitance_F"]["value"]
        for i in range(2):
            self.assertAlmostEqual(charge["value"][i] / (2 * c[i][0] - 3 * c[i][1]), 1, delta=1e-5)
        self.assertEqual([level["panels"] for level in report["levels"]], [8, 32, 128])
        self.assertEqual(report["levels"][2]["charge_C"], charge["value"])
        text = self.fmbem("field", two, "--refine", "2", *voltages, *where).stdout
        for i, name in enumerate(("left", "right")):
            printed = re.search(rf"charge    {name}: (\S+) C", text).group(1)
            mantissa, exponent = printed.split("e")
            unit = 10.0 ** (int(exponent) - len(mantissa.partition(".")[2]))
            self.assertLessEqual(unit, charge["error"][i])
            self.assertGreater(unit, 0.1 * charge["error"][i])
        self.assertIn("128 panels: ", text)
        plain = self.fmbem("field", two, *where).stdout
        self.assertRegex(plain, r"charge    left: \d\.\d{3}e-\d+ C")
        self.assertIn("without --refine there is no estimate", plain)

    def test_the_field_jumps_on_the_surface(self):
        self.write("points.xyz", "1 0.4321 0.5678\n0.4321 0.5678 0\n")
        sides = {side: self.table(CUBE, "--points", "points.xyz", "--side", side)
                 for side in ("mean", "positive", "negative")}
        for point, normal in ((0, (1, 0, 0)), (1, (0, 0, -1))):
            outside, inside, mean = (sides[side][point] for side in ("positive", "negative", "mean"))
            self.assertEqual(outside[3], inside[3])
            jump = [a - b for a, b in zip(outside[4:], inside[4:])]
            density = sum(a * b for a, b in zip(jump, normal))
            self.assertGreater(density, 0.3)
            self.assertLess(math.dist(jump, [density * c for c in normal]), 1e-9)
            self.assertLess(math.hypot(*inside[4:]), 0.02 * density)
            for k in range(4, 7):
                self.assertAlmostEqual(mean[k], (outside[k] + inside[k]) / 2, delta=1e-12)

    def test_points_on_edges_have_no_field(self):
        self.write("points.xyz", "0.5 0 0\n2 2 2\n")
        done = self.fmbem("field", self.tetrahedron_file(), "--points", "points.xyz", "--output", "e.csv",
                          "--quiet")
        self.assertTrue(done.stdout.startswith("charge    body: "))
        self.assertNotIn("wrote", done.stdout)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("1 point lies on an edge", done.stderr)
        on_edge, off = (self.folder / "e.csv").read_text().splitlines()[1:]
        self.assertTrue(on_edge.endswith(",nan,nan,nan"))
        self.assertNotIn("nan", off)
        report = self.report("field", self.tetrahedron_file(), "--line", "0.25,0,0,0.5,0,0,2",
                             "--output", "e.vtu")
        self.assertEqual(report["results"]["singular_points"]["value"], 2)
        self.assertEqual(report["results"]["field_V_per_m"]["value"], {"min": None, "max": None})
        self.assertTrue(any("2 points lie on an edge" in w for w in report["warnings"]))

    def test_any_number_of_threads_gives_the_same_bytes(self):
        tables = []
        for threads in (1, 2):
            self.table(CUBE, "--plane", "-1,-1,0.5,3,0,0,0,3,0,40,30", "--threads", threads)
            tables.append((self.folder / "out.csv").read_bytes())
        self.assertEqual(*tables)

    def test_exact_integrals_agree_with_the_tolerance(self):
        where = (CUBE, "--plane", "-1,-1,0.45,3,0,0,0,3,0,25,20")
        default = self.table(*where)
        exact = self.table(*where, "--field-tolerance", "0")
        for a, b in zip(default, exact):
            for k in range(3, 7):
                self.assertAlmostEqual(a[k], b[k], delta=1e-6)


class Files(FieldTest):
    def agree(self, *points):
        """The .vtu's arrays, which hold the .csv's numbers."""
        mesh = self.tetrahedron_file()
        rows = self.table(mesh, *points)
        self.fmbem("field", mesh, *points, "--output", "out.vtu")
        arrays = self.vtu("out.vtu")
        self.assertEqual(arrays["Points"], [x for row in rows for x in row[:3]])
        self.assertEqual(arrays["potential [V]"], [row[3] for row in rows])
        self.assertEqual(arrays["E [V/m]"], [x for row in rows for x in row[4:]])
        return arrays

    def test_points_become_vertices(self):
        self.write("points.xyz", "2 0 0\n0 2 0.1\n0.1 0.1 2\n")
        arrays = self.agree("--points", "points.xyz")
        self.assertEqual(arrays["types"], [1] * 3)
        self.assertEqual(arrays["connectivity"], [0, 1, 2])

    def test_a_line_becomes_segments(self):
        arrays = self.agree("--line", "-1.5,0.1,0.3,2,1,.7,11")
        self.assertEqual(arrays["types"], [3] * 10)
        self.assertEqual(arrays["Points"][:3], [-1.5, 0.1, 0.3])
        self.assertEqual(arrays["Points"][-3:], [2, 1, 0.7])

    def test_a_plane_becomes_quadrangles(self):
        arrays = self.agree("--plane", "-1,-1.5,.3,3,0,0,0,4,0,4,5")
        self.assertEqual(arrays["types"], [9] * 12)
        corners = [arrays["Points"][3 * i:3 * i + 3] for i in arrays["connectivity"][:4]]
        self.assertEqual(corners, [[-1, -1.5, 0.3], [0, -1.5, 0.3], [0, -0.5, 0.3], [-1, -0.5, 0.3]])

    def test_report_and_what_is_printed(self):
        arguments = ("field", self.two_tetrahedra_file(), "--conductor", "pair=left,right", "--voltage",
                     "pair=3", "--line", "5,5,5,9,9,9,4", "--output", "out.csv")
        report = self.report(*arguments, "--field-tolerance", "1e-6")
        self.assertEqual(report["command"], "field")
        self.assertEqual(report["status"], "solved")
        self.assertEqual(report["conductors"], [{"name": "pair", "groups": ["left", "right"]}])
        self.assertEqual(report["tolerance"]["field"], 1e-6)
        results = report["results"]
        self.assertEqual(results["voltages_V"]["value"], [3])
        self.assertEqual(results["points"]["value"], 4)
        self.assertEqual(results["singular_points"]["value"], 0)
        rows = self.table(*arguments[1:-2], "--field-tolerance", "1e-6")
        for key, values in (("potential_V", [row[3] for row in rows]),
                            ("field_V_per_m", [math.hypot(*row[4:]) for row in rows])):
            self.assertTrue(all(map(math.isfinite, values)))
            self.assertAlmostEqual(results[key]["value"]["min"], min(values), delta=1e-14)
            self.assertAlmostEqual(results[key]["value"]["max"], max(values), delta=1e-14)
        done = self.fmbem(*arguments)
        for word in ("mesh ", "operator ", "solver ", "converged", "points    4", "potential from",
                     "|E| ", "wrote out.csv", "time ", "field "):
            self.assertIn(word, done.stdout)
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith("fmbem: notice: "), line)
        quiet = self.fmbem(*arguments, "--quiet")
        self.assertEqual(quiet.stderr, "")
        self.assertIn(quiet.stdout.splitlines()[0], done.stdout)
        self.assertEqual([line.split()[0] for line in quiet.stdout.splitlines()],
                         ["charge", "four", "points", "potential", "|E|"])

    def test_not_converged_is_exit_code_3_with_the_file(self):
        report = self.report("field", CUBE, "--line", "2,2,2,3,3,3,3", "--output", "out.csv",
                             "-ksp_max_it", "1", code=3)
        self.assertEqual(report["status"], "not_converged")
        self.assertTrue(any("these voltages did not converge" in w for w in report["warnings"]))
        self.assertEqual(len((self.folder / "out.csv").read_text().splitlines()), 4)


class Refusals(FieldTest):
    LINE = ("--line", "2,0,0,3,0,0,3")

    def refuse(self, *options, saying, output="out.vtu"):
        self.refused("field", self.tetrahedron_file(), *options, "--output", output,
                     "--json", "out.json", saying=saying)

    def test_points_have_to_be_given(self):
        self.refuse(saying="--points, --line, --plane, --box or --cut")
        self.write("points.xyz", "0 0 0\n")
        self.refuse(*self.LINE, "--cut", "z=0.5", output="x.vti", saying=".vti is for planes and boxes")
        self.refuse(*self.LINE * 51, saying="51 sets of points")

    def test_lines(self):
        for line, saying in [("0,0,0,1,1,1,1", "2 to"), ("0,0,0,1,1,1,0", "2 to"), ("0,0,0,1,1,1,2.5", "2.5"),
                             ("0,0,0,1,1,1,-4", "-4"), ("0,0,0,1,1,1,1e9", "1e+09"), ("0,0,0,1,1,1", "7 numbers"),
                             ("0,0,0,1,1,1,2,2", "7 numbers"), ("0,0,nan,1,1,1,2", "finite"),
                             ("0,0,inf,1,1,1,2", "finite"), ("0,0,,1,1,1,2", "finite"), ("x", "finite"),
                             ("", "the value of --line is empty"), ("1,2,3,1,2,3,5", "one point"),
                             ("0,0,0,1e200,0,0,5", "too far")]:
            with self.subTest(line):
                self.refuse("--line", line, saying=saying)

    def test_planes(self):
        for plane, saying in [("0,0,0,1,2,3,2,4,6,3,3", "parallel"), ("0,0,0,1,2,3,-1,-2,-3,3,3", "parallel"),
                              ("0,0,0,0,0,0,1,0,0,3,3", "no length"), ("0,0,0,1,0,0,0,0,0,3,3", "no length"),
                              ("0,0,0,1,0,0,0,1,0,1,3", "2 to"), ("0,0,0,1,0,0,0,1,0,3,1", "2 to"),
                              ("0,0,0,1,0,0,0,1,0,20000,10000", "too many"), ("0,0,0,1,0,0,0,1,0,3", "11 numbers"),
                              ("0,0,0,1,0,0,0,1,0,3,x", "finite")]:
            with self.subTest(plane):
                self.refuse("--plane", plane, saying=saying)

    def test_files_of_points(self):
        for content, saying in [("1 2 3 4\n", "fourth"), ("1 2\n", "line 1"), ("1 2 3\n1 nan 3\n", "line 2"),
                                ("", "empty"), ("# none\n", "no points"), ("1e200 0 0\n", "too far")]:
            with self.subTest(content):
                self.write("points.xyz", content)
                self.refuse("--points", "points.xyz", saying=saying)
        self.refuse("--points", "nowhere.xyz", saying="nowhere.xyz")
        self.refuse("--points", "", saying="the value of --points is empty")

    def test_voltages(self):
        for voltages, saying in [(["nobody=1"], '"nobody", and the mesh has: body'), (["body"], "NAME=V"),
                                 (["=1"], "NAME=V"), (["body="], "volts"), (["body=x"], "volts"),
                                 (["body=1V"], "volts"), (["body=nan"], "volts"), (["body=inf"], "volts"),
                                 (["body=1e200"], "1e100"), (["body=1", "body=2"], "twice")]:
            with self.subTest(voltages):
                self.refuse(*self.LINE, *(word for v in voltages for word in ("--voltage", v)), saying=saying)

    def test_options_out_of_range(self):
        of_field = "--field-tolerance must be 0 or between 1e-10 and 0.1, not "
        for option, value, saying in [
                ("--side", "left", "--side: left not in"), ("--field-tolerance", "1e-12", of_field + "1e-12"),
                ("--field-tolerance", "0.5", of_field + "0.5"), ("--field-tolerance", "-1", of_field + "-1"),
                ("--field-tolerance", "nan", of_field + "nan"),
                ("--tolerance", "0", "the solver's tolerance must be between 1e-13 and 0.5, not 0"),
                ("--operator-tolerance", "0", "--operator-tolerance must be between 1e-15 and 0.5, not 0"),
                ("--operator", "magic", "--operator: magic not in"), ("--backend", "tpu", "--backend: tpu not in"),
                ("--precision", "half", "--precision: half not in"),
                ("--threads", "0", "the number of threads must be between 1 and 4096, not 0"),
                ("--refine", "-1", "a mesh can be refined 0 to 12 times, not -1"),
                ("--unit", "parsec", "the unit 'parsec' is none of m, cm, mm"),
                ("--mesh-size", "0", "the mesh size must be a positive number, not 0"),
                ("--conductor", "x=nowhere", 'names the group "nowhere", and the mesh has: body'),
                ("--permittivity", "2", "not expected: 2 --permittivity"),
                ("-no_such_option", "1", "the PETSc option -no_such_option is unknown"),
                ("-ksp_type", "nonsense", "KSP type nonsense")]:
            with self.subTest(option=option, value=value):
                self.refuse(*self.LINE, option, value, saying=saying)

    def test_outputs(self):
        self.refused("field", self.tetrahedron_file(), *self.LINE, saying="points are given, but no --output")
        endings = "points are written as .csv, .vtu, .vtp or .vti"
        for path, saying in (("x.png", endings), ("x.msh", endings), ("x", endings), (".csv/", endings),
                             ("", "the value of --output is empty"),
                             ("/nowhere/x.csv", "cannot write /nowhere/x.csv: No such file")):
            with self.subTest(path):
                self.refuse(*self.LINE, output=path, saying=saying)
        self.refused("field", self.tetrahedron_file(), *self.LINE, "--output", "a.csv", "--json", "./a.csv",
                     saying="same file")
        points = self.write("points.csv", "0 0 2\n")
        self.refuse("--points", points, output="points.csv", saying="overwrite the points")
        self.refused("field", self.tetrahedron_file(), "--points", points, "--output", "out.csv", "--json", points,
                     saying="overwrite the points")
        os.symlink(self.tetrahedron_file(), self.folder / "mesh.vtu")
        self.refuse(*self.LINE, output="mesh.vtu", saying="overwrite the mesh")

    def test_a_failed_run_leaves_an_older_output_alone(self):
        self.write("old.csv", "old")
        self.refuse(*self.LINE, "-no_such_option", output="old.csv", saying="-no_such_option is unknown")
        self.refuse(*self.LINE, "--voltage", "nobody=1", output="old.csv", saying='the conductor "nobody"')
        self.assertEqual((self.folder / "old.csv").read_text(), "old")


if __name__ == "__main__":
    unittest.main()
