"""fmbem study: tables, resuming, and pictures."""

import collections
import csv
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import time
import unittest

from harness import PROGRAM, ROOT, ProgramTest, leave_out, release_alone

EXAMPLES = ROOT / "examples"

# Columns that no two studies have alike.
TIMES = {"mesh_s", "operator_s", "preconditioner_s", "setup_s", "solve_s", "solve_s_min", "solve_s_max",
         "peak_bytes", "operator_bytes"}


def python_with_matplotlib():
    for python in ("python3", "/usr/bin/python3"):
        try:
            if subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode == 0:
                return True
        except FileNotFoundError:
            continue
    return False


NO_PICTURES = {"FMBEM_PYTHON": "/bin/false"}  # which take longer than these studies


class StudyTest(ProgramTest):
    def fmbem(self, *arguments, env=NO_PICTURES, **keywords):
        return super().fmbem(*arguments, env=env, **keywords)

    def table(self, folder, name="runs"):
        with (self.folder / folder / f"{name}.csv").open(newline="") as stream:
            return list(csv.DictReader(stream))

    def steady(self, folder):
        """The tables without what depends on the clock."""
        runs = [{k: v for k, v in row.items() if k not in TIMES} for row in self.table(folder)]
        return runs, self.table(folder, "history"), self.table(folder, "spectrum")


