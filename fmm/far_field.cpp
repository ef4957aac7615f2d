#include "fmbem/fmm/far_field.hpp"

#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/cpu/backend.hpp"
#include "fmbem/fmm/plan_info.hpp"

namespace fmbem::fmm {

struct FarField::Impl {
  std::shared_ptr<const PointTree> tree;
  std::shared_ptr<const Functionals> sources;
  FarFieldOptions options;
  Accuracy accuracy;
  std::unique_ptr<Backend> backend;
  Seconds evaluate_seconds{};

  void evaluate(const Strengths& strengths, const Fields& fields, Direction direction) {
    const bool transposed = direction == Direction::transposed;
    const std::size_t n_sources = tree->sources.size(), n_targets = tree->targets().size();
    check_evaluation(transposed ? n_targets : n_sources, transposed ? n_sources : n_targets,
                     strengths, fields);
    FMBEM_REQUIRE(strengths.dipoles.empty(),
                  "functionals have dipoles in their points, not among the strengths");
    FMBEM_REQUIRE(fields.gradient.empty() || options.gradient,
                  "the far field was not made for gradients: set FarFieldOptions::gradient");
    evaluate_seconds.clear();
    backend->evaluate(strengths, fields, direction, evaluate_seconds);
  }
};

FarField::FarField(std::shared_ptr<const PointTree> tree,
                   std::shared_ptr<const Functionals> sources, const FarFieldOptions& options) {
  check_order(options.order);
  FMBEM_REQUIRE(sources->size() == tree->sources.size(), "the tree is of " << tree->sources.size()
                                                                           << " sources, not of "
                                                                           << sources->size());
  const Accuracy accuracy{.order = options.order, .precision = options.precision};
  check_memory(*tree, accuracy, options.keep_moments);
  auto backend = make_cpu_backend(*tree, accuracy, sources.get(), options.keep_moments);
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
  const std::int64_t kept =
      impl_->options.keep_moments ? kept_moment_bytes(*impl_->tree, impl_->accuracy) : 0;
  return plan_info(*impl_->tree, impl_->accuracy, kept, impl_->backend->operator_bytes());
}

Seconds FarField::evaluate_seconds() const { return impl_->evaluate_seconds; }

}  // namespace fmbem::fmm
