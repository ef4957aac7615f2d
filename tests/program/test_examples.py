"""The examples of problems: the commands of docs/examples.md, and that their numbers keep the bounds
that are stated there."""

import csv
import math
import re
import struct
import unittest

from harness import ROOT, ProgramTest, draws_pictures, leave_out, read_vtu

EPSILON_0 = 8.8541878128e-12
PAGE = (ROOT / "docs" / "examples.md").read_text()

ALL_COMMANDS = [line.split()[1:] for block in re.findall(r"```sh\n(.*?)```", PAGE, re.S)
                for line in block.splitlines()]
# Of examples whose numbers are those of other points.
PICTURES_ALONE = [command for command in ALL_COMMANDS if "--picture" in command and "--output" not in command
                  and any(other[1] == command[1] and "--output" in other and "--picture" not in other
                          for other in ALL_COMMANDS)]


def commands_of(name):
    """Lists of arguments of fmbem, all of the page that give numbers of this example."""
    return [command for command in ALL_COMMANDS
            if f"/{name}.geo" in " ".join(command) and command not in PICTURES_ALONE]


def potential_on_layers(radii, conductivities, place, moment, x):
    """Of a dipole in the innermost of concentric layers, at x on the insulated outermost radius, by
    Legendre's polynomials: with A rⁿ + B r^−(n+1) in each layer, from outside inwards."""
    dot = lambda a, b: sum(u * v for u, v in zip(a, b))
    d, r = math.hypot(*place), math.hypot(*x)
    axis = [c / d for c in place]
    cosine, radial = dot(axis, x) / r, dot(moment, axis)
    across = dot(moment, x) / r - cosine * radial
    total, p, before, slope, slope_before = 0, 1, 0, 0, 0
    for n in range(120):
        if n > 0:
            # φ = 1 and no current at the outermost radius; lengths in it.
            potential, flux = 1, 0
            for k in reversed(range(len(radii))):
                s = radii[k] / radii[-1]
                gradient = s * flux / conductivities[k]
                a = ((n + 1) * potential + gradient) / (2 * n + 1) * s ** -n
                b = (n * potential - gradient) / (2 * n + 1) * s ** (n + 1)
                if k > 0:
                    s = radii[k - 1] / radii[-1]
                    potential = a * s ** n + b * s ** (-n - 1)
                    flux = conductivities[k] * (n * a * s ** (n - 1) - (n + 1) * b * s ** (-n - 2))
            total += (n * p * radial + slope * across) * (d / radii[-1]) ** (n - 1) / b
        p, before, slope, slope_before = (((2 * n + 1) * cosine * p - n * before) / (n + 1), p,
                                          slope_before + (2 * n + 1) * p, slope)
    return total / (4 * math.pi * conductivities[0] * radii[-1] ** 2)


