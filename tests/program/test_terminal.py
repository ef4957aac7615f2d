"""What the program says where: help, completion, the manual, progress, colours, notices."""

import os
import pty
import re
import shutil
import signal
import subprocess
import time
import unittest

from harness import PROGRAM, ProgramTest, leave_out, without_sanitizer

COMMANDS = ("solve", "solvate", "bind", "capacitance", "field", "mesh", "mesh-info", "plot", "study", "rerun",
            "info", "nbody", "tune", "help", "completion")


class Help(ProgramTest):
    def test_help_is_that_of_the_option_and_fits_100_columns(self):
        everything = self.fmbem("help").stdout
        self.assertEqual(everything, self.fmbem("--help").stdout)
        for command in COMMANDS:
            with self.subTest(command):
                text = self.fmbem("help", command).stdout
                self.assertEqual(text, self.fmbem(command, "--help").stdout)
                self.assertIn("fmbem " + command, text)
                self.assertIn("  " + command + " ", everything)
                self.assertLessEqual(max(map(len, (text + everything).splitlines())), 100)
        self.refused("help", "nonsense", saying="no command")
        self.refused("help", "field", "--man", saying="--man")

    def complete(self, *words):
        """What bash offers for the last of some words behind fmbem."""
        if not (self.folder / "fmbem.bash").exists():
            self.write("fmbem.bash", self.fmbem("completion", "bash").stdout)
        line = " ".join(f"'{word}'" for word in ("fmbem", *words))
        script = (f"source ./fmbem.bash; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _fmbem; "
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-euc", script], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return set(done.stdout.split())

    def typed(self, keys):
        """The line that an interactive bash has after these keys."""
        main, terminal = pty.openpty()
        settings = self.write("settings", "source ./fmbem.bash\nPS1='READY '\n"
                                          "bind -x '\"\\C-g\": printf \"<%s>\" \"$READLINE_LINE\"'\n")
        text = b""
        with subprocess.Popen(["bash", "--noprofile", "--rcfile", settings, "-i"], cwd=self.folder, stdin=terminal,
                              stdout=terminal, stderr=terminal, start_new_session=True) as bash:
            os.close(terminal)
            while b"READY " not in text:
                text += os.read(main, 4096)
            os.write(main, keys.encode() + b"\x07")
            while not (found := re.search(rb"<(.*)>", text)):
                text += os.read(main, 4096)
            bash.kill()
        os.close(main)
        return found[1].decode()

    def test_bash_completes_commands_options_words_and_files(self):
        self.assertEqual(self.complete("cap"), {"capacitance"})
        self.assertLessEqual(set(COMMANDS), self.complete(""))
        self.assertEqual(self.complete("capacitance", "--spice"), {"--spice", "--spice-threshold"})
        self.assertIn("--from", self.complete("field", "--"))
        self.assertNotIn("--from", self.complete("capacitance", "--"))
        self.assertEqual(self.complete("capacitance", "x.msh", "--operator", ""), {"auto", "fmm", "dense"})
        self.assertEqual(self.complete("capacitance", "x.msh", "--backend", "cu"), {"cuda"})
        self.tetrahedron_file()
        self.assertEqual(self.complete("capacitance", "tet"), {"tetrahedron.msh"})
        self.assertEqual(self.complete("mesh", "a.geo", "-o", "tet"), {"tetrahedron.msh"})
        for words in (("solve", "x.msh", "--basis"), ("plot", "x.vtu", "--output"), ("nbody", "--points"),
                      ("study", "--rhs"), ("solvate", "--extrapolate"), ("field", "x.msh", "--output", "=")):
            self.assertEqual(self.complete(*words, "tet"), {"tetrahedron.msh"}, words)
        for words in (("--backend", "=", "cu"), ("--backend", "cu")):
            self.assertEqual(self.complete("field", *words), {"cuda"})
        self.assertEqual(self.complete("field", "--backend", "="), {"cpu", "cuda", "auto"})
        self.assertEqual(self.complete("study", "--operator", ""), {"auto", "fmm", "dense"})
        self.assertEqual(self.complete("study", "--pc", "j"), {"jacobi"})
        self.assertEqual(self.complete("study", "--formulation", "d"), {"direct", "dielectric:80"})
        self.assertEqual(self.complete("study", "--backend", "cpu,"), {"cpu,cpu", "cpu,cuda"})
        self.assertEqual(self.complete("study", "--side", "left,default,r"), {"left,default,right"})
        self.assertEqual(self.complete("completion", ""), {"bash"})
        self.assertEqual(self.complete("help", "cap"), {"capacitance"})
        self.assertEqual(self.complete("--m"), set())
        self.assertEqual(self.complete("help", "--m"), {"--man"})
        self.assertEqual(self.complete("capacitance", "x.msh", "--tolerance", ""), set())
        # A folder named like the beginning of a word is no value.
        (self.folder / "cuda").mkdir()
        self.assertEqual(self.typed("fmbem nbody --backend cud\t"), "fmbem nbody --backend cuda ")
        self.assertEqual(self.typed("fmbem field tetra\t"), "fmbem field tetrahedron.msh ")
        self.refused("completion", "fish", saying="fish")

    def test_the_manual_has_every_option(self):
        page = self.fmbem("help", "--man").stdout
        for command in COMMANDS:
            options = re.findall(r"^  (?:-\w,)?(--[a-z-]+)", self.fmbem("help", command).stdout, re.M)
            section = page.split(f".SS fmbem {command.replace('-', chr(92) + '-')}\n")[1].split(".SS")[0]
            for option in options:
                self.assertIn(option.replace("-", "\\-"), section)
        man = shutil.which("groff") or leave_out("groff is not installed")
        done = subprocess.run([man, "-man", "-Tutf8", "-ww", "-k"], input=page, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("EXIT STATUS", re.sub(r".\x08|\x1b\[[0-9;]*m", "", done.stdout))


class Terminal(ProgramTest):
    def on_terminal(self, *arguments, code=0, env=None, until=None):
        """What a run writes to a terminal, standard error's; the run is ended once it has written `until`."""
        main, terminal = pty.openpty()
        environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "PETSC_OPTIONS")}
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=terminal, env=environment | (env or {}))
        os.close(terminal)
        text = b""
        try:
            while piece := os.read(main, 4096):
                text += piece
                if until and re.search(until, text.decode(errors="ignore")):
                    process.kill()
                    code = -signal.SIGKILL
        except OSError:  # the other end is closed
            pass
        os.close(main)
        self.assertEqual(process.wait(), code, text)
        return without_sanitizer(text.decode())

    def test_what_is_done_is_said_before(self):
        mesh = self.two_tetrahedra_file()
        text = self.on_terminal("capacitance", mesh, "--refine", "3")
        phases = ["reading " + mesh[:30], "mesh 1 of 3, 32 panels", "mesh 2 of 3, 128 panels",
                  "mesh 3 of 3, 512 panels"]
        places = [text.find(phase) for phase in phases]
        self.assertNotIn(-1, places, text)
        self.assertEqual(places, sorted(places))
        self.assertTrue(text.endswith("\r\033[K"), "the last line is left behind")
        self.assertEqual(self.on_terminal("capacitance", mesh, "--quiet"), "")
        self.assertNotIn("reading", self.fmbem("capacitance", mesh).stderr)

    def test_long_runs_say_on_terminals_what_time_is_left(self):
        # That comes after two seconds. One thread takes three times that for these 280 million entries.
        long_run = ("capacitance", self.cube_file(), "--mesh-size", "0.03", "--operator", "dense")
        said = r"assembling V, \d+ %, \d+ s left"
        one_thread = {"OMP_NUM_THREADS": "1"}
        start = time.monotonic()
        self.assertRegex(self.on_terminal(*long_run, env=one_thread, until=said), said)
        seconds = time.monotonic() - start
        with self.assertRaises(subprocess.TimeoutExpired) as run:
            self.fmbem(*long_run, env=one_thread, timeout=1.2 * seconds)
        self.assertNotIn("assembling", (run.exception.stderr or b"").decode())
        self.assertNotIn("assembling", self.on_terminal("capacitance", self.tetrahedron_file()))

    def test_colours_are_for_terminals_without_no_color(self):
        arguments = ("capacitance", self.tetrahedron_file(), "--operator-tolerance", "1e-2")
        self.assertRegex(self.on_terminal(*arguments), r"\033\[33mfmbem: warning: \033\[0mthe operator's")
        plain = self.on_terminal(*arguments, env={"NO_COLOR": "1"})
        self.assertIn("fmbem: warning: the operator's", plain)
        self.assertNotRegex(plain, r"\033\[[0-9]+m")
        self.assertNotIn("\033", self.fmbem(*arguments).stderr)
        self.assertIn("\033[31mfmbem: \033[0m", self.on_terminal("nonsense", code=2))

    def test_a_gpu_is_missed_where_it_would_have_been_used(self):
        if self.has_gpu():
            self.skipTest("there is a GPU")
        mesh = self.tetrahedron_file()
        self.assertEqual(self.fmbem("capacitance", mesh).stderr, "")
        large = ("capacitance", mesh, "--operator", "fmm", "--refine", "2")
        self.assertEqual(self.fmbem(*large).stderr, "fmbem: notice: no CUDA device: the CPU is used\n")
        self.assertEqual(self.report(*large)["warnings"], [])
        self.assertEqual(self.fmbem(*large, "--backend", "cpu").stderr, "")
        self.refused(*large, "--backend", "cuda", saying="CUDA")


if __name__ == "__main__":
    unittest.main()
