"""Files of fmbem solvate: volumes, scripts of viewers, tables of forces and sites, read as their formats
have them."""

import csv
import json
import math
import re
import struct
import sys
import types
import unittest

from harness import ProgramTest, draws_pictures, leave_out, read_vtu
from solvation_files import atom, sphere_file

KCAL = 332.0637133
KT = 8.31446261815324e-3 / 4.184 * 298.15


def read_dx(text):
    """Counts, origin, steps and values of a scalar on a grid in OpenDX's format, strictly."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    counts = [int(x) for x in re.fullmatch(r"object 1 class gridpositions counts (\d+) (\d+) (\d+)", lines[0]).groups()]
    origin = [float(x) for x in lines[1].removeprefix("origin ").split()]
    steps = [[float(x) for x in line.removeprefix("delta ").split()] for line in lines[2:5]]
    assert lines[5] == "object 2 class gridconnections counts {} {} {}".format(*counts)
    n = math.prod(counts)
    assert lines[6] == f"object 3 class array type double rank 0 items {n} data follows"
    n_lines = (n + 2) // 3
    values = [float(x) for line in lines[7:7 + n_lines] for x in line.split()]
    assert len(values) == n and all(len(line.split()) == 3 for line in lines[7:6 + n_lines])
    assert lines[7 + n_lines:] == ['attribute "dep" string "positions"',
                                   'object "regular positions regular connections" class field',
                                   'component "positions" value 1', 'component "connections" value 2',
                                   'component "data" value 3']
    return counts, origin, steps, values


class SolvateFiles(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("ion.pqr", atom((0, 0, 0), 1))
        sphere_file(self.folder, "s.off", 2, 3.0)

    def solvate(self, *arguments):
        return self.report("solvate", "ion.pqr", "--surface", "s.off", *arguments)

    def test_volume(self):
        self.solvate("--volume", "v.dx", "--spacing", 2, "--margin", 5, "--permittivity-outside", 78)
        counts, origin, steps, values = read_dx((self.folder / "v.dx").read_text())
        self.assertEqual(counts, [9, 9, 9])
        self.assertEqual(origin, [-8, -8, -8])
        self.assertEqual(steps, [[2, 0, 0], [0, 2, 0], [0, 0, 2]])
        for k, value in enumerate(values):
            x = [o + 2 * i for o, i in zip(origin, (k // 81, k // 9 % 9, k % 9))]
            r = max(math.hypot(*x), 1)  # half the spacing
            exact = KCAL / KT / 78 / r if r > 3 else KCAL / KT * (1 / 4 / r - (1 / 4 - 1 / 78) / 3)
            # Panels of 128 lie up to 3.8 % of the radius below the sphere.
            self.assertLess(abs(value - exact), 2 * 0.038 * KCAL / KT * (1 / 78 if r > 3.2 else 1 / 4) / 3, x)

    def volume(self, place, *arguments):
        """Points, values in kT/e and the reaction potential of a charge of 1 e at that place in the sphere."""
        self.write("ion.pqr", atom(place, 1))
        report = self.solvate("--volume", "v.dx", *arguments)
        counts, origin, steps, values = read_dx((self.folder / "v.dx").read_text())
        points = [[o + steps[axis][axis] * i for axis, (o, i) in enumerate(zip(origin, (i, j, k)))]
                  for i in range(counts[0]) for j in range(counts[1]) for k in range(counts[2])]
        return list(zip(points, values)), report["results"]["reaction_potential_kT_per_e"]["value"][0]

    def test_volume_at_points_that_fall_on_a_charge_but_for_rounding(self):
        for centre in ((1.3, 0.7, -2.1), (12.345, 3.21, -7.77)):
            with self.subTest(centre=centre):
                sphere_file(self.folder, "s.off", 2, 3.0, centre)
                points, reaction = self.volume(centre, "--margin", 2)  # one point is in the sphere's middle
                distance, value = min((math.dist(x, centre), value) for x, value in points)
                self.assertLess(distance, 1e-9)
                capped = KCAL / KT / 4 / 0.5
                self.assertAlmostEqual(value, capped + reaction, delta=1e-4 * capped)

    def test_volume_has_a_charges_own_potential_in_its_molecule_alone(self):
        place = (2.4, 0, 0)
        points, _ = self.volume(place, "--spacing", 4, "--margin", 5)
        outside = [x for x, _ in points if math.dist(x, place) < 2 and math.hypot(*x) > 3]
        self.assertEqual(outside, [[4, 0, 0]])  # as close as the charge counts as farther away
        for x, value in points:
            self.assertGreater(value, 0, x)  # by the maximum principle

    def read_pymol(self, name):
        """Triangles [(colour, normal, vertex) of three corners] that a script loads, by PyMOL's rules:
        lines of the script, and Python between two of them."""
        constants = {"BEGIN": 2.0, "END": 3.0, "VERTEX": 4.0, "NORMAL": 5.0, "COLOR": 6.0, "TRIANGLES": 4.0}
        cgo, loaded = types.SimpleNamespace(**constants), {}
        cmd = types.SimpleNamespace(load_cgo=lambda numbers, title: loaded.update({title: numbers}))
        stub = types.ModuleType("pymol")
        stub.cgo, stub.cmd = cgo, cmd
        lines = (self.folder / name).read_text().splitlines()
        begin, end = lines.index("python"), lines.index("python end")
        sys.modules["pymol"] = stub
        self.addCleanup(sys.modules.pop, "pymol", None)
        exec(compile("\n".join(lines[begin + 1:end]), name, "exec"), {})
        numbers = loaded["potential"]
        self.assertEqual(numbers[:2] + numbers[-1:], [2.0, 4.0, 3.0])
        corners = [numbers[k:k + 12] for k in range(2, len(numbers) - 1, 12)]
        for corner in corners:
            self.assertEqual((corner[0], corner[4], corner[8]), (6.0, 5.0, 4.0))
        return lines[:begin] + lines[end + 1:], [(c[1:4], c[5:8], c[9:12]) for c in corners]

    def test_scripts_of_viewers(self):
        self.write("ion.pqr", atom((0, 0, 2), 2) + atom((0, 0, -2), -2))
        for name in ("v.pml", "v.tcl", "v.cxc", "v.vtu"):
            self.solvate(*(["--output", name] if name == "v.vtu" else ["--view", name]))
        potential = read_vtu(self.folder / "v.vtu")["potential [kT/e]"]
        self.assertGreater(max(potential), 5)

        rest, corners = self.read_pymol("v.pml")
        self.assertEqual(len(corners), 3 * 128)
        self.assertIn(f'load "{self.folder / "ion.pqr"}", molecule', rest)
        for colour, normal, vertex in corners:
            self.assertAlmostEqual(math.hypot(*vertex), 3, places=3)
            self.assertGreater(sum(u * v for u, v in zip(normal, vertex)), 2.8)
            self.assertTrue(all(0 <= part <= 1 for part in colour))
            self.assertEqual(max(colour), 1)
        top = max(corners, key=lambda corner: corner[2][2])[0]
        bottom = min(corners, key=lambda corner: corner[2][2])[0]
        self.assertGreater(top[2] - top[0], 0.5)  # blue where it is positive
        self.assertGreater(bottom[0] - bottom[2], 0.5)

        text = (self.folder / "v.tcl").read_text()
        vertices = re.findall(r"^\{\{(\S+) (\S+) (\S+)\} \{(\S+) (\S+) (\S+)\} (\S+)\}$", text, re.M)
        self.assertEqual(len(vertices), 66)
        self.assertEqual(len(re.findall(r"^\{\d+ \d+ \d+\}$", text, re.M)), 128)
        self.assertEqual(text.count("{"), text.count("}"))
        self.assertIn("\nset range 5\n", text)
        self.assertIn(f'mol new "{self.folder / "ion.pqr"}" type pqr', text)
        means = read_vtu(self.folder / "v.vtu", "PointData")["potential [kT/e]"]
        for vertex, mean in zip(vertices, means, strict=True):
            self.assertEqual(vertex[6], "%.5g" % mean)

        self.assertIn(f'open "{self.folder / "v.bild"}" format bild', (self.folder / "v.cxc").read_text())
        lines = (self.folder / "v.bild").read_text().splitlines()[1:]
        self.assertEqual(len(lines), 2 * 128)
        for k, value in enumerate(potential):
            t = max(-1, min(1, value / 5))
            colour = (1, 1 + t, 1 + t) if t < 0 else (1 - t, 1 - t, 1)
            word, *rgb = lines[2 * k].split()
            self.assertEqual(word, ".color")
            for u, v in zip(rgb, colour, strict=True):
                self.assertAlmostEqual(float(u), v, delta=6e-4)
            word, *numbers = lines[2 * k + 1].split()
            self.assertEqual((word, len(numbers)), (".polygon", 9))

    def test_scripts_of_viewers_have_the_range_that_is_asked_for(self):
        report = self.solvate("--view", "v.pml", "--range", 0.75)
        self.assertEqual(report["solvation"]["drawn_range_kT_per_e"], 0.75)
        self.assertEqual(self.solvate("--view", "w.pml")["solvation"]["drawn_range_kT_per_e"], 5)
        self.assertNotIn("drawn_range_kT_per_e", self.solvate()["solvation"])
        of_view, of_standard = ([corner[0] for corner in self.read_pymol(name)[1]] for name in ("v.pml", "w.pml"))
        for colour, standard in zip(of_view, of_standard, strict=True):  # white less the potential over the range
            self.assertAlmostEqual(1 - min(colour), min(1, (1 - min(standard)) * 5 / 0.75), places=4)
        self.solvate("--view", "v.tcl", "--range", 0.75)
        self.assertIn("\nset range 0.75\n", (self.folder / "v.tcl").read_text())
        self.solvate("--view", "v.cxc", "--range", 0.75, "--output", "v.vtu")
        self.assertIn("\nkey red:-0.75 white:0 blue:0.75\n", (self.folder / "v.cxc").read_text())
        shown = [line.split()[1:] for line in (self.folder / "v.bild").read_text().splitlines() if ".color" in line]
        for rgb, value in zip(shown, read_vtu(self.folder / "v.vtu")["potential [kT/e]"], strict=True):
            self.assertAlmostEqual(1 - min(map(float, rgb)), min(1, abs(value) / 0.75), delta=6e-4)

    def vertex_means(self, arrays, name):
        """Means by area of the panels at each vertex."""
        points = list(zip(*[iter(arrays["Points"])] * 3))
        sums = [[0, 0] for _ in points]
        for corners, value in zip(zip(*[iter(arrays["connectivity"])] * 3), arrays[name], strict=True):
            a, b, c = (math.dist(points[corners[k]], points[corners[k - 1]]) for k in range(3))
            s = (a + b + c) / 2
            area = math.sqrt(s * (s - a) * (s - b) * (s - c))
            for k in corners:
                sums[k][0] += area * value
                sums[k][1] += area
        return [total / area for total, area in sums]

    def write_two_surfaces(self):
        """A charge off the middle of its sphere, and one in another sphere; o.vtu, o.msh."""
        self.write("ion.pqr", atom((0, 0, 1), 1) + atom((7, 0, 0), -1))
        sphere_file(self.folder, "t.off", 1, 3.0, (7, 0, 0))
        for name in ("o.vtu", "o.msh"):
            self.solvate("--surface", "t.off", "--forces", "f.csv", "--output", name, "--kappa", 0.1)

    def test_values_at_vertices(self):
        self.write_two_surfaces()
        cells, points = (read_vtu(self.folder / "o.vtu", section) for section in ("CellData", "PointData"))
        fields = set(cells) - {"group", "element_tag"}
        self.assertEqual(len(fields), 4)
        self.assertEqual(set(points), fields | {"vertex_tag"})
        arrays = read_vtu(self.folder / "o.vtu")
        for name in fields:
            self.assertEqual(arrays[name], cells[name])
            for value, mean in zip(points[name], self.vertex_means(arrays, name), strict=True):
                self.assertAlmostEqual(value, mean, delta=1e-9 * max(map(abs, cells[name])))
        # Of each surface its own panels alone: their potentials have the signs of their charges.
        xs = arrays["Points"][::3]
        for x, potential in zip(xs, points["potential [kT/e]"], strict=True):
            self.assertGreater(potential * (1 if x < 3.5 else -1), 0)

    def test_others_read_values_of_panels_and_at_vertices(self):
        try:
            import meshio
            import vtk
        except ImportError as error:
            leave_out(f"Python's {error.name} is not installed")
        self.write_two_surfaces()
        of_cells, of_points = (read_vtu(self.folder / "o.vtu", section) for section in ("CellData", "PointData"))
        reader = vtk.vtkXMLUnstructuredGridReader()
        reader.SetFileName(str(self.folder / "o.vtu"))
        reader.Update()
        grid = reader.GetOutput()
        self.assertEqual(grid.GetCellData().GetScalars().GetName(), "potential [kT/e]")
        files = {name: meshio.read(self.folder / name) for name in ("o.vtu", "o.msh")}
        for name in ("potential [kT/e]", "normal field inside [kT/(e angstrom)]"):
            for data, values in ((grid.GetCellData(), of_cells), (grid.GetPointData(), of_points)):
                array = data.GetArray(name)
                self.assertEqual([array.GetValue(k) for k in range(array.GetNumberOfValues())], values[name])
            for file, at_vertices in (("o.vtu", name), ("o.msh", name + ", at vertices")):
                mesh = files[file]
                self.assertEqual([x for block in mesh.cell_data[name] for x in block.flat], of_cells[name])
                self.assertEqual(list(mesh.point_data[at_vertices].flat), of_points[name])
                self.assertEqual(list(mesh.points.flat), read_vtu(self.folder / "o.vtu")["Points"])

    def test_fmbem_reads_meshes_and_values_of_panels_in_both_files(self):
        self.write_two_surfaces()
        for name in ("o.vtu", "o.msh"):
            self.assertEqual(self.report("mesh-info", name)["mesh"]["panels"], 160)
        if draws_pictures():
            for name in ("o.vtu", "o.msh"):
                self.fmbem("plot", name, "-o", name + ".png")
            pictures = [(self.folder / name).read_bytes() for name in ("o.vtu.png", "o.msh.png")]
            self.assertEqual(*pictures)

    def test_forces(self):
        self.write("ion.pqr", atom((0, 0, 1), 1) + atom((7, 0, 0), -1))
        sphere_file(self.folder, "t.off", 2, 3.0, (7, 0, 0))
        report = self.solvate("--surface", "t.off", "--forces", "f.csv", "--output", "f.vtu", "--kappa", 0.1)
        results = report["results"]
        rows = list(csv.DictReader((self.folder / "f.csv").read_text().splitlines()))
        atoms = [[float(row[f"F{axis} [kcal/(mol angstrom)]"]) for axis in "xyz"] for row in rows]
        self.assertEqual(atoms, results["reaction_force_kcal_per_mol_angstrom"]["value"])
        self.assertEqual(sorted(results["molecules"]["value"]), ["s", "t"])
        one, other = results["force_kcal_per_mol_angstrom"]["value"]
        self.assertLess(math.dist(one, [-x for x in other]), 0.06 * math.hypot(*one))
        self.assertGreater(one[0] * (1 if results["molecules"]["value"][0] == "s" else -1), 0)  # they attract
        arrays = read_vtu(self.folder / "f.vtu")
        for kind in ("osmotic", "dielectric"):
            for pressure in arrays[f"{kind} pressure [kcal/(mol angstrom^3)]"]:
                self.assertLess(pressure, 0)

    def test_sites(self):
        self.write("sites.pqr", "ATOM 1 CG ASP A 5 1 1 0 -1 1\nATOM 2 NZ LYS A 9 -1 0 1 1 1\n"
                                "ATOM 3 CE LYS A 9 -1 0.5 1 0.5 1\n")
        report = self.solvate("--sites", "sites.pqr", "--site-energies", "m.csv")
        self.fmbem("solvate", "ion.pqr", "--surface", "s.off", "--sites", "sites.pqr", "--site-energies", "m.npy")
        results = report["results"]
        matrix = results["site_energy_kcal_per_mol"]["value"]
        self.assertEqual(results["sites"]["value"], ["ASP A 5", "LYS A 9"])
        self.assertLess(abs(matrix[0][1] - matrix[1][0]), 0.02 * abs(matrix[0][1]))
        self.assertLess(matrix[0][0], 0)
        rows = list(csv.reader((self.folder / "m.csv").read_text().splitlines()))
        self.assertEqual(rows[0], ["site", "ASP A 5 [kcal/mol]", "LYS A 9 [kcal/mol]"])
        self.assertEqual([[float(x) for x in row[1:]] for row in rows[1:]], matrix)
        self.assertEqual(list(struct.unpack("<4d", (self.folder / "m.npy").read_bytes()[-32:])), sum(matrix, []))
        self.assertEqual(len(report["solver"]["iterations"]), 3)

    def test_what_cannot_be(self):
        refused = lambda *arguments, **words: self.refused("solvate", "ion.pqr", "--surface", "s.off", *arguments, **words)
        refused("--volume", "v.cube", saying="--volume writes .dx")
        refused("--volume", "v.dx", "--spacing", 0, saying="spacing of a volume must be positive")
        refused("--volume", "v.dx", "--margin", -1, saying="margin of a volume must be 0 or positive")
        refused("--volume", "v.dx", "--spacing", 1e-3, saying="more than a billion")
        refused("--view", "v.py", saying="--view writes .pml")
        refused("--view", "v.cxc", "--volume", "ion.pqr", saying="would overwrite")
        refused("--range", 2, saying="--range is for --picture FILE and --view FILE")
        for value in (0, -5, "nan", 1e7):
            refused("--view", "v.pml", "--range", value, saying="--range must be between 1e-6 and 1e6 kT/e")
        refused("--view", "v.pml", "--range", "5kT", saying="--range")
        refused("--forces", "f.txt", saying="--forces writes .csv")
        refused("--site-energies", "m.csv", saying="goes with --sites")
        self.write("sites.pqr", "ATOM 1 CG ASP A 5 9 1 0 -1 1\n")
        refused("--sites", "sites.pqr", saying=("ASP A 5", "line 1", "in no molecule"))
        refused("--sites", "sites.pqr", "--site-energies", "m.txt", saying="writes .csv and .npy")


if __name__ == "__main__":
    unittest.main()
