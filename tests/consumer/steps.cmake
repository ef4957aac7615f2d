# What the tests of the installed package have in common.
set(EXAMPLES ${CMAKE_CURRENT_LIST_DIR}/../../examples)
set(CONSUMERS ${CMAKE_CURRENT_LIST_DIR})
string(REPLACE ";" " " FLAGS "${FLAGS}")
file(REMOVE_RECURSE ${WORK_DIR})

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# output_has(PATTERN command…): runs the command and looks at what it printed.
function(output_has pattern)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output ECHO_OUTPUT_VARIABLE)
  if(NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "this has no \"${pattern}\": ${output}")
  endif()
endfunction()

# What the fast multipole method does without: find_package() does not find these.
set(WITHOUT)
foreach(package IN ITEMS CBLAS CGAL CLI11 Gmsh HDF5C MPI PETSc Python3 VTK ZLIB muparser nlohmann_json)
  list(APPEND WITHOUT -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
endforeach()
if(NOT WITH_CUDA)
  list(APPEND WITHOUT -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON)
endif()

# configure_consumer(FOLDER PREFIX VARIABLE option…): the command that configures the project in that folder of
# tests/consumer for the package in PREFIX.
function(configure_consumer folder prefix variable)
  set(${variable} ${CMAKE_COMMAND} -S ${CONSUMERS}/${folder} -B ${WORK_DIR}/build/${folder} -G ${GENERATOR}
      -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=${COMPILER}
      "-DCMAKE_CXX_FLAGS=${FLAGS}" --no-warn-unused-cli ${ARGN} PARENT_SCOPE)
endfunction()

# Builds and runs the example of the FMM with nothing but the component fmm of the package.
function(use_fmm prefix)
  configure_consumer(fmm ${prefix} configure ${WITHOUT})
  run(${configure})
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/build/fmm)
  output_has("order [0-9]+: the first potential is" ${WORK_DIR}/build/fmm/fmm 2000)
endfunction()
