// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LaunchArguments.h - The types of arguments (private) ----------------===//
#pragma once
#include "runtime/client/Buffer.h"

#include <span>

namespace millrace::runtime {

/// A loop over arguments prefetches the argument that is so far ahead of the current one: enough for a line from the third-level cache to arrive.
/// Unit: arguments. Source: judgement, not measured alone.
inline constexpr size_t kAhead = 8;

/// Prefetches object `at`. Arguments are spread over the heap, so the cache misses of several arguments overlap.
inline void readSoon(const void *at) { __builtin_prefetch(at); }

/// The arguments of one device, which the caller of the launch keeps alive.
using BorrowedArguments = std::span<const BufferPtr>;

/// Returns the type as text, "tensor<2x?xf32>" for example.
std::string typeText(DType dtype, const std::vector<int64_t> &dims);
/// Does the same for the type of an argument, with the bounds of its open sizes.
std::string typeText(const TensorSpec &spec);
/// Returns true if a value with these sizes has the type `spec`.
bool shapeMatches(const TensorSpec &spec, const std::vector<int64_t> &dims);
bool isStatic(const TensorSpec &spec);
/// Returns the number and the name of argument `k` for messages.
std::string argumentTitle(const Program &program, size_t k);

/// The argument types that every launch compares with, side by side: specifications are spread over the heap, and a program has hundreds of them.
struct ArgumentTypes {
  explicit ArgumentTypes(const std::vector<Argument> &arguments);
  /// Returns true if argument `k` has a static type and the value is of this type.
  bool isExactly(size_t k, const Buffer::Value &value) const;
  struct Type {
    DType dtype;
    int32_t rank; ///< -1 if a size is unknown
    uint32_t first; ///< index in `sizes`
  };
  std::vector<Type> types;
  std::vector<int64_t> sizes;
  std::vector<uint8_t> donated; ///< per argument; empty if no argument is donated
};

} // namespace millrace::runtime
