// Reads any number of files that are nearly valid: mutations and truncations of a valid one of each
// format and variant. None may crash fmbem, or hang it.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/load_here.hpp"
#include "fmbem/meshes/pqr_file.hpp"
#include "fmbem/meshes/text.hpp"
#include "tests/fuzz/corpus.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"

using namespace fmbem;

namespace {

/// Changes a file in one to four places.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string operator()(std::string bytes) {
    for (std::size_t n = 1 + below(4); n > 0 && !bytes.empty(); --n) change(bytes);
    return bytes;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  void change(std::string& bytes) {
    const std::size_t at = below(bytes.size()), length = 1 + below(1 + bytes.size() / 8);
    switch (below(7)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8));
        return;
      case 1:
        bytes[at] = static_cast<char>(random_());
        return;
      case 2:
        bytes.resize(at);
        return;
      case 3:
        bytes.erase(at, length);
        return;
      case 4:
        bytes.insert(at, bytes.substr(below(bytes.size()), length));
        return;
      case 5: {  // a number, as binary formats have them
        const std::int32_t numbers[] = {-1, 0, 1, 0x7fffffff, 0x10000, 4};
        bytes.replace(at, 4, reinterpret_cast<const char*>(&numbers[below(6)]), 4);
        return;
      }
      default:
        replace_word(bytes, at);
    }
  }

  /// A word of a text.
  void replace_word(std::string& bytes, std::size_t at) {
    static const std::string words[] = {"nan", "-1", "inf", "1e400", "99999999999",
                                        "0",   "",   "4",   "x"};
    const std::string white = " \t\r\n,";
    const std::size_t begin = bytes.find_first_not_of(white, at);
    if (begin == bytes.npos) return;
    const std::size_t end = std::min(bytes.find_first_of(white, begin), bytes.size());
    bytes.replace(begin, std::min(end - begin, std::size_t{64}), words[below(std::size(words))]);
  }

  std::mt19937_64 random_;
};

bool is_geometry(const std::string& name) {
  const std::string e = ending(name);
  return e == "step" || e == "brep" || e == "iges";
}

/// What happened to a file: read, refused, or worse.
std::string outcome(const std::string& file, bool here) try {
  if (ending(file) == "pqr") return read_pqr(file).atoms.empty() ? "FAILED" : "read";
  LoadOptions options;
  if (is_geometry(file)) options.mesh_size = 1;
  here ? load_mesh_levels_here(file, options, options.refine).back() : load_mesh(file, options);
  return "read";
} catch (const InputError& e) {
  const std::string sentence = e.what();
  return sentence.find(" crashed") != sentence.npos         ? "refused after a crash"
         : sentence.find("came to no end") != sentence.npos ? "refused without end"
                                                            : "refused";
} catch (const ResourceError&) {
  return "too large";
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s: %s\n", file.c_str(), e.what());
  return "FAILED";
}

/// The same in a copy of this process, with a limit of a few seconds, as the files are small. This
/// saves starting fmbem-reader and loading its libraries for each file.
std::string outcome_by_fork(const std::string& file) {
  const std::string outcomes[] = {"read", "refused", "too large", "FAILED"};
  constexpr int first_code = 100;  // no code by which a library ends a process
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    for (std::FILE* output : {stdout, stderr})
      if (!std::freopen("/dev/null", "w", output)) _exit(first_code + 3);
    alarm(1800);  // for what waits; what computes ends by the limit below, on a busy machine too
    const rlimit of_processor{.rlim_cur = 3, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_CPU, &of_processor);
    const std::string found = outcome(file, true);
    _exit(first_code + static_cast<int>(std::find(outcomes, outcomes + 3, found) - outcomes));
  }
  int status = 0;
  waitpid(child, &status, 0);
  const bool is_own = file.ends_with(".pqr");  // is read without any other library
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return "HUNG";
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return is_own ? "HUNG" : "refused without end";
  const int found = WIFEXITED(status) ? WEXITSTATUS(status) - first_code : -1;
  if (found >= 0 && found <= 3) return outcomes[found];
  return is_own ? "FAILED" : "refused after a crash";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Reads many damaged files of all formats");
  std::size_t inputs = 1000, first = 0;
  bool forks = false;
  std::string folder_of_corpus, only, keep;
  app.add_option("--inputs", inputs, "how many files");
  app.add_option("--first", first, "number of the first; a number always gives the same file");
  app.add_flag("--fork", forks, "read in copies of this process: faster, without fmbem-reader");
  app.add_option("--only", only, "an ending, such as .step");
  app.add_option("--keep", keep, "a folder for files that are not simply read or refused");
  app.add_option("--write-valid", folder_of_corpus, "write the valid files into a folder, and end");
  CLI11_PARSE(app, argc, argv);

  for (const std::string& folder : {folder_of_corpus, keep}) {
    std::error_code trouble;
    if (!folder.empty()) std::filesystem::create_directories(folder, trouble);
    if (!trouble) continue;
    std::fprintf(stderr, "fmbem-fuzz: cannot make the folder %s: %s\n", folder.c_str(),
                 trouble.message().c_str());
    return 2;
  }
  std::vector<fuzz::File> files = fuzz::corpus();
  std::erase_if(files, [&](const fuzz::File& file) { return !file.name.ends_with(only); });
  if (!folder_of_corpus.empty()) {
    for (const fuzz::File& file : files)
      std::ofstream(folder_of_corpus + "/" + file.name, std::ios::binary) << file.bytes;
    return 0;
  }
  for (fuzz::File& file : fuzz::molecules())
    if (file.name.ends_with(only)) files.push_back(std::move(file));
  const TemporaryFolder folder;
  std::map<std::string, std::map<std::string, std::size_t>> counts;
  bool failed = false;
  for (std::size_t i = first; i < first + inputs; ++i) {
    const fuzz::File& file = files[i % files.size()];
    const std::string path = folder.write(file.name, Mutator(i)(file.bytes));
    if (const fuzz::File half = fuzz::other_half(file.name); !half.name.empty())
      folder.write(half.name, half.bytes);
    const std::string found = forks ? outcome_by_fork(path) : outcome(path, false);
    ++counts[file.name][found];
    if (!keep.empty() && found != "read" && found != "refused")
      std::filesystem::copy_file(path, keep + "/" + std::to_string(i) + "-" + file.name,
                                 std::filesystem::copy_options::overwrite_existing);
    if (found != "HUNG" && found != "FAILED") continue;
    failed = true;
    std::printf("%zu (%s): %s\n", i, file.name.c_str(), found.c_str());
  }
  for (const auto& [name, outcomes] : counts) {
    std::printf("%-16s", name.c_str());
    for (const auto& [found, n] : outcomes) std::printf("  %zu %s", n, found.c_str());
    std::printf("\n");
  }
  return failed ? 1 : 0;
}