class Tables(StudyTest):
    def test_a_small_study(self):
        self.fmbem("study", "--problem", "sphere,plate", "--refine", "0,1", "--formulation", "single,second",
                   "--pc", "cluster,none", "--ksp", "gmres:5,bcgs", "--rhs", "one,random:2", "--repeat", "2",
                   "--axis", "-ksp_max_it=2,50", "--ritz", "--spectrum", "--out", "out")
        runs, history = self.table("out"), self.table("out", "history")
        self.assertEqual([int(row["run"]) for row in runs], list(range(1, 2 * 2 * 2 * 2 * 2 * 2 * 2 + 1)))
        for row in runs:
            # Open surfaces have no second-kind equation, and 1/2 - K no cluster inverse.
            failed = row["formulation"] == "second" and (row["mesh"] == "plate" or row["preconditioner"] == "cluster")
            self.assertEqual(row["status"] == "failed", failed, row)
            if failed:
                self.assertRegex(row["reason"], "closed surface|no cluster inverse")
                continue
            self.assertEqual(row["N"], str(128 * 4 ** int(row["refine"])))
            limited = row["petsc_options"] == "-ksp_max_it 2"
            if not limited:
                self.assertEqual(row["status"], "solved", row)
            if row["status"] == "solved":
                self.assertLessEqual(float(row["true_residual"]), 2e-6)
            else:
                self.assertEqual((row["status"], row["reason"]), ("not_converged", "DIVERGED_ITS"))
            self.assertLessEqual(float(row["solve_s_min"]), float(row["solve_s"]))
            self.assertEqual(row["restart"], "5" if row["method"] == "gmres" else "")
            known = row["mesh"] == "sphere" and row["rhs"] == "one"
            self.assertEqual(bool(row["error"]), known)
            if known and not limited:
                self.assertLess(float(row["error"]), 0.05)
            own = [h for h in history if h["run"] == row["run"]]
            self.assertEqual({h["rhs"] for h in own}, {"0"} if row["rhs"] == "one" else {"0", "1"})
            self.assertEqual(max(int(h["iteration"]) for h in own), int(row["iterations"]))
            self.assertEqual(float(own[0]["residual"]), 1)
        # A spectrum is that of an operator: the first of its runs has it.
        counts = collections.Counter((s["run"], s["kind"]) for s in self.table("out", "spectrum"))
        operators = set()
        for row in runs:
            operator = tuple(row[key] for key in ("mesh", "refine", "formulation", "preconditioner", "side"))
            has_spectrum = row["status"] != "failed" and operator not in operators
            operators.add(operator)
            for kind in ("eigenvalue", "singular"):
                self.assertEqual(counts[row["run"], kind], int(row["N"]) if has_spectrum else 0, row)
        study = json.loads((self.folder / "out" / "study.json").read_text())
        self.assertEqual(study["arguments"]["ksp"], ["gmres:5", "bcgs"])
        self.assertEqual(study["runs"], len(runs))

    def test_a_file_says_the_same(self):
        toml = self.write("study.toml", 'problem = ["sphere"]\nrefine = [0, 1]\npc = ["none", "leaves"]\n'
                                        'tolerance = 1e-5\nritz = true\nout = "a"\n')
        other = self.write("study.json", json.dumps({"problem": "sphere", "refine": [0, 1], "pc": ["none", "leaves"],
                                                     "tolerance": 1e-5, "ritz": True, "out": "nowhere"}))
        self.fmbem("study", "--config", toml)
        self.fmbem("study", "--config", other, "--out", "b")
        self.fmbem("study", "--problem", "sphere", "--refine", "0,1", "--pc", "none,leaves", "--tolerance", "1e-5",
                   "--ritz", "--out", "c")
        self.assertEqual(self.steady("a"), self.steady("b"))
        self.assertEqual(self.steady("a"), self.steady("c"))
        self.assertFalse((self.folder / "nowhere").exists())

    def test_arrays_go_out_and_come_in(self):
        self.fmbem("study", "--problem", "sphere", "--pc", "none", "--rhs", "source", "--export", "--out", "a")
        system = self.folder / "a" / "system-1"
        header = b"\x93NUMPY"
        for name in ("A", "b", "permutation"):
            self.assertEqual((system / f"{name}.npy").read_bytes()[:6], header)
        raw = (system / "b.npy").read_bytes()[-8 * 128:]
        order = struct.unpack("<128q", (system / "permutation.npy").read_bytes()[-8 * 128:])
        values = struct.unpack("<128d", raw)
        in_mesh_order = [values[order.index(k)] for k in range(128)]
        head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (128,), }"
        head += b" " * (-(len(head) + 11) % 64) + b"\n"
        self.write("b.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head +
                   struct.pack("<128d", *in_mesh_order))
        self.fmbem("study", "--problem", "sphere", "--pc", "none", "--rhs", "b.npy", "--out", "b")
        self.assertEqual(self.table("a", "history"), self.table("b", "history"))

    def test_direct_solves_are_of_all_equations(self):
        self.write("charged.json", json.dumps(
            {"version": 1, "groups": {"body": {"conductor": {"charge": 1e-9}}}}))
        for number, (case, operator) in enumerate([
                (("--problem", "cube", "--formulation", "mixed"), "dense"),
                (("--problem", "cell", "--formulation", "media"), "dense"),
                ((self.tetrahedron_file(), "--media", "charged.json", "--formulation", "media"), "fmm")]):
            with self.subTest(number):
                self.fmbem("study", *case, "--operator", operator, "--ksp", "preonly", "--pc", "lu",
                           "--rhs", "one", "--out", f"direct{number}")
                for row in self.table(f"direct{number}"):
                    self.assertLess(float(row["true_residual"]), 1e-11)

    def test_media_and_molecules(self):
        self.fmbem("study", "--problem", "cell:1e4,shells:1e6", "--formulation", "media", "--rhs", "one,groups",
                   "--pc", "cluster,asm", "--out", "media")
        self.fmbem("study", EXAMPLES / "coated.geo", "--media", EXAMPLES / "coated.json", "--formulation", "media",
                   "--out", "file")
        self.fmbem("study", "--problem", "kirkwood,molecule", "--formulation", "solvate,solvate:juffer,solvate:lu",
                   "--kappa", "0.1", "--pc", "cluster,leaves,none,asm", "--out", "solvate")
        self.fmbem("study", EXAMPLES / "ion.geo", "--pqr", EXAMPLES / "ion.pqr", "--formulation", "solvate:lu",
                   "--permittivity-inside", "1", "--ionic-strength", "0.1", "--out", "ion")
        rows = [row for name in ("media", "file", "solvate", "ion") for row in self.table(name)]
        for row in rows:
            # Shells have no conductors, and molecules no matrix of close panels.
            failed = (row["mesh"] == "shells:1e6" and row["rhs"] == "groups") or (
                row["preconditioner"] == "asm" and row["formulation"].startswith("solvate"))
            self.assertEqual(row["status"], "failed" if failed else "solved", row)
            if failed:
                continue
            if row["preconditioner"] == "cluster":
                self.assertLessEqual(int(row["iterations"]), 12, row)
            self.assertEqual(bool(row["quantity"]), row["rhs"] == "one")
            # On 384 panels, and on the 128 of a sphere whose charge is near them: 5e-4, and 0.10 to 0.15.
            bound = {"shells:1e6": 1e-3, "kirkwood": 0.25}.get(row["mesh"])
            self.assertEqual(bool(row["error"]), bound is not None)
            if bound is not None:
                self.assertLess(float(row["error"]), bound, row)
        self.assertEqual({row["rhs_count"] for row in rows if row["mesh"] == "cell:1e4"}, {"1", "9"})
        # Kirkwood's series for vacuum in a conductor is -332/(2 a (1 - r²/a²)), a = 4 and r² = 3.
        self.assertAlmostEqual(float(self.table("ion")[0]["quantity"]), -51.1, delta=2)

    def test_right_hand_sides_one_after_the_other(self):
        words = ("study", "--problem", "two-spheres:0.1,bus", "--rhs", "groups", "--pc", "cluster,none")
        self.fmbem(*words, "--in-step", "4,1", "--ksp", "gmres,dgmres", "--out", "steps")
        runs = self.table("steps")
        for row in runs:
            self.assertEqual(row["status"], "solved", row)
            groups = 2 if row["mesh"] == "two-spheres:0.1" else 4
            self.assertEqual(row["rhs_count"], str(groups))
            self.assertIn(row["in_step"], ("1", str(groups)) if row["preconditioner"] == "cluster" else ("1",))
            # As many as the longest takes, or at most as many for each.
            least = int(row["iterations"])
            self.assertGreaterEqual(int(row["products"]), least)
            self.assertLessEqual(int(row["products"]), (least + 1) * (1 if row["in_step"] != "1" else groups))
        self.fmbem(*words, "--in-step", "1", "--axis", "-ksp_guess_type=fischer,pod", "--out", "guess")
        for row in self.table("guess"):
            self.assertEqual(row["status"], "solved", row)
            self.assertLessEqual(float(row["true_residual"]), 2e-6)
        # A vector twice: PETSc's guess is the solution.
        data = [k % 7 - 3.0 for k in range(128)]
        head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 128), }"
        head += b" " * (-(len(head) + 11) % 64) + b"\n"
        self.write("twice.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head +
                   struct.pack("<256d", *(data + data)))
        self.fmbem("study", "--problem", "sphere", "--rhs", "twice.npy", "--in-step", "1", "--axis",
                   "-ksp_guess_type=pod", "--out", "twice")
        history = self.table("twice", "history")
        again = [float(row["residual"]) for row in history if row["rhs"] == "1"]
        self.assertLess(again[0], 1e-4)
        self.assertLessEqual(again[-1], 1e-6)
        done = self.fmbem("study", "--problem", "sphere", "--axis", "-ksp_guess_type=pod", "--repeat", "2", "--out",
                          "refused", code=3)  # as every run failed
        self.assertIn("1 of 1 runs failed", done.stderr)
        self.assertIn("--repeat 1", self.table("refused")[0]["reason"])

    def test_bad_words_are_refused(self):
        for words, saying in (
                ((), "MESH"),
                (("--problem", "sphere"), "--out"),
                (("--problem", "ball", "--out", "x"), "no problem"),
                (("--problem", "sphere", "--out", "x", "--ksp", "gmress"), "gmress"),
                (("--problem", "sphere", "--out", "x", "--ksp", "bcgs:3"), "does not restart"),
                (("--problem", "sphere", "--out", "x", "--pc", "luck"), "--pc takes"),
                (("--problem", "sphere", "--out", "x", "--rhs", "two"), "--rhs takes"),
                (("--problem", "sphere", "--out", "x", "--operator", "fmm,fast"), "fast not in"),
                (("--problem", "sphere", "--out", "x", "--formulation", "third"), "one of single"),
                (("--problem", "sphere", "--out", "x", "--formulation", "dielectric:-2"), "dielectric:80"),
                (("--problem", "sphere", "--out", "x", "--rhs", "none.npy"), "none.npy"),
                (("--problem", "sphere", "--out", "x", "--set", "n=3"), "--set"),
                (("--problem", "sphere", "--out", "x", "--tolerance", "2"), "--tolerance"),
                (("--problem", "sphere", "--out", "x", "--axis", "-ksp_max_it"), "--axis"),
                (("--problem", "sphere", "--out", "x", "-ksp_max_it", "1"), "takes no PETSc options"),
                (("--problem", "sphere", "--out", "x", "--in-step", "5"), "--in-step"),
                (("--problem", "sphere", "--out", "x", "--rhs", "groups:2"), "only random"),
                (("--problem", "sphere", "--out", "x", "--pqr", "a.pqr"), "MESH"),
                (("--problem", "sphere", "--out", "x", "--formulation", "solvate:best"), "solvate is followed"),
                (("--problem", "sphere", "--out", "x", "--formulation", "solvate", "--kappa", "-1"), "κ"),
                (("--problem", "sphere", "--out", "x", "--kappa", "0.1"), "--formulation solvate"),
                (("--problem", "sphere", "--out", "x", "--temperature", "310"), "--formulation solvate"),
                (("--problem", "sphere", "--out", "x", "--refine", "0,-1"), "not -1"),
                (("--problem", "sphere", "--out", "x", "--refine", "13"), "not 13"),
                ((EXAMPLES / "ion.geo", "--mesh-size", "1,-2", "--out", "x"), "not -2"),
                ((EXAMPLES / "ion.geo", "--unit", "ell", "--out", "x"), "ell"),
                ((EXAMPLES / "ion.geo", "--pqr", "no.pqr", "--formulation", "solvate", "--out", "x"), "no.pqr"),
                ((EXAMPLES / "ion.geo", "--pqr", "no.pqr", "--out", "x"), "--formulation solvate"),
                ((EXAMPLES / "ion.geo", "--media", "no.json", "--formulation", "media", "--out", "x"), "no.json"),
                ((EXAMPLES / "ion.geo", "--media", "no.json", "--out", "x"), "--formulation media"),
                (("--plot", "nowhere"), "no tables"),
                (("--plot", "nowhere", "--refine", "2"), "leave out --refine"),
                (("--plot", "nowhere", "a.msh"), "leave out MESH"),
                (("--config", "no.toml"), "no.toml")):
            self.refused("study", *words, saying=saying)
        for text, saying in (("problem = 3", 'no problem "3"'), ('"a" = 1', '"a" is no option of a study'),
                             ("[problem]\nx = 1", "is no option of a study"),
                             ("problem = sphere\nout = x\nbad = 1", '"bad" is no option of a study')):
            self.refused("study", "--config", self.write("s.toml", text), saying=saying)


