# Decides whether the CUDA backend is built: sets FMBEM_WITH_CUDA and enables the language.
set(FMBEM_WITH_CUDA OFF)
execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE no_gpu OUTPUT_QUIET ERROR_QUIET)
string(TOUPPER "${FMBEM_CUDA}" upper_case)
if(NOT upper_case MATCHES "^(AUTO|ON|OFF|TRUE|FALSE|YES|NO|Y|N|1|0)$")
  message(FATAL_ERROR "FMBEM_CUDA is AUTO, ON or OFF, not ${FMBEM_CUDA}")
endif()
if(upper_case STREQUAL "AUTO")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER AND no_gpu)
    message(STATUS "This machine has no NVIDIA GPU: -DFMBEM_CUDA=ON builds for others")
  elseif(CMAKE_CUDA_COMPILER)
    set(FMBEM_WITH_CUDA ON)
  endif()
elseif(FMBEM_CUDA)
  set(FMBEM_WITH_CUDA ON)
endif()

if(FMBEM_WITH_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # The GPU of this machine where there is one; Hopper otherwise, so that one build stays short.
    if(no_gpu)
      set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "CUDA architectures")
    else()
      set(CMAKE_CUDA_ARCHITECTURES native CACHE STRING "CUDA architectures")
    endif()
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()
message(STATUS "CUDA backend: ${FMBEM_WITH_CUDA}")

set(FMBEM_CUDA_BATCH_SIZE 6 CACHE STRING
    "Compile so many .cu files together: 12 take a fifth less of the processor, on two cores")
mark_as_advanced(FMBEM_CUDA_BATCH_SIZE)

# fmbem_cuda_units(NAME VARIABLE sources…): the sources of the library fmbem_NAME, relative paths, with
# files that include FMBEM_CUDA_BATCH_SIZE .cu files each in the place of these, if FMBEM_UNITY is on; not of those
# with the property SKIP_UNITY_BUILD_INCLUSION. No other properties of a file, such as flags of its own,
# reach the file that includes it. Reading the headers of CUDA, cub and C++ is most of their
# compilation. CMake does it for CUDA from 3.31 on.
function(fmbem_cuda_units name variable)
  set(sources ${ARGN})
  if(FMBEM_UNITY)
    set(files "")
    foreach(file IN LISTS ARGN)
      get_source_file_property(alone ${file} SKIP_UNITY_BUILD_INCLUSION)
      if(file MATCHES "[.]cu$" AND NOT alone)
        list(APPEND files ${file})
      endif()
    endforeach()
    list(REMOVE_ITEM sources ${files})
    set(unit 0)
    while(files)
      list(SUBLIST files 0 ${FMBEM_CUDA_BATCH_SIZE} batch)
      list(REMOVE_ITEM files ${batch})
      list(TRANSFORM batch REPLACE "(.+)" "#include \"${CMAKE_CURRENT_SOURCE_DIR}/\\1\"\n")
      list(JOIN batch "" text)
      file(CONFIGURE OUTPUT ${name}_${unit}.cu CONTENT "${text}" @ONLY)
      list(APPEND sources ${CMAKE_CURRENT_BINARY_DIR}/${name}_${unit}.cu)
      math(EXPR unit "${unit} + 1")
    endwhile()
  endif()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# fmbem_cuda_flags(NAME): how the .cu files of the library fmbem_NAME are compiled, if there are any.
function(fmbem_cuda_flags name)
  get_target_property(sources fmbem_${name} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]cu$")
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  # CMake 3.25.1 does not know of C++20 in nvcc.
  target_compile_options(
    fmbem_${name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr
                          -Xcompiler=${OpenMP_CXX_FLAGS} -Xcompiler=-Wall,-Wextra,-Wshadow
                          $<$<BOOL:${FMBEM_WERROR}>:-Werror=all-warnings -Xcompiler=-Werror>>)
endfunction()
