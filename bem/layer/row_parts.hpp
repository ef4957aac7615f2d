#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/layer/fmm_operator.hpp"
#include "fmbem/fmm/base/chunks.hpp"

namespace fmbem {

/// An operator of those rows whose factor is not 0, or that are asked for, and what it counts
/// there. Its tolerance is `looser` times that of all, as it is a part
/// of their norm.
template <class Rows, class Factor>
struct RowPart {
  PanelBlock block;
  double looser;
  std::vector<Factor> Rows::*factor;
  std::shared_ptr<const BoundaryOperator> op;
};
template <class Rows, class Factor>
using RowParts = std::vector<RowPart<Rows, Factor>>;

/// In absolute value.
template <class Factor>
double largest(const std::vector<Factor>& factors) {
  double result = 0;
  const auto n = static_cast<std::int64_t>(factors.size());
#pragma omp parallel for schedule(static) reduction(max : result)
  for (std::int64_t i = 0; i < n; ++i) result = std::max(result, std::abs(factors[i]));
  return result;
}

/// The operator of a layer, whose `op` is null where all of its factors are 0. `wanted`: [n], which
/// rows are asked for in any case; empty for none.
template <class Rows, class Factor>
RowPart<Rows, Factor> make_part(const Panels& panels, const Rows& rows, const Layer& layer,
                                std::vector<Factor> Rows::*factor, const std::vector<char>& wanted,
                                double looser, OperatorOptions options) {
  const std::vector<Factor>& factors = rows.*factor;
  PanelBlock block;
  block.rows = numbers_where(static_cast<std::int64_t>(factors.size()), [&](std::int64_t i) {
    return factors[i] != Factor(0) || (!wanted.empty() && wanted[i]);
  });
  if (block.rows.empty()) return {{}, looser, factor, nullptr};
  if (block.rows.size() == factors.size()) block.rows.clear();  // all of them
  options.tolerance = std::min(looser * options.tolerance, 0.5);
  return {block, looser, factor, make_boundary_operator(panels, layer, options, block)};
}

/// Of K' + γ/β against K', whose norm counts as 1/2.
template <class Rows>
double looser_for_flux(const Rows& rows) {
  return 1 + 2 * largest(rows.gamma) / std::max(largest(rows.beta), 1e-3);
}

/// That of αV. Where the FMM does not reach its tolerance, the error is by how much that is too
/// tight for V and for K', so that nobody is refused twice.
template <class Rows>
auto part_of_v(const Panels& panels, const Rows& rows, const OperatorOptions& options) {
  try {
    return make_part(panels, rows, single_layer, &Rows::alpha, {}, 1, options);
  } catch (const ToleranceError& error) {
    if (largest(rows.beta) == 0) throw;
    const double of_flux = looser_for_flux(rows) * options.tolerance,
                 least = least_tolerance(Trace::normal).of_operator;
    throw ToleranceError(error.what(), std::max(error.too_tight, least / of_flux));
  }
}

/// Those of αV, which is handed over, and of βK' + γ. `needs_flux`: rows that K' is asked for in
/// any case.
template <class Rows, class Factor>
RowParts<Rows, Factor> make_parts(RowPart<Rows, Factor> v, const Panels& panels, const Rows& rows,
                                  const std::vector<char>& needs_flux,
                                  const OperatorOptions& options) {
  RowParts<Rows, Factor> parts{std::move(v)};
  parts.push_back(make_part(panels, rows, adjoint_double_layer, &Rows::beta, needs_flux,
                            looser_for_flux(rows), options));
  std::erase_if(parts, [](const auto& part) { return !part.op; });
  return parts;
}

/// K' of the rows that have it, of all where `rows` is empty, without factors; null if none has.
struct FluxOperator {
  std::shared_ptr<const BoundaryOperator> op;
  std::span<const std::int32_t> rows;
};
template <class Rows, class Factor>
FluxOperator flux_operator_of(const RowParts<Rows, Factor>& parts) {
  for (const auto& part : parts)
    if (part.factor == &Rows::beta) return {part.op, part.block.rows};
  return {};
}

/// Adds what is a sum or a maximum over the parts of an operator.
inline void add_counts(OperatorInfo& sum, const OperatorInfo& part) {
  sum.memory_bytes += part.memory_bytes;
  sum.near_entries += part.near_entries;
  sum.order = std::max(sum.order, part.order);
  sum.levels = std::max(sum.levels, part.levels);
  sum.max_leaf = std::max(sum.max_leaf, part.max_leaf);
  for (const auto& [stage, seconds] : part.setup_seconds) sum.setup_seconds[stage] += seconds;
  for (const auto& [stage, seconds] : part.product_seconds) sum.product_seconds[stage] += seconds;
}

/// Of all parts together.
template <class Rows, class Factor>
OperatorInfo info_of(const RowParts<Rows, Factor>& parts) {
  OperatorInfo info{.name = "σ"};
  bool is_first = true;
  for (const auto& part : parts) {
    OperatorInfo of_part = part.op->info();
    if (std::exchange(is_first, false)) {
      info = std::move(of_part);
      continue;
    }
    info.name += ", " + of_part.name;
    add_counts(info, of_part);
  }
  return info;
}

/// A tolerance of all rows, from those of the parts.
template <class Rows, class Factor>
double largest_of(const RowParts<Rows, Factor>& parts,
                  double (BoundaryOperator::*tolerance)() const) {
  double result = 0;
  for (const auto& part : parts)
    result = std::max(result, (part.op.get()->*tolerance)() / part.looser);
  return result;
}

/// At the most.
template <class Rows, class Factor>
double norm_of(const RowParts<Rows, Factor>& parts, const Rows& rows) {
  double norm = largest(rows.gamma);
  for (const auto& part : parts) norm += largest(rows.*part.factor) * part.op->norm();
  return norm;
}

}  // namespace fmbem
