"""Geometry from CAD: units, names, numbers of a .geo."""

import pathlib
import re
import unittest

from harness import ROOT, ProgramTest

BUS = ROOT / "tests" / "data" / "bus.step"  # VDD, "GND, analog" and plane; boxes of 10 x 1 x 0.5 mm


def with_two_bodies(step):
    """The part VDD with its solid, #41 to #370, once more, 5 mm higher."""
    def number(match):
        n = int(match[1])
        return f"#{n + 100000 if 41 <= n <= 370 else n}"

    def higher(match):
        return f"CARTESIAN_POINT('',({match[1]},{match[2]},{float(match[3]) + 5}))"

    statements = re.findall(r"^(#(\d+) = .*?;)\n", step, re.MULTILINE | re.DOTALL)
    copy = "\n".join(re.sub(r"#(\d+)", number, text) for text, n in statements if 41 <= int(n) <= 370)
    copy = re.sub(r"CARTESIAN_POINT\('',\(([^,()]+),([^,()]+),([^,()]+)\)\)", higher, copy)
    head, tail = step.replace("(#11,#41)", "(#11,#41,#100041)").rsplit("ENDSEC;", 1)
    return f"{head}{copy}\nENDSEC;{tail}"


class Units(ProgramTest):
    def test_a_step_file_is_in_its_own_unit_unless_another_is_asked_for(self):
        for unit, in_mm in (None, 1), ("mm", 1), ("um", 1e-3), ("m", 1e3):
            options = ["--unit", unit] if unit else []
            report = self.report("mesh-info", BUS, "--mesh-size", "1mm", *options)
            self.assertEqual(report["mesh"]["unit"], unit or "mm")
            self.assertAlmostEqual(report["mesh"]["area"] * in_mm**2, 135, delta=1e-6)
        self.assertIn("unit mm", self.fmbem("mesh-info", BUS, "--mesh-size", "2").stdout)
        self.refused("mesh-info", BUS, "--mesh-size", "2m", saying="2000 mm is larger than")
        self.refused("mesh-info", BUS, "--mesh-size", "2inch", saying="inch")
        self.refused("mesh-info", BUS, "--mesh-size", "fine", saying="no length")

    def test_a_part_of_several_bodies_loses_its_name_and_says_so(self):
        step = self.write("two.step", with_two_bodies(BUS.read_text()))
        report = self.report("mesh-info", step, "--mesh-size", "1mm")
        self.assertEqual(sorted(group["name"] for group in report["mesh"]["groups"]),
                         ["GND, analog", "plane", "solid 1", "solid 2"])
        self.assertIn("2 solids have no name, as the bodies of a STEP part that has several",
                      self.fmbem("mesh-info", step, "--mesh-size", "1mm").stderr)
        self.assertNotIn("no name", self.fmbem("mesh-info", BUS, "--mesh-size", "1mm").stderr)

    def test_units_below_a_micrometre_keep_the_names_of_parts(self):
        names = [group["name"] for group in self.report("mesh-info", BUS, "--mesh-size", "1mm")["mesh"]["groups"]]
        for unit, in_mm in ("nm", 1e-6), ("angstrom", 1e-7):
            mesh = self.report("mesh-info", BUS, "--mesh-size", "1mm", "--unit", unit)["mesh"]
            self.assertEqual([group["name"] for group in mesh["groups"]], names)
            self.assertAlmostEqual(mesh["area"] * in_mm**2, 135, delta=1e-6)

    def test_bodies_that_share_a_face_are_told_by_their_names(self):
        boxes = self.write("boxes.geo", 'SetFactory("OpenCASCADE");\n'
                           'Box(1) = {0, 0, 0, 1, 1, 1}; Box(2) = {1, 0, 0, 1, 1, 1};\n'
                           'Physical Volume("left") = {1}; Physical Volume("right") = {2};\n')
        self.refused("mesh-info", boxes, "--mesh-size", "0.5", saying='as "left" and "right" touch there: leave a gap')

    def test_the_example_of_the_help_works(self):
        (self.folder / "bus.step").symlink_to(BUS)
        example = "field bus.step --unit mm --voltage VDD=5 --line 0,0,1,0,0,9,50 --output line.csv"
        self.assertIn(example, self.fmbem("field", "--help").stdout)
        self.fmbem(*example.split(), "--mesh-size", "1")
        table = (self.folder / "line.csv").read_text()
        self.assertEqual(len(table.strip().splitlines()), 51)

    def test_farads_do_not_depend_on_the_unit(self):
        farads = [self.report("capacitance", BUS, "--mesh-size", "1mm", "--unit", unit)
                  ["results"]["capacitance_F"]["value"] for unit in ("mm", "um")]
        for a, b in zip(farads[0], farads[1], strict=True):
            for x, y in zip(a, b, strict=True):
                self.assertLess(abs(x - y), 1e-3 * farads[0][0][0])

    def test_a_script_that_merges_a_step_file_has_its_unit(self):
        script = self.write("merge.geo", f'Merge "{BUS}";\n')
        area = self.report("mesh-info", script, "--unit", "mm", "--mesh-size", "1")["mesh"]["area"]
        self.assertAlmostEqual(area, 135, delta=1e-6)

    def test_units_below_those_of_opencascade_are_refused_where_a_script_merges(self):
        included = self.write("merge.geo", f'Merge "{BUS}";\n')
        for word in ("Merge", "Include"):
            script = self.write("all.geo", f'{word} "merge.geo";\n')
            self.refused("mesh-info", script, "--unit", "nm", saying=["cannot be converted", "um"])
        comment = self.write("box.geo", '// bus.step\nSetFactory("OpenCASCADE");\nBox(1) = {0, 0, 0, 1, 1, 1};\n')
        self.fmbem("mesh-info", comment, "--unit", "nm", "--mesh-size", "1")


