#include "fmbem/meshes/child_request.hpp"

#include <csignal>
#include <cstdio>
#include <new>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

ParcelWriter answer_to(const ChildTask& task) {
  const auto refusal = [](ExitCode code, const std::string& sentence) {
    ParcelWriter answer;
    answer.put(code);
    answer.put(sentence);
    return answer;
  };
  try {
    ParcelWriter answer;
    answer.put(ExitCode::solved);
    task.run(answer);
    return answer;
  } catch (const Error& e) {
    return refusal(e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return refusal(ExitCode::out_of_resource, "not enough memory to " + task.what);
  } catch (const std::exception& e) {
    return refusal(ExitCode::internal_error,
                   "internal error: cannot " + task.what + ": " + e.what());
  }
}

}  // namespace

void ask_child(const ChildProgram& program, const ParcelWriter& request,
               const std::vector<HandedFile>& files, const std::function<void(int status)>& explain,
               const std::function<void(ParcelReader& answer)>& take) {
  MemoryFile memory;
  ParcelWriter parent;
  parent.put(getpid());
  memory.write(parent.bytes() + request.bytes());
  std::vector<HandedFile> handed = files;
  handed.push_back({memory.number(), request_file});
  const std::string path = find_own_program(program.name, program.variable, program.purpose);
  const int status = wait_for(start_silently(path, handed, program.task));
  const std::span<const char> bytes = memory.read();
  // A process that was killed may have written part of an answer.
  if (status != 0 || bytes.empty()) explain(status);
  ParcelReader answer(bytes);
  const auto code = answer.got<ExitCode>();
  if (code == ExitCode::solved) return take(answer);
  const auto sentence = answer.got<std::string>();
  if (code == ExitCode::bad_input) throw InputError(sentence);
  if (code == ExitCode::out_of_resource) throw ResourceError(sentence);
  throw Error(code, sentence);
}

int answer_as_child(const std::string& name, const std::string& task,
                    const std::function<ChildTask(ParcelReader& request)>& read_request) {
  if (fcntl(request_file, F_GETFD) < 0) {
    std::fprintf(stderr, "%s: fmbem starts this program %s; it has no use by itself\n",
                 name.c_str(), task.c_str());
    return 2;
  }
  const rlimit no_core{};  // a library that crashes is no news here
  setrlimit(RLIMIT_CORE, &no_core);
  MemoryFile memory(request_file);
  ParcelReader request(memory.read());
  const auto parent = request.got<pid_t>();
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // an interrupt of the program ends this process too
  if (getppid() == parent) {
    const ChildTask todo = read_request(request);
    memory.write("");  // no answer yet
    memory.write(answer_to(todo).bytes());
  }
  _exit(0);
}

}  // namespace fmbem
