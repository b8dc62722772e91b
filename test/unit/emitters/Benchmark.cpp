// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Benchmark.cpp - Speed of emitted kernels ---------------------------===//
// unit-emitters --gtest_also_run_disabled_tests --gtest_filter='*Benchmark*'
// One thread, its processor time, best of many calls, everything the kernel does included (packing). The per cent are of one 8x48 register tile over
// k = 512 including its call, measured in the same run: an understated peak, so that large kernels may exceed 100 %.
//===----------------------------------------------------------------------===//
#include "test/unit/emitters/Harness.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>

namespace millrace::test {
namespace {

std::string substitute(std::string text, std::initializer_list<std::pair<const char *, std::string>> values) {
  for (auto &[name, value] : values) {
    std::string from = name;
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += value.size())
      text.replace(at, from.size(), value);
  }
  return text;
}

double seconds(const std::function<void()> &body, double atLeast = 0.25) {
  // Processor time of this thread: kernels of milliseconds are interrupted on a machine that does other work.
  auto now = [] {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
  };
  // Samples of at least 2 ms: the clock costs about as much as a short kernel.
  body();
  double once = now();
  body();
  int calls = std::max(1, static_cast<int>(2e-3 / std::max(1e-7, now() - once)));
  double best = 1e30, start = now();
  for (int i = 0; i < 3 || now() - start < atLeast; ++i) {
    double t = now();
    for (int call = 0; call < calls; ++call)
      body();
    best = std::min(best, (now() - t) / calls);
  }
  return best;
}

/// GFLOP/s of one register tile and its call.
double peak() {
  static double value = [] {
    CompiledKernel kernel(R"(
func.func @k(%a: tensor<8x512xf32>, %b: tensor<512x48xf32>) -> tensor<8x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x48xf32>) -> tensor<8x48xf32>
  %c = linalg.matmul ins(%a, %b : tensor<8x512xf32>, tensor<512x48xf32>) outs(%f : tensor<8x48xf32>) -> tensor<8x48xf32>
  return %c : tensor<8x48xf32>
})",
                          Path::Contraction, false);
    kernel.fill();
    return 2.0 * 8 * 48 * 512 / seconds([&] { kernel.call(); }, 0.5) * 1e-9;
  }();
  return value;
}

void report(const char *name, const std::string &text, double flops, double bytes) {
  CompiledKernel warm(text, Path::Any, false);
  CompiledKernel kernel(text, Path::Any, false);
  ASSERT_TRUE(kernel.ok()) << name << ": " << kernel.error;
  kernel.fill();
  double time = seconds([&] { kernel.call(); });
  std::printf("%-34s %-11s %9.1f us", name, kernel.emitter.c_str(), time * 1e6);
  if (flops)
    std::printf(" %7.1f GFLOP/s (%3.0f%% of %.0f)", flops / time * 1e-9, 100 * flops / time * 1e-9 / peak(), peak());
  if (bytes)
    std::printf(" %6.1f GB/s", bytes / time * 1e-9);
  std::printf("  range %lld scratch %lld KB compile %.1f ms\n", (long long)kernel.rangeEnd,
              (long long)kernel.scratchBytes >> 10, kernel.compileMillis);
  std::fflush(stdout);
}

std::string gemm(int64_t m, int64_t n, int64_t k, bool transposeB, const std::string &in = "f32") {
  return substitute(R"(
func.func @k(%a: tensor<$Mx$Kx$T>, %b: tensor<$BSHAPEx$T>) -> tensor<$Mx$Nxf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<$Mx$Nxf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<$Mx$Nxf32>) -> tensor<$Mx$Nxf32>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> ($BMAP)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<$Mx$Kx$T>, tensor<$BSHAPEx$T>) outs(%f : tensor<$Mx$Nxf32>) {
    ^bb0(%x: $T, %y: $T, %s: f32):
      $BODY
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<$Mx$Nxf32>
  return %c : tensor<$Mx$Nxf32>
})",
                    {{"$BODY", in == "f32" ? "%p = arith.mulf %x, %y : f32"
                                           : "%xw = arith.extf %x : $T to f32\n%yw = arith.extf %y : $T to f32\n%p = arith.mulf %xw, %yw : f32"},
                     {"$BSHAPE", transposeB ? "$Nx$K" : "$Kx$N"}, {"$BMAP", transposeB ? "n, k" : "k, n"},
                     {"$M", std::to_string(m)}, {"$N", std::to_string(n)}, {"$K", std::to_string(k)}, {"$T", in}});
}

