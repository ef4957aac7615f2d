#!/usr/bin/env python3
"""Iterations of fmbem solve on dielectrics that are hard for the preconditioner of mixed rows.

    bench/mixed_iterations.py build/release/cli/fmbem FILE.csv [--panels 4000,16000,65000]
        [--cases substrate,spheres] [--backend cpu]

Bodies of permittivity 1e4 in a uniform field: two spheres 0.01 apart, shells and plates 0.01 and 0.001 thick; and a
conducting plate of no thickness on a substrate of 1e4, at 1 V. Spheres are octahedra whose faces are divided into n²
triangles, plates have n cells along an edge and one across. Writes and prints a row for each case and size."""

import argparse
import json
import math
import pathlib
import shlex
import subprocess
import sys
import tempfile

from nbody_runs import measured, write_rows

CONTRAST = 1e4


class Mesh:
    """Triangles in named groups, with the vertices that they share."""

    def __init__(self):
        self.vertices, self.places, self.groups = [], {}, {}

    def vertex(self, x):
        # Rounded for the key alone, so that sides of a body that meet share their vertices.
        return self.places.setdefault(tuple(round(u, 9) for u in x), len(self.places) + 1)

    def add(self, group, *corners):
        for x in corners:
            if self.vertex(x) > len(self.vertices):
                self.vertices.append(x)
        self.groups.setdefault(group, []).append([self.vertex(x) for x in corners])

    def quadrilaterals(self, group_of, n, m, at):
        """n by m of them, each as two triangles: at(i, j) are the corners."""
        for i in range(n):
            for j in range(m):
                a, b, c, d = at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)
                group = group_of([sum(u) / 4 for u in zip(a, b, c, d)])
                self.add(group, a, b, c)
                self.add(group, a, c, d)

    def sphere(self, group, n, radius, centre=0.0):
        """Around (centre, 0, 0), of 8 n² triangles."""
        for signs in [(x, y, z) for x in (1, -1) for y in (1, -1) for z in (1, -1)]:
            def at(i, j):
                x = [s * u for s, u in zip(signs, (i, j, n - i - j))]
                size = radius / math.hypot(*x)
                return (centre + size * x[0], size * x[1], size * x[2])

            turned = math.prod(signs) < 0
            for i in range(n):
                for j in range(n - i):
                    upward = [at(i, j), at(i + 1, j), at(i, j + 1)]
                    self.add(group, *(reversed(upward) if turned else upward))
                    if j + 1 < n - i:
                        downward = [at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]
                        self.add(group, *(reversed(downward) if turned else downward))

    def box(self, group_of, n, m, low, high):
        """n by n by m cells on the sides of a box."""
        cells = (n, n, m)

        def at(axis, side):
            u, v = ((axis + 1) % 3, (axis + 2) % 3) if side else ((axis + 2) % 3, (axis + 1) % 3)

            def corner(i, j):
                x = [0.0] * 3
                x[axis] = (low, high)[side][axis]
                for k, place in ((u, i), (v, j)):
                    x[k] = low[k] + (high[k] - low[k]) * place / cells[k]
                return tuple(x)

            return cells[u], cells[v], corner

        for axis in range(3):
            for side in (0, 1):
                self.quadrilaterals(group_of, *at(axis, side))

    def panels(self):
        return sum(map(len, self.groups.values()))

    def write(self, path):
        names = list(self.groups)
        lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", str(len(names))]
        lines += [f'2 {k + 1} "{name}"' for k, name in enumerate(names)]
        lines += ["$EndPhysicalNames", "$Nodes", str(len(self.vertices))]
        lines += [f"{k + 1} {x!r} {y!r} {z!r}" for k, (x, y, z) in enumerate(self.vertices)]
        lines += ["$EndNodes", "$Elements", str(self.panels())]
        triangles = [(k + 1, *corners) for k, name in enumerate(names) for corners in self.groups[name]]
        lines += [f"{i + 1} 2 2 {k} {k} {a} {b} {c}" for i, (k, a, b, c) in enumerate(triangles)]
        path.write_text("\n".join([*lines, "$EndElements", ""]))


