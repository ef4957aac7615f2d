#include "fmbem/problems/problem_results.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fmbem/bem/space/quadrature.hpp"
#include "fmbem/problems/compatible_data.hpp"
#include "fmbem/problems/domain_constants.hpp"

namespace fmbem {
namespace {

double conjugate(double value) { return value; }
Complex conjugate(Complex value) { return std::conj(value); }
double part_of(double value, int) { return value; }
double part_of(Complex value, int part) { return part == 0 ? value.real() : value.imag(); }

/// The k-th source of a kind.
void drop(AppliedField& field, ProblemSource::Kind kind, std::size_t k) {
  const auto erase = [k](auto& all) { all.erase(all.begin() + static_cast<std::ptrdiff_t>(k)); };
  switch (kind) {
    case ProblemSource::Kind::charge:
      erase(field.charges);
      break;
    case ProblemSource::Kind::dipole:
      erase(field.dipoles);
      break;
    case ProblemSource::Kind::line:
      erase(field.lines);
  }
}
void drop(LossyField& field, ProblemSource::Kind kind, std::size_t k) {
  drop(field.real, kind, k);
  drop(field.imaginary, kind, k);
}

/// The mean of f on a line from a to b, by Gauss's rule on pieces that are halved until halves add
/// up to the whole, as f may have a peak or a logarithm's end anywhere. NaN where f has no mean.
template <class T, class F>
T mean_on_line(const F& f, Vec3d a, Vec3d b) {
  constexpr int points = 12, deepest = 50;
  constexpr double tolerance = 1e-10;
  std::vector<double> node, weight;
  gauss_legendre(points, node, weight);
  const auto integral = [&](double from, double to) {
    T sum = 0;
    for (int k = 0; k < points; ++k)
      sum += (to - from) * weight[k] * f(a + (from + (to - from) * node[k]) * (b - a));
    return sum;
  };
  const auto halved = [&](const auto& self, double from, double to, T whole, double error,
                          int depth) -> T {
    const double middle = 0.5 * (from + to);
    const T left = integral(from, middle), right = integral(middle, to);
    if (std::abs(left + right - whole) <= error) return left + right;
    if (depth == deepest) return std::numeric_limits<double>::quiet_NaN();
    return self(self, from, middle, left, error, depth + 1) +
           self(self, middle, to, right, error, depth + 1);
  };
  double size = 0;
  for (int k = 0; k < points; ++k) size += weight[k] * std::abs(f(a + node[k] * (b - a)));
  return halved(halved, 0, 1, integral(0, 1), tolerance * size, 0);
}

/// Adds up what was found.
template <class T>
class Balance {
 public:
  Balance(const ProblemParts& parts, const BasicPanelConditions<T>& conditions,
          const BasicPanelData<T>& data, FoundValues<T>& found)
      : parts_(parts), conditions_(conditions), data_(data), found_(found) {
    add_constants();
    add_up_fluxes();
    add_up_regions();
    energy_ = energy();
  }

  ProblemResult part(int part, const std::string& name) const {
    const auto of = [&](const std::vector<T>& values) {
      std::vector<double> result;
      result.reserve(values.size());
      for (const T& value : values) result.push_back(part_of(value, part));
      return result;
    };
    const auto in_input_order = [&](const std::vector<T>& values, double factor) {
      std::vector<double> result = parts_.panels.to_input_order(of(values));
      for (double& value : result) value *= factor;
      return result;
    };
    const double per_area = problem().unit() / scale();
    return {
        .name = name,
        .applied = data_.applied,
        .is_imaginary = part == 1,
        .conductor_flux = of(conductor_flux_),
        .flux_inside = of(flux_inside_),
        .flux_outside = of(flux_outside_),
        .imbalance = of(imbalance_),
        .throughput = throughput_,
        .energy = part_of(energy_, part),
        .constant = of(constant_),
        .surface = {in_input_order(found_.potential, 1), in_input_order(found_.inside, per_area),
                    in_input_order(found_.outside, per_area)}};
  }

 private:
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

  const BoundaryProblem& problem() const { return parts_.problem; }
  double scale() const { return parts_.mesh.scale_to_m; }
  T coefficient(int region) const { return coefficient_in<T>(problem(), region); }
  /// C or A of a flux through an area.
  double to_si() const { return problem().unit() * scale(); }
  bool has_sources() const { return data_.applied && !problem().sources.empty(); }
  /// Adds domain_constants(). Weak walls give off what their condition says of φ then.
  void add_constants() {
    const std::vector<T> constant = domain_constants(parts_, conditions_, data_, found_);
    for (const int d : parts_.domains.of) constant_.push_back(constant[d]);
    std::vector<bool> is_done(found_.conductor_potential.size(), false);
    for (std::size_t i = 0; i < found_.potential.size(); ++i) {
      const int d = domain_of_panel(parts_, i);
      found_.potential[i] += constant[d];
      if (constant[d] != T(0) && conditions_.has_admittance(i))
        (parts_.sides.inside[i] != no_region ? found_.inside : found_.outside)[i] =
            data_.given[i] - conditions_.admittance[i] * found_.potential[i];
      const int conductor = conditions_.conductor[i];
      if (conductor < 0 || is_done[conductor]) continue;
      found_.conductor_potential[conductor] += constant[d];
      is_done[conductor] = true;
    }
  }

  void add_up_fluxes() {
    conductor_flux_.assign(conditions_.floats.size(), T(0));
    flux_inside_.assign(parts_.groups.size(), T(0));
    flux_outside_ = flux_inside_;
    for (std::size_t i = 0; i < found_.inside.size(); ++i) {
      const int group = parts_.mesh.group_of[parts_.panels.input_index[i]],
                conductor = conditions_.conductor[i];
      const double area = to_si() * parts_.area[i];
      flux_inside_[group] += area * found_.inside[i];
      flux_outside_[group] += area * found_.outside[i];
      if (conductor >= 0)
        conductor_flux_[conductor] += area * (found_.inside[i] + found_.outside[i]);
    }
  }