TEST(EmittersBenchmark, DISABLED_Gemm) {
  struct {
    int64_t m, n, k;
    bool t;
    const char *type;
  } cases[] = {{1024, 1024, 1024, false, "f32"}, {1024, 1024, 1024, true, "f32"}, {512, 512, 512, false, "f32"},
               {256, 256, 256, false, "f32"},    {128, 768, 3072, false, "f32"},  {128, 3072, 768, false, "f32"},
               {128, 768, 768, true, "f32"},     {1000, 1000, 1000, false, "f32"}, {127, 253, 509, false, "f32"},
               {197, 768, 768, true, "f32"},     {33, 77, 129, false, "f32"},     {4, 4096, 4096, true, "f32"},
               {4, 4096, 4096, false, "f32"},    {16, 1024, 1024, false, "f32"},  {64, 64, 64, false, "f32"},
               {1024, 1024, 1024, false, "bf16"}, {128, 768, 3072, true, "bf16"}};
  for (auto c : cases) {
    std::string name = std::string("gemm ") + c.type + (c.t ? " bt " : " ") + std::to_string(c.m) + "x" +
                       std::to_string(c.n) + "x" + std::to_string(c.k);
    report(name.c_str(), gemm(c.m, c.n, c.k, c.t, c.type), 2.0 * c.m * c.n * c.k, 0);
  }
}

TEST(EmittersBenchmark, DISABLED_Gemv) {
  report("gemv f32 1x4096x4096", gemm(1, 4096, 4096, false), 0, 4.0 * 4096 * 4096);
  report("gemv f32 bt 1x4096x4096", gemm(1, 4096, 4096, true), 0, 4.0 * 4096 * 4096);
}

TEST(EmittersBenchmark, DISABLED_Convolution) {
  std::string text = R"(
func.func @k(%x0: tensor<1x56x56x64xf32>, %w: tensor<3x3x64x64xf32>) -> tensor<1x$Ox$Ox64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x$Ox$Ox64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x$Ox$Ox64xf32>) -> tensor<1x$Ox$Ox64xf32>
  $PAD
  %c = linalg.generic {indexing_maps = [affine_map<(n, y, x, f, ky, kx, c) -> (n, y + ky, x + kx, c)>,
                                        affine_map<(n, y, x, f, ky, kx, c) -> (ky, kx, c, f)>,
                                        affine_map<(n, y, x, f, ky, kx, c) -> (n, y, x, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
    ins($X, %w : tensor<1x$Px$Px64xf32>, tensor<3x3x64x64xf32>) outs(%f : tensor<1x$Ox$Ox64xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<1x$Ox$Ox64xf32>
  return %c : tensor<1x$Ox$Ox64xf32>
})";
  const char *pad = R"(%x = tensor.pad %x0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<1x56x56x64xf32> to tensor<1x58x58x64xf32>)";
  report("conv 56x56x64 3x3 VALID", substitute(text, {{"$PAD", ""}, {"$X", "%x0"}, {"$O", "54"}, {"$P", "56"}}),
         2.0 * 54 * 54 * 64 * 576, 0);
  report("conv 56x56x64 3x3 SAME", substitute(text, {{"$PAD", pad}, {"$X", "%x"}, {"$O", "56"}, {"$P", "58"}}),
         2.0 * 56 * 56 * 64 * 576, 0);
}

TEST(EmittersBenchmark, DISABLED_Rows) {
  const char *maps = R"(
#rc = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>
)";
  report("x+1 4096x1024", std::string(maps) + R"(
func.func @k(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4096x1024xf32>
  %y = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<4096x1024xf32>) outs(%e : tensor<4096x1024xf32>) {
    ^bb0(%a: f32, %o: f32):
      %p = arith.addf %a, %one : f32
      linalg.yield %p : f32
  } -> tensor<4096x1024xf32>
  return %y : tensor<4096x1024xf32>
})",
         0, 32e6);
  report("row norm 4096x1024", std::string(maps) + R"(
func.func @k(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<4096xf32>
  %e = tensor.empty() : tensor<4096x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<4096xf32>) -> tensor<4096xf32>
  %s = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<4096x1024xf32>) outs(%f : tensor<4096xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.mulf %a, %a : f32
      %p = arith.addf %q, %o : f32
      linalg.yield %p : f32
  } -> tensor<4096xf32>
  %y = linalg.generic {indexing_maps = [#rc, #r, #rc], iterator_types = ["parallel", "parallel"]}
    ins(%x, %s : tensor<4096x1024xf32>, tensor<4096xf32>) outs(%e : tensor<4096x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      linalg.yield %p : f32
  } -> tensor<4096x1024xf32>
  return %y : tensor<4096x1024xf32>
})",
         0, 32e6);
  report("column sum 4096x1024", std::string(maps) + R"(
func.func @k(%x: tensor<4096x1024xf32>) -> tensor<1024xf32> {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<1024xf32>) -> tensor<1024xf32>
  %s = linalg.reduce ins(%x : tensor<4096x1024xf32>) outs(%f : tensor<1024xf32>) dimensions = [0]
    (%in: f32, %acc: f32) { %a = arith.addf %acc, %in : f32 linalg.yield %a : f32 }
  return %s : tensor<1024xf32>
})",
         0, 16e6);
  report("transpose 2048x2048", R"(
func.func @k(%x: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %e = tensor.empty() : tensor<2048x2048xf32>
  %t = linalg.transpose ins(%x : tensor<2048x2048xf32>) outs(%e : tensor<2048x2048xf32>) permutation = [1, 0]
  return %t : tensor<2048x2048xf32>
})",
         0, 2 * 4.0 * 2048 * 2048);
}

} // namespace
} // namespace millrace::test
