# Finds PETSc (real scalars, double precision) with its MPI: the target PETSc::PETSc and the
# variable PETSc_VERSION. PETSC_DIR and PKG_CONFIG_PATH are heeded.
find_package(PkgConfig QUIET)
find_package(MPI QUIET COMPONENTS CXX)
set(PETSc_IS_REAL FALSE)
if(PkgConfig_FOUND)
  # PETSc's own installations are called PETSc; where PKG_CONFIG_PATH leads to one, it goes before
  # Debian's. Either may be one with complex scalars.
  if(EXISTS "$ENV{PETSC_DIR}/$ENV{PETSC_ARCH}/lib/pkgconfig/PETSc.pc")
    set(ENV{PKG_CONFIG_PATH} "$ENV{PETSC_DIR}/$ENV{PETSC_ARCH}/lib/pkgconfig:$ENV{PKG_CONFIG_PATH}")
  endif()
  set(petsc_modules PETSc petsc)
  set(petsc_debian petsc-real)
  if(EXISTS /usr/lib/petscdir/petsc-real/lib/pkgconfig/PETSc.pc)
    list(APPEND petsc_debian /usr/lib/petscdir/petsc-real/lib/pkgconfig/PETSc.pc)
  endif()
  if("$ENV{PKG_CONFIG_PATH}" STREQUAL "")
    list(PREPEND petsc_modules ${petsc_debian})
  else()
    list(APPEND petsc_modules ${petsc_debian})
  endif()
  foreach(module IN LISTS petsc_modules)
    string(MAKE_C_IDENTIFIER "PETSC_PC_${module}" petsc_pc)
    pkg_check_modules(${petsc_pc} QUIET IMPORTED_TARGET ${module})
    unset(petsc_conf)
    find_file(petsc_conf petscconf.h PATHS ${${petsc_pc}_INCLUDE_DIRS} ${${petsc_pc}_INCLUDEDIR}
              NO_DEFAULT_PATH NO_CACHE)
    if(NOT ${petsc_pc}_FOUND OR NOT petsc_conf)
      continue()
    endif()
    file(STRINGS "${petsc_conf}" petsc_scalars REGEX "define PETSC_USE_(COMPLEX|REAL_DOUBLE)")
    if(petsc_scalars MATCHES "REAL_DOUBLE" AND NOT petsc_scalars MATCHES "COMPLEX")
      set(PETSc_IS_REAL TRUE)
      set(PETSc_VERSION ${${petsc_pc}_VERSION})
      break()
    endif()
  endforeach()
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  PETSc
  REQUIRED_VARS PETSc_IS_REAL MPI_CXX_FOUND
  VERSION_VAR PETSc_VERSION
  REASON_FAILURE_MESSAGE
    "install PETSc with real scalars in double precision and an MPI (Debian: libpetsc-real-dev), or set PKG_CONFIG_PATH"
)
if(PETSc_FOUND AND NOT TARGET PETSc::PETSc)
  add_library(PETSc::PETSc INTERFACE IMPORTED)
  # The pkg-config file has the compile flags of PETSc's own build; only its paths are used.
  set_target_properties(PETSc::PETSc PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                                "${${petsc_pc}_INCLUDE_DIRS}")
  target_link_libraries(PETSc::PETSc INTERFACE ${${petsc_pc}_LINK_LIBRARIES} MPI::MPI_CXX)
endif()
