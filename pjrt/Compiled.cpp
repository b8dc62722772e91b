// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compiled.cpp - What a compiled program looks like to callers --------===//
#include "dialects/sdy/HloSharding.h"
#include "pjrt/Compiler.h"
#include "pjrt/EntryLayouts.h"
#include "runtime/base/Hash.h"
#include "runtime/program/Cost.h"
#include "runtime/program/KernelUpgrades.h"

#include <algorithm>
#include <cstring>

namespace millrace::pjrt {
namespace {

constexpr std::string_view magic = "MRPJRT01";

TensorType typeFrom(const rt::TensorSpec &spec, Layout layout) {
  TensorType type;
  type.dtype = spec.dtype;
  std::vector<int64_t> dims = spec.dims;
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] == rt::kDynamic)
      dims[d] = d < spec.bounds.size() && spec.bounds[d] != rt::kDynamic ? spec.bounds[d] : 0;
  type.isStatic = std::find(spec.dims.begin(), spec.dims.end(), rt::kDynamic) == spec.dims.end();
  type.dims = toLogical(dims, layout);
  type.layout = std::move(layout);
  type.memoryKind = spec.memoryKind.empty() ? "device" : spec.memoryKind;
  type.sharding = spec.sharding;
  return type;
}

/// Fills the shardings that clients see. A type without a string is replicated.
rt::Status fillShardings(const std::vector<TensorType> &types, std::vector<std::string> &owned,
                         std::vector<const char *> &data, std::vector<size_t> &sizes) {
  for (const TensorType &type : types) {
    std::string error;
    auto sharding = type.sharding.empty() ? sdy::HloSharding() : sdy::parseHloSharding(type.sharding, error);
    if (!sharding)
      return rt::dataLoss("the shardings of the executable are malformed: " + error);
    owned.push_back(sdy::toOpShardingProto(*sharding));
  }
  for (const std::string &bytes : owned) {
    data.push_back(bytes.data());
    sizes.push_back(bytes.size());
  }
  return {};
}

void appendNumber(std::string &out, uint64_t value) { out.append(reinterpret_cast<const char *>(&value), 8); }
void appendPart(std::string &out, std::string_view part) {
  appendNumber(out, part.size());
  out += part;
}
bool takeNumber(std::string_view &bytes, uint64_t &value) {
  if (bytes.size() < 8)
    return false;
  std::memcpy(&value, bytes.data(), 8);
  bytes.remove_prefix(8);
  return true;
}
bool takePart(std::string_view &bytes, std::string_view &part) {
  uint64_t size;
  if (!takeNumber(bytes, size) || size > bytes.size())
    return false;
  part = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

} // namespace

rt::Status Compiled::finish() {
  EntryLayouts layouts;
  for (const auto &[name, value] : program->metadata)
    if (name == kLayoutsKey && !layoutsFromText(value, layouts))
      return rt::dataLoss("the layouts of the executable are malformed");
  auto fill = [](const auto &specs, std::vector<Layout> &orders, std::vector<TensorType> &types) {
    orders.resize(specs.size());
    for (size_t i = 0; i < specs.size(); ++i) {
      if (!orders[i].empty() && orders[i].size() != specs[i].dims.size())
        return false;
      types.push_back(typeFrom(specs[i], std::move(orders[i])));
    }
    return true;
  };
  if (!fill(program->arguments, layouts.arguments, arguments) || !fill(program->results, layouts.results, results))
    return rt::dataLoss("the layouts of the executable do not fit its types");

  auto layoutObject = [&](const TensorType &type) {
    ownedLayouts.push_back(std::make_unique<LayoutObject>(LayoutObject{layoutText(type.layout, type.dims.size())}));
    return ownedLayouts.back().get();
  };
  for (const TensorType &argument : arguments) {
    argumentLayouts.push_back(layoutObject(argument));
    argumentKinds.push_back(argument.memoryKind.data());
    argumentKindSizes.push_back(argument.memoryKind.size());
  }
  for (const TensorType &result : results) {
    resultLayouts.push_back(layoutObject(result));
    resultTypes.push_back(bufferTypeOf(result.dtype));
    resultDims.insert(resultDims.end(), result.dims.begin(), result.dims.end());
    resultRanks.push_back(result.dims.size());
    resultKinds.push_back(result.memoryKind.data());
    resultKindSizes.push_back(result.memoryKind.size());
  }
  if (program->numPartitions > 1) {
    MILLRACE_TRY(fillShardings(arguments, argumentShardings, argumentShardingData, argumentShardingSizes));
    MILLRACE_TRY(fillShardings(results, resultShardings, resultShardingData, resultShardingSizes));
  }
  auto property = [&](std::string_view name, double number) {
    NamedValue value{};
    value.struct_size = sizeof(NamedValue);
    value.name = name.data();
    value.name_size = name.size();
    value.type = NamedValue::Float;
    value.float_value = float(number);
    value.value_size = 1;
    properties.push_back(value);
  };
  rt::ProgramCost cost = rt::costOf(*program);
  property("flops", cost.flops);
  property("bytes accessed", cost.bytesAccessed);
  return {};
}

