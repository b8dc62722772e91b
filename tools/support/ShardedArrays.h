// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShardedArrays.h - Between whole arrays and what devices hold of them -===//
#pragma once

#include "runtime/program/Program.h"
#include "tools/support/Npy.h"

#include <vector>

namespace millrace::tools {

/// The shape of the whole array of which `local` is what one of `devices` holds, by its `mhlo.sharding` string. InvalidArgument
/// if the string cannot be read.
runtime::StatusOr<std::vector<int64_t>> globalDims(const runtime::TensorSpec &local, int64_t devices);

/// What each device holds of `global`.
runtime::StatusOr<std::vector<Array>> cutIntoTiles(const Array &global, const runtime::TensorSpec &local, int64_t devices);

/// The whole array from what each device holds, `tiles[device]`.
runtime::StatusOr<Array> joinTiles(const std::vector<const Array *> &tiles, const runtime::TensorSpec &local);

} // namespace millrace::tools
