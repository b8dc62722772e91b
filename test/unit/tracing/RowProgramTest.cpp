// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which programs are one for any number of rows, by recordings for some numbers of them.
#include "tracing/sizes/DynamicShapes.h"

#include <gtest/gtest.h>

namespace millrace::tracing {
namespace {

/// `text` with the number of rows for N, four times that for M and eight less than ten times that for K.
std::string forRows(std::string text, int64_t rows) {
  for (auto [mark, value] : {std::pair{'N', rows}, {'M', 4 * rows}, {'K', 10 * rows - 8}})
    for (size_t at; (at = text.find(std::string("$") + mark)) != std::string::npos;)
      text.replace(at, 2, std::to_string(value));
  return text;
}

runtime::StatusOr<std::string> of(const std::string &text) {
  return rowProgram({forRows(text, 7), forRows(text, 11), forRows(text, 120)}, {7, 11, 120});
}

/// The reason; empty if there is a program.
std::string reason(const std::string &text) {
  runtime::StatusOr<std::string> made = of(text);
  return made ? std::string() : std::string(made.status().message());
}

TEST(RowProgram, RowsThatStayApartAreFollowed) {
  runtime::StatusOr<std::string> made = of(R"(
    func.func @main(%x: tensor<$Mx8xf32> {tf.aliasing_output = 0 : i32}, %w: tensor<8x3xf32>) -> (tensor<$Nx4x3xf32>, tensor<3xf32>) {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<$Mx8xf32>, tensor<8x3xf32>) -> tensor<$Mx3xf32>
      %one = stablehlo.constant dense<1.0> : tensor<$Mx3xf32>
      %1 = stablehlo.add %0, %one : tensor<$Mx3xf32>
      %2 = stablehlo.reshape %1 : (tensor<$Mx3xf32>) -> tensor<$Nx4x3xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %3 = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x3xf32>, tensor<f32>) -> tensor<3xf32>
      return %2, %3 : tensor<$Nx4x3xf32>, tensor<3xf32>
    })");
  ASSERT_TRUE(made) << made.status().message();
  EXPECT_NE(made->find("tensor<480x8xf32> {millrace.row_indices = 4 : i64}"), std::string::npos) << *made;
  EXPECT_NE(made->find("(tensor<120x4x3xf32> {millrace.row_indices = 1 : i64}, tensor<3xf32>)"), std::string::npos) << *made;
  EXPECT_NE(made->find("millrace.rows = array<i64: 120>"), std::string::npos) << *made;
}

TEST(RowProgram, RowsThatMixAreRefused) {
  EXPECT_NE(reason(R"(
    func.func @main(%x: tensor<$Nx8xf32>) -> tensor<$Nx$Nxf32> {
      %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<$Nx8xf32>, tensor<$Nx8xf32>) -> tensor<$Nx$Nxf32>
      return %0 : tensor<$Nx$Nxf32>
    })").find("no multiple"), std::string::npos);
  EXPECT_NE(reason(R"(
    func.func @main(%x: tensor<$Nx8xf32>) -> tensor<$Nx8xf32> {
      %0 = stablehlo.reverse %x, dims = [0] : tensor<$Nx8xf32>
      return %0 : tensor<$Nx8xf32>
    })").find("rows are mixed"), std::string::npos);
}

TEST(RowProgram, PositionsOfRowsAreFollowed) {
  // x[arange(rows)], whose negative positions would count from the end: the number of rows is a constant that nothing uses.
  runtime::StatusOr<std::string> made = of(R"(
    func.func @main(%x: tensor<$Nx3xf32>) -> tensor<$Nx3xf32> {
      %zero = stablehlo.constant dense<0> : tensor<$Nxi64>
      %rows = stablehlo.constant dense<$N> : tensor<$Nxi64>
      %i = stablehlo.iota dim = 0 : tensor<$Nxi64>
      %less = stablehlo.compare LT, %i, %zero : (tensor<$Nxi64>, tensor<$Nxi64>) -> tensor<$Nxi1>
      %end = stablehlo.add %i, %rows : tensor<$Nxi64>
      %at = stablehlo.select %less, %end, %i : tensor<$Nxi1>, tensor<$Nxi64>
      %index = stablehlo.reshape %at : (tensor<$Nxi64>) -> tensor<$Nx1xi64>
      %0 = "stablehlo.gather"(%x, %index) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
        index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<$Nx3xf32>, tensor<$Nx1xi64>) -> tensor<$Nx3xf32>
      %1 = stablehlo.sine %0 : tensor<$Nx3xf32>
      return %1 : tensor<$Nx3xf32>
    })");
  ASSERT_TRUE(made) << made.status().message();
  EXPECT_EQ(made->find("gather"), std::string::npos) << *made;
  EXPECT_NE(made->find("millrace.rows = array<i64: 120>"), std::string::npos) << *made;
}

TEST(RowProgram, WhatIsCountedFromTheSizeIsRefused) {
  // The number of rows as a constant, and as a sum of ones.
  EXPECT_NE(reason(R"(
    func.func @main(%x: tensor<$Nxi32>) -> tensor<$Nxi32> {
      %0 = stablehlo.constant dense<$N> : tensor<$Nxi32>
      %1 = stablehlo.add %x, %0 : tensor<$Nxi32>
      return %1 : tensor<$Nxi32>
    })").find("an attribute of stablehlo.constant"), std::string::npos);
  EXPECT_NE(reason(R"(
    func.func @main(%x: tensor<$Nxf32>) -> (tensor<$Nxf32>, tensor<f32>) {
      %one = stablehlo.constant dense<1.0> : tensor<f32>
      %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<$Nxf32>
      %0 = stablehlo.reduce(%ones init: %one) applies stablehlo.add across dimensions = [0] : (tensor<$Nxf32>, tensor<f32>) -> tensor<f32>
      return %x, %0 : tensor<$Nxf32>, tensor<f32>
    })").find("rows are mixed"), std::string::npos);
  EXPECT_NE(reason(R"(
    func.func @main(%x: tensor<$Kx2xf32>) -> tensor<$Kx2xf32> {
      %0 = stablehlo.sine %x : tensor<$Kx2xf32>
      return %0 : tensor<$Kx2xf32>
    })").find("no multiple"), std::string::npos);
}

} // namespace
} // namespace millrace::tracing
