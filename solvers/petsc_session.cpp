#include "fmbem/solvers/petsc_session.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/solvers/petsc.hpp"

namespace fmbem {
namespace {

struct Session {
  bool ours = false;  // PETSc was started here, so it is ended here
  std::set<std::string> given;

  void finish() {
    int mpi_finalized = 0;
    MPI_Finalized(&mpi_finalized);
    if (ours && !mpi_finalized) PetscFinalize();
    ours = false;
  }
  ~Session() { finish(); }
};

Session& session() {
  static Session instance;
  return instance;
}

bool petsc_is_running() {
  PetscBool started = PETSC_FALSE, ended = PETSC_FALSE;
  PetscInitialized(&started);
  PetscFinalized(&ended);
  return started && !ended;
}

bool is_option_name(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && !std::isdigit(static_cast<unsigned char>(word[1])) &&
         word[1] != '.';
}

// "-name value -flag …"
std::vector<std::string> words_of(PetscOptions options) {
  char* all = nullptr;
  petsc_calls([&] { return PetscOptionsGetAll(options, &all); });
  std::istringstream stream(all);
  PetscFree(all);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

// Names that a command line gives, itself or by files of options, with the prefixes in force.
std::set<std::string> names_given(std::vector<std::string> words) {
  std::set<std::string> names;
  PetscOptions options = nullptr;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  petsc_calls([&] {
    PetscCall(PetscOptionsCreate(&options));
    return PetscOptionsInsertArgs(options, static_cast<int>(arguments.size()), arguments.data());
  });
  for (const std::string& word : words_of(options))
    if (is_option_name(word)) names.insert(word.substr(word.find_first_not_of('-')));
  PetscOptionsDestroy(&options);
  return names;
}

// At its end PETSc would write there, and could only fail.
void check_file_of_log(const char* name) {
  std::array<char, 4096> value{};
  PetscBool is_there = PETSC_FALSE;
  petsc_calls([&] {
    return PetscOptionsGetString(nullptr, nullptr, name, value.data(), value.size(), &is_there);
  });
  std::istringstream viewer(value.data());  // type:file:format
  std::string type, path;
  std::getline(viewer, type, ':');
  std::getline(viewer, path, ':');
  if (path.empty()) return;
  const bool was_there = std::filesystem::exists(path);
  FILE* const file = std::fopen(path.c_str(), "a");
  if (!file) PetscOptionsClearValue(nullptr, name);
  FMBEM_REQUIRE(file, name << ": cannot write " << path << ": " << std::strerror(errno));
  std::fclose(file);
  if (!was_there) std::filesystem::remove(path);
}

// PETSc would ask for it only at its end, or when the first vector comes to a GPU.
bool is_asked_later(const std::string& name) {
  static const std::set<std::string> names{"options_left",    "options_view",     "malloc_dump",
                                           "malloc_view",     "objects_dump",     "log_view",
                                           "log_view_memory", "use_gpu_aware_mpi"};
  return names.count(name) > 0;
}

// Without this option a PETSc with CUDA refuses vectors on the GPU where MPI does not know its
// memory. With one rank nothing is sent.
void add_mpi_option(std::vector<std::string>& words) {
#ifdef PETSC_HAVE_CUDA
  const char* const ambient = std::getenv("PETSC_OPTIONS");
  if (ambient && std::strstr(ambient, "-use_gpu_aware_mpi")) return;
  // the user's options come later and win
  words.insert(words.begin() + 1, {"-use_gpu_aware_mpi", "0"});
#else
  static_cast<void>(words);
#endif
}

// At its start Open MPI looks for networks and forks a daemon that could start more processes: 0.3
// s that a single process has no use for. It makes folders in /tmp, too, which another process
// that ends at that moment may remove. While this lives, variables tell it not to, unless a
// launcher started the process or they are set already.
class StartAlone {
 public:
  StartAlone() {
    for (const char* launched : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
      if (std::getenv(launched)) return;
    for (const auto& [name, value] : {std::pair{"OMPI_MCA_ess_singleton_isolated", "1"},
                                      {"OMPI_MCA_orte_create_session_dirs", "0"},
                                      {"OMPI_MCA_pml", "ob1"},
                                      {"OMPI_MCA_btl", "self"}}) {
      if (std::getenv(name)) continue;
      setenv(name, value, 1);
      ours_.push_back(name);
    }
  }
  ~StartAlone() {
    for (const char* name : ours_) unsetenv(name);
  }
  StartAlone(const StartAlone&) = delete;

 private:
  std::vector<const char*> ours_;
};

}  // namespace

void start_petsc(const std::vector<std::string>& options) {
  PetscBool running = PETSC_FALSE, ended = PETSC_FALSE;
  PetscInitialized(&running);
  if (running) return;
  PetscFinalized(&ended);
  FMBEM_REQUIRE(!ended, "PETSc has been ended in this process and cannot be started again");

  // The program handles signals: PETSc's handlers would end it with a traceback at a closed pipe.
  std::vector<std::string> words{"fmbem", "-no_signal_handler"};
  words.insert(words.end(), options.begin(), options.end());
  add_mpi_option(words);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int count = static_cast<int>(words.size());
  char** argv = arguments.data();
  // In some versions PETSc ends the process if it cannot open a file.
  for (std::size_t k = 0; k < options.size(); ++k) {
    if (options[k] != "-options_file" && options[k] != "-options_file_yaml") continue;
    FILE* file = k + 1 < options.size() ? std::fopen(options[k + 1].c_str(), "r") : nullptr;
    FMBEM_REQUIRE(file, options[k] << ": cannot read "
                                   << (k + 1 < options.size() ? options[k + 1] : "without a name"));
    std::fclose(file);
  }
  std::error_code error;
  static_cast<void>(std::filesystem::current_path(error));
  FMBEM_REQUIRE(!error, "the working folder cannot be read, which PETSc needs ("
                            << error.message() << "): change to another one");
  const PetscErrorCode code = [&] {
    const StartAlone alone;
    return PetscInitialize(&count, &argv, nullptr, nullptr);
  }();
  if (code != PETSC_SUCCESS)
    throw InputError("PETSc could not be started (error " + std::to_string(code) +
                     "): check the PETSc options, PETSC_OPTIONS and the rc files");
  session().ours = true;
  session().given = names_given(options);
  for (const char* name : {"-log_view", "-options_view"}) check_file_of_log(name);
}

void finish_petsc() { session().finish(); }

void finish_petsc_before_gpu_memory() {
  session();
  struct Finish {
    ~Finish() { session().finish(); }
  };
  static const Finish at_exit;  // younger than the pools, so that its time comes before theirs
}

UnusedOptions unused_petsc_options() {
  UnusedOptions unused;
  if (!petsc_is_running()) return unused;
  petsc_calls([&] {
    PetscInt count = 0;
    char **names = nullptr, **values = nullptr;
    PetscCall(PetscOptionsLeftGet(nullptr, &count, &names, &values));
    for (PetscInt k = 0; k < count; ++k) {
      if (is_asked_later(names[k])) continue;
      (session().given.count(names[k]) ? unused.given : unused.ambient).emplace_back(names[k]);
    }
    PetscCall(PetscOptionsLeftRestore(nullptr, &count, &names, &values));
    return PetscErrorCode(PETSC_SUCCESS);
  });
  return unused;
}

std::string petsc_options_in_force() {
  std::string result;
  if (!petsc_is_running()) return result;
  petsc_calls([&] {
    char* all = nullptr;
    PetscCall(PetscOptionsGetAll(nullptr, &all));
    result = all;
    PetscCall(PetscFree(all));
    return PetscErrorCode(PETSC_SUCCESS);
  });
  for (const std::string own : {"-no_signal_handler ", "-use_gpu_aware_mpi 0 "})
    if (const std::size_t at = result.find(own); at != result.npos) result.erase(at, own.size());
  result.erase(result.find_last_not_of(' ') + 1);
  return result;
}

void check_petsc_values() {
  static const std::set<std::string> with_value{
      "-ksp_type",         "-ksp_max_it",           "-ksp_rtol",
      "-ksp_atol",         "-ksp_divtol",           "-ksp_pc_side",
      "-ksp_norm_type",    "-ksp_gmres_restart",    "-ksp_gcr_restart",
      "-ksp_gmres_haptol", "-ksp_lgmres_augment",   "-ksp_bcgsl_ell",
      "-ksp_guess_type",   "-ksp_convergence_test", "-ksp_richardson_scale",
      "-pc_type",          "-sub_pc_type",          "-sub_ksp_type",
      "-pc_asm_overlap",   "-pc_asm_blocks",        "-ksp_gmres_cgs_refinement_type"};
  const std::vector<std::string> words = words_of(nullptr);
  for (std::size_t k = 0; k < words.size(); ++k) {
    const bool is_alone = k + 1 == words.size() || is_option_name(words[k + 1]);
    FMBEM_REQUIRE(!is_alone || with_value.count(words[k]) == 0,
                  "the PETSc option " << words[k] << " needs a value: give it one or leave it out");
  }
}

std::string option_that_shows_the_system() {
  std::string found;
  petsc_calls([&] {
    for (const char* name :
         {"-ksp_view_mat", "-ksp_view_pmat", "-ksp_view_mat_explicit", "-ksp_view_rhs",
          "-ksp_view_solution", "-ksp_view_preconditioned_operator_explicit",
          "-ksp_view_diagonal_scale", "-ksp_monitor_solution", "-ksp_plot_eigenvalues",
          "-ksp_plot_eigenvalues_explicitly", "-ksp_plot_eigencontours",
          "-ksp_dgmres_view_deflation_vecs"}) {
      PetscBool is_there = PETSC_FALSE;
      PetscCall(PetscOptionsHasName(nullptr, nullptr, name, &is_there));
      if (is_there && found.empty()) found = name + 1;
    }
    return PetscErrorCode(PETSC_SUCCESS);
  });
  return found;
}

void print_petsc_help() {
  petsc_calls([] {
    // An identity matrix: the options of a Krylov solver do not depend on the system.
    Mat identity;
    KSP ksp;
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 1, 1, 1, nullptr, &identity));
    PetscCall(MatSetValue(identity, 0, 0, 1.0, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(identity, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(identity, MAT_FINAL_ASSEMBLY));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, identity, identity));
    PetscCall(KSPSetType(ksp, KSPGMRES));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&identity));
    return PetscErrorCode(PETSC_SUCCESS);
  });
}

int mpi_ranks() {
  int ranks = 1;
  if (petsc_is_running()) MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  return ranks;
}

int mpi_rank() {
  int rank = 0;
  if (petsc_is_running()) MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  return rank;
}

std::string petsc_version() {
  PetscInt major = 0, minor = 0, subminor = 0;
  PetscGetVersionNumber(&major, &minor, &subminor, nullptr);
  std::string version =
      std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(subminor);
#ifdef PETSC_HAVE_CUDA
  version += " + CUDA";
#endif
  return version;
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text, static_cast<std::size_t>(length));
  return version.substr(0, version.find_first_of(",\n"));
}

}  // namespace fmbem
