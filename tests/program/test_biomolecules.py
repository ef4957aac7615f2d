"""The commands of docs/biomolecules.md that take a PDB entry to a picture, and the surface that
examples/molecular_surface.py makes."""

import math
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

from harness import ROOT, ProgramTest, draws_pictures, leave_out
from solvation_files import atom

PYTHON = "/usr/bin/python3"  # which has Debian's packages
BLOCK = re.search(r"```shell\n(.*?)```", (ROOT / "docs" / "biomolecules.md").read_text(), re.S).group(1)


class Biomolecules(ProgramTest):
    def setUp(self):
        super().setUp()
        (self.folder / "examples").symlink_to(ROOT / "examples")
        try:
            subprocess.run([PYTHON, "-c", "import numpy, scipy.spatial, vtk"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            leave_out("python3-numpy, python3-scipy and python3-vtk9 are not installed")

    def run_line(self, line):
        words = shlex.split(line)
        if words[0] == "fmbem":
            return self.report(*words[1:])
        words[0] = PYTHON if words[0] == "python3" else words[0]
        subprocess.run(words, check=True, capture_output=True, cwd=self.folder, timeout=300)
        return None

    def test_from_a_pdb_entry_to_a_picture(self):
        lines = BLOCK.splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["pdb2pqr30", "python3", "fmbem", "pymol"])
        for file in ("/usr/share/pymol/data/demo/pept.pdb", shutil.which("pdb2pqr30")):
            if not file or not pathlib.Path(file).exists():
                leave_out("pdb2pqr and pymol-data are not installed")
        if not draws_pictures():
            leave_out("this build draws no pictures")
        for line in lines[:2]:
            self.run_line(line)
        report = self.run_line(lines[2])
        self.assertEqual(report["solvation"]["atoms"], 200)
        self.assertAlmostEqual(report["solvation"]["charge_e"], -2, places=6)
        # On 12,156 panels; on 3032 (spacing 1) it is -198, and the limit some -171 (docs/biomolecules.md).
        energy = report["results"]["solvation_energy_kcal_per_mol"]["value"]
        self.assertLess(abs(energy + 175), 3)
        picture = (self.folder / "pept.png").read_bytes()
        self.assertTrue(picture.startswith(b"\x89PNG"))
        if shutil.which("pymol"):
            done = subprocess.run(["pymol", "-cq", "pept.pml", "-d", "print('THERE', *cmd.get_names())"],
                                  capture_output=True, text=True, cwd=self.folder, timeout=300,
                                  env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)})
            self.assertIn("THERE molecule potential", done.stdout)

    def test_the_surface_of_two_balls(self):
        """They touch the rolling probe along the saddle of its torus, which does not reach the axis. The
        volume is that of the balls' caps beyond the circles of contact and of the saddle between these."""
        a, probe, half = 2.0, 1.5, 1.8
        self.write("two.pqr", atom((-half, 0, 0), 1, a) + atom((half, 0, 0), 1, a))
        subprocess.run([PYTHON, "examples/molecular_surface.py", "two.pqr", "two.ply", "--probe", str(probe),
                        "--spacing", "0.35"], check=True, cwd=self.folder, capture_output=True)
        mesh = self.report("mesh-info", "two.ply", "--unit", "angstrom")["mesh"]
        self.assertTrue(mesh["closed"])
        ring = math.sqrt((a + probe) ** 2 - half ** 2)  # of the probe's centres, about the axis
        contact = half * probe / (a + probe)  # how far from the middle the saddle reaches
        n = 2000
        saddle = sum(2 * math.pi * (ring - math.sqrt(probe ** 2 - ((k + 0.5) * contact / n) ** 2)) ** 2
                     for k in range(n)) * contact / n
        h = half - contact  # from the middle of a ball to the circle of contact
        caps = 2 * math.pi * (2 * a ** 3 / 3 + a * a * h - h ** 3 / 3)
        # Triangles of 0.35 are up to 0.35^2/8 below a ball of 2, 0.8 % of its radius, 2.3 % of its volume.
        self.assertLess(abs(self.volume("two.ply") / (saddle + caps) - 1), 0.023)

    def volume(self, name):
        lines = iter((self.folder / name).read_text().splitlines())
        counts = {}
        for line in lines:
            if line.startswith("element"):
                counts[line.split()[1]] = int(line.split()[2])
            if line == "end_header":
                break
        numbers = [float(word) for line in lines for word in line.split()]
        points = [numbers[3 * k:3 * k + 3] for k in range(counts["vertex"])]
        at, volume = 3 * counts["vertex"], 0
        for _ in range(counts["face"]):
            a, b, c = (points[int(k)] for k in numbers[at + 1:at + 4])
            at += 4
            volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
                       + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6
        return abs(volume)


if __name__ == "__main__":
    unittest.main()
