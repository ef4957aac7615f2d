# Writes a header with the commit that the sources in SOURCE_DIR are of, for the program's reports:
# git's, with a note where files differ from it; in a tarball of `git archive` what git has put into
# commit.txt; else nothing. OUTPUT is written where that changes it alone.
cmake_minimum_required(VERSION 3.25)
file(STRINGS ${SOURCE_DIR}/scripts/cmake/commit.txt commit LIMIT_COUNT 1)
if(NOT commit MATCHES "^[0-9a-f]+$")
  set(commit "")
  find_program(GIT git)
  if(GIT)
    # Not that of a repository around this folder.
    execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} rev-parse --show-prefix HEAD
                    OUTPUT_VARIABLE lines ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND lines MATCHES "^\n([0-9a-f]+)\n$")
      set(commit ${CMAKE_MATCH_1})
      execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} diff --quiet HEAD RESULT_VARIABLE changed)
      if(changed)
        string(APPEND commit " with changes")
      endif()
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define FMBEM_COMMIT \"@commit@\"\n" @ONLY)
