"""The benchmark of the fast multipole method: its table, its JSON and its refusals."""

import json
import os
import subprocess
import unittest

from harness import ProgramTest

BENCH = os.environ["FMBEM_BENCH_FMM"]
STAGES = {"sort", "P2M", "M2M", "M2L", "L2L", "L2P", "P2P", "M2P", "P2L"}
KEYS = {"points", "distribution", "method", "m2p_pairs", "operations", "tolerance", "outputs", "precision", "backend", "threads", "seed",
        "kappa", "theta", "repeat", "order", "levels", "inflation", "asked_leaf", "max_leaf", "boxes", "leaves", "near_pairs", "third_law",
        "error_potential", "error_gradient", "seconds", "memory_bytes", "operator_bytes",
        "peak_memory_bytes"}


class BenchTest(ProgramTest):
    def bench(self, *arguments, code=0):
        """Runs the benchmark, checks its exit code and returns the finished process."""
        done = subprocess.run([BENCH, *map(str, arguments)], capture_output=True, text=True,
                              cwd=self.folder, timeout=300)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def rows(self, *arguments):
        """The rows that a run writes to standard output, where they must be alone."""
        done = self.bench(*arguments, "--json", "-")
        self.assertIn("| points | distribution |", done.stderr)
        return json.loads(done.stdout, parse_constant=self.fail)  # no NaN, no Infinity

    def refused(self, *arguments, saying):
        """The run ends with exit code 2 and one sentence, and leaves no new file behind."""
        before = sorted(self.folder.rglob("*"))
        errors = self.bench(*arguments, code=2).stderr.splitlines()
        self.assertEqual(len(errors), 1, errors)
        self.assertTrue(errors[0].startswith("fmbem-bench-fmm: "), errors[0])
        for word in [saying] if isinstance(saying, str) else saying:
            self.assertIn(word, errors[0])
        self.assertEqual(sorted(self.folder.rglob("*")), before)


