"""Results kept (--save), handed on (--csv, --spice, --export) and repeated (fmbem rerun)."""

import csv
import itertools
import json
import math
import os
import random
import re
import shutil
import subprocess
import unittest
import zlib
from pathlib import Path

from harness import ROOT, ProgramTest, leave_out, msh, tetrahedron
from test_formulations import spheres

COATED = (str(ROOT / "examples" / "coated.geo"), "--mesh-size", "1.2", "--problem",
          str(ROOT / "examples" / "coated.json"))
LINE = ("--line", "-1,0.3,0.2,4,0.5,0.4,9")


def library(name):
    """A module that other programs read files with; the test is left out where it is missing."""
    try:
        return __import__(name)
    except ImportError:
        leave_out(f"Python's {name} is not installed")


class Keep(ProgramTest):
    def save(self, command, *options, name="kept.h5"):
        self.fmbem(command, self.two_tetrahedra_file(), *options, "--refine", "1", "--save", name)
        return name

    def bytes_of(self, *arguments):
        self.fmbem("field", *arguments, *LINE, "--output", "out.csv")
        return (self.folder / "out.csv").read_bytes()

    def test_a_field_from_a_kept_solution_has_the_same_bits(self):
        voltages = ("--voltage", "left=2", "--voltage", "right=-3")
        self.save("field", *voltages, *LINE, "--output", "direct.csv")
        self.assertEqual(self.bytes_of("--from", "kept.h5"), (self.folder / "direct.csv").read_bytes())

    def test_capacitances_serve_for_any_voltages(self):
        self.save("capacitance", "--tolerance", "1e-10")
        voltages = ("--voltage", "left=2", "--voltage", "right=-3")
        kept = self.report("field", "--from", "kept.h5", *voltages, *LINE, "--output", "kept.csv")
        direct = self.report("field", self.two_tetrahedra_file(), "--refine", "1", "--tolerance", "1e-10",
                             *voltages, *LINE, "--output", "direct.csv")
        rows = [[[float(x) for x in line.split(",")] for line in
                 (self.folder / name).read_text().splitlines()[1:]] for name in ("kept.csv", "direct.csv")]
        for ours, theirs in zip(*rows):
            for a, b in zip(ours, theirs):
                self.assertAlmostEqual(a, b, delta=1e-8)
        for a, b in zip(*(r["results"]["charge_C"]["value"] for r in (kept, direct))):
            self.assertAlmostEqual(a / b, 1, delta=1e-8)
        self.assertEqual(kept["solver"], json.loads(self.kept_report())["solver"])
        self.assertEqual(self.fmbem("rerun", self.write("kept.json", json.dumps(kept))).stdout,
                         "the same bits: every result is what it was\n")

    def kept_report(self):
        return library("h5py").File(self.folder / "kept.h5")["report"][0].decode()

    def test_h5py_reads_what_the_documentation_says(self):
        h5py, numpy = library("h5py"), library("numpy")
        self.save("capacitance")
        with h5py.File(self.folder / "kept.h5") as file:
            self.assertEqual(list(file["mesh/group_names"]), [b"left", b"right"])
            points, corners = file["mesh/vertices"][:], file["mesh/triangles"][:]
            self.assertEqual(corners.shape, (32, 3))
            sides = points[corners]
            areas = numpy.linalg.norm(numpy.cross(sides[:, 1] - sides[:, 0], sides[:, 2] - sides[:, 0]),
                                      axis=1) / 2
            of_conductor = file["conductors/of_group"][:][file["mesh/group_of"][:]]
            maxwell = [[(file["problems/charge_density"][j] * areas)[of_conductor == i].sum()
                        for j in range(2)] for i in range(2)]
            report = json.loads(file["report"][0])
        numpy.testing.assert_allclose(maxwell, report["results"]["capacitance_F"]["value"], rtol=1e-13)

    PROBLEM = {"version": 1, "regions": {"air": {"permittivity": 1}, "oil": {"permittivity": 2.2}}, "outside": "air",
               "sources": {"charges": [{"at": [3, 3, 3], "charge": 1e-12}], "field": [0, 0, 1]},
               "groups": {"left": {"conductor": {"potential": 2}, "outside": "air"},
                          "right": {"interface": True, "inside": "oil", "outside": "air"}}}
    TWICE = ("--line", "-1,0.3,0.2,4,0.5,0.4,9", "--line", "2.1,0.2,0.2,2.3,0.2,0.2,4")

    def test_a_kept_problem_has_the_fields_of_its_run(self):
        mesh, problem = self.two_tetrahedra_file(), self.write("p.json", json.dumps(self.PROBLEM))
        for command, more in (("solve", ("--basis",)), ("field", ("--voltage", "left=3"))):
            with self.subTest(command):
                self.fmbem(command, mesh, "--problem", problem, *more, *self.TWICE, "--output", "run.csv",
                           "--save", "kept.h5")
                self.fmbem("field", "--from", "kept.h5", *self.TWICE, "--output", "kept.csv")
                for k in (1, 2):
                    self.assertEqual((self.folder / f"kept-line-{k}.csv").read_bytes(),
                                     (self.folder / f"run-line-{k}.csv").read_bytes())
        # The first of these has a solution for each conductor at 1 V, and serves for other voltages.
        self.fmbem("solve", mesh, "--problem", problem, "--basis", "--tolerance", "1e-10", "--save", "basis.h5")
        self.fmbem("field", mesh, "--problem", problem, "--tolerance", "1e-10", "--voltage", "left=3", *LINE,
                   "--output", "run.csv")
        self.fmbem("field", "--from", "basis.h5", "--voltage", "left=3", *LINE, "--output", "kept.csv")
        rows = [[[float(x) for x in line.split(",")] for line in
                 (self.folder / name).read_text().splitlines()[1:]] for name in ("kept.csv", "run.csv")]
        for ours, theirs in zip(*rows):
            for a, b in zip(ours, theirs):
                if math.isnan(b):  # in metal
                    self.assertTrue(math.isnan(a))
                else:
                    self.assertAlmostEqual(a, b, delta=1e-8 * max(1, abs(b)))

    def test_capacitances_among_dielectrics_serve_for_any_voltages(self):
        problem = {**self.PROBLEM, "sources": {}}
        mesh, file = self.two_tetrahedra_file(), self.write("p.json", json.dumps(problem))
        self.fmbem("capacitance", mesh, "--problem", file, "--tolerance", "1e-10", "--save", "kept.h5")
        kept = self.report("field", "--from", "kept.h5", "--voltage", "left=5", *LINE, "--output", "kept.csv")
        direct = self.report("field", mesh, "--problem", file, "--tolerance", "1e-10", "--voltage", "left=5",
                             *LINE, "--output", "direct.csv")
        for name in ("potential_V", "field_V_per_m"):
            for end in ("min", "max"):
                self.assertAlmostEqual(kept["results"][name]["value"][end] /
                                       direct["results"][name]["value"][end], 1, delta=1e-7)
        self.assertAlmostEqual(kept["results"]["charge_C"]["value"][0] /
                               direct["results"]["charge_C"]["value"][0], 1, delta=1e-7)
        self.assertEqual(kept["problem"], problem)
        # What capacitances do without is not kept, which is said; field says what solve does.
        sources = {"charges": [{"at": [0.3, 0.3, 1.01], "charge": 1e-12}]}
        self.write("p.json", json.dumps({**self.PROBLEM, "sources": sources}))
        report = self.report("capacitance", mesh, "--problem", file, "--save", "kept.h5")
        self.assertIn("kept.h5 has the conductors at 1 V alone", " ".join(report["warnings"]))
        warnings = [" ".join(self.report(*words, mesh, "--problem", file)["warnings"])
                    for words in (("solve",), ("field", *LINE, "--output", "direct.csv"))]
        self.assertIn("is nearer to a surface than its panels are large", warnings[0])
        self.assertEqual(warnings[0], warnings[1])

    def test_complex_and_other_formulations_are_kept_too(self):
        mesh = self.two_tetrahedra_file()
        lossy = {**self.PROBLEM, "regions": {"air": {"permittivity": 1}, "oil": {"permittivity": [2.2, -0.1]}}}
        groups = {name: {"conductor": {"potential": 1 + k}, "outside": "vacuum"}
                  for k, name in enumerate(("left", "right"))}
        for problem in (lossy, {"version": 1, "formulation": "direct", "groups": groups},
                        {"version": 1, "formulation": "second kind", "groups": groups}):
            self.fmbem("solve", mesh, "--problem", self.write("p.json", json.dumps(problem)), "--save", "kept.h5",
                       *LINE, "--output", "direct.csv")
            self.assertEqual(self.bytes_of("--from", "kept.h5"), (self.folder / "direct.csv").read_bytes())

    def test_a_kept_basis_of_dipoles_serves_for_any_voltages(self):
        self.write("nested.msh", spheres(1, ("core", 1, 0), ("shell", 3, 0)))
        groups = {"core": {"conductor": {"potential": 1}, "outside": "gap"},
                  "shell": {"conductor": {"potential": 0}, "inside": "gap"}}
        for formulation in ("direct", "second kind"):
            problem = {"version": 1, "formulation": formulation, "outside": None,
                       "regions": {"gap": {"permittivity": 1}}, "groups": groups}
            self.fmbem("solve", "nested.msh", "--problem", self.write("p.json", json.dumps(problem)), "--basis",
                       "--save", "kept.h5", "--line", "1.5,0,0,2.5,0,0,3", "--output", "basis.csv")
            self.fmbem("field", "--from", "kept.h5", "--voltage", "core=0", "--voltage", "shell=1",
                       "--line", "1.5,0,0,2.5,0,0,3", "--output", "shell.csv")
            tables = [list(csv.DictReader((self.folder / name).read_text().splitlines()))
                      for name in ("basis.csv", "shell.csv")]
            [wanted] = [name for name in tables[0][0] if "shell" in name and "potential" in name]
            for basis, kept in zip(*tables, strict=True):
                self.assertAlmostEqual(float(kept["potential [V]"]), float(basis[wanted]), delta=1e-12)

    def test_what_had_not_converged_says_so(self):
        outputs = {"--save": "kept.h5", "--spice": "c.sp", "--csv": "c.csv", "--output": "c.vtu"}
        report = self.report("capacitance", self.two_tetrahedra_file(), *itertools.chain(*outputs.items()),
                             "-ksp_max_it", 1, "-pc_type", "none", code=3)
        self.assertEqual(report["status"], "not_converged")
        for name in outputs.values():
            self.assertTrue((self.folder / name).exists(), name)
        self.assertIn("* the solve did not converge", (self.folder / "c.sp").read_text())
        report = self.report("field", "--from", "kept.h5", *LINE, "--output", "l.csv", code=3)
        self.assertIn("had not converged", report["warnings"][0])

    def test_kept_right_hand_sides_are_all_evaluated(self):
        numpy = library("numpy")
        mesh, problem = self.two_tetrahedra_file(), self.write("p.json", json.dumps(self.PROBLEM))
        numpy.save(self.folder / "rhs.npy", numpy.arange(16.0).reshape(2, 8))
        self.fmbem("solve", mesh, "--problem", problem, "--rhs", "rhs.npy", *LINE, "--output", "run.npy",
                   "--save", "kept.h5")
        self.fmbem("field", "--from", "kept.h5", *LINE, "--output", "kept.npy")
        run, kept = (numpy.load(self.folder / name) for name in ("run.npy", "kept.npy"))
        self.assertEqual(run.shape[0], 2)
        numpy.testing.assert_array_equal(run, kept)
        self.refused("field", "--from", "kept.h5", *LINE, "--voltage", "left=1", "--output", "never.csv",
                     saying="--basis")

    def refuse(self, name, *saying):
        self.refused("field", "--from", name, *LINE, "--output", "never.csv", saying=[name, *saying])

    def test_damaged_files_are_refused(self):
        whole = bytearray((self.folder / self.save("capacitance")).read_bytes())
        r = random.Random(5)
        for at in (24, 60, 513, r.randrange(len(whole))):  # more of them: tests/unit/problems
            bad = bytearray(whole)
            bad[at] ^= 1 << r.randrange(8)
            with self.subTest(at):
                self.refuse(self.write("bad.h5", bytes(bad)))
        for length in (10, 512, len(whole) - 1):
            with self.subTest(length):
                self.refuse(self.write("cut.h5", bytes(whole[:length])))
        self.refuse(self.write("long.h5", bytes(whole) + b"x"), "damaged")

    def test_other_files_are_refused(self):
        self.refuse(self.write("empty.h5", ""), "empty")
        self.refuse(self.two_tetrahedra_file(), "no solution")
        self.refuse("nowhere.h5", "no file")
        whole = (self.folder / self.save("capacitance")).read_bytes()
        newer = whole.replace(b"version 3\n", b"version 7\n", 1)
        self.refuse(self.write("newer.h5", newer), "version 7", "versions 2 to 3")
        # Not ours, behind words that are.
        other = library("h5py").File(self.folder / "other.h5", "w", userblock_size=512)
        other["x"] = [1.0]
        other.close()
        content = (self.folder / "other.h5").read_bytes()
        block = f"fmbem solution, version 2\ncrc32 of what follows byte 512: {zlib.crc32(content[512:]):08x}\n"
        self.refuse(self.write("other.h5", block.encode().ljust(512, b"\0") + content[512:]), "missing")

    def test_version_2_had_neither_losses_nor_other_formulations(self):
        h5py = library("h5py")
        self.fmbem("solve", self.two_tetrahedra_file(), "--problem", self.write("p.json", json.dumps(self.PROBLEM)),
                   "--save", "kept.h5", *LINE, "--output", "direct.csv")
        path = self.folder / "kept.h5"
        with h5py.File(path, "r+") as kept:
            for name in ("regions/losses", "regions/formulation", "problems/imaginary"):
                del kept[name]
        content = path.read_bytes()[512:]
        block = f"fmbem solution, version 2\ncrc32 of what follows byte 512: {zlib.crc32(content):08x}\n"
        older = self.write("older.h5", block.encode().ljust(512, b"\0") + content)
        self.assertEqual(self.bytes_of("--from", older), (self.folder / "direct.csv").read_bytes())

    def test_options_that_a_kept_solution_does_not_take(self):
        kept = self.save("field", "--voltage", "left=1", *LINE, "--output", "l.csv")
        where = ("field", "--from", kept, *LINE, "--output", "never.csv")
        self.refused(*where, "--tolerance", "1e-3", saying="--tolerance")
        self.refused(*where, "-ksp_monitor", saying="-ksp_monitor")
        self.refused(*where, "--voltage", "left=2", saying=["--voltage", "fmbem capacitance"])
        self.refused("field", *LINE, "--output", "never.csv", saying="--from")
        self.refused("field", "--from", kept, *LINE, "--output", "x.vtu", "--json", kept,
                     saying="overwrite the solution")

    def test_outputs_of_one_name(self):
        mesh = self.two_tetrahedra_file()
        self.refused("capacitance", mesh, "--save", "a", "--csv", "./a", saying=["--save", "--csv"])
        self.refused("capacitance", mesh, "--spice", "two.msh", saying="overwrite the mesh")
        self.refused("mesh-info", mesh, "--json", "two.msh", saying="overwrite the mesh")
        self.refused("mesh-info", "half.vert", "--json", "half.face", saying="overwrite the mesh")
        self.refused("nbody", "--points", 50, "--output", "n.csv", "--json", "n.csv", saying="same file")
        self.refused("tune", "--output", "n.rates", "--json", "n.rates", saying="same file")
        self.fmbem("capacitance", mesh, "--json", "r.json")
        self.refused("rerun", "r.json", "--json", "two.msh", saying="overwrite the input")

    def test_links_to_files_that_are_not_there_yet(self):
        mesh = self.two_tetrahedra_file()
        for link in ("a.csv", "b.sp"):
            (self.folder / link).symlink_to("to-be.txt")
        self.refused("capacitance", mesh, "--csv", "a.csv", "--spice", "b.sp",
                     saying=["--csv", "--spice", "the same file"])
        self.refused("capacitance", mesh, "--csv", "a.csv", "--spice", "to-be.txt", saying="the same file")
        self.fmbem("capacitance", mesh, "--csv", "a.csv")
        self.assertTrue((self.folder / "to-be.txt").exists())


