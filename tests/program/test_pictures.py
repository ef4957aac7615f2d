"""Pictures of results: what is in them, at which places, and what is refused."""

import base64
import html
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import unittest
import xml.etree.ElementTree
import zlib

from harness import CUBE, PROGRAM, ProgramTest, draws_pictures, leave_out, msh, numbers_alone, read_vtu, tetrahedron
from solvation_files import sphere_file

WIDTH, HEIGHT = 1200, 900
SVG = "{http://www.w3.org/2000/svg}"
VIRIDIS = [(68, 1, 84), (72, 40, 120), (62, 74, 137), (49, 104, 142), (38, 130, 142), (31, 158, 137),
           (53, 183, 121), (109, 205, 89), (180, 222, 44), (253, 231, 37)]


class Picture:
    """The pixels of a PNG file with a palette and no filters."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        at, packed = 8, b""
        while at < len(data):
            size, kind = struct.unpack_from(">I4s", data, at)
            body = data[at + 8:at + 8 + size]
            assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(kind + body)
            if kind == b"IHDR":
                self.width, self.height, *self.kind = struct.unpack(">IIBBBBB", body)
            elif kind == b"PLTE":
                self.palette = list(struct.iter_unpack("3B", body))
            elif kind == b"IDAT":
                packed += body
            at += 12 + size
        assert self.kind == [8, 3, 0, 0, 0]
        raw = zlib.decompress(packed)
        self.rows = [raw[y * (self.width + 1) + 1:(y + 1) * (self.width + 1)] for y in range(self.height)]
        assert all(raw[y * (self.width + 1)] == 0 for y in range(self.height))

    def at(self, x, y):
        return self.palette[self.rows[int(y)][int(x)]]

    def mean(self, x, y, size):
        """Of a block of pixels."""
        pixels = [self.at(x + i, y + j) for i in range(size) for j in range(size)]
        return [sum(p[k] for p in pixels) / len(pixels) for k in range(3)]


def viridis(fraction):
    at = fraction * (len(VIRIDIS) - 1)
    i = min(int(at), len(VIRIDIS) - 2)
    return [a + (at - i) * (b - a) for a, b in zip(VIRIDIS[i], VIRIDIS[i + 1])]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(a):
    return [x / math.sqrt(dot(a, a)) for x in a]


TOWARD = unit((0.55, -1, 0.62))
RIGHT = unit(cross((0, 0, 1), TOWARD))
UP = cross(TOWARD, RIGHT)


def number(text):
    return float(text.replace("−", "-"))


class Svg:
    """The texts, lines and areas of an .svg."""

    def __init__(self, path):
        self.root = xml.etree.ElementTree.parse(path).getroot()
        self.texts = [(t.text, float(t.get("x")), float(t.get("y")) - 0.35 * float(t.get("font-size")))
                      for t in self.root.iter(SVG + "text")]
        self.anchors = {(x, y): t.get("text-anchor")
                        for (_, x, y), t in zip(self.texts, self.root.iter(SVG + "text"))}
        self.images = list(self.root.iter(SVG + "image"))

    def lines(self, width, colour="#000000"):
        result = []
        for path in self.root.iter(SVG + "path"):
            if path.get("stroke-width") == width and path.get("stroke") == colour:
                numbers = [float(x) for x in re.split("[ ML]", path.get("d")) if x]
                result.append(list(zip(numbers[::2], numbers[1::2])))
        return result

    def ticks(self):
        """Numbers beside the colour bar and how far up they stand, from 0 to 1."""
        return [(number(text), (712 - y) / 512) for text, x, y in self.texts
                if 1040 < x and re.fullmatch("[−0-9.e+]+", text)]

    def axis(self, along_x):
        """Coordinate as a function of pixels, from the numbers along an axis of a plane."""
        marks = [(x if along_x else y, number(text)) for text, x, y in self.texts
                 if re.fullmatch("[−0-9.e+]+", text) and self.anchors[x, y] == ("middle" if along_x else "end")]
        (a, va), (b, vb) = marks[0], marks[-1]
        return lambda pixel: va + (pixel - a) * (vb - va) / (b - a)


def panels_in_sight(arrays, least_facing):
    """Of each panel of a .vtu's surface that is turned to the eye: its number, the cosine of its angle to that,
    where the picture has its centroid, its area."""
    points = list(zip(*[iter(arrays["Points"])] * 3))
    spans = [[dot(point, axis) for point in points] for axis in (RIGHT, UP)]
    scale = min(910 / (max(spans[0]) - min(spans[0])), 790 / (max(spans[1]) - min(spans[1])))
    for i, triangle in enumerate(zip(*[iter(arrays["connectivity"])] * 3)):
        a, b, c = (points[k] for k in triangle)
        across = cross([q - p for p, q in zip(a, b)], [q - p for p, q in zip(a, c)])
        facing = dot(unit(across), TOWARD)
        if facing < least_facing:
            continue
        centre = [sum(x) / 3 for x in zip(a, b, c)]
        yield (i, facing, (495 + scale * (dot(centre, RIGHT) - (max(spans[0]) + min(spans[0])) / 2),
                           435 - scale * (dot(centre, UP) - (max(spans[1]) + min(spans[1])) / 2)),
               math.sqrt(dot(across, across)) / 2)


class PictureTest(ProgramTest):
    def setUp(self):
        super().setUp()
        if not draws_pictures():
            leave_out("this build draws no pictures")

    def cube(self):
        self.fmbem("capacitance", CUBE, "--output", "cube.vtu")
        return read_vtu(self.folder / "cube.vtu")

    def write_values_of_three_panels(self):
        """part.msh, a tetrahedron without a value on its fourth panel."""
        nodes, elements = tetrahedron()
        self.write("part.msh", msh(nodes, elements, [(1, "body")]) + "\n".join(
            ["$ElementData", "1", '"charge density [C/m^2]"', "1", "0", "3", "0", "1", "3", "1 1", "2 2", "3 3",
             "$EndElementData", ""]))

    def sphere_cut(self, *options):
        """The plane y = 0 through a sphere of radius 1 at 1 V."""
        sphere = self.write("sphere.geo", 'SetFactory("OpenCASCADE"); Sphere(1) = {0, 0, 0, 1};'
                            'Physical Surface("ball") = {1};\n')
        return self.fmbem("field", sphere, "--mesh-size", "0.15", "--unit", "mm", "--cut", "y=0",
                          "--output", "cut.vti", *options)


class Surfaces(PictureTest):
    @numbers_alone
    def test_colours_are_those_of_the_values_where_they_are(self):
        data = self.cube()
        self.fmbem("plot", "cube.vtu", "--log", "-o", "cube.png")
        picture = Picture(self.folder / "cube.png")
        self.assertEqual((picture.width, picture.height), (WIDTH, HEIGHT))
        for corner in ((0, 0), (WIDTH - 1, 0), (0, HEIGHT - 1), (WIDTH - 1, HEIGHT - 1)):
            self.assertEqual(picture.at(*corner), (255, 255, 255))
        # The bar's ends, then panels: their colours on the bar times the light on their face.
        for y, colour in ((203, VIRIDIS[-1]), (709, VIRIDIS[0])):
            self.assertLess(max(abs(a - b) for a, b in zip(picture.at(1015, y), colour)), 8)
        charge = data["charge density [C/m^2], cube at 1 V"]
        checked = 0
        for i, facing, at, area in panels_in_sight(data, 0.1):
            if area < 0.0025:
                continue
            fraction = math.log(charge[i] / min(charge)) / math.log(max(charge) / min(charge))
            expected = [(0.75 + 0.25 * facing) * part for part in viridis(fraction)]
            self.assertLess(max(abs(p - q) for p, q in zip(picture.at(*at), expected)), 5, at)
            checked += 1
        self.assertGreater(checked, 100)

    @numbers_alone
    def test_the_legend_is_logarithmic_over_the_values(self):
        charge = self.cube()["charge density [C/m^2], cube at 1 V"]
        self.fmbem("plot", "cube.vtu", "--log", "-o", "cube.svg")
        svg = Svg(self.folder / "cube.svg")
        words = [text for text, _, _ in svg.texts]
        for word in ("charge density", "[pC/m²]", "cube at 1 V"):
            self.assertIn(word, words)
        self.assertEqual(len(svg.images), 1)
        self.assertGreater(len(svg.ticks()), 2)
        for value, height in svg.ticks():
            expected = math.log(value * 1e-12 / min(charge)) / math.log(max(charge) / min(charge))
            self.assertAlmostEqual(height, expected, delta=2e-4)

    @numbers_alone
    def test_a_few_singular_panels_do_not_take_the_colours(self):
        """A hundredth of the area lies beyond the linear scale's upper end, and the tip says so."""
        data = self.cube()
        charge = data["charge density [C/m^2], cube at 1 V"]
        points = list(zip(*[iter(data["Points"])] * 3))
        areas = []
        for triangle in zip(*[iter(data["connectivity"])] * 3):
            a, b, c = (points[i] for i in triangle)
            across = cross([q - p for p, q in zip(a, b)], [q - p for p, q in zip(a, c)])
            areas.append(math.sqrt(dot(across, across)) / 2)
        self.fmbem("plot", "cube.vtu", "-o", "cube.svg")
        (v0, h0), *_, (v1, h1) = Svg(self.folder / "cube.svg").ticks()
        top = (v1 + (1 - h1) * (v1 - v0) / (h1 - h0)) * 1e-12
        beyond = sum(area for area, value in zip(areas, charge) if value > top * 1.0001)
        self.assertLess(beyond, 0.0101 * sum(areas))
        self.assertGreater(beyond, 0.002 * sum(areas))

    @numbers_alone
    def test_both_signs_have_colours_about_zero_and_nets_have_names(self):
        self.fmbem("capacitance", self.two_tetrahedra_file(), "--refine", "2", "--picture", "two.svg",
                   "--output", "two.vtu")
        svg = Svg(self.folder / "two.svg")
        self.assertLessEqual({"left", "right", "left at 1 V"}, {text for text, _, _ in svg.texts})
        heights = dict(svg.ticks())
        self.assertAlmostEqual(heights[0], 0.5, delta=1e-4)
        for value, height in heights.items():
            self.assertAlmostEqual(heights[-value], 1 - height, delta=2e-4)
        self.fmbem("plot", "two.vtu", "--net", "right", "-o", "right.png")
        picture = Picture(self.folder / "right.png")
        red = sum(r > 1.5 * b for row in picture.rows for r, g, b in [picture.palette[i] for i in row[:950]])
        blue = sum(b > 1.2 * r for row in picture.rows for r, g, b in [picture.palette[i] for i in row[:950]])
        self.assertGreater(red, 2000)
        self.assertGreater(blue, 2000)

    def sphere_with_charges(self, *charges, options=()):
        """The picture of a sphere with charges below its right and its left, and of each panel in sight its
        potential and its colour there, without the shade."""
        self.write("ion.pqr", "".join(f"ATOM 1 NA ION A 1 {x} 0 0 {charge} 1\n" for x, charge in zip((2, -2), charges)))
        sphere_file(self.folder, "s.off", 2, 3.0)
        self.fmbem("solvate", "ion.pqr", "--surface", "s.off", "--output", "s.vtu", "--picture", "s.png",
                   *options)
        picture, arrays = Picture(self.folder / "s.png"), read_vtu(self.folder / "s.vtu")
        seen = [(arrays["potential [kT/e]"][i], [part / (0.75 + 0.25 * facing) for part in picture.at(*at)])
                for i, facing, at, _ in panels_in_sight(arrays, 0.3)]
        self.assertGreater(len(seen), 30)
        return picture, seen

    def test_potentials_on_molecules_are_red_below_zero_and_blue_above(self):
        """By the convention of viewers of molecules, from -5 to 5 kT/e, also where one sign alone is there."""
        for charges, end, options in (((1, -1), 5, []), ((3, 3), 5, []), ((-0.5, -0.5), 5, []),
                                      ((0.1, -0.1), 0.5, ["--range", "0.5"]), ((1, -1), 30, ["--range", "30"])):
            with self.subTest(charges=charges, end=end):
                picture, seen = self.sphere_with_charges(*charges, options=options)
                for value, colour in seen:
                    t = max(-1, min(1, value / end))
                    expected = (255, 255 * (1 + t), 255 * (1 + t)) if t < 0 else (255 * (1 - t), 255 * (1 - t), 255)
                    self.assertLess(max(abs(p - q) for p, q in zip(colour, expected)), 6, value)
                for y, colour in ((203, (0, 0, 255)), (456, (255, 255, 255)), (709, (255, 0, 0))):
                    self.assertLess(max(abs(a - b) for a, b in zip(picture.at(1015, y), colour)), 8)
                self.fmbem("plot", "s.vtu", "-o", "s.svg", *options)
                svg = Svg(self.folder / "s.svg")
                ticks = svg.ticks()
                least, *_, most = [value for value, _ in ticks]
                self.assertEqual((least, most), (-end, end))
                if end == 5:
                    self.assertEqual([value for value, _ in ticks], list(range(-5, 6)))
                for value, up in ticks:
                    self.assertAlmostEqual(up, (value + end) / (2 * end), delta=0.002)
                # A tip at each end beyond which there are values.
                potentials = read_vtu(self.folder / "s.vtu")["potential [kT/e]"]
                for y, is_beyond in ((185, max(potentials) > end), (727, min(potentials) < -end)):
                    self.assertEqual(picture.at(1015, y) != (255, 255, 255), is_beyond)
                self.fmbem("plot", "s.vtu", "-o", "again.png", *options)
                self.assertEqual((self.folder / "again.png").read_bytes(), (self.folder / "s.png").read_bytes())

    def test_potentials_on_molecules_may_be_logarithmic(self):
        self.sphere_with_charges(1, 1)
        self.fmbem("plot", "s.vtu", "--log", "-o", "log.png")
        self.assertLess(max(abs(a - b) for a, b in zip(Picture(self.folder / "log.png").at(1015, 203), VIRIDIS[-1])), 8)
        self.refused("plot", "s.vtu", "--log", "--range", "2", "-o", "log.svg", saying="exclude each other")
        self.refused("plot", "s.vtu", "--range", "0", "-o", "log.svg", saying="--range must be between")

    def test_a_range_is_for_potentials_of_molecules(self):
        self.fmbem("capacitance", self.tetrahedron_file(), "--output", "c.vtu")
        self.refused("plot", "c.vtu", "--range", "2", "-o", "c.svg", saying=("--range", "charge density", "c.vtu"))

    def test_captions_are_within_the_picture(self):
        """Letters are half as wide as high, and less in the mean; nothing dark touches the right edge."""
        nodes, elements = tetrahedron()
        for name in ("component 1", "core_supply_voltage_1V2_domain_A", "net" * 40):
            with self.subTest(name):
                mesh = self.write("long.msh", msh(nodes, elements, [(1, name)]))
                self.fmbem("capacitance", mesh, "--picture", "long.png", "--output", "long.vtu")
                picture = Picture(self.folder / "long.png")
                self.assertTrue(all(picture.at(x, y) == (255, 255, 255) for x in range(WIDTH - 4, WIDTH)
                                    for y in range(HEIGHT)))
                self.fmbem("plot", "long.vtu", "-o", "long.svg")
                svg = Svg(self.folder / "long.svg")
                caption = [(text, x, y) for text, x, y in svg.texts if y > 740 and x > 900]
                whole = "".join(text for text, *_ in caption)
                self.assertTrue(whole.endswith("at 1 V"), whole)
                self.assertTrue(name in whole or "…" in whole and len(name) > 60, whole)
                for text, x, y in caption:
                    ends = x if svg.anchors[x, y] == "end" else x + 0.5 * 23 * len(text)
                    self.assertLess(ends, WIDTH)

    def test_the_same_picture_again_and_from_a_file(self):
        self.fmbem("capacitance", self.tetrahedron_file(), "--output", "a.vtu", "--picture", "a.png")
        self.fmbem("plot", "a.vtu", "-o", "b.png", env={"DISPLAY": ":77"})
        self.assertEqual((self.folder / "a.png").read_bytes(), (self.folder / "b.png").read_bytes())
        done = self.fmbem("plot", "a.vtu")
        self.assertEqual(done.stdout, "wrote a.png\n")


