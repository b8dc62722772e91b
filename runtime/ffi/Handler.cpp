// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Handler.cpp - Foreign functions as custom calls ---------------------===//
#include "runtime/ffi/Handler.h"
#include "runtime/ffi/Attributes.h"
#include "runtime/kernels/CustomCall.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace millrace::runtime::ffi {
namespace {

const char *const stageNames[] = {"instantiate", "prepare", "initialize", "execute"};

/// The operands or results of one call. Points into the views, which must outlive it.
class BufferList {
public:
  explicit BufferList(std::vector<TensorView> &views) {
    buffers.reserve(views.size());
    for (TensorView &view : views)
      buffers.push_back({{sizeof(abi::Buffer), nullptr},
                         abiType(view.dtype),
                         view.data,
                         int64_t(view.dims.size()),
                         view.dims.data()});
    for (abi::Buffer &buffer : buffers)
      values.push_back(&buffer);
    kinds.assign(views.size(), abi::BufferKind);
  }
  abi::Arguments get() {
    return {{sizeof(abi::Arguments), nullptr}, int64_t(buffers.size()), kinds.data(), values.data()};
  }

private:
  std::vector<abi::Buffer> buffers;
  std::vector<abi::ArgumentKind> kinds;
  std::vector<void *> values;
};

/// The minor version of the interface for which each stage's handler was compiled; a bundle may mix libraries.
using MinorVersions = std::array<int, abi::numStages>;

/// One call site in a loaded program.
struct Site {
  Site(const abi::Bundle &bundle, const MinorVersions &minors, const CustomCallStep &step)
      : bundle(bundle), minors(minors), attributes(step.attributes) {}
  abi::Bundle bundle;
  MinorVersions minors;
  AttributeTable attributes;
  State state; ///< state that the stage instantiate has made

  Status run(abi::Stage stage, abi::Context &context, const abi::Arguments &arguments,
             const abi::Arguments &results) const {
    abi::Handler *handler = bundle.stages[int(stage)];
    if (!handler)
      return Status();
    context.minor = minors[int(stage)];
    abi::CallFrame frame = {{abi::statedSize<abi::CallFrame>, nullptr}, &api(),  &context,         stage,
                            arguments,                     results, attributes.get(), nullptr};
    Status status = takeError(handler(&frame));
    if (frame.future) {
      std::unique_ptr<abi::Future> future(frame.future);
      if (Status outcome = future->await(); status.ok())
        status = outcome;
    }
    return stage == abi::Stage::Execute ? status : status.withContext(stageNames[int(stage)]);
  }
};

Status runCall(Site &site, const CustomCall &call) {
  State prepared, initialized;
  abi::Context context;
  context.call = &call;
  context.states[int(abi::Stage::Instantiate)] = &site.state;
  context.states[int(abi::Stage::Prepare)] = &prepared;
  context.states[int(abi::Stage::Initialize)] = &initialized;
  std::vector<TensorView> arguments = call.arguments, results = call.results;
  BufferList operandList(arguments), resultList(results);
  for (abi::Stage stage : {abi::Stage::Prepare, abi::Stage::Initialize, abi::Stage::Execute})
    MILLRACE_TRY(site.run(stage, context, operandList.get(), resultList.get()));
  return Status();
}

StatusOr<CustomCallHandler> instantiate(const abi::Bundle &bundle, const MinorVersions &minors,
                                        const CustomCallStep &step) {
  auto site = std::make_shared<Site>(bundle, minors, step);
  abi::Context context;
  context.states[int(abi::Stage::Instantiate)] = &site->state;
  abi::Arguments none = {{sizeof(abi::Arguments), nullptr}, 0, nullptr, nullptr};
  if (Status status = site->run(abi::Stage::Instantiate, context, none, none); !status.ok())
    return status.withContext("custom call '" + step.target + "'");
  return CustomCallHandler([site](const CustomCall &call) { return runCall(*site, call); });
}

/// Asks a handler for the minor version of the interface for which it was compiled.
StatusOr<int> versionOf(abi::Handler *handler, abi::Stage stage) {
  abi::Metadata metadata = {};
  metadata.size = abi::statedSize<abi::Metadata>;
  metadata.version.header.size = sizeof(abi::Version);
  abi::MetadataExtension extension = {{sizeof(abi::MetadataExtension), abi::MetadataExtensionKind, nullptr}, &metadata};
  abi::Arguments none = {{sizeof(abi::Arguments), nullptr}, 0, nullptr, nullptr};
  AttributeTable attributes({});
  abi::CallFrame frame = {{abi::statedSize<abi::CallFrame>, &extension.base}, &api(), nullptr,          stage,
                          none,                                  none,   attributes.get(), nullptr};
  MILLRACE_TRY(takeError(handler(&frame)));
  if (metadata.version.major == abi::majorVersion && metadata.version.minor <= abi::minorVersion)
    return metadata.version.minor;
  return failedPrecondition("was compiled for version " + std::to_string(metadata.version.major) + "." +
                            std::to_string(metadata.version.minor) + " of the interface, but we speak " +
                            std::to_string(abi::majorVersion) + "." + std::to_string(abi::minorVersion));
}

Status runUntyped(void *function, const CustomCall &call) {
  const CustomCallStep &step = call.step;
  std::vector<const void *> in;
  std::vector<void *> out;
  for (const TensorView &view : call.arguments)
    in.push_back(view.data);
  for (const TensorView &view : call.results)
    out.push_back(view.data);
  void *target = out.size() == 1 ? out[0] : out.data();
  // Only the handler's library knows the layout of a status: zeros mean success, and a failure changes them.
  alignas(16) std::array<uint8_t, 128> status = {};
  switch (step.apiVersion) {
  case 0:
  case 1:
    reinterpret_cast<void (*)(void *, const void **)>(function)(target, in.data());
    break;
  case 2:
    reinterpret_cast<void (*)(void *, const void **, void *)>(function)(target, in.data(), status.data());
    break;
  case 3:
    reinterpret_cast<void (*)(void *, const void **, const char *, size_t, void *)>(function)(
        target, in.data(), step.backendConfig.data(), step.backendConfig.size(), status.data());
    break;
  default:
    return failedPrecondition("the handler is an untyped one, but the call is of api_version " +
                              std::to_string(step.apiVersion));
  }
  if (std::any_of(status.begin(), status.end(), [](uint8_t byte) { return byte != 0; }))
    return internalError("the handler reports a failure");
  return Status();
}

} // namespace

Status registerHandler(std::string target, const abi::Bundle &bundle) {
  if (!bundle.stages[int(abi::Stage::Execute)])
    return invalidArgument("custom call target '" + target + "' has no handler for the stage execute");
  MinorVersions minors = {};
  for (int stage = 0; stage < abi::numStages; ++stage) {
    if (!bundle.stages[stage])
      continue;
    StatusOr<int> minor = versionOf(bundle.stages[stage], abi::Stage(stage));
    if (!minor)
      return minor.status().withContext("custom call target '" + target + "', stage " + stageNames[stage]);
    minors[stage] = *minor;
  }
  registerCustomCallFactory(std::move(target), [bundle, minors](const CustomCallStep &step) {
    return instantiate(bundle, minors, step);
  });
  return Status();
}

void registerUntypedHandler(std::string target, void *function) {
  registerCustomCall(std::move(target), [function](const CustomCall &call) { return runUntyped(function, call); });
}

} // namespace millrace::runtime::ffi
