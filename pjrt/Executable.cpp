// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Executable.cpp - Compiled programs: making, asking, storing ---------===//
#include "pjrt/Compiler.h"
#include "pjrt/Slots.h"

#include <cstring>

namespace millrace::pjrt {
namespace {

Executable *makeExecutable(std::shared_ptr<const Compiled> compiled) {
  auto made = std::make_unique<Executable>();
  made->compiled = std::move(compiled);
  return made.release();
}

/// Loads with the options that a caller gives, else with those of the program.
rt::StatusOr<LoadedExecutable *> loadWith(Client &client, std::shared_ptr<const Compiled> compiled, const char *options,
                                          size_t size) {
  if (!options || !size) {
    const CompileOptionsProto &own = compiled->options;
    return loadCompiled(client, compiled, own);
  }
  rt::StatusOr<CompileOptionsProto> proto = decodeCompileOptions({options, size});
  if (!proto)
    return proto.status();
  return loadCompiled(client, std::move(compiled), *proto);
}

} // namespace

namespace slots {

rt::Status Client_Compile(Client_Compile_Args &args) {
  rt::StatusOr<std::shared_ptr<const Compiled>> compiled =
      compileProgram(*args.program, {args.compile_options, args.compile_options_size});
  if (!compiled)
    return compiled.status();
  const CompileOptionsProto &options = (*compiled)->options;
  rt::StatusOr<LoadedExecutable *> loaded = loadCompiled(*args.client, *compiled, options);
  if (!loaded)
    return loaded.status();
  args.executable = *loaded;
  return {};
}

rt::Status Compile(Compile_Args &args) {
  rt::StatusOr<std::shared_ptr<const Compiled>> compiled =
      compileProgram(*args.program, {args.compile_options, args.compile_options_size});
  if (!compiled)
    return compiled.status();
  size_t needed = size_t((*compiled)->program->numReplicas) * (*compiled)->program->numPartitions;
  if (needed > args.topology->descriptions.size())
    return rt::invalidArgument("the program needs " + std::to_string(needed) + " devices, but the topology has " +
                               std::to_string(args.topology->descriptions.size()));
  args.executable = makeExecutable(std::move(*compiled));
  return {};
}

rt::Status Client_Load(Client_Load_Args &args) {
  rt::StatusOr<LoadedExecutable *> loaded =
      loadWith(*args.client, args.executable->compiled, args.compile_options, args.compile_options_size);
  if (!loaded)
    return loaded.status();
  args.loaded = *loaded;
  return {};
}

rt::Status Executable_Serialize(Executable_Serialize_Args &args) {
  rt::StatusOr<std::string> bytes = serializeCompiled(*args.object->compiled);
  if (!bytes)
    return bytes.status();
  giveBytes(args, std::move(*bytes));
  return {};
}
rt::Status Executable_DeserializeAndLoad(Executable_DeserializeAndLoad_Args &args) {
  rt::StatusOr<std::shared_ptr<const Compiled>> compiled = parseCompiled({args.data, args.size});
  if (!compiled)
    return compiled.status();
  bool overridden = covers(args, args.compile_options_size);
  rt::StatusOr<LoadedExecutable *> loaded =
      loadWith(*args.client, std::move(*compiled), overridden ? args.compile_options : nullptr,
               overridden ? args.compile_options_size : 0);
  if (!loaded)
    return loaded.status();
  args.executable = *loaded;
  return {};
}
rt::Status Executable_GetCompileOptions(Executable_GetCompileOptions_Args &args) {
  giveBytes(args, args.object->compiled->optionBytes);
  return {};
}
rt::Status Executable_OptimizedProgram(Executable_OptimizedProgram_Args &args) {
  std::lock_guard lock(args.executable->mutex);
  std::string &text = args.executable->optimized;
  if (text.empty()) {
    rt::StatusOr<std::string> made = optimizedModule(*args.executable->compiled);
    if (!made)
      return made.status();
    text = std::move(*made);
  }
  ProgramCode &program = *args.program;
  program.format = "mlir";
  program.format_size = 4;
  if (program.code) {
    if (program.code_size < text.size())
      return rt::invalidArgument("expects room for " + std::to_string(text.size()) + " bytes, but got " +
                                 std::to_string(program.code_size));
    std::memcpy(program.code, text.data(), text.size());
  }
  program.code_size = text.size();
  return {};
}

rt::Status Executable_Destroy(Executable_Destroy_Args &args) {
  delete args.object;
  return {};
}
rt::Status Executable_Name(Executable_Name_Args &args) {
  giveString(args, args.object->compiled->program->name);
  return {};
}
rt::Status Executable_NumReplicas(Executable_NumReplicas_Args &args) {
  args.result = args.object->compiled->program->numReplicas;
  return {};
}
rt::Status Executable_NumPartitions(Executable_NumPartitions_Args &args) {
  args.result = args.object->compiled->program->numPartitions;
  return {};
}
rt::Status Executable_NumOutputs(Executable_NumOutputs_Args &args) {
  args.result = args.object->compiled->results.size();
  return {};
}
rt::Status Executable_SizeOfGeneratedCodeInBytes(Executable_SizeOfGeneratedCodeInBytes_Args &args) {
  args.result = int64_t(args.object->compiled->program->memory.code);
  return {};
}
rt::Status Executable_GetCostAnalysis(Executable_GetCostAnalysis_Args &args) {
  args.num_properties = args.executable->compiled->properties.size();
  args.properties = args.executable->compiled->properties.data();
  return {};
}
rt::Status Executable_OutputElementTypes(Executable_OutputElementTypes_Args &args) {
  // The interface lacks the const.
  args.types = const_cast<int *>(args.executable->compiled->resultTypes.data());
  args.size = args.executable->compiled->resultTypes.size();
  return {};
}
rt::Status Executable_OutputDimensions(Executable_OutputDimensions_Args &args) {
  args.num_outputs = args.executable->compiled->results.size();
  args.dims = args.executable->compiled->resultDims.data();
  args.dim_sizes = args.executable->compiled->resultRanks.data();
  return {};
}
rt::Status Executable_OutputMemoryKinds(Executable_OutputMemoryKinds_Args &args) {
  args.size = args.executable->compiled->results.size();
  args.kinds = args.executable->compiled->resultKinds.data();
  args.kind_sizes = args.executable->compiled->resultKindSizes.data();
  return {};
}
rt::Status Executable_ParameterMemoryKinds(Executable_ParameterMemoryKinds_Args &args) {
  args.size = args.executable->compiled->arguments.size();
  args.kinds = args.executable->compiled->argumentKinds.data();
  args.kind_sizes = args.executable->compiled->argumentKindSizes.data();
  return {};
}
rt::Status Executable_Fingerprint(Executable_Fingerprint_Args &args) {
  giveString(args, args.object->compiled->fingerprint);
  return {};
}
rt::Status Executable_GetCompiledMemoryStats(Executable_GetCompiledMemoryStats_Args &args) {
  const rt::MemoryStats &stats = args.executable->compiled->program->memory;
  args.generated_code = int64_t(stats.code);
  args.argument = int64_t(stats.arguments);
  args.output = int64_t(stats.results);
  args.alias = int64_t(stats.aliased);
  args.temp = int64_t(stats.temporaries);
  args.host_generated_code = args.host_argument = args.host_output = args.host_alias = args.host_temp = 0;
  // Older callers have a shorter struct.
  auto set = [&](int64_t &field, uint64_t value) {
    if (covers(args, field))
      field = int64_t(value);
  };
  uint64_t total = stats.arguments + stats.results + stats.temporaries + stats.constants + stats.code - stats.aliased;
  set(args.peak, stats.peak);
  set(args.total, total);
  set(args.total_allocation, total);
  set(args.indefinite_allocations, stats.constants);
  set(args.peak_unpadded_heap, stats.peak);
  return {};
}

rt::Status LoadedExecutable_Destroy(LoadedExecutable_Destroy_Args &args) {
  delete args.object;
  return {};
}
rt::Status LoadedExecutable_GetExecutable(LoadedExecutable_GetExecutable_Args &args) {
  args.result = makeExecutable(args.object->compiled);
  return {};
}
rt::Status LoadedExecutable_AddressableDevices(LoadedExecutable_AddressableDevices_Args &args) {
  giveList(args, args.object->devices);
  return {};
}
rt::Status LoadedExecutable_AddressableDeviceLogicalIds(LoadedExecutable_AddressableDeviceLogicalIds_Args &args) {
  giveList(args, args.object->logicalIds);
  return {};
}
rt::Status LoadedExecutable_GetDeviceAssignment(LoadedExecutable_GetDeviceAssignment_Args &args) {
  // An empty result means that any device may execute the program.
  giveBytes(args, args.object->isPortable ? std::string() : encodeDeviceAssignment(args.object->assignment));
  return {};
}
rt::Status LoadedExecutable_Delete(LoadedExecutable_Delete_Args &args) {
  std::shared_ptr<rt::Executable> last; // freed after the lock is released
  std::lock_guard lock(args.object->mutex);
  last.swap(args.object->executable);
  return {};
}
rt::Status LoadedExecutable_IsDeleted(LoadedExecutable_IsDeleted_Args &args) {
  std::lock_guard lock(args.object->mutex);
  args.result = !args.object->executable;
  return {};
}
rt::Status LoadedExecutable_Fingerprint(LoadedExecutable_Fingerprint_Args &args) {
  giveString(args, args.object->compiled->fingerprint);
  return {};
}

} // namespace slots
} // namespace millrace::pjrt
