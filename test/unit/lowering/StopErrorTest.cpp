// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StopErrorTest.cpp - Errors that say stop, kernel, operation and line -===//
#include "lowering/StopError.h"
#include "lowering/client/ErrorLog.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <gtest/gtest.h>
#include <thread>

using namespace mlir;
using namespace millrace;

namespace {

struct Errors : testing::Test {
  MLIRContext context;
  Location line = NameLoc::get(StringAttr::get(&context, "aten::mm"), FileLineColLoc::get(&context, "train.py", 12, 0));
  OwningOpRef<ModuleOp> module = ModuleOp::create(line);
};

TEST_F(Errors, NameTheOperationAndTheLine) {
  ErrorLog log(context);
  lowering::StopError error(&context);
  module->emitOpError("has no lowering").attachNote() << "a note";
  EXPECT_EQ(llvm::toString(error.at("linalg", UnknownLoc::get(&context), "dot")),
            "compilation stopped at 'linalg' of kernel 'dot', at operation 'builtin.module' of aten::mm (train.py:12)");
  EXPECT_EQ(log.status(runtime::Code::Internal, "the summary").message(),
            "aten::mm (train.py:12): error: 'builtin.module' op has no lowering\n  note: a note\nthe summary");
}

TEST_F(Errors, KeepTheFirstErrorUntilTheNextKernel) {
  ErrorLog log(context);
  lowering::StopError error(&context);
  module->emitError("the first"); // names no operation: that is in MLIR's note
  emitError(UnknownLoc::get(&context), "the second");
  EXPECT_EQ(llvm::toString(error.at("vector", line)), "compilation stopped at 'vector', at operation 'builtin.module' of aten::mm (train.py:12)");
  error.restart();
  emitWarning(line, "no error");
  EXPECT_EQ(llvm::toString(error.at("vector", UnknownLoc::get(&context))), "compilation stopped at 'vector'");
  EXPECT_EQ(llvm::toString(error.at("vector", FileLineColLoc::get(&context, "f.py", 3, 7))), "compilation stopped at 'vector', at f.py:3:7");
}

TEST_F(Errors, OfOtherThreadsAreTheirs) {
  ErrorLog log(context);
  lowering::StopError own(&context);
  std::string other;
  std::thread([&] {
    lowering::StopError error(&context);
    module->emitOpError("fails");
    other = llvm::toString(error.at("llvm", UnknownLoc::get(&context)));
  }).join();
  EXPECT_EQ(other, "compilation stopped at 'llvm', at operation 'builtin.module' of aten::mm (train.py:12)");
  EXPECT_EQ(llvm::toString(own.at("llvm", UnknownLoc::get(&context))), "compilation stopped at 'llvm'");
}

} // namespace