class Missing(PictureTest):
    def test_panels_without_a_value_are_grey_and_counted(self):
        """Of a tetrahedron the second face is seen from ahead, and the fourth from the upper right."""
        self.write_values_of_three_panels()
        for name in ("part.png", "part.svg", "part.html"):
            done = self.fmbem("plot", "part.msh", "-o", name)
            self.assertIn("notice: without a value, and grey: 1 of 4 panels", done.stderr)
        picture = Picture(self.folder / "part.png")
        self.assertEqual(picture.at(1015, 871), (128, 128, 128))  # the square below the bar
        grey = sum(max(p) - min(p) < 6 and 90 < p[0] < 134 for row in picture.rows[40:800]
                   for p in [picture.palette[i] for i in row[40:950]])
        dark = sum(viridis(0)[2] * 0.7 < p[2] < 90 and p[1] < 12 for row in picture.rows[40:800]
                   for p in [picture.palette[i] for i in row[40:950]])
        self.assertGreater(grey, 20000)
        self.assertEqual(dark, 0)  # the first face has the lowest value, and looks down
        self.assertIn("no value", [text for text, *_ in Svg(self.folder / "part.svg").texts])
        self.fmbem("capacitance", self.tetrahedron_file(), "--picture", "whole.svg")
        self.assertNotIn("no value", [text for text, *_ in Svg(self.folder / "whole.svg").texts])


