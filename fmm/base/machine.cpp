#include "fmbem/fmm/base/machine.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <omp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

// First number in a file of one line; nothing for a missing file or the word "max".
bool read_number(const char* path, std::int64_t& value) {
  std::ifstream file(path);
  return static_cast<bool>(file >> value);
}

int cores_of_control_group() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || period <= 0) return std::numeric_limits<int>::max();
  return std::max(1, static_cast<int>(quota / period));
}

/// Files in the page cache, which the kernel drops when memory is needed.
std::int64_t reclaimable_of_control_group() {
  std::ifstream file("/sys/fs/cgroup/memory.stat");
  std::string word;
  std::int64_t bytes = 0;
  while (file >> word)
    if (word == "inactive_file") file >> bytes;
  return bytes;
}

std::int64_t memory_of_control_group() {
  std::int64_t limit = 0, used = 0;
  if (!read_number("/sys/fs/cgroup/memory.max", limit) ||
      !read_number("/sys/fs/cgroup/memory.current", used))
    return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>(0, limit - used + reclaimable_of_control_group());
}

constexpr int most_threads = 4096;

// OpenBLAS's own functions are looked up at run time: other implementations do not have them.
void* symbol(const char* name) { return dlsym(RTLD_DEFAULT, name); }
void set_blas_threads(int threads) {
  using SetThreads = void (*)(int);
  if (auto set = reinterpret_cast<SetThreads>(symbol("openblas_set_num_threads"))) set(threads);
}

/// Of OpenBLAS such as "OpenBLAS 0.3.21 DYNAMIC_ARCH Zen MAX_THREADS=64"; "" of others.
std::string openblas_config() {
  using GetConfig = const char* (*)();
  const auto get = reinterpret_cast<GetConfig>(symbol("openblas_get_config"));
  return get ? get() : "";
}

/// How many threads may call it at the same time: each takes one of its buffers, and one is taken.
int threads_of_blas() {
  const std::string config = openblas_config(), word = "MAX_THREADS=";
  const std::size_t at = config.find(word);
  const int built_for = at == config.npos ? 0 : std::atoi(config.c_str() + at + word.size());
  return built_for > 0 ? 2 * built_for - 1 : most_threads;
}

}  // namespace

int default_threads() { return std::min(available_cores(), threads_of_blas()); }

int available_cores() {
  if (std::getenv("OMP_NUM_THREADS")) return omp_get_max_threads();
  return std::min(omp_get_num_procs(), cores_of_control_group());
}

void set_threads(int threads) {
  FMBEM_REQUIRE(
      threads >= 1 && threads <= most_threads,
      "the number of threads must be between 1 and " << most_threads << ", not " << threads);
  FMBEM_REQUIRE(threads <= threads_of_blas(), "OpenBLAS as it is built here serves "
                                                  << threads_of_blas() << " threads, not "
                                                  << threads << ": give no more");
  omp_set_num_threads(threads);
  set_blas_threads(1);
}

namespace {

/// OpenBLAS takes a buffer for each call at the same time, and keeps it. Where there is no address
/// space for one it tries again for ever, so the space is checked before the first calls, and
/// buffers are taken for all threads.
void require_room_for_blas_buffers() {
  constexpr std::size_t buffer = std::size_t{129} << 20;
  static std::atomic<int> threads_with_room{0};
  const int threads = omp_get_max_threads();
  if (threads <= threads_with_room) return;
  std::vector<void*> rooms;
  for (int k = 0; k < threads; ++k) {
    void* const room =
        mmap(nullptr, buffer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room != MAP_FAILED) rooms.push_back(room);
  }
  for (void* const room : rooms) munmap(room, buffer);
  if (rooms.size() < static_cast<std::size_t>(threads))
    throw ResourceError("out of address space: the BLAS takes 129 MiB for each of " +
                        std::to_string(threads) +
                        " threads; raise the limit, ulimit -v, or use fewer threads");
  using Take = void* (*)(int);
  using Return = void (*)(void*);
  const auto take = reinterpret_cast<Take>(symbol("blas_memory_alloc"));
  const auto give_back = reinterpret_cast<Return>(symbol("blas_memory_free"));
  if (take && give_back) {
    for (void*& room : rooms) room = take(0);
    for (void* const room : rooms) give_back(room);
  }
  threads_with_room = threads;
}

/// OpenBLAS has one number of threads for all that call it.
struct BlasThreads {
  std::mutex mutex;
  int users = 0, before = 0;
};
BlasThreads& blas_threads() {
  static BlasThreads threads;
  return threads;
}

}  // namespace

OneBlasThread::OneBlasThread() {
  using GetThreads = int (*)();
  const auto get = reinterpret_cast<GetThreads>(symbol("openblas_get_num_threads"));
  if (get) require_room_for_blas_buffers();
  BlasThreads& threads = blas_threads();
  const std::lock_guard lock(threads.mutex);
  if (threads.users++ > 0 || !get) return;
  threads.before = get();
  if (threads.before > 1) set_blas_threads(1);
}
OneBlasThread::~OneBlasThread() {
  BlasThreads& threads = blas_threads();
  const std::lock_guard lock(threads.mutex);
  if (--threads.users == 0 && threads.before > 1) set_blas_threads(threads.before);
}

std::int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
  while (file >> word) {
    std::int64_t kib = 0;
    if (word == "MemAvailable:" && file >> kib) bytes = kib * 1024;
  }
  return std::min(bytes, memory_of_control_group());
}

std::int64_t total_memory() {
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * std::int64_t{sysconf(_SC_PAGESIZE)};
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const std::size_t colon = line.find(": ");
        line.starts_with("model name") && colon != line.npos)
      return line.substr(colon + 2);
  return "";
}

std::string blas_name() {
  const std::string config = openblas_config();
  if (config.empty()) return "unknown";
  return config.substr(0, config.find(' ', config.find(' ') + 1));
}

std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace fmbem
