#include "fmbem/problems/solvation/derivative_operator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/bem/near/exact_entry.hpp"
#include "fmbem/bem/precond/cuda/panel_blocks.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/solvation/block_inverses.hpp"

namespace fmbem {

DerivativeOperator::DerivativeOperator(const Panels& panels, std::vector<ScreenedRegion> regions,
                                       std::span<const int> inside, std::span<const int> outside,
                                       SolvationFormulation formulation,
                                       const OperatorOptions& options)
    : PoissonBoltzmannOperator(panels, std::move(regions), inside, outside, formulation, options) {
  const std::vector<double>& permittivity = this->regions().permittivity;
  for (const auto& [behind, ahead] : surfaces().sides) {
    const double a = permittivity[behind], b = permittivity[ahead];
    Units units{0.5 * (a + b), 0.5 * (1 + a / b)};
    if (formulation == SolvationFormulation::lu)
      units = {units.potential, units.flux, 1 / b, a / b, b / a};
    units_.push_back(units);
  }
  const std::size_t n_surfaces = surfaces().size();
  for (std::size_t to = 0; to < n_surfaces; ++to)
    for (std::size_t from = 0; from < n_surfaces; ++from) {
      Coupling couples = coupling(surfaces().sides[to], surfaces().sides[from]);
      const std::span<const std::int32_t> rows = surfaces().panels_of(to),
                                          columns = surfaces().panels_of(from);
      PanelBlock block;
      if (n_surfaces > 1) block = {{rows.begin(), rows.end()}, {columns.begin(), columns.end()}};
      OperatorOptions of_part = options_for(rows.size(), columns.size());
      Part part{to, from, {}, couples.adjoint_factor, {}};
      if (!couples.terms.empty())
        part.green =
            std::make_unique<GreenOperator>(panels, block, std::move(couples.terms), of_part);
      if (of_part.kind == OperatorOptions::Choice::dense) of_part.processor = Processor::cpu;
      of_part.normal_rows = NormalRows::averaged;
      if (part.adjoint_factor != 0)
        part.adjoint = make_boundary_operator(panels, adjoint_double_layer, of_part, block);
      if (part.green || part.adjoint) parts_.push_back(std::move(part));
    }
  // Where all regions have one medium there is no part, and nothing for a GPU to do.
  if (!parts_.empty() && std::all_of(parts_.begin(), parts_.end(), [](const Part& part) {
        return (!part.green || part.green->processor() == Processor::gpu) &&
               (!part.adjoint || part.adjoint->processor() == Processor::gpu);
      }))
    move_to_device();
}

void DerivativeOperator::move_to_device() {
  std::vector<double> blocks;
  for (const Units& units : units_)
    blocks.insert(blocks.end(), {units.first_row * units.potential, 0, 0,
                                 units.second_row * units.flux * units.unknown});
  std::vector<cuda::bem::PairPlaces> places;
  for (const Part& part : parts_) {
    places.push_back(
        {some(surfaces().panels_of(part.from)), some(surfaces().panels_of(part.to)), {}, 2});
    for (const Units& units : units_)
      places.back().factors.push_back({units.unknown, 1, {units.first_row, units.second_row}, 0});
  }
  set_on_device(blocks, places);
}

DerivativeOperator::Coupling DerivativeOperator::coupling(const PanelSurfaces::Sides& to,
                                                          const PanelSurfaces::Sides& from) const {
  const double back = regions().permittivity[from.inside];
  std::vector<GreenTerm> terms;
  for (const int region : {to.inside, to.outside}) {
    if (region != from.inside && region != from.outside) continue;
    const double sign = region == from.inside ? 1 : -1,
                 permittivity = regions().permittivity[region];
    const GreenTerm term{regions().kappa[region], -sign * back, sign * permittivity,
                         -sign * back / permittivity, sign};
    // One kernel on both sides leaves nothing of V and D.
    if (!terms.empty() && terms[0].kappa == term.kappa) {
      GreenTerm& sum = terms[0];
      sum.v += term.v;
      sum.k += term.k;
      sum.k_adjoint += term.k_adjoint;
      sum.d += term.d;
    } else {
      terms.push_back(term);
    }
  }
  Coupling result;
  if (to == from) {
    const auto laplace = std::find_if(terms.begin(), terms.end(),
                                      [](const GreenTerm& term) { return term.kappa == 0; });
    for (const GreenTerm& term : terms) result.adjoint_factor += term.k_adjoint;
    if (laplace != terms.end())
      laplace->k_adjoint -= result.adjoint_factor;
    else
      terms.push_back({0, 0, 0, -result.adjoint_factor, 0});
  }
  for (const GreenTerm& term : terms)
    if (term.acts()) result.terms.push_back(term);
  return result;
}

OperatorInfo DerivativeOperator::info() const {
  OperatorInfo info;
  info.name = "V, K, K', D";
  for (const Part& part : parts_) {
    if (part.green) add(info, part.green->info());
    if (part.adjoint) add(info, part.adjoint->info());
  }
  return info;
}

double DerivativeOperator::norm() const {
  double result = 0;
  for (const Units& units : units_)
    result = std::max({result, 2 * units.first_row * units.potential,
                       2 * units.second_row * units.unknown * units.flux});
  return result;
}

DerivativeOperator::PairEntries DerivativeOperator::pair_entries(std::size_t i,
                                                                 std::size_t j) const {
  const Units &units = units_of(i), &of_source = units_of(j);
  const Coupling couples = coupling(surfaces().sides[surfaces().surface_of(i)],
                                    surfaces().sides[surfaces().surface_of(j)]);
  const Triangle target = panels().triangle(i), source = panels().triangle(j);
  PanelEntries entries;
  if (!couples.terms.empty())
    entries = green_entries(couples.terms, source, target.centroid, target.normal, i == j);
  if (couples.adjoint_factor != 0)
    entries.k_adjoint +=
        couples.adjoint_factor *
        exact_entry(adjoint_double_layer, NormalRows::averaged, target, source, i == j);
  if (i == j) {
    entries.k += units.potential;
    entries.k_adjoint += units.flux;
  }
  return {
      {{units.first_row * entries.k, units.first_row * of_source.unknown * entries.v},
       {units.second_row * entries.d, units.second_row * of_source.unknown * entries.k_adjoint}}};
}

void DerivativeOperator::diagonal_block(std::int64_t begin, std::int64_t end, double* block) const {
  const std::int64_t n = end - begin;
  for (std::int64_t i = begin / 2; 2 * i < end; ++i)
    for (std::int64_t j = begin / 2; 2 * j < end; ++j) {
      const PairEntries entries =
          pair_entries(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
      for (std::int64_t row = std::max(begin, 2 * i); row < std::min(end, 2 * i + 2); ++row)
        for (std::int64_t column = std::max(begin, 2 * j); column < std::min(end, 2 * j + 2);
             ++column)
          block[(row - begin) * n + column - begin] = entries[row - 2 * i][column - 2 * j];
    }
}

SurfaceEquations DerivativeOperator::equations() const {
  SurfaceEquations result;
  for (std::size_t to = 0; to < surfaces().size(); ++to) {
    const Units& rows = units_[to];
    result.own.push_back(
        {rows.first_row * rows.potential, rows.second_row * rows.unknown * rows.flux});
    for (std::size_t from = 0; from < surfaces().size(); ++from) {
      auto [terms, adjoint_factor] = coupling(surfaces().sides[to], surfaces().sides[from]);
      if (adjoint_factor != 0) terms.push_back({0, 0, 0, adjoint_factor, 0});
      const double unknown = units_[from].unknown;
      for (GreenTerm& term : terms) {
        term.v *= rows.first_row * unknown;
        term.k *= rows.first_row;
        term.k_adjoint *= rows.second_row * unknown;
        term.d *= rows.second_row;
      }
      result.couplings.push_back(std::move(terms));
    }
  }
  return result;
}

std::unique_ptr<ApproximateInverse> DerivativeOperator::approximate_inverse() const {
  if (processor() == Processor::cpu)
    return make_derivative_inverse(panels(), regions(), surfaces(), equations());
  std::vector<cuda::bem::PanelBlockTerms> blocks;
  for (std::size_t s = 0; s < surfaces().size(); ++s) {
    const Units& units = units_[s];
    cuda::bem::PanelBlockTerms block{
        {units.first_row * units.potential, units.second_row * units.unknown * units.flux},
        units.first_row * units.unknown,
        units.second_row};
    int next = 0;
    for (const GreenTerm& term : coupling(surfaces().sides[s], surfaces().sides[s]).terms) {
      if (term.kappa == 0) continue;
      block.kappa[next] = term.kappa;
      block.v[next] = term.v;
      block.d[next++] = term.d;
    }
    blocks.push_back(block);
  }
  return inverse_of_blocks(cuda::bem::inverse_of_panel_blocks(panels(), surfaces(), blocks));
}

std::vector<double> DerivativeOperator::right_hand_side(
    std::span<const RegionCharges> charges) const {
  std::vector<double> b(size());
  for (std::size_t r = 0; r < charges.size(); ++r) {
    const LargeVector<std::int32_t>& some = screened()[r].panels;
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < charges[r].potential.size(); ++k) {
      const auto i = static_cast<std::size_t>(some[k]);
      const Units& units = units_of(i);
      b[2 * i] += units.first_row * regions().permittivity[r] * charges[r].potential[k];
      b[2 * i + 1] += units.second_row * charges[r].flux[k];
    }
  }
  return b;
}

void DerivativeOperator::to_direct(std::span<double> x) const {
  const std::size_t n = panels().size();
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < n; ++i) x[2 * i + 1] *= units_of(i).unknown;
}

