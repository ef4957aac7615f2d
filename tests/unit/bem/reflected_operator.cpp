// Symmetry planes against surfaces that are meshed with their images.
#include "fmbem/bem/layer/reflected_operator.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/bem/layer/mixed_operator.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/mixed_dense.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/reflected_surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::reflected_operator_tests {

namespace {

constexpr auto ground = PlaneKind::ground, mirror = PlaneKind::mirror;

struct Case {
  std::string name;
  SurfaceMesh mesh;
  SymmetryPlanes planes;
};

/// Bodies off the planes, cut by one and by three of them, below one, and a sheet in a mirror.
std::vector<Case> cases(int level) {
  SurfaceMesh two;
  add_ellipsoid(two, "a", level, {0.5, 0.3, 0.4}, {1, 1, 0.6});
  add_grid(two, add_group(two, "b"), 4, {0.3, 0.2, 1.5}, {0.7, 0, 0.1}, {0, 0.9, 0});
  const SurfaceMesh ball = sphere(level), half = part_above(ball, 2);
  SurfaceMesh below = sphere(level, 0.5, {0, 0, -3}), strip = plate(6);
  for (Vec3d& v : strip.vertices) v.z = 0.25;
  return {{"off a ground plane", two, plane(2, ground, 0.1)},
          {"in a corner of two", two, {{SymmetryPlane{ground, -0.1}, SymmetryPlane{mirror, 0.1}}}},
          {"in a corner of three", two, planes(ground, ground, ground, {0, -0.2, 0.1})},
          {"half a ball on a mirror", half, plane(2, mirror)},
          {"half a ball on a ground plane", half, plane(2, ground)},
          {"an eighth of one", part_above(part_above(half, 0), 1), planes(mirror, ground, mirror)},
          {"below a plane", below, plane(2, ground, -2)},
          {"a sheet in a mirror", strip, plane(2, mirror, 0.25)}};
}

std::vector<double> in_panel_order(const Panels& panels, const std::vector<double>& values) {
  return panels.from_input_order(values);
}

/// The operator of the surface with its images, and what it makes of densities on the surface.
class Explicit {
 public:
  Explicit(const Case& of, const Layer& layer)
      : panels_(make_panels(with_mirrored(of.mesh, of.planes, sign_))),
        op_(make_dense_operator(panels_, layer, {})),
        n_(of.mesh.triangles.size()) {}

  /// Both in the mesh's order.
  Vector operator()(const Vector& x) const {
    Vector y =
        panels_.to_input_order(test::product(*op_, panels_.from_input_order(repeated(x, sign_))));
    y.resize(n_);
    return y;
  }

 private:
  std::vector<double> sign_;
  Panels panels_;
  std::shared_ptr<BoundaryOperator> op_;
  std::size_t n_;
};

OperatorOptions of_kind(OperatorOptions::Choice kind, double tolerance = 1e-7) {
  OperatorOptions options;
  options.kind = kind;
  options.tolerance = tolerance;
  return options;
}
constexpr auto dense = OperatorOptions::Choice::dense, fmm_kind = OperatorOptions::Choice::fmm;

/// Whether no panel lies in a plane, so that there are K and K'.
bool has_normal_traces(const Case& of) { return of.name != "a sheet in a mirror"; }

}  // namespace

