#include "fmbem/bem/precond/system_parts.hpp"

#include <algorithm>

#include "fmbem/bem/precond/cut_laws.hpp"
#include "fmbem/bem/precond/row_entries.hpp"
#include "fmbem/bem/precond/small_system.hpp"

namespace fmbem {
namespace {

/// Of one leaf, counted from its own first number and term.
struct LeafParts {
  std::vector<SystemNode> nodes;
  std::vector<SetEntry> entries;
  std::vector<SystemLaw> laws;
  std::vector<LawTerm> terms;
  std::vector<GivenRow> given;
  std::vector<float> numbers;
};

/// Takes systems apart. Holds a thread's buffers.
class Describer {
 public:
  Describer(std::span<const Triangle> panels, const MixedSystems<double>& systems)
      : panels_(panels), systems_(systems), entries_(panels, tree(), *systems.of_nodes[0]) {}

  LeafParts describe(std::span<const std::int32_t> cut, const Cluster& leaf) {
    LeafParts parts;
    placed_.place(tree(), cut, leaf, panels_);
    parts.nodes.resize(placed_.m);
    entries_.describe(cut, placed_, parts.nodes.data(), parts.entries);
    add_laws(cut, leaf.size(), parts);
    return parts;
  }

 private:
  const ClusterTree& tree() const { return systems_.rows.tree(); }

  void add_laws(std::span<const std::int32_t> cut, int own, LeafParts& parts) {
    const ChargeRows<double>& charges = systems_.charges;
    const auto next_number = [&] { return static_cast<std::int32_t>(parts.numbers.size()); };
    for (std::int32_t k = 0; k < placed_.m; ++k) {
      if (!charges.is_given(tree().nodes[cut[k]])) continue;
      parts.given.push_back({k, next_number()});
      for (const std::int32_t l : cut)
        parts.numbers.push_back(static_cast<float>(charges.given_entry(cut[k], l)));
    }
    laws_.find(charges, tree(), cut, own);
    for (const auto& law : laws_.laws()) {
      const auto number = static_cast<std::int32_t>(parts.laws.size()),
                 first = static_cast<std::int32_t>(parts.terms.size());
      for (const auto& [place, factor] : law.rows) parts.terms.push_back({place, factor});
      parts.laws.push_back(
          {law.place, next_number(), first, static_cast<std::int32_t>(parts.terms.size())});
      for (const std::int32_t l : cut)
        parts.numbers.push_back(static_cast<float>(charges.charge_entry(law.law, l)));
      for (const auto& [begin, end] : law.ranges)
        for (int k = begin; k < end; ++k) {
          parts.nodes[k].law = number;
          parts.nodes[k].share = laws_.share()[k];
        }
    }
  }

  std::span<const Triangle> panels_;
  const MixedSystems<double>& systems_;
  RowEntries entries_;
  PlacedCut placed_;
  CutLaws<double, float> laws_;
};

}  // namespace

SystemBatch system_batch(std::span<const Triangle> panels, const MixedSystems<double>& systems,
                         std::size_t first, std::size_t last) {
  const ClusterRows& rows = systems.rows;
  std::vector<LeafParts> leaves(last - first);
#pragma omp parallel
  {
    Describer describer(panels, systems);
#pragma omp for schedule(dynamic, 4)
    for (std::size_t f = first; f < last; ++f)
      leaves[f - first] =
          describer.describe(rows.cut_of(f), rows.tree().nodes[rows.tree().leaves[f]]);
  }
  SystemBatch batch;
  const auto begins = [&](std::vector<std::int32_t>& begin, auto LeafParts::*part) {
    begin.assign(1, 0);
    for (const LeafParts& leaf : leaves)
      begin.push_back(begin.back() + static_cast<std::int32_t>((leaf.*part).size()));
  };
  begins(batch.node_begin, &LeafParts::nodes);
  begins(batch.entry_begin, &LeafParts::entries);
  begins(batch.law_begin, &LeafParts::laws);
  begins(batch.given_begin, &LeafParts::given);
  batch.nodes.resize(batch.node_begin.back());
  batch.entries.resize(batch.entry_begin.back());
#pragma omp parallel for schedule(static)
  for (std::size_t f = 0; f < leaves.size(); ++f) {
    std::copy(leaves[f].nodes.begin(), leaves[f].nodes.end(),
              batch.nodes.begin() + batch.node_begin[f]);
    std::copy(leaves[f].entries.begin(), leaves[f].entries.end(),
              batch.entries.begin() + batch.entry_begin[f]);
  }
  for (const LeafParts& leaf : leaves) {
    const auto numbers = static_cast<std::int32_t>(batch.numbers.size()),
               terms = static_cast<std::int32_t>(batch.terms.size());
    for (const SystemLaw& law : leaf.laws)
      batch.laws.push_back(
          {law.place, law.numbers + numbers, law.terms_begin + terms, law.terms_end + terms});
    for (const GivenRow& row : leaf.given)
      batch.given.push_back({row.place, row.numbers + numbers});
    batch.terms.insert(batch.terms.end(), leaf.terms.begin(), leaf.terms.end());
    batch.numbers.insert(batch.numbers.end(), leaf.numbers.begin(), leaf.numbers.end());
  }
  return batch;
}

}  // namespace fmbem
