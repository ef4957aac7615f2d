#!/usr/bin/env python3
"""A smooth surface of a molecule, from a PQR file.

    molecular_surface.py MOLECULE.pqr SURFACE.ply [--spacing 0.5] [--blobbiness 2.5]

The surface is where sum_i exp(b (1 - |x - x_i|^2/r_i^2)) is 1 [Blinn 1982, ACM Trans. Graph. 1], with the
radii r_i of the file and the blobbiness b: close to the balls where these lie free, and smooth between them.
It is no solvent excluded surface: energies on it differ from those on one by some per cent, and change with
b. Atoms of less than 1 angstrom get that radius, so that hydrogens of radius 0 are inside. VTK's marching
cubes makes the triangles, on a grid of that spacing in angstrom, and smooths them. Cavities stay.

Needs numpy and VTK with Python (Debian: python3-numpy, python3-vtk9).
"""

import argparse

import numpy
import vtk
from vtk.util.numpy_support import numpy_to_vtk

LEAST_RADIUS = 1.0


def read_atoms(file):
    """[n][4]: place and radius."""
    atoms = []
    with open(file) as lines:
        for line in lines:
            if line.startswith(("ATOM", "HETATM")):
                x, y, z, _, radius = (float(word) for word in line.split()[-5:])
                atoms.append((x, y, z, max(radius, LEAST_RADIUS)))
    return numpy.array(atoms)


def sample(atoms, spacing, blobbiness):
    """Grid of the logarithm of the sum, and its origin."""
    reach = 2 * atoms[:, 3].max()  # where an atom adds exp(-3 b) at the most
    low = atoms[:, :3].min(axis=0) - reach - spacing
    counts = numpy.ceil((atoms[:, :3].max(axis=0) + reach + spacing - low) / spacing).astype(int) + 1
    total = numpy.full(counts, 1e-30)
    for *place, radius in atoms:
        begin = numpy.maximum(numpy.floor((place - 2 * radius - low) / spacing).astype(int), 0)
        end = numpy.minimum(numpy.ceil((place + 2 * radius - low) / spacing).astype(int) + 1, counts)
        axes = [low[k] + spacing * numpy.arange(begin[k], end[k]) - place[k] for k in range(3)]
        squares = axes[0][:, None, None] ** 2 + axes[1][:, None] ** 2 + axes[2] ** 2
        box = tuple(slice(b, e) for b, e in zip(begin, end))
        total[box] += numpy.exp(blobbiness * (1 - squares / radius ** 2))
    return numpy.log(total), low


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("molecule")
    parser.add_argument("surface")
    parser.add_argument("--spacing", type=float, default=0.5)
    parser.add_argument("--blobbiness", type=float, default=2.5)
    options = parser.parse_args()

    values, origin = sample(read_atoms(options.molecule), options.spacing, options.blobbiness)
    image = vtk.vtkImageData()
    image.SetDimensions(values.shape)
    image.SetOrigin(origin)
    image.SetSpacing(3 * [options.spacing])
    image.GetPointData().SetScalars(numpy_to_vtk(values.ravel(order="F")))
    contour = vtk.vtkFlyingEdges3D()
    contour.SetInputData(image)
    contour.SetValue(0, 0)
    cleaner = vtk.vtkCleanPolyData()
    cleaner.SetInputConnection(contour.GetOutputPort())
    cleaner.SetTolerance(0)
    smoother = vtk.vtkWindowedSincPolyDataFilter()
    smoother.SetInputConnection(cleaner.GetOutputPort())
    smoother.SetNumberOfIterations(20)
    smoother.SetPassBand(0.1)
    writer = vtk.vtkPLYWriter()
    writer.SetInputConnection(smoother.GetOutputPort())
    writer.SetFileName(options.surface)
    writer.SetFileTypeToASCII()
    writer.Write()


if __name__ == "__main__":
    main()
