// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sharding.h - Tensors that the user wants split ----------------------===//
#pragma once
#include "python/torch_xla/csrc/Shim.h"
#include "tracing/spmd/Sharding.h"

#include <Python.h>

namespace millrace::torch_shim {

/// The value with that sharding: data that is there is moved at once, what still has to be computed is annotated.
Value annotate(const Value &value, const tracing::ShardingPtr &sharding);
/// How a value is or will be sharded: its own text, "{replicated}" of what an SPMD program computed whole, else "".
std::string shardingText(const Value &value);

/// Gives the storage another value, in the sharding that the user wants of whatever it holds.
void replaceBase(Storage &storage, Value value);
/// Before what storages hold is computed: tensors without annotations that are written in place stay in the shards that they came
/// in. What propagation finds for them would be the next step's input, and every step another program until that settles.
/// Whole tensors stay whole only beside such: alone they run as they would on one device.
void keepHeldShardings(const std::vector<Storage *> &storages);

/// The functions of Sharding.cpp.
extern PyMethodDef shardingMethods[];

} // namespace millrace::torch_shim