class Kept(PictureTest):
    def test_a_kept_solution_that_had_not_converged_says_so(self):
        self.fmbem("capacitance", self.two_tetrahedra_file(), "--save", "kept.h5", "-ksp_max_it", 1, "-pc_type",
                   "none", code=3)
        done = self.fmbem("plot", "kept.h5", "-o", "kept.png", code=3)
        self.assertIn("warning: the solution in kept.h5 had not converged", done.stderr)
        self.assertTrue((self.folder / "kept.png").exists())

    def test_pictures_of_a_run_of_its_kept_solution_and_of_its_files_are_the_same(self):
        """.msh names views without the unit's place being lost, so values are found by element."""
        problem = self.write("p.json", json.dumps({
            "version": 1, "regions": {"air": {"permittivity": 1}, "oil": {"permittivity": 3}}, "outside": "air",
            "groups": {"left": {"conductor": {"potential": 2}, "outside": "air"},
                       "right": {"interface": True, "inside": "oil", "outside": "air"}}}))
        mesh = self.two_tetrahedra_file()
        self.fmbem("solve", mesh, "--problem", problem, "--refine", "1", "--picture", "run.png",
                   "--save", "kept.h5", "--surface", "s.msh")
        self.fmbem("solve", mesh, "--problem", problem, "--refine", "1", "--surface", "s.vtu")
        drawn = (self.folder / "run.png").read_bytes()
        for name in ("kept.h5", "s.msh", "s.vtu"):
            with self.subTest(name):
                self.fmbem("plot", name, "-o", "again.png")
                self.assertEqual((self.folder / "again.png").read_bytes(), drawn)
        self.fmbem("capacitance", mesh, "--save", "c.h5", "--output", "c.msh", "--picture", "c.png")
        self.fmbem("plot", "c.msh", "-o", "again.png")
        self.assertEqual((self.folder / "again.png").read_bytes(), (self.folder / "c.png").read_bytes())
        for name in ("c.h5", "c.msh"):
            self.fmbem("plot", name, "--net", "right", "-o", "right.svg")
            self.assertIn("right at 1 V", [text for text, _, _ in Svg(self.folder / "right.svg").texts])
        self.refused("plot", "c.h5", "--net", "nobody", "-o", "never.png", saying=["c.h5", "left, right"])
        self.refused("plot", mesh, "-o", "never.png", saying="no result")
        self.refused("plot", "c.h5", "--cut", "z=0", "-o", "never.png", saying="fmbem field")

    def test_what_is_not_solved_for_is_white_and_interfaces_are_thinner(self):
        problem = self.write("p.json", json.dumps({
            "version": 1, "regions": {"air": {"permittivity": 1}, "oil": {"permittivity": 3}}, "outside": "air",
            "planes": {"x": "mirror", "z": "ground"},
            "groups": {"left": {"conductor": {"potential": 2}, "outside": "air"},
                       "right": {"interface": True, "inside": "oil", "outside": "air"}}}))
        nodes, elements = tetrahedron(0.2)
        more_nodes, more_elements = tetrahedron(2.2, 4, 2)
        nodes = [(x, y + 0.2, z + 0.5) for x, y, z in nodes + more_nodes]
        mesh = self.write("two.msh", msh(nodes, elements + more_elements, [(1, "left"), (2, "right")]))
        self.fmbem("solve", mesh, "--problem", problem, "--cut", "y=0.4", "--picture", "cut.svg", "--output", "cut.vtu")
        data = read_vtu(self.folder / "cut.vtu")
        xs, zs = data["Points"][::3], data["Points"][2::3]
        self.assertEqual((min(xs), min(zs)), (0, 0))  # at the mirror and at the ground
        svg = Svg(self.folder / "cut.svg")
        thick, thin = svg.lines("3"), svg.lines("1.6")
        x, z = svg.axis(True), svg.axis(False)
        self.assertTrue(any(abs(z(p[1])) < 0.01 and x(p[0]) > 2 for line in thick for p in line))  # the ground
        self.assertTrue(all(x(p[0]) > 1.9 for line in thin for p in line) and thin)
        self.fmbem("plot", "cut.vtu", "-o", "cut.png")
        picture = Picture(self.folder / "cut.png")
        at = lambda px, pz: picture.at(self.pixel(svg.axis(True), px), self.pixel(svg.axis(False), pz))
        self.assertEqual(at(0.4, 0.7), (255, 255, 255))  # in metal
        self.assertNotEqual(at(2.4, 0.7), (255, 255, 255))

    def pixel(self, axis, value):
        """Where an axis has a value."""
        a, b = axis(0), axis(1)
        return (value - a) / (b - a)


