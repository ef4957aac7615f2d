# Installs the build, then configures, builds and runs the outside project against it.
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

string(REPLACE ";" " " FLAGS "${FLAGS}")
file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix --config ${CONFIG})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK_DIR}/build -G "${GENERATOR}"
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_BUILD_TYPE=${CONFIG} "-DCMAKE_CXX_FLAGS=${FLAGS}")
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${CMAKE_COMMAND} -E env FMBEM_READER=${WORK_DIR}/prefix/bin/fmbem-reader
    ${WORK_DIR}/build/consumer ${CMAKE_CURRENT_LIST_DIR}/../../examples/cube.geo)
run(${WORK_DIR}/prefix/bin/fmbem info)
