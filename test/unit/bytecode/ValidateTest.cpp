// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ValidateTest.cpp - What the bytecode validation refuses ------------===//
#include "dialects/bytecode/Artifact.h"
#include "dialects/bytecode/Validate.h"
#include "dialects/stablehlo/Dialect.h"
#include "test/unit/bytecode/Assemble.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/raw_ostream.h"

#include <gmock/gmock.h>

#include <random>

using namespace millrace;
using namespace millrace::test;
using testing::HasSubstr;

namespace {

std::string errorOf(const Bytes &bytes) {
  std::string error;
  bool failed = mlir::failed(bytecode::validateBytecode(bytes, error));
  EXPECT_EQ(failed, !error.empty());
  return error;
}
std::string errorOf(const File &file) { return errorOf(file.bytes()); }

/// A context with the dialects that the tests write.
struct Context : mlir::MLIRContext {
  Context() : mlir::MLIRContext(mlir::MLIRContext::Threading::DISABLED) {
    loadDialect<mlir::func::FuncDialect, mlir::arith::ArithDialect, mlir::scf::SCFDialect, mlir::quant::QuantDialect>();
  }
};

TEST(Validate, AcceptsAFileByHand) {
  File file;
  EXPECT_EQ(errorOf(file), "");
  Context context;
  EXPECT_TRUE(bytecode::parseModule(file.bytes(), mlir::ParserConfig(&context), "hand"));
}

TEST(Validate, RefusesEveryTruncation) {
  Bytes whole = File().bytes();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(errorOf(whole.substr(0, size)), "") << size;
}

TEST(Validate, Varints) {
  for (uint64_t value : {uint64_t(0), uint64_t(127), uint64_t(128), uint64_t(1) << 20, uint64_t(1) << 55,
                         uint64_t(1) << 56, ~uint64_t(0)}) {
    std::string error;
    bytecode::Reader reader(num(value), error);
    Bytes encoded = num(value);
    bytecode::Reader again(encoded, error);
    EXPECT_EQ(again.varint(), value);
    EXPECT_TRUE(again.atEnd());
    Bytes cut = encoded.substr(0, encoded.size() - 1);
    bytecode::Reader shorter(cut, error);
    shorter.varint();
    EXPECT_THAT(error, HasSubstr("more bytes"));
  }
}

TEST(Validate, Header) {
  File file;
  Bytes bytes = file.bytes();
  bytes[0] = 'X';
  EXPECT_THAT(errorOf(bytes), HasSubstr("magic number"));
  file.version = 7;
  EXPECT_THAT(errorOf(file), HasSubstr("expects bytecode version 0 to 6, but got 7"));
  EXPECT_THAT(errorOf(File().bytes() + section(0, "")), HasSubstr("section 0 is there twice"));
  EXPECT_THAT(errorOf(File().bytes() + section(9, "")), HasSubstr("section id 9 is unknown"));
  EXPECT_THAT(errorOf(File().bytes() + cat(byte(0x85), num(0), num(3))), HasSubstr("power of two"));
  EXPECT_THAT(errorOf(File().bytes() + cat(byte(0x85), num(0), num(1 << 20))), HasSubstr("power of two up to 4096"));
}

TEST(Validate, Counts) {
  File file;
  file.operations = cat(num(2), num(0), byte(16), num(0), num(uint64_t(1) << 40));
  EXPECT_THAT(errorOf(file), HasSubstr("regions cannot be in the"));
  file = File();
  file.operations = cat(num(2), num(0), byte(16), num(0), num(1 << 1), num(1), num(uint64_t(1) << 60));
  EXPECT_THAT(errorOf(file), HasSubstr("values cannot be in the"));
  file = File();
  file.attribute(0, cat(num(0), num(uint64_t(1) << 50)));
  EXPECT_THAT(errorOf(file), HasSubstr("list items cannot be in the"));
}

TEST(Validate, References) {
  File file;
  file.attribute(0, cat(num(6), num(3)));
  EXPECT_THAT(errorOf(file), HasSubstr("type index 3 is out of range, there are 0"));
  file = File();
  file.attribute(0, cat(num(2), num(9)));
  EXPECT_THAT(errorOf(file), HasSubstr("string index 9 is out of range, there are 6"));
  file = File();
  file.attribute(0, num(23));
  EXPECT_THAT(errorOf(file), HasSubstr("attribute code 23 of dialect 'builtin' is unknown"));
  file = File();
  file.attribute(3, num(1));
  EXPECT_THAT(errorOf(file), HasSubstr("attribute code 1 of dialect 'stablehlo' is unknown"));
}

TEST(Validate, Cycles) {
  File file;
  file.attribute(0, cat(num(0), list({2})));
  file.attribute(0, cat(num(0), list({1})));
  EXPECT_THAT(errorOf(file), HasSubstr("contains itself"));
  file = File();
  file.builtinType(cat(num(15), list({0})));
  EXPECT_THAT(errorOf(file), HasSubstr("contains itself"));
  // Asking for the number type must not follow the cycle.
  file = File();
  file.builtinType(cat(num(9), num(1)));
  file.builtinType(cat(num(9), num(0)));
  file.attribute(0, cat(num(8), num(0), num(0)));
  EXPECT_THAT(errorOf(file), HasSubstr("expects an integer or index type"));
}

TEST(Validate, DepthAndSize) {
  File file;
  for (unsigned i = 0; i < bytecode::kMaxEntryDepth - 1; ++i)
    file.attribute(0, cat(num(0), list({i})));
  EXPECT_EQ(errorOf(file), "");
  file.attribute(0, cat(num(0), list({bytecode::kMaxEntryDepth - 1})));
  EXPECT_THAT(errorOf(file), HasSubstr("nest deeper than 512"));
  file = File();
  for (unsigned i = 0; i < 40; ++i)
    file.attribute(0, cat(num(0), list({i, i})));
  EXPECT_THAT(errorOf(file), HasSubstr("written out has more than"));
}

TEST(Validate, LocationsAtTheLimitOfDepthParse) {
  File file;
  uint64_t name = file.attribute(0, cat(num(2), num(0))), location = 0;
  for (unsigned i = 0; i < bytecode::kMaxEntryDepth - 1; ++i)
    location = file.attribute(0, cat(num(14), num(name), num(location)));
  file.operations = cat(num(2), num(0), byte(16), num(location), num(1 << 1 | 1), section(4, cat(num(1), num(0), num(0))));
  EXPECT_EQ(errorOf(file), "");
  Context context;
  EXPECT_TRUE(bytecode::parseModule(file.bytes(), mlir::ParserConfig(&context), "deep"));
}

TEST(Validate, TextEntries) {
  File file;
  file.type(0, File::text(std::string(200, '(')), false);
  EXPECT_THAT(errorOf(file), HasSubstr("nests deeper than 64"));
  file = File();
  file.type(0, File::text("!quant.any<i8:f32>"), false);
  EXPECT_THAT(errorOf(file), HasSubstr("expects text of dialect 'builtin'"));
  file = File();
  file.type(3, File::text("tuple<>"), false);
  EXPECT_THAT(errorOf(file), HasSubstr("expects text of dialect 'stablehlo'"));
  file = File();
  file.attribute(0, File::text("affine_map<(d0) -> (d0" + std::string(4000, '+') + ")>"), false);
  EXPECT_THAT(errorOf(file), HasSubstr("the text of an affine map is longer"));
  file = File();
  file.attribute(0, File::text("dense_resource<x> : tensor<2xf32>"), false);
  EXPECT_THAT(errorOf(file), HasSubstr("resource is referred to in text"));
}

TEST(Validate, ArraysInText) {
  for (const char *bad : {"array<index>", "array <index: 1>", "[array< i1, array<#builtin.x>]", "array<>"}) {
    File file;
    file.attribute(0, File::text(bad), false);
    EXPECT_THAT(errorOf(file), HasSubstr("arrays of integers or floats")) << bad;
  }
  for (const char *good : {"array<i64: 1>", "array<f32>", "array", "array<bf16: 1.0>"}) {
    File file;
    file.attribute(0, File::text(good), false);
    EXPECT_EQ(errorOf(file), "") << good;
  }
  File file;
  file.attribute(0, File::text("array // \n <index>"), false);
  EXPECT_THAT(errorOf(file), HasSubstr("has a comment"));
}

/// Random strings of tokens as text entries: refused, rejected by MLIR's text parser, or parsed, but never a crash. The parser
/// dies on `array<index` without the rule above.
TEST(Validate, RandomTextNeverCrashesTheParser) {
  const char *tokens[] = {"dense<", "sparse<", ">", "[", "]", "(", ")", " : ", "tensor<", "2x", "?x", "*x", "f32", "i1", "i4",
                          "complex<", "array<", "i64", "index", "loc(", "\"f\":1:2", "callsite(", " at ", "fused<",
                          "affine_map<(", "d0", ") -> (", " floordiv ", " mod ", "0", "-1", "strided<[", "], offset: ",
                          "memref<", "vector<", "[4]x", "unit", "true", "@f", "::@g", "\"0xFF00\"", "opaque<", "distinct[0]<",
                          "tuple<", "() -> ()", "!quant.uniform<i8:f32", ":0, {", ", 1.0:2>", "{", "}", "none", "1e400",
                          "9223372036854775808", "f8E4M3FN", "i16777216", "#stablehlo.bounds<", "#stablehlo<precision ",
                          "#stablehlo.conv<raw input_batch_dimension = ", "#stablehlo.gather<offset_dims = [", "="};
  Context context;
  context.loadDialect<stablehlo::StablehloDialect>();
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  std::mt19937_64 random(7);
  unsigned valid = 0;
  for (int i = 0; i < 30000; ++i) {
    Bytes text;
    for (size_t k = 0, e = 1 + random() % 10; k < e; ++k)
      text += tokens[random() % std::size(tokens)];
    Bytes open;
    for (char c : text)
      if (size_t which = Bytes("([{<").find(c); which != Bytes::npos)
        open += ")]}>"[which];
      else if (!open.empty() && open.back() == c)
        open.pop_back();
    text.append(open.rbegin(), open.rend());
    File file;
    unsigned dialect = text[0] == '!' ? 2 : text[0] == '#' ? 3 : 0;
    bool isType = text[0] == '!' || random() % 3 == 0;
    uint64_t entry = isType ? file.type(dialect, File::text(text), false) : file.attribute(dialect, File::text(text), false);
    uint64_t value = isType ? file.attribute(0, cat(num(6), num(entry))) : entry;
    uint64_t name = file.attribute(0, cat(num(2), num(1)));
    uint64_t dictionary = file.attribute(0, cat(num(1), num(1), num(name), num(value)));
    file.operations = cat(num(2), num(0), byte(16 | 1), num(0), num(dictionary), num(1 << 1 | 1),
                          section(4, cat(num(1), num(0), num(0))));
    Bytes bytes = file.bytes();
    std::string error;
    if (mlir::succeeded(bytecode::validateBytecode(bytes, error))) {
      ++valid;
      (void)bytecode::parseModule(bytes, mlir::ParserConfig(&context), "text");
    }
  }
  EXPECT_GT(valid, 10000u);
}

TEST(Validate, Types) {
  auto refused = [](auto make) {
    File file;
    make(file);
    return errorOf(file);
  };
  EXPECT_THAT(refused([](File &f) { f.integer(1 << 24); }), HasSubstr("width to be at most 16777215"));
  EXPECT_THAT(refused([](File &f) { f.integer(8, 3); }), HasSubstr("sign 0, 1 or 2"));
  EXPECT_THAT(refused([](File &f) { f.builtinType(cat(num(9), num(f.builtinType(num(1))))); }),
              HasSubstr("complex type of integers or floats"));
  EXPECT_THAT(refused([](File &f) { f.tensor({-3}, f.f32()); }), HasSubstr("dimension size of at least 0, but got -3"));
  EXPECT_THAT(refused([](File &f) { f.tensor({3}, f.builtinType(cat(num(15), list({})))); }),
              HasSubstr("cannot have elements of this type"));
  EXPECT_THAT(refused([](File &f) { f.builtinType(cat(num(19), shape({0}), num(f.f32()))); }),
              HasSubstr("at least 1, but got 0"));
  EXPECT_THAT(refused([](File &f) { f.builtinType(cat(num(20), num(1), byte(1), shape({4}), num(f.f32()))); }),
              HasSubstr("scalable vectors"));
  EXPECT_THAT(refused([](File &f) {
    uint64_t layout = f.attribute(0, File::text("affine_map<(d0, d1) -> (d0, d1)>"), false);
    f.builtinType(cat(num(10), shape({4}), num(f.f32()), num(layout)));
  }), HasSubstr("layout of a memref to be the identity or strided, of rank 1"));
  EXPECT_EQ(refused([](File &f) {
    uint64_t identity = f.attribute(0, File::text("affine_map<(d0) -> (d0)>"), false);
    uint64_t strided = f.attribute(0, File::text("strided<[2], offset: ?>"), false);
    uint64_t element = f.f32();
    f.builtinType(cat(num(10), shape({4}), num(element), num(identity)));
    f.builtinType(cat(num(10), shape({4}), num(element), num(strided)));
  }), "");
  EXPECT_THAT(refused([](File &f) {
    uint64_t bounds = f.attribute(3, File::text("#stablehlo.bounds<4, ?>"), false);
    f.builtinType(cat(num(14), num(bounds), shape({INT64_MIN}), num(f.f32())));
  }), HasSubstr("expects 1 bounds of dimensions, but got 2"));
  EXPECT_THAT(refused([](File &f) {
    uint64_t bounds = f.attribute(3, File::text("#stablehlo.type_extensions<bounds = [4]>"), false);
    f.builtinType(cat(num(14), num(bounds), shape({4}), num(f.f32())));
  }), HasSubstr("bounds of dynamic dimensions only"));
}

TEST(Validate, QuantizedTypes) {
  auto uniform = [](uint64_t flags, uint64_t bits, double scale, int64_t low, int64_t high) {
    File file;
    uint64_t storage = file.integer(bits), expressed = file.f32();
    file.type(2, cat(num(4), num(flags), num(storage), num(expressed), sig(llvm::bit_cast<int64_t>(scale)), sig(0),
                     sig(low), sig(high)));
    return errorOf(file);
  };
  EXPECT_EQ(uniform(1, 8, 0.5, -128, 127), "");
  EXPECT_THAT(uniform(2, 8, 0.5, 0, 127), HasSubstr("flags"));
  EXPECT_THAT(uniform(1, 64, 0.5, 0, 127), HasSubstr("signless integer of 1 to 32 bits"));
  EXPECT_THAT(uniform(1, 8, 0.0, -128, 127), HasSubstr("scale to be positive and finite"));
  EXPECT_THAT(uniform(1, 8, 0.5, -129, 127), HasSubstr("range inside of its storage type"));
  auto perAxis = [](uint64_t dim, std::vector<int64_t> scales, std::vector<int64_t> zeros) {
    File file;
    uint64_t storage = file.integer(8), expressed = file.f32();
    uint64_t element = file.type(2, cat(num(5), num(1), num(storage), num(expressed), num(dim), sig(-128), sig(127),
                                        shape(scales), shape(zeros)));
    file.tensor({4, 2}, element);
    return errorOf(file);
  };
  int64_t half = llvm::bit_cast<int64_t>(0.5);
  EXPECT_EQ(perAxis(1, {half, half}, {0, 1}), "");
  EXPECT_THAT(perAxis(1, {half, half}, {0}), HasSubstr("as many zero points as scales"));
  EXPECT_THAT(perAxis(2, {half, half}, {0, 0}), HasSubstr("quantized dimension below the rank 2, but got 2"));
  EXPECT_THAT(perAxis(0, {half, half}, {0, 0}), HasSubstr("as many scales as the quantized dimension"));
}

TEST(Validate, QuantizedDimensionOfVhlo) {
  File file;
  uint64_t storage = file.type(1, num(11)), expressed = file.type(1, num(4));
  int64_t half = llvm::bit_cast<int64_t>(0.5);
  uint64_t element = file.type(1, cat(num(30), num(1), num(storage), num(expressed), num(2), sig(-128), sig(127),
                                      shape({half, half}), shape({0, 0})));
  file.type(1, cat(num(20), shape({2, 2}), num(element)));
  EXPECT_THAT(errorOf(file), HasSubstr("quantized dimension below the rank 2, but got 2"));
}

TEST(Validate, Elements) {
  auto dense = [](std::vector<int64_t> sizes, Bytes content, uint64_t bits) {
    File file;
    file.attribute(0, cat(num(18), num(file.tensor(sizes, file.integer(bits))), blob(content)));
    return errorOf(file);
  };
  EXPECT_EQ(dense({2, 3}, Bytes(24, 'x'), 32), "");
  EXPECT_EQ(dense({2, 3}, Bytes(4, 'x'), 32), "");
  EXPECT_EQ(dense({2, 5}, Bytes(2, 'x'), 1), "");
  EXPECT_EQ(dense({2, 5}, Bytes(1, '\xff'), 1), "");
  EXPECT_THAT(dense({2, 5}, Bytes(1, 'x'), 1), HasSubstr("1 bytes do not hold 10 elements of 1 bits"));
  EXPECT_THAT(dense({2, 3}, Bytes(20, 'x'), 32), HasSubstr("20 bytes do not hold 6 elements of 32 bits"));
  EXPECT_THAT(dense({INT64_MIN}, Bytes(4, 'x'), 32), HasSubstr("static shape"));
  EXPECT_THAT(dense({int64_t(1) << 40, int64_t(1) << 40}, Bytes(4, 'x'), 32), HasSubstr("more than 2^63 elements"));

  auto array = [](uint64_t bits, uint64_t size, Bytes content) {
    File file;
    file.attribute(0, cat(num(17), num(file.integer(bits)), num(size), blob(content)));
    return errorOf(file);
  };
  EXPECT_EQ(array(64, 2, Bytes(16, 'x')), "");
  EXPECT_THAT(array(64, 3, Bytes(16, 'x')), HasSubstr("16 bytes do not hold an array of 3"));
  EXPECT_THAT(array(1, 1, Bytes(1, '\2')), HasSubstr("booleans to be 0 or 1"));
  EXPECT_THAT(array(4, 1, Bytes(1, '\2')), HasSubstr("whole bytes"));

  File file;
  file.attribute(0, cat(num(19), num(file.tensor({2}, file.f32())), num(0), num(0), num(0)));
  EXPECT_THAT(errorOf(file), HasSubstr("expects numbers, but got strings"));
  file = File();
  file.attribute(0, cat(num(20), num(file.f32()), num(0), num(0)));
  EXPECT_THAT(errorOf(file), HasSubstr("sparse elements"));
  file = File();
  file.attribute(1, cat(num(15), num(file.type(1, cat(num(20), shape({3}), num(file.type(1, num(4)))))), blob("12345678")));
  EXPECT_THAT(errorOf(file), HasSubstr("8 bytes do not hold 3 elements of 32 bits"));
}

TEST(Validate, Dictionaries) {
  File file;
  uint64_t name = file.attribute(0, cat(num(2), num(0)));
  file.attribute(0, cat(num(1), num(2), num(name), num(0), num(name), num(0)));
  EXPECT_THAT(errorOf(file), HasSubstr("attribute 'builtin' is there twice"));
  file = File();
  name = file.attribute(0, cat(num(2), num(4)));
  file.attribute(0, cat(num(1), num(1), num(name), num(0)));
  EXPECT_THAT(errorOf(file), HasSubstr("to have a name"));
  file = File();
  file.attribute(0, cat(num(1), num(1), num(0), num(0)));
  EXPECT_THAT(errorOf(file), HasSubstr("name of an attribute to be a string"));
}

TEST(Validate, Resources) {
  auto resource = [](int64_t elements, Bytes content, bool declared) {
    File file;
    file.resources = declared ? "" : content;
    file.resourceOffsets = cat(num(0), num(0), num(1), num(1), num(file.resources.size()), byte(0));
    file.attribute(0, cat(num(16), num(file.tensor({elements}, file.f32())), num(0)));
    return errorOf(file);
  };
  // Alignment 1, then 8 bytes.
  EXPECT_EQ(resource(2, cat(num(1), blob("12345678")), false), "");
  EXPECT_THAT(resource(3, cat(num(1), blob("12345678")), false), HasSubstr("8 bytes does not hold 3 elements"));
  EXPECT_THAT(resource(2, cat(num(uint64_t(1) << 32), blob("12345678")), false), HasSubstr("power of two"));
  EXPECT_THAT(resource(2, "", true), HasSubstr("resource with data"));
}

/// A module whose region has `numValues` values and `block`.
File withBlock(uint64_t numValues, const Bytes &block) {
  File file;
  file.f32();
  file.operations = cat(num(2), num(0), byte(16), num(0), num(1 << 1 | 1), section(4, cat(num(1), num(numValues), block)));
  return file;
}
const Bytes define = cat(num(0), byte(2), num(0), list({0})); // one result of type 0

TEST(Validate, Operations) {
  EXPECT_EQ(errorOf(withBlock(1, cat(num(1 << 1), define))), "");
  EXPECT_THAT(errorOf(withBlock(2, cat(num(1 << 1), define))), HasSubstr("expects 2 values in a region, but got 1"));
  EXPECT_THAT(errorOf(withBlock(0, cat(num(1 << 1), define))), HasSubstr("expects 0 values in a region, but got more"));
  Bytes use = cat(num(0), byte(4), num(0), list({1}));
  EXPECT_THAT(errorOf(withBlock(1, cat(num(2 << 1), define, use))), HasSubstr("value index 1 is out of range, there are 1"));
  EXPECT_THAT(errorOf(withBlock(0, cat(num(1 << 1), num(7), byte(0), num(0)))), HasSubstr("operation name index 7"));
  EXPECT_THAT(errorOf(withBlock(0, cat(num(1 << 1), num(0), byte(128), num(0)))), HasSubstr("unknown parts"));
  EXPECT_THAT(errorOf(withBlock(0, cat(num(1 << 1), num(0), byte(8), num(0), list({1})))),
              HasSubstr("block index 1 is out of range"));
  EXPECT_THAT(errorOf(withBlock(0, cat(num(1 << 1), num(0), byte(64), num(0), num(0)))), HasSubstr("properties index 0"));
  EXPECT_THAT(errorOf(withBlock(0, cat(num(0), num(0)))), HasSubstr("left after the regions"));
  File file;
  file.operations = cat(num(2), num(0), byte(8), num(0), list({0}));
  EXPECT_THAT(errorOf(file), HasSubstr("the top level has successors"));
}

TEST(Validate, OrdersOfUses) {
  // A value with 3 uses, and an order of them.
  auto order = [](bool pairs, const std::vector<uint64_t> &indices) {
    Bytes result = cat(num(0), byte(2 | 32), num(0), list({0}), num(indices.size() << 1 | pairs));
    for (uint64_t index : indices)
      result += num(index);
    return errorOf(withBlock(1, cat(num(2 << 1), result, cat(num(0), byte(4), num(0), list({0, 0, 0})))));
  };
  EXPECT_EQ(order(false, {2, 0, 1}), "");
  EXPECT_EQ(order(true, {0, 1, 1, 0}), "");
  for (auto bad : {std::vector<uint64_t>{0, 1}, {0, 0, 1}, {0, 1, 3}, {0, 1, ~uint64_t(0)}})
    EXPECT_THAT(order(false, bad), HasSubstr("permute the 3 uses"));
  for (auto bad : {std::vector<uint64_t>{0}, {7, 0, 0, 7}, {0, 1}, {uint64_t(1) << 32, 0}})
    EXPECT_THAT(order(true, bad), HasSubstr("permute the 3 uses"));
}

TEST(Validate, RegionsAtTheLimitOfDepthParseAndOneDeeperIsRefused) {
  for (unsigned depth : {bytecode::kMaxRegionDepth - 2, bytecode::kMaxRegionDepth}) {
    Context context;
    std::string text = "func.func @f(%c: i1) {\n";
    for (unsigned i = 0; i < depth; ++i)
      text += "scf.if %c {\n";
    text += std::string(depth, '}') + "\nreturn }";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    ASSERT_TRUE(mlir::succeeded(mlir::writeBytecodeToFile(*module, stream)));
    if (depth == bytecode::kMaxRegionDepth) {
      EXPECT_THAT(errorOf(bytes), HasSubstr("regions nest deeper than 256"));
      continue;
    }
    EXPECT_EQ(errorOf(bytes), "");
    EXPECT_TRUE(bytecode::parseModule(bytes, mlir::ParserConfig(&context), "deep"));
  }
}

TEST(Validate, AcceptsWhatMlirWritesInEveryVersion) {
  const char *text = R"(
    module @m attributes {x.a = [1 : i8, 2.5 : f16, "s", @f, unit, tensor<2x?xf8E4M3FN>, dense<[1, 2]> : tensor<2xi4>],
                          x.wide = -3 : i200, x.big = 1.0 : f80, x.t = tensor<2x!quant.uniform<i8:f32:0, {0.5:1, 2.0}>>} {
      func.func @f(%a: i32, %b: memref<2x3xf32, strided<[3, 1], offset: 4>>, %v: vector<4xf32>) -> (i32, index) {
        %0 = arith.addi %a, %a : i32
        %1 = arith.muli %0, %a : i32
        %2 = arith.subi %1, %0 : i32
        %c = arith.constant dense<[true, false, true]> : tensor<3xi1>
        %i = arith.constant dense_resource<r> : tensor<2xf32>
        %n = arith.index_cast %2 : i32 to index
        return %2, %n : i32, index
      } loc(callsite("x" at fused<"m">["f.py":1:2, "g.py":3:4 to 5:6]))
    }
    {-# dialect_resources: { builtin: { r: "0x080000000000803F00000040" } } #-})";
  for (int version = 0; version <= 6; ++version) {
    Context context;
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    mlir::BytecodeWriterConfig config("test");
    config.setDesiredBytecodeVersion(version);
    ASSERT_TRUE(mlir::succeeded(mlir::writeBytecodeToFile(*module, stream, config)));
    EXPECT_EQ(errorOf(bytes), "") << version;
    // The string's own address is not aligned as the resource asks: parseModule must copy.
    EXPECT_TRUE(bytecode::parseModule(bytes, mlir::ParserConfig(&context), "written"));
  }
}

} // namespace