def interface(inside, outside):
    return {"interface": True, "inside": inside, "outside": outside}


def problem(groups, **more):
    regions = {"body": {"permittivity": CONTRAST}, "air": {"permittivity": 1}}
    return {"version": 1, "regions": regions, "outside": "air", "groups": groups, **more}


FIELD = {"sources": {"field": [0.3, 0.5, 1]}}


def spheres(panels):
    mesh, n = Mesh(), round(math.sqrt(panels / 16))
    mesh.sphere("left", n, 1, -1.005)
    mesh.sphere("right", n, 1, 1.005)
    return mesh, problem({name: interface("body", "air") for name in ("left", "right")}, **FIELD)


def shell(panels, thickness):
    mesh, n = Mesh(), round(math.sqrt(panels / 16))
    mesh.sphere("outer", n, 1)
    mesh.sphere("inner", n, 1 - thickness)
    return mesh, problem({"outer": interface("body", "air"), "inner": interface("air", "body")}, **FIELD)


def plate(panels, thickness):
    mesh, n = Mesh(), round(math.sqrt(panels / 4))
    mesh.box(lambda middle: "plate", n, 1, (0, 0, 0), (1, 1, thickness))
    return mesh, problem({"plate": interface("body", "air")}, **FIELD)


def substrate(panels):
    n = 6 * round(math.sqrt(panels / 4 / 1.4) / 6)
    mesh = Mesh()

    def group_of(middle):
        return "plate" if middle[2] > 0.1999 and max(abs(u - 0.5) for u in middle[:2]) < 1 / 6 else "substrate"

    mesh.box(group_of, n, max(1, n // 5), (0, 0, 0), (1, 1, 0.2))
    plate_on_it = {"conductor": {"potential": 1}, "inside": "body", "outside": "air"}
    return mesh, problem({"plate": plate_on_it, "substrate": interface("body", "air")})


CASES = {"spheres": ("two spheres 0.01 apart", spheres),
         "shell 0.01": ("shell 0.01 thick", lambda panels: shell(panels, 0.01)),
         "shell 0.001": ("shell 0.001 thick", lambda panels: shell(panels, 0.001)),
         "plate 0.01": ("plate 0.01 thick", lambda panels: plate(panels, 0.01)),
         "plate 0.001": ("plate 0.001 thick", lambda panels: plate(panels, 0.001)),
         "substrate": ("plate of no thickness on a substrate", substrate)}


def solve(program, folder, backend, mesh, file):
    mesh.write(folder / "case.msh")
    (folder / "case.json").write_text(json.dumps(file))
    words = ["solve", "case.msh", "--problem", "case.json", "--backend", backend, "--json", "report.json", "--quiet"]
    subprocess.run([program, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return json.loads((folder / "report.json").read_text())


def rows(options):
    command = ["bench/mixed_iterations.py", *map(shlex.quote, sys.argv[1:])]
    for case in options.cases.split(","):
        name, make = CASES[case]
        for panels in options.panels.split(","):
            mesh, file = make(int(panels))
            with tempfile.TemporaryDirectory() as folder:
                report = solve(options.program.resolve(), pathlib.Path(folder), options.backend, mesh, file)
            solver = report["solver"]
            yield {"case": name, "panels": report["mesh"]["panels"], "iterations": max(solver["iterations"]),
                   "true residual": f'{max(solver["true_residuals"]):.1e}', **measured(command, report["run"]["commit"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("--panels", default="4000,16000,65000", help="about as many")
    parser.add_argument("--cases", default=",".join(CASES), help="some of " + ", ".join(CASES))
    parser.add_argument("--backend", default="cpu")
    options = parser.parse_args()
    write_rows(options.csv, rows(options))


if __name__ == "__main__":
    main()
