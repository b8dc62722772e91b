// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attributes.h - Attributes that passes leave for later passes -------===//
// Every attribute of the namespace `millrace` has its name here and its check in Dialect.cpp; the dialect refuses all others.
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace millrace {

//===-- Of functions --------------------------------------------------------===//

/// Unit: the function becomes machine code.
inline constexpr llvm::StringLiteral kKernelAttr = "millrace.kernel";
/// Unit, of a kernel: it was fused because the emitter of attention takes it.
inline constexpr llvm::StringLiteral kAttentionAttr = "millrace.attention";
/// Array of [operand, result] pairs, of a kernel: it updates the operand's buffer and leaves the result in it.
inline constexpr llvm::StringLiteral kInPlaceAttr = "millrace.in_place";
/// Array of elements attributes: the values of the last arguments of a function, see xla-hoist-constants.
inline constexpr llvm::StringLiteral kHoistedAttr = "millrace.hoisted";
/// Dense i64 array: bytes of temporaries that are alive at a time, {in the order that the program had, in no order fewer than}.
inline constexpr llvm::StringLiteral kOrderBytesAttr = "millrace.order_bytes";
/// Dictionary, of a kernel that is one reduce_window: the window, which the kernel in linalg does not show any more.
inline constexpr llvm::StringLiteral kWindowReduceAttr = "millrace.window_reduce";
/// Dictionary, of a kernel that is one select_and_scatter: the window, which the kernel in linalg does not show any more.
inline constexpr llvm::StringLiteral kWindowScatterAttr = "millrace.window_scatter";
/// String, of an emitted kernel: the emitter's name.
inline constexpr llvm::StringLiteral kEmitterAttr = "millrace.emitter";
/// Integer, of an emitted kernel: units of work, which threads share.
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
/// Dense i64 array, of an argument or result whose shards do not fill the whole: the whole tensor's shape.
inline constexpr llvm::StringLiteral kWholeShapeAttr = "millrace.whole_shape";
/// Unit, of an argument of the entry function: consecutive executions are expected to get the same buffer.
inline constexpr llvm::StringLiteral kConstantAttr = "millrace.constant";
/// Integer, of an argument or result of a function for a run-time number of rows: the number of indices of its first dimension that are one row.
inline constexpr llvm::StringLiteral kRowIndicesAttr = "millrace.row_indices";

//===-- Of modules ----------------------------------------------------------===//

/// Unit: shardings were propagated already.
inline constexpr llvm::StringLiteral kShardingsPropagatedAttr = "millrace.shardings_propagated";

//===-- Of operations -------------------------------------------------------===//

/// Integer, of a while operation: how often its body runs.
inline constexpr llvm::StringLiteral kTripCountAttr = "millrace.trip_count";
/// Dense elements, of a convolution: zeros, [low, high] per spatial dimension, that its left operand got around it before. The products with
/// them are not counted as work.
inline constexpr llvm::StringLiteral kBordersAttr = "millrace.borders";
/// Unit, of a multiplication or addition from the expansion of a function: a product and the sum that it is for may be rounded as one.
inline constexpr llvm::StringLiteral kMayFuseAttr = "millrace.may_fuse";
/// Unit, of both products head * head and (head - a) * (head + a), where only their difference a^2 matters: code generation may take any other
/// numbers with that difference.
inline constexpr llvm::StringLiteral kSquareAttr = "millrace.square_in_parts";
/// Integer, of a draw of random bits: its number in the program.
inline constexpr llvm::StringLiteral kRngOrdinalAttr = "millrace.rng_ordinal";
/// String, of a collective: the group of devices for which it was recorded, where there may be several of the same ones. It becomes a part of the
/// step's name, which all members compare and messages print.
inline constexpr llvm::StringLiteral kGroupNameAttr = "millrace.group";
/// Symbol, of a collective: the kernel that computes its reduction.
inline constexpr llvm::StringLiteral kReducerAttr = "millrace.reducer";
/// Symbol, of a call of a kernel for a run-time number of rows: the kernel that is called instead where there are few.
inline constexpr llvm::StringLiteral kFewRowsKernelAttr = "millrace.few_rows_kernel";
/// Unit, of the outermost loop of a kernel: its iterations are independent and may run in different calls. An iteration touches no row of the
/// results but its own.
inline constexpr llvm::StringLiteral kParallelRowsAttr = "millrace.parallel_rows";
/// Unit, of the outermost loop of a kernel: the same for iterations that divide the results in some other way.
inline constexpr llvm::StringLiteral kParallelPartsAttr = "millrace.parallel_parts";
/// Unit, of an operation or argument that had a sharding before any pass.
inline constexpr llvm::StringLiteral kAnnotatedAttr = "millrace.annotated";

} // namespace millrace
