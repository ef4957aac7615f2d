"""Bad input gets one sentence and exit code 2, and leaves no file behind."""

import os
import random
import stat
import unittest

from harness import ProgramTest, msh, release_alone, tetrahedron


class BadFiles(ProgramTest):
    def refuse(self, name, content, saying):
        path = self.write(name, content)
        for command in (("capacitance", path, "--output", "out.vtu", "--json", "out.json"), ("mesh-info", path)):
            self.refused(*command, saying=(name, saying))

    def test_no_such_file(self):
        self.refused("capacitance", "nowhere.msh", saying="there is no file nowhere.msh")
        self.refused("capacitance", str(self.folder), saying=f"{self.folder} is not a regular file")

    def test_empty_file(self):
        for ending in ("msh", "geo", "stl", "step", "brep"):
            self.refuse("empty." + ending, "", saying="is empty")

    def test_noise(self):
        noise = random.Random(1).randbytes(3000) + b"\n"  # without which Gmsh would leave out a last line
        for ending, saying in (("msh", "it does not begin with $MeshFormat"), ("geo", "Gmsh reports: "),
                               ("stl", "neither an ASCII STL nor a binary STL"), ("xyz", "Gmsh reports: "),
                               ("step", "it has no END-ISO-10303-21"), ("brep", "it has no section TShapes")):
            with self.subTest(ending):
                self.refuse("noise." + ending, noise, saying)

    def test_truncated_file(self):
        nodes, elements = tetrahedron()
        whole = msh(nodes, elements, [(1, "body")])
        for fraction, saying in ((0.2, "has no $End"), (0.4, "$Nodes announces 4 nodes, more than the file holds"),
                                 (0.6, "$Nodes does not end with $EndNodes"), (0.8, "$Elements ends in the middle"),
                                 (0.95, "$Elements does not end with $EndElements")):
            with self.subTest(fraction):
                self.refuse("cut.msh", whole[: int(fraction * len(whole))], saying)

    def test_a_script_whose_last_statement_gmsh_would_leave_out(self):
        text = 'SetFactory("OpenCASCADE");\nBox(1) = {0, 0, 0, 1, 1, 1};\nBox(2) = {2, 0, 0, 1, 1, 1};'
        self.refuse("box.geo", text, saying="line break")

    def test_a_script_that_ends_gmsh(self):
        self.refuse("exit.geo", "Point(1) = {0, 0, 0};\nExit;\n", saying="Exit")

    def test_a_script_whose_last_line_does_not_end(self):
        """Gmsh would leave the second ball out."""
        script = 'SetFactory("OpenCASCADE");\nSphere(1) = {0, 0, 0, 1};\nSphere(2) = {5, 0, 0, 1};'
        self.refuse("balls.geo", script, saying="last line")
        self.fmbem("mesh-info", self.write("comment.geo", script + "\n// the end"))

    def test_volume_only_mesh(self):
        nodes, _ = tetrahedron()
        self.refuse("volume.msh", msh(nodes, [(4, 1, 1, 1, 2, 3, 4)]), saying="has no surface elements")

    def test_unknown_node(self):
        nodes, elements = tetrahedron()
        elements[2] = (2, 1, 1, 1, 4, 99)
        self.refuse("unknown.msh", msh(nodes, elements), saying="the element 3 with the unknown node 99")

    def test_nan_coordinates(self):
        for bad, name in (("nan", "NaN"), ("inf", "infinite")):
            nodes, elements = tetrahedron()
            nodes[1] = (bad, 0, 0)
            self.refuse("nan.msh", msh(nodes, elements), saying=f"has the node 2, of which a coordinate is {name}")

    def test_zero_area_triangle(self):
        nodes, elements = tetrahedron()
        nodes.append((0.5, 0, 0))
        elements.append((2, 1, 1, 1, 2, 5))
        self.refuse("flat.msh", msh(nodes, elements), saying="the element 5 at (0, 0, 0) has zero area")

    def test_doubled_triangle(self):
        nodes, elements = tetrahedron()
        elements.append((2, 1, 1, 2, 1, 3))
        self.refuse("double.msh", msh(nodes, elements), saying="the elements 1 and 5 are the same triangle")

    def test_what_gmsh_would_take_for_something_else(self):
        nodes, elements = tetrahedron()
        text = msh(nodes, elements, [(1, "body")])
        self.refuse("twice.msh", text.replace("\n4 2 2", "\n3 2 2"), saying="the element 3 twice")
        self.refuse("tag.msh", text.replace("\n4 2 2", "\n99999999999 2 2"), saying="the element tag 99999999999")
        self.refuse("group.msh", text.replace("2 2 1 1", "2 2 4294967297 1"),
                    saying="holds 4294967297, which is no integer")
        self.refuse("name.msh", text.replace("body", 251 * "x"), saying="a name of 251 bytes")

    def test_touching_conductors(self):
        nodes, elements = tetrahedron()
        elements[0] = (2, 2, 2, *elements[0][3:])
        path = self.write("touch.msh", msh(nodes, elements, [(1, "top"), (2, "bottom")]))
        self.refused("capacitance", path, saying='"top" and "bottom" touch at (0, 0, 0) m')

    def two_bodies(self, shift, names=("left", "right")):
        """A tetrahedron and its copy, moved: conductors of their own if they have two names."""
        nodes, elements = tetrahedron()
        _, more_elements = tetrahedron(0, 4, len(names))
        moved = [tuple(x + s for x, s in zip(node, shift)) for node in nodes]
        return self.write("bodies.msh", msh(nodes + moved, elements + more_elements,
                                            list(enumerate(names, 1))))

    def test_crossing_conductors(self):
        path = self.two_bodies((0.15, 0.16, 0.17))
        saying = ('"left" and "right" cross at (0.', "mm (distance 0 mm)", "--conductor")
        self.refused("capacitance", path, "--unit", "mm", "--refine", "1", saying=saying)
        self.refused("field", path, "--unit", "mm", "--line", "5,0,0,9,0,0,3",
                     "--output", "out.csv", saying=saying)
        self.fmbem("capacitance", path, "--conductor", "both=left,right")

    def test_conductors_that_touch_without_a_common_vertex(self):
        for shift, where in [((0.3, 0, 0), ""), ((0, 0, 0.4), ""), ((0.9, 0.1, 0), "(0.9, 0.1, 0)"),
                             ((0.9 + 1e-10, 0.1, 0), "e-11 m")]:
            with self.subTest(shift):
                self.refused("capacitance", self.two_bodies(shift),
                             saying=('"left" and "right" touch at (', where))
        self.fmbem("capacitance", self.two_bodies((0.9 + 1e-7, 0.1, 0)))

    def test_a_surface_that_crosses_itself_is_a_notice(self):
        notices = self.report("mesh-info", self.two_bodies((0.15, 0.16, 0.17), ["body"]))["warnings"]
        self.assertEqual(len([n for n in notices if '"body" crosses itself at (0.' in n]), 1)


