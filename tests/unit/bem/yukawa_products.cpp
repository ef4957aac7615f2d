// Products of Yukawa's operators by the FMM, on either processor.
#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fmbem/bem/layer/green_operator.hpp"
#include "fmbem/bem/near/exact_entry.hpp"
#include "fmbem/bem/near/green_entries.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/bem/backends.hpp"
#include "tests/unit/bem/test_surfaces.hpp"
#include "tests/unit/bem/yukawa_cases.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/larger_error.hpp"

namespace fmbem::test::yukawa_products_tests {

BACKEND_TEST_CASE(
    "Yukawa's operators by the FMM are as close to the dense ones as their tolerance says",
    "[long][accuracy]") {
  const std::vector<Surface> bodies{{"sphere", [] { return sphere(3); }},
                                    {"cube", [] { return cube(9); }},
                                    {"torus", [] { return torus(36, 12); }}};
  for (const Surface& body : bodies) {
    const Panels panels = make_panels(body.make());
    const std::size_t n = panels.size();
    const std::vector<Vector> xs = densities(panels);
    for (const double size : {1e-3, 6.0, 100.0}) {
      const double kappa = size / panels.extent;
      for (const Layer& layer : {single_layer, double_layer}) {
        const auto exact = make_boundary_operator(panels, layer, with(dense, kappa));
        const double norm = layer == single_layer ? norm_of(*exact) : 0.5;
        std::vector<Vector> products;
        for (const Vector& x : xs) products.push_back(product(*exact, x));
        for (const double tolerance : {1e-3, layer == single_layer ? 1e-6 : 1e-5, 1e-9}) {
          // Making M2L's operators for each level takes most of the time.
          if (tolerance < 1e-3 && (size != 6 || body.name != "torus")) continue;
          if (tolerance < 1e-6 && layer != single_layer) continue;
          OperatorOptions options = with(fast, kappa, tolerance);
          options.max_leaf = tolerance < 1e-3 ? 24 : 12;
          const auto op = make_fmm(panels, layer, options);
          CAPTURE(body.name, layer.name(), size, tolerance, op->info().order);
          CHECK(op->info().near_entries < static_cast<std::int64_t>(n * n) / 2);
          double worst = 0;
          for (std::size_t k = 0; k < xs.size(); ++k)
            worst = larger_error(worst, norm_of(difference(product(*op, xs[k]), products[k])) /
                                            (norm * norm_of(xs[k])));
          CHECK(worst < tolerance);
        }
      }
    }
  }
}

BACKEND_TEST_CASE("products of Yukawa's operators with several vectors, transposed and tighter",
                  "[long]") {
  const Panels panels = make_panels(torus(36, 12));
  const std::size_t n = panels.size();
  const double kappa = 6 / panels.extent;
  const Vector x = signed_charges(3 * n, 4);
  for (const Layer& layer : {single_layer, double_layer, adjoint_double_layer}) {
    OperatorOptions options = with(dense, kappa);
    const auto exact = make_boundary_operator(panels, layer, options);
    const double norm = layer == single_layer ? norm_of(*exact) : 0.5;
    options = with(fast, kappa, 1e-4);
    options.max_leaf = 12;
    for (const OperatorOptions::NearField near_field : near_fields) {
      options.near_field = near_field;
      const auto op = make_fmm(panels, layer, options);
      const bool stored = near_field == OperatorOptions::NearField::stored;
      CHECK(op->info().near_field_stored == stored);
      for (const bool transposed : {false, true})
        for (const double tolerance : {0.0, op->accurate_tolerance()}) {
          const Product product{.vectors = 3, .tolerance = tolerance, .transposed = transposed};
          Vector y(3 * n), again(3 * n), wanted(3 * n);
          op->apply(x.data(), y.data(), product);
          op->apply(x.data(), again.data(), product);
          exact->apply(x.data(), wanted.data(), product);
          CAPTURE(layer.name(), stored, transposed, tolerance);
          CHECK(norm_of(difference(y, wanted)) <
                (tolerance > 0 ? tolerance : 1e-4) * norm * norm_of(x));
          CHECK(y == again);
        }
    }
  }
}

namespace {

/// A row of slivers of that width beside well-shaped panels.
Panels slivers(double width) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "slivers");
  add_grid(mesh, group, 10, {0, 0, 0}, {1, 0, 0}, {0, 10 * width, 0});
  add_grid(mesh, group, 10, {0, -0.5, 0.02}, {1, 0, 0}, {0, 0.45, 0.1});
  return make_panels(mesh);
}

