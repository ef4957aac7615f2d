# Installation: libraries, headers, program, and the package that find_package(fmbem) reads.
set(FMBEM_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/fmbem)
install(EXPORT fmbem-targets NAMESPACE fmbem:: DESTINATION ${FMBEM_PACKAGE_DIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/scripts/cmake/fmbem-config.cmake.in
                              fmbem-config.cmake INSTALL_DESTINATION ${FMBEM_PACKAGE_DIR})
write_basic_package_version_file(fmbem-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fmbem-config.cmake
              ${PROJECT_BINARY_DIR}/fmbem-config-version.cmake
              scripts/cmake/FindCBLAS.cmake scripts/cmake/FindGmsh.cmake
              scripts/cmake/FindHDF5C.cmake scripts/cmake/FindPETSc.cmake
        DESTINATION ${FMBEM_PACKAGE_DIR})
