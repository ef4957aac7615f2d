#include "fmbem/bem/precond/panel_surfaces.hpp"

#include <map>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

PanelSurfaces::PanelSurfaces(std::span<const int> inside, std::span<const int> outside)
    : panel(inside.size()), begin{0} {
  FMBEM_REQUIRE(outside.size() == inside.size(), "there are " << inside.size()
                                                              << " panels' backs and "
                                                              << outside.size() << " fronts");
  const auto n = static_cast<std::int32_t>(panel.size());
  bool is_one = n > 0;
#pragma omp parallel for schedule(static) reduction(&& : is_one)
  for (std::int32_t i = 0; i < n; ++i) {
    is_one = is_one && inside[i] == inside[0] && outside[i] == outside[0];
    panel[i] = i;
  }
  if (is_one) {
    sides = {{inside[0], outside[0]}};
    begin.push_back(n);
    return;
  }
  // Calls body(sides, first, last) for panels of one surface in a row.
  const auto for_runs = [&](auto&& body) {
    for (std::int32_t first = 0, last = 0; first < n; first = last) {
      const Sides own{inside[first], outside[first]};
      while (last < n && Sides{inside[last], outside[last]} == own) ++last;
      body(own, first, last);
    }
  };
  struct Place {
    std::int32_t surface = 0, next = 0;
  };
  std::map<Sides, Place> places;
  for_runs([&](const Sides& own, std::int32_t first, std::int32_t last) {
    places[own].next += last - first;
  });
  for (auto& [own, place] : places) {
    begin.push_back(begin.back() + place.next);
    place = {static_cast<std::int32_t>(sides.size()), begin[sides.size()]};
    sides.push_back(own);
  }
  if (size() > 1) of.resize(panel.size());
  for_runs([&](const Sides& own, std::int32_t first, std::int32_t last) {
    Place& place = places[own];
    for (std::int32_t i = first; i < last; ++i) {
      panel[place.next++] = i;
      if (!of.empty()) of[i] = place.surface;
    }
  });
}

}  // namespace fmbem
