// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RecordedPasses.h - Passes as records of the profiler, and dumps ------===//
#pragma once
#include "lowering/ModuleDump.h"
#include "runtime/profile/Recorder.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <vector>

namespace millrace::lowering {

/// Records each pass that has a name, where somebody records, and writes what it leaves where a dump asks for it. Passes of one thread nest.
class RecordedPasses : public mlir::PassInstrumentation {
public:
  void runBeforePass(mlir::Pass *, mlir::Operation *) override { begins().push_back(runtime::profile::isOn() ? runtime::profile::ticks() : 0); }
  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override {
    end(pass);
    if (!pass->getArgument().empty())
      ModuleDump::afterPass(pass->getArgument(), op);
  }
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *) override { end(pass); }

private:
  void end(mlir::Pass *pass) {
    runtime::profile::Record record;
    record.start = begins().back();
    begins().pop_back();
    if (!record.start || pass->getArgument().empty()) // what applies a list of passes to functions has none
      return;
    record.kind = runtime::profile::Kind::Compile;
    record.what = runtime::profile::intern("pass " + pass->getArgument().str());
    record.end = runtime::profile::ticks();
    runtime::profile::append(record);
  }
  /// Of this thread; 0: nobody recorded then.
  static std::vector<uint64_t> &begins() {
    static thread_local std::vector<uint64_t> begins;
    return begins;
  }
};

} // namespace millrace::lowering
