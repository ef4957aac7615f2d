"""fmbem capacitance: sheets that are close to each other, against integral equation and series."""

import sys
import unittest

from harness import PROGRAM, ROOT, ProgramTest

sys.path.insert(0, str(ROOT / "bench"))
import close_sheets  # noqa: E402  the meshes and references of docs/accuracy.md


class CloseSheets(ProgramTest):
    def check(self, body, gap, halvings):
        """Errors fall at least by the first order in the mesh's steps: so that of the finer mesh is
        no more than what it is apart from the coarser one."""
        coarse, fine = (close_sheets.solve(PROGRAM, body, gap, k, self.folder) for k in halvings)
        self.assertEqual([coarse["exit_code"], fine["exit_code"]], [0, 0])
        self.assertLessEqual(fine["true_residual"], close_sheets.tolerance(gap))
        self.assertLess(abs(fine["capacitance"] - fine["reference"]),
                        abs(fine["capacitance"] - coarse["capacitance"]))
        return fine

    def test_coaxial_discs(self):
        """Love's equation: 25.603 at a gap of 0.01."""
        for gap in (0.1, 0.01):
            with self.subTest(gap):
                fine = self.check("discs", gap, (-1, 0))
                self.assertLess(abs(fine["relative_difference"]), 1e-3)

    def test_squares_that_almost_touch(self):
        """At 1e-5 the charge at the edges is 9e-5 of all: the series has it."""
        fine = self.check("squares", 1e-5, (-2, -1))
        self.assertLess(abs(fine["edge_difference"]), 0.1)

    def test_references_agree(self):
        """Love's equation and Kirchhoff's formula, which leaves out terms of gap² ln³ gap."""
        for gap in (0.01, 0.003, 0.001):
            with self.subTest(gap):
                of_love = close_sheets.reference("discs", gap)
                self.assertLess(abs(close_sheets.disc_series(gap) - of_love), 0.2 * gap**2)


if __name__ == "__main__":
    unittest.main()
