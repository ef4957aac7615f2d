"""The documents' claims: their commands run, their options and links are there."""

import re
import shlex
import unittest

from harness import ROOT, ProgramTest
from test_pictures import HEIGHT, WIDTH, Picture, PictureTest


class Documentation(ProgramTest):
    PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

    def test_every_fmbem_command_in_the_documentation_runs(self):
        """Lines of console blocks that start with fmbem are run, page by page in their order, in a
        folder that has examples/ and tests/."""
        for name in ("examples", "tests"):
            (self.folder / name).symlink_to(ROOT / name)
        commands = []
        for page in self.PAGES:
            if page.name in ("pictures.md", "examples.md"):
                continue  # the class Pictures and test_examples.py run theirs
            for block in re.findall(r"```(?:console|sh)\n(.*?)```", page.read_text(), re.S):
                commands += [line for line in block.splitlines() if line.startswith("fmbem ")]
        self.assertGreater(len(commands), 3)
        for command in dict.fromkeys(commands):
            with self.subTest(command):
                self.fmbem(*shlex.split(command, comments=True)[1:])

    def test_the_guide_has_every_option(self):
        guide = (ROOT / "docs" / "guide.md").read_text()
        helps = self.fmbem("--help").stdout
        for command in re.findall(r"^  ([a-z-]+) {2,}", helps[helps.index("Subcommands:"):], re.M):
            helps += self.fmbem(command, "--help").stdout
        options = set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", helps, re.M))
        self.assertGreater(len(options), 20)
        self.assertEqual([option for option in sorted(options) if not re.search(option + r"\b", guide)], [])

    def test_links_to_files_and_headings_lead_somewhere(self):
        def anchor(heading):  # as GitHub makes it
            return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")

        for page in self.PAGES:
            for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
                if target.startswith("http"):
                    continue
                with self.subTest(page=page.name, target=target):
                    file, _, place = target.partition("#")
                    path = page.parent / file if file else page
                    self.assertTrue(path.exists())
                    if place:
                        headings = re.findall(r"^#+ (.*)$", path.read_text(), re.M)
                        self.assertIn(place, map(anchor, headings))


class Pictures(PictureTest):
    """docs/pictures.md: its commands make the pictures of docs/images."""

    def test_the_commands_make_the_pictures(self):
        (self.folder / "examples").symlink_to(ROOT / "examples")
        text = (ROOT / "docs" / "pictures.md").read_text()
        for block in re.findall(r"```sh\n(.*?)```", text, re.S):
            for command in block.splitlines():
                self.fmbem(*command.split()[1:])
        names = re.findall(r"\(images/([a-z-]+\.png)\)", text)
        self.assertEqual(len(names), 5)
        for name in names:
            with self.subTest(name):
                kept = ROOT / "docs" / "images" / name
                self.assertLess(kept.stat().st_size, 200_000)
                new, old = Picture(self.folder / name), Picture(kept)
                # Meshes differ between versions of Gmsh; the picture has to be the same.
                self.assertLess(self.difference(new, old, 0), 3)
                # The colour bar and its numbers, without which it would be 12 to 19, without numbers 2.
                self.assertLess(self.difference(new, old, 960), 1)

    def difference(self, new, old, left):
        """The mean of blocks of pixels right of a column."""
        blocks = [(x, y) for x in range(left, WIDTH, 20) for y in range(0, HEIGHT, 20)]
        return sum(max(abs(a - b) for a, b in zip(new.mean(x, y, 20), old.mean(x, y, 20)))
                   for x, y in blocks) / len(blocks)


if __name__ == "__main__":
    unittest.main()
