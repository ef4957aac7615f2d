"""The examples of problems: docs/examples.md, whose commands are run here with coarser meshes."""

import csv
import math
import unittest

from harness import ROOT, ProgramTest

EPSILON_0 = 8.8541878128e-12