class Tables(BenchTest):
    def test_every_combination_is_a_row_that_meets_its_tolerance(self):
        rows = self.rows("--points", 3000, "--distribution", "cube,sphere",
                         "--tolerance", "1e-4,1e-7", "--outputs", "both", "--repeat", 1)
        self.assertEqual([(row["distribution"], row["tolerance"]) for row in rows],
                         [("cube", 1e-4), ("cube", 1e-7), ("sphere", 1e-4), ("sphere", 1e-7)])
        for row in rows:
            self.assertLessEqual(KEYS, set(row))
            self.assertEqual(row["points"], 3000)
            self.assertLess(row["error_potential"], row["tolerance"])
            self.assertLess(row["error_gradient"], row["tolerance"])
            self.assertEqual(set(row["seconds"]["stages"]), STAGES)
            for seconds in ("plan", "evaluate"):
                self.assertGreater(row["seconds"][seconds], 0)
            self.assertGreater(row["peak_memory_bytes"], row["memory_bytes"])

    def test_plans_alone(self):
        for construction in ("sort", "histogram"):
            row, = self.rows("--points", 3000, "--construction", construction, "--plans", 3, "--repeat", 0, "--check", 0)
            self.assertEqual((row["construction"], row["plans"]), (construction, 3))
            self.assertGreater(row["seconds"]["plan"], 0)
            self.assertIsNone(row["seconds"]["evaluate"])

    def test_what_was_not_asked_for_is_null(self):
        for outputs, asked, other in (("potential", "error_potential", "error_gradient"),
                                      ("gradient", "error_gradient", "error_potential")):
            with self.subTest(outputs):
                row, = self.rows("--points", 1000, "--tolerance", "1e-3", "--outputs", outputs)
                self.assertLess(row[asked], 1e-3)
                self.assertIsNone(row[other])
        row, = self.rows("--points", 1000, "--check", 0)
        self.assertIsNone(row["error_potential"])

    def test_choices_by_hand_and_single_precision(self):
        row, = self.rows("--points", "2e3", "--tolerance", "1e-3", "--precision", "single",
                         "--order", 7, "--max-leaf", 40, "--inflation", 1.25, "--threads", 1,
                         "--seed", 5)
        for key, value in {"points": 2000, "precision": "single", "order": 7, "max_leaf": 40,
                           "inflation": 1.25, "threads": 1, "seed": 5}.items():
            self.assertEqual(row[key], value, key)
        self.assertLess(row["error_potential"], 1e-3)

    def test_the_kernel_and_theta_are_told(self):
        for words, kappas, theta in (((), [0], None), (("--kappa", "2.5,100"), [2.5, 100], None),
                                     (("--method", "treecode", "--theta", 0.5), [0], 0.5)):
            with self.subTest(words):
                done = self.bench("--points", 1000, "--tolerance", "1e-3", "--json", "-", *words)
                rows = json.loads(done.stdout)
                self.assertEqual([(row["kappa"], row["theta"]) for row in rows], [(kappa, theta) for kappa in kappas])
                self.assertIn(f"potential, {f'theta {theta}' if theta else 'default theta'},", done.stderr)
                for row in rows:
                    self.assertLess(row["error_potential"], 1e-3)
                    self.assertIn(f"\n| 1000 | cube | {row['method']} | {row['kappa']:g} | 0.001 | ", done.stderr)

    def test_kappa_is_over_the_side_of_the_points_cube(self):
        def errors(scale):
            self.write("points.xyz", "".join(f"{scale * (i % 7)} {scale * (i % 11)} {scale * (i % 13)} {(-1) ** i}\n"
                                             for i in range(1001)))
            row, = self.rows("--distribution", "points.xyz", "--tolerance", "1e-5", "--kappa", 10)
            return row["error_potential"]
        self.assertLess(errors(1), 1e-5)
        self.assertEqual(errors(4), errors(1))  # powers of two, without rounding

    def test_the_first_points_alone_are_targets(self):
        for method in ("direct", "fmm"):
            with self.subTest(method):
                row, = self.rows("--points", 3000, "--targets", 50, "--method", method, "--tolerance", "1e-5",
                                 "--outputs", "both")
                self.assertEqual((row["points"], row["targets"]), (3000, 50))
                self.assertLessEqual(row["near_pairs"], 3000 * 50)
                self.assertLess(row["error_potential"], 1e-5)
                self.assertLess(row["error_gradient"], 1e-5)
        self.assertEqual(self.rows("--points", 300, "--targets", 1000)[0]["targets"], 300)
        self.refused("--targets", 0, saying=["--targets", "not 0"])

    def test_several_leaf_sizes(self):
        rows = self.rows("--points", "2e3", "--tolerance", "1e-3", "--max-leaf", "40,400", "--method", "hybrid")
        self.assertEqual([row["asked_leaf"] for row in rows], [40, 400])
        for row in rows:
            self.assertLess(row["error_potential"], 1e-3)

    def test_the_seed_decides_the_errors(self):
        def error(seed):
            return self.rows("--points", 1000, "--seed", seed)[0]["error_potential"]
        self.assertEqual(error(3), error(3))
        self.assertNotEqual(error(3), error(4))

    def test_json_file(self):
        table = self.bench("--points", "500,700", "--json", "rows.json").stdout
        rows = json.loads((self.folder / "rows.json").read_text())
        self.assertEqual([row["points"] for row in rows], [500, 700])
        for row in rows:
            self.assertEqual(table.count(f"\n| {row['points']} | cube |"), 2)  # times and rates
        self.assertIn("fmbem tune", table)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["rows.json"])


class Files(BenchTest):
    def test_points_with_comments_and_charges(self):
        lines = [f"{i % 7 / 3} {i % 11 / 5},\t{i % 13 / 7} {(-1) ** i * 0.5}  # point {i}\r"
                 for i in range(1001)]
        self.write("points.xyz", "\n".join(["# x y z q", "", *lines]))
        row, = self.rows("--distribution", "points.xyz", "--tolerance", "1e-5")
        self.assertEqual((row["points"], row["distribution"]), (1001, "points.xyz"))
        self.assertLess(row["error_potential"], 1e-5)

    def test_points_beside_a_seeded_distribution(self):
        self.write("two.xyz", "0 0 0\n+1e0 .5 -1\n")
        rows = self.rows("--distribution", "two.xyz,cube", "--points", 300)
        self.assertEqual([row["points"] for row in rows], [2, 300])

    def refuse(self, content, saying):
        self.write("bad.xyz", content)
        self.refused("--distribution", "bad.xyz", "--json", "rows.json", saying=("bad.xyz", saying))

    def test_bad_files(self):
        self.refuse("0 0 0\n1 nan 1\n", "line 2")
        self.refuse("0 0 0\n1 1 inf\n", "line 2")
        self.refuse("0 0 0 1e999\n", "line 1")
        self.refuse("0 0 0x1\n", "line 1")
        self.refuse("# points\n0 0 0\n1 1", "line 3")
        self.refuse("0 0 0 1 2\n", "line 1")
        self.refuse("0 0 0 1\n0 1 0\n", "line 2")
        self.refuse("0 0 0\n0 1 0 1\n", "line 2")
        self.refuse(bytes(range(256)), "line 1")
        self.refuse("", "empty")
        self.refuse("# nothing\n\n", "no points")

    def test_files_that_cannot_be_used(self):
        self.refused("--distribution", "nowhere.xyz", saying="nowhere.xyz")
        (self.folder / "folder.xyz").mkdir()
        self.refused("--distribution", "folder.xyz", saying="folder.xyz")
        self.write("one.xyz", "0 0 0\n")
        self.refused("--distribution", "one.xyz", "--points", 5, saying="--points")
        self.refused("--distribution", "one.xyz", "--json", "one.xyz", saying="overwrite")


