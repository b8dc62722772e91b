// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Harness.h - Run a kernel through an emitter and the generic path ---===//
#pragma once

#include "lowering/cpu/emitters/Emitter.h"

#include "mlir/IR/MLIRContext.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace millrace::test {

/// MILLRACE_TEST_TARGET, or this machine. scripts/check runs the tests for every level of x86-64 that the machine has.
lowering::CpuTarget testTarget();

enum class Path { Contraction, Row, Movement, Any };

/// Machine code of one kernel from an emitter, and of its generic form as the reference.
class CompiledKernel {
public:
  /// `text` holds one function @k on tensors. Check ok() afterwards.
  CompiledKernel(const std::string &text, Path path, bool withReference = true,
                 lowering::KernelTarget target = lowering::kernelTarget(testTarget()));
  ~CompiledKernel();

  bool ok() const { return error.empty(); }
  std::string error;

  struct Buffer {
    std::string element; ///< "f32", "bf16", "i1", ...
    int64_t count = 0;
    std::vector<char> bytes; ///< i1 as bytes
    double get(int64_t i) const;
    void set(int64_t i, double value);
  };
  std::vector<Buffer> inputs, outputs, expected;
  int64_t rangeEnd = 0, scratchBytes = 0;
  double compileMillis = 0;
  std::string emitter, assembly;

  /// Numbers in [-1, 1) (floats), all bytes (i8) or small integers, the same every time.
  void fill();
  void runReference();
  /// Runs [0, rangeEnd) in calls of `piece` iterations; 0 = one call. Outputs are poisoned before.
  void run(int64_t piece = 0);
  /// One call of the whole range without any preparation, for timing.
  void call();
  /// Largest |output - expected| / max(1, |expected|); NaN equals NaN.
  double worstError() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Compiles, runs both paths (the emitted one in one call and in pieces of one iteration) and compares.
/// Returns an empty string or what is wrong.
std::string check(const std::string &text, Path path, double tolerance, lowering::KernelTarget target = lowering::kernelTarget(testTarget()));

} // namespace millrace::test