class Residuals(StudyTest):
    def npy(self, values):
        head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(values)},), }}".encode()
        head += b" " * (-(len(head) + 11) % 64) + b"\n"
        return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(values)}d", *values)

    def row(self, *words, code=0):
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        self.fmbem("study", "--problem", "sphere", "--quiet", *words, "--out", "out", code=code)
        return self.table("out")[0]

    def test_small_data_are_solved_for_and_those_without_a_relative_residual_fail(self):
        for size in (1e-90, 1e-60, 1e90):
            self.write("b.npy", self.npy([size * (k % 7 - 3.5) for k in range(128)]))
            row = self.row("--rhs", "b.npy")
            self.assertEqual((row["status"], row["reason"]), ("solved", "CONVERGED_RTOL"))
            self.assertTrue(0 < float(row["true_residual"]) <= 2e-6)
            self.assertGreater(int(row["iterations"]), 1)
        for size in (0, 1e-170, 1e200):
            self.write("b.npy", self.npy([size * (k % 7 - 3.5) for k in range(128)]))
            row = self.row("--rhs", "b.npy", code=3)
            self.assertEqual((row["status"], row["true_residual"]), ("failed", ""))
            self.assertIn("the norm of right-hand side 0", row["reason"])

    def test_the_tolerance_is_the_one_in_force(self):
        row = self.row("--operator", "fmm", "--operator-tolerance", "1e-4", "--axis", "-ksp_rtol=1e-2,1e-8")
        rows = [row, self.table("out")[1]]
        self.assertEqual([(float(row["tolerance"]), row["status"]) for row in rows],
                         [(1e-2, "solved"), (1e-8, "above_tolerance")])

    def test_a_tolerance_that_the_fmm_does_not_reach(self):
        for formulation, enough in (("single", "1e-11"), ("direct", "1e-10"), ("dielectric:3", "3.4e-11")):
            words = ("--operator", "fmm", "--formulation", formulation, "--max-iterations", "1")
            row = self.row(*words, "--operator-tolerance", "1e-12", code=3)
            self.assertEqual(row["status"], "failed")
            self.assertIn(f"--operator-tolerance 1e-12 asks for: use {enough} or more", row["reason"])
            self.assertNotEqual(self.row(*words, "--operator-tolerance", enough)["status"], "failed")
        row = self.row("--operator", "fmm", "--tolerance", "1e-12", code=3)
        self.assertIn("a solve to 1e-12 asks for", row["reason"])
        self.assertIn("use --tolerance 1e-10 or more", row["reason"])

    def test_the_users_absolute_tolerance_stays(self):
        row = self.row("--axis", "-ksp_atol=1e3")
        self.assertEqual((row["status"], row["reason"]), ("above_tolerance", "CONVERGED_ATOL"))

    def test_methods_that_find_no_residuals_have_blanks(self):
        row = self.row("--ksp", "richardson", "--axis", "-ksp_norm_type=none", "--max-iterations", "3")
        self.assertEqual(row["reported_residual"], "")
        self.assertGreater(float(row["true_residual"]), 0)