class Names(ProgramTest):
    def test_parts_of_an_assembly_are_conductors_that_can_be_joined(self):
        solve = ["capacitance", BUS, "--mesh-size", "1"]
        report = self.report(*solve)
        names = ["VDD", "GND, analog", "plane"]
        self.assertEqual([c["name"] for c in report["conductors"]], names)
        joined = self.report(*solve, "--conductor", 'net="GND, analog",VDD')
        self.assertEqual(joined["conductors"][0], {"name": "net", "groups": ["GND, analog", "VDD"]})
        self.refused(*solve, "--conductor", 'net="GND, analog', saying="quote")
        self.refused(*solve, "--conductor", "net=GND, analog", saying="GND")

    def test_components_without_names_are_listed(self):
        boxes = self.write("boxes.geo", """
            SetFactory("OpenCASCADE");
            Box(1) = {0, 0, 0, 1, 1, 1};
            Box(2) = {2, 0, 0, 1, 1, 2};
            """)
        out = self.fmbem("capacitance", boxes, "--mesh-size", "0.5").stdout
        self.assertIn("component 1: ", out)
        self.assertRegex(out, r"component 2: \d+ panels, area 10 m\^2, from \(2, 0, 0\) to \(3, 1, 2\)")
        groups = self.report("mesh-info", boxes)["mesh"]["groups"]
        for x, y in zip(groups[1]["box"], [[2, 0, 0], [3, 1, 2]], strict=True):
            for a, b in zip(x, y, strict=True):
                self.assertAlmostEqual(a, b, delta=1e-9)


