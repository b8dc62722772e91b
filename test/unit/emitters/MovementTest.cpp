// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MovementTest.cpp - Transposes, concatenations, slices, pads --------===//
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

TEST(Movement, Transpose) {
  const char *text = R"(
func.func @k(%x: tensor<3x$Ax$Bx$T>) -> tensor<$Bx3x$Ax$T> {
  %e = tensor.empty() : tensor<$Bx3x$Ax$T>
  %t = linalg.transpose ins(%x : tensor<3x$Ax$Bx$T>) outs(%e : tensor<$Bx3x$Ax$T>) permutation = [2, 0, 1]
  return %t : tensor<$Bx3x$Ax$T>
})";
  for (const char *type : {"f32", "bf16", "i8", "f64", "i1"})
    for (auto [a, b] : {std::pair<int, int>{16, 16}, {16, 48}, {17, 33}, {100, 12}, {12, 100}, {64, 64}, {9, 130}})
      EXPECT_EQ(check(substitute(text, {{"$A", std::to_string(a)}, {"$B", std::to_string(b)}, {"$T", type}}),
                      Path::Movement, 0),
                "")
          << type << " " << a << "x" << b;
}

// The colours of pixels, each scaled by a number of its own; bytes become floats on the way.
TEST(Movement, ScaledColours) {
  const char *text = R"(
func.func @k(%x: tensor<5x$Nx$Cxi8>, %s: tensor<$Cxf32>) -> tensor<5x$Nx$Cxf32> {
  %e = tensor.empty() : tensor<5x$Nx$Cxf32>
  %t = linalg.generic {indexing_maps = [affine_map<(n, p, c) -> (n, p, c)>, affine_map<(n, p, c) -> (c)>, affine_map<(n, p, c) -> (n, p, c)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %s : tensor<5x$Nx$Cxi8>, tensor<$Cxf32>) outs(%e : tensor<5x$Nx$Cxf32>) {
  ^bb0(%a: i8, %b: f32, %o: f32):
    %f = arith.uitofp %a : i8 to f32
    %m = arith.mulf %f, %b : f32
    linalg.yield %m : f32
  } -> tensor<5x$Nx$Cxf32>
  return %t : tensor<5x$Nx$Cxf32>
})";
  for (int pixels : {16, 17, 50, 224})
    for (int colours : {2, 3})
      EXPECT_EQ(check(substitute(text, {{"$N", std::to_string(pixels)}, {"$C", std::to_string(colours)}}), Path::Movement, 0), "")
          << pixels << "x" << colours;
}

// x + transpose(x), narrowed: one argument at two index orders.
TEST(Movement, SymmetricSum) {
  const char *text = R"(
func.func @k(%x: tensor<$Ax$Axf32>) -> tensor<$Ax$Axbf16> {
  %e = tensor.empty() : tensor<$Ax$Axbf16>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%x, %x : tensor<$Ax$Axf32>, tensor<$Ax$Axf32>) outs(%e : tensor<$Ax$Axbf16>) {
    ^bb0(%a: f32, %b: f32, %o: bf16):
      %s = arith.addf %a, %b : f32
      %n = arith.truncf %s : f32 to bf16
      linalg.yield %n : bf16
  } -> tensor<$Ax$Axbf16>
  return %t : tensor<$Ax$Axbf16>
})";
  for (int a : {16, 21, 64, 100})
    EXPECT_EQ(check(substitute(text, {{"$A", std::to_string(a)}}), Path::Movement, 0), "") << a;
}

TEST(Movement, Concatenate) {
  const char *text = R"(
func.func @k(%x: tensor<5x$Axf32>, %y: tensor<5x$Bxf32>) -> tensor<5x$Cxf32> {
  %e = tensor.empty() : tensor<5x$Cxf32>
  %p = tensor.insert_slice %x into %e[0, 0] [5, $A] [1, 1] : tensor<5x$Axf32> into tensor<5x$Cxf32>
  %q = tensor.insert_slice %y into %p[0, $A] [5, $B] [1, 1] : tensor<5x$Bxf32> into tensor<5x$Cxf32>
  return %q : tensor<5x$Cxf32>
})";
  for (auto [a, b] : {std::pair<int, int>{16, 16}, {1, 48}, {17, 33}, {100, 1}, {64, 200}})
    EXPECT_EQ(check(substitute(text, {{"$A", std::to_string(a)}, {"$B", std::to_string(b)}, {"$C", std::to_string(a + b)}}),
                    Path::Row, 0),
              "")
        << a << " " << b;
}

// Rotary embedding: the halves of a row, one negated, exchanged.
TEST(Movement, RotateHalf) {
  EXPECT_EQ(check(R"(
func.func @k(%x: tensor<3x7x64xf32>) -> tensor<3x7x64xf32> {
  %e = tensor.empty() : tensor<3x7x64xf32>
  %eh = tensor.empty() : tensor<3x7x32xf32>
  %lo = tensor.extract_slice %x[0, 0, 0] [3, 7, 32] [1, 1, 1] : tensor<3x7x64xf32> to tensor<3x7x32xf32>
  %hi = tensor.extract_slice %x[0, 0, 32] [3, 7, 32] [1, 1, 1] : tensor<3x7x64xf32> to tensor<3x7x32xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%hi : tensor<3x7x32xf32>) outs(%eh : tensor<3x7x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.negf %a : f32
      linalg.yield %m : f32
  } -> tensor<3x7x32xf32>
  %p = tensor.insert_slice %n into %e[0, 0, 0] [3, 7, 32] [1, 1, 1] : tensor<3x7x32xf32> into tensor<3x7x64xf32>
  %q = tensor.insert_slice %lo into %p[0, 0, 32] [3, 7, 32] [1, 1, 1] : tensor<3x7x32xf32> into tensor<3x7x64xf32>
  return %q : tensor<3x7x64xf32>
})",
                  Path::Row, 0),
            "");
}

// Padding by insertion into a constant, of a value that the kernel computes.
TEST(Movement, PadAfterScale) {
  EXPECT_EQ(check(R"(
func.func @k(%x: tensor<4x30xf32>) -> tensor<6x40xf32> {
  %c = arith.constant 7.0 : f32
  %e = tensor.empty() : tensor<6x40xf32>
  %ex = tensor.empty() : tensor<4x30xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<6x40xf32>) -> tensor<6x40xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<4x30xf32>) outs(%ex : tensor<4x30xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.mulf %a, %c : f32
      linalg.yield %m : f32
  } -> tensor<4x30xf32>
  %p = tensor.insert_slice %n into %f[1, 4] [4, 30] [1, 1] : tensor<4x30xf32> into tensor<6x40xf32>
  return %p : tensor<6x40xf32>
})",
                  Path::Row, 0),
            "");
}

// A strided slice of a padded argument, reversed along the row.
TEST(Movement, PadSliceReverse) {
  EXPECT_EQ(check(R"(
func.func @k(%x: tensor<8x70xf32>) -> tensor<8x35xf32> {
  %e = tensor.empty() : tensor<8x35xf32>
  %s = tensor.extract_slice %x[0, 1] [8, 35] [1, 2] : tensor<8x70xf32> to tensor<8x35xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 34 - j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%s : tensor<8x35xf32>) outs(%e : tensor<8x35xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.negf %a : f32
      linalg.yield %m : f32
  } -> tensor<8x35xf32>
  return %n : tensor<8x35xf32>
})",
                  Path::Row, 0),
            "");
}

} // namespace
} // namespace millrace::test
