#pragma once

#include <functional>
#include <optional>

#include "fmbem/cuda/choose.cuh"
#include "fmbem/cuda/evaluation.cuh"
#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/cuda/treecode.cuh"
#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/expansion/parity_order.hpp"

namespace fmbem::cuda {

inline std::int64_t count(const DevicePoints& points) {
  return static_cast<std::int64_t>(points.size);
}

/// The points of a plan on their way to a tree.
struct PointsToPlan {
  DevicePoints sources, targets;
  double scale = 1;  ///< as of PlanTree

  bool same() const { return sources.data == targets.data && sources.size == targets.size; }
  bool more_targets() const { return targets.size > sources.size; }
  const DevicePoints& more() const { return more_targets() ? targets : sources; }
};

/// What an evaluation computes in.
struct Arithmetic {
  Precision expansions = Precision::double_precision, near = Precision::double_precision;
  int root_terms = 1;  ///< as of p2p()
  int order = 0;

  bool operator==(const Arithmetic&) const = default;
};

struct FmmPlan::Impl {
  fmm::PlanOptions options;
  std::size_t sources = 0, targets = 0;
  fmm::ParityOrder order{0};
  Arithmetic arithmetic;
  fmm::TreeChoice choice;
  double hull_side = 0;     ///< of the points' bounding cube
  fmm::Cloud seen;          ///< what orders across gaps take of the first points
  double nearest = 0;       ///< pair, where that matters (fmm/choice/apart.hpp)
  bool on_lattice = false;  ///< as fmm::Cloud, of the points as they are now
  bool third_law = false;   ///< whether the near field is summed by it
  fmm::Seconds plan_seconds;
  Stream stream{true};
  std::optional<cudaStream_t> callers;  ///< in whose order work is to be
  PlanTree tree;
  DeviceBuffer<std::uint8_t> one_place;  ///< as of make_near_lists()
  bool histogram_serves = true;          ///< as far as is known
  int cell_level = 0;                    ///< of the last histogram, where there was one
  bool leaves_serve = true;              ///< to sort points that move by, as far as is known
  Arithmetic evaluates_in;  ///< of the evaluation, which stays as it is where a move fails
  std::unique_ptr<Evaluation> evaluation;  ///< null after a move for which memory did not suffice
  /// Strengths and results in double precision, of those in single precision.
  DeviceBuffer<double> charges, potential;
  DeviceBuffer<Vec3d> dipoles, gradient;
  DeviceBuffer<Symmetric3d> hessian;

  Impl(const fmm::PlanOptions& asked, std::optional<cudaStream_t> callers_stream);
  /// Operators that other plans share must not be freed in the order of this plan's stream.
  ~Impl() { cudaStreamSynchronize(stream); }

  /// Puts the plan where the points are, with the choices that it has, or makes them first.
  void place(DevicePoints from, DevicePoints to);
  void move(DevicePoints from, DevicePoints to);

  fmm::PlanInfo info() const;
  std::int64_t bytes() const;

  /// Orders work in the plan's stream as if it were in the caller's, if there is one.
  template <class Work>
  void in_callers_stream(Work&& work) const {
    if (!callers) return work();
    const Event before, after;
    FMBEM_CUDA(cudaEventRecord(before, *callers));
    FMBEM_CUDA(cudaStreamWaitEvent(stream, before));
    const auto order_callers = [&] {
      FMBEM_CUDA(cudaEventRecord(after, stream));
      FMBEM_CUDA(cudaStreamWaitEvent(*callers, after));
    };
    try {
      work();
    } catch (...) {
      order_callers();  // after what was enqueued before it
      throw;
    }
    order_callers();
  }

 private:
  using StageDone = std::function<void(const char* stage)>;
  struct Grown {
    PlanTree tree;
    DeviceBuffer<std::uint8_t> one_place;
    PlanPoints points;
  };

  SortedKeys choose(const PointsToPlan& points, const Hull& hull, const DeviceRates& rates,
                    fmm::Cloud cloud);
  int wanted_order(bool same, const fmm::Cloud& cloud, double inflation) const;
  void raise_order(int wanted, bool has_far_field);
  void raise_order_on(int levels, const Cube& root, const PointsToPlan& points);
  void sum_directly(const PointsToPlan& points, const Cube& root, const StageDone& stage_done);
  Grown grow_tree(const PointsToPlan& points, const Cube& root, SortedKeys keys, bool counts,
                  const StageDone& stage_done);
  bool resort(const PointsToPlan& points, const PlanOrder& before, double scale, const Cube& root,
              PlanPoints& gathered, SortedKeys& sources_to, SortedKeys& targets_to);
  void grow_deep_tree(const Cube& root, Grown& grown) const;
  Grown grow_hybrid_tree(const PointsToPlan& points, const Cube& root, const StageDone& stage_done);
  void weigh_third_law(std::int64_t near_pairs, std::int64_t items);
  DeviceBuffer<std::uint8_t> one_places(const Grown& grown) const;
  void refuse_crowded_boxes(const Grown& grown) const;
  void make_evaluation_on(PlanPoints points);
  SortedKeys sort(const DevicePoints& points, double scale, const Cube& root) const;

  /// Of points whose hull has that side.
  Arithmetic arithmetic_for(const DeviceRates& rates, bool same, double side) const;
  /// In the unit of a tree, with lengths so many times the caller's.
  PlanKernel kernel(double scale) const;
  bool sums_laplace_directly() const {
    return options.method == fmm::Method::direct && options.kappa == 0;
  }
  bool is_treecode() const { return options.method == fmm::Method::treecode; }
  bool is_hybrid() const { return options.method == fmm::Method::hybrid; }
  /// Whether expansions do, and points on expansions.
  bool acts_on_points() const { return is_treecode() || is_hybrid(); }
  bool by_histogram() const { return options.construction == fmm::Construction::histogram; }
  bool moves_by_histogram() const;
  int targets_of_a_warp() const;
  double first_inflation() const;
  fmm::HybridCosts hybrid_costs() const;
  TreecodePairs treecode_pairs(const PlanTree& of, const std::uint8_t* places) const;
  double theta() const;
  TreecodeOptions treecode_options() const;
  fmm::PlanInfo direct_info() const;
};

}  // namespace fmbem::cuda
