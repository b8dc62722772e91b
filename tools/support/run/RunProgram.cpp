// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RunProgram.cpp - Execute a program on host arrays ------------------===//
#include "tools/support/run/RunProgram.h"

#include "runtime/client/Client.h"
#include "tools/support/run/ShardedArrays.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>

namespace millrace::tools {
using namespace runtime;

namespace {

double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Returns the processor time of all threads of this process.
double processorMilliseconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
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

StatusOr<RunOutcome> runProgram(std::shared_ptr<const Program> program, std::vector<Array> arguments,
                                unsigned numDevices, unsigned repeat, uint64_t rngSeed, uint64_t memoryLimit, bool profile, unsigned piecesFor,
                                const std::function<void(unsigned)> &onRepeat) {
  RunOutcome outcome;
  ClientOptions clientOptions;
  unsigned wanted = program->numReplicas * program->numPartitions;
  clientOptions.numDevices = std::max(numDevices, wanted);
  clientOptions.memoryLimit = memoryLimit;
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

  // An execution consumes donated arguments, which are therefore uploaded for each execution, outside of the measured time.
  std::vector<bool> consumed;
  for (const Argument &argument : program->arguments)
    consumed.push_back(argument.donated);
  for (const Result &result : program->results)
    if (result.aliasArgument != kNone)
      consumed[result.aliasArgument] = true;

  const auto &devices = (*executable)->devices();
  auto upload = [&](const Array &array, Device *device) {
    return (*client)->bufferFromHost(array.bytes.data(), array.dtype, array.dims, {}, HostSemantics::OnlyDuringCall,
                                     device->memories().front());
  };
  // Arguments that are only read are used in place.
  auto keep = [&](Array array, Device *device) {
    auto kept = std::make_shared<const Array>(std::move(array));
    return (*client)->bufferFromHost(kept->bytes.data(), kept->dtype, kept->dims, {}, HostSemantics::ImmutableZeroCopy,
                                     device->memories().front(), [kept] {});
  };
  // The tiles of each argument per device, for arguments that are consumed. Of the others memory holds one copy.
  std::vector<std::vector<Array>> tiles(arguments.size());
  std::vector<std::vector<BufferPtr>> buffers(devices.size(), std::vector<BufferPtr>(arguments.size()));
  for (size_t i = 0; i < arguments.size(); ++i) {
    Array whole = std::move(arguments[i]);
    if (devices.size() == 1) {
      tiles[i].push_back(std::move(whole));
    } else {
      auto cut = cutIntoTiles(whole, program->arguments[i], devices.size());
      if (!cut)
        return cut.status();
      tiles[i] = std::move(*cut);
    }
    if (consumed[i])
      continue;
    for (size_t position = 0; position < devices.size(); ++position) {
      auto buffer = keep(std::move(tiles[i][position]), devices[position]);
      if (!buffer)
        return buffer.status();
      buffers[position][i] = *buffer;
    }
    tiles[i].clear();
  }
  for (unsigned run = 0; run < std::max(1u, repeat); ++run) {
    onRepeat(run);
    for (size_t i = 0; i < tiles.size(); ++i)
      for (size_t position = 0; position < tiles[i].size(); ++position) {
        auto buffer = upload(tiles[i][position], devices[position]);
        if (!buffer)
          return buffer.status();
        buffers[position][i] = *buffer;
      }
    std::optional<ProfileScope> scope;
    if (profile) {
      outcome.profiles.emplace_back().piecesFor = piecesFor;
      scope.emplace(outcome.profiles.back());
    }
    const double processor = processorMilliseconds();
    start = std::chrono::steady_clock::now();
    auto result = (*executable)->execute(buffers);
    if (!result)
      return result.status();
    for (Event &done : result->done)
      if (Status status = done.await(); !status.ok())
        return status;
    outcome.milliseconds.push_back(millisecondsSince(start));
    outcome.processorMilliseconds.push_back(processorMilliseconds() - processor);
    if (run + 1 < repeat)
      continue;
    buffers.clear(); // arguments are not read any more, and their memory is reused for copies of the results
    for (auto &deviceResults : result->results) {
      auto &arrays = outcome.results.emplace_back();
      for (size_t i = 0; i < deviceResults.size(); ++i) {
        auto array = download(*deviceResults[i], "result" + std::to_string(i));
        if (!array)
          return array.status();
        arrays.push_back(std::move(*array));
        deviceResults[i].reset();
      }
    }
  }
  outcome.peakBytes = (*client)->devices().front()->memoryStats().peak;
  return outcome;
}

} // namespace millrace::tools