class Numbers(ProgramTest):
    def test_a_number_of_a_geo_is_set(self):
        cube = ROOT / "examples" / "cube.geo"
        for n in (4, 24):
            report = self.report("mesh-info", cube, "--set", f"n={n}", "--set", "bump=1")
            self.assertEqual(report["mesh"]["panels"], 12 * n**2)
        self.assertEqual(self.report("mesh-info", cube)["mesh"]["panels"], 12 * 16**2)

    def test_numbers_that_are_not_there_are_refused_with_those_that_are(self):
        cube = ROOT / "examples" / "cube.geo"
        self.refused("mesh-info", cube, "--set", "m=4", saying=['no number "m"', "n, bump"])
        self.refused("mesh-info", cube, "--set", "n=4", "--set", "n=5", saying="twice")
        self.refused("mesh-info", cube, "--set", "n=four", saying="NAME=X")
        self.refused("mesh-info", cube, "--set", "n", saying="NAME=X")
        self.refused("mesh-info", self.tetrahedron_file(), "--set", "n=4", saying=".geo")
        self.refused("mesh-info", self.cube_file(), "--set", "n=4", saying="no other")


class Mesh(ProgramTest):
    def test_the_mesh_that_would_be_solved_is_written(self):
        out = self.folder / "bus.msh"
        options = [BUS, "--mesh-size", "1", "--refine", "1"]
        written = self.report("mesh", *options, "-o", out)["mesh"]
        self.assertIn("read it with --unit mm", self.fmbem("mesh", *options, "-o", out).stdout)
        solved = self.report("mesh-info", *options)["mesh"]
        self.assertEqual(written, solved)
        read = self.report("mesh-info", out, "--unit", written["unit"])["mesh"]
        for key in ("panels", "vertices", "unit", "closed"):
            self.assertEqual(read[key], written[key])
        self.assertEqual([g["name"] for g in read["groups"]], ["VDD", "GND, analog", "plane"])
        self.assertAlmostEqual(read["area"], written["area"], delta=1e-9)

    def test_output_is_whole_or_not_there(self):
        self.refused("mesh", BUS, "-o", "bus.obj", saying=".vtu or .msh")
        self.refused("mesh", BUS, saying="--output")
        self.refused("mesh", BUS, "--mesh-size", "1m", "-o", "bus.msh", saying="larger than")
        self.refused("mesh", self.tetrahedron_file(), "-o", "tetrahedron.msh", saying="overwrite")

    def test_files_that_a_script_names_are_inputs(self):
        (self.folder / "parts").mkdir()
        mesh = self.tetrahedron_file("parts/body.msh")
        before = pathlib.Path(mesh).read_bytes()
        self.write("parts/inner.geo", '/* Merge "other.msh"; */\nIf (1 == 2) Merge "none.msh";\n'
                                      'Else Merge "body.msh";\nEndIf\n')
        script = self.write("outer.geo", 'Include "parts/inner.geo";\n')
        for output in ("parts/body.msh", "parts/../parts/body.msh"):
            self.refused("mesh", script, "-o", output, saying=["overwrite the mesh", output])
        self.refused("mesh-info", script, "--json", "parts/inner.geo", saying="overwrite the mesh")
        self.assertEqual(pathlib.Path(mesh).read_bytes(), before)
        inputs = self.report("mesh-info", script)["run"]["inputs"]
        self.assertEqual([pathlib.Path(entry["file"]).name for entry in inputs],
                         ["outer.geo", "inner.geo", "body.msh"])
        self.fmbem("mesh", script, "-o", "parts/other.msh")

    def test_mesh_info_tells_gaps_and_what_limits_accuracy(self):
        results = self.report("mesh-info", BUS, "--mesh-size", "4")["results"]
        gap = results["gaps"]["value"][0]
        self.assertEqual(gap["groups"], ["VDD", "GND, analog"])
        self.assertAlmostEqual(gap["distance"], 1, delta=1e-9)
        self.assertTrue(any("sharp edges" in limit for limit in results["accuracy_limits"]["value"]))
        self.assertIn("gap ", self.fmbem("mesh-info", BUS, "--mesh-size", "4").stdout)


if __name__ == "__main__":
    unittest.main()
