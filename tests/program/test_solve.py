"""fmbem solve: problems from files, their reports, and what is refused."""

import csv
import json
import math
import struct
import unittest

import jsonschema

from harness import ROOT, ProgramTest, msh, read_vtu

PROBLEM_SCHEMA = json.loads((ROOT / "docs" / "problem.schema.json").read_text())
EPS0 = 8.8541878128e-12


def npy(shape, values):
    """A NumPy array of doubles."""
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }" % (tuple(shape),)
    header += " " * (-(11 + len(header)) % 64) + "\n"
    return (b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode()
            + struct.pack(f"<{len(values)}d", *values))


def read_npy(path):
    data = path.read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    shape = eval(data[10:10 + length])["shape"]  # as NumPy writes it
    return shape, [x for x, in struct.iter_unpack("<d", data[10 + length:])]


def box(n):
    """A bar 3 long and 1 wide and high, of n cells a unit: the groups "start" and "end" along x, and
    "sides". 4 n² panels at the ends, 24 n² at the sides."""
    nodes, elements, number = [], [], {}

    def node(*place):
        if place not in number:
            nodes.append(tuple(p / n for p in place))
            number[place] = len(nodes)
        return number[place]

    def face(group, entity, nu, nv, at):
        for i in range(nu):
            for j in range(nv):
                a, b, c, d = (node(*at(*p)) for p in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)))
                elements.extend([(2, group, entity, a, b, c), (2, group, entity, a, c, d)])

    face(1, 1, n, n, lambda u, v: (0, v, u))
    face(2, 2, n, n, lambda u, v: (3 * n, u, v))
    face(3, 3, 3 * n, n, lambda u, v: (u, 0, v))
    face(3, 4, n, 3 * n, lambda u, v: (v, n, u))
    face(3, 5, n, 3 * n, lambda u, v: (v, u, 0))
    face(3, 6, 3 * n, n, lambda u, v: (u, v, n))
    return msh(nodes, elements, [(1, "start"), (2, "end"), (3, "sides")])


