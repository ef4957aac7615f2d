"""fmbem capacitance: results, reports, files."""

import json
import os
import re
import shutil
import subprocess
import unittest

from harness import CUBE, PROGRAM, STAGES, ProgramTest, msh, read_vtu, tetrahedron


class Capacitance(ProgramTest):
    def test_unit_cube(self):
        report = self.report("capacitance", CUBE, "--output", "cube.vtu")
        self.assertEqual(report["status"], "solved")
        self.assertGreaterEqual(report["mesh"]["panels"], 2500)
        self.assertTrue(report["mesh"]["closed"])
        results = report["results"]
        self.assertAlmostEqual(results["capacitance_4pi_eps0_length"]["value"][0][0], 0.66068,
                               delta=0.002 * 0.66068)
        self.assertAlmostEqual(results["capacitance_F"]["value"][0][0] * 1e12, 73.510, delta=0.15)
        self.assertLess(report["solver"]["true_residuals"][0], 1e-6)
        self.assertEqual(len(report["solver"]["history"][0]), report["solver"]["iterations"][0] + 1)
        arrays = read_vtu(self.folder / "cube.vtu")
        self.assertEqual(len(arrays["charge density [C/m^2], cube at 1 V"]),
                         report["mesh"]["panels"])

    def test_two_conductors_and_joined_ones(self):
        two = self.two_tetrahedra_file()
        report = self.report("capacitance", two)
        c = report["results"]["capacitance_F"]["value"]
        mutual = report["results"]["mutual_F"]["value"]
        self.assertEqual([x["name"] for x in report["conductors"]], ["left", "right"])
        self.assertLess(c[0][1], 0)
        self.assertAlmostEqual(mutual[0][1], -(c[0][1] + c[1][0]) / 2, delta=1e-20)
        joined = self.report("capacitance", two, "--conductor", "both=left,right")
        self.assertEqual(joined["conductors"], [{"name": "both", "groups": ["left", "right"]}])
        self.assertAlmostEqual(joined["results"]["capacitance_F"]["value"][0][0] / sum(map(sum, c)),
                               1, delta=1e-5)

    def plates_file(self, gap, n=12):
        """Two unit squares of n x n quadrangles each."""
        nodes, elements = [], []
        for group, z in ((1, 0), (2, gap)):
            first = len(nodes) + 1
            nodes += [(i / n, j / n, z) for i in range(n + 1) for j in range(n + 1)]
            for i in range(n):
                for j in range(n):
                    a = first + i * (n + 1) + j
                    elements.append((3, group, group, a, a + n + 1, a + n + 2, a + 1))
        return self.write("plates.msh", msh(nodes, elements, [(1, "lower"), (2, "upper")]))

    def test_close_plates_are_refined_to_the_tolerance(self):
        report = self.report("capacitance", self.plates_file(1e-5), "--operator", "fmm", "--tolerance", "1e-8")
        solver = report["solver"]
        for j in range(2):
            self.assertLessEqual(solver["true_residuals"][j], 1e-8)
            self.assertGreater(solver["conditions"][j], 1e4)
        # That of the parallel plates, and a little more at the edges.
        c = report["results"]["capacitance_F"]["value"]
        self.assertAlmostEqual(c[0][0] / (8.8541878128e-12 / 1e-5), 1, delta=1e-3)
        # Below what numbers in double precision know of this sum.
        done = self.fmbem("capacitance", self.plates_file(1e-8), "--operator", "fmm", "--tolerance", "1e-9",
                          code=3)
        self.assertRegex(done.stderr, r"did not converge .* a residual of \S+ can be attained")

    def test_unit_and_permittivity_scale_the_result(self):
        mesh = self.tetrahedron_file()
        metre = self.report("capacitance", mesh)["results"]
        scaled = self.report("capacitance", mesh, "--unit", "um", "--permittivity", "4")["results"]
        self.assertAlmostEqual(scaled["capacitance_F"]["value"][0][0]
                               / metre["capacitance_F"]["value"][0][0], 4e-6, delta=1e-15)
        self.assertEqual(scaled["capacitance_4pi_eps0_length"]["unit"], "4 pi eps0 um")

    def test_refinement_gives_an_estimate_and_bounds_the_printed_digits(self):
        report = self.report("capacitance", self.cube_file(), "--mesh-size", "0.25", "--refine", "2")
        estimate = report["results"]["discretization_error"]["value"]
        self.assertEqual(len(estimate["panels"]), 3)
        self.assertTrue(estimate["order_observed"])
        unit = 111.26500554e-12
        self.assertAlmostEqual(estimate["extrapolated_F"][0][0] / unit, 0.66068, delta=1e-3)
        text = self.fmbem("capacitance", self.cube_file(), "--mesh-size", "0.25", "--refine", "2").stdout
        self.assertIn("discretization error", text)
        value = re.search(r"4 pi eps0 m\], Maxwell form\n.*\n +\S+ +([0-9.]+)", text).group(1)
        decimals = len(value.split(".")[1])
        self.assertLessEqual(10.0 ** -decimals, estimate["error_F"] / unit)
        self.assertLess(estimate["error_F"] / unit, 10 * 10.0 ** -decimals)

    def test_gmsh_output_keeps_the_mesh(self):
        mesh = self.two_tetrahedra_file()
        self.fmbem("capacitance", mesh, "--output", "out.msh")
        before = self.report("mesh-info", mesh)["mesh"]
        after = self.report("mesh-info", "out.msh")["mesh"]
        del before["file"], after["file"]
        self.assertEqual(before, after)

    def test_dense_and_fmm_give_the_same_digits(self):
        dense, fmm = (self.report("capacitance", self.cube_file(), "--mesh-size", "0.08",
                                  "--operator", kind, "--tolerance", "1e-8")
                      for kind in ("dense", "fmm"))
        self.assertEqual([r["operators"][0]["kind"] for r in (dense, fmm)], ["dense", "fmm"])
        self.assertAlmostEqual(fmm["results"]["capacitance_F"]["value"][0][0]
                               / dense["results"]["capacitance_F"]["value"][0][0], 1, delta=1e-8)
        self.assertGreater(fmm["operators"][0]["near_entries"], 0)
        self.assertEqual(set(fmm["operators"][0]["product_s"]), STAGES)

    def test_a_looser_operator_changes_the_right_digits(self):
        values = [self.report("capacitance", self.cube_file(), "--mesh-size", "0.08", "--operator",
                              "fmm", "--tolerance", tolerance, "--operator-tolerance", tolerance)
                  ["results"]["capacitance_F"]["value"][0][0] for tolerance in ("1e-3", "1e-10")]
        difference = abs(values[0] / values[1] - 1)
        self.assertLess(difference, 1e-3)
        self.assertGreater(difference, 1e-9)

    def test_order_leaf_and_overhang_reach_the_fmm(self):
        """They ask for the FMM where auto would be dense; what is in force is in the report."""
        arguments = ("capacitance", self.cube_file(), "--mesh-size", "0.08", "--tolerance", "1e-4")
        chosen = self.report(*arguments, "--operator", "fmm")
        self.assertEqual(self.report(*arguments)["operators"][0]["kind"], "dense")
        for options in (["--order", "4"], ["--max-leaf", "30"], ["--overhang", "0.4"]):
            with self.subTest(options):
                report = self.report(*arguments, *options)
                op = report["operators"][0]
                self.assertEqual(op["kind"], "fmm")
                self.assertEqual(op["order"] == 4, options[0] == "--order")
                if options[0] == "--max-leaf":
                    self.assertEqual(op["max_leaf"], 30)
                values = [r["results"]["capacitance_F"]["value"][0][0] for r in (report, chosen)]
                self.assertAlmostEqual(values[0] / values[1], 1, delta=1e-3)
                self.assertNotEqual(*values)

    def test_single_precision(self):
        double = self.report("capacitance", self.tetrahedron_file(), "--tolerance", "1e-5")
        single = self.report("capacitance", self.tetrahedron_file(), "--tolerance", "1e-5",
                             "--precision", "single")
        self.assertEqual(single["precision"], "single")
        self.assertAlmostEqual(single["results"]["capacitance_F"]["value"][0][0]
                               / double["results"]["capacitance_F"]["value"][0][0], 1, delta=1e-6)

    def test_two_runs_and_any_threads_give_the_same_bits(self):
        runs = [self.report("capacitance", self.cube_file(), "--mesh-size", "0.1", "--threads", t)["results"]
                for t in (1, 2, 2)]
        self.assertEqual(runs[0], runs[1])
        self.assertEqual(runs[1], runs[2])

    def test_conductors_of_different_scales_keep_their_digits(self):
        nodes, elements = tetrahedron()
        more_nodes, more_elements = tetrahedron(0, 4, 2)
        more_nodes = [(1e-6 * x + 5, 1e-6 * y, 1e-6 * z) for x, y, z in more_nodes]
        mesh = self.write("scales.msh", msh(nodes + more_nodes, elements + more_elements))
        tables = self.fmbem("capacitance", mesh).stdout.split("Maxwell form", 1)[1]
        self.assertNotRegex(tables, r" -?0\.0+\s")
        self.assertRegex(tables, r"[1-9]\.[0-9]{5}e-0[4-9]")

    def test_results_that_cannot_be_printed_are_not_lost_silently(self):
        for arguments in ([], ["--json", "-"]):
            with open("/dev/full", "w") as full:
                code = subprocess.run([PROGRAM, "capacitance", self.tetrahedron_file(), *arguments],
                                      stdout=full, stderr=subprocess.DEVNULL).returncode
            self.assertEqual(code, 4)
            reader, writer = os.pipe()
            os.close(reader)
            code = subprocess.run([PROGRAM, "capacitance", self.tetrahedron_file(), *arguments],
                                  stdout=writer, stderr=subprocess.DEVNULL).returncode
            os.close(writer)
            self.assertEqual(code, 4)

    def test_a_replaced_file_keeps_its_permissions(self):
        path = self.folder / "out.vtu"
        path.touch()
        path.chmod(0o600)
        self.fmbem("capacitance", self.tetrahedron_file(), "--output", path)
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)

    def test_json_file_and_quiet(self):
        done = self.fmbem("capacitance", self.tetrahedron_file(), "--json", "r.json", "--quiet")
        self.assertEqual(done.stdout, "")
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["command"], "capacitance")

    def test_notices_and_warnings_are_in_the_report(self):
        report = self.report("capacitance", self.tetrahedron_file(), "--operator-tolerance", "1e-2")
        self.assertTrue(any("looser" in w for w in report["warnings"]))


