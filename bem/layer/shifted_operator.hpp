#pragma once

#include <memory>

#include "fmbem/bem/layer/boundary_operator.hpp"

namespace fmbem {

/// γ + β A of an operator A, as second-kind equations have it: ½ − K. Its errors are those of A
/// times |β|. On the CPU alone: throws InputError for an operator on a GPU.
std::shared_ptr<BoundaryOperator> make_shifted_operator(std::shared_ptr<const BoundaryOperator> a,
                                                        double gamma, double beta);

}  // namespace fmbem
