# Installs the build, then builds and runs the examples outside of it.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
set(prefix ${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix} --config ${CONFIG})
run(${prefix}/bin/fmbem info)

configure_consumer(. ${prefix} configure)
run(${configure})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
set(ENV{FMBEM_READER} ${prefix}/bin/fmbem-reader)
output_has("cube, cube: 73\\.[45][0-9]* pF" ${WORK_DIR}/build/capacitance ${EXAMPLES}/cube.geo)
output_has("V, E_x = " ${WORK_DIR}/build/field ${EXAMPLES}/cube.geo)
output_has("panels, [0-9]+ iterations" ${WORK_DIR}/build/petsc_shell ${EXAMPLES}/cube.geo)

use_fmm(${prefix})
configure_consumer(fmm ${prefix} configure -DCOMPONENTS=teapot)
output_has("components that are installed here are: fmm, bem" ${configure})
