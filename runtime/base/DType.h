// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DType.h - Element types in the runtime's buffers --------------------===//
// One enumerator per StableHLO element type. Types narrower than a byte (i1, i2, i4, f4, f6) and the f8 family take
// one byte per element in memory; signed small integers are sign-extended in it, unsigned ones and floats are zero-
// extended bit patterns. Complex numbers are stored real part first. Byte order is little endian.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace millrace::runtime {

/// The values are stored in programs, so that new types are appended and never renumbered.
enum class DType : uint8_t {
  Invalid = 0,
  I1 = 1, I2 = 2, I4 = 3, I8 = 4, I16 = 5, I32 = 6, I64 = 7,
  U2 = 8, U4 = 9, U8 = 10, U16 = 11, U32 = 12, U64 = 13,
  F4E2M1FN = 14, F6E2M3FN = 15, F6E3M2FN = 16,
  F8E3M4 = 17, F8E4M3 = 18, F8E4M3FN = 19, F8E4M3FNUZ = 20, F8E4M3B11FNUZ = 21, F8E5M2 = 22, F8E5M2FNUZ = 23,
  F8E8M0FNU = 24,
  BF16 = 25, F16 = 26, F32 = 27, F64 = 28,
  C64 = 29, C128 = 30, ///< complex<f32>, complex<f64>
  Token = 31,          ///< no storage
  Last = Token
};

/// Returns the bytes of one element in a buffer: 0 for Token and Invalid, 1 for every type of at most 8 bits.
size_t byteSize(DType type);
/// Returns the bits of the type itself: 4 for I4, 1 for I1, 128 for C128.
unsigned bitWidth(DType type);
/// Returns the type in MLIR's notation: "i1", "ui8", "f8E4M3FN", "bf16", "complex<f32>", "!stablehlo.token".
std::string_view name(DType type);
/// Inverse of name(), which also accepts "si8" and "token". Returns Invalid for unknown names.
DType dtypeFromName(std::string_view name);
bool isInteger(DType type); ///< i1 and all signed and unsigned integers
bool isSigned(DType type);  ///< signed integers only (not I1)
bool isFloat(DType type);   ///< real floating point types
bool isComplex(DType type);

} // namespace millrace::runtime
