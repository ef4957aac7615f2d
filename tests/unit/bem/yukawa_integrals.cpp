// Integrals of Yukawa's kernel over panels.
#include "fmbem/bem/near/yukawa_integrals.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "fmbem/bem/near/panel_integrals.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

/// A reference value of tests/oracles/yukawa_integrals.py: double integrals of the kernel.
struct ReferenceCase {
  std::string name;
  Triangle triangle;
  Vec3d x;
  double kappa, potential;
  Vec3d gradient;  ///< NaN on an edge, and in the plane over the triangle
  double double_layer;
};

std::vector<ReferenceCase> reference_cases() {
  std::ifstream file(FMBEM_TEST_DATA "/yukawa_integrals.csv");
  std::string line, word;
  std::getline(file, line);
  std::vector<ReferenceCase> cases;
  while (std::getline(file, line)) {
    std::istringstream row(line);
    ReferenceCase c;
    std::getline(row, c.name, ',');
    double value[18];
    for (double& v : value) {
      std::getline(row, word, ',');
      v = std::strtod(word.c_str(), nullptr);
    }
    const auto vec = [&](int k) { return Vec3d{value[k], value[k + 1], value[k + 2]}; };
    c.triangle = make_triangle(vec(0), vec(3), vec(6));
    c.x = vec(9);
    c.kappa = value[12];
    c.potential = value[13];
    c.gradient = vec(14);
    c.double_layer = value[17];
    cases.push_back(c);
  }
  return cases;
}

double distance_to_edges(const Triangle& t, Vec3d x) {
  double nearest = std::numeric_limits<double>::max();
  for (int k = 0; k < 3; ++k) {
    const Vec3d d = x - t.vertex[k];
    const double s = std::clamp(dot(d, t.tangent[k]), 0.0, t.length[k]);
    nearest = std::min(nearest, norm(d - s * t.tangent[k]));
  }
  return nearest;
}

}  // namespace

TEST_CASE("integrals of Yukawa's kernel agree with double integrals to 1e-12") {
  const auto cases = reference_cases();
  REQUIRE(cases.size() > 200);
  for (const ReferenceCase& c : cases) {
    const Triangle& t = c.triangle;
    const double longest = *std::max_element(t.length, t.length + 3),
                 // A rounding of the coordinates moves x against the edges and the plane.
        scale = longest + norm(t.centroid) + norm(c.x),
                 move = 4 * std::numeric_limits<double>::epsilon() * scale;
    const YukawaIntegrals found = yukawa_integrals(t, c.x, c.kappa);
    INFO(c.name << " errors " << found.potential / c.potential - 1 << " "
                << found.double_layer / c.double_layer - 1 << " found " << found.potential << " "
                << found.double_layer << " expected " << c.potential << " " << c.double_layer);
    const double of_kappa = move * c.kappa;
    CHECK(std::abs(found.potential - c.potential) < (1e-12 + of_kappa) * c.potential + 1e-290);
    if (std::isnan(c.gradient.x)) continue;
    const double tiny = 1e-290,
                 size = std::hypot(c.gradient.x, std::hypot(c.gradient.y, c.gradient.z)),
                 bound = 1e-12 + of_kappa +
                         move * (1 / distance_to_edges(t, c.x) + longest / (2 * t.area));
    CHECK(norm(found.gradient - c.gradient) < bound * size + tiny);
    CHECK(std::abs(found.double_layer - c.double_layer) < bound * size + tiny);
  }
}
