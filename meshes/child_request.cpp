#include "fmbem/meshes/child_request.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include <fcntl.h>
#include <omp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// Reads a request, does it and answers.
ParcelWriter answer_to(MemoryFile& memory, const RequestReader& read_request, std::string& what) {
  ParcelReader request(memory.read());
  // An orphan has nothing to do.
  if (request.got<pid_t>() != getppid()) _exit(0);
  const ChildTask run = read_request(request, what);
  memory.write("");  // no answer yet
  ParcelWriter answer;
  answer.put(ExitCode::solved);
  run(answer);
  return answer;
}

void answer(MemoryFile& memory, const RequestReader& read_request, std::string what) {
  const auto refuse = [&](ExitCode code, const std::string& sentence) {
    ParcelWriter refusal;
    refusal.put(code);
    refusal.put(sentence);
    memory.write(refusal.bytes());
  };
  try {
    memory.write(answer_to(memory, read_request, what).bytes());
  } catch (const Error& e) {
    refuse(e.code(), e.what());
  } catch (const std::bad_alloc&) {
    refuse(ExitCode::out_of_resource, "not enough memory to " + what);
  } catch (const std::exception& e) {
    refuse(ExitCode::internal_error, "internal error: cannot " + what + ": " + e.what());
  }
}

bool threads_start = false;

extern "C" void end_without_threads(int, void*) {
  if (threads_start) _exit(no_room_for_threads);
}

}  // namespace

void start_threads(int count) {
  omp_set_num_threads(count);
  on_exit(end_without_threads, nullptr);
  threads_start = true;
  std::atomic<int> started = 0;  // a region without effects would be left out
#pragma omp parallel
  ++started;
  threads_start = false;
}

void ask_child(const ChildProgram& program, const ParcelWriter& request,
               const std::vector<HandedFile>& files, const std::function<void(int status)>& explain,
               const std::function<void(ParcelReader& answer)>& take) {
  MemoryFile memory;
  ParcelWriter parent;
  parent.put(getpid());
  const std::string asked = parent.bytes() + request.bytes();
  memory.write(asked);
  std::vector<HandedFile> handed = files;
  handed.push_back({memory.number(), request_file});
  const std::string path = find_own_program(program.name, program.variable, program.purpose);
  const int status = wait_for(start_silently(path, handed, program.task));
  const std::span<const char> bytes = memory.read();
  // A process that was killed may have written part of an answer.
  const bool has_answered = !bytes.empty() && !std::ranges::equal(bytes, asked);
  if (status != 0 || !has_answered) explain(status);
  ParcelReader answer(bytes);
  const auto code = answer.got<ExitCode>();
  if (code == ExitCode::solved) return take(answer);
  const auto sentence = answer.got<std::string>();
  if (code == ExitCode::bad_input) throw InputError(sentence);
  if (code == ExitCode::out_of_resource) throw ResourceError(sentence);
  throw Error(code, sentence);
}

int answer_as_child(const std::string& name, std::string what, const RequestReader& read_request) {
  if (fcntl(request_file, F_GETFD) < 0) {
    std::fprintf(stderr, "%s: fmbem starts this program to %s; it has no use by itself\n",
                 name.c_str(), what.c_str());
    return 2;
  }
  const rlimit no_core{};  // a library that crashes is no news here
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // an interrupt of the program ends this process too
  MemoryFile memory(request_file);
  answer(memory, read_request, std::move(what));
  _exit(0);
}

}  // namespace fmbem
