# Flags for every target of this project, never for projects that use it.
add_library(fmbem_flags INTERFACE)
set(for_cxx "$<COMPILE_LANGUAGE:CXX>")
target_compile_options(
  fmbem_flags
  INTERFACE # errno and traps of mathematical functions would keep loops from being vectorised
            $<${for_cxx}:-fno-math-errno -fno-trapping-math>
            $<${for_cxx}:-Wall -Wextra -Wpedantic -Wnon-virtual-dtor>
            # names in one file may be those in another one that is compiled together with it
            $<$<NOT:$<BOOL:${FMBEM_UNITY}>>:$<${for_cxx}:-Wshadow>>
            $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${FMBEM_UNITY}>>:$<${for_cxx}:-Wshadow=local>>
            # and types in their unnamed namespaces are no fault
            $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${FMBEM_UNITY}>>:$<${for_cxx}:-Wno-subobject-linkage>>
            # clang warns of loops that it could not vectorise: no fault
            $<$<CXX_COMPILER_ID:Clang>:$<${for_cxx}:-Wno-pass-failed>>
            $<$<BOOL:${FMBEM_WERROR}>:$<${for_cxx}:-Werror>>)
# Undefined behaviour but for what each access of memory would be asked for besides its address, which
# is half of the time of builds and tests.
set(sanitizer_address -fsanitize=address,undefined -fno-sanitize=alignment,null,object-size,pointer-overflow
                      -fno-sanitize-recover=undefined)
set(sanitizer_thread -fsanitize=thread)
if(FMBEM_SANITIZE)
  if(NOT sanitizer_${FMBEM_SANITIZE})
    message(FATAL_ERROR "FMBEM_SANITIZE is ${FMBEM_SANITIZE}: it can be OFF, address or thread")
  endif()
  target_compile_options(fmbem_flags INTERFACE ${sanitizer_${FMBEM_SANITIZE}} -fno-omit-frame-pointer)
  target_link_options(fmbem_flags INTERFACE ${sanitizer_${FMBEM_SANITIZE}})
endif()

# fmbem_optimise_little(TARGET): its own code takes little time, that of the libraries most. Of its
# compilation -O1 instead of -O3 saves a third, and under the address sanitizer -O0 two thirds.
function(fmbem_optimise_little target)
  set(level $<IF:$<STREQUAL:${FMBEM_SANITIZE},address>,0,1>)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O${level}>)
endfunction()

# Makes the folders includable as "fmbem/<folder>/…", here and after installation.
set(FMBEM_INCLUDE_DIR ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${FMBEM_INCLUDE_DIR}/fmbem)
foreach(folder IN ITEMS fmm cuda meshes pictures bem solvers problems)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${FMBEM_INCLUDE_DIR}/fmbem/${folder} SYMBOLIC)
endforeach()

# fmbem_library(NAME sources…): the library fmbem_NAME with the alias fmbem::NAME.
function(fmbem_library name)
  set(target fmbem_${name})
  fmbem_cuda_units(${name} sources ${ARGN})
  add_library(${target} ${sources})
  add_library(fmbem::${name} ALIAS ${target})
  set_target_properties(
    ${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON VERSION ${PROJECT_VERSION}
                         SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${FMBEM_INCLUDE_DIR}>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:fmbem_flags>)
  if(FMBEM_SANITIZE AND NOT name MATCHES "^(fmm|bem)$")
    # half as long to compile, and tests spend their time in those two
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  install(TARGETS ${target} EXPORT fmbem-${CMAKE_INSTALL_DEFAULT_COMPONENT_NAME}-targets)
endfunction()
