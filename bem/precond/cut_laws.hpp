#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/precond/charge_kernel.hpp"

namespace fmbem {

/// The laws (ChargeRows) of the nodes in a leaf's cut. T is double or complex, Entry the same in
/// single precision. Holds a thread's buffers.
template <class T, class Entry>
class CutLaws {
 public:
  struct Range {
    int begin, end;
  };
  struct RowInCut {
    int place;
    Entry factor;
  };
  struct LawInCut {
    std::int32_t law;
    int place;                   ///< of its row, in place of that of the largest node
    std::vector<Range> ranges;   ///< whose mean it replaces
    std::vector<RowInCut> rows;  ///< that it counts itself
  };

  /// The leaf has the last `own` nodes of the cut.
  void find(const LawsOfNodes<T>& of, std::span<const std::int32_t> cut, int own) {
    const auto m = static_cast<int>(cut.size());
    laws_.clear();
    share_.assign(m, Entry(0));
    std::int32_t before = -1;
    for (int k = 0; k < m; ++k) {
      const std::int32_t number = of.law_of(cut[k]);
      const bool goes_on = number == before && k != m - own;
      before = number;
      if (number < 0) continue;
      share_[k] = static_cast<Entry>(of.share_of(cut[k]));
      auto law = std::find_if(laws_.begin(), laws_.end(),
                              [&](const LawInCut& found) { return found.law == number; });
      if (law == laws_.end()) law = laws_.insert(law, {number, k, {}, {}});
      if (goes_on)
        law->ranges.back().end = k + 1;
      else
        law->ranges.push_back({k, k + 1});
      if (std::abs(share_[k]) > std::abs(share_[law->place])) law->place = k;
    }
    for (LawInCut& law : laws_) {
      if (of.rows.is_empty(law.law)) continue;
      for (int k = 0; k < m; ++k)
        if (const T factor = of.row_factor(law.law, cut[k]); factor != T(0))
          law.rows.push_back({k, static_cast<Entry>(factor)});
    }
  }

  const std::vector<LawInCut>& laws() const { return laws_; }
  /// [m]: of nodes in the mean of their law's rows.
  const std::vector<Entry>& share() const { return share_; }

 private:
  std::vector<LawInCut> laws_;
  std::vector<Entry> share_;
};

}  // namespace fmbem