  void add_up_regions() {
    imbalance_.assign(problem().regions.size(), T(0));
    throughput_.assign(problem().regions.size(), 0.0);
    const auto add = [&](int region, T flux) {
      if (region == no_region) return;
      imbalance_[region] += flux;
      throughput_[region] += std::abs(flux);
    };
    T to_infinity = 0;  // over the coefficient there
    for (std::size_t i = 0; i < found_.inside.size(); ++i) {
      const double area = to_si() * parts_.area[i];
      add(parts_.sides.inside[i], area * found_.inside[i]);
      add(parts_.sides.outside[i], area * found_.outside[i]);
      to_infinity += area * found_.sigma[i];
    }
    if (has_sources()) {
      for (std::size_t s = 0; s < problem().sources.size(); ++s) {
        const double charge = problem().sources[s].charge;
        add(parts_.region_of_source[s], charge);
        to_infinity += charge / coefficient(parts_.region_of_source[s]);
      }
    }
    const int outside = region_outside(problem());
    if (outside != no_region) {
      imbalance_[outside] -= coefficient(outside) * to_infinity;
      // The sum of absolute values, as that of the charges may be nothing but rounding.
      for (std::size_t i = 0; i < found_.inside.size(); ++i)
        throughput_[outside] +=
            std::abs(coefficient(outside) * to_si() * parts_.area[i] * found_.sigma[i]);
    }
    // What goes into a ground plane, or leaves beyond the end of a truncated surface, is not known.
    for (std::size_t r = 0; r < problem().regions.size(); ++r)
      if (parts_.is_grounded[r]) imbalance_[r] = T(nan);
    for (const ResolvedGroup& group : parts_.groups)
      for (const int region : {group.inside, group.outside})
        if (group.condition->truncated && region != no_region) imbalance_[region] = T(nan);
  }

  /// Of the panels ½ ∮ φ* c ∂φ/∂n, and of sources what they have in the field of all else.
  T energy() const {
    if (data_.applied && norm2(problem().field) > 0) return T(nan);
    T sum = 0;
    for (std::size_t i = 0; i < found_.inside.size(); ++i) {
      // An interface gives off what it is asked to; what is found has the solver's error beside.
      const T flux =
          conditions_.is_interface(i) ? data_.given[i] : found_.inside[i] + found_.outside[i];
      sum += to_si() * parts_.area[i] * flux * conjugate(found_.potential[i]);
    }
    if (has_sources()) sum += work_of_sources();
    return problem().conducts() ? sum : 0.5 * sum;
  }

  T work_of_sources() const {
    T sum = 0;
    std::vector<double> line_node, line_weight;
    gauss_legendre(64, line_node, line_weight);
    for (std::size_t s = 0; s < problem().sources.size(); ++s) {
      const ProblemSource& source = problem().sources[s];
      auto others = found_.applied;
      // Sources of each kind are in the problem's order.
      std::size_t before = 0;
      for (std::size_t t = 0; t < s; ++t) before += problem().sources[t].kind == source.kind;
      drop(others, source.kind, before);
      const bool is_line = source.kind == ProblemSource::Kind::line;
      const auto of_others = [&](Vec3d x) -> T { return others.potential(x, scale()); };
      std::vector<Vec3d> places{source.at};
      if (is_line) {
        places.clear();
        for (const double t : line_node) places.push_back(source.at + t * (source.to - source.at));
      }
      const LayerField<T> field = found_.field(places);
      T mean = constant_[parts_.region_of_source[s]] +
               (is_line ? mean_on_line<T>(of_others, source.at, source.to) : of_others(source.at));
      for (std::size_t k = 0; k < places.size(); ++k)
        mean += (is_line ? line_weight[k] : 1.0) * field.potential[k];
      sum += source.charge * conjugate(mean);
      if (source.kind != ProblemSource::Kind::dipole) continue;
      const Vec3<T> e = field.e[0] + others.field(source.at, scale());
      for (int axis = 0; axis < 3; ++axis) sum -= source.moment[axis] * conjugate(e[axis]);
    }
    return sum;
  }

  const ProblemParts& parts_;
  const BasicPanelConditions<T>& conditions_;
  const BasicPanelData<T>& data_;
  FoundValues<T>& found_;
  std::vector<T> constant_, imbalance_;                         ///< [regions]
  std::vector<double> throughput_;                              ///< [regions]
  std::vector<T> conductor_flux_, flux_inside_, flux_outside_;  ///< [conductors], [groups]
  T energy_{};
};

}  // namespace

template <class T>
std::vector<ProblemResult> results_of(const ProblemParts& parts,
                                      const BasicPanelConditions<T>& conditions,
                                      const std::string& name, const BasicPanelData<T>& data,
                                      FoundValues<T>& found) {
  const Balance<T> balance(parts, conditions, data, found);
  if constexpr (std::is_same_v<T, double>) return {balance.part(0, name)};
  return {balance.part(0, name + ", real part"), balance.part(1, name + ", imaginary part")};
}

template std::vector<ProblemResult> results_of(const ProblemParts&, const PanelConditions&,
                                               const std::string&, const PanelData&,
                                               FoundValues<double>&);
template std::vector<ProblemResult> results_of(const ProblemParts&, const LossyConditions&,
                                               const std::string&, const LossyData&,
                                               FoundValues<Complex>&);

}  // namespace fmbem
