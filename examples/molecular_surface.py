#!/usr/bin/env python3
"""The solvent excluded surface of a molecule, from a PQR file.

    molecular_surface.py MOLECULE.pqr SURFACE.ply [--probe 1.4] [--spacing 0.5]

A ball of the probe's radius p rolls over the atoms' balls; where it does not get is the molecule [Richards
1977, Annu. Rev. Biophys. Bioeng. 6]. Its surface lies where the distance from the surface that the ball's
centre takes, the atoms' with radii r_i + p, is p [Goddard 2013, in UCSF Chimera, does it on a grid]. That
surface is taken as points, eight for each square of the spacing, less those that another atom covers. VTK's
marching cubes makes the triangles on a grid of distances, of that spacing in angstrom, and smooths them a
little. Cavities that hold a probe stay. Hydrogens of radius 0 lie inside of the atoms that have them.

Needs numpy, scipy and VTK with Python (Debian: python3-numpy, python3-scipy, python3-vtk9).
"""

import argparse

import numpy
import vtk
from scipy.spatial import cKDTree
from vtk.util.numpy_support import numpy_to_vtk

def read_atoms(file):
    """Places [n][3] and radii [n]."""
    atoms = []
    with open(file) as lines:
        for line in lines:
            if line.startswith(("ATOM", "HETATM")):
                x, y, z, _, radius = (float(word) for word in line.split()[-5:])
                atoms.append((x, y, z, radius))
    atoms = numpy.array(atoms)
    return atoms[:, :3], atoms[:, 3]


def on_unit_sphere(n):
    """Evenly: a spiral of the golden angle."""
    k = numpy.arange(n) + 0.5
    z, angle = 1 - 2 * k / n, numpy.pi * (1 + 5 ** 0.5) * k
    across = numpy.sqrt(1 - z * z)
    return numpy.stack([across * numpy.cos(angle), across * numpy.sin(angle), z], axis=1)


def surface_of_centres(places, radii, area):
    """Points of the spheres' exposed parts, one for each `area`."""
    tree, largest, points = cKDTree(places), radii.max(), []
    for k, (place, radius) in enumerate(zip(places, radii)):
        own = place + radius * on_unit_sphere(int(4 * numpy.pi * radius ** 2 / area) + 1)
        near = [j for j in tree.query_ball_point(place, radius + largest) if j != k]
        squares = ((own[:, None] - places[near]) ** 2).sum(axis=2)
        points.append(own[(squares >= radii[near] ** 2 * (1 - 1e-9)).all(axis=1)])
    return numpy.concatenate(points)


def sample(places, radii, probe, spacing):
    """Distance less probe at the points of a grid, positive in the molecule, and the grid's origin."""
    margin = radii.max() + probe + spacing
    low = places.min(axis=0) - margin
    counts = numpy.ceil((places.max(axis=0) + margin - low) / spacing).astype(int) + 1
    inside = numpy.zeros(counts, bool)
    for place, radius in zip(places, radii + probe):
        begin = numpy.maximum(numpy.floor((place - radius - low) / spacing).astype(int), 0)
        end = numpy.minimum(numpy.ceil((place + radius - low) / spacing).astype(int) + 1, counts)
        axes = [low[k] + spacing * numpy.arange(begin[k], end[k]) - place[k] for k in range(3)]
        squares = axes[0][:, None, None] ** 2 + axes[1][:, None] ** 2 + axes[2] ** 2
        inside[tuple(slice(b, e) for b, e in zip(begin, end))] |= squares < radius ** 2
    tree = cKDTree(surface_of_centres(places, radii + probe, spacing ** 2 / 8))
    values = numpy.full(counts, -probe)
    chosen = numpy.argwhere(inside)
    far = probe + 2 * spacing  # deeper inside, distances do not matter
    distance, _ = tree.query(low + spacing * chosen, distance_upper_bound=far)
    values[inside] = numpy.minimum(distance, far) - probe
    return values, low


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("molecule")
    parser.add_argument("surface")
    parser.add_argument("--probe", type=float, default=1.4)
    parser.add_argument("--spacing", type=float, default=0.5)
    options = parser.parse_args()

    values, origin = sample(*read_atoms(options.molecule), options.probe, options.spacing)
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
    smoother.SetPassBand(0.2)
    writer = vtk.vtkPLYWriter()
    writer.SetInputConnection(smoother.GetOutputPort())
    writer.SetFileName(options.surface)
    writer.SetFileTypeToASCII()
    writer.Write()


if __name__ == "__main__":
    main()
