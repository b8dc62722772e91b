// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Random.cpp - Random numbers and Fourier transforms as HLO ----------===//
// Input:   %1 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (...) -> tensor<3xf32>
// Output:  rng.1 = f32[3]{0} rng(a, b), distribution=rng_uniform      // the shape is that of the result
#include "lowering/hlo/Writer.h"

#include "dialects/stablehlo/Ops.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::hlo {

static LogicalResult rng(shlo::RngOp op, Computation &to) {
  if (!cast<RankedTensorType>(op.getType()).hasStaticShape())
    return op.emitOpError("has its shape at run time, which HLO cannot express");
  bool normal = op.getRngDistribution() == shlo::RngDistribution::NORMAL;
  return to.result(op, "rng", {to[op.getA()], to[op.getB()]},
                   Attributes().add("distribution", normal ? "rng_normal" : "rng_uniform"));
}

static StringRef algorithmName(shlo::RngAlgorithm algorithm) {
  switch (algorithm) {
  case shlo::RngAlgorithm::DEFAULT:
    return "rng_default";
  case shlo::RngAlgorithm::THREE_FRY:
    return "rng_three_fry";
  case shlo::RngAlgorithm::PHILOX:
    return "rng_philox";
  }
  llvm_unreachable("all algorithms are handled");
}

Visit visitRandom(Operation *op, Computation &to) {
  return llvm::TypeSwitch<Operation *, Visit>(op)
      .Case<shlo::RngOp>([&](auto op) { return rng(op, to); })
      .Case<shlo::RngBitGeneratorOp>([&](shlo::RngBitGeneratorOp op) {
        return to.result(op, "rng-bit-generator", Attributes().add("algorithm", algorithmName(op.getRngAlgorithm())));
      })
      .Case<shlo::FftOp>([&](shlo::FftOp op) {
        return to.result(op, "fft", Attributes().add("fft_type", shlo::stringifyFftType(op.getFftType()))
                                        .list("fft_length", op.getFftLength()));
      })
      .Default([](auto) { return std::nullopt; });
}

} // namespace millrace::hlo
