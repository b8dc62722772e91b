// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attributes.h - Attributes that passes set for later passes ----------===//
// Every attribute of the namespace `millrace` has its name here and its check in Dialect.cpp. The dialect rejects all others.
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace millrace {

//===-- Of functions --------------------------------------------------------===//

/// Unit: the function becomes machine code.
inline constexpr llvm::StringLiteral kKernelAttr = "millrace.kernel";
/// Unit, of a kernel: it was fused because the attention emitter supports it.
inline constexpr llvm::StringLiteral kAttentionAttr = "millrace.attention";
/// Dictionary, of a kernel: it multiplies rows of bytes with weights in codes, see xla-fuse-coded-products, as the body says.
inline constexpr llvm::StringLiteral kCodedProductAttr = "millrace.coded_product";
/// Array of [operand, result] pairs, of a kernel: the result is computed in place, in the operand's buffer.
inline constexpr llvm::StringLiteral kInPlaceAttr = "millrace.in_place";
/// Array of elements attributes: the values of the last arguments of a function, see xla-hoist-constants.
inline constexpr llvm::StringLiteral kHoistedAttr = "millrace.hoisted";
/// Dense i64 array: peak bytes of live temporaries, {in the program's order, lower bound for every order}.
inline constexpr llvm::StringLiteral kOrderBytesAttr = "millrace.order_bytes";
/// String, of an emitted kernel: the emitter's name.
inline constexpr llvm::StringLiteral kEmitterAttr = "millrace.emitter";
/// Integer, of an emitted kernel: the number of iterations of its range, which threads share.
inline constexpr llvm::StringLiteral kRangeEndAttr = "millrace.range_end";
/// Integer, of an emitted kernel: bytes of scratch memory for each thread.
inline constexpr llvm::StringLiteral kScratchBytesAttr = "millrace.scratch_bytes";
/// Dictionary, of a kernel: its argument `panels` holds its argument `operand` in the order that `layout` describes, see
/// xla-prepare-constants. The body reads the operand; code that knows the layout may read the panels instead.
inline constexpr llvm::StringLiteral kPanelsAttr = "millrace.panels";
/// Symbol, of the entry function: the function whose results are the entry function's last arguments.
inline constexpr llvm::StringLiteral kPrepareAttr = "millrace.prepare";
/// Dense i64 array, of the function that kPrepareAttr names: for each of its arguments the index of the entry function's argument that it gets.
inline constexpr llvm::StringLiteral kPreparedFromAttr = "millrace.prepared_from";
/// Dense i64 array, of a function for a run-time number of rows: the largest number; of a kernel, then the elements of one row of each result,
/// from row to row.
inline constexpr llvm::StringLiteral kRowsAttr = "millrace.rows";
/// Integer, of a kernel for a run-time number of rows: an upper bound of that number, although the kernel's buffers have room for more rows.
inline constexpr llvm::StringLiteral kFewRowsAttr = "millrace.few_rows";

//===-- Of arguments and results --------------------------------------------===//

/// Unit, of an argument whose sharding propagation may choose.
inline constexpr llvm::StringLiteral kOpenAttr = "millrace.open";
/// Dense i64 array, of an argument or result whose shards are padded: the shape of the whole tensor.
inline constexpr llvm::StringLiteral kWholeShapeAttr = "millrace.whole_shape";
/// Unit, of an argument of the entry function: consecutive executions are expected to get the same buffer.
inline constexpr llvm::StringLiteral kConstantAttr = "millrace.constant";
/// Integer, of an argument or result of a function for a run-time number of rows: the number of indices of its first dimension that are one row.
inline constexpr llvm::StringLiteral kRowIndicesAttr = "millrace.row_indices";

//===-- Of modules ----------------------------------------------------------===//

/// Unit: shardings have been propagated.
inline constexpr llvm::StringLiteral kShardingsPropagatedAttr = "millrace.shardings_propagated";
/// Integer: limit of the bytes of values on a device, for which automatic sharding has planned.
inline constexpr llvm::StringLiteral kMemoryPerDeviceAttr = "millrace.memory_per_device";

//===-- Of operations -------------------------------------------------------===//

/// Integer, of a while operation: its trip count.
inline constexpr llvm::StringLiteral kTripCountAttr = "millrace.trip_count";
/// Dense elements, of a convolution: [low, high] zeros per spatial dimension by which its left operand was padded before. Products with them are not
/// counted as work.
inline constexpr llvm::StringLiteral kBordersAttr = "millrace.borders";
/// Unit, of a multiplication or addition from the expansion of a function: the product and its addition may be contracted to one operation with one
/// rounding.
inline constexpr llvm::StringLiteral kMayFuseAttr = "millrace.may_fuse";
/// Unit, of both products head * head and (head - a) * (head + a), of which only the difference a^2 is used: code generation may replace them by any
/// numbers with that difference.
inline constexpr llvm::StringLiteral kSquareAttr = "millrace.square_in_parts";
/// Integer, of an operation that draws random bits: its number in the program.
inline constexpr llvm::StringLiteral kRngOrdinalAttr = "millrace.rng_ordinal";
/// String, of a collective: the name of the group of devices for which it was recorded, because several groups may have the same devices. It becomes
/// a part of the step's name, which all members compare and messages print.
inline constexpr llvm::StringLiteral kGroupNameAttr = "millrace.group";
/// Symbol, of a collective: the kernel that computes its reduction.
inline constexpr llvm::StringLiteral kReducerAttr = "millrace.reducer";
/// Symbol, of a call of a kernel for a run-time number of rows: the kernel that is called instead where there are few.
inline constexpr llvm::StringLiteral kFewRowsKernelAttr = "millrace.few_rows_kernel";
/// Unit, of the outermost loop of a kernel: its iterations are independent and may run in different calls. An iteration accesses only its own row of
/// the results.
inline constexpr llvm::StringLiteral kParallelRowsAttr = "millrace.parallel_rows";
/// Unit, of the outermost loop of a kernel: the same for iterations that divide the results in another way.
inline constexpr llvm::StringLiteral kParallelPartsAttr = "millrace.parallel_parts";
/// Unit, of an operation or argument that had a sharding before any pass.
inline constexpr llvm::StringLiteral kAnnotatedAttr = "millrace.annotated";

} // namespace millrace
