// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContractionTest.cpp - Matrix products and convolutions, executed ---===//
#include "test/unit/emitters/Harness.h"

#include <gtest/gtest.h>

namespace millrace::test {
namespace {

std::string substitute(std::string text, std::initializer_list<std::pair<const char *, std::string>> values) {
  for (auto &[name, value] : values) {
    std::string from = name;
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += value.size())
      text.replace(at, from.size(), value);
  }
  return text;
}

std::string matmul(int64_t m, int64_t n, int64_t k, bool transposeA, bool transposeB, const std::string &in,
                   const std::string &out) {
  bool floats = in[0] != 'i';
  std::string widen = in == out ? "%p = $MUL %a, %b : $IN\n"
                                : std::string(floats ? "%aw = arith.extf %a : $IN to $OUT\n %bw = arith.extf %b : $IN to $OUT\n"
                                                     : "%aw = arith.extsi %a : $IN to $OUT\n %bw = arith.extsi %b : $IN to $OUT\n") +
                                      "%p = $MUL %aw, %bw : $OUT\n";
  std::string text = R"(
func.func @k(%a: tensor<$ASHAPEx$IN>, %b: tensor<$BSHAPEx$IN>) -> tensor<$Mx$Nx$OUT> {
  %zero = arith.constant $ZERO : $OUT
  %e = tensor.empty() : tensor<$Mx$Nx$OUT>
  %f = linalg.fill ins(%zero : $OUT) outs(%e : tensor<$Mx$Nx$OUT>) -> tensor<$Mx$Nx$OUT>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> ($AMAP)>, affine_map<(m, n, k) -> ($BMAP)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<$ASHAPEx$IN>, tensor<$BSHAPEx$IN>) outs(%f : tensor<$Mx$Nx$OUT>) {
    ^bb0(%a_: $IN, %b_: $IN, %s: $OUT):
      $BODY
      %t = $ADD %s, %p : $OUT
      linalg.yield %t : $OUT
  } -> tensor<$Mx$Nx$OUT>
  return %c : tensor<$Mx$Nx$OUT>
})";
  auto shape = [](int64_t x, int64_t y) { return std::to_string(x) + "x" + std::to_string(y); };
  text = substitute(text, {{"$BODY", widen},
                           {"$MUL", floats ? "arith.mulf" : "arith.muli"},
                           {"$ADD", floats ? "arith.addf" : "arith.addi"},
                           {"$ZERO", floats ? "0.0" : "0"},
                           {"$ASHAPE", transposeA ? shape(k, m) : shape(m, k)},
                           {"$BSHAPE", transposeB ? shape(n, k) : shape(k, n)},
                           {"$AMAP", transposeA ? "k, m" : "m, k"},
                           {"$BMAP", transposeB ? "n, k" : "k, n"},
                           {"$M", std::to_string(m)},
                           {"$N", std::to_string(n)},
                           {"$IN", in},
                           {"$OUT", out}});
  // Block arguments may not hide the function's.
  text = substitute(text, {{"%aw = arith.extf %a ", "%aw = arith.extf %a_ "},
                           {"%bw = arith.extf %b ", "%bw = arith.extf %b_ "},
                           {"%aw = arith.extsi %a ", "%aw = arith.extsi %a_ "},
                           {"%bw = arith.extsi %b ", "%bw = arith.extsi %b_ "},
                           {"mulf %a, %b ", "mulf %a_, %b_ "},
                           {"muli %a, %b ", "muli %a_, %b_ "}});
  return text;
}

struct Shape {
  int64_t m, n, k;
};
const Shape kShapes[] = {{2, 16, 1},  {2, 48, 3},    {8, 48, 32},   {7, 33, 17},    {5, 100, 64}, {16, 64, 64},
                         {17, 49, 5}, {33, 77, 129}, {64, 200, 70}, {100, 40, 900}, {13, 97, 1700}, {128, 128, 64}};