/// A band of triangles with two long edges each, beside others: where they are cut in halves, all
/// pieces are slivers for long.
Panels needles(double width) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "needles");
  int below = add_vertex(mesh, {0, 0, 0}), above = add_vertex(mesh, {width / 2, 1, 0});
  for (int k = 1; k <= 12; ++k) {
    const int next = add_vertex(mesh, {k * width, 0, 0});
    add_triangle(mesh, below, next, above, group);
    const int next_above = add_vertex(mesh, {(k + 0.5) * width, 1, 0});
    add_triangle(mesh, above, next, next_above, group);
    below = next;
    above = next_above;
  }
  add_grid(mesh, group, 8, {0.1, 0, 0.02}, {1, 0, 0}, {0, 1, 0.1});
  return make_panels(mesh);
}

}  // namespace

BACKEND_TEST_CASE("near integrals of Yukawa's kernel on slivers and where screening is strong",
                  "[long][accuracy]") {
  const std::pair<const char*, Panels> bodies[] = {{"shapes of 0.3", slivers(0.3)},
                                                   {"0.01", slivers(0.01)},
                                                   {"0.001", slivers(0.001)},
                                                   {"needles", needles(0.001)}};
  for (const auto& [name, panels] : bodies) {
    for (const double kappa : {0.1, 20.0, 400.0})
      for (const Layer& layer : {single_layer, double_layer}) {
        if (name == std::string("needles") && kappa != 20) continue;
        const auto exact = make_boundary_operator(panels, layer, with(dense, kappa));
        OperatorOptions options = with(fast, kappa, 1e-6);
        options.max_leaf = 40;
        const double norm = layer == single_layer ? norm_of(*exact) : 0.5;
        for (const OperatorOptions::NearField near_field : near_fields) {
          options.near_field = near_field;
          const auto op = make_fmm(panels, layer, options);
          CAPTURE(name, kappa, layer.name(), op->info().near_field_stored);
          for (const Vector& x : densities(panels))
            CHECK(norm_of(difference(product(*op, x), product(*exact, x))) <
                  1e-6 * norm * norm_of(x));
        }
      }
  }
}

namespace {

/// Where the tests of a backend run.
#ifdef FMBEM_TEST_CUDA
constexpr Processor here = Processor::gpu;
#else
constexpr Processor here = Processor::cpu;
#endif

/// The largest difference of an operator of charges and dipoles on some panels (all, if there are
/// none) from exact entries, of some rows, over the sum of their sizes.
double worst_of_green(const GreenOperator& op, const Panels& all,
                      const std::vector<std::int32_t>& some, const GreenTerm& term) {
  const std::size_t n = op.columns();
  Vector x = signed_charges(2 * n, 5), y(n);
  for (std::size_t j = 0; j < n; ++j) x[j] /= op.norm_of_v();  // so that both count alike
  op.multiply(x, y);
  double worst = 0;
  for (std::size_t i = 0; i < n; i += 7) {
    const Triangle to = all.triangle(some.empty() ? i : some[i]);
    double exact = 0, entries = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const Triangle from = all.triangle(some.empty() ? j : some[j]);
      const auto entry = [&](const Layer& layer) {
        return exact_entry(layer, NormalRows::at_centroids, to, from, i == j, term.kappa);
      };
      const double v = term.v * entry(single_layer), k = term.k * entry(double_layer);
      exact += v * x[j] + k * x[n + j];
      entries += std::abs(v) / op.norm_of_v() + std::abs(k);
    }
    worst = larger_error(worst, std::abs(y[i] - exact) / entries);
  }
  return worst;
}

}  // namespace

