"""The adversary of the program: option lines at random, signals at random times, and surroundings in
which something is missing. Whatever happens, a run ends with a documented exit code and one sentence,
hangs nowhere, leaves nothing partial behind, and reports nothing that is not so.

    runs.py [--seconds S] [--cases N] [--seed N]

prints how many runs of each kind there were and how many failed, with the seed of each failure, and
ends with exit code 1 if any did. Environment: FMBEM_PROGRAM, and FMBEM_FUZZ for damaged
files."""

import argparse
import collections
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
from harness import PROGRAM, SCHEMA, has_address_sanitizer, msh, read_vtu, tetrahedron  # noqa: E402

import jsonschema  # noqa: E402

FUZZ = os.environ.get("FMBEM_FUZZ")
SANITIZERS = ("ASAN_OPTIONS", "UBSAN_OPTIONS")
CODES = {0, 2, 3, 4, 130}
LIMIT = 120  # seconds; a run takes one or two
OUTPUTS = ("out.vtu", "out.json", "out.csv", "out.msh")


class Failure(Exception):
    """What is wrong with a run."""


def box(name, cells=9):
    """A cube in cells × cells squares a face, the side 1."""
    nodes, elements = [], []
    for axis in range(3):
        for side in (0, 1):
            first = len(nodes)
            for i in range(cells + 1):
                for j in range(cells + 1):
                    x = [0.0, 0.0, 0.0]
                    x[axis], x[(axis + 1) % 3], x[(axis + 2) % 3] = side, i / cells, j / cells
                    nodes.append(tuple(x))
            for i in range(cells):
                for j in range(cells):
                    a = first + i * (cells + 1) + j + 1
                    b, c, d = a + cells + 1, a + cells + 2, a + 1
                    for corners in ((a, b, c), (a, c, d)):
                        elements.append((2, 1, 1, *(corners if side else corners[::-1])))
    return msh(nodes, elements, [(1, name)])


