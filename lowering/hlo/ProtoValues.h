// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProtoValues.h - Shapes, constants and shardings as XLA's messages --===//
#pragma once

#include "runtime/base/Status.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace millrace::hlo {

/// ShapeProto of `f32[2,3]{1,0}`, `(f32[], s32[4]{0})`, `token[]`, `b(f32[4]{0})`.
runtime::StatusOr<std::string> shapeProto(llvm::StringRef text);

/// LiteralProto of the operand of a constant with that shape.
runtime::StatusOr<std::string> literalProto(llvm::StringRef text, llvm::StringRef shape);

/// OpSharding of `{devices=[2,1,4]<=[8] last_tile_dim_replicate}`, `{replicated}`, `{{replicated}, {manual}}` and the like.
runtime::StatusOr<std::string> shardingProto(llvm::StringRef text);

} // namespace millrace::hlo