class BadOptions(BenchTest):
    def test_bad_options(self):
        for option, value, saying in [
                ("--distribution", "torus", 'no points called "torus"'),
                ("--distribution", "cube,", "--distribution has an empty entry"),
                ("--points", "0", "whole numbers from 1 to 1e12, not 0"),
                ("--points", "-5", "whole numbers from 1 to 1e12, not -5"),
                ("--points", "2.5", "whole numbers from 1 to 1e12, not 2.5"),
                ("--points", "nan", '--points takes finite numbers, not "nan"'),
                ("--points", "10,,20", "--points has an empty entry"),
                ("--points", "x", '--points takes finite numbers, not "x"'),
                ("--tolerance", "-1e-3", "the tolerance must be between 1e-14 and 0.1, not -0.001"),
                ("--tolerance", "0", "the tolerance must be between 1e-14 and 0.1, not 0"),
                ("--tolerance", "abc", '--tolerance takes finite numbers, not "abc"'),
                ("--tolerance", "inf", '--tolerance takes finite numbers, not "inf"'),
                ("--outputs", "hessian", "--outputs: hessian not in"),
                ("--precision", "half", "--precision: half not in"), ("--backend", "tpu", "--backend: tpu not in"),
                ("--threads", "0", "the number of threads must be between 1 and 4096"),
                ("--repeat", "0", "--repeat must be at least 1"), ("--plans", "0", "--plans must be at least 1"),
                ("--repeat", "x", "Could not convert: --repeat = x"), ("--check", "-1", "--check must be at least 0"),
                ("--seed", "-1", "--seed must be at least 0"), ("--order", "0", "the order must be between 1 and 40"),
                ("--max-leaf", "0", "--max-leaf takes whole numbers from 1 to 1e9"),
                ("--inflation", "3", "at least 1 and below 2, not 3"),
                ("--inflation", "nan", "at least 1 and below 2, not nan"),
                ("--third-law", "maybe", "--third-law: maybe not in"),
                ("--third-law", "on", "for plans on the GPU alone"),
                ("--no-such-option", "1", "not expected: 1 --no-such-option")]:
            with self.subTest(option=option, value=value):
                self.refused("--json", "rows.json", option, value, saying=saying)

    def test_the_gpu_or_a_sentence_why_not(self):
        arguments = ("--backend", "cuda", "--points", 2000, "--repeat", 1)
        done = subprocess.run([BENCH, *map(str, arguments)], capture_output=True, cwd=self.folder)
        if done.returncode != 0:  # no GPU here
            self.refused(*arguments, saying="backend cpu")
        else:
            self.assertLess(self.rows(*arguments)[0]["error_potential"], 1e-6)

    def test_single_precision_at_a_tight_tolerance(self):
        self.refused("--precision", "single", "--tolerance", "1e-9", "--json", "rows.json",
                     saying="single")

    def test_unwritable_json(self):
        for path, saying in (("/nowhere/rows.json", "cannot write /nowhere/rows.json: No such file"),
                             (str(self.folder), "it is a folder"), ("", "--json needs the name of a file")):
            with self.subTest(path):
                self.refused("--points", 100, "--json", path, saying=saying)

    def test_a_failed_run_leaves_an_older_report_alone(self):
        self.write("rows.json", "old")
        self.refused("--tolerance", "1e-4,2", "--points", 100, "--json", "rows.json",
                     saying="the tolerance must be between 1e-14 and 0.1, not 2")
        self.assertEqual((self.folder / "rows.json").read_text(), "old")


if __name__ == "__main__":
    unittest.main()