TEST(Contraction, RowMajorF32) {
  for (auto [m, n, k] : kShapes)
    EXPECT_EQ(check(matmul(m, n, k, false, false, "f32", "f32"), Path::Contraction, 1e-4), "")
        << m << "x" << n << "x" << k;
}
/// Large enough that panels are packed while those before are multiplied: one block of k and several, a last panel with fewer columns, the last
/// panels packed together with some before, tiles with a row less.
TEST(Contraction, PackedAhead) {
  for (auto [m, n, k] : {Shape{64, 480, 256}, {37, 1000, 130}, {49, 250, 2600}, {120, 331, 1700}, {200, 96, 3074}, {130, 768, 768}})
    for (bool transposed : {false, true})
      EXPECT_EQ(check(matmul(m, n, k, transposed, false, "f32", "f32"), Path::Contraction, 1e-3), "") << m << "x" << n << "x" << k;
}
TEST(Contraction, TransposedA) {
  for (auto [m, n, k] : kShapes)
    EXPECT_EQ(check(matmul(m, n, k, true, false, "f32", "f32"), Path::Contraction, 1e-4), "")
        << m << "x" << n << "x" << k;
}
TEST(Contraction, TransposedB) {
  for (auto [m, n, k] : kShapes)
    EXPECT_EQ(check(matmul(m, n, k, false, true, "f32", "f32"), Path::Contraction, 1e-4), "")
        << m << "x" << n << "x" << k;
}
TEST(Contraction, BothTransposed) {
  for (auto [m, n, k] : kShapes)
    EXPECT_EQ(check(matmul(m, n, k, true, true, "f32", "f32"), Path::Contraction, 1e-4), "")
        << m << "x" << n << "x" << k;
}
TEST(Contraction, F64) {
  for (auto [m, n, k] : kShapes)
    EXPECT_EQ(check(matmul(m, n, k, false, true, "f64", "f64"), Path::Contraction, 1e-12), "")
        << m << "x" << n << "x" << k;
}
TEST(Contraction, Bf16ToF32) {
  for (auto [m, n, k] : kShapes)
    EXPECT_EQ(check(matmul(m, n, k, false, false, "bf16", "f32"), Path::Contraction, 1e-4), "")
        << m << "x" << n << "x" << k;
}
TEST(Contraction, Bf16Transposed) {
  for (auto [m, n, k] : kShapes)
    for (bool transposeA : {false, true})
      EXPECT_EQ(check(matmul(m, n, k, transposeA, true, "bf16", "f32"), Path::Contraction, 1e-4), "")
          << m << "x" << n << "x" << k;
}
// More results than caches keep: few rows at a time pass all panels of a group; a last group with fewer panels, a last panel with fewer columns.
TEST(Contraction, FewRowsAtATime) {
  for (auto [m, n, k] : {Shape{130, 12300, 50}, {603, 2700, 130}})
    for (bool transposed : {false, true})
      EXPECT_EQ(check(matmul(m, n, k, transposed, false, "f32", "f32"), Path::Contraction, 1e-4), "") << m << "x" << n << "x" << k;
}

// More k than the matrix unit takes at once: whole parts, a short last one, several blocks; several chunks of rows pass the same panels.
TEST(Contraction, PartsOfK) {
  for (auto [m, n, k] : {Shape{64, 96, 672}, {100, 70, 1024}, {700, 1100, 1024}, {65, 129, 2080}, {33, 40, 4128}}) {
    EXPECT_EQ(check(matmul(m, n, k, false, false, "bf16", "f32"), Path::Contraction, 1e-3), "") << m << "x" << n << "x" << k;
    EXPECT_EQ(check(matmul(m, n, k, true, true, "i8", "i32"), Path::Contraction, 0), "") << m << "x" << n << "x" << k;
  }
}

TEST(Contraction, F16ToF32) {
  for (auto [m, n, k] : kShapes)
    EXPECT_EQ(check(matmul(m, n, k, false, true, "f16", "f32"), Path::Contraction, 1e-4), "")
        << m << "x" << n << "x" << k;
}
TEST(Contraction, I8ToI32) {
  for (auto [m, n, k] : kShapes)
    EXPECT_EQ(check(matmul(m, n, k, false, true, "i8", "i32"), Path::Contraction, 0), "")
        << m << "x" << n << "x" << k;
}

/// A product of bytes with 32-bit sums: signed or unsigned ones.
std::string bytes(Shape shape, bool transposeA, bool transposeB, bool signedA, bool signedB) {
  std::string text = matmul(shape.m, shape.n, shape.k, transposeA, transposeB, "i8", "i32");
  return substitute(text, {{"%aw = arith.extsi", signedA ? "%aw = arith.extsi" : "%aw = arith.extui"},
                           {"%bw = arith.extsi", signedB ? "%bw = arith.extsi" : "%bw = arith.extui"}});
}

