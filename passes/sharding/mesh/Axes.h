// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Axes.h - Axes of a mesh, their parts and shardings as plain data ---===//
// The data of propagation, without IR and names. A mesh is a list of sizes, an axis is an index into it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <tuple>

namespace millrace::sharding {

/// Of mesh axis `axis`, reshaped to [pre, size, rest], the middle. A whole axis has pre 1 and its own size.
struct Axis {
  int32_t axis = 0;
  int64_t pre = 1, size = 1;

  int64_t end() const { return pre * size; }
  bool operator==(const Axis &) const = default;
  /// Same beginning, and not longer.
  bool isPrefixOf(const Axis &other) const {
    return axis == other.axis && pre == other.pre && size <= other.size && other.size % size == 0;
  }
  bool contains(const Axis &other) const { return axis == other.axis && pre <= other.pre && other.end() <= end(); }
  bool overlaps(const Axis &other) const;
  /// Ordered by position in the mesh.
  bool operator<(const Axis &other) const { return std::tie(axis, pre, size) < std::tie(other.axis, other.pre, other.size); }
};

/// Major to minor.
using Axes = llvm::SmallVector<Axis, 2>;
using AxesRef = llvm::ArrayRef<Axis>;

/// Sizes of the axes.
using MeshSizes = llvm::SmallVector<int64_t, 4>;

inline bool isPart(const Axis &axis, llvm::ArrayRef<int64_t> mesh) { return axis.size != mesh[axis.axis]; }

/// Into how many parts these axes split something.
int64_t productOf(AxesRef axes);

/// The longest beginning of `axis` that has nothing in common with `others`.
std::optional<Axis> withoutOverlap(Axis axis, AxesRef others);

/// Appends, joining two parts of an axis that meet.
void append(Axes &axes, Axis axis);

enum class Prefix { No, Strict, Equal };
/// Returns whether `first` is a prefix of `second`; its last axis may be a prefix of an axis.
Prefix prefixOf(AxesRef first, AxesRef second);

/// How one dimension is split. Open: propagation may add axes at the end.
struct DimSharding {
  Axes axes;
  bool closed = false;
  int64_t priority = 0;
  bool operator==(const DimSharding &) const = default;
};

/// How a tensor is split; `replicated` axes may split no dimension, along `unreduced` ones summands are held.
struct TensorSharding {
  llvm::SmallVector<DimSharding, 4> dims;
  Axes replicated, unreduced;

  bool operator==(const TensorSharding &) const = default;
  /// No dimension is split.
  bool isEmpty() const;
};

} // namespace millrace::sharding
