// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RunProgram.cpp - Execute a program on host arrays ------------------===//
#include "tools/support/RunProgram.h"

#include "runtime/client/Client.h"
#include "tools/support/ShardedArrays.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace millrace::tools {
using namespace runtime;

namespace {

double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

StatusOr<Array> download(Buffer &buffer, const std::string &name) {
  Array array;
  array.name = name;
  array.dtype = buffer.dtype();
  auto dims = buffer.dims();
  if (!dims)
    return dims.status();
  array.dims = *dims;
  array.bytes.resize(array.numElements() * byteSize(array.dtype));
  Event done = buffer.toHost(array.bytes.data(), array.bytes.size());
  if (Status status = done.await(); !status.ok())
    return status;
  return array;
}

} // namespace

StatusOr<RunOutcome> runProgram(std::shared_ptr<const Program> program, const std::vector<Array> &arguments,
                                unsigned numDevices, unsigned repeat, uint64_t rngSeed, bool profile,
                                const std::function<void(unsigned)> &onRepeat) {
  RunOutcome outcome;
  ClientOptions clientOptions;
  unsigned wanted = program->numReplicas * program->numPartitions;
  clientOptions.numDevices = std::max(numDevices, wanted);
  if (rngSeed)
    clientOptions.rngSeed = rngSeed;
  auto client = Client::create(clientOptions);
  if (!client)
    return client.status();
  auto start = std::chrono::steady_clock::now();
  auto executable = (*client)->load(program);
  if (!executable)
    return executable.status();
  outcome.loadMilliseconds = millisecondsSince(start);

  // What each device gets of every argument.
  std::vector<std::vector<Array>> tiles;
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto cut = cutIntoTiles(arguments[i], program->arguments[i], (*executable)->devices().size());
    if (!cut)
      return cut.status();
    tiles.push_back(std::move(*cut));
  }
  for (unsigned run = 0; run < std::max(1u, repeat); ++run) {
    onRepeat(run);
    // Donated arguments are consumed by an execution: upload them anew, outside of the measured time.
    std::vector<std::vector<BufferPtr>> buffers;
    for (Device *device : (*executable)->devices()) {
      size_t position = buffers.size();
      auto &mine = buffers.emplace_back();
      for (const std::vector<Array> &argument : tiles) {
        const Array &array = argument[position];
        auto buffer = (*client)->bufferFromHost(array.bytes.data(), array.dtype, array.dims, {},
                                                HostSemantics::OnlyDuringCall, device->memories().front());
        if (!buffer)
          return buffer.status();
        mine.push_back(*buffer);
      }
    }
    std::optional<ProfileScope> scope;
    if (profile)
      scope.emplace(outcome.profiles.emplace_back());
    start = std::chrono::steady_clock::now();
    auto result = (*executable)->execute(buffers);
    if (!result)
      return result.status();
    for (Event &done : result->done)
      if (Status status = done.await(); !status.ok())
        return status;
    outcome.milliseconds.push_back(millisecondsSince(start));
    if (run + 1 < repeat)
      continue;
    for (auto &deviceResults : result->results) {
      auto &arrays = outcome.results.emplace_back();
      for (size_t i = 0; i < deviceResults.size(); ++i) {
        auto array = download(*deviceResults[i], "result" + std::to_string(i));
        if (!array)
          return array.status();
        arrays.push_back(std::move(*array));
      }
    }
  }
  outcome.peakBytes = (*client)->devices().front()->memoryStats().peak;
  return outcome;
}

} // namespace millrace::tools