class Examples(ProgramTest):
    def setUp(self):
        super().setUp()
        (self.folder / "examples").symlink_to(ROOT / "examples")

    def without_picture(self, command):
        """The same command for a build that draws none."""
        drops = [command.index(word) for word in ("--cut", "--plane", "--picture") if word in command]
        return [word for k, word in enumerate(command) if k not in drops and k - 1 not in drops]

    def run_whole(self, command, run):
        """Runs a command, and checks its picture."""
        done = run(*(command if draws_pictures() else self.without_picture(command)))
        if draws_pictures() and "--picture" in command:
            self.is_picture(command)
        return done

    def conductors(self, command):
        """(potential, charge or current) of each conductor by its name."""
        report = self.run_whole(command, self.report)
        results = report["results"]
        flux = results.get("charge_C") or results["current_A"]
        names = [conductor["name"] for conductor in report["conductors"]]
        return dict(zip(names, zip(results["conductor_potential_V"]["value"], flux["value"])))

    def points(self, name):
        """Rows {heading: number} of the table that the only command of an example writes."""
        [command] = commands_of(name)
        self.fmbem(*command)
        with open(self.folder / command[command.index("--output") + 1], newline="") as file:
            return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]

    def close(self, value, formula, bound):
        self.assertLess(abs(value / formula - 1), bound, f"{value} is not {formula}")

    def test_every_example_has_a_place_on_the_page_and_a_test(self):
        for file in sorted((ROOT / "examples" / "problems").glob("*.geo")):
            name = file.stem
            self.assertTrue(file.with_suffix(".json").exists(), name)
            self.assertTrue(commands_of(name), name)
            self.assertTrue(hasattr(self, f"test_{name}"), name)
            image = name.replace("_", "-") + ".png"
            self.assertIn(f"](images/{image})", PAGE)
            self.assertTrue((ROOT / "docs" / "images" / image).exists(), image)
            self.assertEqual(sum(image in command for command in ALL_COMMANDS), 1, image)

    def test_pictures(self):
        self.assertEqual(len(PICTURES_ALONE), 5)
        if not draws_pictures():
            leave_out("this build draws no pictures")
        for command in PICTURES_ALONE:
            with self.subTest(command):
                self.run_whole(command, self.fmbem)

    def is_picture(self, command):
        """Whether a command has drawn one: 1200 x 900 pixels that are not all white."""
        data = (self.folder / command[command.index("--picture") + 1]).read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", data[16:24]), (1200, 900))
        self.assertGreater(len(data), 15000)

    def test_microstrip(self):
        """Hammerstad and Jensen's formulas of ε_eff and of the wave impedance in vacuum."""
        u, permittivity = 1.8 / 0.813, 3.55
        f = 6 + (2 * math.pi - 6) * math.exp(-(30.666 / u) ** 0.7528)
        impedance = 376.730313668 / (2 * math.pi) * math.log(f / u + math.sqrt(1 + 4 / u ** 2))
        a = (1 + math.log((u ** 4 + (u / 52) ** 2) / (u ** 4 + 0.432)) / 49
             + math.log(1 + (u / 18.1) ** 3) / 18.7)
        b = 0.564 * ((permittivity - 0.9) / (permittivity + 3)) ** 0.053
        effective = (permittivity + 1) / 2 + (permittivity - 1) / 2 * (1 + 10 / u) ** (-a * b)
        formula = effective / (299792458 * impedance)
        short, long = [self.conductors(command)["strip"][1] for command in commands_of("microstrip")]
        self.close(2 * (long - short) / 10e-3, formula, 0.03)

    def test_touch_sensor(self):
        [command] = commands_of("touch_sensor")
        capacitance = -4 * self.conductors(command)["finger"][1]
        plates = EPSILON_0 * 7 * math.pi * 4e-3 ** 2 / 1.5e-3
        self.assertGreater(capacitance, plates)
        self.assertLess(capacitance, 1.4 * plates)

    def test_via(self):
        [command] = commands_of("via")
        rule_of_thumb = 1.41e-12 * 4.2 * (1.5 / 25.4) * 1 / (1.5 - 1)  # inches cancel in the diameters
        self.close(8 * self.conductors(command)["via"][1], rule_of_thumb, 0.2)

    def test_ion_trap(self):
        for row in self.points("ion_trap"):
            z = 1e-3 * row["z [mm]"]
            self.close(row["Ez [V/m]"], 2 * 100 * z / 0.01 ** 2, 0.015)

    def test_lens(self):
        def bessel_i0(x):
            term = total = 1
            for k in range(1, 100):
                term *= (x / (2 * k)) ** 2
                total += term
            return total

        def integrand(k, gap=0.1):  # over the radius
            return math.sin(k * gap / 2) / (k * gap / 2) / bessel_i0(k)

        n, end = 400, 40
        integral = sum(integrand((i + 0.5) * end / n) for i in range(n)) * end / n
        middle = self.points("lens")[0]
        self.close(middle["Ez [V/m]"], -1000 / (math.pi * 0.01) * integral, 0.01)

    def test_tissue(self):
        [command] = commands_of("tissue")
        resistance = ((1 / 0.5e-3 - 1 / 0.8e-3) / 0.1 + 1 / (0.8e-3 * 0.27)) / (2 * math.pi)
        self.close(self.conductors(command)["tip"][0], 1e-3 * resistance, 0.01)

    def test_resonator(self):
        for row in self.points("resonator"):
            self.close(row["Ez [V/m]"], 3 / (9.5 + 2) * 1000, 0.01)

    def test_insulator(self):
        for row in self.points("insulator"):
            self.close(row["Ez [V/m]"], -10e3 / 0.02, 0.005)

    def test_capacitor(self):
        [command] = commands_of("capacitor")
        plates = self.conductors(command)
        self.close(plates["floating"][0], 10, 0.03)
        self.assertLess(abs(plates["floating"][1]), 1e-6 * plates["upper"][1])

    def test_lightning_rod(self):
        height, radius, field = 2, 0.1, 10e3
        c = math.sqrt(height ** 2 - radius ** 2)

        def f(z):
            return math.atanh(c / z) - c / z

        row = self.points("lightning_rod")[0]
        z = row["z [m]"]
        slope = -c ** 3 / (z ** 2 * (z ** 2 - c ** 2))  # of F
        self.close(row["Ez [V/m]"], field * (1 - (f(z) + z * slope) / f(height)), 0.015)
        e = c / height
        depolarization = (1 - e * e) / e ** 3 * (math.atanh(e) - e)
        [command] = commands_of("lightning_rod")
        charge = 4 * self.conductors(command)["rod"][1]
        self.close(charge, EPSILON_0 * math.pi * radius ** 2 * field / depolarization, 0.015)

    def test_shunt(self):
        [command] = commands_of("shunt")
        contacts = self.conductors(command)
        potential, current = contacts["right"]
        self.close(potential / current, 20e-3 / (2.3e6 * 10e-6), 0.02)
        self.close(contacts["left"][1], -current, 1e-4)

    def test_head(self):
        """Potentials on the scalp, without their mean: the relative difference of their shape (RDM)
        and of their size (MAG)."""
        [command] = commands_of("head")
        self.run_whole(command, self.fmbem)
        arrays = read_vtu(self.folder / "head.vtu")
        points, corners = arrays["Points"], arrays["connectivity"]
        found, known = [], []
        for t, potential in enumerate(arrays["potential [V]"]):
            x = [sum(points[3 * v + k] for v in corners[3 * t:3 * t + 3]) / 3e3 for k in range(3)]
            if math.hypot(*x) < 0.096:
                continue  # on the skull or the brain
            x = [c * 0.1 / math.hypot(*x) for c in x]
            found.append(potential)
            known.append(potential_on_layers([0.087, 0.092, 0.1], [0.33, 0.33 / 80, 0.33],
                                             [0, 0, 0.0435], [0, 6e-9, 8e-9], x))

        def direction(values):
            mean = sum(values) / len(values)
            length = math.sqrt(sum((v - mean) ** 2 for v in values))
            return [(v - mean) / length for v in values], length

        (found, found_length), (known, known_length) = direction(found), direction(known)
        self.assertGreater(len(found), 500)
        self.assertLess(math.dist(found, known), 0.04)
        self.close(found_length, known_length, 0.03)


if __name__ == "__main__":
    unittest.main()
