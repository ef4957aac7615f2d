"""fmbem capacitance: results, reports, files."""

import csv
import json
import os
import re
import shutil
import subprocess
import unittest

from harness import (CUBE, PROGRAM, STAGES, ProgramTest, leave_out, msh, numbers_alone, read_vtu,
                     tetrahedron)


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

    def test_names_with_control_characters_keep_to_their_lines(self):
        mesh = self.two_tetrahedra_file()
        strange = ["--conductor", "n\nl\x1b[31m=left"]
        printed = self.fmbem("capacitance", mesh, *strange).stdout
        self.assertNotIn("\x1b", printed)
        self.assertRegex(printed, r"(?m)^  n l \[31m +[0-9.]+ +-[0-9.]+$")
        self.assertRegex(printed, r"(?m)^          n l \[31m: \d+ iterations")
        self.assertIn("charge    n l [31m: ", self.fmbem("field", mesh, *strange, "--line", "5,0,0,6,0,0,2",
                                                        "--output", "l.csv").stdout)
        self.refused("capacitance", mesh, "--conductor", "n\nl=nowhere", saying='"n l" names the group "nowhere"')
        report = self.report("capacitance", mesh, *strange)
        self.assertEqual([c["name"] for c in report["conductors"]], ["n\nl\x1b[31m", "right"])
        groups = {name: {"conductor": {"potential": 1, "name": f"{name}\nnet"}, "outside": "a\nir"}
                  for name in ("left", "right")}
        problem = {"version": 1, "outside": "a\nir", "regions": {"a\nir": {"permittivity": 1}}, "groups": groups}
        printed = self.fmbem("solve", mesh, "--problem", self.write("p.json", json.dumps(problem)), "--basis").stdout
        for line in ("regions   a ir: ", "conductor left net: ", "          right net: "):
            self.assertIn("\n" + line, printed)
        many = [tetrahedron(3 * k, 4 * k, k + 1) for k in range(9)]
        path = self.write("many.msh", msh([node for nodes, _ in many for node in nodes],
                                          [e for _, elements in many for e in elements],
                                          [(k + 1, f"net{k}") for k in range(9)]))
        self.assertIn("\n  n l  ", self.fmbem("capacitance", path, "--conductor", "n\nl=net0").stdout)

    def test_close_plates_are_refined_to_the_tolerance(self):
        report = self.report("capacitance", self.plates_file(1e-5), "--operator", "fmm", "--tolerance", "1e-8")
        solver = report["solver"]
        for j in range(2):
            self.assertLessEqual(solver["true_residuals"][j], 1e-8)
            self.assertGreater(solver["conditions"][j], 1e4)
        # The parallel plates' capacitance, and a little more at the edges.
        c = report["results"]["capacitance_F"]["value"]
        self.assertAlmostEqual(c[0][0] / (8.8541878128e-12 / 1e-5), 1, delta=1e-3)
        # Below the rounding of this sum in double precision.
        done = self.fmbem("capacitance", self.plates_file(1e-8), "--operator", "fmm", "--tolerance", "1e-9",
                          code=3)
        self.assertRegex(done.stderr, r"did not converge .* a residual of \S+ can be attained for sure: loosen --tolerance")

    def test_unit_and_permittivity_scale_the_result(self):
        mesh = self.tetrahedron_file()
        metre = self.report("capacitance", mesh)["results"]
        scaled = self.report("capacitance", mesh, "--unit", "um", "--permittivity", "4")["results"]
        self.assertAlmostEqual(scaled["capacitance_F"]["value"][0][0]
                               / metre["capacitance_F"]["value"][0][0], 4e-6, delta=1e-15)
        self.assertEqual(scaled["capacitance_4pi_eps0_length"]["unit"], "4 pi eps0 um")

    def tables(self, text):
        """The matrices that a run has printed, by their titles, each entry as it is printed."""
        tables, rows, title = {}, None, None
        for line in text.splitlines():
            self.assertLessEqual(len(line), 100)
            if match := re.match(r"(capacitance|capacitors|extrapolated) \[.*", line):
                title = match.group()
                tables[title] = [rows := []]
            elif not line and title:
                rows = None  # and perhaps more columns
            elif title and line.startswith("  ") and "[" not in line:
                if rows is None:
                    tables[title].append(rows := [])
                rows.append(re.findall(r"< [^ ]+|[^ ]+", line))
            else:
                rows = title = None
        return {title: [sum((part[i][1:] for part in parts), []) for i in range(1, len(parts[0]))]
                for title, parts in tables.items()}

    def check_digits(self, printed, value, error):
        """The last digit's unit is at most the error and more than a tenth of it; a bound is above
        value and error together, and at most twice as much."""
        if printed.startswith("< "):
            self.assertLessEqual(abs(value), error)
            bound = float(printed[2:])
            self.assertGreaterEqual(bound, (abs(value) + error) * (1 - 1e-9))
            self.assertLessEqual(bound, 2 * (abs(value) + error) * (1 + 1e-9))
            return
        self.assertGreater(abs(value), error)
        mantissa, _, exponent = printed.partition("e")
        unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
        self.assertLessEqual(unit, error * (1 + 1e-9))
        self.assertGreater(unit, 0.1 * error * (1 - 1e-9))
        self.assertLessEqual(abs(float(printed) - value), 0.5 * unit * (1 + 1e-9))

    def check_tables(self, *arguments):
        """All printed digits follow the estimates in the report; returns tables and report."""
        printed, report = self.printed_and_report("capacitance", *arguments)
        results = report["results"]
        tables = self.tables(printed)
        prefixes = {"": 1, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15, "a": 1e-18}
        for title, rows in tables.items():
            name = "mutual_F" if title.startswith("capacitors") else "capacitance_F"
            unit = re.search(r"\[(.*)\]", title).group(1)
            if "pi" in unit:
                name = "capacitance_4pi_eps0_length"
            if title.startswith("extrapolated"):
                continue
            factor = 1 if "pi" in unit else 1 / prefixes[unit[:-1]]
            for i, row in enumerate(rows):
                for j, printed in enumerate(row):
                    self.check_digits(printed, results[name]["value"][i][j] * factor,
                                      results[name]["error"][i][j] * factor)
        return list(tables.values()), report

    def test_refinement_estimates_the_error_and_decides_the_digits(self):
        tables, report = self.check_tables(self.cube_file(), "--mesh-size", "0.25", "--refine", "2")
        results = report["results"]
        refinement = results["refinement"]["value"]
        self.assertTrue(refinement["order_observed"])
        unit = 111.26500554e-12
        self.assertAlmostEqual(refinement["extrapolated_F"][0][0] / unit, 0.66068, delta=1e-3)
        self.assertLess(abs(results["capacitance_F"]["value"][0][0] / unit - 0.6606782),
                        results["capacitance_F"]["error"][0][0] / unit)
        self.assertEqual(len(tables), 3)  # farads, the other unit, extrapolated
        self.assertAlmostEqual(float(tables[2][0][0]), 0.66068, delta=1e-3)

    def test_levels_keep_results_histories_and_times(self):
        printed, report = self.printed_and_report("capacitance", self.cube_file(), "--mesh-size", "0.25",
                                                  "--refine", "2")
        levels = report["levels"]
        self.assertEqual(len(levels), 3)
        for coarse, fine in zip(levels, levels[1:]):
            self.assertEqual(fine["panels"], 4 * coarse["panels"])
        for level in levels:
            solver = level["solver"]
            self.assertEqual(len(solver["history"][0]), solver["iterations"][0] + 1)
            self.assertLess(solver["true_residuals"][0], 1e-6)
            self.assertGreater(level["timings_s"]["solve"], 0)
        self.assertEqual(levels[2]["capacitance_F"], report["results"]["capacitance_F"]["value"])
        coarse = self.report("capacitance", self.cube_file(), "--mesh-size", "0.25")
        self.assertEqual(levels[0]["capacitance_F"], coarse["results"]["capacitance_F"]["value"])
        self.assertNotIn("levels", coarse)
        lines = printed.split("levels ", 1)[1].splitlines()[:3]
        for line, level in zip(lines, levels):
            self.assertRegex(line, rf"{level['panels']} panels: \d+ iterations?, setup .* s, solve .* s")
        self.assertIn("% from the finest", lines[0])

    def test_without_refinement_there_are_four_digits_and_no_estimate(self):
        text, report = self.printed_and_report("capacitance", self.cube_file())
        self.assertNotIn("error", report["results"]["capacitance_F"])
        self.assertNotIn("refinement", report["results"])
        self.assertIn("without --refine there is no estimate", text)
        for table in self.tables(text).values():
            self.assertEqual(len(table[0][0].replace(".", "").lstrip("0")), 4, table)

    def test_plates_have_the_digits_of_each_entry(self):
        tables, report = self.check_tables(self.plates_file(0.1, 4), "--refine", "2")
        # FastCap's, extrapolated: 126.9 and -104.1 pF.
        results = report["results"]["capacitance_F"]
        for (i, j), exact in {(0, 0): 126.9e-12, (0, 1): -104.1e-12}.items():
            self.assertLess(abs(results["value"][i][j] - exact), results["error"][i][j] + 0.1e-12)
        maxwell, _, mutual = tables[:3]
        self.assertTrue(maxwell[0][1].startswith("-"))
        self.assertFalse(mutual[0][1].startswith("-"))

    @numbers_alone
    def test_a_shield_leaves_a_bound_and_no_sign(self):
        """A ball in a shell does not see the one outside."""
        shield = self.write("shield.geo", """
            SetFactory("OpenCASCADE");
            Sphere(1) = {0, 0, 0, 0.5}; Sphere(2) = {0, 0, 0, 1}; Sphere(3) = {3, 0, 0, 1};
            Physical Surface("inner") = {1};
            Physical Surface("shell") = {2};
            Physical Surface("outside") = {3};
            """)
        tables, report = self.check_tables(shield, "--mesh-size", "0.5", "--refine", "2")
        for table in tables:
            for i, j in ((0, 2), (2, 0)):
                self.assertTrue(table[i][j].startswith("< "), table)
            self.assertFalse(table[0][0].startswith("< -"))
        mutual = tables[2]
        self.assertTrue(mutual[0][0].startswith("< "), mutual)  # the shell takes all of its charge
        results = report["results"]["capacitance_4pi_eps0_length"]
        exact = [[1, -1, 0], [-1, 2.14628744194, -0.389083066895], [0, -0.389083066895, 1.14628744194]]
        for i in range(3):
            for j in range(3):
                self.assertLess(abs(results["value"][i][j] - exact[i][j]), results["error"][i][j])
        # Without an estimate, too, the two values of the coupling contradict each other.
        rough = self.tables(self.fmbem("capacitance", shield, "--mesh-size", "0.5").stdout)
        for table in rough.values():
            self.assertTrue(table[0][2].startswith("< "), table)

    def row_of_cubes(self, n):
        cubes = "".join(f"Box({i}) = {{{2 * i}, 0, 0, 1, 1, 1}};\n"
                        f'Physical Surface("c{i}") = {{{6 * i - 5}:{6 * i}}};\n' for i in range(1, n + 1))
        return self.write("cubes.geo", 'SetFactory("OpenCASCADE");\n' + cubes)

    def test_eight_conductors(self):
        """Each digit that is printed twice, for i, j and j, i, is the same to the errors, and far
        couplings have fewer."""
        tables, report = self.check_tables(self.row_of_cubes(8), "--mesh-size", "0.5", "--refine", "1")
        self.assertEqual([[len(row) for row in table] for table in tables[:3]], [[8] * 8] * 3)
        results = report["results"]["capacitance_F"]
        for i in range(8):
            for j in range(i):
                self.assertLessEqual(abs(results["value"][i][j] - results["value"][j][i]),
                                     results["error"][i][j])
        near, far = results["error"][0][1], results["error"][0][7]
        self.assertLess(far, 0.1 * near)

    def test_many_conductors_have_a_list_of_the_couplings_that_matter(self):
        mesh = self.row_of_cubes(12)
        text, report = self.printed_and_report("capacitance", mesh, "--mesh-size", "0.5", "--refine", "1")
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.assertIn("--csv", text)
        self.assertNotIn("Maxwell form", text)
        maxwell, mutual = (report["results"][name] for name in ("capacitance_F", "mutual_F"))
        rows = re.findall(r"^  (c\d+)  (\S+): ((?:.|\n    )*)$", text, re.M)
        self.assertEqual([name for name, _, _ in rows], [f"c{i}" for i in range(1, 13)])
        for i, (_, total, couplings) in enumerate(rows):
            self.check_digits(total, maxwell["value"][i][i] * 1e12, maxwell["error"][i][i] * 1e12)
            listed = [part.rsplit(" ", 1) for part in re.split(r",\s+", couplings)]
            found = {}
            for name, value in listed:
                j = i if name == "infinity" else int(name[1:]) - 1
                found[j] = mutual["value"][i][j]
                self.check_digits(value, found[j] * 1e12, mutual["error"][i][j] * 1e12)
            self.assertEqual(list(found.values()), sorted(found.values(), reverse=True))
            matters = {j for j in range(12) if mutual["value"][i][j] >= 0.01 * maxwell["value"][i][i]}
            self.assertEqual(set(found), matters)

    def coated_sphere_file(self):
        """A ball of radius 1 and the outside of a coat to radius 2."""
        return self.write("coated.geo", 'SetFactory("OpenCASCADE");\n'
                          "Sphere(1) = {0, 0, 0, 1};\nSphere(2) = {0, 0, 0, 2};\n"
                          'Physical Surface("ball") = {1};\nPhysical Surface("coat") = {2};\n')

    def test_dielectrics(self):
        mesh = self.coated_sphere_file()
        problem = {"version": 1,
                   "regions": {"oil": {"permittivity": 2}, "air": {"permittivity": 1}},
                   "outside": "air",
                   "groups": {"ball": {"conductor": {"potential": 3}, "outside": "oil"},
                              "coat": {"interface": True, "inside": "oil", "outside": "air"}}}
        self.write("coated.json", json.dumps(problem))
        report = self.report("capacitance", mesh, "--mesh-size", "0.4", "--refine", "1",
                             "--problem", "coated.json")
        self.assertEqual([c["name"] for c in report["conductors"]], ["ball"])
        self.assertEqual(report["problem"], problem)
        results = report["results"]["capacitance_4pi_eps0_length"]
        error = abs(results["value"][0][0] - 4 / 3)
        self.assertLess(error, results["error"][0][0])
        self.assertLess(error, 0.02)
        text = self.fmbem("capacitance", mesh, "--mesh-size", "0.4", "--problem",
                          "coated.json").stdout
        self.assertIn("regions   oil: permittivity 2\n          air: permittivity 1, reaches to "
                      "infinity\n", text)
        # At 1 V all over: outside the field of the charge, inside none.
        self.write("points.csv", "0.2,0.1,0.3\n1.5,0,0\n3,0,0\n")
        self.fmbem("field", mesh, "--mesh-size", "0.4", "--problem", "coated.json", "--voltage",
                   "ball=1", "--points", "points.csv", "--output", "field.csv")
        with open(self.folder / "field.csv", newline="") as file:
            inside, coat, outside = list(csv.DictReader(file))
        potential = next(name for name in inside if "V" in name and "V/m" not in name)
        self.assertEqual(inside[potential], "nan")  # in metal
        self.assertAlmostEqual(float(coat[potential]), 4 / 3 * (0.5 + (1 / 1.5 - 0.5) / 2), delta=0.02)
        self.assertAlmostEqual(float(outside[potential]), 4 / 9, delta=0.01)
        self.refused("capacitance", mesh, "--problem", "coated.json", "--conductor", "a=ball",
                     saying="do not go with --problem")
        self.refused("field", mesh, "--problem", "coated.json", "--voltage", "coat=1", "--line",
                     "0,0,3,0,0,4,3", "--output", "line.csv", saying='"coat"')

    def test_gmsh_output_keeps_the_mesh(self):
        mesh = self.two_tetrahedra_file()
        self.fmbem("capacitance", mesh, "--output", "out.msh")
        before = self.report("mesh-info", mesh)["mesh"]
        after = self.report("mesh-info", "out.msh")["mesh"]
        del before["file"], after["file"]
        self.assertEqual(before, after)

    @numbers_alone
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
        self.assertRegex(tables, r"[1-9]\.[0-9]{3}e-[4-9]\s")

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
        self.assertTrue(done.stdout.startswith("capacitance [pF], Maxwell form"))
        self.assertNotIn("time ", done.stdout)
        self.assertEqual(done.stderr, "")
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

    def test_options_of_files_and_with_prefixes_are_checked_as_on_the_command_line(self):
        mesh = self.tetrahedron_file()
        good = self.write("good.yaml", "ksp:\n  rtol: 1e-9\n")
        self.assertEqual(self.report("capacitance", mesh, "-options_file_yaml", good)["tolerance"]["solver"], 1e-9)
        bad = self.write("bad.yaml", "no_such_option: 3\n")
        self.refused("capacitance", mesh, "-options_file_yaml", bad, saying=["-no_such_option", "unknown"])
        self.refused("capacitance", mesh, "-options_file_yaml", "nowhere", saying=["-options_file_yaml", "nowhere"])
        self.refused("capacitance", mesh, "-prefix_push", "foo_", "-ksp_rtol", "1e-9", "-prefix_pop",
                     saying=["-foo_ksp_rtol", "unknown"])

    def test_options_without_their_value_are_refused(self):
        mesh = self.tetrahedron_file()
        for name in ("-ksp_max_it", "-ksp_rtol", "-ksp_gmres_restart", "-ksp_type", "-pc_type"):
            self.refused("capacitance", mesh, name, saying=[name, "needs a value"])
            self.refused("capacitance", mesh, name, "-ksp_converged_reason", saying=[name, "needs a value"])
        self.refused("capacitance", mesh, env={"PETSC_OPTIONS": "-ksp_rtol"}, saying=["-ksp_rtol", "needs a value"])
        self.refused("study", "--problem", "sphere", "--out", "out", env={"PETSC_OPTIONS": "-ksp_rtol"},
                     saying=["-ksp_rtol", "needs a value"])

    def test_a_log_that_cannot_be_written_is_refused(self):
        mesh = self.tetrahedron_file()
        self.refused("capacitance", mesh, "-log_view", ":/nowhere/log.txt", saying=["-log_view", "/nowhere/log.txt"])
        self.refused("capacitance", mesh, env={"PETSC_OPTIONS": "-log_view :/nowhere/log.txt:ascii_xml"},
                     saying=["-log_view", "/nowhere/log.txt"])
        self.fmbem("capacitance", mesh, "-log_view", ":log.txt")
        self.assertIn("KSPSolve", (self.folder / "log.txt").read_text())

    def test_unused_options_of_the_environment_are_a_warning(self):
        report = self.report("capacitance", self.tetrahedron_file(),
                             env={"PETSC_OPTIONS": "-no_such_option 3"})
        self.assertTrue(any("no_such_option" in w for w in report["warnings"]))

    def test_petsc_help(self):
        self.assertIn("-ksp_rtol", self.fmbem("-help").stdout)

    def test_mpirun_is_refused(self):
        mpirun = shutil.which("mpirun")
        if not mpirun:
            leave_out("mpirun is not installed")
        allow = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        done = subprocess.run([mpirun, "--oversubscribe", "-n", "2", PROGRAM, "capacitance",
                               self.tetrahedron_file()], capture_output=True, text=True,
                              env={**os.environ, **allow})
        self.assertNotEqual(done.returncode, 0)
        # mpirun ends the other process, which may say so.
        sentences = [x for x in done.stderr.splitlines() if x.startswith("fmbem: ")
                     and "notice" not in x and x != "fmbem: interrupted"]
        self.assertEqual(len(sentences), 1, done.stderr)
        self.assertIn("one MPI rank", sentences[0])


if __name__ == "__main__":
    unittest.main()
