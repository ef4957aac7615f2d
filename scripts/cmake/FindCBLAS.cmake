# Finds a BLAS with the C interface, and LAPACK, which OpenBLAS holds: the target CBLAS::CBLAS.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_search_module(CBLAS_PC QUIET openblas cblas blis)
endif()
find_path(CBLAS_INCLUDE_DIR cblas.h HINTS ${CBLAS_PC_INCLUDE_DIRS} PATH_SUFFIXES openblas)
find_library(CBLAS_LIBRARY NAMES openblas cblas blis blas HINTS ${CBLAS_PC_LIBRARY_DIRS})
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  CBLAS
  REQUIRED_VARS CBLAS_LIBRARY CBLAS_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install a BLAS with cblas.h (Debian: libopenblas-dev)")
if(CBLAS_FOUND AND NOT TARGET CBLAS::CBLAS)
  add_library(CBLAS::CBLAS UNKNOWN IMPORTED)
  set_target_properties(CBLAS::CBLAS PROPERTIES IMPORTED_LOCATION ${CBLAS_LIBRARY}
                                                INTERFACE_INCLUDE_DIRECTORIES ${CBLAS_INCLUDE_DIR})
  if(NOT CBLAS_LIBRARY MATCHES "openblas")
    find_library(LAPACK_LIBRARY NAMES lapack REQUIRED)
    mark_as_advanced(LAPACK_LIBRARY)
    set_target_properties(CBLAS::CBLAS PROPERTIES INTERFACE_LINK_LIBRARIES ${LAPACK_LIBRARY})
  endif()
endif()
mark_as_advanced(CBLAS_INCLUDE_DIR CBLAS_LIBRARY)
