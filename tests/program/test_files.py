"""What the program writes is read by the programs of others, and it reads what they write."""

import importlib
import os
import random
import struct
import subprocess
import tempfile
import pathlib
import unittest

from harness import CUBE, PROGRAM, READER, ProgramTest, leave_out, release_alone

FUZZ = os.environ["FMBEM_FUZZ"]
TETRAHEDRON = 1.5 + 3 ** 0.5 / 2  # its area
AREAS = {".step": 6e-6, ".brep": 6, ".iges": 6, ".msh": 6}  # of cubes; the .step's is in mm


def library(name):
    """A library that other programs read files with; the test is left out where it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        leave_out(f"Python's {name} is not installed")


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

    def test_any_name_of_a_net_gives_files_that_others_read(self):
        meshio = library("meshio")
        nets = ["--conductor", 'a\n"b=left', "--conductor", "a 'b=right"]
        for net in (["--conductor", 230 * "x" + "=left", "--conductor", 230 * "x" + "y=right"], nets):
            for output in ("out.vtu", "out.msh"):
                with self.subTest(net=net, output=output):
                    self.fmbem("capacitance", self.two_tetrahedra_file(), *net, "--output", output)
                    data = meshio.read(self.folder / output).cell_data
                    self.assertEqual(len([name for name in data if name.startswith("charge density")]), 2)
                    self.assertEqual(self.report("mesh-info", output)["mesh"]["panels"], 8)
        self.assertIn("charge density [C/m^2], a 'b at 1 V (2)", data)

    def test_times_of_other_programs_name_no_group(self):
        path = pathlib.Path(self.written())
        time = (b'<FieldData><DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">0'
                b'</DataArray>')
        self.assertIn(b"<FieldData>", path.read_bytes())
        path.write_bytes(path.read_bytes().replace(b"<FieldData>", time))
        groups = self.report("mesh-info", path)["mesh"]["groups"]
        self.assertEqual([group["name"] for group in groups], ["left", "right"])

    def written_by_vtk(self, cell_arrays, numbers, kind="vtkIntArray"):
        """A .vtu of fmbem's as VTK writes it again, with some of its cell arrays and with other numbers in
        the field data, by name."""
        vtk = library("vtk")
        self.fmbem("mesh", self.two_tetrahedra_file(), "--output", "two.vtu")
        reader = vtk.vtkXMLUnstructuredGridReader()
        reader.SetFileName(str(self.folder / "two.vtu"))
        reader.Update()
        grid = reader.GetOutput()
        for name in {"group", "element_tag"} - set(cell_arrays):
            grid.GetCellData().RemoveArray(name)
        grid.GetFieldData().Initialize()
        for name, number in numbers.items():
            array = getattr(vtk, kind)()
            array.SetName(name)
            array.InsertNextTuple1(number)
            grid.GetFieldData().AddArray(array)
        writer = vtk.vtkXMLUnstructuredGridWriter()
        writer.SetFileName(str(self.folder / "again.vtu"))
        writer.SetInputData(grid)
        writer.Write()
        return "again.vtu"

    def groups(self, *arguments):
        mesh = self.report("mesh-info", self.written_by_vtk(*arguments))["mesh"]
        return [group["name"] for group in mesh["groups"]]

    def test_numbers_of_other_programs_name_no_group(self):
        components = ["component 1", "component 2"]
        for name in ("CYCLE", "cycle", "TimeStep", "time_step", "TIME"):
            for number in (0, 1, 7):
                self.assertEqual(self.groups(["group"], {name: number}), components)
        self.assertEqual(self.groups(["group"], {"steps": 7, "rank": -1}), components)
        self.assertEqual(self.groups(["group"], {"CYCLE": 0, "a": 0, "steps": 9, "b": 1}), ["a", "b"])
        self.assertEqual(self.groups(["group"], {"a": 0, "b": 1}, "vtkDoubleArray"), components)
        self.assertEqual(self.groups([], {"a": 0, "b": 1}), components)
        for numbers, saying in (({"a": 0, "b": 1, "steps": 1}, "has two names, 'b' and 'steps'"),
                                ({"a": 0, "CYCLE": 1}, "is in a group that has no name")):
            path = self.written_by_vtk(["group"], numbers)
            self.refused("mesh-info", path, saying=[path, saying])

    def test_a_net_may_have_the_name_of_a_number_of_others(self):
        own = ["group", "element_tag"]
        self.assertEqual(self.groups(own, {"CYCLE": 0, "right": 1}), ["CYCLE", "right"])
        self.assertEqual(self.groups(own, {"CYCLE": 0, "left": 0, "right": 1}), ["left", "right"])

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


class Read(ProgramTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="fmbem-test-")
        cls.addClassCleanup(folder.cleanup)
        subprocess.run([FUZZ, "--write-valid", folder.name], check=True, capture_output=True)
        cls.files = sorted(pathlib.Path(folder.name).iterdir())
        cls.valid = {path.name: path.read_bytes() for path in cls.files}
        for name in ("lf.obj", "ascii.vtk"):
            done = subprocess.run([PROGRAM, "mesh-info", f"{folder.name}/{name}"],
                                  capture_output=True, text=True)
            if "built without" in done.stderr:
                leave_out(done.stderr)

    def area(self, path, *options):
        """In m²: CAD files are told in their own unit."""
        mesh = self.report("mesh-info", path, *options)["mesh"]
        return mesh["scale_to_m"] ** 2 * sum(group["area"] for group in mesh["groups"])

    def refuse(self, name, content, saying="is damaged"):
        path = self.write(name, content)
        self.refused("mesh-info", path, saying=(path, saying))

    def changed(self, name, old, new):
        self.assertIn(old, self.valid[name])
        return self.valid[name].replace(old, new, 1)

    def refuse_changed(self, name, old, new, saying="is damaged"):
        with self.subTest(name=name, new=new):
            self.refuse(name, self.changed(name, old, new), saying)

    def test_every_variant(self):
        self.assertGreater(len(self.files), 20)
        for path in self.files:
            with self.subTest(path.name):
                self.assertAlmostEqual(self.area(path) / AREAS.get(path.suffix, TETRAHEDRON), 1)

    def test_parts_of_a_mesh(self):
        """Physical groups are those of the parts; what is no part and no entity is refused."""
        for name in ("parts-ascii.msh", "parts-binary.msh"):
            self.assertIn(b"$PartitionedEntities", self.valid[name])
            groups = self.report("mesh-info", self.write(name, self.valid[name]))["mesh"]["groups"]
            self.assertEqual([group["name"] for group in groups], ["VDD"])
        head, tail = self.valid["parts-ascii.msh"].split(b"$PartitionedEntities\n")
        self.refuse("cut.msh", head + tail.split(b"$EndPartitionedEntities\n")[1], "the unknown entity")
        self.refuse("many.msh", head + b"$PartitionedEntities\n2\n999999999\n" + tail.split(b"\n", 2)[2],
                    "announces 999999999 ghost entities")

    def test_files_of_other_programs(self):
        meshio = library("meshio")
        mesh = meshio.read(self.folder / self.write("a.ply", self.valid["ascii.ply"]))
        for name, options in [("b.vtk", {"binary": True}), ("c.vtk", {"binary": False}),
                              ("d.vtu", {"compression": "lzma"}), ("e.vtu", {"compression": None}),
                              ("f.vtu", {"binary": False}), ("g.ply", {"binary": True}),
                              ("h.obj", {}), ("i.off", {}), ("j.stl", {"binary": True})]:
            with self.subTest(name):
                mesh.write(self.folder / name, **options)
                self.assertAlmostEqual(self.area(name), TETRAHEDRON, places=6)

    def test_a_written_file_keeps_its_conductors(self):
        self.fmbem("capacitance", self.two_tetrahedra_file(), "--output", "two.vtu")
        report = self.report("capacitance", "two.vtu")
        self.assertEqual([g["name"] for g in report["mesh"]["groups"]], ["left", "right"])

    def test_a_mesh_size_is_for_geometry(self):
        self.refused("mesh-info", self.write("a.obj", self.valid["lf.obj"]), "--mesh-size", "1",
                     saying="holds a mesh already")

    def test_empty_and_noise(self):
        noise = random.Random(2).randbytes(5000)
        for ending in sorted({path.suffix for path in self.files}):
            with self.subTest(ending):
                self.refuse("empty" + ending, "", saying="is empty")
                self.refuse("noise" + ending, noise, "Could not read" if ending == ".iges" else "is damaged")

    def test_truncated(self):
        """Half of a file is no file; what an .obj holds is read as far as it goes."""
        for name, content in self.valid.items():
            if not name.endswith((".obj", ".iges")):
                with self.subTest(name):
                    self.refuse(name, content[:len(content) // 2])

    def test_coordinates_that_are_no_numbers(self):
        for bad, of_vtu in [(b"nan", "a coordinate is NaN"), (b"inf", "a coordinate is infinite"),
                            (b"x", "is damaged")]:
            of_stl = f"in line 5 the coordinate '{bad.decode()}' is no finite number"
            for name, line, saying in [("lf.obj", b"v 0 1 0", "is damaged"), ("lf.off", b"\n0 1 0", "is damaged"),
                                       ("ascii.ply", b"\n0 1 0", "is damaged"),
                                       ("ascii.vtk", b"\n0 1 0", "is damaged"),
                                       ("ascii.vtu", b"\n0 1 0", of_vtu), ("ascii.stl", b"vertex 0 1 0", of_stl)]:
                with self.subTest(name=name, bad=bad):
                    self.refuse(name, self.valid[name].replace(line, line[:-3] + bad + b" 0"), saying)

    def test_coordinates_of_a_binary_stl_that_are_no_numbers(self):
        for bad in (float("nan"), float("inf")):
            content = bytearray(self.valid["binary.stl"])
            struct.pack_into("<f", content, 84 + 50 + 20, bad)
            self.refuse("a.stl", bytes(content), "a coordinate of the facet 2 is no finite number")
        content = bytearray(self.valid["binary.stl"])
        struct.pack_into("<3f", content, 84 + 50, *3 * [float("nan")])  # normals are not looked at
        self.assertAlmostEqual(self.area(self.write("b.stl", bytes(content))), TETRAHEDRON)

    def test_blanks_in_an_stl(self):
        for old, new in ((b"facet normal", b"facet  normal"), (b"\nfacet", b"\n\tfacet"),
                         (b"outer loop", b"outer  loop")):
            path = self.write("a.stl", self.valid["ascii.stl"].replace(old, new))
            self.assertAlmostEqual(self.area(path), TETRAHEDRON)
        self.refuse("b.stl", self.changed("ascii.stl", b"endfacet", b""), "it begins 4 facets and ends 3")

    def scaled(self, name, power):
        """The tetrahedron in an .off file with coordinates times 2^power."""
        unit = repr(2.0 ** power).encode()
        lines = self.valid["lf.off"].split(b"\n")
        for k in range(2, 6):
            lines[k] = b" ".join(unit if word == b"1" else word for word in lines[k].split())
        return self.write(name, b"\n".join(lines))

    def small_beside_large(self, small, large):
        """Two tetrahedra in an .off file, with edges of both lengths."""
        points = []
        for size, x in ((small, 0), (large, 2 * large)):
            points += [(x, 0, 0), (x + size, 0, 0), (x, size, 0), (x, 0, size)]
        faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
        faces += [tuple(4 + corner for corner in face) for face in faces]
        return "\n".join(["OFF", "8 8 0", *(f"{x!r} {y!r} {z!r}" for x, y, z in points),
                          *(f"3 {a} {b} {c}" for a, b, c in faces), ""])

    def test_lengths_that_no_double_can_integrate(self):
        """Far beyond any unit, and not far: what is computed scales by powers of two, to the bit."""
        for power in (100, 300, -101, -300):
            with self.subTest(power):
                self.refused("mesh-info", self.scaled("far.off", power),
                             saying=["far.off", "from 1e-30 to 1e30", "--unit"])
        self.refused("mesh-info", self.write("two.off", self.small_beside_large(2.0 ** -101, 2.0 ** -80)),
                     saying=["the element 1 at", "less than 1e-30 high", "--unit"])
        self.fmbem("mesh-info", self.write("two.off", self.small_beside_large(2.0 ** -98, 2.0 ** -80)))
        capacitance = {}
        for power in (0, 99, -98):
            report = self.report("capacitance", self.scaled("near.off", power))
            capacitance[power] = report["results"]["capacitance_F"]["value"][0][0]
        for power in (99, -98):
            self.assertEqual(capacitance[power], capacitance[0] * 2.0 ** power)

    def test_corners_that_are_no_points(self):
        for name, old, new in [("lf.obj", b"f 1 2 4", b"f 1 2 5"), ("lf.obj", b"f 1 2 4", b"f 0 2 4"),
                               ("ascii.ply", b"3 0 1 3", b"3 0 1 4"),
                               ("ascii.ply", b"3 0 1 3", b"3 0 1 -1"),
                               ("ascii.vtk", b"3 0 1 3", b"3 0 1 4"),
                               ("ascii.vtk", b"3 0 1 3", b"3 0 1 -7"),
                               ("ascii.vtu", b"0 1 3", b"0 1 99")]:
            self.refuse_changed(name, old, new, "the polygon 2 has a corner at a point that is not among its 4")
        for name, old, new in [("lf.obj", b"f 1 2 4", b"f 1 2 -9"), ("ascii.vtu", b"3 6 9 12", b"3 9 6 12"),
                               ("lf.off", b"3 0 1 3", b"3 0 1 4"), ("lf.off", b"3 0 1 3", b"3 0 1 -1")]:
            self.refuse_changed(name, old, new)

    def test_byte_order_that_is_not_what_is_said(self):
        corners = "a corner at a point that is not among its 4 points"
        self.refuse("a.ply", self.changed("big.ply", b"big_endian", b"little_endian"), corners)
        self.refuse("b.ply", self.changed("little.ply", b"little_endian", b"big_endian"), corners)
        self.refuse("c.vtu", self.changed("compressed.vtu", b"LittleEndian", b"BigEndian"))
        head, data = self.valid["binary.stl"][:80], self.valid["binary.stl"][80:]
        self.refuse("d.stl", head + b"".join(data[i:i + 4][::-1] for i in range(0, len(data), 4)))

    def test_counts_that_are_not_what_is_there(self):
        for name, old, new in [("lf.off", b"4 4 6", b"4 5 6"), ("lf.off", b"4 4 6", b"99999999 4 6"),
                               ("ascii.ply", b"vertex 4", b"vertex 4000000000"),
                               ("ascii.vtk", b"POINTS 4", b"POINTS 400000000000"),
                               ("ascii.vtk", b"POLYGONS 4 16", b"POLYGONS 4 20"),
                               ("ascii.vtu", b"NumberOfCells=\"4\"", b"NumberOfCells=\"40\"")]:
            self.refuse_changed(name, old, new)

    def test_an_off_without_the_word_off(self):
        counts = self.valid["lf.off"].split(b"\n", 1)[1]
        self.refuse("a.off", counts, saying="a.off, line 1: an .off file begins with the word OFF, and "
                                          "this one with the number 4: put a line with OFF before it")
        self.refuse("b.off", b"# a comment\n\n" + counts, saying="b.off, line 3")
        self.assertAlmostEqual(self.area(self.write("c.off", b"# a comment\nOFF\n" + counts)), TETRAHEDRON)

    def test_an_off_that_goes_on(self):
        self.refuse_changed("lf.off", b"4 4 6", b"4 3 6", "goes on behind the faces that it announces, with '3'")
        self.refuse_changed("crlf.off", b"4 4 6", b"4 3 6", "goes on behind")
        for end in (b"", b"\n\n", b"# the end\n", b" \n# the end"):
            self.assertAlmostEqual(self.area(self.write("a.off", self.valid["lf.off"] + end)), TETRAHEDRON)
        coloured = self.valid["lf.off"].rstrip(b"\n") + b" 255 0 0\n"
        self.assertAlmostEqual(self.area(self.write("b.off", coloured)), TETRAHEDRON)

    def test_corners_that_are_no_integers(self):
        for corner in (b"2.5", b"2e0", b"x", b"2,", b"2/1.5", b"99999999999"):
            self.refuse_changed("lf.obj", b"f 1 2 4", b"f 1 %s 4" % corner,
                                f"line 8: a face has the corner '{corner.decode()}', which is no vertex's number")

    def test_types_of_corners_in_a_ply(self):
        self.assertIn(b"property list uchar int vertex_indices", self.valid["ascii.ply"])
        for kind in (b"char", b"uchar", b"short", b"ushort", b"int8", b"uint16"):
            with self.subTest(kind=kind):
                new = b"uchar %s vertex" % kind
                path = self.write("a.ply", self.changed("ascii.ply", b"uchar int vertex", new))
                self.assertAlmostEqual(self.area(path), TETRAHEDRON)
                self.refuse_changed("little.ply", b"uchar int vertex", new,
                                    f"vertex_indices of the type {kind.decode()}; in a binary .ply int and uint")
        self.refuse_changed("ascii.ply", b"uchar int vertex", b"uchar float vertex", "of the type float")
        self.refuse_changed("ascii.ply", b"vertex_indices", b"corners", "have no list vertex_indices or vertex_index")

    def test_what_is_no_surface_of_triangles_and_quadrangles(self):
        self.refuse("a.off", "OFF\n5 1 0\n0 0 0\n1 0 0\n2 1 0\n1 2 0\n0 1 0\n5 0 1 2 3 4\n",
                    saying="5 corners")
        self.refuse("b.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\n"
                    "DIMENSIONS 2 2 2\nORIGIN 0 0 0\nSPACING 1 1 1\n", saying="PolyData")
        self.refuse("c.off", self.valid["lf.obj"])
        self.refuse("d.step", self.valid["cube.brep"])


class Reader(ProgramTest):
    """The process that reads files, and writes .msh."""

    def refuse(self, script, code, saying):
        reader = self.write("reader", "#!/bin/sh\n" + script)
        os.chmod(reader, 0o755)
        self.refused("mesh-info", self.tetrahedron_file(), env={"FMBEM_READER": reader}, code=code,
                     saying=saying)

    def test_crashes_are_bad_input(self):
        self.refuse("kill -SEGV $$", 2, ["tetrahedron.msh crashed", "Segmentation fault"])
        self.refuse("kill -ABRT $$", 2, "crashed (Aborted)")
        self.refuse("exit 134", 2, "crashed")

    def test_other_ends(self):
        self.refuse("kill -KILL $$", 4, "memory runs out")
        self.refuse("kill -TERM $$", 4, ["tetrahedron.msh was ended (Terminated)"])
        self.refuse("kill -XCPU $$", 2, "came to no end")
        self.refused("mesh-info", self.tetrahedron_file(), env={"FMBEM_READER": "/nowhere/reader"},
                     code=4, saying="/nowhere/reader")

    def test_ends_while_writing(self):
        mesh = self.tetrahedron_file()
        for end, code, saying in [("kill -KILL $$", 4, "memory runs out"), ("kill -XFSZ $$", 4, "ulimit"),
                                  ("kill -TERM $$", 4, "wrote out.msh was ended (Terminated)"),
                                  ("kill -INT $$", 4, "was ended"), ("kill -HUP $$", 4, "was ended"),
                                  ("kill -XCPU $$", 4, "ulimit -t"), ("exit 127", 4, "could not start"),
                                  ("kill -SEGV $$", 1, ["Segmentation fault", "while writing out.msh"])]:
            reads = self.write("reads", "1")
            reader = self.write("reader", f"#!/bin/sh\n[ -s {reads} ] || {end}\n: >{reads}\nexec {READER}")
            os.chmod(reader, 0o755)
            self.refused("mesh", mesh, "--output", "out.msh", env={"FMBEM_READER": reader}, code=code,
                         saying=saying)

    @release_alone("the address sanitizer takes terabytes of address space")
    def test_no_memory_for_what_writes(self):
        """From too little to start with to enough: what takes the mesh, and Gmsh, may find none."""
        mesh = self.tetrahedron_file()
        sentences, megabytes = [], 100
        while not (self.folder / "out.msh").exists():
            calls = self.write("calls", "")
            reader = self.write("reader", f"#!/bin/sh\necho >>{calls}\n"
                                          f"[ $(wc -l <{calls}) = 1 ] || ulimit -v {1024 * megabytes}\nexec {READER}\n")
            os.chmod(reader, 0o755)
            done = subprocess.run([PROGRAM, "mesh", mesh, "--refine", "8", "--output", "out.msh"], text=True,
                                  cwd=self.folder, env=os.environ | {"FMBEM_READER": reader, "OMP_NUM_THREADS": "2"},
                                  capture_output=True, timeout=300)
            if done.returncode != 0:
                self.assertEqual(done.returncode, 4, done.stderr)
                sentences.append(done.stderr)
            megabytes += 10
        self.assertTrue([s for s in sentences if "memory" in s], sentences)

    def test_other_programs_do_not_load_gmsh(self):
        for name in ("fmbem", "fmbem-picture"):
            program = READER.with_name(name)
            if program.exists():
                loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
                self.assertNotIn("gmsh", loaded)

    def test_it_is_not_for_users(self):
        done = subprocess.run([READER], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no use by itself", done.stderr)


if __name__ == "__main__":
    unittest.main()