/// This machine with other vectors and instructions for bytes: all that it can run.
std::vector<lowering::KernelTarget> targetsForBytes() {
  lowering::CpuTarget cpu = testTarget();
  lowering::KernelTarget best = lowering::kernelTarget(cpu);
  std::vector<lowering::KernelTarget> targets{best};
  auto add = [&](int bits, lowering::ByteProducts products) {
    lowering::KernelTarget target = best;
    target.vectorBits = bits;
    target.avx512 = bits == 512;
    target.vectorRegisters = bits == 512 ? 32 : 16;
    target.amxInt8 = target.amxBf16 = target.fastBf16Pairs = false;
    target.byteProducts = products;
    targets.push_back(target);
  };
  for (int bits = 128; bits <= best.vectorBits; bits *= 2) {
    add(bits, lowering::ByteProducts::None);
    if (best.byteProducts != lowering::ByteProducts::None)
      add(bits, lowering::ByteProducts::Pairs);
    if (bits == 512 ? cpu.has("avx512vnni") : cpu.has("avxvnni"))
      add(bits, lowering::ByteProducts::UnsignedBySigned);
  }
  return targets;
}

std::string describe(Shape shape, int form, const lowering::KernelTarget &target) {
  return std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k) + ", form " + std::to_string(form) + ", " +
         std::to_string(target.vectorBits) + " bits, instructions " + std::to_string(int(target.byteProducts));
}

// All signs and orders, spread over shapes and instructions; k that are no whole number of groups or vectors, columns that are no whole number of
// vectors or panels.
TEST(Contraction, Bytes) {
  int form = 0;
  for (const lowering::KernelTarget &target : targetsForBytes())
    for (Shape shape : {Shape{2, 16, 4}, Shape{3, 48, 3}, Shape{5, 33, 7}, Shape{17, 49, 65}, Shape{40, 77, 258}})
      for (int i = 0; i < 2; ++i, form += 7)
        EXPECT_EQ(check(bytes(shape, form & 1, form & 2, form & 4, form & 8), Path::Contraction, 0, target), "") << describe(shape, form, target);
}

// Several blocks of k, of which the last one is shorter, and several chunks of rows.
TEST(Contraction, ManyBytes) {
  int form = 0;
  for (const lowering::KernelTarget &target : targetsForBytes())
    for (Shape shape : {Shape{20, 50, 5002}, Shape{300, 70, 4200}}) {
      EXPECT_EQ(check(bytes(shape, false, form & 1, true, form & 2), Path::Contraction, 0, target), "") << describe(shape, form, target);
      ++form;
    }
}

// A few rows read b in place: by rows that are interleaved, or along k. The last shapes are no whole number of vectors.
TEST(Contraction, FewRowsOfBytes) {
  int form = 0;
  for (const lowering::KernelTarget &target : targetsForBytes())
    for (Shape shape : {Shape{1, 256, 512}, Shape{4, 192, 512}, Shape{7, 64, 1024}, Shape{16, 320, 768}, Shape{2, 256, 516}, Shape{3, 80, 514}})
      for (int i = 0; i < 2; ++i, form += 3)
        EXPECT_EQ(check(bytes(shape, false, form & 1, form & 2, form & 4), Path::Any, 0, target), "") << describe(shape, form, target);
}

// Sizes that the matrix unit of processors that have one takes: parts of tiles, several blocks of k, few rows and columns.
TEST(Contraction, NarrowFactors) {
  for (auto [m, n, k] : {Shape{8, 8, 64}, Shape{16, 16, 128}, Shape{17, 33, 192}, Shape{64, 96, 64}, Shape{100, 77, 1088}, Shape{70, 130, 1664}})
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        for (const char *type : {"bf16", "i8"}) {
          bool floats = type[0] == 'b';
          EXPECT_EQ(check(matmul(m, n, k, transposeA, transposeB, type, floats ? "f32" : "i32"), Path::Contraction, floats ? 1e-4 : 0), "")
              << type << " " << m << "x" << n << "x" << k << (transposeA ? " a transposed" : "") << (transposeB ? " b transposed" : "");
        }
}

