// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MathKernel.h - One math operation as machine code ------------------===//
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace millrace::test {

/// Machine code that applies `op`, for example "math.exp", to arrays after xla-expand-math.
class MathKernel {
public:
  /// `element` is f16, bf16, f32 or f64; `lanes` = 0 computes on scalars. Elements per call: kCount. `oneNumber`: the second operand is the first
  /// number of b for all elements.
  MathKernel(const std::string &op, const std::string &element, unsigned operands, unsigned lanes, bool oneNumber = false);
  ~MathKernel();
  static constexpr int64_t kCount = 4096;

  /// Empty, or why there is no machine code.
  std::string error;
  void run(const void *a, const void *b, void *out);

private:
  void compile(const std::string &op, const std::string &element, unsigned operands, unsigned lanes, bool oneNumber);
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace millrace::test
