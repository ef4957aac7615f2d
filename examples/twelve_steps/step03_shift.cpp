// Step 3: moments about one centre follow from those about another, so that a large box needs the
// moments of its eight parts, not the charges again (M2M). With d' = d + t:
//   Σ q d' = Σ q d + t Σ q,   Σ q d' d'ᵀ = Σ q d dᵀ + (Σ q d) tᵀ + t (Σ q d)ᵀ + t tᵀ Σ q.
#include "step.hpp"

struct Moments {
  double monopole = 0, quadrupole[3][3] = {};
  Vec3d dipole;

  void add(double q, Vec3d d) {
    monopole += q;
    dipole += q * d;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) quadrupole[a][b] += q * d[a] * d[b];
  }
  void add(const Moments& part, Vec3d t) {
    monopole += part.monopole;
    dipole += part.dipole + part.monopole * t;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        quadrupole[a][b] += part.quadrupole[a][b] + part.dipole[a] * t[b] + t[a] * part.dipole[b] +
                            part.monopole * t[a] * t[b];
  }
};

int main() {
  const Charges c = charges_in_cube(8000, {-0.5, -0.5, -0.5}, 1, 1);
  Moments direct, parts[8], shifted;
  for (std::size_t j = 0; j < c.x.size(); ++j) direct.add(c.q[j], c.x[j]);
  const auto centre = [](int g) {
    return Vec3d{g & 4 ? 0.25 : -0.25, g & 2 ? 0.25 : -0.25, g & 1 ? 0.25 : -0.25};
  };
  for (std::size_t j = 0; j < c.x.size(); ++j) {
    const int g = 4 * (c.x[j].x > 0) + 2 * (c.x[j].y > 0) + (c.x[j].z > 0);
    parts[g].add(c.q[j], c.x[j] - centre(g));
  }
  const double start = now();
  for (int g = 0; g < 8; ++g) shifted.add(parts[g], centre(g));
  const double seconds = now() - start;
  double difference = 0, size = 0;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      difference = std::hypot(difference, shifted.quadrupole[a][b] - direct.quadrupole[a][b]);
      size = std::hypot(size, direct.quadrupole[a][b]);
    }
  return !tell("moments of eight boxes, shifted", difference / size, 1e-12, seconds);
}
