"""Molecules and surfaces that tests of fmbem solvate and bind make."""

import importlib.util

from harness import ROOT

spec = importlib.util.spec_from_file_location("solvation_spheres", ROOT / "bench" / "solvation_spheres.py")
spheres = importlib.util.module_from_spec(spec)
spec.loader.exec_module(spheres)


def atom(place, charge, radius=1):
    """A line of a PQR file."""
    return "ATOM 1 NA ION A 1 {} {} {} {} {}\n".format(*place, charge, radius)


def sphere_file(folder, name, level, radius, centre=(0, 0, 0), turned=False):
    """An octahedron whose faces are split `level` times and pushed to the sphere; returns its name."""
    points, faces = spheres.octahedron(level, radius)
    points = [tuple(u + c for u, c in zip(x, centre)) for x in points]
    if turned:
        faces = [(a, c, b) for a, b, c in faces]
    spheres.write_off(folder / name, points, faces)
    return name