class Solve(ProgramTest):
    def problem_file(self, problem, name="problem.json"):
        return self.write(name, json.dumps({"version": 1, **problem}))

    def bar(self, **changes):
        """A bar from 0 to 2 V, 3 long and 1 wide."""
        groups = {"start": {"conductor": {"potential": 2}, "inside": "copper"},
                  "end": {"conductor": {"potential": 0}, "inside": "copper"},
                  "sides": {"neumann": 0, "inside": "copper"}}
        return {"regions": {"copper": {"conductivity": 6e7}}, "outside": None,
                "groups": groups, **changes}

    def solve(self, problem, *arguments, n=4):
        """The report of a problem in a box, whose schemas are checked."""
        file = {"version": 1, **problem}
        jsonschema.validate(file, PROBLEM_SCHEMA)
        mesh = self.write("bar.msh", box(n))
        report = self.report("solve", mesh, "--problem", self.problem_file(problem), *arguments)
        self.assertEqual(report["problem"], file)
        return report

    def value(self, report, name):
        return report["results"][name]["value"]

    def test_bar(self):
        report = self.solve(self.bar(), "--unit", "mm", "--basis", "--line", "1,.5,.5,2,.5,.5,3",
                            "--output", "line.csv", "--surface", "surface.vtu")
        conductance = 6e7 * 1e-3 / 3
        currents = self.value(report, "current_A")
        self.assertAlmostEqual(currents[0] / (2 * conductance), 1, delta=0.05)
        self.assertAlmostEqual(currents[1] / currents[0], -1, delta=1e-3)
        self.assertEqual(report["results"]["current_A"]["unit"], "A")
        self.assertAlmostEqual(self.value(report, "power_W") / (2 * currents[0]), 1, delta=1e-6)
        matrix = self.value(report, "conductance_S")
        self.assertAlmostEqual(2 * matrix[0][0] / currents[0], 1, delta=1e-4)
        self.assertAlmostEqual(self.value(report, "resistors_ohm")[0][1] * matrix[0][0], 1, delta=1e-3)
        self.assertIsNone(self.value(report, "resistors_ohm")[0][0])
        with open(self.folder / "line.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        for row, potential in zip(rows, (4 / 3, 1, 2 / 3)):
            self.assertAlmostEqual(float(row["the problem: potential [V]"]), potential, delta=0.05)
            self.assertEqual(row["region [number]"], "0")
        arrays = read_vtu(self.folder / "surface.vtu")
        names = [name for name in arrays if "[" in name]
        self.assertEqual(len(names), 3 * 4)
        self.assertIn("the problem: flux density inward [A/m^2]", names)
        text = self.fmbem("solve", "bar.msh", "--problem", "problem.json").stdout
        for line in ("regions   copper: conductivity 6e+07 S/m", "conductor start: 2.000 V, current ",
                     "group     sides: current inward 0, outward 0 A", "power     "):
            self.assertIn(line, text)

    def test_points_on_a_wall(self):
        """They are in the region before it, unless its other side is asked for."""
        self.write("wall.xyz", "1.07 1 .3\n1.7 0 .62\n1.1 .33 0\n")
        for side, region in (("mean", "0"), ("negative", "0"), ("positive", "-1")):
            self.solve(self.bar(), "--points", "wall.xyz", "--side", side, "--output", "wall.csv")
            with open(self.folder / "wall.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            for row, potential in zip(rows, (2 - 2.14 / 3, 2 - 3.4 / 3, 2 - 2.2 / 3)):
                self.assertEqual(row["region [number]"], region)
                e, phi = (float(row[name]) for name in ("Ex [V/m]", "potential [V]"))
                if region == "0":
                    self.assertAlmostEqual(phi, potential, delta=0.1)
                    self.assertAlmostEqual(e, 2 / 3, delta=0.1)
                else:
                    self.assertTrue(math.isnan(e) and math.isnan(phi))

    def test_all_conditions_and_data(self):
        """φ = x + 2 in a box, told in every way; the values of the sides come from files."""
        panels = 28 * 4 * 4
        sides = [0.0] * panels
        self.write("sides.npy", npy((panels,), sides))
        self.write("sides.csv", "".join(f"{x}\n" for x in sides))
        self.write("table.csv", "number,g\n" + "".join(f"{k},{x}\n" for k, x in enumerate(sides)))
        own = ("<VTKFile type='UnstructuredGrid'><UnstructuredGrid><Piece NumberOfPoints='3' "
               f"NumberOfCells='{panels}'><CellData><DataArray type='Float64' Name='g' "
               f"format='ascii'>{' 0' * panels}</DataArray></CellData><Points><DataArray "
               "type='Float64' NumberOfComponents='3' format='ascii'>0 0 0 1 0 0 0 1 0</DataArray>"
               "</Points><Cells><DataArray type='Int64' Name='connectivity' format='ascii'>"
               f"{' 0 1 2' * panels}</DataArray><DataArray type='Int64' Name='offsets' "
               f"format='ascii'>{''.join(f' {3 * k + 3}' for k in range(panels))}</DataArray>"
               f"<DataArray type='UInt8' Name='types' format='ascii'>{' 5' * panels}</DataArray>"
               "</Cells></Piece></UnstructuredGrid></VTKFile>")
        self.write("own.vtu", own)
        # c ∂φ/∂n is −eps0 at the start and eps0 at the end.
        robin = {"robin": {"coefficient": "3*eps0", "value": "3*eps0*(x+2) + eps0"}, "inside": "air"}
        for data in ({"file": "sides.npy"}, {"file": "sides.csv"},
                     {"file": "table.csv", "array": "g"}, {"file": "own.vtu", "array": "g"},
                     "0*nx", 0):
            with self.subTest(data):
                problem = {"regions": {"air": {"permittivity": 1}}, "outside": None,
                           "groups": {"start": {"dirichlet": "x + 2", "inside": "air"}, "end": robin,
                                      "sides": {"neumann": data, "inside": "air"}}}
                report = self.solve(problem, "--line", "1,.5,.5,2,.5,.5,3", "--output", "line.npy")
                shape, values = read_npy(self.folder / "line.npy")
                self.assertEqual(shape, (1, 3, 4))
                for point, x in enumerate((1, 1.5, 2)):
                    self.assertAlmostEqual(values[4 * point], x + 2, delta=0.1)
                    self.assertAlmostEqual(values[4 * point + 1], -1, delta=0.1)
                flux = self.value(report, "flux_inside_C")
                order = [group["name"] for group in report["mesh"]["groups"]]
                self.assertAlmostEqual(flux[order.index("end")] / EPS0, 1, delta=0.1)
                self.assertAlmostEqual(flux[order.index("start")] / EPS0, -1, delta=0.1)
                self.assertGreater(self.value(report, "energy_J"), 0)

    def test_sources_and_floating_conductors(self):
        problem = {"groups": {name: {"conductor": {"name": "box", "charge": 1e-12}}
                              for name in ("start", "end", "sides")},
                   "sources": {"charges": [{"at": [0, 0, 5], "charge": 1e-12}],
                               "dipoles": [{"at": [5, 0, 0], "moment": [0, 0, 1e-12]}],
                               "lines": [{"from": [0, 5, 0], "to": [1, 5, 0], "charge": 1e-12,
                                          "region": "vacuum"}]}}
        report = self.solve(problem)
        self.assertEqual(report["conductors"], [{"name": "box", "groups": ["start", "end", "sides"]}])
        self.assertAlmostEqual(self.value(report, "charge_C")[0] / 1e-12, 1, delta=1e-4)
        self.assertGreater(self.value(report, "conductor_potential_V")[0], 0)
        self.assertFalse([w for w in report["warnings"] if "CUDA" not in w])
        problem["sources"] = {"field": [0, 0, 1]}
        self.assertIsNone(self.value(self.solve(problem), "energy_J"))

    def warnings(self, report):
        return [w for w in report["warnings"] if "CUDA" not in w]

    def dielectric(self, permittivity):
        groups = {name: {"interface": True, "inside": "glass", "outside": "vacuum"}
                  for name in ("start", "end", "sides")}
        regions = {"glass": {"permittivity": permittivity}, "vacuum": {"permittivity": 1}}
        return {"regions": regions, "outside": "vacuum", "groups": groups, "sources": {"field": [0, 0, 1]}}

    def test_small_differences_of_large_numbers_are_told(self):
        """Beside a smaller permittivity the field inside is what the layer's error is, too."""
        self.assertFalse(self.warnings(self.solve(self.dielectric(2))))
        warning, = self.warnings(self.solve(self.dielectric(1e4)))
        self.assertRegex(warning, r'fields in the region "glass" and on its walls .* may be off by')
        lossy = self.solve(self.dielectric([4, -2]))["results"]
        self.assertIn("imbalance_C_imaginary", lossy)
        self.assertNotIn("throughput_C_imaginary", lossy)

    def test_nothing_to_refine_where_nothing_flows(self):
        walls = {name: {"neumann": 0} for name in ("start", "end", "sides")}
        self.assertFalse(self.warnings(self.solve({"groups": walls, "sources": {"field": [0, 0, 1e5]}})))

    def test_currents_that_are_missed_are_told(self):
        """Where two conductors in a row of media are given, one has what the other leaves."""
        mesh = self.write("bar.geo", """
            SetFactory("OpenCASCADE"); Box(1) = {0, 0, 0, .5, .5, .5}; Box(2) = {.5, 0, 0, .5, .5, .5}; Coherence;
            Physical Surface("L") = {1}; Physical Surface("mid") = {2}; Physical Surface("R") = {7};
            Physical Surface("w1") = {3, 4, 5, 6}; Physical Surface("w2") = {8, 9, 10, 11};
""")
        problem = {"regions": {"m1": {"conductivity": 1e-3}, "m2": {"conductivity": 1e3}}, "outside": None,
                   "groups": {"L": {"conductor": {"current": 2}, "inside": "m1"},
                              "R": {"conductor": {"current": -2}, "inside": "m2"},
                              "mid": {"conductor": {"floating": True}, "inside": "m1", "outside": "m2"},
                              "w1": {"neumann": 0, "inside": "m1"}, "w2": {"neumann": 0, "inside": "m2"}}}
        file = self.problem_file(problem)
        for tolerance, told in ((1e-4, True), (1e-11, False)):
            report = self.report("solve", mesh, "--problem", file, "--mesh-size", ".125", "--tolerance", tolerance)
            missing = max(abs(report["results"]["current_A"]["value"][k] - given) for k, given in ((0, 2), (2, -2)))
            self.assertEqual(missing > 0.02, told)
            self.assertEqual(any("is given in the problem, by the solver's error" in w for w in report["warnings"]),
                             told)

    def test_energies_of_lines(self):
        """Of a line and a charge beside it: the charge in the line's potential, in closed form."""
        mesh = self.write("tiny.geo", 'SetFactory("OpenCASCADE"); Sphere(1) = {0, 0, 0, 1e-3};\n')

        def energy(*lines, x):
            sources = {"charges": [{"at": [x, 1.05, 0], "charge": 1e-9}],
                       "lines": [{"from": [a, 1, 0], "to": [b, 1, 0], "charge": 1e-9} for a, b in lines]}
            problem = {"groups": {"component 1": {"conductor": {"floating": True}}}, "sources": sources}
            report = self.report("solve", mesh, "--mesh-size", "1e-3", "--problem", self.problem_file(problem))
            return report["results"]["energy_J"]["value"]

        def potential(a, b, x):
            ends = sum(math.hypot(x - end, 0.05) for end in (a, b))
            return 1e-9 / (4 * math.pi * EPS0 * (b - a)) * math.log((ends + b - a) / (ends - b + a))

        for x in (0, 0.3, 5.1):
            self.assertAlmostEqual(energy((-5, 5), x=x) / (1e-9 * potential(-5, 5, x)), 1, delta=1e-4)
        # two in a row, whose common end has an infinite potential: each in that of the other
        both = 1e-18 * 2 * math.log(2) / (4 * math.pi * EPS0 * 5)
        of_charge = 1e-9 * (potential(-5, 0, 0.3) + potential(0, 5, 0.3))
        self.assertAlmostEqual(energy((-5, 0), (0, 5), x=0.3) / (both + of_charge), 1, delta=1e-4)

    def test_no_energy_of_sources_at_one_place(self):
        sources = {"charges": [{"at": [0, 0, 5], "charge": 1e-12}],
                   "dipoles": [{"at": [0, 0, 5], "moment": [0, 0, 1e-12]}]}
        groups = {name: {"conductor": {"name": "box", "charge": 0}} for name in ("start", "end", "sides")}
        report = self.solve({"groups": groups, "sources": sources})
        self.assertIsNone(self.value(report, "energy_J"))
        self.assertTrue(any("there is no energy of the problem" in w for w in report["warnings"]))

    def test_right_hand_sides(self):
        panels = 28 * 4 * 4
        report = self.solve(self.bar(), "--surface", "own.npy")
        shape, own = read_npy(self.folder / "own.npy")
        self.assertEqual(shape, (1, panels, 4))
        # 2 V at the start; then 1 V at both ends and 1e7 A/m² from the sides, 12 m² large.
        group = [1] * 32 + [2] * 32 + [3] * 384
        first = [2.0 if g == 1 else 0.0 for g in group]
        second = [1.0 if g < 3 else 1e7 for g in group]
        self.write("rhs.npy", npy((2, panels), first + second))
        given = self.solve(self.bar(), "--rhs", "rhs.npy", "--surface", "given.npy")
        shape, values = read_npy(self.folder / "given.npy")
        self.assertEqual(shape, (2, panels, 4))
        largest = max(map(abs, own))
        for a, b in zip(own, values):
            self.assertAlmostEqual(a / largest, b / largest, delta=1e-5)
        currents = self.value(given, "current_A")
        self.assertAlmostEqual(currents[0][0] / self.value(report, "current_A")[0], 1, delta=1e-4)
        self.assertAlmostEqual(sum(currents[1]) / 12e7, -1, delta=1e-3)
        self.assertEqual(self.value(given, "conductor_potential_V"), [[2, 0], [1, 1]])
        several = [float(k) if g == 1 else 0.0 for k, g in enumerate(group)]
        self.write("several.npy", npy((1, panels), several))
        given = self.solve(self.bar(), "--rhs", "several.npy")
        self.assertEqual(self.value(given, "conductor_potential_V"), [[None, 0]])
        self.write("short.npy", npy((1, panels - 1), first[1:]))
        for file, saying in (("short.npy", "447 values, and the mesh has 448"),
                             ("nobody.npy", "nobody.npy"), ("bar.msh", ".npy"),
                             ("problem.json", ".npy")):
            self.refused("solve", "bar.msh", "--problem", "problem.json", "--rhs", file, saying=saying)

    def test_examples_follow_the_schema(self):
        for path in sorted((ROOT / "examples").rglob("*.json")):
            with self.subTest(path):
                jsonschema.validate(json.loads(path.read_text()), PROBLEM_SCHEMA)
        page = (ROOT / "docs" / "problems.md").read_text()
        start = page.index("    {\n")
        jsonschema.validate(json.loads(page[start:page.index("    }\n\n", start) + 6]), PROBLEM_SCHEMA)

    def test_a_tolerance_that_the_fmm_does_not_reach(self):
        coated = [str(ROOT / "examples" / f"coated.{end}") for end in ("geo", "json")]
        given = ("solve", coated[0], "--mesh-size", "0.8", "--problem", coated[1], "--operator")
        # That of K' is another, 4e-11, which nobody gave.
        self.refused(*given, "fmm", "--tolerance", "1e-10",
                     saying=["a solve to 1e-10", "use --tolerance 2.5e-10 or more", "--operator-tolerance 2.5e-11"])
        # Of V, which refuses it first.
        self.refused(*given, "fmm", "--tolerance", "1e-11",
                     saying=["a solve to 1e-11", "use --tolerance 2.5e-10 or more", "--operator-tolerance 2.5e-11"])
        self.report(*given, "fmm", "--tolerance", "2.5e-10")
        self.report(*given, "dense", "--tolerance", "1e-10")
        # A sheet, of which K' tells the flux on each side, once it is solved with V.
        sheet = self.write("sheet.msh", msh([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)],
                                            [(2, 1, 1, 1, 2, 3), (2, 1, 1, 1, 3, 4)], [(1, "sheet")]))
        problem = self.write("sheet.json", json.dumps({"version": 1,
                                                       "groups": {"sheet": {"conductor": {"potential": 1}}}}))
        given = ("solve", sheet, "--problem", problem, "--refine", "3", "--operator", "fmm", "--operator-tolerance")
        self.refused(*given, "1e-12", saying="use 1e-11 or more")
        self.report(*given, "1e-11")

    def test_problems_that_cannot_be(self):
        mesh = self.write("bar.msh", box(2))

        def refused(problem, *saying, schema_too=True):
            with self.subTest(saying):
                if schema_too:
                    with self.assertRaises(jsonschema.ValidationError):
                        jsonschema.validate({"version": 1, **problem}, PROBLEM_SCHEMA)
                self.refused("solve", mesh, "--problem", self.problem_file(problem), saying=saying)

        def with_group(name, condition):
            problem = self.bar()
            problem["groups"][name] = condition
            return problem

        good = self.bar()
        self.fmbem("solve", mesh, "--problem", self.problem_file(good))
        self.refused("solve", mesh, saying="--problem")
        self.refused("solve", mesh, "--problem", self.write("p.json", "{"), saying="no valid JSON")
        self.refused("solve", mesh, "--problem", self.write("p.json", '{"version": 1, "version": 1}'),
                     saying="twice")
        self.refused("solve", mesh, "--problem", self.write("p.json", '{"a": 1e999}'),
                     saying="no valid JSON")
        refused({**good, "version": 2}, '"version"')
        refused({**good, "colour": 1}, 'unknown key "colour"')
        refused({**good, "groups": {}}, "has no condition")
        refused({**good, "regions": {}}, '"regions"')
        refused({k: v for k, v in good.items() if k != "outside"}, '"outside"', schema_too=False)
        refused({**good, "outside": "sea"}, '"sea"', schema_too=False)
        refused(with_group("start", {"inside": "copper"}), "has no condition")
        refused(with_group("start", {"dirichlet": 1, "neumann": 0, "inside": "copper"}),
                "two conditions", "dirichlet", "neumann")
        refused(with_group("nobody", {"dirichlet": 1, "inside": "copper"}), "nobody", "start",
                schema_too=False)
        refused(with_group("sides", {"neumann": 0, "inside": "tin"}), "tin", "copper",
                schema_too=False)
        refused(with_group("sides", {"neumann": 0, "inside": 3}), "a text")
        refused(with_group("sides", {"neumann": 0, "within": "copper"}), "within")
        refused(with_group("sides", {"neumann": "x +", "inside": "copper"}), "cannot be understood",
                schema_too=False)
        refused(with_group("sides", {"neumann": "r", "inside": "copper"}), "cannot be understood",
                schema_too=False)
        refused(with_group("sides", {"neumann": "x = 3", "inside": "copper"}), "assigns",
                schema_too=False)
        refused(with_group("sides", {"neumann": "1, 2", "inside": "copper"}), "2 values",
                schema_too=False)
        refused(with_group("sides", {"neumann": "log(x - 9)", "inside": "copper"}),
                "must be a finite number", schema_too=False)
        refused(with_group("sides", {"neumann": True, "inside": "copper"}), "a number")
        refused(with_group("sides", {"robin": {"value": 1}, "inside": "copper"}), "coefficient")
        refused(with_group("sides", {"robin": {"coefficient": 0, "value": 1}, "inside": "copper"}),
                "0 everywhere", "neumann", schema_too=False)
        walls = {name: {"conductor": {"name": "box", "potential": 0}} for name in ("start", "end", "sides")}
        refused({"groups": walls, "sources": {"charges": [{"at": [0, 0, 5], "charge": 1e-12, "region": ""}]}},
                'has "" for its region', schema_too=False)
        refused(with_group("start", {"conductor": {"charge": 1}, "inside": "copper"}), '"current"',
                schema_too=False)
        refused(with_group("start", {"conductor": {"potential": 1, "floating": True},
                                     "inside": "copper"}), "one of")
        refused({**good, "groups": {name: {"neumann": 1, "inside": "copper"}
                                    for name in ("start", "end", "sides")}},
                "adds up to 14 A", schema_too=False)
        for value in (0, -1, "x", None):
            refused({**good, "regions": {"copper": {"conductivity": value}}}, '"conductivity"')
        refused({**good, "regions": {"copper": {"permittivity": 1, "conductivity": 1}}}, "either")
        refused({**good, "regions": {"copper": {"conductivity": 1}, "a": {"permittivity": 1}}},
                "either all")
        refused({**good, "sources": {"charges": [{"at": [9, 9, 9], "current": 1}]}}, "no region",
                schema_too=False)
        refused({**good, "sources": {"charges": [{"at": [0, 0, 0], "current": 1}]}}, "on a surface",
                schema_too=False)
        refused({**good, "sources": {"charges": [{"at": [1, .5, .5], "charge": 1}]}}, '"current"',
                schema_too=False)
        refused({**good, "sources": {"charges": [{"at": [1, 2], "current": 1}]}}, "three")
        refused({**good, "sources": {"charges": {"at": [1, 2, 3]}}}, "a list")
        refused(with_group("sides", {"neumann": {"file": "no.npy"}, "inside": "copper"}), "no.npy",
                schema_too=False)
        self.write("two.csv", "1\n2\n")
        refused(with_group("sides", {"neumann": {"file": "two.csv"}, "inside": "copper"}),
                "2 values, and the mesh has 112", schema_too=False)
        self.write("nan.csv", "1\nnan\n")
        refused(with_group("sides", {"neumann": {"file": "nan.csv"}, "inside": "copper"}),
                "nan.csv, line 2", schema_too=False)
        refused(with_group("sides", {"neumann": {"file": "no.vtu", "array": "g"},
                                     "inside": "copper"}), "no.vtu", schema_too=False)
        self.write("cut.npy", npy((112,), [0.0] * 112)[:-8])
        refused(with_group("sides", {"neumann": {"file": "cut.npy"}, "inside": "copper"}),
                "not as many", schema_too=False)
        refused(with_group("sides", {"neumann": {"file": "a.txt"}, "inside": "copper"}), "a.txt")
        # What lies inside is not closed: the end is a sheet in copper.
        refused(with_group("end", {"conductor": {"potential": 0}, "inside": "copper",
                                   "outside": "copper"}), "is not closed", schema_too=False)
        refused({**good, "planes": {"z": "earth"}}, '"ground" or "mirror"')
        self.write("above.msh", box(2))
        crossing = {"groups": {name: {"conductor": {"name": "box", "potential": 1}}
                               for name in ("start", "end", "sides")},
                    "planes": {"x": "ground"}}
        refused(crossing, "ground plane", schema_too=False)
        refused({**good, "formulation": "direct"}, "direct", "sides", schema_too=False)
        refused({**good, "formulation": "Galerkin"}, "formulation")

    def test_outputs_that_cannot_be(self):
        mesh = self.write("bar.msh", box(2))
        values = self.bar()
        self.write("values.csv", 48 * "1\n")
        values["groups"]["start"] = {"dirichlet": {"file": "values.csv"}, "inside": "copper"}
        problem = self.problem_file(values)
        for options, saying in ((["--output", "a.csv"], "--points"),
                                (["--line", "1,.5,.5,2,.5,.5,3"], "--output"),
                                (["--surface", "a.txt"], "a.txt"),
                                (["--surface", "problem.json"], "overwrite"),
                                (["--csv", "values.csv"], "overwrite the values"),
                                (["--basis", "--rhs", "a.npy"], "exclude"),
                                (["--voltage", "start=1", "--rhs", "a.npy"], "--voltage and --rhs exclude"),
                                (["--conductor", "a=start"], "--conductor"),
                                (["--surface", "missing/a.npy"], "missing")):
            with self.subTest(options):
                self.refused("solve", mesh, "--problem", problem, *options, saying=saying)
        for command in ("capacitance", "field"):
            more = ["--line", "1,.5,.5,2,.5,.5,3", "--output", "a.csv"] if command == "field" else []
            self.refused(command, mesh, "--problem", problem, *more, saying="conductivities")


if __name__ == "__main__":
    unittest.main()