BACKEND_TEST_CASE("potentials of charges and dipoles are sums of exact entries") {
  const Panels all = make_panels(torus(36, 12));
  std::vector<std::int32_t> half;
  for (std::size_t i = 0; i < all.size(); i += 2) half.push_back(static_cast<std::int32_t>(i));
  for (const OperatorOptions::NearField near_field : near_fields)
    for (const auto& [size, some] :
         {std::pair{0.0, false}, {0.0, true}, {6.0, false}, {6.0, true}, {100.0, true}}) {
      const PanelBlock block = some ? PanelBlock{.rows = half, .columns = half} : PanelBlock{};
      const std::size_t n = some ? half.size() : all.size();
      const GreenTerm term{size / all.extent, 1.5, -0.7, 0, 0};
      OperatorOptions options{.processor = here, .tolerance = 1e-5};
      options.max_leaf = 12;
      options.near_field = near_field;
      const GreenOperator op(all, block, {term}, options);
      CAPTURE(size, some, op.info().order, op.info().near_field_stored);
      CHECK(op.info().near_field_stored == (near_field == OperatorOptions::NearField::stored));
      CHECK(op.info().processor == here);
      CHECK(op.info().near_entries < static_cast<std::int64_t>(n * n) / 2);
      // Near entries are within the tolerance of the sum of their sizes, and so is the far field.
      CHECK(worst_of_green(op, all, some ? half : std::vector<std::int32_t>(), term) <
            2 * options.tolerance);
    }
}

BACKEND_TEST_CASE("near entries of charges and dipoles in large leaves, on slivers and to 1e-9",
                  "[long][accuracy]") {
  struct Case {
    const char* name;
    Panels panels;
    double kappa, tolerance;
    int max_leaf;
  };
  const Panels torus_panels = make_panels(torus(36, 12)), thin = slivers(0.01),
               thinner = needles(0.001);
  // Leaves of more targets than a block of the GPU has threads; rules in double precision.
  for (const auto& [name, panels, kappa, tolerance, max_leaf] :
       {Case{"large leaves", torus_panels, 0, 1e-5, 400},
        {"large leaves", torus_panels, 2, 1e-5, 400},
        {"tight", torus_panels, 0, 1e-9, 24},
        {"tight", torus_panels, 2, 1e-9, 24},
        {"slivers", thin, 0, 1e-5, 40},
        {"slivers", thin, 20, 1e-5, 40},
        {"needles", thinner, 20, 1e-5, 40},
        {"loose", torus_panels, 2, 1e-3, 24}}) {
    OperatorOptions options{.processor = here, .tolerance = tolerance};
    options.max_leaf = max_leaf;
    const GreenTerm term{kappa, 1.5, -0.7, 0, 0};
    const GreenOperator op(panels, {}, {term}, options);
    CAPTURE(name, kappa, tolerance, op.info().order);
    CHECK(op.info().near_field_stored);
    CHECK(worst_of_green(op, panels, {}, term) < 2 * tolerance);
  }
}

namespace {

/// Some rows of an operator, against exact entries; the sum of a row's sizes is at most ‖A‖ in the
/// maximum norm.
void check_rows(const GreenOperator& op, const Panels& panels, const PanelBlock& block,
                std::span<const GreenTerm> terms, double tolerance) {
  const std::size_t n = op.columns(), m = op.rows();
  REQUIRE(op.outputs() == 2);
  Vector x = signed_charges(2 * n, 5), y(2 * m);
  op.multiply(x, y);
  for (std::size_t i = 7; i < m; i += 97) {
    const std::int32_t row = panel_of(block.rows, i);
    const Triangle to = panels.triangle(row);
    double exact[2] = {}, size[2] = {};
    for (std::size_t j = 0; j < n; ++j) {
      const std::int32_t column = panel_of(block.columns, j);
      const PanelEntries a =
          green_entries(terms, panels.triangle(column), to.centroid, to.normal, row == column);
      exact[0] += a.v * x[j] + a.k * x[n + j];
      exact[1] += a.k_adjoint * x[j] + a.d * x[n + j];
      size[0] += std::abs(a.v) + std::abs(a.k);
      size[1] += std::abs(a.k_adjoint) + std::abs(a.d);
    }
    CAPTURE(terms[0].kappa, terms.size(), row);
    CHECK(std::abs(y[i] - exact[0]) <= 2 * tolerance * size[0]);
    CHECK(std::abs(y[m + i] - exact[1]) <= 2 * tolerance * std::max(size[1], size[0] / 3));
  }
}

/// Some panels as rows, the others as columns.
PanelBlock divided(const Panels& panels, const std::function<bool(Vec3d)>& is_row) {
  PanelBlock block;
  for (std::size_t i = 0; i < panels.size(); ++i)
    (is_row(panels.centroid(i) + panels.origin) ? block.rows : block.columns)
        .push_back(static_cast<std::int32_t>(i));
  return block;
}

}  // namespace

