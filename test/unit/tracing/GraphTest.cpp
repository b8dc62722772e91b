// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lazy tensor without PyTorch: build a graph, step barrier, read the result, print its StableHLO.
#include "tracing/Session.h"
#include "tracing/emit/Emit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace millrace;
using namespace millrace::tracing;

namespace {

Value upload(const std::vector<float> &data) {
  return *Session::get().upload(data.data(), {DType::F32, {int64_t(data.size())}});
}
/// An operator of PyTorch's schema (self, other, *, alpha).
Value add(const Value &a, const Value &b, int64_t alpha = 1) {
  return record(findOp("aten::add.Tensor"), {a, b}, {Operand{0}, Operand{1}, alpha}, {a.shape()});
}
std::vector<float> read(const Value &value) {
  std::vector<float> data(value.shape().count());
  EXPECT_TRUE(Session::get().sync({value}).ok());
  EXPECT_TRUE(Session::get().download(value, data.data()).ok());
  return data;
}

TEST(Graph, RunsAtTheBarrier) {
  Value x = upload({1, 2, 3}), y = add(add(x, x), x);
  runtime::StatusOr<std::string> text = Session::get().programText({y});
  ASSERT_TRUE(text.ok()) << text.status().toString();
  EXPECT_THAT(*text, testing::HasSubstr("stablehlo.add"));
  EXPECT_THAT(read(y), testing::ElementsAre(3, 6, 9));
  EXPECT_TRUE(y.node->isLeaf());
}

TEST(Graph, NumbersAreParametersOfOneProgram) {
  std::vector<float> results;
  uint64_t before = 0;
  for (double factor : {2.5, 3.5, 4.5}) {
    Value x = upload({1, 1});
    Value y = record(findOp("aten::mul.Tensor"), {x, number(factor)}, {Operand{0}, Operand{1}}, {x.shape()});
    results.push_back(read(y)[0]);
    if (factor == 2.5)
      before = Session::get().compilations();
  }
  EXPECT_THAT(results, testing::ElementsAre(2.5, 3.5, 4.5));
  EXPECT_EQ(Session::get().compilations(), before);
}

TEST(Graph, KeysTellStructuresApart) {
  Value x = upload({1}), y = upload({2});
  EXPECT_EQ(schedule({add(x, y)}).key, schedule({add(y, x)}).key); // the same program of two parameters
  EXPECT_NE(schedule({add(x, y)}).key, schedule({add(x, x)}).key);
  EXPECT_NE(schedule({add(x, y)}).key, schedule({add(x, y, 2)}).key);
}

TEST(Graph, InfersFromTheEmission) {
  Value x = upload({1, 2});
  EXPECT_FALSE(check(findOp("aten::exp"), {x}, {Operand{0}}, {Shape{DType::F32, {3}}}).ok());
  EXPECT_TRUE(check(findOp("aten::exp"), {x}, {Operand{0}}, {x.shape()}).ok());
}

// Operators that are told their types have no inference of their own: an error, not what lies behind an empty list.
TEST(Graph, InferenceNeedsAnEmissionThatKnowsItsTypes) {
  Value x = upload({1, 2});
  for (const char *name : {"millrace::zero", "millrace::one", "millrace::reshape", "millrace::convert", "millrace::expand"}) {
    runtime::StatusOr<std::vector<Shape>> types = infer(findOp(name), {x}, {Operand{0}});
    ASSERT_FALSE(types.ok()) << name;
    EXPECT_THAT(types.status().toString(), testing::HasSubstr("types of the results must be given"));
  }
}

TEST(Graph, CountsWhatIsPending) {
  Value x = upload({1});
  EXPECT_EQ(graphSize(x, 10), 0u);
  Value y = add(x, x), z = add(y, y);
  EXPECT_EQ(graphSize(add(z, y), 10), 3u);
  EXPECT_EQ(graphSize(add(z, y), 2), 2u);
}

TEST(Graph, LetsGoOfAChainWithoutRecursion) {
  Value x = upload({1});
  for (int i = 0; i < 200000; ++i)
    x = add(x, x);
}

TEST(Types, PromotionFollowsPyTorch) {
  auto val = [](DType type, int64_t rank, bool isWeak = false) {
    return Val{nullptr, {type, std::vector<int64_t>(rank, 2)}, isWeak};
  };
  EXPECT_EQ(promote(DType::U8, DType::I8), DType::I16);
  EXPECT_EQ(promote(DType::F16, DType::BF16), DType::F32);
  EXPECT_EQ(commonType({val(DType::I32, 1), val(DType::F64, 0, true)}), DType::F32);
  EXPECT_EQ(commonType({val(DType::BF16, 1), val(DType::F32, 0)}), DType::BF16);
  EXPECT_EQ(commonType({val(DType::I8, 1), val(DType::I64, 0, true)}), DType::I8);
}

} // namespace
