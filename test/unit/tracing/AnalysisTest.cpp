// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AnalysisTest.cpp - What is said of a graph that is compiled anew ----===//
#include "tracing/Session.h"
#include "tracing/emit/Emit.h"
#include "tracing/graph/IrText.h"
#include "tracing/reports/Analysis.h"

#include <gtest/gtest.h>

using namespace millrace;
using namespace millrace::tracing;

namespace {

GraphSummary summaryOf(const Value &root) { return summarize(schedule({root}), 1); }

/// The last line of the difference, which names what the user wrote.
std::string lastLine(const Value &before, const Value &now) {
  const std::string text = difference(summaryOf(before), summaryOf(now)).text;
  return text.substr(text.rfind('\n') + 1);
}

struct Analysis : testing::Test {
  Analysis() {
    setArgumentNames([](const std::string &op) -> std::vector<ArgumentName> {
      if (op == "aten::pow.Tensor_Scalar")
        return {{"self"}, {"exponent", true}};
      return {{"self"}, {"other", true}};
    });
    x = *Session::get().upload(data, {DType::F32, {4}});
  }
  ~Analysis() override { setArgumentNames(nullptr); }
  Value power(Arg exponent) { return record(findOp("aten::pow.Tensor_Scalar"), {x}, {Operand{0}, std::move(exponent)}, {x.shape()}); }
  Value scaled(const Value &by) { return record(findOp("aten::mul.Tensor"), {x, by}, {Operand{0}, Operand{1}}, {x.shape()}); }

  const float data[4] = {1, 2, 3, 4};
  Value x;
};

TEST_F(Analysis, AConstantHasItsNameAndBothValues) {
  EXPECT_EQ(lastLine(power(3.0), power(4.0)), "constant exponent of aten::pow: 3.0 became 4.0 at unknown place");
  EXPECT_EQ(lastLine(power(int64_t(2)), power(0.1)), "constant exponent of aten::pow: 2 became 0.1 at unknown place");
}

TEST_F(Analysis, AnInputMayBecomeAConstant) {
  const Value one = record(findOp("aten::mul.Tensor"), {x}, {Operand{0}, 1.0}, {x.shape()});
  EXPECT_EQ(lastLine(scaled(number(2.5)), one), "constant other of aten::mul: an input became 1.0 at unknown place");
  EXPECT_EQ(lastLine(one, scaled(number(2.5))), "constant other of aten::mul: 1.0 became an input at unknown place");
}

TEST_F(Analysis, PlacesOfViewsAreConstants) {
  auto row = [&](int64_t index) {
    const std::vector<int64_t> size = {2}, stride = {1};
    return record(findOp("millrace::strided_read"), {x}, {Operand{0}, size, stride, index}, {Shape{DType::F32, {2}}});
  };
  EXPECT_EQ(lastLine(row(0), row(2)), "constant storage_offset of a view: 0 became 2 at unknown place");
}

TEST_F(Analysis, OtherShapesAndOtherOperatorsAreNoConstants) {
  const Value y = *Session::get().upload(data, {DType::F32, {2}});
  const Value of = record(findOp("aten::pow.Tensor_Scalar"), {y}, {Operand{0}, 4.0}, {y.shape()});
  EXPECT_EQ(lastLine(power(3.0), of).find("before: "), 0u);
  EXPECT_EQ(lastLine(power(3.0), scaled(number(2.5))).find("before: "), 0u);
}

} // namespace