TEST_CASE("operators with symmetry planes are those of surfaces with their images") {
  for (const Case& of : cases(2)) {
    const Panels panels = make_panels(of.mesh, of.planes);
    const std::size_t n = panels.size();
    REQUIRE(n == of.mesh.triangles.size());
    const Vector x = signed_charges(n, 1);
    for (const Layer& layer : {single_layer, double_layer, adjoint_double_layer}) {
      if (layer != single_layer && !has_normal_traces(of)) continue;
      CAPTURE(of.name, layer.name());
      const Vector y = Explicit(of, layer)(x);
      const Vector sigma = in_panel_order(panels, x), exact = in_panel_order(panels, y);
      const auto op = make_boundary_operator(panels, layer, of_kind(dense));
      CHECK(norm_of(difference(test::product(*op, sigma), exact)) < 1e-12 * norm_of(exact));
      const double size = layer == single_layer ? op->norm() : 0.5;
      for (const double tolerance : {1e-4, 1e-8}) {
        const auto fast = make_boundary_operator(panels, layer, of_kind(fmm_kind, tolerance));
        // Panels differ little in area, by which K' may be off more.
        CHECK(norm_of(difference(test::product(*fast, sigma), exact)) <
              3 * tolerance * size * norm_of(sigma));
      }
      // Diagonal blocks and transposed products have the same entries.
      std::vector<double> block(n * n);
      op->diagonal_block(0, static_cast<std::int64_t>(n), block.data());
      Vector transposed(n), by_block(n, 0.0), by_block_transposed(n, 0.0);
      op->apply(sigma.data(), transposed.data(), {.transposed = true});
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          by_block[i] += block[i * n + j] * sigma[j];
          by_block_transposed[j] += block[i * n + j] * sigma[i];
        }
      CHECK(norm_of(difference(by_block, exact)) < 1e-12 * norm_of(exact));
      CHECK(norm_of(difference(by_block_transposed, transposed)) < 1e-12 * norm_of(transposed));
    }
  }
}

TEST_CASE(
    "blocks with symmetry planes are rows and columns of the whole, several vectors at once") {
  for (const Case& of : cases(2)) {
    if (!has_normal_traces(of)) continue;
    const Panels panels = make_panels(of.mesh, of.planes);
    const std::size_t n = panels.size();
    PanelBlock block;
    for (std::size_t i = 0; i < n; ++i) {
      if (i % 3 == 0) block.rows.push_back(static_cast<std::int32_t>(i));
      if (i % 4 != 1) block.columns.push_back(static_cast<std::int32_t>(i));
    }
    for (const Layer& layer : {single_layer, double_layer, adjoint_double_layer}) {
      CAPTURE(of.name, layer.name());
      const auto whole = make_boundary_operator(panels, layer, of_kind(dense)),
                 some = make_boundary_operator(panels, layer, of_kind(fmm_kind, 1e-9), block);
      REQUIRE(some->rows() == block.rows.size());
      REQUIRE(some->columns() == block.columns.size());
      const Vector x = signed_charges(2 * block.columns.size(), 3),
                   z = signed_charges(block.rows.size(), 4);
      Vector all(2 * n, 0.0), y(2 * n), result(2 * block.rows.size());
      for (int v = 0; v < 2; ++v)
        for (std::size_t k = 0; k < block.columns.size(); ++k)
          all[v * n + block.columns[k]] = x[v * block.columns.size() + k];
      whole->apply(all.data(), y.data(), {.vectors = 2});
      some->apply(x.data(), result.data(), {.vectors = 2});
      double error = 0, adjoint = 0;
      for (int v = 0; v < 2; ++v)
        for (std::size_t k = 0; k < block.rows.size(); ++k)
          error = larger_error(
              error, std::abs(result[v * block.rows.size() + k] - y[v * n + block.rows[k]]));
      CHECK(error < 1e-8 * norm_of(x));
      Vector back(block.columns.size());
      some->apply(z.data(), back.data(), {.transposed = true});
      for (std::size_t k = 0; k < back.size(); ++k) adjoint += back[k] * x[k];
      for (std::size_t k = 0; k < z.size(); ++k) adjoint -= z[k] * result[k];
      CHECK(std::abs(adjoint) < 1e-8 * norm_of(x) * norm_of(z));
    }
  }
}