class Planes(PictureTest):
    @numbers_alone
    def test_lines_of_a_sphere_are_where_its_closed_form_has_them(self):
        """Outside of a sphere of radius 1 at 1 V the potential is 1/r, and the field is radial."""
        self.sphere_cut("--picture", "cut.svg")
        svg = Svg(self.folder / "cut.svg")
        x, z = svg.axis(True), svg.axis(False)
        place = lambda line: [(x(a), z(b)) for a, b in line]
        self.assertLessEqual({"x [mm]", "z [mm]", "potential", "[V]"}, {t for t, _, _ in svg.texts})

        outline = [math.hypot(*p) for line in svg.lines("3") for p in place(line)]
        self.assertGreater(len(outline), 40)
        for r in outline:
            self.assertAlmostEqual(r, 1, delta=0.01)

        side = 1 + 2 / 3  # the rectangle reaches a third of the sphere's width beyond it
        least = 1 / math.hypot(side, side)
        levels = [least + k * (1 - least) / 11 for k in range(1, 11)]
        found = set()
        for line in svg.lines("1.3"):
            radii = [math.hypot(*p) for p in place(line)]
            level = min(levels, key=lambda v: abs(1 / v - radii[0]))
            found.add(level)
            for r in radii:
                self.assertAlmostEqual(r, 1 / level, delta=0.015)
        self.assertEqual(len(found), 10)

        field_lines = [place(line) for line in svg.lines("1", "#404040")]
        self.assertGreater(len(field_lines), 10)
        for line in field_lines:
            (ax, az), (bx, bz) = line[0], line[-1]
            self.assertLess(abs(ax * bz - az * bx), 0.05 * math.hypot(ax, az) * math.hypot(bx, bz))
            for p in line:
                self.assertGreater(math.hypot(*p), 0.98)

    @numbers_alone
    def test_points_have_the_colours_of_their_potentials(self):
        # Charges 1 and -1 at a distance of 1: potentials -1/(4 pi) and 1/(4 pi), in all formats.
        points = self.write("two.xyz", "0 0 0 1\n0 0 1 -1\n")
        self.fmbem("nbody", "--points", points, "--output", "two.vtp", "--picture", "two.png")
        self.fmbem("plot", "two.vtp", "-o", "again.png")
        self.assertEqual((self.folder / "two.png").read_bytes(), (self.folder / "again.png").read_bytes())
        picture = Picture(self.folder / "two.png")
        seen = [(x, y) for y in range(0, HEIGHT, 4) for x in range(200, 980, 4) if picture.at(x, y) != (255, 255, 255)]
        upper, lower = picture.at(*seen[1]), picture.at(*seen[-1])
        self.assertGreater(upper[0], upper[2] + 50)  # red: the potential of the charge 1 below
        self.assertGreater(lower[2], lower[0] + 50)
        self.fmbem("plot", "two.vtp", "--quantity", "E", "-o", "force.svg")
        self.assertIn("|force|", [text for text, *_ in Svg(self.folder / "force.svg").texts])
        self.refused("plot", "two.vtp", "--cut", "x=0", "-o", "a.png", saying=("cloud of points", "--cut"))
        self.fmbem("nbody", "--points", 20001, "--method", "fmm", "--tolerance", 1e-2, "--output", "many.vtu", "--plot", "many.svg")
        self.assertIn("20000 of 20001 points", [text for text, *_ in Svg(self.folder / "many.svg").texts])

    def test_images_of_planes_hold_what_other_formats_do(self):
        try:
            from vtkmodules.vtkIOXML import vtkXMLImageDataReader, vtkXMLUnstructuredGridReader
        except ImportError:
            return leave_out("Python's vtk is missing")

        def read(reader, name):
            reader.SetFileName(str(self.folder / name))
            reader.Update()
            return reader.GetOutput()

        plane = ("--plane", "0.2,-1,2,1,0,0,0,3,4,7,6")
        for name in ("a.vti", "a.vtu"):
            self.fmbem("field", CUBE, *plane, "--unit", "mm", "--output", name)
        image = read(vtkXMLImageDataReader(), "a.vti")
        grid = read(vtkXMLUnstructuredGridReader(), "a.vtu")
        self.assertEqual(image.GetDimensions(), (7, 6, 1))
        for i in range(grid.GetNumberOfPoints()):
            for a, b in zip(image.GetPoint(i), grid.GetPoint(i)):
                self.assertAlmostEqual(a, b, delta=1e-12)
            for name in ("potential [V]", "E [V/m]"):
                self.assertEqual(image.GetPointData().GetArray(name).GetTuple(i),
                                 grid.GetPointData().GetArray(name).GetTuple(i))

        self.fmbem("field", CUBE, "--cut", "z=0.0005m", "--unit", "mm", "--output", "b.vti")
        cut = read(vtkXMLImageDataReader(), "b.vti")
        for axis, (low, high) in enumerate(((-1 / 3, 4 / 3), (-1 / 3, 4 / 3), (0.5, 0.5))):
            self.assertAlmostEqual(cut.GetBounds()[2 * axis], low, delta=1e-12)
            self.assertAlmostEqual(cut.GetBounds()[2 * axis + 1], high, delta=1e-12)
        outline = cut.GetFieldData().GetArray("outline [mm]")
        length = 0
        for i in range(outline.GetNumberOfTuples()):
            a, b = outline.GetTuple(i)[:3], outline.GetTuple(i)[3:]
            self.assertEqual({a[2], b[2]}, {0.5})
            length += math.dist(a, b)
        self.assertAlmostEqual(length, 4, delta=1e-12)

    def test_a_box_is_cut(self):
        """The same potential as on the plane itself: the cut lies on a layer of points."""
        box = ("--box", "-1,-1,-1,2,2,2,31,31,31")
        self.fmbem("field", CUBE, *box, "--output", "box.vti")
        self.fmbem("field", CUBE, "--plane", "-1,-1,0.5,3,0,0,0,3,0,31,31", "--output", "plane.vtu")
        for quantity in ("V", "E"):
            self.fmbem("plot", "box.vti", "--cut", "z=0.5", "--quantity", quantity, "-o", "box.svg")
            self.fmbem("plot", "plane.vtu", "--quantity", quantity, "-o", "plane.svg")
            cut, plane = Svg(self.folder / "box.svg"), Svg(self.folder / "plane.svg")
            self.assertEqual(cut.texts, plane.texts)
            for width in ("3", "1.3"):
                self.assertEqual(len(cut.lines(width)) > 0, len(plane.lines(width)) > 0)
        for cut, words in ((("--cut", "z=9"), ("does not meet", "from -1 to 2")), ((), ("--cut x=0",))):
            self.refused("plot", "box.vti", *cut, "-o", "c.png", saying=words)

    def image(self, extent, values):
        numbers = struct.pack(f"<I{len(values)}d", 8 * len(values), *values)
        return f"""<VTKFile type="ImageData" version="0.1" byte_order="LittleEndian">
            <ImageData WholeExtent="{extent}" Origin="0 0 0" Spacing="1 1 1"><Piece Extent="{extent}">
            <PointData><DataArray type="Float64" Name="potential [V]"
            format="binary">{base64.b64encode(numbers).decode()}</DataArray>
            </PointData></Piece></ImageData></VTKFile>"""

    def test_values_that_differ_little_have_ticks_that_differ(self):
        self.write("near.vti", self.image("0 2 0 2 0 0", [1 + 1e-6 * i for i in range(9)]))
        self.fmbem("plot", "near.vti", "-o", "near.svg")
        svg = Svg(self.folder / "near.svg")
        self.assertIn("+ 1 V", [text for text, *_ in svg.texts])
        ticks = svg.ticks()
        self.assertGreater(len(ticks), 4)
        for value, height in ticks:
            self.assertAlmostEqual(value, 8e-6 * height, delta=1e-9)

    def test_values_that_differ_by_rounding_are_one(self):
        self.write("one.vti", self.image("0 2 0 2 0 0", [5 + 1e-15 * i for i in range(9)]))
        self.fmbem("plot", "one.vti", "-o", "one.svg")
        svg = Svg(self.folder / "one.svg")
        self.assertEqual(svg.lines("1.3"), [])  # no equipotentials of noise
        self.assertIn(5, [value for value, _ in svg.ticks()])
        self.assertFalse([text for text, *_ in svg.texts if "+" in text])

    def test_a_layer_hides_nothing_of_another(self):
        pictures = []
        for beyond in (5, math.nan):
            values = [i + j for k in range(2) for j in range(3) for i in range(3)] + 9 * [beyond]
            self.write("layers.vti", self.image("0 2 0 2 0 2", values))
            self.fmbem("plot", "layers.vti", "--cut", "z=1", "-o", "layers.svg")
            pictures.append((self.folder / "layers.svg").read_text())
        self.assertEqual(*pictures)

    def test_extents_that_cannot_be(self):
        for extent in ("0 -5 0 2 0 2", "0 2000000000 0 2 0 2"):
            self.write("extent.vti", self.image(extent, [1, 2, 3]))
            self.refused("plot", "extent.vti", "-o", "a.png", saying="extent.vti")


