// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scalars.cpp - Tables of parameterless types and of enumerations ----===//
#include "dialects/vhlo/Scalars.h"

#include "dialects/stablehlo/Dialect.h"
#include "mlir/Dialect/Shape/IR/Shape.h"

using namespace mlir;

namespace millrace::vhlo {
namespace {

template <unsigned width> Type signless(MLIRContext *context) { return IntegerType::get(context, width); }
template <unsigned width> Type unsignedInt(MLIRContext *context) {
  return IntegerType::get(context, width, IntegerType::Unsigned);
}
template <typename T> Type plain(MLIRContext *context) { return T::get(context); }

// The columns are code, mnemonic, first version, type. Source: the VHLO dialect of StableHLO 1.20, which really has the name `tf31_v1`.
constexpr ScalarDef scalars[] = {
    {0, "bool_v1", {0, 9}, signless<1>},
    {2, "bf16_v1", {0, 9}, plain<BFloat16Type>},
    {3, "f16_v1", {0, 9}, plain<Float16Type>},
    {4, "f32_v1", {0, 9}, plain<Float32Type>},
    {5, "f64_v1", {0, 9}, plain<Float64Type>},
    {6, "f8E4M3FN_v1", {0, 9}, plain<Float8E4M3FNType>},
    {7, "f8E5M2_v1", {0, 9}, plain<Float8E5M2Type>},
    {9, "index_v1", {0, 9}, plain<IndexType>},
    {10, "i4_v1", {0, 9}, signless<4>},
    {11, "i8_v1", {0, 9}, signless<8>},
    {12, "i16_v1", {0, 9}, signless<16>},
    {13, "i32_v1", {0, 9}, signless<32>},
    {14, "i64_v1", {0, 9}, signless<64>},
    {15, "ui4_v1", {0, 9}, unsignedInt<4>},
    {16, "ui8_v1", {0, 9}, unsignedInt<8>},
    {17, "ui16_v1", {0, 9}, unsignedInt<16>},
    {18, "ui32_v1", {0, 9}, unsignedInt<32>},
    {19, "ui64_v1", {0, 9}, unsignedInt<64>},
    {22, "token_v1", {0, 9}, plain<stablehlo::TokenType>},
    {26, "witness_v1", {0, 9}, plain<shape::WitnessType>},
    {27, "f8E4M3FNUZ_v1", {0, 10}, plain<Float8E4M3FNUZType>},
    {28, "f8E5M2FNUZ_v1", {0, 10}, plain<Float8E5M2FNUZType>},
    {29, "f8E4M3B11FNUZ_v1", {0, 11}, plain<Float8E4M3B11FNUZType>},
    {31, "i2_v1", {1, 2}, signless<2>},
    {32, "ui2_v1", {1, 2}, unsignedInt<2>},
    {33, "none_v1", {1, 6}, plain<NoneType>},
    {34, "tf31_v1", {1, 6}, plain<FloatTF32Type>},
    {35, "f8E4M3_v1", {1, 7}, plain<Float8E4M3Type>},
    {36, "f8E3M4_v1", {1, 7}, plain<Float8E3M4Type>},
    {37, "f4E2M1FN_v1", {1, 8}, plain<Float4E2M1FNType>},
    {38, "f6E2M3FN_v1", {1, 8}, plain<Float6E2M3FNType>},
    {39, "f6E3M2FN_v1", {1, 8}, plain<Float6E3M2FNType>},
    {40, "f8E8M0FNU_v1", {1, 8}, plain<Float8E8M0FNUType>},
};

constexpr llvm::StringLiteral comparisonDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr llvm::StringLiteral comparisonTypes[] = {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
constexpr llvm::StringLiteral apiVersions[] = {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL",
                                               "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",
                                               "API_VERSION_TYPED_FFI"};
constexpr llvm::StringLiteral fftTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr llvm::StringLiteral precisions[] = {"DEFAULT", "HIGH", "HIGHEST"};
constexpr llvm::StringLiteral rngAlgorithms[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
constexpr llvm::StringLiteral rngDistributions[] = {"", "UNIFORM", "NORMAL"};
constexpr llvm::StringLiteral transposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
constexpr llvm::StringLiteral accuracyModes[] = {"DEFAULT", "HIGHEST", "TOLERANCE"};

const EnumDef enums[] = {
    {code::ComparisonDirection, "comparison_direction_v1", {0, 9}, comparisonDirections},
    {code::ComparisonType, "comparison_type_v1", {0, 9}, comparisonTypes},
    {code::CustomCallApiVersion, "api_version_v1", {0, 9}, apiVersions},
    {code::FftType, "fft_type_v1", {0, 9}, fftTypes},
    {code::Precision, "precision_v1", {0, 9}, precisions},
    {code::RngAlgorithm, "rng_algorithm_v1", {0, 9}, rngAlgorithms},
    {code::RngDistribution, "rng_distribution_v1", {0, 9}, rngDistributions},
    {code::Transpose, "transpose_v1", {0, 9}, transposes},
    {code::ResultAccuracyMode, "result_accuracy_mode_v1", {1, 9}, accuracyModes},
};

template <typename Table, typename Predicate> auto *find(Table &table, Predicate predicate) {
  auto *found = llvm::find_if(table, predicate);
  return found == std::end(table) ? nullptr : found;
}

} // namespace

llvm::ArrayRef<ScalarDef> scalarTable() { return scalars; }
const ScalarDef *lookupScalar(unsigned code) {
  return find(scalars, [&](const ScalarDef &def) { return def.code == code; });
}
const ScalarDef *lookupScalar(llvm::StringRef mnemonic) {
  return find(scalars, [&](const ScalarDef &def) { return def.mnemonic == mnemonic; });
}

llvm::ArrayRef<EnumDef> enumTable() { return enums; }
const EnumDef *lookupEnum(unsigned code) {
  return find(enums, [&](const EnumDef &def) { return def.code == code; });
}
const EnumDef *lookupEnum(llvm::StringRef mnemonic) {
  return find(enums, [&](const EnumDef &def) { return def.mnemonic == mnemonic; });
}

std::optional<unsigned> EnumDef::parse(llvm::StringRef name) const {
  const auto *found = llvm::find(values, name);
  if (name.empty() || found == values.end())
    return std::nullopt;
  return found - values.begin();
}

} // namespace millrace::vhlo