// relu(a' . b + bias) + residual, a' = 2 a, output transposed to n x m: the roles of a and b are swapped.
const char *kFused = R"(
func.func @k(%a: tensor<$Mx$Kxf32>, %b: tensor<$Kx$Nxf32>, %bias: tensor<$Nxf32>, %res: tensor<$Mx$Nxf32>)
    -> ($RESULT) {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<$Mx$Nxf32>
  %et = tensor.empty() : tensor<$Nx$Mxf32>
  %ea = tensor.empty() : tensor<$Mx$Kxf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<$Mx$Nxf32>) -> tensor<$Mx$Nxf32>
  %a2 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>],
                        iterator_types = ["parallel", "parallel"]}
    ins(%a : tensor<$Mx$Kxf32>) outs(%ea : tensor<$Mx$Kxf32>) {
    ^bb0(%x: f32, %o: f32):
      %y = arith.mulf %x, %two : f32
      linalg.yield %y : f32
  } -> tensor<$Mx$Kxf32>
  %c = linalg.matmul ins(%a2, %b : tensor<$Mx$Kxf32>, tensor<$Kx$Nxf32>) outs(%f : tensor<$Mx$Nxf32>) -> tensor<$Mx$Nxf32>
  %d = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
                                        affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias, %res : tensor<$Mx$Nxf32>, tensor<$Nxf32>, tensor<$Mx$Nxf32>) outs(%e : tensor<$Mx$Nxf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      %r = arith.maximumf %s, %zero : f32
      %t = arith.addf %r, %z : f32
$MORE      linalg.yield %t$LAST : f32
  } -> tensor<$Mx$Nxf32>
  $TAIL
})";

/// `more`: further operations of the last consumer.
void checkFused(int more) {
  std::string chain;
  for (int i = 0; i < more; ++i)
    chain += "      %t" + std::to_string(i) + " = arith." + (i % 2 ? "subf" : "addf") + " %t" + (i ? std::to_string(i - 1) : "") +
             ", %s : f32\n";
  std::string last = more ? std::to_string(more - 1) : "";
  for (auto [m, n, k] : kShapes) {
    auto values = [&](const char *result, const char *tail) {
      return substitute(kFused, {{"$RESULT", result}, {"$TAIL", tail}, {"$MORE", chain}, {"$LAST", last},
                                 {"$M", std::to_string(m)}, {"$N", std::to_string(n)}, {"$K", std::to_string(k)}});
    };
    EXPECT_EQ(check(values("tensor<$Mx$Nxf32>", "return %d : tensor<$Mx$Nxf32>"), Path::Contraction, 1e-4), "")
        << m << "x" << n << "x" << k;
    EXPECT_EQ(check(values("tensor<$Nx$Mxf32>",
                           "%t = linalg.transpose ins(%d : tensor<$Mx$Nxf32>) outs(%et : tensor<$Nx$Mxf32>) permutation "
                           "= [1, 0] return %t : tensor<$Nx$Mxf32>"),
                    m < 4 ? Path::Any : Path::Contraction, 1e-4),
              "")
        << m << "x" << n << "x" << k << " transposed";
  }
}

TEST(Contraction, Fused) { checkFused(0); }
// So many operations that they are a loop over the rows of a tile.
TEST(Contraction, FusedRowByRow) { checkFused(26); }

// Rows of two atoms that do not join (a slice), contiguous in memory: no vector of rows crosses between them.
TEST(Contraction, RowsOfTwoAtoms) {
  EXPECT_EQ(check(R"(
func.func @k(%a: tensor<70x9x40xf32>, %b: tensor<70x64xf32>) -> tensor<9x32x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9x32x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<9x32x64xf32>) -> tensor<9x32x64xf32>
  %s = tensor.extract_slice %a[0, 0, 3] [70, 9, 32] [1, 1, 1] : tensor<70x9x40xf32> to tensor<70x9x32xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(m, l, n, k) -> (k, m, l)>, affine_map<(m, l, n, k) -> (k, n)>,
                                        affine_map<(m, l, n, k) -> (m, l, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%s, %b : tensor<70x9x32xf32>, tensor<70x64xf32>) outs(%f : tensor<9x32x64xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %o, %p : f32
      linalg.yield %t : f32
  } -> tensor<9x32x64xf32>
  return %c : tensor<9x32x64xf32>
})",
                  Path::Contraction, 1e-4),
            "");
}