class Pages(PictureTest):
    def page(self, name, script):
        """What a browser makes of a page and a script behind its own."""
        browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not browser:
            leave_out("chromium, which opens pages, is missing")
        page = self.folder / "test.html"
        text = (self.folder / name).read_text()
        self.assertEqual(set(re.findall(r"\w+://[^\"]*", text)), {"http://www.w3.org/2000/svg"})  # a name, no link
        page.write_text(text.replace("</body>", f"""<script>
            const result = document.createElement("pre");
            result.id = "result";
            result.textContent = JSON.stringify((() => {{ {script} }})());
            document.body.appendChild(result);
            </script></body>"""))
        done = subprocess.run(
            [browser, "--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
             f"--user-data-dir={self.folder / 'browser'}", "--window-size=1200,900", "--virtual-time-budget=5000",
             "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=300)
        found = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.S)
        self.assertTrue(found, done.stdout[-500:] + done.stderr[-2000:])
        return json.loads(html.unescape(found.group(1)))

    PIXEL = ("const at = (x, y) => { const p = new Uint8Array(4); draw(); gl.readPixels(x, canvas.height - 1 - y, "
             "1, 1, gl.RGBA, gl.UNSIGNED_BYTE, p); return [p[0], p[1], p[2]]; };")

    def test_a_surface_turns_and_tells_its_values(self):
        charge = self.cube()["charge density [C/m^2], cube at 1 V"]
        self.fmbem("plot", "cube.vtu", "--log", "-o", "cube.html")
        found = self.page("cube.html", self.PIXEL + """
            const x = Math.round((innerWidth - 200) / 2), y = Math.round(innerHeight / 2);
            const told = {x, y, first: pick(x, y), corner: pick(2, 2), text: pickedText(pick(x, y)),
                            colour: at(x, y), blank: at(2, 2), legend: document.getElementById("legend").textContent,
                            toward: view.toward};
            turn(300, 0);
            told.turned = {picked: pick(x, y), toward: view.toward};
            zoom(x, y, 4);
            told.zoomed = {corner: pick(2, 2), picked: pick(x, y)};
            return told;""")
        self.assertIsNone(found["corner"])
        self.assertEqual(found["blank"], [255, 255, 255])
        picked = found["first"]
        self.assertEqual(picked["group"], "cube")
        self.assertTrue(any(abs(picked["value"] - value) < 1e-6 * value for value in charge))
        self.assertIn(f"charge density {picked['value'] / 1e-12:.4g}"[:18], found["text"])
        self.assertIn("pC/m²", found["text"])
        self.assertLess(min(min(abs(c), abs(c - 1)) for c in picked["point"]), 1e-6)  # on a face
        axis = min(range(3), key=lambda k: min(abs(picked["point"][k]), abs(picked["point"][k] - 1)))
        fraction = math.log(picked["value"] / min(charge)) / math.log(max(charge) / min(charge))
        light = 0.75 + 0.25 * abs(TOWARD[axis])
        for part, expected in zip(found["colour"], viridis(fraction)):
            self.assertAlmostEqual(part, light * expected, delta=4)
        for word in ("charge density", "[pC/m²]", "50", "cube at 1 V"):
            self.assertIn(word, found["legend"])
        self.assertGreater(math.dist(found["turned"]["toward"], found["toward"]), 0.5)
        self.assertIsNotNone(found["zoomed"]["corner"])

    def test_a_panel_without_a_value_is_grey_and_says_so(self):
        self.write_values_of_three_panels()
        self.fmbem("plot", "part.msh", "-o", "part.html")
        found = self.page("part.html", self.PIXEL + """
            for (let x = 0; x < innerWidth; x += 10)
              for (let y = 0; y < innerHeight; y += 10) {
                const picked = pick(x, y);
                if (picked && Number.isNaN(picked.value)) return {colour: at(x, y), text: pickedText(picked)};
              }""")
        self.assertEqual(len(set(found["colour"])), 1)
        self.assertTrue(94 < found["colour"][0] < 130)
        self.assertIn("charge density no value", found["text"])

    def test_a_plane_tells_its_potential(self):
        self.sphere_cut("--picture", "cut.html")
        found = self.page("cut.html", self.PIXEL + """
            const x = Math.round((innerWidth - 200) / 2), y = Math.round(innerHeight / 2);
            return [pick(x, y), pick(x, y - 250), at(x, y)];""")
        self.assertAlmostEqual(found[0]["value"], 1, delta=2e-3)
        r = math.hypot(*found[1]["point"])
        self.assertGreater(r, 1)
        self.assertAlmostEqual(found[1]["value"], 1 / r, delta=5e-3)
        for part, expected in zip(found[2], (180, 4, 38)):
            self.assertAlmostEqual(part, expected, delta=8)


class Refusals(PictureTest):
    def setUp(self):
        super().setUp()
        self.fmbem("capacitance", self.two_tetrahedra_file(), "--output", "two.vtu")

    def test_what_a_file_does_not_hold(self):
        for options, words in ((("--quantity", "V"), ("--quantity V", "charge")),
                               (("--quantity", "flux"), "--quantity"),
                               (("--net", "middle"), ("middle", "left, right")),
                               (("--cut", "x=0"), ("surface", "--cut")),
                               (("--cut", "w=0"), "--cut takes"),
                               (("--log",), ("--log is for positive values", "charge density"))):
            with self.subTest(options):
                self.refused("plot", "two.vtu", *options, "-o", "a.png", saying=words)

    def test_files_that_are_no_results(self):
        self.fmbem("mesh", CUBE, "-o", "mesh.vtu")
        self.fmbem("field", CUBE, "--line", "0,0,2,1,1,3,5", "--output", "line.vtu")
        data = (self.folder / "two.vtu").read_bytes()
        self.write("half.vtu", data[:len(data) // 2])
        self.write("text.vtu", "no result")
        self.write("empty.vtu", "")
        for name, words in (("mesh.vtu", ("mesh.vtu", "is no result")), ("line.vtu", "neither the triangles"),
                            ("half.vtu", "half.vtu"), ("text.vtu", "text.vtu"), ("empty.vtu", "empty"),
                            ("none.vtu", "none.vtu"), (CUBE, ".vtu, .vtp, .vti and .msh")):
            with self.subTest(name):
                self.refused("plot", name, "-o", "a.png", saying=words)

    def test_pictures_that_cannot_be_written(self):
        self.write("cannot", "")
        for name, words in (("a.jpg", ".png, .svg or .html"), ("cannot/a.png", "cannot"),
                            ("two.vtu", "two.vtu"), ("no/folder/a.png", "no/folder")):
            with self.subTest(name):
                self.refused("plot", "two.vtu", "-o", name, saying=words)
                self.refused("capacitance", "two.msh", "--picture", name, saying=words if name != "two.vtu" else ".png")
        self.refused("field", CUBE, "--line", "0,0,2,1,1,3,5", "--output", "l.csv", "--picture", "l.png",
                     saying="--cut or --plane")

    def test_a_drawing_process_that_fails_leaves_nothing(self):
        crash = self.write("crash", "#!/bin/sh\nkill -SEGV $$\n")
        os.chmod(crash, 0o755)
        self.refused("plot", "two.vtu", "-o", "a.png", env={"FMBEM_PICTURE": crash}, saying="crashed")
        self.refused("plot", "two.vtu", "-o", "a.png", env={"FMBEM_PICTURE": "/none"}, code=4, saying="/none")
        self.refused("plot", "two.vtu", "-o", "a.png", saying="EGL",
                     env={"__EGL_VENDOR_LIBRARY_DIRS": str(self.folder)})

    def commands_that_draw(self):
        """Each with its options, and the files that it writes besides."""
        self.write("ion.pqr", "ATOM 1 NA ION A 1 1 1 1 1 1\n")
        sphere_file(self.folder, "s.off", 1, 4.0)
        problem = self.write("p.json", json.dumps({
            "version": 1, "regions": {"air": {"permittivity": 1}}, "outside": "air",
            "groups": {name: {"conductor": {"potential": 1}, "outside": "air"} for name in ("left", "right")}}))
        self.fmbem("capacitance", "two.msh", "--save", "kept.h5")
        cut = ("--cut", "y=0.2", "--output", "cut.csv")
        return [(("capacitance", "two.msh", "--output", "c.vtu", "--save", "c.h5", "--csv", "c.csv"),
                 ("c.vtu", "c.h5", "c.csv")),
                (("field", "two.msh", *cut, "--save", "c.h5"), ("cut.csv", "c.h5")),
                (("field", "--from", "kept.h5", *cut), ("cut.csv",)),
                (("solve", "two.msh", "--problem", problem, "--surface", "s.vtu", "--save", "c.h5"), ("s.vtu", "c.h5")),
                (("solve", "two.msh", "--problem", problem, *cut, "--save", "c.h5"), ("cut.csv", "c.h5")),
                (("solvate", "ion.pqr", "--surface", "s.off", "--output", "s.vtu"), ("s.vtu",)),
                (("nbody", "--points", 50, "--output", "n.csv"), ("n.csv",))]

    def test_a_picture_that_fails_loses_nothing_else(self):
        """The drawing program starts for the check before the solve, and crashes when it is to draw."""
        own = os.environ.get("FMBEM_PICTURE") or shutil.which("fmbem-picture", path=pathlib.Path(PROGRAM).parent)
        once = self.write("once", f"#!/bin/sh\nif mkdir started 2>/dev/null; then exec '{own}'; fi\nkill -SEGV $$\n")
        os.chmod(once, 0o755)
        for command, files in self.commands_that_draw():
            with self.subTest(command):
                shutil.rmtree(self.folder / "started", ignore_errors=True)
                for name in files:
                    (self.folder / name).unlink(missing_ok=True)
                done = self.fmbem(*command, "--picture", "a.png", "--json", "a.json", code=2,
                                  env={"FMBEM_PICTURE": once})
                self.assertIn("crashed", done.stderr)
                self.checked_report((self.folder / "a.json").read_text())
                for name in files:
                    self.assertTrue((self.folder / name).exists(), name)
                    self.assertIn(f"wrote {name}\n", done.stdout)
                self.assertFalse(list(self.folder.glob("*.png")))
                (self.folder / "a.json").unlink()

    def test_a_drawing_program_that_does_not_start_is_told_before_the_solve(self):
        for command, files in self.commands_that_draw():
            for name in files:
                (self.folder / name).unlink(missing_ok=True)
            for program, words in (("/none", "/none"), ("/bin/false", "could not start")):
                with self.subTest((command, program)):
                    self.refused(*command, "--picture", "a.png", code=4, env={"FMBEM_PICTURE": program}, saying=words)


if __name__ == "__main__":
    unittest.main()
