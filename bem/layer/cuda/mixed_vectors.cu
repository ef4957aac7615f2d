#include <algorithm>

#include "fmbem/bem/layer/cuda/add_scaled.cuh"
#include "fmbem/bem/layer/cuda/mixed_vectors.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/fmm/base/chunks.hpp"

namespace fmbem::cuda::bem {
namespace {

/// Panels that a block sums over.
constexpr std::int32_t vector_chunk_size = 4096;

/// `panel`: of each row, null where all panels have one.
template <bool add>
__global__ void scale_rows(const double* factor, const std::int32_t* panel, std::int64_t rows,
                           const double* x, std::int64_t panels, double* y) {
  const std::int64_t k = thread_index();
  if (k >= rows) return;
  const std::int64_t at = blockIdx.y * panels + (panel ? panel[k] : k);
  const double scaled = factor[k] * x[blockIdx.y * rows + k];
  y[at] = add ? y[at] + scaled : scaled;
}

__global__ void put_on_diagonal(const double* factor, std::int64_t begin, std::int64_t count,
                                std::int64_t panels, double* y) {
  const std::int64_t k = thread_index();
  if (k < count) y[k * panels + begin + k] = factor[begin + k];
}

__global__ void spread_rows(const std::int32_t* panel, std::int64_t rows, const double* x,
                            std::int64_t panels, double* to) {
  const std::int64_t k = thread_index();
  if (k < rows) to[blockIdx.y * panels + panel[k]] = x[blockIdx.y * rows + k];
}

/// The sums of charge_weight x and of area y over each chunk, of vector number blockIdx.y:
/// sums[vectors][2][chunks].
__global__ void __launch_bounds__(threads_per_block)
    sum_vector_chunks(const std::int32_t* order, const std::int32_t* chunk_begin, std::int64_t n,
                      const double* x, const double* y, const double* charge_weight,
                      const double* area, double* sums) {
  double charge = 0, mean = 0;
  for (std::int32_t k = chunk_begin[blockIdx.x] + static_cast<std::int32_t>(threadIdx.x);
       k < chunk_begin[blockIdx.x + 1]; k += threads_per_block) {
    const std::int32_t i = order[k];
    charge += charge_weight[i] * x[blockIdx.y * n + i];
    mean += area[i] * y[blockIdx.y * n + i];
  }
  charge = sum_of_block(charge);
  mean = sum_of_block(mean);
  if (threadIdx.x > 0) return;
  sums += blockIdx.y * (2 * gridDim.x) + blockIdx.x;
  sums[0] = charge;
  sums[gridDim.x] = mean;
}

/// The sums of area flux over each chunk, of vector number blockIdx.y: sums[vectors][chunks].
/// Without areas those of flux.
__global__ void __launch_bounds__(threads_per_block)
    sum_flux_chunks(const std::int32_t* order, const std::int32_t* chunk_begin, std::int64_t n,
                    const double* flux, const double* area, double* sums) {
  double sum = 0;
  for (std::int32_t k = chunk_begin[blockIdx.x] + static_cast<std::int32_t>(threadIdx.x);
       k < chunk_begin[blockIdx.x + 1]; k += threads_per_block) {
    const std::int32_t i = order[k];
    sum += (area ? area[i] : 1) * flux[blockIdx.y * n + i];
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) sums[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

/// Sums of charges, rows and fluxes, [vectors][3][parts]. `fluxes`: [vectors][chunks], or null if
/// there are none.
__global__ void sum_vector_parts(const double* sums, const double* fluxes, std::int64_t chunks,
                                 const std::int32_t* part_chunks, std::int64_t parts,
                                 double* of_part) {
  const std::int64_t p = thread_index();
  if (p >= parts) return;
  sums += blockIdx.y * 2 * chunks;
  of_part += blockIdx.y * 3 * parts;
  double charge = 0, row = 0, flux = 0;
  for (std::int32_t c = part_chunks[p]; c < part_chunks[p + 1]; ++c) {
    charge += sums[c];
    row += sums[chunks + c];
    if (fluxes) flux += fluxes[blockIdx.y * chunks + c];
  }
  of_part[p] = charge;
  of_part[parts + p] = row;
  of_part[2 * parts + p] = flux;
}

/// Factors of the terms of all changes, [3][terms], as the sums have them: of each change the parts
/// that it takes sums of or, transposed, of each part the changed ones that take its sums.
struct TermView {
  const std::int32_t *begin, *part;
  const double* factor;
  std::int64_t count;
};

/// What is added to the rows of parts that are changed, [vectors][parts].
__global__ void find_shifts(const std::int32_t* changed_part, std::int64_t changed, TermView terms,
                            const double* of_part, std::int64_t parts, const double* part_area,
                            double* shift) {
  const std::int64_t e = thread_index();
  if (e >= changed) return;
  of_part += blockIdx.y * 3 * parts;
  double sum = 0;
  for (std::int32_t k = terms.begin[e]; k < terms.begin[e + 1]; ++k)
    for (int kind = 0; kind < 3; ++kind)
      sum += terms.factor[kind * terms.count + k] * of_part[kind * parts + terms.part[k]];
  const std::int32_t part = changed_part[e];
  shift[blockIdx.y * parts + part] = sum / part_area[part];
}

__global__ void add_shifts(const std::int32_t* part, const double* shift, std::int64_t parts,
                           std::int64_t n, double* y) {
  const std::int64_t i = thread_index();
  if (i < n) y[blockIdx.y * n + i] += shift[blockIdx.y * parts + part[i]];
}

/// Transposed: what each part takes from sums over the rows of changed parts, [vectors][chunks], of
/// charges, rows and fluxes: [vectors][3][parts].
__global__ void transpose_terms(TermView of_parts, const double* sums, std::int64_t chunks,
                                const std::int32_t* part_chunks, std::int64_t parts,
                                const double* part_area, double* of_part) {
  const std::int64_t p = thread_index();
  if (p >= parts) return;
  sums += blockIdx.y * chunks;
  of_part += blockIdx.y * 3 * parts;
  double sum[3] = {};
  for (std::int32_t k = of_parts.begin[p]; k < of_parts.begin[p + 1]; ++k) {
    const std::int32_t changed = of_parts.part[k];
    double of_rows = 0;
    for (std::int32_t c = part_chunks[changed]; c < part_chunks[changed + 1]; ++c)
      of_rows += sums[c];
    const double mean = of_rows / part_area[changed];
    for (int kind = 0; kind < 3; ++kind)
      sum[kind] += of_parts.factor[kind * of_parts.count + k] * mean;
  }
  for (int kind = 0; kind < 3; ++kind) of_part[kind * parts + p] = sum[kind];
}

/// y = the charges' part of the transposed changes, and z = x and the rows' part.
__global__ void transpose_changes(const std::int32_t* part, const double* of_part,
                                  std::int64_t parts, const double* charge_weight,
                                  const double* area, std::int64_t n, const double* x, double* z,
                                  double* y) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  const double* const own = of_part + blockIdx.y * 3 * parts + part[i];
  y[blockIdx.y * n + i] = charge_weight[i] * own[0];
  z[blockIdx.y * n + i] = x[blockIdx.y * n + i] + area[i] * own[parts];
}

/// What fluxes have in transposed changes: null where none is in a sum.
struct FluxView {
  const double* of_part;  ///< [vectors][3][parts], of fluxes the last
  const std::int32_t* part;
  const double* area;
  std::int64_t parts;
};

/// Rows of z times factors and, of fluxes, areas times what their parts have. `panel` as above.
__global__ void take_rows(const double* factor, const std::int32_t* panel, std::int64_t rows,
                          const double* z, std::int64_t panels, FluxView fluxes, double* taken) {
  const std::int64_t k = thread_index();
  if (k >= rows) return;
  const std::int64_t i = panel ? panel[k] : k;
  double sum = factor[k] * z[blockIdx.y * panels + i];
  if (fluxes.of_part)
    sum += fluxes.area[i] * fluxes.of_part[(3 * blockIdx.y + 2) * fluxes.parts + fluxes.part[i]];
  taken[blockIdx.y * rows + k] = sum;
}

using Indices = std::vector<std::int32_t>;

DeviceArray<std::int32_t> upload_indices(const Indices& indices) {
  return DeviceArray<std::int32_t>(std::span<const std::int32_t>(indices));
}

/// TermView's arrays.
struct Terms {
  DeviceArray<std::int32_t> begin, part;
  DeviceArray<double> factor;
  TermView view() const {
    return {begin.data(), part.data(), factor.data(), static_cast<std::int64_t>(part.size())};
  }
};

/// From where the terms of each begin, the part and the factors of each term.
Terms upload_terms(const Indices& begin, const Indices& part,
                   const std::vector<PartShift::Term>& terms) {
  std::vector<double> factor;
  for (const auto kind : {&PartShift::Term::charge, &PartShift::Term::row, &PartShift::Term::flux})
    for (const PartShift::Term& term : terms) factor.push_back(term.*kind);
  return {upload_indices(begin), upload_indices(part),
          DeviceArray<double>(std::span<const double>(factor))};
}

}  // namespace

/// The charge equations and shifts on the device. A chunk is a stretch of `order` within one part,
/// so that long parts have many chunks and short ones one.
struct MixedVectors::Parts {
  explicit Parts(const ChargeEquations& equations);
  const double* charge_weights() const {
    return charge_weight.size() > 0 ? charge_weight.data() : area.data();
  }
  DeviceArray<double> area;                ///< [panels]
  DeviceArray<double> charge_weight;       ///< [panels]; empty where that is the area
  DeviceArray<double> part_area;           ///< [parts]
  DeviceArray<std::int32_t> part;          ///< [panels]
  DeviceArray<std::int32_t> order;         ///< [panels], by parts
  DeviceArray<std::int32_t> chunk_begin;   ///< [chunks + 1], in the order
  DeviceArray<std::int32_t> part_chunks;   ///< [parts + 1]
  DeviceArray<std::int32_t> changed_part;  ///< [changed]
  Terms terms, transposed_terms;           ///< of the changed parts; of all parts
  bool needs_flux = false;
  DeviceArray<double> spread;        ///< [vectors][panels], fluxes of some rows, if needed
  DeviceArray<double> fluxes;        ///< [vectors][chunks], if needed
  DeviceArray<double> changed_rows;  ///< [vectors][panels], of transposed changes
  // Of each vector: [2][chunks], of charges and of rows; [3][parts], of charges, rows and fluxes;
  // and [parts], 0 where rows are not changed.
  DeviceArray<double> sums, sums_of_part, shift;
  int vectors = 0;  ///< that there is room for
  void reserve(int wanted);
};

MixedVectors::Parts::Parts(const ChargeEquations& equations)
    : area(equations.area()),
      charge_weight(equations.charge_weight().data() == equations.area().data()
                        ? std::span<const double>()
                        : equations.charge_weight()),
      part_area(equations.part_area()),
      part(equations.part()) {
  const std::span<const std::int32_t> part_of = equations.part();
  const auto n = static_cast<std::int64_t>(part_of.size());
  const std::size_t parts = equations.part_area().size();
  const GroupOrder sorted = sort_by_group(n, static_cast<std::int64_t>(parts),
                                          [&](std::int64_t i) { return part_of[i]; });
  Indices chunks{0}, chunks_of{0};
  for (std::size_t p = 0; p < parts; ++p) {
    const std::int32_t end = sorted.begin[p + 1];
    for (std::int32_t k = sorted.begin[p]; k < end; k = chunks.back())
      chunks.push_back(std::min(k + vector_chunk_size, end));
    chunks_of.push_back(static_cast<std::int32_t>(chunks.size()) - 1);
  }
  order = DeviceArray<std::int32_t>(std::span<const std::int32_t>(sorted.number));
  chunk_begin = upload_indices(chunks);
  part_chunks = upload_indices(chunks_of);
  Indices of_change, begin{0}, of_term, changed_of_term;
  std::vector<PartShift::Term> all_terms;
  for (const PartShift& change : equations.changed()) {
    of_change.push_back(change.part);
    for (const PartShift::Term& term : change.terms) {
      all_terms.push_back(term);
      of_term.push_back(term.part);
      changed_of_term.push_back(change.part);
    }
    begin.push_back(static_cast<std::int32_t>(all_terms.size()));
  }
  changed_part = upload_indices(of_change);
  terms = upload_terms(begin, of_term, all_terms);
  const GroupOrder by_part =
      sort_by_group(static_cast<std::int64_t>(of_term.size()), static_cast<std::int64_t>(parts),
                    [&](std::int64_t k) { return of_term[k]; });
  Indices changed_by_part;
  std::vector<PartShift::Term> terms_by_part;
  for (const std::int32_t k : by_part.number) {
    changed_by_part.push_back(changed_of_term[k]);
    terms_by_part.push_back(all_terms[k]);
  }
  transposed_terms = upload_terms(by_part.begin, changed_by_part, terms_by_part);
  needs_flux = !equations.needs_flux().empty();
}

void MixedVectors::Parts::reserve(int wanted) {
  if (wanted <= vectors) return;
  vectors = 0;  // where memory does not suffice for the wanted ones
  const std::size_t chunks = chunk_begin.size() - 1, parts = part_area.size();
  sums = DeviceArray<double>(wanted * 2 * chunks);
  sums_of_part = DeviceArray<double>(wanted * 3 * parts);
  shift = DeviceArray<double>(std::span<const double>(std::vector<double>(wanted * parts, 0.0)));
  vectors = wanted;
}

MixedVectors::MixedVectors(const std::vector<RowFactors>& factors, const ChargeEquations& equations)
    : size_(factors.front().factor.size()) {
  for (const auto& [factor, rows] : factors) {
    LargeVector<double> of_rows(rows.size());
    const auto n = static_cast<std::int64_t>(rows.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < n; ++k) of_rows[k] = factor[rows[k]];
    const std::span<const double> chosen = rows.empty() ? factor : std::span<const double>(of_rows);
    factors_.push_back(
        {chosen.size(), DeviceArray<double>(chosen), DeviceArray<std::int32_t>(rows)});
  }
  if (!equations.empty()) parts_ = std::make_unique<Parts>(equations);
}

MixedVectors::~MixedVectors() = default;

void MixedVectors::clear(double* y, int vectors) const {
  FMBEM_CUDA(cudaMemsetAsync(y, 0, vectors * size_ * sizeof(double), nullptr));
}

void MixedVectors::set(std::size_t f, const double* x, double* y, int vectors) const {
  const auto n = static_cast<std::int64_t>(size_);
  launch(scale_rows<false>, dim3(blocks_for(n), vectors), threads_per_block, 0, nullptr,
         factors_[f].factor.data(), nullptr, n, x, n, y);
}

void MixedVectors::set_columns(std::size_t f, const Columns& columns, double* y) const {
  const auto n = static_cast<std::int64_t>(size_), count = columns.count();
  clear(y, static_cast<int>(count));
  launch(put_on_diagonal, blocks_for(count), threads_per_block, 0, nullptr,
         factors_[f].factor.data(), columns.begin, count, n, y);
}

void MixedVectors::add(std::size_t f, const double* x, double* y, int vectors) const {
  const Factors& own = factors_[f];
  const auto rows = static_cast<std::int64_t>(own.rows);
  launch(scale_rows<true>, dim3(blocks_for(rows), vectors), threads_per_block, 0, nullptr,
         own.factor.data(), own.panel.data(), rows, x, static_cast<std::int64_t>(size_), y);
}

void MixedVectors::sum_fluxes(std::size_t f, const double* flux, int vectors) {
  if (!parts_ || !parts_->needs_flux) return;
  Parts& p = *parts_;
  const Factors& own = factors_[f];
  if (own.panel.size() > 0) {  // fluxes of other panels count for nothing, but are to be numbers
    const auto rows = static_cast<std::int64_t>(own.rows), n = static_cast<std::int64_t>(size_);
    const std::size_t numbers = size_ * static_cast<std::size_t>(vectors);
    if (p.spread.size() < numbers)
      p.spread = DeviceArray<double>(std::span<const double>(std::vector<double>(numbers, 0.0)));
    launch(spread_rows, dim3(blocks_for(rows), vectors), threads_per_block, 0, nullptr,
           own.panel.data(), rows, flux, n, p.spread.data());
    flux = p.spread.data();
  }
  const std::size_t chunks = p.chunk_begin.size() - 1;
  if (p.fluxes.size() < chunks * vectors) p.fluxes = DeviceArray<double>(chunks * vectors);
  launch(sum_flux_chunks, dim3(static_cast<unsigned>(chunks), vectors), threads_per_block, 0,
         nullptr, p.order.data(), p.chunk_begin.data(), static_cast<std::int64_t>(size_), flux,
         p.area.data(), p.fluxes.data());
}

void MixedVectors::change_rows(const double* x, double* y, int vectors) {
  if (!parts_) return;
  Parts& p = *parts_;
  p.reserve(vectors);
  const auto n = static_cast<std::int64_t>(size_);
  const auto chunks = static_cast<std::int64_t>(p.chunk_begin.size()) - 1,
             parts = static_cast<std::int64_t>(p.part_area.size()),
             changed = static_cast<std::int64_t>(p.changed_part.size());
  const auto grid = [&](unsigned blocks) { return dim3(blocks, vectors); };
  launch(sum_vector_chunks, grid(static_cast<unsigned>(chunks)), threads_per_block, 0, nullptr,
         p.order.data(), p.chunk_begin.data(), n, x, y, p.charge_weights(), p.area.data(),
         p.sums.data());
  launch(sum_vector_parts, grid(blocks_for(parts)), threads_per_block, 0, nullptr, p.sums.data(),
         p.needs_flux ? p.fluxes.data() : nullptr, chunks, p.part_chunks.data(), parts,
         p.sums_of_part.data());
  launch(find_shifts, grid(blocks_for(changed)), threads_per_block, 0, nullptr,
         p.changed_part.data(), changed, p.terms.view(), p.sums_of_part.data(), parts,
         p.part_area.data(), p.shift.data());
  launch(add_shifts, grid(blocks_for(n)), threads_per_block, 0, nullptr, p.part.data(),
         p.shift.data(), parts, n, y);
}

const double* MixedVectors::change_rows_transposed(const double* x, double* y, int vectors) {
  if (!parts_) {
    clear(y, vectors);
    return x;
  }
  Parts& p = *parts_;
  p.reserve(vectors);
  if (p.changed_rows.size() < size_ * vectors)
    p.changed_rows = DeviceArray<double>(size_ * vectors);
  const auto n = static_cast<std::int64_t>(size_);
  const auto chunks = static_cast<std::int64_t>(p.chunk_begin.size()) - 1,
             parts = static_cast<std::int64_t>(p.part_area.size());
  const auto grid = [&](unsigned blocks) { return dim3(blocks, vectors); };
  launch(sum_flux_chunks, grid(static_cast<unsigned>(chunks)), threads_per_block, 0, nullptr,
         p.order.data(), p.chunk_begin.data(), n, x, nullptr, p.sums.data());
  launch(transpose_terms, grid(blocks_for(parts)), threads_per_block, 0, nullptr,
         p.transposed_terms.view(), p.sums.data(), chunks, p.part_chunks.data(), parts,
         p.part_area.data(), p.sums_of_part.data());
  launch(transpose_changes, grid(blocks_for(n)), threads_per_block, 0, nullptr, p.part.data(),
         p.sums_of_part.data(), parts, p.charge_weights(), p.area.data(), n, x,
         p.changed_rows.data(), y);
  return p.changed_rows.data();
}

void MixedVectors::take(std::size_t f, const double* z, bool with_fluxes, double* taken,
                        int vectors) const {
  const Factors& own = factors_[f];
  const auto rows = static_cast<std::int64_t>(own.rows);
  FluxView fluxes{};
  if (with_fluxes && parts_ && parts_->needs_flux)
    fluxes = {parts_->sums_of_part.data(), parts_->part.data(), parts_->area.data(),
              static_cast<std::int64_t>(parts_->part_area.size())};
  launch(take_rows, dim3(blocks_for(rows), vectors), threads_per_block, 0, nullptr,
         own.factor.data(), own.panel.data(), rows, z, static_cast<std::int64_t>(size_), fluxes,
         taken);
}

void MixedVectors::add(const double* x, double* y, int vectors) const {
  const std::int64_t numbers = static_cast<std::int64_t>(size_) * vectors;
  launch(add_scaled, blocks_for(numbers), threads_per_block, 0, nullptr, x, 1.0, numbers, y);
}

void MixedVectors::wait() const { FMBEM_CUDA(cudaStreamSynchronize(nullptr)); }

double* MixedVectors::room(int vectors) {
  if (room_.size() < size_ * vectors) room_ = DeviceArray<double>(size_ * vectors);
  return room_.data();
}

}  // namespace fmbem::cuda::bem
