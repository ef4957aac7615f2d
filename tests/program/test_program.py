"""The program's surface: help, versions, mesh checks, interrupts and limits."""

import bisect
import itertools
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import unittest

from harness import PROGRAM, READER, ROOT, ProgramTest, release_alone


class Help(ProgramTest):
    def test_help_has_an_example_for_each_command(self):
        self.assertIn("capacitance", self.fmbem("--help").stdout)
        for command in ("capacitance", "field", "mesh-info", "info", "study", "tune"):
            text = self.fmbem(command, "--help").stdout
            self.assertIn("Example", text)
            self.assertIn("fmbem " + command, text)

    def test_version_is_that_of_the_project(self):
        version = re.search(r"project\(fmbem VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
        self.assertEqual(self.fmbem("--version").stdout.strip(), "fmbem " + version.group(1))

    def test_info(self):
        report = self.report("info")
        self.assertEqual(report["build"]["backends"],
                         ["cpu", "cuda"] if report["build"]["cuda"] else ["cpu"])
        self.assertIn("PETSc", self.fmbem("info").stdout)
        self.assertRegex(report["build"]["gmsh"], r"^\d+\.\d+")

    def test_info_goes_on_without_a_reader(self):
        broken = self.write("broken", "#!/bin/sh\nkill -SEGV $$\n")
        os.chmod(broken, 0o755)
        for reader in ("/nowhere/reader", "/bin/true", broken):
            with self.subTest(reader):
                self.assertIsNone(self.report("info", env={"FMBEM_READER": reader})["build"]["gmsh"])
                self.assertRegex(self.fmbem("info", env={"FMBEM_READER": reader}).stdout, "Gmsh +not found")


class MeshInfo(ProgramTest):
    def test_tetrahedron(self):
        report = self.report("mesh-info", self.tetrahedron_file())
        self.assertEqual(report["mesh"]["panels"], 4)
        self.assertEqual(report["mesh"]["groups"][0]["name"], "body")
        self.assertAlmostEqual(report["results"]["volume"]["value"], 1 / 6)
        self.assertAlmostEqual(report["mesh"]["area"], 1.5 + 3 ** 0.5 / 2)
        self.assertEqual(report["results"]["open_edges"]["value"], 0)
        self.assertAlmostEqual(report["results"]["smallest_angle"]["value"], 45)

    def test_refinement_and_unit(self):
        report = self.report("mesh-info", self.tetrahedron_file(), "--refine", "3", "--unit", "nm")
        self.assertEqual(report["mesh"]["panels"], 4 * 64)
        self.assertEqual(report["mesh"]["scale_to_m"], 1e-9)


class Tune(ProgramTest):
    def test_a_table_where_the_library_looks_for_it(self):
        report = self.report("tune")
        table = pathlib.Path(report["rates"]["file"])
        self.assertEqual(table.parent, self.folder / "config" / "fmbem")
        self.assertIn("double near_potential", table.read_text())
        self.assertGreater(report["rates"]["double"]["products"][-1]["operations"], 1e8)

    def test_a_file_that_cannot_be_written_is_refused_at_once(self):
        start = time.monotonic()
        done = self.fmbem("tune", "--output", "/proc/nowhere/my.rates", code=2)
        self.assertLess(time.monotonic() - start, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.fmbem("tune", "--threads", "0", code=2)

    def test_without_a_configuration_folder_nothing_is_written_or_read(self):
        nowhere = {"HOME": "", "XDG_CONFIG_HOME": ""}
        self.refused("tune", env=nowhere, saying=["HOME", "--output"])
        (self.folder / "fmbem").mkdir()
        self.write(f"fmbem/{socket.gethostname()}.rates", "damaged")
        self.fmbem("nbody", "--points", "20000", "--method", "fmm", env=nowhere)

    def test_a_table_that_is_not_there_is_refused(self):
        nowhere = {"FMBEM_RATES": str(self.folder / "no.rates")}
        self.refused("nbody", "--points", "20000", "--method", "fmm", env=nowhere,
                     saying=["FMBEM_RATES", "no.rates", "fmbem tune"])

    def test_a_gpu_that_is_not_there_is_not_measured(self):
        if self.has_gpu():
            return
        self.refused("tune", "--gpu-output", "gpu.rates", saying=("backend cpu",))


def catches_interrupts(pid):
    """Whether a process has come so far as to have a handler for them."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return int(caught, 16) >> (signal.SIGINT - 1) & 1


class Interrupt(ProgramTest):
    def test_an_interrupt_leaves_no_partial_file(self):
        # A mesh that takes any machine longer to make than it is given.
        process = subprocess.Popen([PROGRAM, "capacitance", self.cube_file(), "--mesh-size", "0.003", "--output",
                                    "cube.vtu", "--json", "cube.json"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not catches_interrupts(process.pid):
            time.sleep(0.01)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["cube.geo"])


class Surroundings(ProgramTest):
    def test_a_working_folder_that_is_gone(self):
        done = subprocess.run(["bash", "-c", 'mkdir gone; cd gone; rmdir ../gone; exec "$0" "$@"', PROGRAM,
                               "capacitance", self.tetrahedron_file()], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("the working folder", done.stderr)


class Limits(ProgramTest):
    def setUp(self):
        super().setUp()
        libraries = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True).stdout
        if "libomp" in libraries:
            self.skipTest("clang's OpenMP ends programs itself where it finds no room")

    def limited(self, limit, output="cube.vtu"):
        """A solve under a limit of the shell's."""
        return subprocess.run(["bash", "-c", f'ulimit {limit}; exec "$0" "$@"', PROGRAM, "capacitance",
                               self.cube_file(), "--mesh-size", "0.1", "--output", output],
                              cwd=self.folder, capture_output=True, text=True, timeout=300,
                              env=os.environ | {"OMP_NUM_THREADS": "2"})

    def test_files_that_may_not_be_so_large(self):
        """The mesh between both processes, and the output, which is larger than some limits and not others."""
        for output, kilobytes in itertools.product(("cube.vtu", "cube.msh"), (0, 1, 20, 200)):
            with self.subTest(output=output, kilobytes=kilobytes):
                done = self.limited(f"-f {kilobytes}", output)
                self.assertIn(done.returncode, (0, 4) if kilobytes > 1 else (4,), done.stderr)
                errors = [line for line in done.stderr.splitlines() if "notice:" not in line]
                self.assertEqual(len(errors), 1 if done.returncode else 0, done.stderr)
                files = {path.name for path in self.folder.iterdir()}
                self.assertEqual(files, {"cube.geo"} | ({output} if done.returncode == 0 else set()))
                (self.folder / output).unlink(missing_ok=True)

    def loads_in(self, megabytes):
        """Whether PETSc and MPI come up in so much address space: CUDA's libraries are large, and OpenBLAS's
        would try for ever to get its buffers where there is no room."""
        command = f'ulimit -v {1024 * megabytes}; ulimit -t 2; exec "$0" -help'
        try:
            return subprocess.run(["bash", "-c", command, PROGRAM], capture_output=True, timeout=10).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    @release_alone("the address sanitizer takes terabytes of address space")
    def test_address_space_that_ends(self):
        """OpenBLAS would try for ever to get its buffers."""
        codes = set()
        sizes = range(100, 10000, 10)
        least = sizes[bisect.bisect_left(sizes, True, key=self.loads_in)]
        for more in (80, 110, 140, 340, 640):  # with 40 or less MPI crashes now and then
            done = self.limited(f"-v {1024 * (least + more)}")
            codes.add(done.returncode)
            if done.returncode == 0:
                (self.folder / "cube.vtu").unlink()
            else:
                self.assertEqual(done.returncode, 4, done.stderr)
                # MPI has lines of its own where a thread of its finds no room.
                errors = [line for line in done.stderr.splitlines()
                          if line.startswith("fmbem: ") and "notice:" not in line]
                self.assertEqual(len(errors), 1, done.stderr)
            self.assertEqual([path.name for path in self.folder.iterdir()], ["cube.geo"])
        self.assertIn(4, codes)

    def test_a_library_that_ends_the_program(self):
        """libgomp does where a thread cannot start, as none can with a stack larger than all addresses."""
        reader = self.write("reader", f"#!/bin/sh\nunset OMP_STACKSIZE\nexec {READER}\n")
        os.chmod(reader, 0o755)
        for reads, sentence in (READER, "had no room for its threads"), (reader, "for want of memory or threads"):
            done = subprocess.run([PROGRAM, "capacitance", self.cube_file(), "--output", "cube.vtu"],
                                  cwd=self.folder, capture_output=True, text=True, timeout=300,
                                  env=os.environ | {"OMP_NUM_THREADS": "2", "OMP_STACKSIZE": "300000G",
                                                    "FMBEM_READER": str(reads)})
            self.assertEqual(done.returncode, 4, done.stderr)
            errors = [line for line in done.stderr.splitlines()
                      if line.startswith("fmbem: ") and "notice:" not in line]
            self.assertEqual(len(errors), 1, done.stderr)
            self.assertIn(sentence, errors[0])
            self.assertEqual({path.name for path in self.folder.iterdir()}, {"cube.geo", "reader"})

    def test_processor_time_that_ends(self):
        process = subprocess.run(["bash", "-c", 'ulimit -S -t 1; exec "$0" "$@"', PROGRAM, "capacitance",
                                  self.tetrahedron_file(), "--refine", "6", "--tolerance", "1e-9",
                                  "--output", "out.vtu"], cwd=self.folder, capture_output=True, text=True,
                                 timeout=300)
        self.assertEqual(process.returncode, 152, process.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["tetrahedron.msh"])


if __name__ == "__main__":
    unittest.main()
