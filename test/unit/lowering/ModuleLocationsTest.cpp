// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleLocationsTest.cpp - The user's lines, apart from the program --===//
#include "lowering/ModuleLocations.h"
#include "lowering/program/ProgramTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace millrace;

namespace {

struct Locations : testing::Test {
  Locations() { context.loadDialect<func::FuncDialect>(); }
  Location line(unsigned number) { return FileLineColLoc::get(&context, "train.py", number, 3); }
  Location named(StringRef name, Location inner) { return NameLoc::get(StringAttr::get(&context, name), inner); }
  std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream, OpPrintingFlags().enableDebugInfo());
    return text;
  }
  MLIRContext context;
};

TEST_F(Locations, AreHiddenNumberedAndRestored) {
  auto module = parseSourceString<ModuleOp>(R"(
    func.func @main(%a: f32 loc("x")) -> f32 {
      %0 = func.call @other(%a) : (f32) -> f32 loc("outer"("train.py":12:3))
      return %0 : f32 loc(callsite("lib.py":4:1 at "train.py":13:1))
    } loc(unknown)
    func.func private @other(f32) -> f32 loc(unknown)
  )",
                                            ParserConfig(&context), "program");
  ASSERT_TRUE(module);
  const std::string before = print(*module);
  ModuleLocations locations(*module);
  locations.hide();
  EXPECT_EQ(print(*module).find("train.py"), std::string::npos);
  const std::string hidden = print(*module);
  locations.number();
  std::vector<std::string> texts;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    lowering::StepLocation found = lowering::stepLocation(op->getLoc());
    EXPECT_EQ(found.text, locations.text(found.source));
    texts.push_back(found.text);
  });
  // module, main, (argument), call, return, other
  ASSERT_EQ(texts.size(), 5u);
  EXPECT_EQ(texts[2], "train.py:12:3");
  EXPECT_EQ(texts[3], "lib.py:4:1");
  auto main = module->lookupSymbol<func::FuncOp>("main");
  EXPECT_EQ(lowering::stepLocation(main.getLoc()).source, 1u) << "unknown, but numbered";
  EXPECT_EQ(lowering::stepLocation(main.getArgument(0).getLoc()).source, 2u);
  EXPECT_TRUE(isa<NameLoc>(main.getArgument(0).getLoc())) << "names stay outermost";
  EXPECT_EQ(locations.text(1000), "");
  locations.restore();
  EXPECT_EQ(print(*module), before);
  EXPECT_EQ(print(*withoutLocations(*module)), hidden);
}

TEST_F(Locations, ThatPassesMakeOfNumberedOnesName) {
  Location unknown = UnknownLoc::get(&context);
  Location five = lowering::withSource(line(5), 50), none = lowering::withSource(unknown, 60),
           seven = lowering::withSource(named("dot", line(7)), 70);
  auto expect = [](Location location, StringRef text, uint32_t source) {
    lowering::StepLocation found = lowering::stepLocation(location);
    EXPECT_EQ(found.text, text);
    EXPECT_EQ(found.source, source);
  };
  expect(seven, "train.py:7:3", 70);
  expect(FusedLoc::get(&context, {seven, five}), "train.py:7:3", 70);
  expect(CallSiteLoc::get(none, five), "train.py:5:3", 50);
  expect(CallSiteLoc::get(none, none), "", 60);
  expect(CallSiteLoc::get(none, line(9)), "train.py:9:3", runtime::kNone);
  expect(unknown, "", runtime::kNone);
  expect(line(3), "train.py:3:3", runtime::kNone);
}

} // namespace
