// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowKernelTest.cpp - Elementwise kernels and reductions, executed ---===//
#include "test/unit/emitters/Harness.h"

#include <gtest/gtest.h>

namespace millrace::test {
namespace {

std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string shaped(std::string text, int64_t rows, int64_t columns) {
  return replaceAll(replaceAll(text, "$R", std::to_string(rows)), "$C", std::to_string(columns));
}

const char *kMaps = R"(
#rc = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>
#c = affine_map<(d0, d1) -> (d1)>
)";

const char *kSoftmax = R"(
func.func @k(%x: tensor<$Rx$Cxf32>) -> tensor<$Rx$Cxf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<$Rxf32>
  %erc = tensor.empty() : tensor<$Rx$Cxf32>
  %fm = linalg.fill ins(%ninf : f32) outs(%er : tensor<$Rxf32>) -> tensor<$Rxf32>
  %m = linalg.reduce ins(%x : tensor<$Rx$Cxf32>) outs(%fm : tensor<$Rxf32>) dimensions = [1]
    (%in: f32, %acc: f32) { %a = arith.maximumf %in, %acc : f32 linalg.yield %a : f32 }
  %e = linalg.generic {indexing_maps = [#rc, #r, #rc], iterator_types = ["parallel", "parallel"]}
    ins(%x, %m : tensor<$Rx$Cxf32>, tensor<$Rxf32>) outs(%erc : tensor<$Rx$Cxf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %v = math.exp %d : f32
      linalg.yield %v : f32
  } -> tensor<$Rx$Cxf32>
  %fs = linalg.fill ins(%zero : f32) outs(%er : tensor<$Rxf32>) -> tensor<$Rxf32>
  %s = linalg.reduce ins(%e : tensor<$Rx$Cxf32>) outs(%fs : tensor<$Rxf32>) dimensions = [1]
    (%in: f32, %acc: f32) { %a = arith.addf %acc, %in : f32 linalg.yield %a : f32 }
  %q = linalg.generic {indexing_maps = [#rc, #r, #rc], iterator_types = ["parallel", "parallel"]}
    ins(%e, %s : tensor<$Rx$Cxf32>, tensor<$Rxf32>) outs(%erc : tensor<$Rx$Cxf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.divf %a, %b : f32
      linalg.yield %v : f32
  } -> tensor<$Rx$Cxf32>
  return %q : tensor<$Rx$Cxf32>
})";

const char *kReduceLeading = R"(
func.func @k(%x: tensor<$Rx$Cxf32>) -> tensor<$Cxf32> {
  %zero = arith.constant 0.5 : f32
  %er = tensor.empty() : tensor<$Cxf32>
  %fs = linalg.fill ins(%zero : f32) outs(%er : tensor<$Cxf32>) -> tensor<$Cxf32>
  %s = linalg.reduce ins(%x : tensor<$Rx$Cxf32>) outs(%fs : tensor<$Cxf32>) dimensions = [0]
    (%in: f32, %acc: f32) { %a = arith.addf %acc, %in : f32 linalg.yield %a : f32 }
  return %s : tensor<$Cxf32>
})";

// The second sum reads the first.
const char *kVariance = R"(
func.func @k(%x: tensor<$Rx$Cxf32>) -> (tensor<$Cxf32>, tensor<$Cxf32>) {
  %zero = arith.constant 0.5 : f32
  %er = tensor.empty() : tensor<$Cxf32>
  %erc = tensor.empty() : tensor<$Rx$Cxf32>
  %fs = linalg.fill ins(%zero : f32) outs(%er : tensor<$Cxf32>) -> tensor<$Cxf32>
  %s = linalg.reduce ins(%x : tensor<$Rx$Cxf32>) outs(%fs : tensor<$Cxf32>) dimensions = [0]
    (%in: f32, %acc: f32) { %a = arith.addf %acc, %in : f32 linalg.yield %a : f32 }
  %d = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
    ins(%x, %s : tensor<$Rx$Cxf32>, tensor<$Cxf32>) outs(%erc : tensor<$Rx$Cxf32>) {
    ^bb0(%a: f32, %m: f32, %o: f32):
      %n = arith.constant 0.0625 : f32
      %mean = arith.mulf %m, %n : f32
      %v = arith.subf %a, %mean : f32
      %w = arith.mulf %v, %v : f32
      linalg.yield %w : f32
  } -> tensor<$Rx$Cxf32>
  %q = linalg.reduce ins(%d : tensor<$Rx$Cxf32>) outs(%fs : tensor<$Cxf32>) dimensions = [0]
    (%in: f32, %acc: f32) { %a = arith.addf %acc, %in : f32 linalg.yield %a : f32 }
  return %s, %q : tensor<$Cxf32>, tensor<$Cxf32>
})";

const char *kReduceAll = R"(
func.func @k(%x: tensor<$Rx$Cxf32>) -> tensor<f32> {
  %zero = arith.constant 0.5 : f32
  %er = tensor.empty() : tensor<f32>
  %fs = linalg.fill ins(%zero : f32) outs(%er : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce ins(%x : tensor<$Rx$Cxf32>) outs(%fs : tensor<f32>) dimensions = [0, 1]
    (%in: f32, %acc: f32) { %a = arith.addf %acc, %in : f32 linalg.yield %a : f32 }
  return %s : tensor<f32>
})";

const char *kBiasCompare = R"(
func.func @k(%x: tensor<$Rx$Cxf32>, %b: tensor<$Cxf32>, %s: tensor<$Rxf32>)
    -> (tensor<$Rx$Cxf32>, tensor<$Rx$Cxi1>) {
  %e = tensor.empty() : tensor<$Rx$Cxf32>
  %ei = tensor.empty() : tensor<$Rx$Cxi1>
  %y = linalg.generic {indexing_maps = [#rc, #c, #r, #rc], iterator_types = ["parallel", "parallel"]}
    ins(%x, %b, %s : tensor<$Rx$Cxf32>, tensor<$Cxf32>, tensor<$Rxf32>) outs(%e : tensor<$Rx$Cxf32>) {
    ^bb0(%a: f32, %bb: f32, %ss: f32, %o: f32):
      %p = arith.mulf %a, %ss : f32
      %q = arith.addf %p, %bb : f32
      linalg.yield %q : f32
  } -> tensor<$Rx$Cxf32>
  %z = linalg.generic {indexing_maps = [#rc, #rc, #rc], iterator_types = ["parallel", "parallel"]}
    ins(%x, %y : tensor<$Rx$Cxf32>, tensor<$Rx$Cxf32>) outs(%ei : tensor<$Rx$Cxi1>) {
    ^bb0(%a: f32, %bb: f32, %o: i1):
      %p = arith.cmpf olt, %a, %bb : f32
      linalg.yield %p : i1
  } -> tensor<$Rx$Cxi1>
  return %y, %z : tensor<$Rx$Cxf32>, tensor<$Rx$Cxi1>
})";

const char *kArgMax = R"(
func.func @k(%x: tensor<$Rx$Cxf32>) -> (tensor<$Rxf32>, tensor<$Rxi32>) {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %er = tensor.empty() : tensor<$Rxf32>
  %ei = tensor.empty() : tensor<$Rxi32>
  %erc = tensor.empty() : tensor<$Rx$Cxi32>
  %iota = linalg.generic {indexing_maps = [#rc], iterator_types = ["parallel", "parallel"]}
    outs(%erc : tensor<$Rx$Cxi32>) {
    ^bb0(%o: i32):
      %i = linalg.index 1 : index
      %v = arith.index_cast %i : index to i32
      linalg.yield %v : i32
  } -> tensor<$Rx$Cxi32>
  %fm = linalg.fill ins(%ninf : f32) outs(%er : tensor<$Rxf32>) -> tensor<$Rxf32>
  %fi = linalg.fill ins(%zero : i32) outs(%ei : tensor<$Rxi32>) -> tensor<$Rxi32>
  %m:2 = linalg.generic {indexing_maps = [#rc, #rc, #r, #r], iterator_types = ["parallel", "reduction"]}
    ins(%x, %iota : tensor<$Rx$Cxf32>, tensor<$Rx$Cxi32>) outs(%fm, %fi : tensor<$Rxf32>, tensor<$Rxi32>) {
    ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
      %gt = arith.cmpf ogt, %a, %b : f32
      %eq = arith.cmpf oeq, %a, %b : f32
      %lt = arith.cmpi slt, %i, %j : i32
      %tie = arith.andi %eq, %lt : i1
      %take = arith.ori %gt, %tie : i1
      %v = arith.select %take, %a, %b : f32
      %w = arith.select %take, %i, %j : i32
      linalg.yield %v, %w : f32, i32
  } -> (tensor<$Rxf32>, tensor<$Rxi32>)
  return %m#0, %m#1 : tensor<$Rxf32>, tensor<$Rxi32>
})";

// bf16 in and out, variance in f32, keepdims by expand_shape.
const char *kLayerNorm = R"(
func.func @k(%x: tensor<$Rx$Cxbf16>, %g: tensor<$Cxf32>) -> tensor<$Rx$Cxbf16> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant $C.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %er = tensor.empty() : tensor<$Rxf32>
  %er1 = tensor.empty() : tensor<$Rx1xf32>
  %erc = tensor.empty() : tensor<$Rx$Cxf32>
  %erb = tensor.empty() : tensor<$Rx$Cxbf16>
  %xf = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<$Rx$Cxbf16>) outs(%erc : tensor<$Rx$Cxf32>) {
    ^bb0(%a: bf16, %o: f32):
      %v = arith.extf %a : bf16 to f32
      linalg.yield %v : f32
  } -> tensor<$Rx$Cxf32>
  %fs = linalg.fill ins(%zero : f32) outs(%er : tensor<$Rxf32>) -> tensor<$Rxf32>
  %s = linalg.reduce ins(%xf : tensor<$Rx$Cxf32>) outs(%fs : tensor<$Rxf32>) dimensions = [1]
    (%in: f32, %acc: f32) { %a = arith.addf %acc, %in : f32 linalg.yield %a : f32 }
  %s1 = tensor.expand_shape %s [[0, 1]] output_shape [$R, 1] : tensor<$Rxf32> into tensor<$Rx1xf32>
  %mean = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}
    ins(%s1 : tensor<$Rx1xf32>) outs(%er1 : tensor<$Rx1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = arith.divf %a, %n : f32
      linalg.yield %v : f32
  } -> tensor<$Rx1xf32>
  %meanr = tensor.collapse_shape %mean [[0, 1]] : tensor<$Rx1xf32> into tensor<$Rxf32>
  %d = linalg.generic {indexing_maps = [#rc, #r, #rc], iterator_types = ["parallel", "parallel"]}
    ins(%xf, %meanr : tensor<$Rx$Cxf32>, tensor<$Rxf32>) outs(%erc : tensor<$Rx$Cxf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.subf %a, %b : f32
      linalg.yield %v : f32
  } -> tensor<$Rx$Cxf32>
  %sq = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}
    ins(%d : tensor<$Rx$Cxf32>) outs(%erc : tensor<$Rx$Cxf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = arith.mulf %a, %a : f32
      linalg.yield %v : f32
  } -> tensor<$Rx$Cxf32>
  %vs = linalg.reduce ins(%sq : tensor<$Rx$Cxf32>) outs(%fs : tensor<$Rxf32>) dimensions = [1]
    (%in: f32, %acc: f32) { %a = arith.addf %acc, %in : f32 linalg.yield %a : f32 }
  %out = linalg.generic {indexing_maps = [#rc, #r, #c, #rc], iterator_types = ["parallel", "parallel"]}
    ins(%d, %vs, %g : tensor<$Rx$Cxf32>, tensor<$Rxf32>, tensor<$Cxf32>) outs(%erb : tensor<$Rx$Cxbf16>) {
    ^bb0(%a: f32, %b: f32, %gg: f32, %o: bf16):
      %v = arith.divf %b, %n : f32
      %w = arith.addf %v, %eps : f32
      %q = math.sqrt %w : f32
      %r = arith.divf %a, %q : f32
      %t = arith.mulf %r, %gg : f32
      %u = arith.truncf %t : f32 to bf16
      linalg.yield %u : bf16
  } -> tensor<$Rx$Cxbf16>
  return %out : tensor<$Rx$Cxbf16>
})";

const std::pair<int64_t, int64_t> kShapes[] = {{1, 1}, {1, 7}, {3, 16}, {5, 64}, {2, 65}, {4, 127}, {3, 200}, {7, 1024}, {33, 5}, {64, 1}};

TEST(RowKernel, Softmax) {
  for (auto [r, c] : kShapes)
    EXPECT_EQ(check(kMaps + shaped(kSoftmax, r, c), Path::Row, 1e-6), "") << r << "x" << c;
}
TEST(RowKernel, LayerNormBf16) {
  for (auto [r, c] : kShapes)
    EXPECT_EQ(check(kMaps + shaped(kLayerNorm, r, c), Path::Row, 2e-2), "") << r << "x" << c;
}
TEST(RowKernel, ReduceLeading) {
  for (auto [r, c] : kShapes)
    EXPECT_EQ(check(kMaps + shaped(kReduceLeading, r, c), Path::Row, 1e-5), "") << r << "x" << c;
  // Wide columns: sums in scratch, some rows at a time, one or several chunks, with and without a rest of rows and of columns.
  for (auto [r, c] : std::initializer_list<std::pair<int64_t, int64_t>>{{24, 1024}, {17, 1029}, {25, 2115}, {16, 6007}})
    EXPECT_EQ(check(kMaps + shaped(kReduceLeading, r, c), Path::Row, 1e-5), "") << r << "x" << c;
  for (auto [r, c] : std::initializer_list<std::pair<int64_t, int64_t>>{{24, 1024}, {17, 2115}})
    EXPECT_EQ(check(kMaps + shaped(kVariance, r, c), Path::Row, 1e-5), "") << r << "x" << c;
}
TEST(RowKernel, ReduceAll) {
  for (auto [r, c] : kShapes)
    EXPECT_EQ(check(kMaps + shaped(kReduceAll, r, c), Path::Row, 1e-4), "") << r << "x" << c;
}
TEST(RowKernel, BroadcastsAndBooleans) {
  for (auto [r, c] : kShapes)
    EXPECT_EQ(check(kMaps + shaped(kBiasCompare, r, c), Path::Row, 1e-6), "") << r << "x" << c;
}
TEST(RowKernel, ArgMax) {
  for (auto [r, c] : kShapes)
    EXPECT_EQ(check(kMaps + shaped(kArgMax, r, c), Path::Row, 0), "") << r << "x" << c;
}

} // namespace
} // namespace millrace::test
