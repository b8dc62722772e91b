// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes as polynomials of other sizes and of quotients of these.
#include "tracing/sizes/DynamicShapes.h"

#include <gtest/gtest.h>

namespace millrace::tracing {
namespace {

using Samples = std::vector<std::vector<int64_t>>;

std::vector<int64_t> of(const Samples &samples, int64_t (*value)(const std::vector<int64_t> &)) {
  std::vector<int64_t> values;
  for (const std::vector<int64_t> &sample : samples)
    values.push_back(value(sample));
  return values;
}

TEST(SizeExpr, PolynomialsOfQuotientsAreFound) {
  // n, m, and their quotients by 2 and 3.
  Samples samples;
  for (int64_t n : {7, 12, 30, 41, 53, 64, 90, 101})
    samples.push_back({n, 3 * n % 71 + 5, (n + 1) / 2, (3 * n % 71 + 5) / 3});
  auto product = fitSize(samples, of(samples, [](const std::vector<int64_t> &s) { return 8 * s[2] * s[3]; }));
  ASSERT_TRUE(product);
  EXPECT_EQ(product->evaluate({100, 200, 50, 66}), 8 * 50 * 66);
  auto sum = fitSize(samples, of(samples, [](const std::vector<int64_t> &s) { return s[0] * s[2] - s[3] + 4; }));
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->evaluate({100, 200, 50, 66}), 100 * 50 - 66 + 4);
  EXPECT_FALSE(fitSize(samples, of(samples, [](const std::vector<int64_t> &s) { return s[0] / 5; })));
}

std::string convolution(int64_t size) {
  auto text = [](int64_t number) { return std::to_string(number); };
  std::string x = "tensor<1x" + text(size) + "x2xf32>", y = "tensor<1x" + text((size + 1) / 2) + "x4xf32>", z = "tensor<" + text((size + 1) / 2 * 4) + "xf32>";
  return "func.func @main(%x: " + x + ", %w: tensor<3x2x4xf32>) -> " + z + " {\n"
         "  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[1, 1]]} "
         "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" + x + ", tensor<3x2x4xf32>) -> " + y + "\n"
         "  %1 = stablehlo.reshape %0 : (" + y + ") -> " + z + "\n  return %1 : " + z + "\n}\n";
}

TEST(SizeExpr, ProgramsComputeQuotients) {
  std::vector<std::string> texts;
  Samples samples;
  for (int64_t size : {7, 12, 33, 40, 57, 64}) {
    texts.push_back(convolution(size));
    samples.push_back({size, (size + 1) / 2});
  }
  SizeSymbol size, quotient;
  size.dim = 1;
  quotient.kind = SizeSymbol::Kind::Quotient;
  quotient.dividend.terms = {{1, {0}}, {1, {}}};
  quotient.divisor.terms = {{2, {}}};
  auto made = generalize(texts, samples, {size, quotient});
  ASSERT_TRUE(made) << made.status().message();
  EXPECT_NE(made->find("stablehlo.divide"), std::string::npos) << *made;
  EXPECT_NE(made->find("tensor<1x?x4xf32>"), std::string::npos) << *made;
  for (std::vector<int64_t> &sample : samples)
    sample.pop_back();
  EXPECT_FALSE(generalize(texts, samples, {size}));
}

} // namespace
} // namespace millrace::tracing