void DerivativeOperator::multiply(std::span<const double> x, std::span<double> y) const {
  const std::size_t n = panels().size();
  std::vector<double> direct(x.begin(), x.end());
  to_direct(direct);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    y[2 * i] = units_of(i).potential * direct[2 * i];
    y[2 * i + 1] = units_of(i).flux * direct[2 * i + 1];
  }
  for (const Part& part : parts_) {
    const std::span<const std::int32_t> from = surfaces().panels_of(part.from),
                                        to = surfaces().panels_of(part.to);
    std::vector<double> sources(2 * from.size()), result(2 * to.size());
#pragma omp parallel for schedule(static)
    for (std::size_t j = 0; j < from.size(); ++j) {
      sources[j] = direct[2 * static_cast<std::size_t>(from[j]) + 1];
      sources[from.size() + j] = direct[2 * static_cast<std::size_t>(from[j])];
    }
    if (part.green)
      part.green->multiply(sources, std::span(result).first(part.green->outputs() * to.size()));
    if (part.adjoint) {
      std::vector<double> flux(to.size());
      part.adjoint->apply(sources.data(), flux.data());
      for (std::size_t i = 0; i < to.size(); ++i)
        result[to.size() + i] += part.adjoint_factor * flux[i];
    }
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < to.size(); ++i)
      for (std::size_t row = 0; row < 2; ++row)
        y[2 * static_cast<std::size_t>(to[i]) + row] += result[row * to.size() + i];
  }
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    y[2 * i] *= units_of(i).first_row;
    y[2 * i + 1] *= units_of(i).second_row;
  }
}

void DerivativeOperator::multiply_part(std::size_t p, const double* sources,
                                       const cuda::bem::PairPart& part) const {
  const Part& of = parts_[p];
  if (!of.green || of.green->outputs() == 1) part.clear();
  if (of.green) of.green->multiply_on_device(sources, part.results());
  if (!of.adjoint) return;
  of.adjoint->apply_on_device(sources, part.flux());
  part.add_flux(of.adjoint_factor);
}

}  // namespace fmbem
