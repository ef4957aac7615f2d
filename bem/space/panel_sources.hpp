#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/layer/layer.hpp"
#include "fmbem/bem/near/far_rules.hpp"
#include "fmbem/bem/space/panel_pieces.hpp"
#include "fmbem/bem/space/stack.hpp"
#include "fmbem/fmm/functionals.hpp"

namespace fmbem {

/// Panels with a constant density each, or pieces of them, as sources of the FMM.
class PanelSources final : public fmm::Functionals {
 public:
  /// What strengths count: the density alone or, with Trace::normal, one of charges and one of
  /// dipoles (Functionals::strengths).
  enum class Strengths { density, charge_and_dipole };

  /// `tolerance`: relative error of a source's far field. The panels must outlive it. Without
  /// pieces each panel is a source. `trace`: of the kernel at the panels; the normal one is for
  /// whole panels only, and so is Yukawa's kernel, of κ > 0.
  PanelSources(std::span<const Triangle> panels, std::shared_ptr<const PanelPieces> pieces,
               double tolerance, Trace trace = Trace::value, double kappa = 0,
               Strengths strengths = Strengths::density)
      : panels_(panels),
        pieces_(std::move(pieces)),
        trace_(trace),
        kappa_(kappa),
        strengths_(strengths),
        tolerance_(tolerance),
        points_(tolerance),
        rules_(far_rules(tolerance,
                         trace == Trace::value ? FarKernel::potential : FarKernel::gradient)) {}

  std::size_t size() const override { return pieces_ ? pieces_->size() : panels_.size(); }
  std::size_t unknowns() const override { return panels_.size(); }
  std::size_t unknown(std::size_t j) const override { return pieces_ ? pieces_->panel(j) : j; }
  int strengths() const override { return strengths_ == Strengths::density ? 1 : 2; }
  double area(std::size_t j) const;
  Vec3d centre(std::size_t j) const override;
  /// From the centre of a piece to its end; 0 for whole panels.
  Vec3d half(std::size_t j) const;
  void bounds(std::size_t j, Vec3d& low, Vec3d& high) const override;
  /// The points of the rule that is accurate from a side of the box on.
  void quadrature(std::size_t j, double side, fmm::WeightedPoints& points) const override;
  /// Of stacks.
  bool share_parts(std::span<const std::int32_t> sources, double side,
                   fmm::SharedParts& shared) const override;

 private:
  bool is_piece(std::size_t j) const { return pieces_ && pieces_->is_cut(pieces_->panel(j)); }
  StripPiece piece(std::size_t j) const;
  const TriangleRule& rule_for(const Triangle& t, double side) const;
  void piece_quadrature(const StripPiece& piece, double side, fmm::WeightedPoints& points) const;

  std::span<const Triangle> panels_;
  std::shared_ptr<const PanelPieces> pieces_;  ///< or null
  Trace trace_;
  double kappa_;
  Strengths strengths_;
  double tolerance_;
  StripPoints points_;
  std::vector<FarRule> rules_;
};

}  // namespace fmbem
