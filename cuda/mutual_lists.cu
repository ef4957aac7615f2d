// What P2P by Newton's third law goes through besides the near lists.
#include <algorithm>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/p2p_close.cuh"
#include "fmbem/cuda/p2p_mutual.cuh"

namespace fmbem::cuda {
namespace {

/// Leaves and their near lists.
struct Rows {
  TreeView tree;
  const std::int32_t* leaves;
  NearListsView lists;
  const MutualRow* mutual;
  std::int64_t count;

  __device__ int2 points(std::int64_t row) const { return tree.sources[leaves[row]]; }
};

Rows rows_of(const PlanTree& tree) {
  return {tree.tree.view(), tree.far.target_leaves.data(), tree.near.view(),
          tree.near.mutual.data(), static_cast<std::int64_t>(tree.far.target_leaves.size())};
}

/// Each row at the place of its first point, where entries of near lists begin.
__global__ void number_rows(Rows rows, std::int32_t* row_at) {
  const std::int64_t row = thread_index();
  if (row < rows.count) row_at[rows.points(row).x] = static_cast<std::int32_t>(row);
}

/// A warp a row; its lanes take leaves that come before.
__global__ void list_earlier(Rows rows, int most, const std::int32_t* row_at,
                             EarlierSums* earlier) {
  const std::int64_t row = thread_index() / warp_size;
  if (row >= rows.count) return;
  const int lane = threadIdx.x % warp_size, own = rows.points(row).x;
  const MutualRow mutual = rows.mutual[row];
  const NearEntry* const entries = rows.lists.entries;
  const std::int64_t end = rows.lists.begin[row + 1];
  std::int64_t place = mutual.earlier_begin;
  for (std::int64_t e = mutual.later_begin + mutual.later + lane; e - lane < end; e += warp_size) {
    EarlierSums sums{};
    int items = 0, stride = 0;
    if (e < end) {
      const NearEntry other = entries[e];
      const MutualRow giver = rows.mutual[row_at[other.begin]];
      sums = {giver.slot_begin, other.doublings};
      for (std::int64_t k = giver.later_begin; entries[k].begin != own; ++k)
        sums.slot += entries[k].count;
      items = (other.count + most - 1) / most;
      stride = giver.later_sources;
    }
    const WarpCounts counts(items);
    for (int item = 0; item < items; ++item, sums.slot += stride)
      earlier[place + counts.before() + item] = sums;
    place += counts.all();
  }
}

constexpr float reach = half_side_with_border - 0.5f;  ///< across borders, in sides

/// Pairs within a leaf that are closer than coordinates in two parts allow differ by less than this
/// along each axis: the root of close_r2_in_parts, and what is rounded.
constexpr float close_in_leaf = 0x1p-19f;

__device__ inline float largest_of(float x, float y, float z) {
  return fmaxf(fmaxf(fabsf(x), fabsf(y)), fabsf(z));
}

/// Whether a lane's target may be so close to another point of its leaf. Of the 2^depth cells along
/// an axis of the leaf that keys tell apart, such a pair is in one or about a border; and points of
/// one cell are neighbours in Morton order.
__device__ inline bool may_be_close(const PointsView<float>& points, int2 leaf, int depth,
                                    int target, const Vec3<float>& at) {
  const float cells = ldexpf(1, depth);
  const auto from_border = [&](float x) {
    const float place = cells * (x + 0.5f);
    return fabsf(place - rintf(place));
  };
  const float nearest = fminf(fminf(from_border(at.x), from_border(at.y)), from_border(at.z));
  const auto shares_cell = [&](int j) {
    return j >= leaf.x && j < leaf.y &&
           cells * largest_of(points.x[j] - at.x, points.y[j] - at.y, points.z[j] - at.z) < 1.01f;
  };
  return nearest < cells * close_in_leaf || shares_cell(target - 1) || shares_cell(target + 1);
}

/// Whether a target, the same for all lanes of a warp, is so close.
__device__ inline bool is_close_in_leaf(const PointsView<float>& points, int2 leaf, int target) {
  const float x = points.x[target], y = points.y[target], z = points.z[target];
  bool close = false;
  for (int j = leaf.x + static_cast<int>(threadIdx.x) % warp_size; j < leaf.y; j += warp_size) {
    float dx = points.x[j] - x, dy = points.y[j] - y, dz = points.z[j] - z;
    if (j == target || largest_of(dx, dy, dz) >= close_in_leaf) continue;
    dx += points.low_x[j] - points.low_x[target];
    dy += points.low_y[j] - points.low_y[target];
    dz += points.low_z[j] - points.low_z[target];
    close = close || square(dx, dy, dz) < close_r2_in_parts;
  }
  return __any_sync(whole_warp, close);
}

/// Whether a point of another leaf is within 2^-8 sides of the larger of both of a point, the same
/// for all lanes of a warp, in the row's leaf.
__device__ inline bool is_close_to_others(const PointsView<float>& points, const Rows& rows,
                                          std::int32_t row, const Vec3<float>& at) {
  const int lane = threadIdx.x % warp_size;
  const std::int64_t end = rows.lists.begin[row + 1];
  for (std::int64_t e = rows.mutual[row].later_begin + lane; e - lane < end; e += warp_size) {
    NearEntry other{};
    if (e < end) other = rows.lists.entries[e];
    const float ratio = ldexpf(1, other.doublings), within = reach * fmaxf(1, ratio);
    const Vec3<float> from{at.x - 0.125f * static_cast<float>(other.shift[0]),
                           at.y - 0.125f * static_cast<float>(other.shift[1]),
                           at.z - 0.125f * static_cast<float>(other.shift[2])};
    const bool touches = e < end && largest_of(from.x, from.y, from.z) < 0.5f * ratio + within;
    for (unsigned left = __ballot_sync(whole_warp, touches); left != 0; left &= left - 1) {
      const int of = __ffs(static_cast<int>(left)) - 1;
      const auto its = [&](auto x) { return __shfl_sync(whole_warp, x, of); };
      const int begin = its(other.begin), last = begin + its(other.count);
      const float x = its(from.x), y = its(from.y), z = its(from.z), r = its(ratio),
                  bound = its(within);
      bool close = false;
      for (int j = begin + lane; j < last; j += warp_size)
        close = close || square(x - r * points.x[j], y - r * points.y[j], z - r * points.z[j]) <
                             bound * bound;
      if (__any_sync(whole_warp, close)) return true;
    }
  }
  return false;
}

/// A warp for an item; its lanes take targets, and then together those that may be close. Counts
/// all that are, and notes those for which there is room. Keys tell cells of `deepest` levels.
__global__ void find_close(PointsView<float> points, Rows rows, int deepest, const NearItem* items,
                           std::int64_t count, CloseTarget* close, int room, int* found) {
  constexpr int most_depth = 10;  // then 1 % of all targets are about a border, and cells hold one
  const std::int64_t i = thread_index() / warp_size;
  if (i >= count) return;
  const NearItem item = items[i];
  const std::int32_t leaf = rows.leaves[item.row];
  const int2 own = rows.tree.sources[leaf];
  const bool acts_on_itself = rows.lists.own_entries[item.row] > 0;
  const int lane = threadIdx.x % warp_size,
            depth = min(deepest - rows.tree.level(leaf), most_depth);
  for (int done = 0; done < item.count; done += warp_size) {
    const bool is = done + lane < item.count;
    const int target = item.first + min(done + lane, item.count - 1);
    const Vec3<float> at{points.x[target], points.y[target], points.z[target]};
    bool is_close = false;
    for (unsigned left = __ballot_sync(
             whole_warp, is && acts_on_itself && may_be_close(points, own, depth, target, at));
         left != 0; left &= left - 1) {
      const int of = __ffs(static_cast<int>(left)) - 1;
      if (is_close_in_leaf(points, own, item.first + done + of) && lane == of) is_close = true;
    }
    // Across a border the reach is that of the larger leaf, which may be four times as large.
    const bool is_outside = largest_of(at.x, at.y, at.z) > 0.5f - 4 * reach;
    for (unsigned left = __ballot_sync(whole_warp, is && !is_close && is_outside); left != 0;
         left &= left - 1) {
      const int of = __ffs(static_cast<int>(left)) - 1;
      const Vec3<float> place{__shfl_sync(whole_warp, at.x, of), __shfl_sync(whole_warp, at.y, of),
                              __shfl_sync(whole_warp, at.z, of)};
      if (is_close_to_others(points, rows, item.row, place) && lane == of) is_close = true;
    }
    const unsigned all = __ballot_sync(whole_warp, is_close);
    if (all == 0) continue;
    int first = 0;
    if (lane == 0) first = atomicAdd(found, __popc(all));
    const int place = __shfl_sync(whole_warp, first, 0) + bits_below(all, lane);
    if (is_close && place < room) close[place] = {target, item.row};
  }
}

}  // namespace

void list_earlier_sums(const PlanTree& tree, std::int64_t points, int most, MutualLists& lists,
                       cudaStream_t stream) {
  const Rows rows = rows_of(tree);
  DeviceBuffer<std::int32_t> row_at(points, stream);
  grow(lists.earlier, tree.near.earlier, stream);
  launch(number_rows, blocks_for(rows.count), threads_per_block, 0, stream, rows, row_at.data());
  launch(list_earlier, blocks_for(rows.count, warps_per_block), threads_per_block, 0, stream, rows,
         most, row_at.data(), lists.earlier.data());
}

void find_close_targets(const PlanTree& tree, const PointsView<float>& points, MutualLists& lists,
                        cudaStream_t stream) {
  const auto items = static_cast<std::int64_t>(tree.near.items.size());
  DeviceBuffer<int> found(1, stream);
  // Few are close as a rule. Where there are more, their number is known the second time.
  for (std::int64_t room = 1024 + points.count / 64;; room = lists.n_close) {
    grow(lists.close, std::min(room, points.count), stream);
    room = static_cast<std::int64_t>(lists.close.size());
    found.fill_bytes(0);
    launch(find_close, blocks_for(items, warps_per_block), threads_per_block, 0, stream, points,
           rows_of(tree), tree.tree.deepest(), tree.near.items.data(), items, lists.close.data(),
           static_cast<int>(room), found.data());
    lists.n_close = download_one(found.data(), stream);
    if (lists.n_close <= room) return;
  }
}

}  // namespace fmbem::cuda
