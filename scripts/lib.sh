# Functions that the scripts share; to be sourced. The packages are Debian's and Ubuntu's.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034  # for the scripts that source this file
{
  build_packages=(g++ cmake ninja-build pkg-config libpetsc-real-dev libopenmpi-dev libgmsh-dev
                  zlib1g-dev libhdf5-dev libcgal-dev libvtk9-dev libegl-dev libopenblas-dev
                  libcli11-dev libmuparser-dev nlohmann-json3-dev)
  test_packages=(catch2 python3 python3-jsonschema python3-matplotlib python3-meshio
                 python3-vtk9 python3-numpy python3-scipy python3-h5py ngspice)
  # Ubuntu has Chromium as a snap only: tests that open pages are skipped there.
  grep -qs '^ID=ubuntu' /etc/os-release || test_packages+=(chromium)
  clang_packages=(clang-14 libclang-rt-14-dev libomp-14-dev)
  # The system's Python is the one that sees the packages installed here.
  test_options=(-DFMBEM_TESTS=ON)
  [[ ! -x /usr/bin/python3 ]] || test_options+=(-DPython3_EXECUTABLE=/usr/bin/python3)
}

# fail STATUS SENTENCE
fail() {
  printf '%s: %s\n' "${0##*/}" "$2" >&2
  exit "$1"
}

# Prints the comment at the top of the running script.
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }

# install_packages PACKAGE…: installs those that are missing. Without the right to do so it prints
# the line to run and exits 2. With FMBEM_SKIP_PACKAGES=1 it installs nothing, and CMake looks for
# libraries of your own.
install_packages() {
  [[ -z ${FMBEM_SKIP_PACKAGES-} ]] || return 0
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    printf '%s\n' "This system has no apt; what is needed: a C++20 compiler, CMake 3.25, pkg-config," \
      "PETSc (real, double precision) with its MPI, the Gmsh SDK, zlib, HDF5, a BLAS with cblas.h," \
      "CLI11, nlohmann-json and muParser; CGAL for .obj, .off and .ply, VTK 9 for .vtk, .vtu and .vtp, VTK 9.1" \
      "with EGL for pictures; Catch2, Python with jsonschema, meshio, vtk, numpy and h5py, ngspice and" \
      "Chromium for the tests."
    return 0
  fi
  local package missing=()
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    printf 'Missing packages; run this line, then %s again:\n\n' "$0"
    printf '  sudo apt-get install --no-install-recommends %s\n\n' "${missing[*]}"
    exit 2
  fi >&2
  printf 'Installing %s and what they need\n' "${missing[*]}"
  local -x DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a
  local apt=(apt-get -qq -o DPkg::Lock::Timeout=600)
  { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } \
    </dev/null >/dev/null || fail 1 "apt-get could not install the packages"
}

# configure PRESET [OPTION…]: configures with CMake's preset into build/PRESET, with Ninja unless the
# folder or CMAKE_GENERATOR says otherwise.
configure() {
  if command -v ninja >/dev/null; then
    export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
  fi
  cd "$root" || exit
  cmake --preset "$@" || fail 2 "CMake could not configure the build"
}

# compile PRESET [OPTION…]: builds what was configured.
compile() { cmake --build --preset "$1" --parallel "$(nproc)" "${@:2}"; }

# run_tests PRESET [CTEST OPTION…]
run_tests() {
  # Two tests at a time, as most of them have stretches that one core does.
  local -x CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL-2}
  # Threads that wait do not spin: where cores are shared, that costs most.
  local -x OMP_WAIT_POLICY=${OMP_WAIT_POLICY-passive}
  # Open MPI's mpirun refuses to run as root (as in a container) without these.
  local -x OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  ctest --preset "$1" --output-on-failure "${@:2}"
}

# Says where the program is and what can be done with it.
what_next() {
  cat <<END

The program is $root/build/release/cli/fmbem. What to try next, in $root:
  build/release/cli/fmbem capacitance examples/spheres.geo --mesh-size 0.5 --unit mm
  build/release/cli/fmbem capacitance YOUR.step --json report.json
  build/release/cli/fmbem --help
END
}
