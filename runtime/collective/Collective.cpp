// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Collective.cpp - Collective operations over a RunContext ------------===//
// Each member shows its argument and result buffers. Once all do, each does its share of the work, and those of members that have not come
// yet to wait for the end:
//   all_reduce      reduces its n-th part of the elements of all, and writes it to all; in several processes, if they are large, of those that
//                   are the process's part, and then takes the parts of the other processes
//   the others      pull what they need into their own results
#include "runtime/collective/Collective.h"
#include "runtime/collective/RemoteCalls.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <set>
#include <span>

namespace millrace::runtime {
namespace {

using Kind = CollectiveStep::Kind;
using Contributions = std::vector<const CollectiveCall *>;

constexpr int64_t blockElements = CollectiveStep::kReducerElements;
/// Results of more bytes than this, over all members, are written past the caches: they would displace everything else, and a store that misses the
/// cache first reads the line that it overwrites.
constexpr size_t streamedBytes = size_t(4) << 20;

/// Operands of at least so many bytes are reduced, or gathered, in parts, one per process. `python -m benchmarks.processes` on two cores (AMD EPYC),
/// shared memory, in parts and without: 2 processes 512 KB 109 and 95 us, 1 MB 140 and 230, 64 MB 13.7 and 15.2 ms; 4 processes 512 KB 528 and 521
/// us, 1 MB 0.70 and 0.85 ms, 64 MB 28 and 44 ms.
constexpr size_t minPartedBytes = size_t(1) << 20;
/// Parts begin at multiples of so many elements, so that no two members write to one cache line.
constexpr int64_t partElements = 64;
/// An error message lists at most so many pieces of a gathered tensor that do not fit. Unit: pieces. Source: judgement: an error message stays
/// readable.
constexpr size_t kMaxToldPieces = 4;

/// Memory for the buffers of a reducer, aligned as the buffers of other kernels.
struct alignas(64) Line {
  char bytes[64];
};
std::vector<Line> linesFor(size_t bytes) { return std::vector<Line>((bytes + sizeof(Line) - 1) / sizeof(Line)); }

/// Copies past the caches. finishStreaming() makes the bytes visible to other threads.
void streamCopy(char *to, const char *from, size_t bytes) {
  using Vector [[gnu::vector_size(16)]] = int64_t;
  size_t head = std::min(bytes, size_t(-reinterpret_cast<uintptr_t>(to) & (sizeof(Line) - 1)));
  std::memcpy(to, from, head);
  for (to += head, from += head, bytes -= head; bytes >= sizeof(Line); bytes -= sizeof(Line)) {
    Vector line[4];
    std::memcpy(line, from, sizeof(Line));
    for (int i = 0; i < 4; ++i)
      __builtin_nontemporal_store(line[i], reinterpret_cast<Vector *>(to) + i);
    to += sizeof(Line), from += sizeof(Line);
  }
  std::memcpy(to, from, bytes);
}

/// Nothing else orders streaming stores, not even the release of a lock.
void finishStreaming() {
#ifdef __x86_64__
  __builtin_ia32_sfence();
#endif
}

/// Copies between memory that does not overlap; if `streamed`, past the caches where a run is long enough to fill whole lines.
void copyRun(char *to, const char *from, size_t bytes, bool streamed) {
  constexpr size_t longRun = 4096;
  if (!bytes) // without bytes, the pointers may be null
    return;
  if (streamed && bytes >= longRun)
    streamCopy(to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}

/// Copies the box of `size` at index `from` of `source` to index `to` of `target`. Both tensors are row-major.
void copyBox(const TensorView &source, const std::vector<int64_t> &from, const TensorView &target,
             const std::vector<int64_t> &to, const std::vector<int64_t> &size, bool streamed) {
  size_t rank = size.size(), bytes = byteSize(source.dtype);
  if (std::find(size.begin(), size.end(), 0) != size.end())
    return;
  // Trailing dimensions that the box covers in both tensors form one run.
  size_t run = rank;
  int64_t runElements = 1;
  while (run > 0) {
    runElements *= size[--run];
    if (size[run] != source.dims[run] || size[run] != target.dims[run])
      break;
  }
  std::vector<int64_t> index(run, 0);
  while (true) {
    int64_t a = 0, b = 0;
    for (size_t d = 0; d < rank; ++d) {
      int64_t i = d < run ? index[d] : 0;
      a = a * source.dims[d] + from[d] + i;
      b = b * target.dims[d] + to[d] + i;
    }
    copyRun(static_cast<char *>(target.data) + size_t(b) * bytes, static_cast<const char *>(source.data) + size_t(a) * bytes,
            size_t(runElements) * bytes, streamed);
    size_t d = run;
    while (d > 0 && ++index[d - 1] == size[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

/// Returns the part of this process, as the other processes have recorded it.
ProcessPart ownPart(const Contributions &all) {
  for (const CollectiveCall *each : all)
    if (each->isRemote)
      return each->part;
  return {};
}

class Worker {
public:
  Worker(const CollectiveCall &call, std::vector<uint32_t> group, uint32_t member, bool isParted)
      : call(call), step(call.step), isParted(isParted), group(std::move(group)), member(member),
        position(size_t(std::find(this->group.begin(), this->group.end(), member) - this->group.begin())) {}

  Status run(const Contributions &all) {
    if (!step.dynamicRoot && size_t(step.root) < all.size())
      root = step.root;
    if (step.kind == Kind::AllGather)
      MILLRACE_TRY(checkGathered(all));
    // All operands are checked first, because the sizes of the others determine where one process's part of an operand is.
    for (size_t i = 0; i < call.results.size(); ++i)
      for (size_t k = 0; k < all.size(); ++k)
        MILLRACE_TRY(checkOperand(i, *all[k], group[k]));
    for (size_t i = 0; i < call.results.size(); ++i) {
      if (step.dynamicRoot)
        MILLRACE_TRY(readRoot(i, all.size()));
      MILLRACE_TRY(runOne(i, all));
    }
    return Status();
  }

private:
  /// Checks that operand `i` of another member has the type of this one's.
  Status checkOperand(size_t i, const CollectiveCall &other, uint32_t device) const {
    std::string title = "operand " + std::to_string(i);
    if (other.arguments.size() != call.arguments.size() || other.arguments[i].dtype != call.arguments[i].dtype)
      return failedPrecondition(title + " has another type on device " + std::to_string(device) + " than on device " + std::to_string(member) +
                                (other.arguments.size() == call.arguments.size()
                                     ? ": " + std::string(name(other.arguments[i].dtype)) + " and " + std::string(name(call.arguments[i].dtype))
                                     : ", or there are more or fewer of them"));
    const std::vector<int64_t> &dims = other.arguments[i].dims;
    if (step.kind == Kind::AllGather ? dims.size() != call.arguments[i].dims.size() : dims != call.arguments[i].dims)
      return failedPrecondition(title + " has another shape on device " + std::to_string(device) + " than on device " +
                                std::to_string(member) + ": " + textOf(dims) + " and " + textOf(call.arguments[i].dims));
    if ((!other.pieces.empty() && splitDimension(step) < 0) || (other.part.count && !isParted))
      return dataLoss("another process sent a part of " + title);
    bool isReadOfAll = !(step.kind == Kind::AllGather && other.part.count) && step.kind != Kind::CollectivePermute && step.kind != Kind::CollectiveBroadcast && step.kind != Kind::CollectiveReduce;
    return isReadOfAll ? checkMemory(i, other) : Status();
  }

  /// Checks that the pieces of all members fit into the results, and fill them.
  Status checkGathered(const Contributions &all) const {
    for (size_t i = 0; i < call.results.size(); ++i) {
      const std::vector<int64_t> &dims = call.results[i].dims;
      const size_t axis = size_t(step.dimension);
      std::string texts;
      int64_t length = 0;
      bool fits = true;
      for (size_t k = 0; k < all.size(); ++k) {
        if (i >= all[k]->arguments.size())
          return failedPrecondition("device " + std::to_string(group[k]) + " gathers " + std::to_string(all[k]->arguments.size()) + " operands");
        const std::vector<int64_t> &piece = all[k]->arguments[i].dims;
        fits &= piece.size() == dims.size();
        for (size_t d = 0; d < piece.size() && fits; ++d)
          fits = d == axis ? piece[d] <= dims[d] : piece[d] == dims[d];
        length += fits ? piece[axis] : 0;
        if (k < kMaxToldPieces)
          texts += (k ? ", " : "") + textOf(piece) + " of device " + std::to_string(group[k]);
      }
      if (!fits || length != dims[axis])
        return failedPrecondition("the pieces do not make up the result " + textOf(dims) + " along dimension " + std::to_string(axis) + ": " + texts +
                                  (all.size() > kMaxToldPieces ? " and more" : ""));
    }
    return Status();
  }

  static std::string textOf(const std::vector<int64_t> &dims) {
    std::string text;
    for (int64_t size : dims)
      text += (text.empty() ? "" : ",") + std::to_string(size);
    return "[" + text + "]";
  }

  /// Checks that another process has sent the operand.
  static Status checkMemory(size_t i, const CollectiveCall &other) {
    if (other.arguments[i].data || other.arguments[i].bytes() == 0)
      return Status();
    return dataLoss("another process did not send operand " + std::to_string(i));
  }

  /// Reads the root. The last argument names one root for all results, or one for each.
  Status readRoot(size_t i, size_t members) {
    const TensorView &operand = call.arguments.back();
    int64_t count = operand.elements();
    if (count != 1 && count != int64_t(call.results.size()))
      return failedPrecondition(std::to_string(count) + " roots for " + std::to_string(call.results.size()) + " results");
    root = loadInteger(operand, count == 1 ? 0 : i);
    if (root < 0 || size_t(root) >= members)
      return failedPrecondition("root " + std::to_string(root) + " of a group of " + std::to_string(members));
    return Status();
  }

  bool isStreamed(size_t i, const Contributions &all) const { return call.results[i].bytes() * all.size() > streamedBytes; }

  Status runOne(size_t i, const Contributions &all) {
    switch (step.kind) {
    case Kind::AllReduce: return allReduce(i, all);
    case Kind::CollectiveReduce: return collectiveReduce(i, all);
    case Kind::ReduceScatter: return reduceScatter(i, all);
    case Kind::AllGather: return allGather(i, all);
    case Kind::AllToAll: return allToAll(i, all);
    case Kind::CollectivePermute: return permute(i, all);
    case Kind::CollectiveBroadcast: return copyFrom(i, *all[size_t(root)], all);
    }
    return internalError("unknown collective");
  }

  /// Memory for one use of the compiled reduction, in whole blocks. Elements past the end are zero.
  struct ReducerMemory {
    std::vector<Line> lhs, rhs, out, scratch;
  };

  /// Combines lhs with rhs into `result`, which may be `lhs`.
  Status combine(DType type, ReducerMemory &memory, const void *lhs, const void *rhs, void *result,
                 int64_t elements) const {
    if (call.reducer) {
      size_t bytes = size_t(elements) * byteSize(type);
      std::memcpy(memory.lhs.data(), lhs, bytes);
      std::memcpy(memory.rhs.data(), rhs, bytes);
      void *buffers[4] = {memory.lhs.data(), memory.rhs.data(), memory.out.data(), memory.scratch.data()};
      if (int32_t code = call.reducer(buffers, nullptr, 0, step.reducerEnd))
        return internalError("the reduction failed with code " + std::to_string(code));
      std::memcpy(result, memory.out.data(), bytes);
      return Status();
    }
    if (!reduceElements(step.reduction, type, lhs, rhs, result, elements))
      return unimplemented("no such reduction for " + std::string(name(type)));
    return Status();
  }

  /// Returns the address of element `begin` of operand `i` of a member.
  static const char *operandFrom(const CollectiveCall &each, size_t i, int64_t begin) {
    return static_cast<const char *>(each.arguments[i].data) + size_t(begin) * byteSize(each.arguments[i].dtype);
  }

  /// Finds the part of group position `own` in operand `i` of `each`, which is split along `axis`. Returns a view of the operand's elements that are
  /// present, and the first index of the part in the view.
  StatusOr<std::pair<TensorView, int64_t>> partOf(const CollectiveCall &each, size_t i, size_t axis, size_t own, size_t parts) const {
    TensorView view = each.arguments[i];
    int64_t length = view.dims[axis] / int64_t(parts);
    if (each.pieces.empty())
      return std::pair(std::move(view), int64_t(own) * length);
    size_t index = size_t(std::find(each.pieces.begin(), each.pieces.end(), own) - each.pieces.begin());
    if (index == each.pieces.size())
      return dataLoss("another process did not send the part of device " + std::to_string(member));
    view.dims[axis] = length * int64_t(each.pieces.size());
    return std::pair(std::move(view), int64_t(index) * length);
  }

  /// Reduces `elements` elements of operand `i` of all members, from positions `begins` on, block by block in a cache, and writes each block to all
  /// `targets`.
  Status reduceRange(size_t i, const Contributions &all, const std::vector<const char *> &begins, int64_t elements,
                     std::span<char *const> targets) const {
    DType type = call.arguments[i].dtype;
    size_t bytes = byteSize(type);
    bool streamed = isStreamed(i, all);
    ReducerMemory memory;
    if (call.reducer) {
      size_t blockBytes = size_t(blockElements) * bytes;
      memory = {linesFor(blockBytes), linesFor(blockBytes), linesFor(blockBytes), linesFor(step.reducerScratch)};
    }
    alignas(64) char block[blockElements * 16];
    std::vector<const void *> operands(all.size());
    for (int64_t at = 0; at < elements; at += blockElements) {
      int64_t count = std::min(blockElements, elements - at);
      size_t offset = size_t(at) * bytes, size = size_t(count) * bytes;
      auto operand = [&](size_t k) { return begins[k] + offset; };
      const char *sum = operand(0);
      bool isDone = false;
      if (!call.reducer && step.reduction == CollectiveStep::Reduction::Sum && all.size() > 1) {
        for (size_t k = 0; k < all.size(); ++k)
          operands[k] = operand(k);
        if ((isDone = sumElements(type, operands, block, count)))
          sum = block;
      }
      for (size_t k = 1; k < all.size() && !isDone; ++k) {
        MILLRACE_TRY(combine(type, memory, sum, operand(k), block, count));
        sum = block;
      }
      for (char *target : targets) {
        char *to = target + offset;
        if (streamed)
          streamCopy(to, sum, size);
        else
          std::memmove(to, sum, size); // a group of one member reduces in place
      }
    }
    if (streamed)
      finishStreaming();
    return Status();
  }

  Status allReduce(size_t i, const Contributions &all) const {
    // The members of this process share the work. The results of other processes are written by those.
    auto isLocal = [](const CollectiveCall *each) { return !each->isRemote; };
    const ProcessPart own = ownPart(all);
    for (const CollectiveCall *each : all)
      if (each->isRemote && (each->part.index != own.index || each->part.count != own.count))
        return dataLoss("other processes sent different parts of operand " + std::to_string(i));
    const auto [from, to] = partOfProcess(call.arguments, i, own);
    const int64_t begin = from, n = to - from, parts = std::count_if(all.begin(), all.end(), isLocal),
                  p = std::count_if(all.begin(), all.begin() + long(position), isLocal);
    auto first = [&](int64_t part) { return part == parts ? n : n * part / parts / partElements * partElements; };
    std::vector<char *> targets;
    for (const CollectiveCall *other : all)
      if (isLocal(other))
        targets.push_back(static_cast<char *>(other->results[i].data) + size_t(begin + first(p)) * byteSize(call.arguments[i].dtype));
    std::vector<const char *> begins;
    for (const CollectiveCall *each : all)
      begins.push_back(operandFrom(*each, i, first(p) + (isLocal(each) ? begin : 0)));
    return reduceRange(i, all, begins, first(p + 1) - first(p), targets);
  }

  /// Gives the root the reduced value, and the others zeros. The root reads all operands before any result is written: the other members write only
  /// their own results, which may alias only their own arguments, hence the copy below.
  Status collectiveReduce(size_t i, const Contributions &all) const {
    const TensorView &result = call.results[i];
    if (position != size_t(root)) {
      if (call.arguments[i].data == result.data)
        return unimplemented("collective_reduce in place");
      std::memset(result.data, 0, result.bytes());
      return Status();
    }
    std::vector<const char *> begins;
    for (const CollectiveCall *other : all) {
      MILLRACE_TRY(checkMemory(i, *other));
      begins.push_back(operandFrom(*other, i, 0));
    }
    char *target = static_cast<char *>(result.data);
    return reduceRange(i, all, begins, result.elements(), {&target, 1});
  }

  Status reduceScatter(size_t i, const Contributions &all) const {
    const TensorView &result = call.results[i], &argument = call.arguments[i];
    size_t axis = size_t(step.dimension);
    if (argument.dims[axis] != result.dims[axis] * int64_t(all.size()))
      return failedPrecondition("dimension " + std::to_string(axis) + " is " + std::to_string(argument.dims[axis]) +
                                ", not " + std::to_string(all.size()) + " times " + std::to_string(result.dims[axis]));
    // The data move row by row: [outer][all.size()][run] -> [outer][run].
    int64_t outer = 1, run = 1;
    for (size_t d = 0; d < result.dims.size(); ++d)
      (d < axis ? outer : run) *= result.dims[d];
    size_t bytes = byteSize(result.dtype);
    std::vector<const char *> begins;   // start of this member's part of the first row
    std::vector<size_t> steps;          // distance of the rows, in bytes
    for (const CollectiveCall *each : all) {
      StatusOr<std::pair<TensorView, int64_t>> part = partOf(*each, i, axis, position, all.size());
      if (!part)
        return part.status();
      size_t line = size_t(run / std::max<int64_t>(result.dims[axis], 1)) * bytes; // bytes of one index of the dimension
      begins.push_back(static_cast<const char *>(part->first.data) + size_t(part->second) * line);
      steps.push_back(size_t(part->first.dims[axis]) * line);
    }
    for (int64_t o = 0; o < outer; ++o) {
      char *target = static_cast<char *>(result.data) + size_t(o * run) * bytes;
      MILLRACE_TRY(reduceRange(i, all, begins, run, {&target, 1}));
      for (size_t k = 0; k < all.size(); ++k)
        begins[k] += steps[k];
    }
    return Status();
  }

  Status allGather(size_t i, const Contributions &all) const {
    const TensorView &result = call.results[i];
    size_t axis = size_t(step.dimension);
    std::vector<int64_t> zero(result.dims.size(), 0), to = zero;
    for (const CollectiveCall *other : all) {
      const TensorView &piece = other->arguments[i];
      if (piece.data || !other->part.count) // otherwise the piece is in another process's part
        copyBox(piece, zero, result, to, piece.dims, isStreamed(i, all));
      to[axis] += piece.dims[axis];
    }
    finishStreaming();
    return Status();
  }

  Status allToAll(size_t i, const Contributions &all) const {
    const TensorView &result = call.results[i], &argument = call.arguments[i];
    size_t split = size_t(step.dimension2), concat = size_t(step.dimension);
    if (step.splitCount != int64_t(all.size()) || argument.dims[split] % step.splitCount != 0)
      return failedPrecondition("split count " + std::to_string(step.splitCount) + " for " +
                                std::to_string(all.size()) + " devices and dimension " +
                                std::to_string(argument.dims[split]));
    std::vector<int64_t> size = argument.dims, from(size.size(), 0), to = from;
    size[split] /= step.splitCount;
    for (size_t d = 0; d < size.size(); ++d)
      if (result.dims[d] != (d == concat ? size[d] * step.splitCount : size[d]))
        return failedPrecondition("the result has another shape than the pieces in dimension " + std::to_string(d));
    for (size_t k = 0; k < all.size(); ++k) {
      StatusOr<std::pair<TensorView, int64_t>> part = partOf(*all[k], i, split, position, all.size());
      if (!part)
        return part.status();
      from[split] = part->second;
      to[concat] = int64_t(k) * size[concat];
      copyBox(part->first, from, result, to, size, isStreamed(i, all));
    }
    finishStreaming();
    return Status();
  }

  Status copyFrom(size_t i, const CollectiveCall &source, const Contributions &all) const {
    const TensorView &result = call.results[i];
    MILLRACE_TRY(checkMemory(i, source));
    if (source.arguments[i].bytes() != result.bytes())
      return failedPrecondition("the source has another size than the result");
    copyRun(static_cast<char *>(result.data), static_cast<const char *>(source.arguments[i].data), result.bytes(), isStreamed(i, all));
    finishStreaming();
    return Status();
  }

  Status permute(size_t i, const Contributions &all) const {
    auto idOf = [&](const CollectiveCall &c, uint32_t flat) -> int64_t {
      return step.groupMode == CollectiveStep::Groups::CrossReplica     ? c.replica
             : step.groupMode == CollectiveStep::Groups::CrossPartition ? c.partition
                                                                        : flat;
    };
    int64_t self = idOf(call, member);
    for (const auto &pair : step.groups)
      if (pair[1] == self)
        for (size_t k = 0; k < all.size(); ++k)
          if (idOf(*all[k], group[k]) == pair[0])
            return copyFrom(i, *all[k], all);
    std::memset(call.results[i].data, 0, call.results[i].bytes());
    return Status();
  }

  static int64_t loadInteger(const TensorView &operand, size_t element) {
    int64_t value = 0;
    size_t bytes = byteSize(operand.dtype);
    std::memcpy(&value, static_cast<const char *>(operand.data) + element * bytes, bytes); // little endian
    unsigned unused = 64 - 8 * unsigned(bytes);
    return isSigned(operand.dtype) ? int64_t(uint64_t(value) << unused) >> unused : value;
  }

  const CollectiveCall &call;
  const CollectiveStep &step;
  const bool isParted;
  int64_t root = 0; ///< position in the group
  const std::vector<uint32_t> group;
  const uint32_t member;
  const size_t position;
};

} // namespace

int64_t splitDimension(const CollectiveStep &step) {
  return step.kind == Kind::ReduceScatter ? step.dimension : step.kind == Kind::AllToAll ? step.dimension2 : -1;
}

std::vector<uint32_t> collectiveGroup(const CollectiveStep &step, uint32_t replica, uint32_t partition,
                                      uint32_t numReplicas, uint32_t numPartitions) {
  using Groups = CollectiveStep::Groups;
  auto flat = [&](int64_t r, int64_t p) { return uint32_t(r) * numPartitions + uint32_t(p); };
  int64_t self = step.groupMode == Groups::CrossPartition ? partition
                 : step.groupMode == Groups::FlattenedIds ? flat(replica, partition)
                                                          : replica;
  int64_t count = step.groupMode == Groups::CrossPartition ? numPartitions
                  : step.groupMode == Groups::FlattenedIds ? int64_t(numReplicas) * numPartitions
                                                           : numReplicas;
  std::vector<int64_t> ids;
  if (step.kind == Kind::CollectivePermute || step.groups.empty()) {
    for (int64_t id = 0; id < count; ++id)
      ids.push_back(id);
  } else {
    for (const auto &group : step.groups)
      if (std::find(group.begin(), group.end(), self) != group.end())
        ids = group;
  }
  std::vector<uint32_t> members;
  for (int64_t id : ids)
    if (id < 0 || id >= count)
      return {};
  switch (step.groupMode) {
  case Groups::CrossReplica:
    for (int64_t id : ids)
      members.push_back(flat(id, partition));
    break;
  case Groups::CrossPartition:
    for (int64_t id : ids)
      members.push_back(flat(replica, id));
    break;
  case Groups::CrossReplicaAndPartition:
    for (uint32_t p = 0; p < numPartitions; ++p)
      for (int64_t id : ids)
        members.push_back(flat(id, p));
    break;
  case Groups::FlattenedIds:
    members.assign(ids.begin(), ids.end());
    break;
  }
  return members;
}

bool isParted(const CollectiveCall &call, const std::function<std::vector<std::string>()> &hosts) {
  if (call.step.kind != Kind::AllReduce && call.step.kind != Kind::AllGather)
    return false;
  size_t bytes = 0;
  for (const TensorView &result : call.results) // unlike gathered operands, results have the same sizes in all processes
    bytes += result.bytes();
  if (bytes < minPartedBytes)
    return false;
  const std::vector<std::string> each = hosts();
  const std::set<std::string> different(each.begin(), each.end());
  // A part goes once to each other host, an operand to each process: gathering in parts pays where hosts have several processes.
  return call.step.kind == Kind::AllReduce ? each.size() > 1 : different.size() > 1 && different.size() < each.size();
}

std::pair<int64_t, int64_t> partOfProcess(const std::vector<TensorView> &arguments, size_t i, ProcessPart part) {
  const int64_t n = arguments[i].elements();
  if (part.count < 2)
    return {0, n};
  uint64_t before = 0, total = 0; // bytes
  for (size_t k = 0; k < arguments.size(); ++k) {
    before += k < i ? arguments[k].bytes() : 0;
    total += arguments[k].bytes();
  }
  auto boundary = [&](uint32_t index) -> int64_t {
    if (index == part.count)
      return n;
    uint64_t bytes = total / part.count * index;
    int64_t elements = bytes <= before ? 0 : int64_t((bytes - before) / byteSize(arguments[i].dtype)) / partElements * partElements;
    return std::min(elements, n);
  };
  return {boundary(part.index), boundary(part.index + 1)};
}

namespace {

Contributions callsOf(const std::vector<const void *> &all) {
  Contributions calls;
  for (const void *pointer : all)
    calls.push_back(static_cast<const CollectiveCall *>(pointer));
  return calls;
}

Status shareOf(const std::vector<uint32_t> &group, const std::vector<const void *> &all, size_t position, bool isParted = false) {
  try {
    const Contributions calls = callsOf(all);
    return Worker(*calls[position], group, group[position], isParted).run(calls);
  } catch (const std::bad_alloc &) { // the other members wait until every share is done or has failed
    return resourceExhausted("no memory for a collective");
  }
}

uint32_t memberOf(const RunContext &context, const CollectiveCall &call) {
  return call.replica * context.numPartitions + call.partition;
}

std::vector<uint32_t> groupOf(const RunContext &context, const CollectiveCall &call) {
  return collectiveGroup(call.step, call.replica, call.partition, context.numReplicas, context.numPartitions);
}

/// Returns the process's part of the results of a call, one stretch of each result.
std::vector<iovec> partOfResults(const CollectiveCall &call, ProcessPart part) {
  std::vector<iovec> pieces;
  for (size_t i = 0; i < call.results.size(); ++i) {
    const auto [begin, end] = partOfProcess(call.results, i, part);
    const size_t bytes = byteSize(call.results[i].dtype);
    pieces.push_back({static_cast<char *>(call.results[i].data) + size_t(begin) * bytes, size_t(end - begin) * bytes});
  }
  return pieces;
}

/// The shapes of all operands, [result][member].
using Shapes = std::vector<std::vector<std::vector<int64_t>>>;

Shapes shapesOf(const Contributions &all) {
  Shapes shapes(all.front()->arguments.size());
  for (size_t i = 0; i < shapes.size(); ++i)
    for (const CollectiveCall *each : all)
      shapes[i].push_back(each->arguments[i].dims);
  return shapes;
}

/// Returns the operands of this process's members, one result after the other.
std::vector<iovec> gatheredHere(const Contributions &all) {
  std::vector<iovec> pieces;
  for (size_t i = 0; i < all.front()->arguments.size(); ++i)
    for (const CollectiveCall *each : all)
      if (!each->isRemote)
        pieces.push_back({each->arguments[i].data, each->arguments[i].bytes()});
  return pieces;
}

/// Copies the operands of a process's members, in the order of gatheredHere(), into the results of `own`. Of the other calls only the shapes remain.
Status takeGathered(const CollectiveCall &own, const Shapes &shapes, const std::vector<uint32_t> &processes, uint32_t process, const char *bytes,
                    uint64_t size) {
  uint64_t expected = 0;
  auto pieceOf = [&](size_t i, size_t k) { return TensorView{const_cast<char *>(bytes), own.results[i].dtype, shapes[i][k]}; };
  for (size_t i = 0; i < shapes.size(); ++i)
    for (size_t k = 0; k < processes.size(); ++k)
      expected += processes[k] == process ? pieceOf(i, k).bytes() : 0;
  if (size != expected)
    return dataLoss("another process sent " + std::to_string(size) + " bytes of operands of " + std::to_string(expected));
  const size_t axis = size_t(own.step.dimension);
  for (size_t i = 0; i < shapes.size(); ++i) {
    std::vector<int64_t> zero(own.results[i].dims.size(), 0), to = zero;
    for (size_t k = 0; k < processes.size(); ++k) {
      const TensorView piece = pieceOf(i, k); // the share has checked its shape
      if (processes[k] == process) {
        copyBox(piece, zero, own.results[i], to, piece.dims, own.results[i].bytes() * processes.size() > streamedBytes);
        bytes += piece.bytes();
      }
      to[axis] += piece.dims[axis];
    }
  }
  finishStreaming();
  return Status();
}

/// Returns how the processes of a group share the work of a call; null if each does its own.
std::shared_ptr<const RunContext::Parted> partedWork(const RunContext &context, const CollectiveCall &call, const std::vector<uint32_t> &group) {
  if (!context.spansProcesses())
    return nullptr;
  std::vector<uint32_t> ofMembers, processes;
  const bool isDone = isParted(call, [&] {
    for (uint32_t member : group)
      ofMembers.push_back(context.processOf(member));
    processes = ofMembers;
    std::sort(processes.begin(), processes.end());
    processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
    std::vector<std::string> hosts;
    for (uint32_t process : processes)
      hosts.push_back(context.hostOf(process));
    return hosts;
  });
  if (!isDone)
    return nullptr;
  auto made = std::make_shared<RunContext::Parted>();
  made->share = [group](const std::vector<const void *> &all, size_t position) { return shareOf(group, all, position, /*isParted=*/true); };
  if (call.step.kind == Kind::AllGather) {
    auto shapes = std::make_shared<Shapes>();
    made->own = [shapes](const std::vector<const void *> &all, size_t) {
      const Contributions calls = callsOf(all);
      *shapes = shapesOf(calls);
      return gatheredHere(calls);
    };
    made->take = [ofMembers, shapes](const void *own, uint32_t process, const char *bytes, uint64_t size) {
      return takeGathered(*static_cast<const CollectiveCall *>(own), *shapes, ofMembers, process, bytes, size);
    };
    return made;
  }
  made->own = [](const std::vector<const void *> &all, size_t position) {
    const Contributions calls = callsOf(all);
    return partOfResults(*calls[position], ownPart(calls));
  };
  made->take = [processes](const void *own, uint32_t process, const char *bytes, uint64_t size) {
    const size_t index = size_t(std::lower_bound(processes.begin(), processes.end(), process) - processes.begin());
    const std::vector<iovec> pieces = partOfResults(*static_cast<const CollectiveCall *>(own), {uint32_t(index), uint32_t(processes.size())});
    uint64_t expected = 0;
    for (const iovec &piece : pieces)
      expected += piece.iov_len;
    if (size != expected)
      return dataLoss("another process sent " + std::to_string(size) + " bytes of a result of which it works out " + std::to_string(expected));
    for (const iovec &piece : pieces) {
      copyRun(static_cast<char *>(piece.iov_base), bytes, piece.iov_len, expected > streamedBytes);
      bytes += piece.iov_len;
    }
    finishStreaming();
    return Status();
  };
  return made;
}

OperationId operationOf(const RunContext &context, const CollectiveCall &call) {
  return {&call.step, call.title.empty() ? call.step.name : call.title, call.location, context.spansProcesses() ? signatureOf(call.step) : 0};
}

/// Runs the call of a member that is in no group.
Status runAlone(const RunContext &context, const CollectiveCall &call) {
  if (call.step.kind == Kind::CollectiveBroadcast) {
    for (const TensorView &result : call.results)
      std::memset(result.data, 0, result.bytes());
    return Status();
  }
  return failedPrecondition("device " + std::to_string(memberOf(context, call)) + " (replica " + std::to_string(call.replica) +
                            ", partition " + std::to_string(call.partition) + ") is in none of the replica groups");
}

} // namespace

std::string describeCall(const CollectiveStep &step, const std::vector<TensorView> &arguments) {
  constexpr size_t most = 3; // a call may have hundreds of gradients
  static const char *const reductions[] = {"", " (sum)", " (product)", " (min)", " (max)", " (and)", " (or)", " (xor)"};
  std::string text = step.name + reductions[size_t(step.reduction)];
  for (size_t i = 0; i < std::min(arguments.size(), most); ++i) {
    text += (i ? ", " : " of ") + std::string(name(arguments[i].dtype)) + "[";
    for (size_t d = 0; d < arguments[i].dims.size(); ++d)
      text += (d ? "," : "") + std::to_string(arguments[i].dims[d]);
    text += "]";
  }
  if (arguments.size() > most)
    text += " and " + std::to_string(arguments.size() - most) + " more";
  return text;
}

Status runCollective(RunContext &context, const CollectiveCall &call) {
  std::vector<uint32_t> group = groupOf(context, call);
  if (group.empty())
    return runAlone(context, call);
  return context.meet(memberOf(context, call), group, operationOf(context, call), &call,
                      [&](const std::vector<const void *> &all, size_t position) { return shareOf(group, all, position); },
                      partedWork(context, call, group));
}

StatusOr<std::shared_ptr<RunContext::Meeting>> startCollective(RunContext &context, const CollectiveCall &call) {
  std::vector<uint32_t> group = groupOf(context, call);
  if (group.empty()) {
    MILLRACE_TRY(runAlone(context, call));
    return std::shared_ptr<RunContext::Meeting>();
  }
  return context.arrive(memberOf(context, call), group, operationOf(context, call), &call, partedWork(context, call, group));
}

Status finishCollective(RunContext &context, const CollectiveCall &call, RunContext::Meeting &meeting) {
  std::vector<uint32_t> group = groupOf(context, call);
  return context.complete(memberOf(context, call), meeting, [&](const std::vector<const void *> &all, size_t position) {
    return shareOf(group, all, position);
  });
}

} // namespace millrace::runtime