class BadOptions(ProgramTest):
    def refuse(self, *options, saying):
        self.refused("capacitance", self.tetrahedron_file(), *options, saying=saying)

    @release_alone("its allocator ends what asks for as much memory as that")
    def test_a_restart_beyond_all_memory(self):
        self.refuse("-ksp_gmres_restart", "1000000", saying="cannot be set up")

    def test_unknown_options(self):
        self.refuse("--no-such-option", saying="not expected: --no-such-option")
        self.refuse("-x", saying="not expected: -x")
        self.refuse("-no_such_option", saying="the PETSc option -no_such_option is unknown")
        self.refuse("-ksp_type", "nonsense", saying="KSP type nonsense")
        self.refuse("-pc_type", "nonsense", saying="PC type nonsense")
        self.refuse("-ksp_rtol", "abc", saying="abc has no numeric value")
        self.refuse("-ksp_type", "tsirm", saying="PC must be of type PCKSP")
        self.refuse("--csv", "-", saying="--csv takes the name of a file")
        self.refuse("--refine", "", saying="the value of --refine is empty")
        self.refuse("--refine=", saying="the value of --refine is empty")
        self.refused("no-such-command", saying='there is no command "no-such-command"')
        self.refused(saying="A subcommand is required")
        self.refused("capacitance", saying="MESH is required")
        self.refused("capacitance", "-ksp_monitor", self.tetrahedron_file(), saying="MESH first")
        self.refused("mesh-info", self.tetrahedron_file(), "-ksp_monitor", saying="ksp_monitor")
        self.refused("info", "-ksp_monitor", saying="ksp_monitor")

    def test_names_that_begin_with_a_dash_stand_behind_two(self):
        self.tetrahedron_file("-t.msh")
        self.assertIn("body", self.fmbem("capacitance", "--", "-t.msh").stdout)

    def test_values_out_of_range(self):
        for saying, option, *values in [
                ("the solver's tolerance must be between 1e-13 and 0.5, not {}", "--tolerance", "0", "-1", "1e-20",
                 "0.7", "nan"),
                ("the relative permittivity must be positive, not {}", "--permittivity", "0", "inf"),
                ("the number of threads must be between 1 and 4096, not {}", "--threads", "0", "-3"),
                ("threads, not {}: give no more", "--threads", "4000"),
                ("a mesh can be refined 0 to 12 times, not {}", "--refine", "-1", "40"),
                ("the unit '{}' is none of m, cm, mm", "--unit", "parsec"),
                ("--operator: {} not in", "--operator", "magic"), ("--backend: {} not in", "--backend", "tpu"),
                ("--precision: {} not in", "--precision", "half"),
                ("--operator-tolerance must be between 1e-15 and 0.5, not {}", "--operator-tolerance", "0"),
                ("the order must be between 1 and 40, not {}", "--order", "0", "41"),
                ("Could not convert: --tolerance = {}", "--tolerance", "abc"),
                ("Could not convert: --order = {}", "--order", "x", "2.5"),
                ("a leaf must hold at least one point, not {}", "--max-leaf", "0", "-5"),
                ("Could not convert: --max-leaf = {}", "--max-leaf", "1e99"),
                ("by more than 0 and up to 0.5 of a box's side, not {}", "--overhang", "0", "0.6", "nan"),
                ("the mesh size must be a positive number, not {}", "--mesh-size", "0"),
                ('"{}" is no length', "--mesh-size", "nan"),
                ('--conductor takes NAME=GROUP,GROUP, not "{}"', "--conductor", "x"),
                ('names the group "nowhere", and the mesh has: body', "--conductor", "x=nowhere")]:
            for value in values:
                with self.subTest(option=option, value=value):
                    self.refuse(option, value, saying=saying.format(value))

    def test_single_precision_at_a_tight_tolerance(self):
        self.refuse("--precision", "single", saying="single precision")

    def test_cuda_says_what_there_is(self):
        if not self.has_gpu():
            self.refuse("--backend", "cuda", saying="cpu")
            self.refuse("--near-field", "lean", saying="CUDA")
        self.refuse("--backend", "cpu", "--near-field", "lean", saying="--near-field lean")

    def test_fmm_refuses_what_it_cannot_reach(self):
        self.refuse("--operator", "fmm", "--tolerance", "1e-13", saying=["1e-13", "--operator-tolerance 1e-11", "1e-10"])
        self.refuse("--operator", "fmm", "--operator-tolerance", "1e-12",
                    saying=["--operator-tolerance 1e-12 asks for: use 1e-11 or more", "--operator dense"])
        self.refuse("--operator", "fmm", "--precision", "single", "--tolerance", "1e-7",
                    saying="--precision double")

    def test_dense_operator_has_no_tree(self):
        for option, value in [("--order", "8"), ("--max-leaf", "20"), ("--overhang", "0.1")]:
            with self.subTest(option):
                self.refuse("--operator", "dense", option, value, saying=[option, "--operator fmm"])

    def test_dense_operator_refuses_large_meshes(self):
        self.refused("capacitance", self.cube_file(), "--mesh-size", "0.012",
                     "--operator", "dense", saying="40000")

    def test_unwritable_output(self):
        for path, saying in (("/nowhere/x.vtu", "cannot write /nowhere/x.vtu: No such file"),
                             ("x.png", "a mesh is written as .vtu or .msh"), ("", "the value of --output is empty"),
                             ("x", "a mesh is written as .vtu or .msh"),
                             (".vtu/", "a mesh is written as .vtu or .msh")):
            self.refuse("--output", path, saying=saying)
        self.refuse("--json", "/nowhere/x.json", saying="cannot write /nowhere/x.json: No such file")
        if os.geteuid() != 0:
            (self.folder / "locked").mkdir()
            (self.folder / "locked").chmod(stat.S_IRUSR | stat.S_IXUSR)
            self.refuse("--output", "locked/x.vtu", saying="cannot write locked/x.vtu: Permission denied")

    def test_outputs_that_would_overwrite_each_other_or_the_mesh(self):
        self.refuse("--output", "a.vtu", "--json", "a.vtu", saying="same file")
        self.refuse("--output", "a.vtu", "--json", "./a.vtu", saying="same file")
        self.refuse("--output", "tetrahedron.msh", saying="overwrite")

    def test_refinement_beyond_the_dense_operator_is_refused_before_solving(self):
        self.refuse("--refine", "7", "--operator", "dense", saying="40000")

    def test_a_failed_run_leaves_an_older_output_alone(self):
        self.write("old.vtu", "old")
        self.refuse("--output", "old.vtu", "-no_such_option", saying="-no_such_option is unknown")
        self.assertEqual((self.folder / "old.vtu").read_text(), "old")


if __name__ == "__main__":
    unittest.main()
