#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fmbem/meshes/child_process.hpp"
#include "fmbem/meshes/memory_file.hpp"
#include "fmbem/meshes/parcel.hpp"

namespace fmbem {

// How fmbem asks a program of its own for something, and how that program answers: a request goes
// into a memory file, which both map, and the answer takes its place.

/// One of fmbem's own programs.
struct ChildProgram {
  std::string name;      ///< fmbem-reader
  const char* variable;  ///< of the environment, with its path
  std::string purpose;   ///< the program that reads files
  std::string task;      ///< to read a file
};

/// Starts the program with a request, and hands its answer to `take`. Throws the errors that the
/// program has answered with; where it ended without an answer, `explain` throws for its status.
void ask_child(const ChildProgram& program, const ParcelWriter& request,
               const std::vector<HandedFile>& files, const std::function<void(int status)>& explain,
               const std::function<void(ParcelReader& answer)>& take);

/// What is to be done for a request, once that is read.
using ChildTask = std::function<void(ParcelWriter& answer)>;

/// Reads a request. Sets `what` for errors, such as "read cube.geo", before it takes what is large.
using RequestReader = std::function<ChildTask(ParcelReader& request, std::string& what)>;

/// Starts the threads that parallel regions have from now on. libgomp ends the process where one
/// cannot start, and so does this, with no_room_for_threads, while nobody else could have ended it.
void start_threads(int count);

/// The main() of such a program: reads the request, does it and answers, with the error where there
/// is one. Ends the process without destructors of libraries, which could crash after a bad file.
/// Returns 2, with a sentence, where nobody has asked for anything; `what` is such as "draw".
int answer_as_child(const std::string& name, std::string what, const RequestReader& read_request);

}  // namespace fmbem
