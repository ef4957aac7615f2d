#include "cli/site_report.hpp"

#include <sstream>

#include "cli/energies.hpp"
#include "fmbem/meshes/csv_table.hpp"
#include "fmbem/meshes/panel_values.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {

std::string sites_text(const SquareMatrix& energies) {
  if (energies.n == 0) return "";
  std::ostringstream text;
  text << "\nsites     " << counted(energies.n, "site") << ", energies symmetric to ";
  text.precision(2);
  text << 100 * asymmetry(energies) << " % of the largest";
  return text.str();
}

void add_sites(Json& results, std::span<const ChargeSet> sites, const SquareMatrix& energies) {
  Json names = Json::array();
  for (const ChargeSet& set : sites) names.push_back(set.name);
  results["sites"] = result_json(names, "1");
  results["site_energy_kcal_per_mol"] = result_json(matrix(energies), "kcal/mol");
}

void write_site_energies(const std::string& path, std::span<const ChargeSet> sites,
                         const SquareMatrix& energies) {
  if (is_npy(path)) return write_npy(path, NumberArray{{energies.n, energies.n}, energies.values});
  std::vector<std::string> header{"site"};
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < energies.n; ++i) {
    header.push_back(sites[i].name + " [kcal/mol]");
    rows.push_back({sites[i].name});
    for (std::size_t j = 0; j < energies.n; ++j)
      rows.back().push_back(shortest_digits(energies(i, j)));
  }
  write_csv_table(path, header, rows);
}

}  // namespace fmbem::cli
