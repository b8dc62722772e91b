// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShardedArrays.h - Between whole arrays and what devices hold of them -===//
#pragma once

#include "runtime/program/Program.h"
#include "tools/support/run/Npy.h"

#include <vector>

namespace millrace::tools {

/// The shape of the whole array of which `local` is what one of `devices` holds, by its `mhlo.sharding` string, if its tiles are
/// full. InvalidArgument if the string cannot be read.
runtime::StatusOr<std::vector<int64_t>> globalDims(const runtime::TensorSpec &local, int64_t devices);

/// What each device holds of `global`. Of a value that is unreduced, each element is with one of the devices among which it is summed,
/// and zero with the others.
runtime::StatusOr<std::vector<Array>> cutIntoTiles(const Array &global, const runtime::TensorSpec &local, int64_t devices);

/// The whole array from what each device holds, `tiles[device]`; summands of a value that is unreduced are summed, in the order of their
/// numbers. `wholeDims`: its shape; empty if tiles are full.
runtime::StatusOr<Array> joinTiles(const std::vector<const Array *> &tiles, const runtime::TensorSpec &local,
                                   std::vector<int64_t> wholeDims = {});

/// True if `tile`, as far as it lies inside of `whole`, is what `device` of `devices` should hold of it; of summands anything may be right.
bool isTileOf(const Array &tile, const Array &whole, const runtime::TensorSpec &local, int64_t device, int64_t devices);

} // namespace millrace::tools