class Petsc(ProgramTest):
    def test_options_reach_petsc(self):
        mesh = self.tetrahedron_file()
        report = self.report("capacitance", mesh, "-ksp_type", "bcgs", "-pc_type", "jacobi",
                             "-ksp_rtol", "1e-9")
        self.assertEqual(report["solver"]["ksp"], "bcgs")
        self.assertEqual(report["solver"]["pc"], "jacobi")
        self.assertEqual(report["tolerance"]["solver"], 1e-9)
        self.assertAlmostEqual(report["tolerance"]["operator"], 1e-10)

    def test_other_krylov_methods(self):
        for method in ("cg", "fgmres", "tfqmr", "bcgs"):
            with self.subTest(method):
                report = self.report("capacitance", self.cube_file(), "--mesh-size", "0.25",
                                     "-ksp_type", method, "-pc_type", "jacobi")
                self.assertEqual(report["solver"]["ksp"], method)

    def test_report_alone_on_stdout_whatever_petsc_prints(self):
        self.report("capacitance", self.tetrahedron_file(), "-ksp_monitor", "-ksp_view", "-log_view")

    def test_not_converged_is_exit_code_3_with_a_report(self):
        report = self.report("capacitance", self.cube_file(), "--mesh-size", "0.2", "-ksp_max_it", "2", code=3)
        self.assertEqual(report["status"], "not_converged")
        self.assertEqual(report["solver"]["reasons"], ["DIVERGED_ITS"])

    def test_a_solver_that_only_claims_to_converge_is_found_out(self):
        report = self.report("capacitance", self.cube_file(), "--mesh-size", "0.2", "-ksp_type", "preonly", code=3)
        self.assertEqual(report["status"], "not_converged")
        self.assertGreater(report["solver"]["true_residuals"][0], 1e-3)

    def test_options_file_is_read_and_checked(self):
        good = self.write("good", "-ksp_rtol 1e-9\n")
        bad = self.write("bad", "-ksp_rtol 1e-9\n-no_such_option 3\n")
        mesh = self.tetrahedron_file()
        report = self.report("capacitance", mesh, "-options_file", good)
        self.assertEqual(report["tolerance"]["solver"], 1e-9)
        self.refused("capacitance", mesh, "-options_file", bad, saying="no_such_option")
        self.refused("capacitance", mesh, "-options_file", "nowhere", saying="nowhere")

    def test_unused_options_of_the_environment_are_a_warning(self):
        report = self.report("capacitance", self.tetrahedron_file(),
                             env={"PETSC_OPTIONS": "-no_such_option 3"})
        self.assertTrue(any("no_such_option" in w for w in report["warnings"]))

    def test_petsc_help(self):
        self.assertIn("-ksp_rtol", self.fmbem("-help").stdout)

    def test_mpirun_is_refused(self):
        mpirun = shutil.which("mpirun")
        if not mpirun:
            self.skipTest("no mpirun")
        allow = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        done = subprocess.run([mpirun, "--oversubscribe", "-n", "2", PROGRAM, "capacitance",
                               self.tetrahedron_file()], capture_output=True, text=True,
                              env={**os.environ, **allow})
        self.assertNotEqual(done.returncode, 0)
        sentences = [x for x in done.stderr.splitlines() if x.startswith("fmbem: ")
                     and "notice" not in x]
        self.assertEqual(len(sentences), 1, done.stderr)
        self.assertIn("one MPI rank", sentences[0])


if __name__ == "__main__":
    unittest.main()
