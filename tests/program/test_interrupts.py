"""Whatever happens to a run, nothing partial is left and nothing is lost."""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import time
import unittest

from harness import PROGRAM, READER, ProgramTest, leave_out, read_vtu, without_sanitizer
from test_program import catches_interrupts

OUTPUTS = {"o.vtu", "o.json", "o.h5", "o.csv", "o.sp", "system"}
ARRAYS = {f"{name}.npy" for name in ("A", "b", "x", "residual", "permutation", "centroids", "areas", "normals")}


class Interrupts(ProgramTest):
    def arguments(self, folder, refine):
        return [PROGRAM, "capacitance", "two.msh", "--refine", str(refine), "--operator", "fmm",
                *(word for option, name in (("--output", "o.vtu"), ("--json", "o.json"), ("--save", "o.h5"),
                                            ("--csv", "o.csv"), ("--spice", "o.sp"), ("--export", "system"))
                  for word in (option, f"{folder}/{name}"))]

    def start(self, folder=".", refine=3, **keywords):
        """Runs `fmbem capacitance`; with `refine=4` it takes seconds, as the exported matrix has 2048²
        entries."""
        self.two_tetrahedra_file()
        return subprocess.Popen(self.arguments(folder, refine), cwd=self.folder, text=True,
                                **({"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE} | keywords))

    def names(self, folder="."):
        return {path.name for path in (self.folder / folder).iterdir()} - {"two.msh"}

    def check_whole(self, folder="."):
        """All outputs are there, and each opens."""
        root = self.folder / folder
        self.assertEqual(self.names(folder), OUTPUTS)
        self.assertEqual({path.name for path in (root / "system").iterdir()}, ARRAYS)
        self.assertEqual(json.loads((root / "o.json").read_text())["status"], "solved")
        self.assertEqual(len(read_vtu(root / "o.vtu")["group"]), 512)
        self.assertEqual((root / "o.csv").read_bytes().count(b"\r\n"), 5)
        self.assertIn(".ends", (root / "o.sp").read_text())
        self.fmbem("field", "--from", root / "o.h5", "--line", "9,9,9,8,8,8,2", "--output", root / "l.csv")
        (root / "l.csv").unlink()

    def sentences(self, errors):
        return [line for line in without_sanitizer(errors).splitlines() if line and "notice:" not in line]

    def test_signals_end_a_run_with_one_sentence(self):
        for which, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            for seconds in (0, 0.3, 1):
                with self.subTest(which=which, seconds=seconds):
                    process = self.start(refine=4)
                    while not catches_interrupts(process.pid):
                        time.sleep(0.005)
                    time.sleep(seconds)
                    self.assertIsNone(process.poll(), "the run is over: let it take longer")
                    process.send_signal(which)
                    _, errors = process.communicate(timeout=60)
                    self.assertEqual(process.returncode, code)
                    self.assertEqual(self.sentences(errors), ["fmbem: interrupted"])
                    self.assertEqual(self.names(), set())

    def test_what_is_ignored_from_the_start_stays_so(self):
        """As by nohup."""
        process = self.start(refine=4, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        while not catches_interrupts(process.pid):
            time.sleep(0.005)
        time.sleep(0.1)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 143)

    def start_writing(self, writer):
        """Runs `fmbem mesh` with a reader that first reads and then executes a line of a shell, and waits for
        that."""
        self.two_tetrahedra_file()
        calls = self.write("calls", "")
        reader = self.write("reader", f"#!/bin/sh\necho >>{calls}\n"
                                      f"[ $(wc -l <{calls}) = 2 ] || exec {READER}\n{writer}\n")
        os.chmod(reader, 0o755)
        process = subprocess.Popen([PROGRAM, "mesh", "two.msh", "--refine", "8", "--output", "o.msh"],
                                   cwd=self.folder, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env=os.environ | {"FMBEM_READER": reader})
        while os.path.getsize(calls) < 2:
            self.assertIsNone(process.poll())
            time.sleep(0.001)
        return process

    def interrupt(self, process, which):
        """Returns whether it came before the run's end."""
        process.send_signal(which)
        _, errors = process.communicate(timeout=60)
        if process.returncode == 0:
            return False
        self.assertEqual(process.returncode, 128 + which)
        self.assertEqual(self.sentences(errors), ["fmbem: interrupted"])
        return True

    def test_signals_to_fmbem_alone_while_it_has_msh_written(self):
        """Later and later, until the file is there."""
        delays = [0]
        for which in itertools.cycle((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)):
            process = self.start_writing(f"exec {READER}")
            time.sleep(delays[-1])
            if not self.interrupt(process, which):
                break
            time.sleep(0.2)
            # The whole file is there if the signal came just behind it.
            self.assertEqual(self.names() - {"o.msh"}, {"calls", "reader"}, f"{which} after {delays[-1]} s")
            delays.append(2 * delays[-1] or 0.1)
        self.assertEqual(self.names(), {"calls", "reader", "o.msh"})
        self.assertGreater(len(delays), 1, "the run is over: let it take longer")

    def test_what_writes_msh_does_not_outlive_an_interrupt(self):
        for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(which=which):
                process = self.start_writing("sleep 0.5; echo >.fmbem-$PPID-0.msh; sleep 9")
                self.assertTrue(self.interrupt(process, which))
                time.sleep(1)
                self.assertEqual(self.names(), {"calls", "reader"})

    def test_a_kill_leaves_no_output_that_is_not_whole(self):
        process = self.start(refine=4)
        time.sleep(1)
        process.kill()
        process.communicate()
        self.assertFalse(self.names() & OUTPUTS - {"system"})
        # What it had begun is in files of names of its own, and the next run is none the worse.
        process = self.start()
        process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0)
        for path in [*self.folder.glob(".fmbem-*"), *(self.folder / "system").glob(".fmbem-*")]:
            path.unlink()
        self.check_whole()

    def test_a_closed_pipe_loses_no_file(self):
        process = self.start(stdout=subprocess.PIPE)
        head = subprocess.run(["head", "-1"], stdin=process.stdout, capture_output=True, text=True)
        process.stdout.close()
        errors = process.stderr.read()
        process.stderr.close()
        self.assertTrue(head.stdout.startswith("mesh "))
        self.assertEqual(process.wait(timeout=300), 4)
        self.assertEqual(len(self.sentences(errors)), 1, errors)
        self.assertIn("Broken pipe", errors)
        self.check_whole()

    def test_two_runs_in_one_folder(self):
        runs = [self.start(), self.start()]
        for process in runs:
            _, errors = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, errors)
        self.check_whole()

    @contextlib.contextmanager
    def small_disk(self, kilobytes):
        disk = self.folder / "disk"
        disk.mkdir(exist_ok=True)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(disk)]
        if subprocess.run(mount, capture_output=True).returncode != 0:
            leave_out("file systems cannot be mounted here")
        try:
            yield disk
        finally:
            subprocess.run(["umount", str(disk)], check=True)

    def check_full(self, code, errors):
        """One sentence where something did not fit, and nothing partial."""
        self.assertIn(code, (0, 4))
        self.assertEqual(len(self.sentences(errors)), 1 if code else 0, errors)
        self.assertFalse([name for name in self.names("disk") if name.startswith(".fmbem")])

    def test_a_full_disk(self):
        codes = set()
        for kilobytes in (12, 60, 200, 1000, 64000):
            with self.small_disk(kilobytes) as disk, self.subTest(kilobytes):
                process = self.start("disk")
                _, errors = process.communicate(timeout=300)
                codes.add(process.returncode)
                self.check_full(process.returncode, errors)
                if process.returncode == 0:
                    self.check_whole("disk")
                elif (disk / "system").exists():
                    self.assertEqual(set(os.listdir(disk / "system")), ARRAYS)
        self.assertEqual(codes, {0, 4})

    def test_a_disk_that_msh_fills(self):
        self.two_tetrahedra_file()
        codes = set()
        for kilobytes in (4, 60, 64000):
            with self.small_disk(kilobytes) as disk, self.subTest(kilobytes):
                done = subprocess.run([PROGRAM, "mesh", "two.msh", "--refine", "4", "--output", disk / "o.msh"],
                                      cwd=self.folder, capture_output=True, text=True)
                codes.add(done.returncode)
                self.check_full(done.returncode, done.stderr)
                self.assertEqual(self.names("disk"), set() if done.returncode else {"o.msh"})
        self.assertEqual(codes, {0, 4})


if __name__ == "__main__":
    unittest.main()
