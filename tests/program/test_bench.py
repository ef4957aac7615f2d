"""All benchmarks: their help and their refusals."""

import csv
import os
import pathlib
import re
import subprocess
import sys
import unittest

from harness import PROGRAM, ROOT, ProgramTest

FOLDER = pathlib.Path(os.environ["FMBEM_BENCHES"])

# What each benchmark refuses at once, and a part of the sentence.
PANELS = [(["abc"], "abc"), (["-5"], "-5")]
REFUSED = {
    "accuracy": [*PANELS, (["nan"], "nan"), (["0"], "PANELS"), (["-18446744073709551000"], "-18"),
                 ([""], "PANELS"), (["2.5"], "2.5"), (["9", "x"], "x")],
    "bits": [(["--panels", "-5"], "-5"), (["--points", "nan"], "nan"), (["--repeat", "0"], "--repeat"),
             (["--solves", "perhaps"], "perhaps")],
    "dielectrics": PANELS,
    "double-layer": PANELS,
    "estimates": PANELS,
    "field-times": [(["--surface", "teapot", "--cloud", "nonsense"], "teapot"), (["--cloud", "nonsense"], "nonsense"),
                    (["--repeat", "0"], "--repeat"), (["--check", "0"], "--check"), (["--points", "0"], "--points"),
                    (["--panels", "-5"], "-5"), (["--tolerance", "nan"], "nan")],
    "fields": [(["abc"], "abc"), (["-5"], "-5"), (["1"], "LEVEL")],
    "fmm": [(["--points", "abc"], "abc"), (["--distribution", "teapot"], "teapot"), (["--repeat", "0"], "--repeat"),
            (["--kappa", "-1"], "--kappa"), (["--kappa", "1,nan"], "nan"), (["--targets", "0"], "--targets")],
    "integrals": [(["abc"], "abc"), (["-5"], "-5")],
    "long-panels": [(["/nowhere/rows.csv"], "/nowhere"), ([""], "name"), (["rows.csv", "more"], "more")],
    "media": [(["--panels", "-5"], "-5"), (["--panels", "nan"], "nan"), (["--surface", "cube"], "--surface"),
              (["--edge-parts", "0"], "--edge-parts"),
              (["--permittivity", "0"], "--permittivity"), (["--tolerance", "2"], "--tolerance")],
    "mixed": [(["--case", "teapot"], "teapot"), (["--panels", "-5"], "-5"), (["--panels", "nan"], "nan"),
              (["--fewest", "5000"], "--fewest")],
    "moves": [(["--distribution", "teapot"], "teapot"), (["--repeat", "0"], "--repeat"),
              (["--points", "0"], "--points"), (["--points", "-5"], "-5"), (["--tolerance", "nan"], "nan"),
              (["--construction", "magic"], "magic")],
    "operator": [(["K'"], "K'"), (["V", "abc"], "abc"), (["V", "-5"], "-5"), (["V", "nan"], "nan"),
                 (["V", "0"], "PANELS"), (["V", "200", "0"], "ORDER"), (["V", "200", "2", "x"], "x")],
    "operator-norm": [(["W"], "W"), (["V", "abc"], "abc"), (["V", "0"], "PANELS"), (["V", "100", "-1"], "-1"),
                      (["V", "100", "x"], "x"), (["V", "100", "1", "teapot"], "teapot"),
                      (["V", "100", "1", "", "0"], "ORDER"), (["--kappa", "-1"], "--kappa"),
                      (["--tolerance", "1e-4,1"], "--tolerance"),
                      (["V", "100", "1", "", "2", "--tolerance", "1e-4"], "--tolerance")],
    "problems": [*PANELS, (["100", "teapot"], "teapot"), (["100", "head", "2"], "2")],
    "product": [(["--surface", "teapot"], "teapot"), (["--panels", "nan"], "nan"), (["--layer", "W"], "W"),
                (["--rows", "-1"], "--rows"), (["--repeat", "0"], "--repeat"), (["--tolerance", "-1"], "--tolerance"),
                (["--kappa", "-1"], "--kappa"), (["--vectors", "0"], "--vectors"), (["--backend", "tpu"], "tpu"),
                (["--max-leaf", "0"], "--max-leaf"), (["--near-field", "thin"], "thin"),
                (["--threads", "0"], "--threads")],
    "solvate": [(["--panels", "-5"], "-5"), (["--panels", "nan"], "nan"), (["--surface", "cube"], "--surface"),
                (["--formulation", "magic"], "magic"), (["--charges", "0"], "--charges"), (["--kappa", "nan"], "nan"),
                (["--layer", "-1"], "--layer"), (["--repeat", "0"], "--repeat")],
    "solve": [(["--operator-tolerance", "-3"], "--operator-tolerance"), (["--surface", "teapot"], "teapot"),
              (["--panels", "5"], "--panels"), (["--tolerance", "nan"], "nan"), (["--vectors", "0"], "--vectors")],
    "touching": PANELS,
    "write": [(["write.vtu", "abc"], "abc"), (["write.vtu", "-5"], "-5"), (["/nowhere/write.vtu", "20"], "/nowhere"),
              (["write.txt", "20"], "write.txt"), (["", "20"], "cannot write")],
}


