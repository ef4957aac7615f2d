#include "fmbem/fmm/base/ranks.hpp"

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

class OneRank final : public Ranks {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void sum(std::span<double>) const override {}
  void sum(std::span<std::int64_t>) const override {}
  void max(std::span<double>) const override {}
  void max(std::span<std::int64_t>) const override {}
};

}  // namespace

const Ranks& one_rank() {
  static const OneRank ranks;
  return ranks;
}

void require_one_rank(const Ranks& ranks, const char* what) {
  FMBEM_REQUIRE(ranks.size() == 1, what << " runs on one rank for now, not on " << ranks.size()
                                        << ": start it without mpirun");
}

}  // namespace fmbem