class Spectra(StudyTest):
    def runs_with_spectrum(self, *words, code=0):
        self.fmbem("study", "--problem", "sphere", "--quiet", "--spectrum", *words, "--out", "out", code=code)
        return {int(row["run"]) for row in self.table("out", "spectrum") if row["kind"] == "singular"}

    def test_each_preconditioned_operator_has_one(self):
        words = ("--ksp", "gmres,bcgs,cg", "--operator", "dense,fmm", "--tolerance", "1e-3,1e-6",
                 "--precision", "auto,double")
        found = self.runs_with_spectrum(*words)
        operators = {}
        for row in self.table("out"):
            key = tuple(row[name] for name in ("operator", "operator_tolerance", "side"))
            operators.setdefault(key, set()).add(int(row["run"]))
        self.assertEqual({row["side"] for row in self.table("out")}, {"left", "right"})
        self.assertEqual(len(operators), 8)
        for runs in operators.values():
            self.assertEqual(len(runs & found), 2, runs)  # of each precision that was asked for

    def test_a_run_that_fails_leaves_it_to_the_next(self):
        self.assertEqual(self.runs_with_spectrum("--ksp", "gmres,bcgs", "--axis", "-ksp_type=nothing,gmres",
                                                 "--pc", "none"), {2})
        self.assertEqual([row["status"] for row in self.table("out")], ["failed", "solved"] * 2)

    def test_a_study_that_goes_on_has_each_once(self):
        words = ("--ksp", "gmres,bcgs,cg", "--export")
        self.assertEqual(self.runs_with_spectrum(*words), {1, 3})
        path = self.folder / "out" / "runs.csv"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:-2]))
        self.assertEqual(self.runs_with_spectrum(*words), {1, 3})
        self.assertEqual([path.name for path in (self.folder / "out").glob("system-*")], ["system-1"])