class Room:
    """A folder with meshes in it, for one run."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.home = tempfile.TemporaryDirectory(prefix="fmbem-home-")
        nodes, elements = tetrahedron()
        more, far = tetrahedron(2, 4, 2)
        (self.folder / "one.msh").write_text(msh(nodes, elements, [(1, "body")]))
        (self.folder / "two.msh").write_text(
            msh(nodes + more, elements + far, [(1, "left"), (2, "right")]))
        (self.folder / "box.msh").write_text(box("box"))
        (self.folder / "broken.msh").write_text(msh(nodes, elements)[:150])
        (self.folder / "points.xyz").write_text("2 2 2\n-1 0 3\n")
        (self.folder / "empty.msh").write_text("")
        self.before = self.content()

    def content(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    def start(self, arguments, **keywords):
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(self.home.name),
                       "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "2"}
        environment |= {name: os.environ[name] for name in SANITIZERS if name in os.environ}
        environment.update(keywords.pop("env", {}))
        for name in [n for n, value in environment.items() if value is None]:
            del environment[name]
        keywords = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                    "stderr": subprocess.PIPE} | keywords
        return subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, env=environment, **keywords)

    def end(self, process):
        """What it wrote to its standard streams, once it has ended."""
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Failure("hangs")
        return (out or b"").decode(errors="replace"), (err or b"").decode(errors="replace")

    def run(self, arguments, **keywords):
        process = self.start(arguments, **keywords)
        out, err = self.end(process)
        return process.returncode, out, err

    def check_code(self, code, err, streams=True):
        """A documented code, and one sentence where something went wrong."""
        if code not in CODES:
            raise Failure(f"exit code {code}: {err[-300:]}")
        if not streams:
            return
        sentences = [line for line in err.splitlines() if line.startswith("fmbem: ") and
                     not line.startswith(("fmbem: notice:", "fmbem: warning:"))]
        if code in (2, 4, 130) and len(sentences) != 1:
            raise Failure(f"exit code {code} with {len(sentences)} sentences: {err[-300:]}")
        if code == 0 and sentences:
            raise Failure(f"exit code 0 with an error: {sentences[0]}")

    def check_files(self, code, killed=False, replaced=()):
        """Inputs are as they were; outputs are whole or not there, and there after success alone, which may
        have replaced these files."""
        after = self.content()
        for name, content in self.before.items():
            if after.get(name) == content:
                continue
            if name not in replaced or code not in (0, 3):
                raise Failure(f"{name} has changed")
            self.check_whole(name, after[name])
        new = set(after) - set(self.before)
        if partial := [name for name in new if name.startswith(".fmbem")]:
            if not killed:  # SIGKILL leaves no time for removing one
                raise Failure(f"partial files are left: {partial}")
        for name in new - set(partial):
            self.check_whole(name, after[name])
        # A full disk or a closed stream may leave one of two files, but whole.
        if code not in (0, 3, 4) and not killed and new - set(partial):
            raise Failure(f"exit code {code}, and outputs: {sorted(new)}")

    def check_whole(self, name, content):
        try:
            if name.endswith(".json") or content.startswith(b"{"):  # --json may have any name
                self.check_report(json.loads(content))
            elif name.endswith(".vtu"):
                read_vtu(self.folder / name)
            elif name.endswith(".csv") and not content.endswith(b"\n"):
                raise Failure(f"{name} is cut off")
            elif name.endswith(".msh") and b"$End" not in content[-40:]:
                raise Failure(f"{name} is cut off")
        except Failure:
            raise
        except Exception as error:  # of a parser, whatever it is
            raise Failure(f"{name} is not whole: {error}") from error

    def check_report(self, report, code=None):
        jsonschema.validate(report, SCHEMA)
        solved = report["status"] == "solved"
        if solved and "solver" in report:
            for residual in report["solver"]["true_residuals"]:
                if residual is None or not residual <= 1.01 * report["tolerance"]["solver"]:
                    raise Failure(f"solved, with a residual of {residual}")
        if code == 0 and not solved:
            raise Failure(f"exit code 0, and the status is {report['status']}")


def any_number(r):
    return r.choice(["0", "1", "-1", "2", "7", "40", "41", "1e-6", "1e-3", "0.3", "1e-13", "1e-14", "1e-300",
                     "1e300", "nan", "inf", "-inf", "", "x", "1,5", "0x10", "1e", "99999999999999999999",
                     str(r.randint(-5, 200)), repr(10 ** r.uniform(-12, 2))])


def option_line(r):
    """A command with options that are right, wrong, doubled and at odds."""
    command = r.choices(["capacitance", "field", "mesh-info", "mesh", "info", "nonsense", ""],
                        [10, 6, 4, 3, 1, 1, 0.5])[0]
    mesh = r.choices(["one.msh", "two.msh", "box.msh", "broken.msh", "empty.msh", "points.xyz", "nowhere.msh",
                      ".", "/dev/null", ""], [8, 8, 6, 1, 1, 1, 1, 1, 0.5, 0.5])[0]
    line = [command, mesh]
    values = {
        "--tolerance": any_number, "--operator-tolerance": any_number, "--order": any_number,
        "--max-leaf": any_number, "--overhang": any_number, "--threads": lambda r: r.choice(["1", "2", "0", "x"]),
        "--refine": lambda r: r.choice(["0", "1", "2", "-1", "1.5", "40", "x"]),
        "--unit": lambda r: r.choice(["m", "mm", "nm", "angstrom", "parsec", ""]),
        "--operator": lambda r: r.choice(["auto", "fmm", "dense", "magic"]),
        "--backend": lambda r: r.choice(["auto", "cpu", "cuda", "tpu"]),
        "--near-field": lambda r: r.choice(["auto", "stored", "lean"]),
        "--precision": lambda r: r.choice(["auto", "double", "single", "half"]),
        "--conductor": lambda r: r.choice(["a=left,right", "a=left", "a", "=left", "a=", 'a="left', "a=body,body"]),
        "--voltage": lambda r: r.choice(["left=1", "body=" + any_number(r), "nobody=1", "left", "=3"]),
        "--points": lambda r: r.choice(["points.xyz", "nowhere.xyz", "one.msh", "."]),
        "--line": lambda r: r.choice(["2,2,2,3,3,3,5", "2,2,2,3,3,3," + any_number(r), "1,2,3", "0,0,0,1,1,1,3"]),
        "--plane": lambda r: r.choice(["2,2,2,1,0,0,0,1,0,3,4", "2,2,2,0,0,0,0,0,0,3,4", "1"]),
        "--side": lambda r: r.choice(["mean", "positive", "negative", "left"]),
        "--field-tolerance": any_number, "--permittivity": any_number, "--mesh-size": any_number,
        "--grade": any_number, "--set": lambda r: r.choice(["a=1", "a", "=1"]),
        "--output": lambda r: r.choice([*OUTPUTS, "one.msh", "two.msh", "nowhere/out.vtu", ".", "", "/dev/full", "x"]),
        "--json": lambda r: r.choice(["out.json", "-", "box.msh", "out.vtu", "/dev/null", ""]),
        "-ksp_type": lambda r: r.choice(["gmres", "bcgs", "nonsense"]), "-ksp_max_it": lambda r: r.choice(["1", "0", "x"]),
        "-pc_type": lambda r: r.choice(["none", "jacobi", "nonsense"]), "-ksp_rtol": any_number,
    }
    if command == "field" and r.random() < 0.8:
        line += ["--line", values["--line"](r), "--output", "out.csv"]
    for name in r.choices(list(values), k=r.randint(0, 4)):
        line += [name] + ([values[name](r)] if r.random() < 0.97 else [])
    if r.random() < 0.1:
        line.insert(r.randint(0, len(line)), r.choice(["--quiet", "--help", "--version", "--no-such", "-x", "--", "é", "\n"]))
    return [word for word in line if word or r.random() < 0.2]


def try_option_line(r, room):
    line = option_line(r)
    code, out, err = room.run(line)
    # A mesh that is no input of this line may be what is written.
    outputs = [value for name, value in zip(line, line[1:]) if name in ("--output", "--json")]
    try:
        room.check_code(code, err)
        room.check_files(code, replaced=[name for name in outputs if line.count(name) == 1])
        if code in (0, 3) and "-" in line and "--json" in line and line[line.index("--json") + 1] == "-" and out.startswith("{"):
            room.check_report(json.loads(out), code)
    except Failure as failure:
        raise Failure(f"fmbem {' '.join(map(repr, line))}: {failure}") from failure


SOLVE = ["capacitance", "box.msh", "--refine", "1", "--operator", "fmm", "--output", "out.vtu", "--json", "out.json"]
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
SOLVATE = ["solvate", str(EXAMPLES / "ion.pqr"), "--surface", str(EXAMPLES / "ion.geo"), "--output", "out.vtu", "--json",
           "out.json"]


def try_signal(r, room):
    """A solve is sent a signal at a random time."""
    which = r.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGPIPE])
    process = room.start(SOLVE)
    time.sleep(10 ** r.uniform(-3, 0.3))
    process.send_signal(which)
    _, err = room.end(process)
    code = process.returncode
    # Before the program has a handler, the signal's default action ends it.
    allowed = {0, 128 + which, -which} if which != signal.SIGPIPE else {0, -which}
    if code not in allowed:
        raise Failure(f"{which.name}: exit code {code}: {err[-300:]}")
    is_done = all((room.folder / name).exists() for name in ("out.vtu", "out.json"))
    # The signal may come after the last output is where it belongs.
    room.check_files(0 if is_done else code, killed=which == signal.SIGKILL)
    if code == 0 and not is_done:
        raise Failure(f"{which.name}: exit code 0 without outputs")


def limited(**limits):
    """What a child does before it becomes the program."""
    def set_limits():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, name), (value, value))
    return set_limits


def closed(*files):
    def close():
        for file in files:
            os.close(file)
    return close


def try_surroundings(r, room):
    """A solve where something is missing, small or odd."""
    kinds = ["file size", "open files", "closed streams", "no HOME", "decimal comma", "full pipe", "/dev/full", "stack",
             "cpu time", "memory"]
    kind = r.choice(kinds[:-1] if has_address_sanitizer() else kinds)
    keywords, may_fail = {}, True
    line = list(SOLVE)
    streams = True
    if kind == "memory":
        line = list(r.choice([SOLVE, SOLVATE]))
        keywords["preexec_fn"] = limited(RLIMIT_AS=int(2 ** r.uniform(28, 31)))
    elif kind == "file size":
        # LLVM's OpenMP, which programs with the sanitizer have, crashes without a file of a kilobyte of its own.
        keywords["preexec_fn"] = limited(RLIMIT_FSIZE=int(2 ** r.uniform(11 if has_address_sanitizer() else 0, 18)))
    elif kind == "open files":
        keywords["preexec_fn"] = limited(RLIMIT_NOFILE=r.randint(3, 40))
    elif kind == "stack":
        keywords["preexec_fn"] = limited(RLIMIT_STACK=2 ** 20)
    elif kind == "cpu time":
        keywords["preexec_fn"] = limited(RLIMIT_CPU=100)
        may_fail = False
    elif kind == "closed streams":
        files = [f for f in (0, 1, 2) if r.random() < 0.6] or [1]
        keywords |= {"preexec_fn": closed(*files), "stdin": None}
        streams = 2 not in files
    elif kind == "no HOME":
        keywords["env"] = {"HOME": None, "PATH": None}
        may_fail = False
    elif kind == "decimal comma":
        keywords["env"] = {"LC_ALL": r.choice(["de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "xx_XX"])}
        may_fail = False
    elif kind == "full pipe":
        reader, writer = os.pipe()
        os.close(reader)
        keywords["stdout"] = writer
    elif kind == "/dev/full":
        keywords["stdout"] = os.open("/dev/full", os.O_WRONLY)
        if r.random() < 0.5:
            line[-1] = "-"
    process = room.start(line, **keywords)
    if isinstance(keywords.get("stdout"), int):
        os.close(keywords["stdout"])
    _, err = room.end(process)
    code = process.returncode
    try:
        # There may be room for no more than the dynamic loader, the runtime of C++ and MPI's start.
        unborn = kind in ("memory", "open files") and code in (
            127, 1, -signal.SIGSEGV, -signal.SIGABRT, -signal.SIGKILL, -signal.SIGINT)
        if not (unborn and "fmbem" not in err.replace(PROGRAM, "") and "libgomp" not in err):
            room.check_code(code, err, streams)
        if code != 0 and not may_fail:
            raise Failure(f"exit code {code}: {err[-300:]}")
        room.check_files(code)
    except Failure as failure:
        raise Failure(f"{kind}: {failure}") from failure


def try_full_disk(r, room):
    """On a file system of a few kilobytes; as root alone."""
    disk = room.folder / "disk"
    disk.mkdir()
    pages = r.randint(1, 40)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={4 * pages}k", "tmpfs", str(disk)],
                             capture_output=True).returncode == 0
    if not mounted:
        disk.rmdir()
        return False
    try:
        code, _, err = room.run([*SOLVE[:-4], "--output", "disk/out.vtu", "--json", "disk/out.json"])
        room.check_code(code, err)
        left = [path.name for path in disk.iterdir()]
        if code == 0 and sorted(left) != ["out.json", "out.vtu"] or code != 0 and any(".fmbem" in n for n in left):
            raise Failure(f"full disk of {pages} pages: exit code {code}, and left: {left}")
        if "out.vtu" in left:
            read_vtu(disk / "out.vtu")
    finally:
        subprocess.run(["umount", str(disk)], check=True)
        disk.rmdir()
    return True


def memory_group(limit):
    """A new control group of so many bytes and its file of processes; None where none can be made."""
    for root, of_limit, of_processes in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "cgroup.procs"),
                                         ("/sys/fs/cgroup", "memory.max", "cgroup.procs")):
        group = pathlib.Path(root) / f"fmbem-adversary-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / of_limit).write_text(str(limit))
            return group, group / of_processes
        except OSError:
            group.rmdir()
    return None


def remove_group(group):
    """Once all its processes have ended, the reader's among them."""
    end = time.monotonic() + LIMIT
    while True:
        try:
            return group.rmdir()
        except OSError as error:
            if time.monotonic() > end:
                raise Failure("processes are left in the control group") from error
            time.sleep(0.05)


