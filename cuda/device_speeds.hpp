#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>

namespace fmbem::cuda {

/// What a GPU does in a second over what one H200 does, by kind of work. The rates with which plans
/// choose their trees and methods are an H200's, scaled by these.
struct DeviceSpeeds {
  double near_single = 1, near_double = 1;            ///< P2P
  double products_single = 1, products_double = 1;    ///< M2L of high orders
  double memory = 1;                                  ///< M2L of a low order, gathering mostly
  double boxes = 1;                                   ///< P2M, M2M, L2L and L2P of a low order
  double m2p_single = 1, m2p_double = 1;              ///< of hybrids
  double p2l_single = 1, p2l_double = 1;              ///< of hybrids
  double displaced_single = 1, displaced_double = 1;  ///< M2L of hybrids, by displacements
  double start = 1;                                   ///< launches of an evaluation
};

/// The numbers by the names that files and reports give them.
using SpeedOf = double DeviceSpeeds::*;
struct SpeedField {
  const char* name;
  SpeedOf value;
};
inline constexpr SpeedField speed_fields[] = {{"near_single", &DeviceSpeeds::near_single},
                                              {"near_double", &DeviceSpeeds::near_double},
                                              {"products_single", &DeviceSpeeds::products_single},
                                              {"products_double", &DeviceSpeeds::products_double},
                                              {"memory", &DeviceSpeeds::memory},
                                              {"boxes", &DeviceSpeeds::boxes},
                                              {"m2p_single", &DeviceSpeeds::m2p_single},
                                              {"m2p_double", &DeviceSpeeds::m2p_double},
                                              {"p2l_single", &DeviceSpeeds::p2l_single},
                                              {"p2l_double", &DeviceSpeeds::p2l_double},
                                              {"displaced_single", &DeviceSpeeds::displaced_single},
                                              {"displaced_double", &DeviceSpeeds::displaced_double},
                                              {"start", &DeviceSpeeds::start}};

/// The file where the table of GPUs of that name is kept: FMBEM_GPU_RATES, or
/// <configuration folder>/fmbem/<name with "_" for all but letters and digits>.rates; empty where
/// fmm::rates_folder() is.
std::filesystem::path device_speeds_file(const std::string& device);

/// The table that is kept; none if there is no file.
/// Throws InputError for a file that does not hold a table, or that FMBEM_GPU_RATES names and that
/// cannot be read.
std::optional<DeviceSpeeds> kept_device_speeds(const std::string& device);

/// A line for each number: name and value.
void write_device_speeds(std::ostream& out, const DeviceSpeeds& speeds);
/// Throws InputError that names `source` if a number is missing, not positive or unknown.
DeviceSpeeds read_device_speeds(std::istream& in, const std::string& source);

/// Measures the current device, which should have nothing else to do. Takes a few seconds.
/// Throws InputError without a GPU, and ResourceError where its memory does not suffice (1 GB).
DeviceSpeeds measure_device_speeds();

}  // namespace fmbem::cuda