BACKEND_TEST_CASE("differences of kernels are sums of the series' entries", "[long][cases]") {
  const Panels panels = make_panels(sphere(4, 3.0));
  const double small = 1e-3, ions = 0.4, tolerance = 1e-6;
  const std::vector<GreenTerm> cases[] = {{{ions, 1, 1, 1, 1}, {0, -1, -1, -1, -1}},
                                          {{small, 1, 0.7, 0, 1}, {0, -1, -0.7, 0, -1}},
                                          {{40 * ions, 1, 1, 1, 1}, {0, -1, -1, -1, -1}},
                                          {{0, -4, 4, -0.05, 1}, {ions, 4, -80, 0.05, -1}}};
  for (const std::vector<GreenTerm>& terms : cases) {
    if (sanitized && terms[0].kappa > 1) continue;
    OperatorOptions options{.processor = here, .tolerance = tolerance};
    options.max_leaf = 30;
    const GreenOperator op(panels, {}, terms, options);
    CHECK(op.info().levels > 2);
    CHECK(op.info().processor == here);
    check_rows(op, panels, {}, terms, tolerance);
  }
}

BACKEND_TEST_CASE("differences of kernels on needles", "[long][accuracy]") {
  const Panels panels = needles(0.001);
  const std::vector<GreenTerm> terms{{2.0, 1, 1, 1, 1}, {0, -1, -1, -1, -1}};
  const double tolerance = 1e-5;
  OperatorOptions options{.processor = here, .tolerance = tolerance};
  options.max_leaf = 40;
  check_rows(GreenOperator(panels, {}, terms, options), panels, {}, terms, tolerance);
}

BACKEND_TEST_CASE("charges and dipoles have potentials and derivatives on another surface",
                  "[long][accuracy]") {
  // A layer's width is half a panel's size.
  SurfaceMesh layer = sphere(4, 3.0);
  add_ellipsoid(layer, "outer", 4, {3.1, 3.1, 3.1});
  SurfaceMesh thin;
  add_grid(thin, add_group(thin, "slivers"), 20, {0, 0, 0}, {1, 0, 0}, {0, 0.2, 0});
  add_grid(thin, add_group(thin, "above"), 20, {0, 0, 0.02}, {1, 0, 0}, {0, 0.2, 0.05});
  struct Case {
    const char* name;
    SurfaceMesh mesh;
    std::function<bool(Vec3d)> is_row;
    std::vector<GreenTerm> terms;
    double tolerance = 1e-5;
  };
  const double ions = 0.4;
  const auto outside = [](Vec3d x) { return norm(x) > 3.05; };
  const auto inside = [](Vec3d x) { return norm(x) < 3.05; };
  const auto above = [](Vec3d x) { return x.z > 0.01; };
  for (const auto& [name, mesh, is_row, terms, tolerance] : std::initializer_list<Case>{
           {"Laplace, outwards", layer, outside, {{0, -4, 4, -1, 1}}},
           {"Laplace, inwards", layer, inside, {{0, 4, -80, 0.05, -1}}},
           {"Yukawa", layer, inside, {{ions, -4, 4, -1, 1}}},
           {"Yukawa, strong", layer, outside, {{40 * ions, -4, 4, -1, 1}}},
           {"two passes", layer, outside, {{ions, 1, 0.5, 0.3, 1}}},
           {"both kernels", layer, outside, {{0, -4, 4, -1, 1}, {ions, 2, -80, 0.05, -1}}},
           {"tight", layer, outside, {{ions, -4, 4, -1, 1}}, 1e-8},
           {"slivers, Laplace", thin, above, {{0, -4, 4, -1, 1}}},
           {"slivers, Yukawa", thin, above, {{ions, -4, 4, -1, 1}}}}) {
    const Panels panels = make_panels(mesh);
    const PanelBlock block = divided(panels, is_row);
    OperatorOptions options{.processor = here, .tolerance = tolerance};
    options.max_leaf = 30;
    const GreenOperator op(panels, block, terms, options);
    INFO(name);
    CHECK(op.info().levels > 2);
    CHECK(op.info().processor == here);
    check_rows(op, panels, block, terms, tolerance);
  }
}