// Attention scores: q[b, s, h, d] . k[b, t, h, d] -> [b, h, s, t], scaled.
TEST(Contraction, BatchedHeads) {
  std::string text = R"(
func.func @k(%q: tensor<2x24xS x10xf32>, %k: tensor<2x40x3x20xf32>) -> tensor<2x3x24x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x24x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x24x40xf32>) -> tensor<2x3x24x40xf32>
  %q4 = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [2, 24, 3, 20] : tensor<2x24x60xf32> into tensor<2x24x3x20xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(b, h, s, t, d) -> (b, s, h, d)>,
                                        affine_map<(b, h, s, t, d) -> (b, t, h, d)>,
                                        affine_map<(b, h, s, t, d) -> (b, h, s, t)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%q4, %k : tensor<2x24x3x20xf32>, tensor<2x40x3x20xf32>) outs(%f : tensor<2x3x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<2x3x24x40xf32>
  return %c : tensor<2x3x24x40xf32>
})";
  EXPECT_EQ(check(substitute(text, {{"2x24xS x10xf32", "2x24x60xf32"}}), Path::Contraction, 1e-4), "");
}

// NHWC/HWIO convolution as a generic; stride, dilation and padding vary.
std::string convolution(int64_t height, int64_t channels, int64_t filters, int64_t kernel, int64_t stride,
                        int64_t dilation, int64_t pad) {
  int64_t padded = height + 2 * pad, out = (padded - (kernel - 1) * dilation - 1) / stride + 1;
  std::string text = R"(
func.func @k(%x0: tensor<2x$Hx$Hx$Cxf32>, %w: tensor<$Kx$Kx$Cx$Fxf32>) -> tensor<2x$Ox$Ox$Fxf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x$Ox$Ox$Fxf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x$Ox$Ox$Fxf32>) -> tensor<2x$Ox$Ox$Fxf32>
  $PADDING
  %c = linalg.generic {indexing_maps = [affine_map<(n, y, x, f, ky, kx, c) -> (n, y * $S + ky * $D, x * $S + kx * $D, c)>,
                                        affine_map<(n, y, x, f, ky, kx, c) -> (ky, kx, c, f)>,
                                        affine_map<(n, y, x, f, ky, kx, c) -> (n, y, x, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
    ins(%x, %w : tensor<2x$Px$Px$Cxf32>, tensor<$Kx$Kx$Cx$Fxf32>) outs(%f : tensor<2x$Ox$Ox$Fxf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<2x$Ox$Ox$Fxf32>
  return %c : tensor<2x$Ox$Ox$Fxf32>
})";
  std::string padding = R"(%x = tensor.pad %x0 low[0, $L, $L, 0] high[0, $L, $L, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<2x$Hx$Hx$Cxf32> to tensor<2x$Px$Px$Cxf32>)";
  if (!pad) {
    padding = "";
    text = substitute(text, {{"ins(%x,", "ins(%x0,"}});
  }
  return substitute(text, {{"$PADDING", padding}, {"$H", std::to_string(height)}, {"$C", std::to_string(channels)},
                           {"$F", std::to_string(filters)}, {"$K", std::to_string(kernel)},
                           {"$S", std::to_string(stride)}, {"$D", std::to_string(dilation)},
                           {"$P", std::to_string(padded)}, {"$O", std::to_string(out)}, {"$L", std::to_string(pad)}});
}

TEST(Contraction, Convolution) {
  struct Case {
    int64_t height, channels, filters, kernel, stride, dilation, pad;
  };
  for (Case c : {Case{9, 16, 32, 3, 1, 1, 0}, Case{10, 3, 20, 3, 2, 1, 0}, Case{12, 20, 64, 3, 1, 2, 0},
                 Case{9, 32, 50, 3, 1, 1, 1}, Case{14, 3, 64, 7, 2, 1, 3}, Case{7, 300, 48, 3, 1, 1, 1},
                 Case{8, 40, 64, 1, 1, 1, 0}, Case{8, 40, 64, 1, 2, 1, 0}})
    EXPECT_EQ(check(convolution(c.height, c.channels, c.filters, c.kernel, c.stride, c.dilation, c.pad),
                    Path::Contraction, 1e-4),
              "")
        << c.height << " " << c.channels << " " << c.filters << " " << c.kernel << " " << c.stride << " " << c.dilation
        << " " << c.pad;
}

// Weights with inputs outermost: their rows are fetched ahead, on the way through the window.
TEST(Contraction, InputsOutermost) {
  std::string text = convolution(9, 16, 40, 3, 1, 1, 0);
  text = substitute(text, {{"(ky, kx, c, f)", "(c, ky, kx, f)"}, {"tensor<3x3x16x40xf32>", "tensor<16x3x3x40xf32>"}});
  EXPECT_EQ(check(text, Path::Contraction, 1e-4), "");
}

// Weights as PyTorch keeps them: outputs first, then inputs, then the window. Chunks of inputs that are equal, unequal, and all of them; few
// elements for large weights, which stay as they are.
TEST(Contraction, WeightsInRuns) {
  struct Case {
    int64_t height, channels, filters, kernel, pad;
  };
  for (Case c : {Case{6, 24, 20, 3, 0}, Case{4, 64, 40, 3, 1}, Case{5, 264, 33, 3, 1}, Case{4, 140, 16, 3, 0}, Case{9, 12, 32, 5, 0}, Case{4, 240, 272, 3, 0}}) {
    std::string text = convolution(c.height, c.channels, c.filters, c.kernel, 1, 1, c.pad);
    auto type = [](std::initializer_list<int64_t> sizes) {
      std::string name = "tensor<";
      for (int64_t size : sizes)
        name += std::to_string(size) + "x";
      return name + "f32>";
    };
    std::string from = type({c.kernel, c.kernel, c.channels, c.filters}), to = type({c.filters, c.channels, c.kernel, c.kernel});
    text = substitute(text, {{"(ky, kx, c, f)", "(f, c, ky, kx)"}, {from.c_str(), to}});
    EXPECT_EQ(check(text, Path::Contraction, 1e-4), "") << c.height << " " << c.channels << " " << c.filters << " " << c.kernel << " " << c.pad;
  }
}

// Few rows stream through a large matrix: each number of them.
TEST(Contraction, FewRows) {
  for (int64_t rows : {2, 3, 4, 5, 8, 13, 16})
    EXPECT_EQ(check(matmul(rows, 1056, 515, false, false, "f32", "f32"), Path::Contraction, 1e-4), "") << rows;
  // Lanes along k: columns left over in every strip.
  for (int64_t rows : {1, 2, 3, 4, 5, 8, 11, 16})
    EXPECT_EQ(check(matmul(rows, 1072, 528, false, true, "f32", "f32"), Path::Contraction, 1e-4), "") << rows;
}

// One row streams through the matrix: rows left over, a last strip that is shorter, batches, a consumer, narrow weights.
TEST(Contraction, OneRow) {
  std::string text = R"(
func.func @k(%a: tensor<$BxKxf32>, %b: tensor<$BxKxNx$T>, %bias: tensor<Nxf32>) -> tensor<$BxNxf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<$BxNxf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<$BxNxf32>) -> tensor<$BxNxf32>
  %c = linalg.generic {indexing_maps = [affine_map<(b, n, k) -> (b, k)>, affine_map<(b, n, k) -> (b, k, n)>, affine_map<(b, n, k) -> (b, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<$BxKxf32>, tensor<$BxKxNx$T>) outs(%f : tensor<$BxNxf32>) {
    ^bb0(%x: f32, %y: $T, %s: f32):
      $WIDEN
      %p = arith.mulf %x, %w : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<$BxNxf32>
  %d = linalg.generic {indexing_maps = [affine_map<(b, n) -> (b, n)>, affine_map<(b, n) -> (n)>, affine_map<(b, n) -> (b, n)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : tensor<$BxNxf32>, tensor<Nxf32>) outs(%e : tensor<$BxNxf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      %r = arith.maximumf %s, %zero : f32
      linalg.yield %r : f32
  } -> tensor<$BxNxf32>
  return %d : tensor<$BxNxf32>
})";
  auto with = [&](const char *batch, const char *k, const char *n, const char *type) {
    bool isNarrow = std::string(type) == "bf16";
    return substitute(text, {{"$WIDEN", isNarrow ? "%w = arith.extf %y : bf16 to f32" : ""}, {"%w :", isNarrow ? "%w :" : "%y :"}, {"$B", batch},
                             {"xKx", std::string("x") + k + "x"}, {"xNx", std::string("x") + n + "x"}, {"<Nx", std::string("<") + n + "x"},
                             {"$T", type}});
  };
  EXPECT_EQ(check(with("1", "265", "160", "f32"), Path::Contraction, 1e-4), "");
  EXPECT_EQ(check(with("3", "128", "288", "f32"), Path::Contraction, 1e-4), "");
  EXPECT_EQ(check(with("1", "515", "160", "bf16"), Path::Contraction, 1e-4), "");
}

} // namespace
} // namespace millrace::test
