#include "fmbem/fmm/far_field.hpp"

#include <algorithm>
#include <utility>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/cpu/backend.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/plan_info.hpp"

namespace fmbem::fmm {

namespace {

Accuracy accuracy_of(const FarFieldOptions& options) {
  return {.order = options.order,
          .precision = options.precision,
          .kappa = options.kappa,
          .reach = options.reach};
}

}  // namespace

double operator_seconds(const PointTree& tree, const FarFieldOptions& options) {
  constexpr double of_m2l_byte = 2.5e-9, of_m2m_term = 8e-9;  // at orders 18 to 33, on Zen 4
  const double count = harmonic_count(options.order),
               levels = options.kappa == 0 ? 1 : std::max(0, tree.octree.levels() - 2);
  return of_m2l_byte * static_cast<double>(m2l_bytes(tree, accuracy_of(options))) +
         of_m2m_term * levels * options.order * count * count;
}

struct FarField::Impl {
  std::shared_ptr<const PointTree> tree;
  std::shared_ptr<const Functionals> sources;
  FarFieldOptions options;
  Accuracy accuracy;
  std::unique_ptr<Backend> backend;
  Seconds evaluate_seconds{};

  bool is_spread() const { return sources->unknowns() < sources->size(); }

  void evaluate(const Strengths& strengths, const Fields& fields, Direction direction) {
    const bool transposed = direction == Direction::transposed;
    FMBEM_REQUIRE(sources->strengths() == 1 || !is_spread(),
                  "functionals of two strengths have no parts");
    const std::size_t n_sources = sources->unknowns() * sources->strengths(),
                      n_targets = tree->targets().size();
    check_evaluation(transposed ? n_targets : n_sources, transposed ? n_sources : n_targets,
                     strengths, fields);
    FMBEM_REQUIRE(transposed || strengths.dipoles.empty(),
                  "functionals have dipoles in their points, not among the strengths");
    FMBEM_REQUIRE(fields.gradient.empty() || options.gradient,
                  "the far field was not made for gradients: set FarFieldOptions::gradient");
    FMBEM_REQUIRE(fields.hessian.empty() || options.hessian,
                  "the far field was not made for second derivatives: set "
                  "FarFieldOptions::hessian");
    evaluate_seconds.clear();
    if (strengths.charges.empty() && strengths.dipoles.empty()) return set_to_zero(fields);
    if (fields.potential.empty() &&
        (transposed || (fields.gradient.empty() && fields.hessian.empty())))
      return;
    if (!is_spread()) return backend->evaluate(strengths, fields, direction, evaluate_seconds);
    transposed ? evaluate_and_gather(strengths, fields) : spread_and_evaluate(strengths, fields);
  }

  /// Each source gets the strength of its unknown.
  void spread_and_evaluate(const Strengths& strengths, const Fields& fields) {
    const std::size_t n = sources->size(), unknowns = sources->unknowns();
    LargeVector<double> charges(n * strengths.count);
    for (int v = 0; v < strengths.count; ++v)
#pragma omp parallel for schedule(static)
      for (std::size_t j = 0; j < n; ++j)
        charges[v * n + j] = strengths.charges[v * unknowns + sources->unknown(j)];
    backend->evaluate({.charges = charges, .count = strengths.count}, fields, Direction::forward,
                      evaluate_seconds);
  }

  /// Each unknown gets the sum of its sources.
  void evaluate_and_gather(const Strengths& strengths, const Fields& fields) {
    const std::size_t n = sources->size(), unknowns = sources->unknowns();
    LargeVector<double> of_sources(n * strengths.count);
    backend->evaluate(strengths, {.potential = of_sources}, Direction::transposed,
                      evaluate_seconds);
    std::fill(fields.potential.begin(), fields.potential.end(), 0.0);
    for (int v = 0; v < strengths.count; ++v)
      for (std::size_t j = 0; j < n; ++j)
        fields.potential[v * unknowns + sources->unknown(j)] += of_sources[v * n + j];
  }
};

FarField::FarField(std::shared_ptr<const PointTree> tree,
                   std::shared_ptr<const Functionals> sources, const FarFieldOptions& options) {
  check_order(options.order);
  check_kappa(options.kappa);
  FMBEM_REQUIRE(sources->size() == tree->sources.size(), "the tree is of " << tree->sources.size()
                                                                           << " sources, not of "
                                                                           << sources->size());
  const Accuracy accuracy = accuracy_of(options);
  check_memory(*tree, accuracy, options.moments, sources->strengths());
  auto backend = make_cpu_backend(*tree, accuracy, sources.get(), options.moments);
  impl_ = std::make_unique<Impl>(
      Impl{std::move(tree), std::move(sources), options, accuracy, std::move(backend)});
}
FarField::~FarField() = default;
FarField::FarField(FarField&&) noexcept = default;
FarField& FarField::operator=(FarField&&) noexcept = default;

void FarField::evaluate(const Strengths& strengths, const Fields& fields) const {
  impl_->evaluate(strengths, fields, Direction::forward);
}

void FarField::evaluate_transposed(const Strengths& strengths, std::span<double> potential) const {
  impl_->evaluate(strengths, {.potential = potential}, Direction::transposed);
}

const PointTree& FarField::tree() const { return *impl_->tree; }

PlanInfo FarField::info() const {
  return plan_info(*impl_->tree, impl_->accuracy, impl_->backend->moment_bytes(),
                   impl_->backend->operator_bytes());
}

Seconds FarField::evaluate_seconds() const { return impl_->evaluate_seconds; }

}  // namespace fmbem::fmm
