#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <map>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "fmbem/problems/gauss_shifts.hpp"
#include "fmbem/problems/touching_chambers.hpp"

namespace fmbem {

/// More chambers that hang together have no shifts: their terms go by the square.
inline constexpr std::size_t most_chambers = 300;
/// Rows keep their mean unless Gauss's law makes that larger by this factor.
inline constexpr double least_stretch = 4;
/// Of fluxes that follow from rows, where those of conductors are put right.
inline constexpr double known_weight = 1e-4;
/// Smaller factors are rounding.
inline constexpr double least_factor = 1e-13;

/// Inverts a Hermitian positive definite matrix, [n][n], in place: Gauss and Jordan.
template <class T>
void invert(std::size_t n, std::vector<T>& a) {
  for (std::size_t k = 0; k < n; ++k) {
    const T pivot = 1.0 / a[k * n + k];
    a[k * n + k] = 1;
    for (std::size_t j = 0; j < n; ++j) a[k * n + j] *= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const T factor = a[i * n + k];
      a[i * n + k] = 0;
      for (std::size_t j = 0; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
}

/// A sum of charges, fluxes and rows of walls and, behind them, of parts inside.
template <class T>
struct Combination {
  explicit Combination(std::size_t n) : charge(n, T(0)), flux(n, T(0)), row(n, T(0)) {}
  template <class S>
  void add(T factor, const Combination<S>& other) {
    for (std::size_t k = 0; k < charge.size(); ++k) {
      charge[k] += factor * other.charge[k];
      flux[k] += factor * other.flux[k];
      row[k] += factor * other.row[k];
    }
  }
  std::vector<T> charge, flux, row;
};

/// The shifts of what hangs together.
template <class T>
class ComplexShifts {
 public:
  using Wall = ChamberWall<T>;

  /// `numbers`: of its walls among all of them.
  ComplexShifts(const TouchingChambers<T>& all, std::vector<std::int32_t> numbers)
      : all_(all), numbers_(std::move(numbers)) {
    for (const std::int32_t number : numbers_)
      for (const std::int32_t c : {wall(number).behind, wall(number).ahead})
        if (c >= 0 && local_.emplace(c, chambers_.size()).second) chambers_.push_back(c);
    for (const std::int32_t c : chambers_)
      inside_.insert(inside_.end(), all_.chambers[c].inside.begin(), all_.chambers[c].inside.end());
    size_ = numbers_.size() + inside_.size();
  }

  bool is_worth_it() const { return !chambers_.empty() && chambers_.size() <= most_chambers; }

  /// `part_of_wall`: [all walls].
  void add_to(std::span<const std::int32_t> part_of_wall, GaussShifts<T>& result) {
    stretch_rows(changes_of_products());
    const auto of_results = changes_of_results();
    // What lies inside of a chamber may itself have been split.
    const auto parts_at = [&](std::size_t k) {
      return k < numbers_.size()
                 ? std::span(part_of_wall).subspan(numbers_[k], 1)
                 : std::span<const std::int32_t>(result.made_of[inside_[k - numbers_.size()]]);
    };
    const auto add = [&](auto& shifts, std::size_t p, const auto& of) {
      auto& shift = shifts.emplace_back();
      shift.part = part_of_wall[numbers_[p]];
      for (std::size_t k = 0; k < size_; ++k) {
        const auto clean = [](auto factor) {
          return std::abs(factor) > least_factor ? factor : decltype(factor)(0);
        };
        const auto charge = clean(of.charge[k]), flux = clean(of.flux[k]), row = clean(of.row[k]);
        if (std::abs(charge) + std::abs(flux) + std::abs(row) > 0)
          for (const std::int32_t part : parts_at(k))
            shift.terms.push_back({part, charge, flux, row});
      }
      if (shift.terms.empty()) shifts.pop_back();
    };
    for (std::size_t p = 0; p < numbers_.size(); ++p) {
      add(result.flux, p, of_results[p]);
      add(result.rows, p, rows_[p]);
      add(result.inverse_rows, p, inverse_rows_[p]);
    }
    result.most_walls = std::max(result.most_walls, numbers_.size());
    for (const std::vector<std::size_t>& walls : stretched_) {
      auto& parts = result.stretched.emplace_back();
      for (const std::size_t p : walls)
        parts.push_back({part_of_wall[numbers_[p]], mean_permittivity(p)});
    }
  }

 private:
  const Wall& wall(std::int32_t number) const { return all_.walls[number]; }
  const Wall& own(std::size_t p) const { return all_.walls[numbers_[p]]; }
  /// 1 of walls that a chamber is behind of, −1 of those it is ahead of.
  double sign(std::size_t c, std::size_t p) const {
    return double(own(p).behind == chambers_[c]) - double(own(p).ahead == chambers_[c]);
  }
  double sides(std::size_t c, std::size_t p) const {
    return double(own(p).behind == chambers_[c]) + double(own(p).ahead == chambers_[c]);
  }

  /// What is added to A K'σ of each wall such that the laws of chambers hold that count: the least
  /// sum of squares over size(p). Of what is added part(c, p) reaches the chamber.
  template <class S, class Part, class Size>
  std::vector<Combination<S>> least_changes(const std::vector<char>& counts, const Part& part,
                                            const Size& size) const {
    const std::size_t n = chambers_.size(), walls = numbers_.size();
    const auto reaching = [&](std::size_t c, std::size_t p) {
      return counts[c] && sign(c, p) != 0 ? sign(c, p) * part(c, p) : S(0);
    };
    std::vector<S> gram(n * n, S(0));
    std::vector<Combination<double>> law;  // what leaves each chamber
    std::size_t at = walls;
    for (std::size_t c = 0; c < n; ++c) {
      law.emplace_back(size_);
      const std::size_t inside = all_.chambers[chambers_[c]].inside.size();
      if (counts[c]) std::fill_n(law[c].charge.begin() + at, inside, 1.0);
      at += inside;
      for (std::size_t p = 0; p < walls && counts[c]; ++p) {
        law[c].charge[p] += 0.5 * sides(c, p);
        law[c].flux[p] += sign(c, p);
        const S of_c = reaching(c, p);
        if (of_c == S(0)) continue;
        for (std::size_t d = 0; d < n; ++d)
          gram[c * n + d] += size(p) * of_c * conjugate_of(reaching(d, p));
      }
    }
    // Others, and those whose walls are seen from both sides alone, have nothing to correct.
    for (std::size_t c = 0; c < n; ++c)
      if (gram[c * n + c] == S(0)) gram[c * n + c] = 1;
    invert(n, gram);
    std::vector<Combination<S>> result;
    for (std::size_t p = 0; p < walls; ++p) {
      result.emplace_back(size_);
      for (std::size_t c = 0; c < n; ++c) {
        const S of_c = reaching(c, p);
        if (of_c == S(0)) continue;
        for (std::size_t d = 0; d < n; ++d)
          result[p].add(-size(p) * conjugate_of(of_c) * gram[c * n + d], law[d]);
      }
    }
    return result;
  }
  template <class S>
  static S conjugate_of(S value) {
    if constexpr (std::is_same_v<S, double>)
      return value;
    else
      return std::conj(value);
  }

  /// [chambers]. The law of metal and that of a chamber around it say what σ of it adds up to,
  /// which is for the solution to know.
  std::vector<char> without_metal() const {
    std::vector<char> counts;
    for (const std::int32_t c : chambers_) counts.push_back(!all_.chambers[c].is_metal);
    return counts;
  }

  /// By the laws of chambers that have rows of fluxes alone.
  std::vector<Combination<double>> changes_of_products() const {
    std::vector<char> counts = without_metal();
    for (std::size_t p = 0; p < numbers_.size(); ++p)
      for (std::size_t c = 0; c < counts.size(); ++c)
        if (!own(p).gives_flux && sides(c, p) > 0) counts[c] = false;
    return least_changes<double>(
        counts, [](std::size_t, std::size_t) { return 1.0; },
        [&](std::size_t p) { return own(p).area; });
  }

  /// By the laws of all chambers. What an interface lets through changes on both of its sides, as
  /// if its charge did; K'σ is that of the side of the lower ε. Weights follow errors, so that
  /// interfaces to low permittivities keep their digits where high ones touch: a flux from a row
  /// is off by the lower ε over the contrast, one from a product, as of a conductor, by ε. Neumann
  /// conditions, whose lower ε is 0, have nothing to change.
  std::vector<Combination<T>> changes_of_results() const {
    const auto follows = [&](std::size_t p) { return has_contrast(p) && !own(p).has_admittance; };
    return least_changes<T>(
        without_metal(),
        [&](std::size_t c, std::size_t p) {
          if (!follows(p)) return T(1);
          const T low = lower(p).permittivity, here = own(p).behind == chambers_[c]
                                                          ? own(p).permittivity_behind
                                                          : own(p).permittivity_ahead;
          return low == T(0) ? low : low / here;
        },
        [&](std::size_t p) {
          if (!follows(p)) return own(p).area / std::abs(mean_permittivity(p));
          const double low = std::abs(lower(p).permittivity);
          return low > 0 ? known_weight * own(p).area / (low * std::abs(own(p).beta)) : 0;
        });
  }

  struct Side {
    std::int32_t chamber;
    T permittivity;
  };
  Side higher(std::size_t p) const {
    const Side a{own(p).behind, own(p).permittivity_behind},
        b{own(p).ahead, own(p).permittivity_ahead};
    return std::abs(a.permittivity) > std::abs(b.permittivity) ? a : b;
  }
  Side lower(std::size_t p) const {
    const Side a{own(p).behind, own(p).permittivity_behind},
        b{own(p).ahead, own(p).permittivity_ahead};
    return std::abs(a.permittivity) > std::abs(b.permittivity) ? b : a;
  }
  bool has_contrast(std::size_t p) const { return own(p).gives_flux && own(p).beta != T(0); }
  T mean_permittivity(std::size_t p) const {
    return 0.5 * (own(p).permittivity_behind + own(p).permittivity_ahead);
  }

  /// Chambers c and what hangs together with it by ε of at least its own; empty if that is a
  /// chamber that is unknown, where it ends is not known.
  std::vector<std::int32_t> cluster_of(std::int32_t c, double permittivity) const {
    std::vector<std::int32_t> cluster{c};
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t p = 0; p < numbers_.size(); ++p) {
        if (!has_contrast(p)) continue;
        for (const auto& [from, to] : {std::pair(higher(p), lower(p)), {lower(p), higher(p)}}) {
          if (!holds(cluster, from.chamber) || holds(cluster, to.chamber) ||
              std::abs(to.permittivity) < permittivity)
            continue;
          if (to.chamber < 0) return {};
          cluster.push_back(to.chamber);
          grows = true;
        }
      }
    }
    return cluster;
  }
  static bool holds(const std::vector<std::int32_t>& cluster, std::int32_t c) {
    return c >= 0 && std::find(cluster.begin(), cluster.end(), c) != cluster.end();
  }

  /// From the highest permittivity down, so that the rows of all that is higher are known.
  void stretch_rows(const std::vector<Combination<double>>& changes) {
    const std::size_t walls = numbers_.size();
    std::vector<Combination<T>> new_rows, old_rows;  // rows with corrections, and those undone
    for (std::size_t p = 0; p < walls; ++p) {
      new_rows.emplace_back(size_).row[p] = 1;
      old_rows.push_back(new_rows[p]);
      new_rows[p].add(own(p).beta, changes[p]);
      rows_.emplace_back(size_).add(own(p).beta, changes[p]);
      inverse_rows_.emplace_back(size_);
    }
    std::map<std::pair<double, std::int32_t>, std::vector<std::size_t>> own_walls;
    for (std::size_t p = 0; p < walls; ++p)
      if (has_contrast(p) && higher(p).chamber >= 0)
        own_walls[{-std::abs(higher(p).permittivity), higher(p).chamber}].push_back(p);
    for (const auto& [key, of_chamber] : own_walls) {
      const std::vector<std::int32_t> cluster = cluster_of(key.second, -key.first);
      if (!cluster.empty()) stretch(of_chamber, cluster, new_rows, old_rows);
    }
  }

  /// Puts the cluster's law in the place of the mean of rows of the walls that are its chamber's.
  void stretch(const std::vector<std::size_t>& of_chamber, const std::vector<std::int32_t>& cluster,
               const std::vector<Combination<T>>& new_rows, std::vector<Combination<T>>& old_rows) {
    double outside = 0;
    T weight(0);
    Combination<T> law(size_), law_of_others(size_), mean(size_), mean_of_new(size_);
    for (std::size_t p = 0; p < numbers_.size(); ++p) {
      // Where a conductor gives the potential, that does not follow from small fluxes.
      if (!own(p).gives_flux)
        for (const Side& side : {higher(p), lower(p)})
          if (holds(cluster, side.chamber)) outside += std::abs(side.permittivity) * own(p).area;
      if (!has_contrast(p) || !holds(cluster, higher(p).chamber)) continue;
      law.add(mean_permittivity(p), new_rows[p]);
      if (!holds(cluster, lower(p).chamber))
        outside += std::abs(lower(p).permittivity) * own(p).area;
      if (std::find(of_chamber.begin(), of_chamber.end(), p) != of_chamber.end()) {
        weight += mean_permittivity(p) * own(p).area;
        mean.add(mean_permittivity(p), new_rows[p]);
        mean_of_new.row[p] += mean_permittivity(p);
      } else {
        law_of_others.add(mean_permittivity(p), old_rows[p]);
      }
    }
    const double scale = outside > 0 ? outside : std::abs(weight);
    if (std::abs(weight) < least_stretch * scale && outside > 0) return;
    // mean' = law/scale, and back: mean = scale/weight mean' − what is of others.
    Combination<T> change(size_), change_back(size_);
    change.add(1 / scale, law);
    change.add(-1.0 / weight, mean);
    change_back.add(T(scale) / (weight * weight) - 1.0 / weight, mean_of_new);
    change_back.add(-1.0 / weight, law_of_others);
    stretched_.push_back(of_chamber);
    for (const std::size_t p : of_chamber) {
      rows_[p].add(own(p).area, change);
      inverse_rows_[p].add(own(p).area, change_back);
      old_rows[p].add(own(p).area, change_back);
    }
  }

  const TouchingChambers<T>& all_;
  std::vector<std::int32_t> numbers_;                ///< of walls
  std::vector<std::int32_t> chambers_;               ///< those that are known
  std::map<std::int32_t, std::size_t> local_;        ///< their places among those
  std::vector<std::int32_t> inside_;                 ///< parts, chamber after chamber
  std::size_t size_ = 0;                             ///< walls, then parts inside
  std::vector<Combination<T>> rows_, inverse_rows_;  ///< [walls], what is added to A times rows
  std::vector<std::vector<std::size_t>> stretched_;  ///< whose mean row a law has replaced
};

}  // namespace fmbem
