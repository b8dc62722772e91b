// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Matrices.cpp - Batches of matrices in the operands of a call --------===//
#include "runtime/lapack/Matrices.h"
#include "runtime/base/ThreadPool.h"

#include <climits>
#include <cstring>
#include <new>

namespace millrace::runtime::lapack {

bool Signature::check(const std::vector<TensorView> &views, size_t index, int rank, DType dtype, const char *what,
                      int64_t (&sizes)[2], int64_t &count) {
  if (!error.ok())
    return false;
  auto title = [&] { return std::string(what) + " " + std::to_string(index); };
  if (index >= views.size()) {
    error = invalidArgument("has no " + title());
    return false;
  }
  const TensorView &view = views[index];
  if (view.dtype != dtype) {
    error = invalidArgument("expects " + title() + " of element type " + std::string(name(dtype)) + ", but got " +
                            std::string(name(view.dtype)));
    return false;
  }
  if (int64_t(view.dims.size()) < rank) {
    error = invalidArgument("expects " + title() + " of rank " + std::to_string(rank) + " or more, but got rank " +
                            std::to_string(view.dims.size()));
    return false;
  }
  size_t batchRank = view.dims.size() - size_t(rank);
  count = 1;
  for (size_t d = 0; d < batchRank; ++d)
    count *= view.dims[d];
  if (batch != -1 && count != batch) {
    error = invalidArgument("expects a batch of " + std::to_string(batch) + ", but " + title() + " is one of " +
                            std::to_string(count));
    return false;
  }
  batch = count;
  for (int d = 0; d < rank; ++d) {
    sizes[d] = view.dims[batchRank + size_t(d)];
    if (sizes[d] > INT_MAX) {
      error = invalidArgument(title() + " has a dimension of size " + std::to_string(sizes[d]) +
                              ", LAPACK takes at most 2147483647");
      return false;
    }
  }
  return true;
}

void Signature::copyOperand(size_t from, size_t to) {
  const TensorView &source = call.arguments[from], &target = call.results[to];
  if (source.bytes() != target.bytes())
    error = invalidArgument("expects result " + std::to_string(to) + " to have the shape of operand " +
                            std::to_string(from));
  else if (source.data != target.data && source.bytes() != 0)
    std::memcpy(target.data, source.data, source.bytes());
}

int64_t Signature::integer(const char *attributeName) {
  const Attribute *attribute = call.attribute(attributeName);
  if (attribute && attribute->ints.size() == 1)
    return attribute->ints[0];
  if (error.ok())
    error = invalidArgument(std::string("has no integer attribute '") + attributeName + "'");
  return 0;
}

char Signature::flag(const char *attributeName) { return char(integer(attributeName)); }

Status Signature::done() {
  if (error.ok() && (argument != call.arguments.size() || resultIndex != call.results.size()))
    return invalidArgument("expects " + std::to_string(argument) + " operands and " + std::to_string(resultIndex) +
                           " results, but got " + std::to_string(call.arguments.size()) + " and " +
                           std::to_string(call.results.size()));
  return error;
}

Status forMatrices(int64_t count, double flops, const std::function<void(int64_t, int64_t)> &body) {
  // LAPACK does about 2 flops per nanosecond on small matrices.
  uint64_t picoseconds = uint64_t(std::max(1.0, flops * 500));
  ThreadPool &pool = ThreadPool::global();
  auto run = [](void *context, int64_t begin, int64_t end) -> int32_t {
    try {
      (*static_cast<const std::function<void(int64_t, int64_t)> *>(context))(begin, end);
      return 0;
    } catch (const std::bad_alloc &) {
      return 1;
    }
  };
  int32_t code = pool.run(count, pieceSize(count, picoseconds, 1, pool.size()), run,
                          const_cast<void *>(static_cast<const void *>(&body)));
  return code == 0 ? Status() : resourceExhausted("no memory for the workspace");
}

} // namespace millrace::runtime::lapack
