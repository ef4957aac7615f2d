#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "fmbem/fmm/base/precision.hpp"

namespace fmbem::fmm {

/// What one thread does in a second, in one precision: what the cost model of choose() needs.
struct ThreadRates {
  /// Pairs of sources and targets. The first two are with roots to 1e-8 (in single precision to
  /// 1e-4), the "exact" ones with one more term of the series: to 1e-12 (1e-8).
  double near_potential, near_gradient, near_potential_exact, near_gradient_exact;
  /// The same where one root serves both points of a pair; each target's pairs with its sources are
  /// counted.
  double mutual_potential, mutual_gradient, mutual_potential_exact, mutual_gradient_exact;
  double butterfly;  ///< coefficients of one block
  double points;     ///< coefficients times points, P2M and L2P
  /// Coefficients, and work_of_a_box more, times points in whole registers: M2P of the potential,
  /// M2P with the gradient, and P2L.
  double m2p, m2p_gradient, p2l;
  double displaced;  ///< floating-point operations of M2L by displacements, at order 8

  struct Product {
    int order;
    double operations;  ///< floating-point operations in products of [64, K] and [K, K]
  };
  std::vector<Product> products;  ///< by ascending order

  /// Interpolated linearly between the orders of the table, constant beyond them.
  double product_at(int order) const;
};

/// Of M2P and P2L: what a point and a box cost beside the expansion, in its coefficients.
inline constexpr double work_of_a_box = 20;
/// The order of the hybrids that M2P, P2L and M2L by displacements are measured with.
inline constexpr int order_of_hybrids = 8;

/// The numbers of ThreadRates but for the products, by the names that files and reports give them.
struct RateField {
  const char* name;
  double ThreadRates::*value;
};
inline constexpr RateField rate_fields[] = {
    {"near_potential", &ThreadRates::near_potential},
    {"near_gradient", &ThreadRates::near_gradient},
    {"near_potential_exact", &ThreadRates::near_potential_exact},
    {"near_gradient_exact", &ThreadRates::near_gradient_exact},
    {"mutual_potential", &ThreadRates::mutual_potential},
    {"mutual_gradient", &ThreadRates::mutual_gradient},
    {"mutual_potential_exact", &ThreadRates::mutual_potential_exact},
    {"mutual_gradient_exact", &ThreadRates::mutual_gradient_exact},
    {"butterfly", &ThreadRates::butterfly},
    {"points", &ThreadRates::points},
    {"m2p", &ThreadRates::m2p},
    {"m2p_gradient", &ThreadRates::m2p_gradient},
    {"p2l", &ThreadRates::p2l},
    {"displaced", &ThreadRates::displaced}};

/// A table of a machine, and where it comes from.
struct Rates {
  ThreadRates double_precision, single_precision;

  const ThreadRates& of(Precision precision) const {
    return precision == Precision::single_precision ? single_precision : double_precision;
  }
};

/// <configuration folder>/fmbem; empty where neither XDG_CONFIG_HOME nor HOME is set.
std::filesystem::path rates_folder();
/// The file that an environment variable names, or <name>.rates in the rates_folder(); empty where
/// there is none.
std::filesystem::path table_file(const char* variable, const std::string& name);
/// Opens that file, if it is there. Throws InputError if the variable names one that cannot be
/// read.
std::ifstream open_table(const char* variable, const std::filesystem::path& file);

/// The file where this machine's table is kept: FMBEM_RATES, or <host name>.rates in the
/// rates_folder(); empty where there is none.
std::filesystem::path rates_file();

/// This machine's table, read once; the shipped one where there is none.
/// Throws InputError for a file that does not hold a table, and if FMBEM_RATES names none.
const Rates& machine_rates();
/// Measured on two cores of an AMD EPYC (Zen 4, AVX-512); those of hybrids on another one, in
/// proportion to `points` and the products of their order.
const Rates& shipped_rates();

/// One line for each number: precision, name, order for a product, value.
void write_rates(std::ostream& out, const Rates& rates);
/// Throws InputError that names `source` if a number is missing, twice there, unknown or none of a
/// processor's, which are from 1e6 to 1e15.
Rates read_rates(std::istream& in, const std::string& source);

/// Measures one thread of this machine, all threads being busy. Takes some seven seconds.
Rates measure_rates();

}  // namespace fmbem::fmm
