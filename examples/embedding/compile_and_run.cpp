// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parse, compile, run. With an argument: also writes the compiled program there, for run_program.
#include <millrace/millrace.h>

#include <cstdio>

int main(int argc, char **argv) try {
  const char *text = R"(
    func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x2xf32>) -> tensor<2x2xf32> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    })";
  millrace::Client client;
  auto matmul = client.compile(text);
  auto x = client.buffer<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  auto w = client.buffer<float>({3, 2}, {1, 0, 0, 1, 1, 1});
  auto results = matmul({x, w});
  for (float value : results[0].values<float>())
    std::printf("%g ", value);
  std::printf("\n");
  if (argc > 1)
    millrace::compile(text).write(argv[1]);
} catch (const millrace::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
