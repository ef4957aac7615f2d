#include "fmbem/solvers/fiber.hpp"

#include <cstddef>
#include <utility>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"

// Sanitizers, GCC's and clang's, have to be told which stack is in use.
#ifdef __SANITIZE_ADDRESS__
#define FMBEM_FIBER_ASAN
#endif
#ifdef __SANITIZE_THREAD__
#define FMBEM_FIBER_TSAN
#endif
#ifdef __has_feature
#if __has_feature(address_sanitizer) && !defined(FMBEM_FIBER_ASAN)
#define FMBEM_FIBER_ASAN
#endif
#if __has_feature(thread_sanitizer) && !defined(FMBEM_FIBER_TSAN)
#define FMBEM_FIBER_TSAN
#endif
#endif
#ifdef FMBEM_FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FMBEM_FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace fmbem {
namespace {

/// Memory for a stack, as large as threads' usually are, of which only what is used is taken. The
/// page below it is out of bounds, so that a stack that is too deep ends the program there.
class Stack {
 public:
  Stack() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* const all = mmap(nullptr, page_ + size(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (all == MAP_FAILED) throw ResourceError("there is no memory for the stack of a solve");
    begin_ = static_cast<char*>(all);
    mprotect(begin_, page_, PROT_NONE);
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  ~Stack() { munmap(begin_, page_ + size()); }
  char* data() const { return begin_ + page_; }
  static constexpr std::size_t size() { return std::size_t{8} << 20; }

 private:
  std::size_t page_;
  char* begin_;
};

/// A place where the thread's work goes on, and what sanitizers know of its stack.
struct Place {
  ucontext_t context{};
#ifdef FMBEM_FIBER_ASAN
  const void* stack = nullptr;
  std::size_t size = 0;
#endif
#ifdef FMBEM_FIBER_TSAN
  void* fiber = nullptr;
#endif
};

/// Goes from one place to another, and returns when the first is come back to from there.
/// `is_last`: nobody will come back.
void go([[maybe_unused]] Place& from, Place& to, [[maybe_unused]] bool is_last = false) {
#ifdef FMBEM_FIBER_ASAN
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(is_last ? nullptr : &fake, to.stack, to.size);
#endif
#ifdef FMBEM_FIBER_TSAN
  from.fiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.fiber, 0);
#endif
  swapcontext(&from.context, &to.context);
#ifdef FMBEM_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fake, &to.stack, &to.size);
#endif
}

}  // namespace

struct Fiber::State {
  std::function<void()> body;
  Stack stack{};
  Place own{}, caller{};
  bool has_ended = false;

#ifdef FMBEM_FIBER_TSAN
  ~State() { __tsan_destroy_fiber(own.fiber); }
#endif

  /// Whose body begins: makecontext() hands on nothing of a pointer's size.
  static inline thread_local State* entered = nullptr;
  static void enter() {
    State& self = *entered;
#ifdef FMBEM_FIBER_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &self.caller.stack, &self.caller.size);
#endif
    self.body();
    self.has_ended = true;
    go(self.own, self.caller, true);
  }
};

Fiber::Fiber(std::function<void()> body) : state_(new State{std::move(body)}) {
  ucontext_t& context = state_->own.context;
  getcontext(&context);
  context.uc_stack.ss_sp = state_->stack.data();
  context.uc_stack.ss_size = Stack::size();
  context.uc_link = nullptr;
  makecontext(&context, State::enter, 0);
#ifdef FMBEM_FIBER_ASAN
  state_->own.stack = state_->stack.data();
  state_->own.size = Stack::size();
#endif
#ifdef FMBEM_FIBER_TSAN
  state_->own.fiber = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() = default;

void Fiber::resume() {
  State::entered = state_.get();
  go(state_->caller, state_->own);
}
void Fiber::pause() { go(state_->own, state_->caller); }
bool Fiber::has_ended() const { return state_->has_ended; }

}  // namespace fmbem
