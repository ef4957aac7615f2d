# Installation: headers, and the package that find_package(fmbem) reads. Each component is whole by
# itself: cmake --install FOLDER --component fmm installs the fast multipole method alone.
set(FMBEM_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/fmbem)
# fmbem_install(COMPONENT folders…)
function(fmbem_install component)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/)
  install(DIRECTORY ${ARGN}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fmbem
          COMPONENT ${component}
          FILES_MATCHING PATTERN "*.hpp"
          # of the program that reads files, which alone has these libraries
          PATTERN "meshes/foreign" EXCLUDE
          PATTERN "meshes/gmsh" EXCLUDE
          PATTERN "load_here.hpp" EXCLUDE)
  install(EXPORT fmbem-${component}-targets NAMESPACE fmbem:: DESTINATION ${FMBEM_PACKAGE_DIR}
          COMPONENT ${component})
endfunction()

configure_package_config_file(${PROJECT_SOURCE_DIR}/scripts/cmake/fmbem-config.cmake.in
                              fmbem-config.cmake INSTALL_DESTINATION ${FMBEM_PACKAGE_DIR})
write_basic_package_version_file(fmbem-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fmbem-config.cmake
              ${PROJECT_BINARY_DIR}/fmbem-config-version.cmake
        DESTINATION ${FMBEM_PACKAGE_DIR}
        COMPONENT fmm)
fmbem_install(fmm fmm cuda)
if(NOT FMBEM_FMM_ONLY)
  fmbem_install(bem meshes bem solvers problems)
  install(FILES scripts/cmake/FindCBLAS.cmake scripts/cmake/FindHDF5C.cmake
                scripts/cmake/FindPETSc.cmake
          DESTINATION ${FMBEM_PACKAGE_DIR}
          COMPONENT bem)
endif()