class Recycling(StudyTest):
    PYTHON = "/usr/bin/python3"  # which has Debian's packages

    def test_the_example_counts_products(self):
        """A, b and an independent GMRES in SciPy, and GCROT, which keeps what it has learnt."""
        if subprocess.run([self.PYTHON, "-c", "import scipy.sparse.linalg"], capture_output=True).returncode != 0:
            leave_out("no Python with SciPy")
        (self.folder / "examples").symlink_to(EXAMPLES)
        script = (EXAMPLES / "recycling.py").read_text()
        commands = [line.split() for line in script.splitlines() if line.startswith(("    fmbem ", "    python3 "))]
        self.assertEqual([words[0] for words in commands], ["fmbem", "python3"])
        self.fmbem(*commands[0][1:])
        done = subprocess.run([self.PYTHON, *commands[1][1:]], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        counts = [[int(word) for word in line.split(": ")[1].split(", ")] for line in done.stdout.splitlines()]
        self.assertEqual([len(of) for of in counts], [4, 4, 4])
        self.assertLess(sum(counts[2]), sum(counts[1]))
        # SciPy counts the product for the first residual, or for the last one.
        (run,) = self.table("conductors")
        for count in counts[0]:
            self.assertLessEqual(abs(count - int(run["iterations"])), 2)


class Resuming(StudyTest):
    WORDS = ("study", "--problem", "sphere,two-spheres:0.1", "--refine", "0,1", "--pc", "cluster,none,jacobi",
             "--ksp", "gmres,gcr,bcgs", "--rhs", "one,random:2", "--ritz", "--quiet")

    def test_interrupted_ten_times_it_ends_with_the_same_table(self):
        start = time.monotonic()
        self.fmbem(*self.WORDS, "--out", "whole")
        seconds = time.monotonic() - start
        generator = random.Random(27)
        environment = {**{k: v for k, v in os.environ.items() if k != "PETSC_OPTIONS"}, **NO_PICTURES}
        for k in range(10):
            process = subprocess.Popen([PROGRAM, *self.WORDS, "--out", "parts"], cwd=self.folder, env=environment,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(generator.uniform(0.1, 0.9) * seconds)
            process.send_signal(signal.SIGKILL if k % 2 else signal.SIGINT)
            process.wait()
            if k % 3 == 0 and (self.folder / "parts" / "runs.csv").exists():
                # As if it had been killed between two pieces of a row.
                with (self.folder / "parts" / "runs.csv").open("a") as stream:
                    stream.write("9999,solved,CONV")
        self.fmbem(*self.WORDS, "--out", "parts")
        self.assertEqual(self.steady("whole"), self.steady("parts"))
        before = (self.folder / "parts" / "runs.csv").read_bytes()
        self.fmbem(*self.WORDS, "--out", "parts")  # nothing is left to do
        self.assertEqual((self.folder / "parts" / "runs.csv").read_bytes(), before)

    def test_rows_lost_between_the_tables_come_back_once(self):
        self.fmbem(*self.WORDS, "--out", "out")
        whole = self.steady("out")
        path = self.folder / "out" / "runs.csv"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:-3]))  # their histories stay
        self.fmbem(*self.WORDS, "--out", "out")
        self.assertEqual(self.steady("out"), whole)

    def test_a_mesh_that_has_changed_is_refused(self):
        self.tetrahedron_file("mesh.msh")
        words = ("study", "mesh.msh", "--out", "out", "--quiet")
        self.fmbem(*words)
        self.fmbem(*words)
        shutil.copy(self.two_tetrahedra_file(), self.folder / "mesh.msh")
        self.refused(*words, saying=["out", "files that have changed"])

    def test_another_program_and_other_options_are_refused(self):
        words = ("study", "--problem", "sphere", "--out", "out", "--quiet")
        options = {**NO_PICTURES, "PETSC_OPTIONS": "-ksp_gmres_cgs_refinement_type refine_always -unknown 3"}
        done = self.fmbem(*words, env=options)
        self.assertIn("-unknown from PETSC_OPTIONS or an rc file was not used", done.stderr)
        path = self.folder / "out" / "study.json"
        study = json.loads(path.read_text())
        self.assertEqual(set(study["run"]["petsc_options"].split()), set(options["PETSC_OPTIONS"].split()))
        self.fmbem(*words, env=options)
        self.refused(*words, saying=["other PETSc options", "refine_always", "PETSC_OPTIONS"])
        for name, holder in (("version", study), ("commit", study["run"])):
            former, holder[name] = holder[name], "0.0.1"
            path.write_text(json.dumps(study))
            self.refused(*words, env=options, saying=["out", "0.0.1", "another folder"])
            holder[name] = former

    def test_a_study_of_failures_ends_as_before(self):
        words = ("study", "--problem", "plate", "--formulation", "second", "--out", "out", "--quiet")
        for _ in range(2):
            done = self.fmbem(*words, code=3)
            self.assertIn("1 of 1 runs failed", done.stderr)

    def test_a_short_row_is_no_run(self):
        words = ("study", "--problem", "sphere", "--out", "out", "--quiet")
        self.fmbem(*words)
        for name in ("runs", "history", "spectrum"):
            path = self.folder / "out" / f"{name}.csv"
            whole = path.read_text()
            path.write_text(whole + "1,solved\n")
            self.refused(*words, saying=[f"{name}.csv is damaged", "run 1", "2 columns"])
            path.write_text(whole)

    def test_other_arguments_and_other_tables_are_refused(self):
        self.fmbem("study", "--problem", "sphere", "--out", "out", "--quiet")
        self.refused("study", "--problem", "sphere", "--pc", "none", "--out", "out", saying=["--pc", "another"])
        (self.folder / "out" / "study.json").unlink()
        self.refused("study", "--problem", "sphere", "--out", "out", saying="without study.json")


