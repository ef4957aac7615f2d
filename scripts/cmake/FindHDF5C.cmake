# Finds HDF5's C library, the serial one: the target HDF5C::HDF5C. CMake's own FindHDF5 asks for a C
# compiler.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_search_module(HDF5C_PC QUIET hdf5-serial hdf5)
endif()
find_path(HDF5C_INCLUDE_DIR hdf5.h HINTS ${HDF5C_PC_INCLUDE_DIRS} PATH_SUFFIXES hdf5/serial)
find_library(HDF5C_LIBRARY NAMES hdf5_serial hdf5 HINTS ${HDF5C_PC_LIBRARY_DIRS})
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  HDF5C
  REQUIRED_VARS HDF5C_LIBRARY HDF5C_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install HDF5 (Debian: libhdf5-dev)")
if(HDF5C_FOUND AND NOT TARGET HDF5C::HDF5C)
  add_library(HDF5C::HDF5C UNKNOWN IMPORTED)
  set_target_properties(HDF5C::HDF5C PROPERTIES IMPORTED_LOCATION ${HDF5C_LIBRARY}
                                                INTERFACE_INCLUDE_DIRECTORIES ${HDF5C_INCLUDE_DIR})
endif()
mark_as_advanced(HDF5C_INCLUDE_DIR HDF5C_LIBRARY)
