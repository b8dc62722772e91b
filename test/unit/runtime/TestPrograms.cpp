// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TestPrograms.cpp - Hand-written programs with real machine code -----===//
#include "TestPrograms.h"
#include "runtime/base/File.h"
#include "runtime/base/Hash.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <unistd.h>

namespace millrace::runtime::test {

const char *const floatKernels = R"(
typedef long long i64;
int add(void **b, const i64 *d, i64 begin, i64 end) {
  float *x = b[0], *y = b[1], *z = b[2];
  for (i64 i = begin; i < end; ++i) z[i] = x[i] + y[i];
  return 0;
}
int twice(void **b, const i64 *d, i64 begin, i64 end) {
  float *x = b[0], *z = b[1];
  for (i64 i = begin; i < end; ++i) z[i] = x[i] * 2;
  return 0;
}
int less(void **b, const i64 *d, i64 begin, i64 end) {
  float *x = b[0], *y = b[1];
  *(unsigned char *)b[2] = x[0] < y[0];
  return 0;
}
int fail(void **b, const i64 *d, i64 begin, i64 end) { return 1; }
)";

Builder doublingLoop(bool swaps) {
  Builder b;
  SlotId x = b.argument(DType::F32, {}), s = b.arena(DType::F32, {}), n = b.arena(DType::F32, {}),
         p = b.arena(DType::I1, {}), limit = b.constant<float>(DType::F32, {}, {100}), z = b.result(DType::F32, {});
  b.code(floatKernels, {"add", "less"});
  b.push({CopyStep{x, s}, kNone});
  LoopStep loop;
  loop.cond = {Builder::kernel(1, {s, limit}, {p}, 1)};
  loop.predicate = p;
  loop.body = {Builder::kernel(0, {s, s}, {n}, 1)};
  loop.carried = {{s, n}};
  if (!swaps) // a view of the state forbids exchanging addresses
    b.add({Slot::Kind::View, s, 0, 4, DType::F32, {}});
  b.push({loop, kNone});
  b.push({CopyStep{s, z}, kNone});
  return b;
}

Constant compileC(const std::string &source) {
  static std::mutex mutex; // tests build programs on several threads
  std::lock_guard lock(mutex);
  static std::map<std::string, Constant> known;
  auto it = known.find(source);
  if (it != known.end())
    return it->second;
  std::string stem = ::testing::TempDir() + "/millrace-" + std::to_string(::getpid()) + "-" +
                     Sha256::hex(source).substr(0, 12);
  EXPECT_TRUE(writeFileAtomically(stem + ".c", source).ok());
  std::string command = "clang-22 -O1 -fPIC -fno-asynchronous-unwind-tables -w -c " + stem + ".c -o " + stem + ".o";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  auto content = readWholeFile(stem + ".o");
  EXPECT_TRUE(content.ok()) << content.status().toString();
  ::unlink((stem + ".c").c_str());
  ::unlink((stem + ".o").c_str());
  Constant object;
  if (content.ok())
    object = Constant::copy(content->bytes.data(), content->bytes.size());
  known.emplace(source, object);
  return object;
}

std::shared_ptr<Client> makeClient(uint32_t devices, double timeoutSeconds) {
  ClientOptions options;
  options.numDevices = devices;
  options.timeoutSeconds = timeoutSeconds;
  auto client = Client::create(options);
  EXPECT_TRUE(client.ok());
  return *client;
}

Status runStatus(Client &client, const Program &program, const std::vector<BufferPtr> &arguments) {
  auto executable = client.load(program);
  if (!executable.ok())
    return executable.status();
  auto result = (*executable)->execute({arguments});
  return result.ok() ? result->done[0].await() : result.status();
}

} // namespace millrace::runtime::test
