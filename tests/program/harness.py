"""Runs the program as a user does, and makes small meshes."""

import functools
import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree
import zlib

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["FMBEM_PROGRAM"]
READER = pathlib.Path(PROGRAM).with_name("fmbem-reader")
SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())
CUBE = str(ROOT / "examples" / "cube.geo")

# Of a product of the FMM.
STAGES = {"sort", "P2M", "M2M", "M2L", "L2L", "L2P", "near field"}


def leave_out(reason):
    """Skips the test that calls it; under CI=true, where all has to be there, the test fails."""
    if os.environ.get("CI") == "true":
        raise AssertionError(reason)
    raise unittest.SkipTest(reason)


@functools.cache
def has_address_sanitizer():
    """That takes terabytes of address space. gcc links it as a library, clang into the program."""
    return b"__asan_init" in pathlib.Path(PROGRAM).read_bytes()


def without_sanitizer(errors):
    """What a run itself wrote: the address sanitizer says of each run with several right-hand sides
    that it does not know stacks as they have them; it is told of them (solvers/fiber.cpp)."""
    return re.sub(r"==\d+==WARNING: ASan doesn't fully support makecontext/swapcontext .*\r?\n", "", errors)


def release_alone(reason):
    """Of a test that the address sanitizer does without. FMBEM_TESTS=release runs these tests alone."""
    def mark(test):
        test.release_alone = True
        return unittest.skipIf(has_address_sanitizer(), reason)(test)
    return mark


numbers_alone = release_alone("other numbers on paths of other tests")


@functools.cache
def draws_pictures():
    done = subprocess.run([PROGRAM, "plot", CUBE, "-o", "/a.png"], capture_output=True, text=True)
    return "built without" not in done.stderr


def msh(nodes, elements, names=()):
    """A mesh in Gmsh's format 2.2: nodes [(x, y, z)], elements [(type, physical, entity, nodes…)]."""
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat"]
    if names:
        lines += ["$PhysicalNames", str(len(names))]
        lines += [f'2 {tag} "{name}"' for tag, name in names]
        lines += ["$EndPhysicalNames"]
    lines += ["$Nodes", str(len(nodes))]
    lines += [f"{i} {x} {y} {z}" for i, (x, y, z) in enumerate(nodes, 1)]
    lines += ["$EndNodes", "$Elements", str(len(elements))]
    for i, (kind, physical, entity, *corners) in enumerate(elements, 1):
        lines.append(" ".join(map(str, [i, kind, 2, physical, entity, *corners])))
    return "\n".join(lines + ["$EndElements", ""])


def tetrahedron(offset=0.0, first_node=0, physical=1):
    """Nodes and elements of a closed surface of four panels."""
    nodes = [(offset, 0, 0), (offset + 1, 0, 0), (offset, 1, 0), (offset, 0, 1)]
    faces = [(1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4)]
    return nodes, [(2, physical, physical, *(first_node + c for c in face)) for face in faces]


def read_vtu(path, section=None):
    """The arrays of a .vtu or .vtp with compressed arrays appended, by name, as lists of numbers; those of a
    section, such as PointData, or of the whole file, where those of cells come before others of their names."""
    head, data = pathlib.Path(path).read_bytes().split(b'<AppendedData encoding="raw">\n_', 1)
    root = xml.etree.ElementTree.fromstring(head + b"</VTKFile>")
    arrays = {}
    for array in (root if section is None else root.find(f".//{section}")).iter("DataArray"):
        at = int(array.get("offset"))
        blocks, _, _ = struct.unpack_from("<3Q", data, at)
        sizes = struct.unpack_from(f"<{blocks}Q", data, at + 24)
        at += 24 + 8 * blocks
        raw = b""
        for size in sizes:
            raw += zlib.decompress(data[at:at + size])
            at += size
        kind = {"Float64": "d", "Int64": "q", "Int32": "i", "UInt8": "B"}[array.get("type")]
        arrays[array.get("Name")] = [x for x, in struct.iter_unpack("<" + kind, raw)]
    return arrays


class ProgramTest(unittest.TestCase):
    def setUp(self):
        if os.environ.get("FMBEM_TESTS") == "release" and not hasattr(getattr(self, self._testMethodName),
                                                                      "release_alone"):
            self.skipTest("the address sanitizer's build runs it")
        folder = tempfile.TemporaryDirectory(prefix="fmbem-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def cube_file(self):
        """A unit cube that leaves the mesh size to the program."""
        return self.write("cube.geo", """
            Point(1) = {0, 0, 0}; Point(2) = {1, 0, 0}; Point(3) = {1, 1, 0}; Point(4) = {0, 1, 0};
            Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
            Curve Loop(1) = {1, 2, 3, 4};
            Plane Surface(1) = {1};
            Extrude {0, 0, 1} { Surface{1}; }
            Physical Surface("cube") = Surface{:};
            """)

    def tetrahedron_file(self, name="tetrahedron.msh"):
        nodes, elements = tetrahedron()
        return self.write(name, msh(nodes, elements, [(1, "body")]))

    def two_tetrahedra_file(self, gap=1.0):
        nodes, elements = tetrahedron()
        more_nodes, more_elements = tetrahedron(1 + gap, 4, 2)
        text = msh(nodes + more_nodes, elements + more_elements, [(1, "left"), (2, "right")])
        return self.write("two.msh", text)

    def fmbem(self, *arguments, code=0, env=None, timeout=300):
        """Runs fmbem, checks its exit code and returns the finished process."""
        environment = {k: v for k, v in os.environ.items() if k not in ("PETSC_OPTIONS", "FMBEM_RATES")}
        environment["XDG_CONFIG_HOME"] = str(self.folder / "config")  # not the user's
        environment.update(env or {})
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                              cwd=self.folder, env=environment, timeout=timeout)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def report(self, *arguments, **keywords):
        """The JSON report of a run, checked against the schema."""
        return self.checked_report(self.fmbem(*arguments, "--json", "-", **keywords).stdout)

    def printed_and_report(self, *arguments):
        """What a run prints, and its JSON report, checked against the schema."""
        printed = self.fmbem(*arguments, "--json", "run.json").stdout
        return printed, self.checked_report((self.folder / "run.json").read_text())

    def checked_report(self, text):
        report = json.loads(text, parse_constant=self.fail)  # no NaN, no Infinity
        jsonschema.validate(report, SCHEMA)
        return report

    def has_gpu(self):
        return bool(self.report("info")["build"]["devices"])

    def refused(self, *arguments, saying, code=2, **keywords):
        """The run ends with that exit code and one sentence, which has the words that name the cause, and
        leaves no new file behind."""
        before = sorted(self.folder.rglob("*"))
        done = self.fmbem(*arguments, code=code, **keywords)
        # The address sanitizer warns of libraries that switch stacks, as MPI's do, where something is thrown.
        errors = [line for line in done.stderr.splitlines()
                  if not line.startswith(("fmbem: notice:", "fmbem: warning:")) and "WARNING: ASan" not in line]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertTrue(errors[0].startswith("fmbem: "), errors[0])
        for word in [saying] if isinstance(saying, str) else saying:
            self.assertIn(word, errors[0])
        self.assertEqual(sorted(self.folder.rglob("*")), before)
        return errors[0]