class Pictures(StudyTest):
    NAMES = ("residuals", "iterations", "work_precision", "spectrum")

    @release_alone("a script of Python makes them")
    def test_they_are_made_and_made_anew(self):
        if not python_with_matplotlib():
            leave_out("no Python with matplotlib")
        self.fmbem("study", "--problem", "sphere", "--refine", "0,1", "--pc", "cluster,none", "--tolerance",
                   "1e-3,1e-6", "--spectrum", "--out", "out", env={})
        first = {}
        for name in self.NAMES:
            path = self.folder / "out" / name
            self.assertEqual(path.with_suffix(".png").read_bytes()[:4], b"\x89PNG")
            first[name] = path.with_suffix(".svg").read_bytes()
            self.assertIn(b"</svg>", first[name])
            path.with_suffix(".svg").unlink()
        self.fmbem("study", "--plot", "out", env={})
        for name in self.NAMES:
            self.assertEqual((self.folder / "out" / f"{name}.svg").read_bytes(), first[name])

    @release_alone("a script of Python makes them")
    def test_names_of_files_need_not_be_text(self):
        if not python_with_matplotlib():
            leave_out("no Python with matplotlib")
        mesh = os.fsencode(self.folder) + b"/bad\xff.msh"
        os.rename(os.fsencode(self.tetrahedron_file()), mesh)
        self.write("csv.py", "raise RuntimeError('not this one')")  # nor modules those of the folder
        for _ in range(2):
            done = subprocess.run([PROGRAM, "study", b"bad\xff.msh", "--out", "out"], cwd=self.folder,
                                  capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn(b"Traceback", done.stderr)
            self.assertEqual(len(list((self.folder / "out").glob("*.png"))), 3)

    @release_alone("a script of Python makes them")
    def test_damaged_tables_get_one_sentence(self):
        if not python_with_matplotlib():
            leave_out("no Python with matplotlib")
        self.fmbem("study", "--problem", "sphere", "--out", "out", env={})
        for name, damaged, saying in (
                ("runs.csv", lambda text: text + "2,solved\n", "a row of run 2 has other columns"),
                ("runs.csv", lambda text: text.replace(",128,", ",many,"), "N of run 1 is no number"),
                ("history.csv", lambda text: text + "1,0,1,little\n", "residual of run 1 is no number"),
                ("study.json", lambda text: text[:100], "damaged")):
            path = self.folder / "out" / name
            text = path.read_text()
            path.write_text(damaged(text))
            self.refused("study", "--plot", "out", saying=[name, saying], env={})
            path.write_text(text)
        (self.folder / "out" / "history.csv").write_text("run,rhs,iteration,residual\n1,0,0,\n1,0,1,0.5\n1,0")
        self.fmbem("study", "--plot", "out", env={})

    def test_without_matplotlib_the_tables_stay(self):
        done = self.fmbem("study", "--problem", "sphere", "--out", "out")
        self.assertIn("python3-matplotlib", done.stderr)
        self.assertEqual(len(self.table("out")), 1)
        self.refused("study", "--plot", "out", saying="python3-matplotlib")


if __name__ == "__main__":
    unittest.main()