rt::StatusOr<std::string> serializeCompiled(const Compiled &compiled) {
  std::shared_ptr<const rt::Program> whole = compiled.program;
  if (whole->upgrades) { // a tiered program is serialized with its final code
    if (!whole->upgrades->await())
      return rt::Status(rt::Code::Unavailable,
                        "some kernels of the tiered program have no optimized code: compile the program again to serialize it");
    whole = std::make_shared<const rt::Program>(rt::upgraded(*whole, whole->upgrades->published()));
  }
  rt::StatusOr<std::string> program = rt::serialize(*whole);
  if (!program)
    return program.status();
  std::string body;
  for (std::string_view part : {std::string_view(compiled.optionBytes), std::string_view(compiled.fingerprint),
                                std::string_view(compiled.source), std::string_view(*program)})
    appendPart(body, part);
  std::string bytes(magic);
  appendNumber(bytes, rt::hash64(body.data(), body.size()));
  return bytes + body;
}

rt::StatusOr<std::shared_ptr<const Compiled>> parseCompiled(std::string_view bytes) {
  if (bytes.substr(0, magic.size()) != magic)
    return rt::invalidArgument("this is not a serialized executable of Millrace");
  bytes.remove_prefix(magic.size());
  uint64_t hash;
  if (!takeNumber(bytes, hash) || hash != rt::hash64(bytes.data(), bytes.size()))
    return rt::dataLoss("the serialized executable is damaged: its checksum does not match");
  std::string_view options, fingerprint, source, program;
  if (!takePart(bytes, options) || !takePart(bytes, fingerprint) || !takePart(bytes, source) ||
      !takePart(bytes, program) || !bytes.empty())
    return rt::dataLoss("the serialized executable is malformed");
  auto compiled = std::make_shared<Compiled>();
  compiled->optionBytes = options;
  compiled->fingerprint = fingerprint;
  compiled->source = source;
  rt::StatusOr<CompileOptionsProto> proto = decodeCompileOptions(options);
  if (!proto)
    return proto.status();
  compiled->options = std::move(*proto);
  rt::StatusOr<rt::Program> parsed = rt::parse(program);
  if (!parsed)
    return parsed.status();
  compiled->program = std::make_shared<const rt::Program>(std::move(*parsed));
  MILLRACE_TRY(compiled->finish());
  return std::shared_ptr<const Compiled>(std::move(compiled));
}

rt::StatusOr<LoadedExecutable *> loadCompiled(Client &client, std::shared_ptr<const Compiled> compiled,
                                              const CompileOptionsProto &options) {
  const rt::Program &program = *compiled->program;
  bool isSingle = program.numReplicas == 1 && program.numPartitions == 1;
  rt::LoadOptions load;
  load.deviceAssignment = options.assignment.ids;
  if (load.deviceAssignment.empty() && isSingle && options.deviceOrdinal >= 0)
    load.deviceAssignment = {uint32_t(std::min<int64_t>(options.deviceOrdinal, UINT32_MAX))};
  rt::StatusOr<std::shared_ptr<rt::Executable>> executable = client.client->load(compiled->program, load);
  if (!executable)
    return executable.status();
  auto loaded = std::make_unique<LoadedExecutable>();
  loaded->client = &client;
  loaded->executable = std::move(*executable);
  loaded->isPortable = options.isPortable && isSingle;
  loaded->assignment.replicas = program.numReplicas;
  loaded->assignment.partitions = program.numPartitions;
  loaded->assignment.ids = loaded->executable->assignment();
  const std::vector<rt::Device *> &devices = loaded->executable->devices();
  for (size_t d = 0; d < devices.size() && !loaded->isPortable; ++d) { // a portable executable is not bound to a device
    uint32_t member = loaded->executable->memberOf(d);
    loaded->logicalIds.push_back({int(member / program.numPartitions), int(member % program.numPartitions)});
    loaded->devices.push_back(client.devices[devices[d]->id()]);
  }
  loaded->compiled = std::move(compiled);
  return loaded.release();
}

} // namespace millrace::pjrt
