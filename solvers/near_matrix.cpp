#include "fmbem/solvers/near_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fmbem/fmm/base/tasks.hpp"

namespace fmbem {
namespace {

/// A ball around the centroids of a leaf, and how far its panels reach.
struct LeafBall {
  Vec3d centre;
  double radius = 0, reach = 0;
};

std::vector<LeafBall> balls_of(const Panels& panels, const std::vector<double>& reach) {
  std::vector<LeafBall> balls(panels.leaves());
#pragma omp parallel for schedule(static)
  for (std::size_t leaf = 0; leaf < balls.size(); ++leaf) {
    LeafBall& ball = balls[leaf];
    const auto begin = static_cast<std::size_t>(panels.leaf_begin[leaf]);
    const auto end = static_cast<std::size_t>(panels.leaf_begin[leaf + 1]);
    for (std::size_t i = begin; i < end; ++i)
      ball.centre += panels.centroid(i) / double(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      ball.radius = std::max(ball.radius, norm(panels.centroid(i) - ball.centre));
      ball.reach = std::max(ball.reach, reach[i]);
    }
  }
  return balls;
}

/// The columns of each row, ascending.
std::vector<std::vector<PetscInt>> close_panels(const Panels& panels,
                                                const std::vector<double>& reach) {
  const std::vector<LeafBall> balls = balls_of(panels, reach);
  std::vector<std::vector<PetscInt>> rows(panels.size());
#pragma omp parallel for schedule(dynamic, 4)
  for (std::size_t a = 0; a < balls.size(); ++a)
    for (std::size_t b = 0; b < balls.size(); ++b) {
      const double apart = norm(balls[a].centre - balls[b].centre);
      if (apart > balls[a].radius + balls[b].radius + balls[a].reach + balls[b].reach) continue;
      for (auto i = panels.leaf_begin[a]; i < panels.leaf_begin[a + 1]; ++i)
        for (auto j = panels.leaf_begin[b]; j < panels.leaf_begin[b + 1]; ++j)
          if (norm(panels.centroid(i) - panels.centroid(j)) <= reach[i] + reach[j])
            rows[i].push_back(static_cast<PetscInt>(j));
    }
  return rows;
}

}  // namespace

Mat make_near_matrix(const Panels& panels,
                     const std::function<double(std::size_t, std::size_t)>& entry, double reach) {
  const Areas areas = areas_of(panels);
  std::vector<double> reach_of;
  for (const double area : *areas) reach_of.push_back(reach * std::sqrt(area));
  const std::vector<std::vector<PetscInt>> rows = close_panels(panels, reach_of);
  std::vector<std::vector<double>> values(rows.size());
  for_tasks(static_cast<std::int64_t>(rows.size()), [&](std::int64_t i) {
    for (const PetscInt j : rows[i]) values[i].push_back(entry(i, j));
  });

  Mat matrix = nullptr;
  petsc_calls([&] {
    const auto n = static_cast<PetscInt>(panels.size());
    std::vector<PetscInt> row_entries;
    for (const auto& row : rows) row_entries.push_back(static_cast<PetscInt>(row.size()));
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 0, row_entries.data(), &matrix));
    for (PetscInt i = 0; i < n; ++i)
      PetscCall(MatSetValues(matrix, 1, &i, row_entries[i], rows[i].data(), values[i].data(),
                             INSERT_VALUES));
    PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
    return PetscErrorCode(PETSC_SUCCESS);
  });
  return matrix;
}

}  // namespace fmbem