class Benchmarks(ProgramTest):
    def bench(self, name, *arguments):
        return subprocess.run([FOLDER / f"fmbem-bench-{name}", *arguments], capture_output=True, text=True,
                              cwd=self.folder, timeout=60, check=False)

    def refused(self, name, arguments, saying):
        """The run ends with exit code 2 and one sentence, and changes no file."""
        before = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        done = self.bench(name, *arguments)
        self.assertEqual(done.returncode, 2, done)
        sentences = done.stderr.splitlines()
        self.assertEqual(len(sentences), 1, done)
        self.assertTrue(sentences[0].startswith(f"fmbem-bench-{name}: "), done)
        self.assertIn(saying, sentences[0])
        self.assertEqual({path.name: path.read_bytes() for path in self.folder.iterdir()}, before)

    def test_none_is_left_out(self):
        built = re.findall(r"^\s*fmbem_bench\((\S+)", (ROOT / "bench" / "CMakeLists.txt").read_text(), re.M)
        self.assertEqual(sorted(REFUSED), sorted(built))

    def test_help(self):
        for name in REFUSED:
            with self.subTest(name):
                done = self.bench(name, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("--help", done.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_nonsense(self):
        for name, lines in REFUSED.items():
            for arguments, saying in [*lines, (["--no-such-option"], "--no-such-option")]:
                with self.subTest(name, arguments=arguments):
                    self.refused(name, arguments, saying)

    def test_a_file_that_exists_is_not_written(self):
        self.write("mine.vtu", "mine")
        self.refused("write", ["mine.vtu", "20"], "mine.vtu")
        (self.folder / "link.vtu").symlink_to("mine.vtu")
        self.refused("write", ["link.vtu", "20"], "link.vtu")

    def test_no_rows_have_no_errors(self):
        done = self.bench("product", "--surface", "cube", "--panels", "100", "--rows", "0", "--repeat", "1")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout.splitlines()[-1].split(" | ")[15:17], ["–", "–"])

    def test_empty_words_stand_for_all(self):
        done = self.bench("operator-norm", "V", "30", "1", "", "2")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("\n| dust | ", done.stdout)

    def test_operators_of_yukawas_kernel_meet_their_tolerances(self):
        for layer in ("V", "K", "K'"):
            with self.subTest(layer):
                done = self.bench("operator-norm", layer, "500", "1", "tilted line", "--tolerance", "1e-3,1e-6",
                                  "--kappa", "0,10")
                self.assertEqual(done.returncode, 0, done)
                rows = [line.strip("|").split("|") for line in done.stdout.splitlines()[2:]]
                self.assertEqual([float(row[2]) for row in rows], [0, 10])
                for row in rows:
                    self.assertLess(0, float(row[5]))
                    self.assertLess(float(row[5]), 1e-3)
                    self.assertLess(float(row[9]), 1e-6)

    def test_dielectrics_that_are_hard_to_precondition_have_rows(self):
        file = self.folder / "rows.csv"
        subprocess.run([sys.executable, ROOT / "bench" / "mixed_iterations.py", PROGRAM, file, "--panels", "200,900",
                        "--cases", "spheres,plate 0.01,substrate"], check=True, capture_output=True, timeout=300)
        with file.open(encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        self.assertEqual([int(row["panels"]) for row in rows], [256, 1024, 252, 1020, 192, 768])
        for row in rows:
            self.assertLessEqual(int(row["iterations"]), 12, row)
            self.assertLess(float(row["true residual"]), 2e-6, row)


if __name__ == "__main__":
    unittest.main()
