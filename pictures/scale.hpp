#pragma once

#include <string>
#include <vector>

namespace fmbem {

/// A place on a colour bar or an axis, and what stands there.
struct Tick {
  double value;
  std::string text;
};

/// How values become colours.
struct Scale {
  enum class Kind {
    linear,       ///< sequential colours
    symmetric,    ///< diverging colours about zero, for values of both signs
    logarithmic,  ///< sequential colours
    molecular,    ///< red below zero, white at it, blue above, as potentials on molecules are drawn
  };
  Kind kind = Kind::linear;
  double min = 0, max = 1;
  bool beyond_min = false, beyond_max = false;  ///< there are such values, with the ends' colours

  /// From 0 to 1 along the colours; 0 for NaN, which has no colour among them.
  double fraction(double value) const;
};

/// Logarithmic where it is asked for, and for positive values over more than two decades; it spans
/// four decades at the most. Symmetric where the smaller of both signs has more than a hundredth of
/// the larger; from -1 to 1 of zeros alone. Else linear. Where values have weights, such as panels
/// their areas, a hundredth of these at either end lie beyond a scale that is not logarithmic,
/// where a tenth of it is saved: charge is infinite at edges, and few panels there would take most
/// of the colours. Values that are not finite do not count. Throws InputError, with `what` the
/// values are, if none is finite, or if a logarithmic scale of values that are not positive is
/// asked for.
Scale choose_scale(const std::vector<double>& values, const std::vector<double>& weights,
                   bool ask_log, const std::string& what);

/// That of potentials in kT/e, from −range to range whatever the values are, so that pictures of
/// molecules compare, with each other and with viewers of molecules. Throws InputError, with `what`
/// the values are, if none is finite.
Scale molecular_scale(const std::vector<double>& values, double range, const std::string& what);

/// Whether values from min to max differ by rounding alone.
bool is_one_value(double min, double max);

/// Round numbers from min to max, `least` to some 2.5 times as many, or on a logarithmic scale
/// powers of ten and, where these are few, twice and five times these, if that makes three. Those
/// of a molecular scale include its ends, though they may not be as round. Texts are values over
/// `unit`, such as 1e-9, with as many digits as their step needs. Where that would be more than
/// six, they are differences from an offset.
std::vector<Tick> ticks(const Scale& scale, double unit, int least = 5);
/// That offset over the unit, such as "+ 1e6", which has to be written once; empty for none.
std::string ticks_offset(const Scale& scale, double unit, int least = 5);

/// The prefix of a unit and what it stands for, such as n and 1e-9.
struct Prefix {
  std::string text;
  double factor;
};
/// That with which a value lies between 0.95 and 950, as 0.999 V are not to be 999 mV; none beyond
/// f and T.
Prefix engineering_prefix(double value);

inline constexpr int usual_digits = 4;
/// A number as it is printed in a picture: true minus signs, and so many digits at the most.
std::string picture_number(double value, int digits = usual_digits);

}  // namespace fmbem