def try_memory_group(r, room):
    """With little memory, of which the kernel ends a process that takes more; as root alone."""
    made = memory_group(int(2 ** r.uniform(24, 28)))
    if not made:
        return False
    group, processes = made
    try:
        code, _, err = room.run(SOLVE, preexec_fn=lambda: processes.write_text("0"))
        killed = code == -signal.SIGKILL
        if not killed:
            room.check_code(code, err)
        room.check_files(code, killed=killed)
    finally:
        remove_group(group)
    return True


def try_two_runs(r, room):
    """Two solves at once that write the same files."""
    processes = [room.start(SOLVE) for _ in range(2)]
    for process in processes:
        _, err = room.end(process)
        room.check_code(process.returncode, err)
        if process.returncode != 0:
            raise Failure(f"exit code {process.returncode}: {err[-300:]}")
    room.check_files(0)


def try_overwriting(r, room):
    """Outputs that are inputs, by whatever name."""
    name = r.choice(["box.msh", "./box.msh", str(room.folder / "box.msh"), "link.msh"])
    (room.folder / "link.msh").symlink_to("box.msh")
    try:
        for option in ("--output", "--json"):
            code, _, err = room.run(["capacitance", "box.msh", option, name])
            if code != 2:
                raise Failure(f"{option} {name}: exit code {code}")
            room.check_code(code, err)
    finally:
        (room.folder / "link.msh").unlink()
    room.check_files(2)


