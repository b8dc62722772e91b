// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TestPrograms.h - Hand-written programs with real machine code -------===//
// Kernels are C compiled by clang while a test runs; programs are built from the structs of Program.h.
#pragma once
#include "runtime/client/Client.h"

#include <gtest/gtest.h>
#include <initializer_list>

namespace millrace::runtime::test {

/// Relocatable object of a C source; the test fails if it does not compile. Compiled once per source and process.
Constant compileC(const std::string &source);

/// Builds a program of one function; slots are numbered in the order of the calls.
struct Builder {
  Builder() {
    program.producer = "test";
    program.name = "test";
    program.functions.emplace_back().name = "main";
  }
  Program program;
  Function &main() { return program.functions[0]; }

  static std::vector<Dim> dimsOf(const std::vector<int64_t> &sizes) {
    std::vector<Dim> dims;
    for (int64_t s : sizes)
      dims.push_back(Dim::constant(s));
    return dims;
  }
  static uint64_t bytesOf(DType type, const std::vector<int64_t> &sizes) {
    uint64_t bytes = byteSize(type);
    for (int64_t s : sizes)
      bytes *= uint64_t(s);
    return bytes;
  }
  SlotId add(Slot slot) {
    main().slots.push_back(std::move(slot));
    return SlotId(main().slots.size() - 1);
  }
  SlotId argument(DType type, std::vector<int64_t> sizes) {
    Argument spec;
    spec.dtype = type;
    spec.dims = sizes;
    program.arguments.push_back(spec);
    SlotId id = add({Slot::Kind::Argument, uint32_t(main().arguments.size()), 0, bytesOf(type, sizes), type, dimsOf(sizes)});
    main().arguments.push_back(id);
    return id;
  }
  SlotId result(DType type, std::vector<int64_t> sizes) {
    Result spec;
    spec.dtype = type;
    spec.dims = sizes;
    program.results.push_back(spec);
    SlotId id = add({Slot::Kind::Result, uint32_t(main().results.size()), 0, bytesOf(type, sizes), type, dimsOf(sizes)});
    main().results.push_back(id);
    return id;
  }
  SlotId arena(DType type, std::vector<int64_t> sizes) {
    uint64_t bytes = bytesOf(type, sizes);
    SlotId id = add({Slot::Kind::Arena, 0, main().arenaBytes, bytes, type, dimsOf(sizes)});
    main().arenaBytes += (bytes + 63) / 64 * 64;
    return id;
  }
  template <typename T>
  SlotId constant(DType type, std::vector<int64_t> sizes, std::vector<T> values) {
    program.constants.push_back(Constant::copy(values.data(), values.size() * sizeof(T)));
    return add({Slot::Kind::Constant, uint32_t(program.constants.size() - 1), 0, bytesOf(type, sizes), type,
                dimsOf(sizes)});
  }
  /// All kernels of the program come from one source.
  void code(const std::string &source, std::initializer_list<const char *> symbols) {
    program.objects.push_back(compileC(source));
    for (const char *symbol : symbols)
      program.kernels.push_back({symbol, symbol, {"stablehlo.add"}, 1, 8});
  }
  static Step kernel(uint32_t index, std::vector<SlotId> inputs, std::vector<SlotId> outputs, int64_t end) {
    KernelStep s;
    s.kernel = index;
    s.inputs = std::move(inputs);
    s.outputs = std::move(outputs);
    s.end = DimExpr::constant(end);
    return {s, kNone};
  }
  void push(Step step) { main().steps.push_back(std::move(step)); }
  uint32_t location(std::string text) {
    program.locations.push_back(std::move(text));
    return uint32_t(program.locations.size() - 1);
  }
};

/// float kernels: add, twice (out = in * 2), less (out[0] = in[0] < in[1]), fail (returns 1).
extern const char *const floatKernels;

/// s = x; while (s < 100) s = s + s, of floatKernels; `swaps`: the state exchanges addresses with its next value.
Builder doublingLoop(bool swaps);

std::shared_ptr<Client> makeClient(uint32_t devices = 1, double timeoutSeconds = 20);

template <typename T>
BufferPtr toDevice(Client &client, DType type, std::vector<int64_t> dims, const std::vector<T> &values,
                   uint32_t device = 0) {
  auto buffer = client.bufferFromHost(values.data(), type, dims, {}, HostSemantics::OnlyDuringCall,
                                      client.devices()[device]->memories()[0]);
  EXPECT_TRUE(buffer.ok()) << buffer.status().toString();
  return buffer.ok() ? *buffer : nullptr;
}

template <typename T>
std::vector<T> toHost(const BufferPtr &buffer) {
  auto dims = buffer->dims();
  EXPECT_TRUE(dims.ok()) << dims.status().toString();
  if (!dims.ok())
    return {};
  size_t n = 1;
  for (int64_t d : *dims)
    n *= size_t(d);
  std::vector<T> values(n);
  Status status = buffer->toHost(values.data(), n * sizeof(T)).await();
  EXPECT_TRUE(status.ok()) << status.toString();
  return values;
}

/// Runs `program` on the first device and returns its first result; the test fails if it cannot be run.
template <typename T>
std::vector<T> run(Client &client, const Program &program, const std::vector<BufferPtr> &arguments) {
  auto executable = client.load(program);
  EXPECT_TRUE(executable.ok()) << executable.status().toString();
  if (!executable.ok())
    return {};
  auto result = (*executable)->execute({arguments});
  EXPECT_TRUE(result.ok()) << result.status().toString();
  return result.ok() ? toHost<T>(result->results[0][0]) : std::vector<T>();
}

/// Runs `program` on the first device and returns the status of its execution.
Status runStatus(Client &client, const Program &program, const std::vector<BufferPtr> &arguments);

} // namespace millrace::runtime::test
