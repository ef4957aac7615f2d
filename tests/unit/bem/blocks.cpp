// Operators of some rows and columns, on either backend, against dense operators of all.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "tests/unit/bem/backends.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::blocks_tests {

namespace {

using Numbers = std::vector<std::int32_t>;

/// Numbers from a quarter of n on, without every third.
Numbers some_of(std::size_t n) {
  Numbers some;
  for (std::size_t i = n / 4; i < n; ++i)
    if (i % 3 != 0) some.push_back(static_cast<std::int32_t>(i));
  return some;
}

/// Vectors of a block in those of all, with zeros elsewhere, and back.
Vector spread(const Numbers& chosen, std::size_t n, const Vector& x) {
  if (chosen.empty()) return x;
  Vector all(x.size() / chosen.size() * n, 0.0);
  for (std::size_t k = 0; k < x.size(); ++k)
    all[k / chosen.size() * n + chosen[k % chosen.size()]] = x[k];
  return all;
}
Vector taken(const Numbers& chosen, std::size_t n, const Vector& all) {
  if (chosen.empty()) return all;
  Vector x(all.size() / n * chosen.size());
  for (std::size_t k = 0; k < x.size(); ++k)
    x[k] = all[k / chosen.size() * n + chosen[k % chosen.size()]];
  return x;
}

Vector product_of(const LinearMap& map, const Vector& x, std::size_t results, bool transposed,
                  int vectors, double tolerance = 0) {
  Vector y(results * vectors);
  map.apply(x.data(), y.data(),
            {.vectors = vectors, .tolerance = tolerance, .transposed = transposed});
  return y;
}

Vector times_areas(const Panels& panels, const Numbers& chosen, Vector x, int power) {
  const std::size_t count = count_of(chosen, panels.size());
  for (std::size_t k = 0; k < x.size(); ++k)
    x[k] *= std::pow(panels.area(panel_of(chosen, k % count)), power);
  return x;
}

struct Case {
  const char* name;
  SurfaceMesh mesh;
  std::vector<Layer> layers;
};

/// Plates of long panels are cut by V alone, on a GPU if they are large.
#ifdef FMBEM_TEST_CUDA
constexpr int panels_along = 250;
#else
constexpr int panels_along = 60;
#endif

std::vector<Case> cases() {
  return {{"cube", cube(9), {single_layer, double_layer, adjoint_double_layer}},
          {"bracket", bracket(10), {single_layer, adjoint_double_layer}},
          {"long plate", long_plate(4, panels_along), {single_layer}}};
}

}  // namespace

BACKEND_TEST_CASE("operators of some rows and columns are blocks of the whole ones",
                  "[long][accuracy]") {
  constexpr int vectors = 5;  // four go together, and one by itself
  constexpr double tolerance = 1e-6;
  for (const Case& of : cases()) {
    const Panels panels = make_panels(of.mesh);
    const std::size_t n = panels.size();
    const Numbers some = some_of(n);
    for (const Layer& layer : of.layers) {
      OperatorOptions is_dense;
      is_dense.kind = OperatorOptions::Choice::dense;
      const auto dense = make_boundary_operator(panels, layer, is_dense);
      for (const PanelBlock& block :
           {PanelBlock{.rows = some}, PanelBlock{.columns = some}, PanelBlock{some, some}})
        for (const auto near_field : near_fields) {
          const auto fast =
              make_fmm(panels, layer,
                       {.near_field = near_field, .tolerance = tolerance, .max_leaf = 20}, block);
          const std::size_t rows = count_of(block.rows, n), columns = count_of(block.columns, n);
          REQUIRE(fast->rows() == rows);
          REQUIRE(fast->columns() == columns);
          for (const bool transposed : {false, true})
            for (const double asked : {tolerance, fast->accurate_tolerance()}) {
              CAPTURE(of.name, layer.name(), block.rows.size(), block.columns.size(), transposed,
                      asked, static_cast<int>(near_field));
              const Numbers &in = transposed ? block.rows : block.columns,
                            &out = transposed ? block.columns : block.rows;
              const Vector x = signed_charges(vectors * count_of(in, n), 3);
              const Vector y = product_of(*fast, x, count_of(out, n), transposed, vectors, asked);
              const Vector exact =
                  taken(out, n, product_of(*dense, spread(in, n, x), n, transposed, vectors));
              // Errors of K' are those of charges: of A K' A⁻¹.
              const int power = layer != adjoint_double_layer ? 0 : transposed ? -1 : 1;
              CHECK(norm_of(times_areas(panels, out, difference(y, exact), power)) <
                    asked * fast->norm() * norm_of(times_areas(panels, in, x, power)));
            }
        }
    }
  }
}

}  // namespace fmbem::test::blocks_tests