def try_broken_files(r, room):
    """Damaged files of all formats, by the fuzzer."""
    if not FUZZ:
        return False
    done = subprocess.run([FUZZ, "--fork", "--inputs", "20", "--first", str(r.randrange(10 ** 9))],
                          capture_output=True, text=True, timeout=10 * LIMIT)
    if done.returncode != 0:
        raise Failure(f"{' '.join(done.args)}: exit code {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}")
    return 20


KINDS = {"option lines": (try_option_line, 10), "signals": (try_signal, 4), "surroundings": (try_surroundings, 4),
         "full disk": (try_full_disk, 1), "a group with little memory": (try_memory_group, 1),
         "two runs in one folder": (try_two_runs, 0.5),
         "the output is the input": (try_overwriting, 0.5), "broken files": (try_broken_files, 1)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60, help="none starts after them")
    parser.add_argument("--cases", type=int, default=sys.maxsize, help="at most so many, the same on all machines")
    parser.add_argument("--seed", type=int, default=1, help="of the first run; each has the next one")
    parser.add_argument("--only", choices=KINDS, help="this kind alone")
    options = parser.parse_args()
    runs, failures = collections.Counter(), collections.Counter()
    end = time.monotonic() + options.seconds
    for seed in range(options.seed, options.seed + options.cases):
        if time.monotonic() > end:
            break
        r = random.Random(seed)
        kind = r.choices(list(KINDS), [weight for _, weight in KINDS.values()])[0]
        kind = options.only or kind
        with tempfile.TemporaryDirectory(prefix="fmbem-adversary-") as folder:
            try:
                count = KINDS[kind][0](r, Room(folder))
                runs[kind] += 1 if count is None else count
            except Failure as failure:
                runs[kind] += 1
                failures[kind] += 1
                print(f"seed {seed}, {kind}: {failure}", flush=True)
    print("| kind | runs | failures |\n|---|---|---|")
    for kind in KINDS:
        print(f"| {kind} | {runs[kind]} | {failures[kind]} |")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
