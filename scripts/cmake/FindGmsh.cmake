# Finds the Gmsh SDK: the target Gmsh::Gmsh and the variable Gmsh_VERSION.
find_path(Gmsh_INCLUDE_DIR gmsh.h)
find_library(Gmsh_LIBRARY gmsh)
if(Gmsh_INCLUDE_DIR)
  file(STRINGS ${Gmsh_INCLUDE_DIR}/gmsh.h gmsh_line REGEX "define GMSH_API_VERSION +\"")
  string(REGEX REPLACE ".*\"([0-9.]+).*" "\\1" Gmsh_VERSION "${gmsh_line}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Gmsh
  REQUIRED_VARS Gmsh_LIBRARY Gmsh_INCLUDE_DIR
  VERSION_VAR Gmsh_VERSION
  REASON_FAILURE_MESSAGE "install the Gmsh SDK (Debian: libgmsh-dev)")
if(Gmsh_FOUND AND NOT TARGET Gmsh::Gmsh)
  add_library(Gmsh::Gmsh UNKNOWN IMPORTED)
  set_target_properties(Gmsh::Gmsh PROPERTIES IMPORTED_LOCATION ${Gmsh_LIBRARY}
                                              INTERFACE_INCLUDE_DIRECTORIES ${Gmsh_INCLUDE_DIR})
endif()
mark_as_advanced(Gmsh_INCLUDE_DIR Gmsh_LIBRARY)
