# Finds PETSc (real scalars, double precision) with its MPI: the target PETSc::PETSc and the
# variable PETSc_VERSION. PETSC_DIR and PKG_CONFIG_PATH are heeded.
find_package(PkgConfig QUIET)
find_package(MPI QUIET COMPONENTS CXX)
if(PkgConfig_FOUND)
  # An installation of its own is called PETSc; where PKG_CONFIG_PATH leads to one, it goes before
  # Debian's, which names the variants.
  if(EXISTS "$ENV{PETSC_DIR}/$ENV{PETSC_ARCH}/lib/pkgconfig/PETSc.pc")
    set(ENV{PKG_CONFIG_PATH} "$ENV{PETSC_DIR}/$ENV{PETSC_ARCH}/lib/pkgconfig:$ENV{PKG_CONFIG_PATH}")
  endif()
  if("$ENV{PKG_CONFIG_PATH}" STREQUAL "")
    pkg_search_module(PETSC_PC QUIET IMPORTED_TARGET petsc-real PETSc petsc)
  else()
    pkg_search_module(PETSC_PC QUIET IMPORTED_TARGET PETSc petsc petsc-real)
  endif()
  set(PETSc_VERSION ${PETSC_PC_VERSION})
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  PETSc
  REQUIRED_VARS PETSC_PC_FOUND MPI_CXX_FOUND
  VERSION_VAR PETSc_VERSION
  REASON_FAILURE_MESSAGE "install PETSc and an MPI (Debian: petsc-dev), or set PKG_CONFIG_PATH")
if(PETSc_FOUND AND NOT TARGET PETSc::PETSc)
  add_library(PETSc::PETSc INTERFACE IMPORTED)
  # The compile flags of the pkg-config file are those of PETSc's own build; only its paths serve.
  set_target_properties(PETSc::PETSc PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                                "${PETSC_PC_INCLUDE_DIRS}")
  target_link_libraries(PETSc::PETSc INTERFACE ${PETSC_PC_LINK_LIBRARIES} MPI::MPI_CXX)
endif()