TEST_CASE("fields before symmetry planes are those of surfaces with their images") {
  for (const Case& of : cases(2)) {
    const Panels panels = make_panels(of.mesh, of.planes);
    const Vector x = signed_charges(panels.size(), 5);
    std::vector<double> sign;
    const Panels whole = make_panels(with_mirrored(of.mesh, of.planes, sign));
    std::vector<Vec3d> points = cube_points(20, 6);
    for (const std::size_t i : {std::size_t{0}, panels.size() / 2})
      points.push_back(panels.centroid(i) + panels.origin);
    CAPTURE(of.name);
    for (const Side side : {Side::mean, Side::positive}) {
      if (side == Side::positive && !has_normal_traces(of)) continue;
      const Field field =
          evaluate_field(panels, panels.from_input_order(x), points, {.side = side});
      const Field exact =
          evaluate_field(whole, whole.from_input_order(repeated(x, sign)), points, {.side = side});
      for (std::size_t k = 0; k < points.size(); ++k) {
        CHECK(field.potential[k] == Approx(exact.potential[k]).margin(1e-12));
        CHECK(norm(field.e[k] - exact.e[k]) < 1e-12 * (1 + norm(exact.e[k])));
      }
    }
  }
}

TEST_CASE("GMRES takes the same iterations with planes as with all images") {
  for (const Case& of : cases(3)) {
    const Panels panels = make_panels(of.mesh, of.planes);
    const auto v = make_boundary_operator(panels, single_layer, of_kind(dense));
    const auto inverse = v->approximate_inverse();
    REQUIRE(inverse);
    const auto by = [](const LinearMap& map) {
      return [&map](const Vector& x) {
        Vector y(x.size());
        map.apply(x.data(), y.data());
        return y;
      };
    };
    CAPTURE(of.name);
    CHECK(gmres(by(*v), by(*inverse), Vector(panels.size(), 1.0), 1e-6).iterations <= 8);
  }
}

TEST_CASE("panels that cross planes, lie behind them or in a ground plane are refused") {
  const auto refused = [](const SurfaceMesh& mesh, const SymmetryPlanes& planes,
                          const char* saying) {
    CHECK_THROWS_WITH(make_panels(mesh, planes), contains(saying));
  };
  refused(sphere(1), plane(0, ground, 0.1), "crosses the ground plane x = 0.1 m at (");
  SurfaceMesh two = sphere(1);
  add_ellipsoid(two, "other", 1, {1, 1, 1}, {5, 0, 0});
  refused(two, plane(0, mirror, 3), "\"other\" has panels behind the mirror plane x = 3 m at (");
  refused(plate(2), plane(2, ground), "has a panel in the ground plane z = 0 m");
  refused(sphere(1), plane(2, ground, NAN), "give it a finite place");
  const Panels sheet = make_panels(plate(2), plane(2, mirror));
  CHECK_THROWS_WITH(make_boundary_operator(sheet, double_layer),
                    contains("lies in a mirror plane"));
  CHECK_THROWS_WITH(make_boundary_operator(sheet, adjoint_double_layer),
                    contains("there is no field along the normal"));
  CHECK_THROWS_AS(make_single_layer(sheet, {.processor = Processor::gpu}), InputError);
  // Closer than rounding is in the plane.
  SurfaceMesh half = part_above(sphere(2), 2);
  for (Vec3d& v : half.vertices) v.z += 1e-10 * v.x;
  CHECK(make_panels(half, plane(2, ground)).images->whole.vertices.size() ==
        sphere(2).vertices.size());
}

TEST_CASE("operators with planes have the same bits for any number of threads", "[threads]") {
  const Panels panels =
      make_panels(part_above(sphere(3), 2), planes(PlaneKind::mirror, ground, mirror, {-2, -3, 0}));
  const Vector x = signed_charges(panels.size(), 8);
  std::vector<Vector> results;
  for (const int threads : {1, 2, 3}) {
    set_threads(threads);
    const auto op = make_boundary_operator(panels, single_layer, of_kind(fmm_kind, 1e-6));
    results.push_back(test::product(*op, x));
    Vector y(x.size());
    op->approximate_inverse()->apply(x.data(), y.data());
    results.push_back(y);
  }
  set_threads(available_cores());
  for (std::size_t k = 2; k < results.size(); ++k) CHECK(results[k] == results[k - 2]);
}

}  // namespace fmbem::test::reflected_operator_tests
