#pragma once

#include <array>

namespace fmbem::fmm {

/// How the sums over all sources are done.
enum class Method {
  /// Whichever of the others evaluates in the least time, as the cost model foresees. Where leaves
  /// are given it may be a hybrid, whose plans and moves on a GPU take the host's time for sorting.
  automatic,
  direct,    ///< pair by pair; O(N²)
  treecode,  ///< multipole expansions act on points; O(N log N) (Barnes and Hut 1986)
  fmm,       ///< they act on local expansions; O(N) (Greengard and Rokhlin 1987)
  hybrid     ///< each pair of boxes by what is fastest (Yokota and Barba 2012)
};

/// What expansions are sums of where they act on points (M2P); the series is the same.
enum class Expansion {
  spherical,  ///< solid harmonics
  cartesian   ///< monomials, for orders up to 6, of Laplace's kernel
};

/// How points get into the order of a tree, and boxes find their points; the tree is the same, to
/// the last bit.
enum class Construction {
  radix_sort,  ///< keys are sorted, and searched for
  histogram    ///< points are counted in cells, and looked up (Hu, Gumerov and Duraiswami)
};

/// Whether the GPU sums each pair of leaves once, for both (Newton's third law), where the sources
/// are the targets and have no dipoles; the CPU always does there.
enum class ThirdLaw {
  automatic,  ///< where it has been measured to be faster
  never,
  always  ///< refused where it does not apply
};

/// A method by the name that options and reports give it.
struct MethodName {
  const char* name;
  Method method;
};
inline constexpr std::array<MethodName, 5> method_names{{{"automatic", Method::automatic},
                                                         {"direct", Method::direct},
                                                         {"treecode", Method::treecode},
                                                         {"fmm", Method::fmm},
                                                         {"hybrid", Method::hybrid}}};

constexpr const char* name_of(Method method) {
  for (const MethodName& known : method_names)
    if (known.method == method) return known.name;
  return "";
}

}  // namespace fmbem::fmm