BACKEND_TEST_CASE("a few panels are all near to each other") {
  const Panels panels = make_panels(cube(2));
  const PanelBlock block = divided(panels, [](Vec3d x) { return x.x > 0.5; });
  const std::vector<GreenTerm> terms{{0.4, -4, 4, -1, 1}};
  const GreenOperator op(panels, block, terms, {.processor = here, .tolerance = 1e-5});
  CHECK(op.info().near_entries == static_cast<std::int64_t>(op.rows() * op.columns()));
  check_rows(op, panels, block, terms, 1e-5);
}

namespace {

/// Transposed products have the forward ones' inner products: the far field is the same with
/// sources and targets swapped, and near entries are the same numbers, so that nothing but rounding
/// is between them, that of far fields in single precision if they have one.
void check_transposed(const GreenOperator& op, double rounding) {
  const std::size_t n = 2 * op.columns(), m = op.outputs() * op.rows();
  const Vector x = signed_charges(n, 5), y = signed_charges(m, 6);
  Vector of_x(m), of_y(n), again(n);
  op.multiply(x, of_x);
  op.multiply_transposed(y, of_y);
  op.multiply_transposed(y, again);
  CHECK(of_y == again);
  const double size = norm_of(of_x) * norm_of(y) + norm_of(of_y) * norm_of(x);
  REQUIRE(size > 0);
  CHECK(std::abs(inner_product(y, of_x) - inner_product(of_y, x)) < rounding * size);
}

}  // namespace

BACKEND_TEST_CASE("transposed products of charges and dipoles with derivatives", "[long]") {
  const double ions = 0.4;
  struct Case {
    const char* name;
    std::vector<GreenTerm> terms;
    double tolerance = 1e-5;
  };
  const Case cases[] = {{"all four", {{ions, 1, 2, -0.5, -1}}},
                        {"all four in two passes", {{0, 1, 2, -0.5, 1}}},
                        {"differences", {{ions, 1, 1, 1, 1}, {0, -1, -1, -1, -1}}},
                        {"differences but for K", {{ions, 1, 1, 1, 1}, {0, -1, -0.3, -1, -1}}},
                        {"potentials of both kernels", {{0, -4, 4, 0, 0}, {ions, 4, -80, 0, 0}}},
                        {"K' and D, tight", {{0, 0, 0, 1, 0.5}}, 1e-8}};
  for (const Panels& panels : {make_panels(sphere(3, 3.0)), needles(0.001)})
    for (const Case& c : cases) {
      if (sanitized && c.tolerance < 1e-5) continue;
      OperatorOptions options{.processor = here, .tolerance = c.tolerance};
      options.kind = fast;
      options.max_leaf = 20;
      const GreenOperator op(panels, {}, c.terms, options);
      CAPTURE(c.name, panels.size());
      CHECK(op.info().processor == here);
      CHECK(op.info().levels > 2);
      const bool is_double = op.info().far_precision == Precision::double_precision;
      check_transposed(op, is_double ? 1e-11 : 1e-5);
    }
  // Rows and columns of their own, and all near.
  const Panels few = make_panels(cube(2)), all = make_panels(torus(36, 12));
  for (const Panels* const panels : {&few, &all})
    check_transposed(GreenOperator(*panels, divided(*panels, [](Vec3d x) { return x.x > 0.4; }),
                                   {{ions, -4, 4, -1, 1}}, {.processor = here, .tolerance = 1e-5}),
                     1e-5);
}

#ifdef FMBEM_TEST_CUDA
BACKEND_TEST_CASE("what of Yukawa's operators the GPU has not is refused") {
  const Panels panels = make_panels(cube(4));
  CHECK(make_fmm(panels, with(fast, 1))->approximate_inverse() == nullptr);
  const OperatorOptions lean{.processor = here, .near_field = OperatorOptions::NearField::lean};
  for (const std::vector<GreenTerm>& terms :
       {std::vector<GreenTerm>{{1, 1, 1, 1, 1}}, {{1, 1, 1, 1, 1}, {0, -1, -1, -1, -1}}})
    CHECK_THROWS_WITH(GreenOperator(panels, {}, terms, lean),
                      Catch::Contains("stored: leave out --near-field lean"));
  const GreenOperator potentials(panels, {}, {{1, 1, 1, 0, 0}}, {.processor = here});
  Vector y(panels.size()), x(2 * panels.size());
  CHECK_THROWS_WITH(potentials.multiply_transposed(y, x),
                    Catch::Contains("are the CPU's: make the operator there"));
}
#endif

}  // namespace fmbem::test::yukawa_products_tests