class Table(ProgramTest):
    def three_file(self):
        """Conductors whose names need quotes in a table and other ones in a circuit."""
        nodes, elements = [], []
        for k in range(3):
            more, faces = tetrahedron(2.0 * k, len(nodes), k + 1)
            nodes, elements = nodes + more, elements + faces
        return self.write("3 nets.msh", msh(nodes, elements, [(1, "a,b"), (2, "A_B"), (3, "gnd")]))

    def test_rfc_4180(self):
        report = self.report("capacitance", self.three_file(), "--refine", "1", "--csv", "c.csv")
        text = (self.folder / "c.csv").read_bytes()
        self.assertEqual(text.count(b"\r\n"), 10)
        self.assertEqual(text.count(b"\n"), 10)
        with open(self.folder / "c.csv", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
        names = ["a,b", "A_B", "gnd"]
        results = report["results"]
        for i in range(3):
            for j in range(3):
                row = rows[3 * i + j]
                self.assertEqual((row["conductor"], row["at 1 V"]), (names[i], names[j]))
                for column, result in (("Maxwell [F]", "capacitance_F"), ("mutual [F]", "mutual_F")):
                    self.assertEqual(float(row[column]), results[result]["value"][i][j])
                    self.assertEqual(float(row["error of " + column]), results[result]["error"][i][j])

    def test_charges(self):
        report = self.report("field", self.three_file(), *LINE, "--output", "l.csv", "--csv", "q.csv",
                             "--voltage", "gnd=3")
        with open(self.folder / "q.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([float(row["voltage [V]"]) for row in rows], [0, 0, 3])
        self.assertEqual([float(row["charge [C]"]) for row in rows],
                         report["results"]["charge_C"]["value"])
        self.assertEqual([row["error of charge [C]"] for row in rows], [""] * 3)

    def test_results_of_problems(self):
        report = self.report("solve", *COATED, "--basis", "--csv", "p.csv")
        with open(self.folder / "p.csv", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
        self.assertEqual([row["result"] for row in rows], ["the problem"] * 3 + ["ball at 1 V"] * 3)
        self.assertEqual([(row["kind"], row["name"]) for row in rows[:3]],
                         [("conductor", "ball"), ("group", "ball"), ("group", "coat")])
        results = report["results"]
        self.assertEqual(float(rows[0]["potential [V]"]), 1)
        self.assertEqual(float(rows[0]["charge [C]"]), results["charge_C"]["value"][0])
        self.assertEqual(float(rows[3]["charge [C]"]), results["capacitance_F"]["value"][0][0])
        for k in (0, 1):
            for side, result in (("inward", "flux_inside_C"), ("outward", "flux_outside_C")):
                self.assertEqual(float(rows[1 + k][f"flux {side} [C]"]), results[result]["value"][k])


class Spice(Table):
    def measured(self, n):
        """[i][j]: farads, by the current into pin i of c.sp with 1 V at pin j, of ngspice."""
        ngspice = shutil.which("ngspice") or leave_out("ngspice is not installed")
        matrix = []
        for j in range(n):
            pins = " ".join(f"p{i}" for i in range(n))
            name = re.search(r"^\.subckt (\S+)", (self.folder / "c.sp").read_text(), re.M).group(1)
            sources = "\n".join(f"V{i} p{i} 0 dc 0 ac {int(i == j)}" for i in range(n))
            prints = "\n".join(f"print imag(i(V{i}))" for i in range(n))
            deck = self.write("deck.cir", f"measure\n.include c.sp\nX1 {pins} {name}\n{sources}\n"
                              f".control\nset numdgt=12\nac lin 1 1meg 1meg\n{prints}\nquit\n.endc\n.end\n")
            done = subprocess.run([ngspice, "-b", deck], cwd=self.folder, capture_output=True, text=True,
                                  timeout=60)
            currents = re.findall(r"imag\(i\(v\d+\)\) = (\S+)", done.stdout.lower())
            self.assertEqual(len(currents), n, done.stdout + done.stderr)
            # A source's current goes from its positive pin through it.
            matrix.append([-float(x) / (2 * 3.141592653589793 * 1e6) for x in currents])
        return [[matrix[j][i] for j in range(n)] for i in range(n)]

    def test_ngspice_measures_the_capacitances(self):
        report = self.report("capacitance", self.three_file(), "--refine", "1", "--spice", "c.sp")
        maxwell = report["results"]["capacitance_F"]["value"]
        measured = self.measured(3)
        for i in range(3):
            for j in range(3):
                mean = (maxwell[i][j] + maxwell[j][i]) / 2
                # Rows of the circuit add up to the mean of a row's and a column's sum.
                self.assertAlmostEqual(measured[i][j] / mean, 1, delta=1e-5)
        text = (self.folder / "c.sp").read_text()
        self.assertIn(".subckt n_3_nets a_b A_B_2 n_gnd\n", text)
        self.assertIn("* a_b: a,b\n", text)
        self.assertLess(max(map(len, text.splitlines())), 100)

    def test_a_threshold_leaves_out_couplings_and_keeps_totals(self):
        report = self.report("capacitance", self.three_file(), "--refine", "1", "--spice", "c.sp",
                             "--spice-threshold", "0.15")
        maxwell = report["results"]["capacitance_F"]["value"]
        ratio = [-maxwell[0][j] / maxwell[0][0] for j in (1, 2)]
        self.assertGreater(ratio[0], 0.15)
        self.assertLess(ratio[1], 0.15)
        measured = self.measured(3)
        self.assertEqual(abs(measured[0][2]), 0)
        for i in range(3):
            self.assertAlmostEqual(measured[i][i] / maxwell[i][i], 1, delta=1e-5)
        self.assertAlmostEqual(measured[0][1] / ((maxwell[0][1] + maxwell[1][0]) / 2), 1, delta=1e-5)

    def test_thresholds_that_cannot_be(self):
        mesh = self.three_file()
        self.refused("capacitance", mesh, "--spice-threshold", "0.1", saying="--spice FILE")
        self.refused("capacitance", mesh, "--spice", "c.sp", "--spice-threshold", "-1", saying="between")


class Export(ProgramTest):
    AIR = {"version": 1, "outside": "air", "regions": {"air": {"permittivity": 1}}}

    def arrays(self, *arguments):
        numpy = library("numpy")
        self.report("capacitance", self.two_tetrahedra_file(), *arguments, "--export", "system", "--output",
                    "two.vtu")
        folder = self.folder / "system"
        for path in folder.iterdir():
            self.assertEqual(path.read_bytes()[:8], b"\x93NUMPY\x01\x00")
        return numpy, {path.stem: numpy.load(path) for path in folder.iterdir()}

    def check(self, numpy, arrays, panels):
        self.assertEqual(set(arrays), {"A", "b", "x", "residual", "permutation", "centroids", "areas",
                                       "normals"})
        self.assertEqual(arrays["A"].shape, (panels, panels))
        residual = arrays["b"] - arrays["x"] @ arrays["A"].T
        for ours, theirs, b in zip(residual, arrays["residual"], arrays["b"]):
            size = numpy.linalg.norm(theirs)
            self.assertLess(size, 1e-6 * numpy.linalg.norm(b))
            self.assertLess(numpy.linalg.norm(ours - theirs), 0.1 * size)
        self.assertEqual(sorted(arrays["permutation"]), list(range(panels)))
        self.assertTrue((numpy.abs(numpy.linalg.norm(arrays["normals"], axis=1) - 1) < 1e-14).all())

    def test_numpy_reads_the_system_and_its_residual(self):
        numpy, arrays = self.arrays("--refine", "2")
        self.check(numpy, arrays, 128)
        self.assertAlmostEqual(arrays["areas"].sum(), 2 * (1.5 + 3 ** 0.5 / 2))
        # In the mesh's order: conductor after conductor, each at 1 V in turn.
        left = arrays["centroids"][:, 0] < 1.5
        numpy.testing.assert_array_equal(arrays["b"], [left, ~left])
        mesh = library("meshio").read(self.folder / "two.vtu")
        centres = mesh.points[mesh.cells[0].data].mean(axis=1)
        numpy.testing.assert_allclose(arrays["centroids"], centres, atol=1e-15)
        # Far entries are those of points.
        distance = numpy.linalg.norm(centres[0] - centres[-1])
        self.assertAlmostEqual(arrays["A"][0, -1] * 4 * numpy.pi * distance / arrays["areas"][-1], 1,
                               delta=0.01)

    def test_the_same_of_the_fast_operator(self):
        numpy, arrays = self.arrays("--refine", "3", "--operator", "fmm")
        self.check(numpy, arrays, 512)

    def test_a_second_export_replaces_the_first(self):
        _, first = self.arrays()
        _, second = self.arrays("--refine", "1")
        self.assertEqual(second["A"].shape, (32, 32))
        self.assertEqual(set(first), set(second))

    def test_a_problem_is_exported_without_what_else_is_solved_for(self):
        numpy = library("numpy")
        panels = self.report("solve", *COATED, "--refine", "1", "--basis", "--export",
                             "system")["mesh"]["panels"]
        arrays = {path.stem: numpy.load(path) for path in (self.folder / "system").iterdir()}
        self.assertEqual(arrays["b"].shape, (1, panels))
        self.check(numpy, arrays, panels)

    def test_complex_systems_are_not_exported(self):
        problem = json.loads(Path(COATED[-1]).read_text())
        problem["regions"]["coat"]["permittivity"] = [2, -1]
        self.refused("solve", *COATED[:-1], self.write("lossy.json", json.dumps(problem).encode()), "--export", "e",
                     saying=["--export", "complex"])

    def test_folders_that_cannot_be(self):
        mesh = self.two_tetrahedra_file()
        self.refused("capacitance", mesh, "--export", mesh, saying="mesh")
        self.refused("capacitance", mesh, "--export", "/proc/nowhere", saying="/proc/nowhere")

    def test_nothing_else_is_among_the_files_of_an_export(self):
        numpy = library("numpy")
        (self.folder / "system").mkdir()
        mesh = self.two_tetrahedra_file()
        for name in ("b", "x", "residual", "permutation", "centroids", "areas", "normals", "A"):
            self.refused("capacitance", mesh, "--export", "system", "--save", f"system/{name}.npy",
                         saying=["--save", "--export", f"system/{name}.npy"])
        self.refused("capacitance", mesh, "--json", "system/b.npy", "--export", "./system/../system",
                     saying="the same file")
        wall = {"left": {"dirichlet": {"file": "system/areas.npy"}, "outside": "air"},
                "right": {"conductor": {"potential": 0}, "outside": "air"}}
        problem = self.write("p.json", json.dumps({**self.AIR, "groups": wall}))
        numpy.save(self.folder / "system" / "areas.npy", numpy.ones(4))
        self.refused("solve", mesh, "--problem", problem, "--export", "system",
                     saying=["system/areas.npy", "overwrite the values"])
        numpy.save(self.folder / "system" / "b.npy", numpy.ones((1, 8)))
        self.refused("solve", mesh, "--problem", problem, "--rhs", "system/b.npy", "--export", "system",
                     saying=["system/b.npy", "overwrite the right-hand sides"])
        self.fmbem("solve", mesh, "--problem", problem, "--rhs", "system/b.npy", "--export", "elsewhere")


class Views(ProgramTest):
    def test_options_of_petsc_that_would_show_the_system(self):
        for option in ("-ksp_view_mat", "-ksp_view_rhs", "-ksp_view_solution", "-ksp_view_pmat",
                       "-ksp_view_mat_explicit", "-ksp_view_preconditioned_operator_explicit",
                       "-ksp_view_diagonal_scale", "-ksp_monitor_solution"):
            with self.subTest(option):
                self.refused("capacitance", self.tetrahedron_file(), option, "ascii:out.txt",
                             saying=[option, "--export"])
        self.refused("capacitance", self.tetrahedron_file(), saying=["-ksp_view_mat", "--export"],
                     env={"PETSC_OPTIONS": "-ksp_view_mat"})

    def test_those_that_tell_of_the_method(self):
        for option in ("-ksp_view", "-ksp_view_final_residual", "-ksp_converged_reason",
                       "-ksp_view_eigenvalues"):
            with self.subTest(option):
                self.fmbem("capacitance", self.tetrahedron_file(), option, "ascii:out.txt")
                self.assertGreater((self.folder / "out.txt").stat().st_size, 0)
                (self.folder / "out.txt").unlink()


class Rerun(ProgramTest):
    same = "the same bits: every result is what it was\n"

    def run_once(self, *arguments, **keywords):
        self.fmbem("capacitance", self.two_tetrahedra_file(), "--refine", "1", *arguments, "--json", "r.json",
                   **keywords)
        return json.loads((self.folder / "r.json").read_text())

    def rerun_of(self, report, *arguments, **keywords):
        return self.fmbem("rerun", self.write("changed.json", json.dumps(report)), *arguments, **keywords)

    def test_the_report_says_where_it_comes_from(self):
        report = self.run_once("-ksp_type", "bcgs", "--threads", "1", env={"PETSC_OPTIONS": "-ksp_rtol 1e-7"})
        run, solver = report["run"], report["solver"]
        self.assertEqual(run["arguments"][0], "capacitance")
        self.assertIn("-ksp_type", run["arguments"])
        self.assertEqual(run["folder"], str(self.folder.resolve()))
        self.assertIn("-ksp_rtol 1e-7", run["petsc_options"])
        self.assertIn("-ksp_type bcgs", run["petsc_options"])
        self.assertEqual(run["threads"], 1)
        self.assertRegex(run["libraries"]["HDF5"], r"^\d+\.\d+\.\d+$")
        self.assertRegex(run["libraries"]["muParser"], r"^\d+\.\d+")
        self.assertIsNone(run["device"])
        self.assertEqual(run["inputs"][0]["bytes"], (self.folder / "two.msh").stat().st_size)
        self.assertEqual((solver["restart"], solver["side"], solver["norm"]), (None, "right", "unpreconditioned"))
        gmres = self.run_once("-ksp_gmres_restart", "30", "-ksp_pc_side", "left")["solver"]
        self.assertEqual((gmres["restart"], gmres["side"], gmres["norm"]), (30, "left", "preconditioned"))

    def test_the_same_bits(self):
        self.run_once("--output", "two.vtu", "--csv=t.csv", "--spice", "t.sp", "--spice-threshold", "0.1",
                      "-ksp_monitor", "ascii:monitor.txt")
        before = {path: path.stat().st_mtime_ns for path in self.folder.rglob("*")}
        self.assertEqual(self.fmbem("rerun", "r.json").stdout, self.same)
        os.mkdir(self.folder / "elsewhere")
        done = self.fmbem("rerun", self.folder / "r.json", "--json", "again.json")
        self.assertEqual(done.stdout, self.same)
        again = json.loads((self.folder / "again.json").read_text())
        first = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(again["results"], first["results"])
        self.assertEqual(again["run"]["arguments"], first["run"]["arguments"])
        for path, time in before.items():
            if path != self.folder and path.name != "config":
                self.assertEqual(path.stat().st_mtime_ns, time, path)

    def test_options_from_the_environment_are_repeated(self):
        self.run_once(env={"PETSC_OPTIONS": "-ksp_rtol 1e-3 -pc_type jacobi"})
        self.assertEqual(self.fmbem("rerun", "r.json").stdout, self.same)

    def test_fields_and_meshes(self):
        self.fmbem("field", self.two_tetrahedra_file(), *LINE, "--output", "l.csv", "--json", "f.json")
        (self.folder / "l.csv").unlink()
        self.assertEqual(self.fmbem("rerun", "f.json").stdout, self.same)
        self.assertFalse((self.folder / "l.csv").exists())
        self.fmbem("mesh-info", self.two_tetrahedra_file(), "--json", "m.json")
        self.assertEqual(self.fmbem("rerun", "m.json").stdout, self.same)

    def test_small_differences_are_told_and_large_ones_are_code_3(self):
        report = self.run_once()
        value = report["results"]["capacitance_F"]["value"]
        value[0][0] *= 1 + 1e-9
        self.assertRegex(self.rerun_of(report).stdout,
                         r"^the results agree: the largest difference is 1e-09 .* in capacitance_F")
        value[0][0] *= 1 + 1e-4
        done = self.rerun_of(report, code=3)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, "fmbem: the results differ: capacitance_F by 0.0001 ")

    def test_what_is_0_but_for_rounding_may_be_anything(self):
        self.fmbem("solve", self.two_tetrahedra_file(), "--problem",
                   self.write("p.json", json.dumps(Keep.PROBLEM)), "--json", "r.json")
        report = json.loads((self.folder / "r.json").read_text())
        imbalance = report["results"]["imbalance_C"]
        imbalance["value"] = [-3 * x for x in imbalance["value"]]
        self.assertIn("the same results", self.rerun_of(report).stdout)

    def test_other_problems_are_code_3(self):
        report = self.run_once()
        report["mesh"]["panels"] = 99
        self.assertIn("32 panels now, and had 99", self.rerun_of(report, code=3).stderr)

    def test_other_units_are_code_3(self):
        report = self.run_once()
        report["results"]["capacitance_F"]["unit"] = "pF"
        self.assertIn('the unit of capacitance_F is "F" now, and was "pF"', self.rerun_of(report, code=3).stderr)

    def test_what_did_not_converge_is_code_3_again(self):
        self.fmbem("capacitance", self.cube_file(), "-ksp_max_it", "1", "--json", "r.json", code=3)
        done = self.fmbem("rerun", "r.json", code=3)
        self.assertEqual(done.stdout, self.same)

    def test_a_mesh_that_has_changed_is_warned_of(self):
        report = self.run_once()
        mesh = self.folder / "two.msh"
        mesh.write_text(mesh.read_text() + "\n")
        self.assertIn("two.msh is not the file that it was", self.rerun_of(report).stderr)

    def test_the_other_half_of_a_surface_is_an_input(self):
        self.write("s.vert", "0 0 0\n1 0 0\n0 1 0\n0 0 1\n")
        faces = ["1 3 2 1 1", "1 2 4 1 1", "1 4 3 1 1", "2 3 4 1 1"]
        self.write("s.face", "\n".join(faces))
        self.fmbem("capacitance", "s.vert", "--json", "r.json")
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual([entry["file"] for entry in report["run"]["inputs"]], ["s.vert", "s.face"])
        self.write("s.face", "\n".join(faces) + "\n")
        done = self.rerun_of(report)
        self.assertIn("s.face is not the file that it was", done.stderr)
        self.assertNotIn("s.vert is not", done.stderr)

    def test_paths_start_from_the_runs_folder(self):
        self.two_tetrahedra_file()
        self.fmbem("capacitance", "two.msh", "--json", "r.json")
        moved = self.folder / "moved"
        moved.mkdir()
        report = json.loads((self.folder / "r.json").read_text())
        report["run"]["folder"] = "/nowhere"
        (self.folder / "two.msh").rename(moved / "two.msh")
        done = self.rerun_of(report, code=2)
        self.assertIn("--folder", done.stderr)
        self.assertEqual(self.rerun_of(report, "--folder", "moved").stdout, self.same)

    def test_what_is_no_report(self):
        self.refused("rerun", self.write("a.json", "{"), saying="a.json is no report")
        self.refused("rerun", self.write("b.json", '{"schema_version": 2, "command": "capacitance", '
                                         '"results": {}}'), saying="b.json")
        self.refused("rerun", self.two_tetrahedra_file(), saying="no report")
        old = {"schema_version": 1, "command": "capacitance", "results": {}}
        self.refused("rerun", self.write("old.json", json.dumps(old)), saying="schema version 1")
        self.refused("rerun", self.write("new.json", json.dumps(old | {"schema_version": 9})),
                     saying="schema version 9")
        info = self.report("info")
        self.refused("rerun", self.write("i.json", json.dumps(info)), saying="no results")
        whole = self.run_once()
        self.refused("rerun", self.write("e.json", json.dumps(whole | {"results": {}})), saying="no results")
        itself = {"command": "rerun", "run": whole["run"] | {"arguments": ["rerun", "s.json"]}}
        self.refused("rerun", self.write("s.json", json.dumps(whole | itself)), saying="fmbem rerun")
        itself["command"] = "capacitance"
        self.refused("rerun", self.write("s.json", json.dumps(whole | itself)), saying="fmbem capacitance")
        for part in ({"command": 3}, {"run": 3}, {"run": {}}, {"results": {"capacitance_F": 1}}):
            sentence = self.refused("rerun", self.write("p.json", json.dumps(whole | part)), saying="p.json is no")
            self.assertNotIn("json.exception", sentence)


if __name__ == "__main__":
    unittest.main()
