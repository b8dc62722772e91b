// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lazy tensors without PyTorch: record operations, look at the program, run it at a step barrier, read the result.
#include <tracing/emit/Emit.h>
#include <tracing/Session.h>

#include <cstdio>
#include <cstdlib>

using namespace millrace::tracing;

template <typename T>
static T get(millrace::runtime::StatusOr<T> value) {
  if (!value) {
    std::fprintf(stderr, "error: %s\n", std::string(value.status().message()).c_str());
    std::exit(1);
  }
  return std::move(*value);
}
static Value apply(const char *name, std::vector<Value> operands, std::vector<Arg> args, Shape result) {
  if (auto status = check(findOp(name), operands, args, {result}); !status.ok()) // can it be emitted, with that type?
    get<Value>(status);
  return record(findOp(name), std::move(operands), std::move(args), {std::move(result)});
}

int main() {
  Session &session = Session::get();
  const float data[] = {1, 2, 3, 4};
  Value x = get(session.upload(data, {DType::F32, {2, 2}}));
  for (int step = 0; step < 2; ++step) { // the second time the program is known
    Value squared = apply("aten::mm", {x, x}, {Operand{0}, Operand{1}}, x.shape());
    Value sum = apply("aten::add.Tensor", {squared, x}, {Operand{0}, Operand{1}, int64_t(1)}, x.shape());
    std::printf("%s", step ? "" : get(session.programText({sum})).c_str());
    if (!session.sync({sum}).ok())
      return 1;
    float result[4];
    if (!session.download(sum, result).ok())
      return 1;
    std::printf("%g %g %g %g, %d programs\n", result[0], result[1], result[2], result[3], int(session.compilations()));
  }
}
