"""What the program writes is read by the programs of others, and it reads what they write."""

import importlib
import unittest

from harness import CUBE, ProgramTest


def library(name):
    """A library that other programs read files with; the test is skipped where it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise unittest.SkipTest(f"Python's {name} is not installed")


class Written(ProgramTest):
    def written(self):
        panels = self.report("capacitance", self.two_tetrahedra_file(), "--refine", "1",
                             "--output", "two.vtu")["mesh"]["panels"]
        self.assertEqual(panels, 32)
        return str(self.folder / "two.vtu")

    def test_meshio_reads_surfaces(self):
        mesh = library("meshio").read(self.written())
        self.assertEqual(mesh.cells[0].type, "triangle")
        self.assertEqual(mesh.cells[0].data.shape, (32, 3))
        groups = mesh.cell_data["group"][0]
        numbers = {name: int(value.flat[0]) for name, value in mesh.field_data.items()}
        self.assertEqual(numbers, {"left": 0, "right": 1})
        centres = mesh.points[mesh.cells[0].data].mean(axis=1)
        self.assertTrue(((centres[:, 0] > 1.5) == (groups == numbers["right"])).all())
        for name in ("left", "right"):
            charge = mesh.cell_data[f"charge density [C/m^2], {name} at 1 V"][0]
            self.assertTrue((charge[groups == numbers[name]] > 0).all())

    def test_vtk_reads_surfaces_and_shows_the_charge(self):
        vtk = library("vtk")
        reader = vtk.vtkXMLUnstructuredGridReader()
        reader.SetFileName(self.written())
        reader.Update()
        grid = reader.GetOutput()
        self.assertEqual(grid.GetNumberOfCells(), 32)
        self.assertIsNone(grid.GetPointData().GetScalars())
        self.assertEqual(grid.GetCellData().GetScalars().GetName(),
                         "charge density [C/m^2], left at 1 V")
        self.assertEqual(grid.GetFieldData().GetArray("right").GetValue(0), 1)

    def test_both_read_planes(self):
        self.fmbem("field", CUBE, "--plane", "-1,-1,2,3,0,0,0,3,0,300,300", "--output", "p.vtu")
        path = str(self.folder / "p.vtu")
        vtk, meshio = library("vtk"), library("meshio")
        reader = vtk.vtkXMLUnstructuredGridReader()
        reader.SetFileName(path)
        reader.Update()
        grid = reader.GetOutput()
        self.assertEqual(grid.GetNumberOfPoints(), 90000)
        self.assertEqual(grid.GetPointData().GetScalars().GetName(), "potential [V]")
        self.assertEqual(grid.GetPointData().GetVectors().GetName(), "E [V/m]")
        mesh = meshio.read(path)
        potential = mesh.point_data["potential [V]"]
        for i in (0, 1, 45150, 89999):
            self.assertEqual(grid.GetPointData().GetScalars().GetValue(i), potential[i])
        self.assertEqual(mesh.cells[0].data.shape, (299 * 299, 4))


if __name__ == "__main__":
    unittest.main()
