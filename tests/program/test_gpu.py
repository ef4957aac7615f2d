"""What fmbem does on a GPU; skipped without one, with FMBEM_REQUIRE_GPU a failure."""

import ctypes
import os
import pathlib
import re
import unittest

from harness import CUBE, STAGES, ProgramTest
from solvation_files import atom, sphere_file


def fill_gpu(leave):
    """Takes the first GPU's memory but for so many bytes; returns what gives it back."""
    driver = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        code = getattr(driver, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} failed: error {code}")

    device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(free.value - leave))
    return lambda: call("cuDevicePrimaryCtxRelease_v2", device)


class Gpu(ProgramTest):
    def setUp(self):
        super().setUp()
        if self.has_gpu():
            return
        if os.environ.get("FMBEM_REQUIRE_GPU"):
            self.fail("FMBEM_REQUIRE_GPU is set and there is no GPU")
        self.skipTest("no GPU")

    def test_both_near_fields_give_the_digits_of_the_cpu(self):
        mesh = self.cube_file()
        size = ("--mesh-size", "0.03", "--operator", "fmm", "--tolerance", "1e-9")
        cpu = self.report("capacitance", mesh, *size, "--backend", "cpu")
        for near_field in ("stored", "lean"):
            gpu = self.report("capacitance", mesh, *size, "--backend", "cuda", "--near-field", near_field)
            operator = gpu["operators"][0]
            self.assertEqual((gpu["backend"], operator["near_field"]), ("cuda", near_field))
            one, other = (r["results"]["capacitance_F"]["value"][0][0] for r in (cpu, gpu))
            self.assertAlmostEqual(one / other, 1, delta=1e-8)
            self.assertEqual(set(operator["product_s"]) - {"copy"}, STAGES | {"wait"})
            self.assertGreater(min(operator["product_s"][stage] for stage in STAGES), 0)
            self.assertGreater(gpu["device_memory_bytes"], operator["memory_bytes"])

    def test_a_table_of_the_gpu_where_plans_look_for_it(self):
        gpu = self.report("tune", "--threads", "1")["rates"]["gpu"]
        table = pathlib.Path(gpu["file"])
        self.assertEqual(table.parent, self.folder / "config" / "fmbem")
        self.assertEqual(table.stem, re.sub("[^A-Za-z0-9]", "_", gpu["device"]))
        self.assertIn(f"near_single {gpu['speeds']['near_single']:.4g}\n", table.read_text())
        nbody = ("nbody", "--points", "20000", "--backend", "cuda")
        self.fmbem(*nbody)
        table.write_text("near_single 1\n")
        refused = self.fmbem(*nbody, code=2).stderr
        self.assertIn(f"{table} is not a table of a GPU's speeds", refused)
        self.assertEqual(len(refused.splitlines()), 1)
        self.fmbem("tune", "--threads", "1")
        self.fmbem(*nbody)

    def test_solvation_energies_are_those_of_the_cpu(self):
        ion = self.write("ion.pqr", atom((1, 1, 1), 1) + atom((-2, 0.5, 0), -0.4))
        sphere = sphere_file(self.folder, "s.off", 4, 4)
        cavity = sphere_file(self.folder, "c.off", 3, 1, (0.5, -1.5, -1.5))
        for formulation, surfaces in (("direct", [sphere]), ("direct", [sphere, cavity]), ("juffer", [sphere]),
                                      ("juffer", [sphere, cavity]), ("lu", [sphere]), ("lu", [sphere, cavity])):
            given = [word for file in surfaces for word in ("--surface", file)]
            energies, iterations = [], []
            for report in self.on_both("solvate", ion, *given, "--formulation", formulation):
                energies.append(report["results"]["solvation_energy_kcal_per_mol"]["value"])
                iterations.append(report["solver"]["iterations"][0])
            with self.subTest(formulation=formulation, surfaces=surfaces):
                self.assertAlmostEqual(energies[1] / energies[0], 1, delta=1e-5)
                if formulation == "direct":
                    self.assertLessEqual(abs(iterations[1] - iterations[0]), 1)
                else:  # blocks in the place of clusters
                    self.assertGreaterEqual(iterations[1], iterations[0])
        self.refused("solvate", ion, "--surface", sphere, "--near-field", "lean", "--formulation", "lu",
                     saying="stores near fields")
        energies = []
        for near_field in ("stored", "lean"):
            report = self.report("solvate", ion, "--surface", sphere, "--surface", cavity, "--kappa", 0.125,
                                 "--operator", "fmm", "--near-field", near_field, "--backend", "cuda")
            self.assertEqual(report["operators"][0]["near_field"], near_field)
            energies.append(report["results"]["solvation_energy_kcal_per_mol"]["value"])
        self.assertAlmostEqual(energies[1] / energies[0], 1, delta=1e-4)

    def on_both(self, *arguments):
        """The reports of the run on the CPU and on the GPU, both by the FMM to 1e-6."""
        for backend in ("cpu", "cuda"):
            report = self.report(*arguments, "--kappa", 0.125, "--tolerance", 1e-6, "--operator", "fmm",
                                 "--backend", backend)
            self.assertEqual(report["backend"], backend)
            yield report

    def assert_same(self, cpu, gpu, *names):
        """Results of several numbers differ by at most 1e-4 of the largest: solutions are to 1e-6, and what
        follows from them is less smooth, by the ratio of the surface to a panel at most."""
        for name in names:
            one, other = ([x for row in report["results"][name]["value"]
                           for x in (row if isinstance(row, list) else [row])] for report in (cpu, gpu))
            largest = max(map(abs, one))
            self.assertGreater(largest, 0)
            for x, y in zip(one, other, strict=True):
                self.assertLess(abs(x - y), 1e-4 * largest, name)

    def test_forces_sites_and_extrapolated_energies_are_those_of_the_cpu(self):
        ions = self.write("ions.pqr", atom((1, 1, 1), 1) + atom((-2, 0.5, 0), -0.4) + atom((9, 1, 0), -1))
        coarse, fine = (sphere_file(self.folder, f"s{level}.off", level, 4) for level in (3, 4))
        others = [sphere_file(self.folder, f"t{level}.off", level, 3, (9, 0, 0)) for level in (3, 4)]
        surfaces = ("--surface", fine, "--surface", others[1])
        for formulation in ("direct", "lu"):
            with self.subTest(formulation=formulation):
                reports = self.on_both("solvate", ions, *surfaces, "--formulation", formulation, "--forces", "f.csv")
                self.assert_same(*reports, "reaction_potential_kT_per_e", "reaction_force_kcal_per_mol_angstrom",
                                 "force_kcal_per_mol_angstrom")
        sites = self.write("sites.pqr", "ATOM 1 CG ASP A 5 1 1 0 -1 1\nATOM 2 NZ LYS A 9 -1 0 1 1 1\n"
                                        "ATOM 3 CE LYS A 9 -1 0.5 1 0.5 1\n")
        self.assert_same(*self.on_both("solvate", ions, *surfaces, "--sites", sites), "site_energy_kcal_per_mol")
        one = self.write("one.pqr", atom((1, 1, 1), 1))
        cpu, gpu = (report["results"]["extrapolated_solvation_energy_kcal_per_mol"]["value"] for report in
                    self.on_both("solvate", one, "--surface", fine, "--extrapolate", coarse))
        self.assertAlmostEqual(gpu / cpu, 1, delta=1e-5)

    def test_binding_energies_are_those_of_the_cpu(self):
        receptor, ligand = atom((1, 2, 0), 1), atom((7, 1, 0.5), -1)
        for name, text in {"complex": receptor + ligand, "receptor": receptor, "ligand": ligand}.items():
            self.write(name + ".pqr", text)
        balls = [sphere_file(self.folder, f"b{x}.off", 4, 4, (x, 0, 0)) for x in (0, 9)]
        cpu, gpu = self.on_both("bind", "complex.pqr", "receptor.pqr", "ligand.pqr", "--complex-surface", balls[0],
                                "--complex-surface", balls[1], "--receptor-surface", balls[0], "--ligand-surface",
                                balls[1])
        self.assert_same(cpu, gpu, "solvation_energy_kcal_per_mol")
        energies = [report["results"]["binding_energy_kcal_per_mol"] for report in (cpu, gpu)]
        self.assertLess(abs(energies[0]["value"] - energies[1]["value"]), sum(e["error"][0] for e in energies))

    def test_fields_are_those_of_the_cpu_and_come_back_from_a_kept_solution(self):
        mesh = self.cube_file()
        where = ("--plane", "-1,-1,0.5,3,0,0,0,3,0,101,101")
        tables = []
        for backend in ("cpu", "cuda"):
            self.fmbem("field", mesh, "--mesh-size", "0.05", "--operator", "fmm", "--tolerance", "1e-9", *where,
                       "--backend", backend, "--save", f"{backend}.h5", "--output", f"{backend}.csv")
            tables.append([[float(x) for x in line.split(",")] for line in
                           (self.folder / f"{backend}.csv").read_text().splitlines()[1:]])
        for cpu, gpu in zip(*tables, strict=True):
            for one, other in zip(cpu, gpu, strict=True):
                self.assertAlmostEqual(one, other, delta=1e-5)
        self.fmbem("field", "--from", "cuda.h5", *where, "--output", "kept.csv")
        self.assertEqual((self.folder / "kept.csv").read_bytes(), (self.folder / "cuda.csv").read_bytes())

    def nbody(self, *arguments):
        return self.report("nbody", "--check", 100, "--backend", "cuda", *arguments)["nbody"]

    def test_sums_over_points_tell_stages_pairs_and_operations(self):
        fmm = {"copy", "sort", "P2M", "M2M", "gather", "M2L", "L2L", "L2P", "P2P"}
        stages = {"direct": {"copy", "sort", "P2P", "results"}, "fmm": fmm, "hybrid": fmm | {"P2L", "M2P"},
                  "treecode": {"copy", "sort", "P2M", "M2M", "M2P", "results"}}
        for method, names in stages.items():
            with self.subTest(method=method):
                result = self.nbody("--points", 20000, "--method", method, "--repeats", 2)
                self.assertEqual((result["backend"], result["method"]), ("cuda", method))
                self.assertEqual(set(result["stages_s"]), names)
                self.assertGreaterEqual(min(result["stages_s"].values()), 0)
                # One kernel of a treecode sums pairs of points and boxes.
                rates = {"direct": {"P2P"}, "treecode": {"M2P"}}.get(method, {"P2P", "M2L"})
                self.assertLessEqual(rates, set(result["gflops"]))
                self.assertGreater(min(result["gflops"][stage] for stage in rates), 0)
                self.assertLess(result["force_error"], 1e-4)
                shown = self.fmbem("nbody", "--points", 20000, "--method", method, "--backend", "cuda",
                                   "--check", 0).stdout
                for stage in names:
                    self.assertRegex(shown, rf"(?m)^  {stage} +[0-9.e-]+ s")
        self.assertEqual(self.nbody("--points", 20000, "--method", "direct")["near_pairs"], 20000**2)
        treecode = ("nbody", "--points", 5000, "--method", "treecode", "--theta", 0.6, "--order", 5, "--leaf", 20)
        pairs = [self.report(*treecode, "--check", 0, "--backend", backend)["nbody"] for backend in ("cpu", "cuda")]
        for count in ("near_pairs", "m2p_pairs"):
            self.assertEqual(pairs[0][count], pairs[1][count])

    def test_automatic_weighs_all_methods_by_the_rates_of_the_gpu(self):
        cloud = ("--points", 100000, "--tolerance", 1e-4)
        self.assertEqual(self.nbody("--points", 500)["method"], "direct")
        self.assertEqual(self.nbody(*cloud)["method"], "fmm")
        far_leaves = self.nbody(*cloud, "--leaf", 5000)
        self.assertEqual(far_leaves["method"], "hybrid")
        self.assertLess(far_leaves["leaf"], 5000)
        self.assertEqual(self.nbody(*cloud, "--leaf", 5000, "--method", "fmm")["method"], "fmm")
        # A GPU with nothing as fast as M2P and launches, which there is not.
        names = ("near_single", "near_double", "products_single", "products_double", "memory", "boxes", "m2p_single",
                 "m2p_double", "p2l_single", "p2l_double", "displaced_single", "displaced_double", "start")
        table = self.write("odd.rates", "".join(
            f"{name} {1000 if name[:3] == 'm2p' else 100 if name == 'start' else 0.01 if name[:3] == 'pro' else 1}\n"
            for name in names))
        odd = self.report("nbody", *cloud, "--theta", 0.8, "--backend", "cuda", env={"FMBEM_GPU_RATES": str(table)})
        self.assertEqual(odd["nbody"]["method"], "treecode")
        self.assertLess(odd["nbody"]["force_error"], 1e-4)

    def test_hybrids_have_all_expansions_and_constructions(self):
        hybrid = ("nbody", "--points", 5000, "--distribution", "plummer", "--method", "hybrid", "--tolerance", 1e-2,
                  "--check", 100, "--backend", "cuda")
        for theta, expansion in ((0.5, "spherical"), (0.5, "cartesian"), (0.8, "cartesian")):
            with self.subTest(theta=theta, expansion=expansion):
                result = self.report(*hybrid, "--theta", theta, "--expansion", expansion)["nbody"]
                self.assertEqual((result["backend"], result["method"]), ("cuda", "hybrid"))
                self.assertEqual((result["theta"], result["expansion"]), (theta, expansion))
                self.assertLess(result["potential_error"], 1e-2)
                self.assertLess(result["force_error"], 1e-2)
        for construction in ("radix-sort", "histogram"):
            self.fmbem(*hybrid, "--construction", construction, "--output", f"{construction}.npy")
        self.assertEqual((self.folder / "histogram.npy").read_bytes(), (self.folder / "radix-sort.npy").read_bytes())
        for method in ("hybrid", "treecode"):  # of Yukawa's kernel
            with self.subTest(method=method):
                result = self.report("nbody", "--points", 4000, "--kappa", 6, "--method", method, "--leaf", 40,
                                     "--tolerance", 1e-4, "--check", 100, "--backend", "cuda")["nbody"]
                self.assertEqual((result["backend"], result["method"], result["kappa"]), ("cuda", method, 6))
                self.assertLess(max(result["potential_error"], result["force_error"]), 1e-4)

    def test_want_of_memory_is_exit_code_4_and_names_the_way_out(self):
        # The rest is for CUDA itself, some 0.6 GB, and half of what the near field takes.
        self.addCleanup(fill_gpu(leave=3 << 29))
        self.refused("capacitance", CUBE, "--refine", "3", "--tolerance", "1e-9", "--backend", "cuda",
                     "--near-field", "stored", code=4, saying=["memory", "--near-field lean"])


if __name__ == "__main__":
    unittest.main()
