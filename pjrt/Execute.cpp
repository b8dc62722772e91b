// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Execute.cpp - One execution on all devices of an executable ---------===//
#include "pjrt/Slots.h"

namespace millrace::pjrt::slots {

rt::Status LoadedExecutable_Execute(LoadedExecutable_Execute_Args &args) {
  LoadedExecutable &loaded = *args.executable;
  const Compiled &compiled = *loaded.compiled;
  std::shared_ptr<rt::Executable> executable;
  {
    std::lock_guard lock(loaded.mutex);
    executable = loaded.executable;
  }
  if (!executable)
    return rt::invalidArgument("the executable has been deleted");
  rt::ExecuteOptions options;
  if (args.options) {
    const ExecuteOptions &given = *args.options;
    if (given.num_send_ops || given.num_recv_ops)
      return rt::unimplemented("send and receive callbacks");
    for (size_t i = 0; i < given.num_non_donatable_input_indices; ++i)
      options.nonDonatable.push_back(uint32_t(given.non_donatable_input_indices[i]));
    if (executable->devices().size() < executable->assignment().size()) {
      // The launch id is the same in all processes: the client computes it from the program's fingerprint and the number of the execution.
      options.agreement = uint64_t(uint32_t(given.launch_id));
      options.agreementOn = "launch id, which identifies the program and the number of its launches";
    }
  }
  if (args.execute_device && args.num_devices != 1)
    return rt::invalidArgument("execute_device expects arguments for one device, but got arguments for " +
                               std::to_string(args.num_devices));
  if (args.execute_device)
    MILLRACE_TRY(checkAddressable(*args.execute_device));
  if (loaded.isPortable && !args.execute_device)
    return rt::invalidArgument("a portable executable expects execute_device");

  std::vector<std::vector<rt::BufferPtr>> arguments(args.num_devices);
  for (size_t d = 0; d < args.num_devices; ++d) {
    arguments[d].reserve(args.num_args);
    for (size_t k = 0; k < args.num_args; ++k) {
      Buffer *buffer = args.argument_lists[d][k];
      if (buffer && k < compiled.arguments.size() && buffer->layout != compiled.arguments[k].layout)
        return rt::invalidArgument("argument " + std::to_string(k) + " does not have the layout for which the program was compiled");
      arguments[d].push_back(buffer ? buffer->buffer : nullptr);
    }
  }
  rt::StatusOr<rt::ExecuteResult> result =
      args.execute_device ? executable->executeOn(*args.execute_device->device, arguments[0], options)
                          : executable->execute(arguments, options);
  if (!result)
    return result.status();
  for (size_t d = 0; d < args.num_devices; ++d) {
    for (size_t r = 0; r < compiled.results.size(); ++r) {
      rt::BufferPtr &buffer = result->results[d][r];
      const TensorType &type = compiled.results[r];
      Memory *memory = loaded.client->memoryOf(buffer->memory());
      args.output_lists[d][r] = makeBuffer(std::move(buffer), memory, type.isStatic ? &type.dims : nullptr, type.layout);
    }
    if (args.device_complete_events)
      args.device_complete_events[d] = makeEvent(result->done[d]);
  }
  return {};
}

// No extension exists by which a caller could put user data into a context.
rt::Status ExecuteContext_Create(ExecuteContext_Create_Args &args) {
  args.object = new ExecuteContext;
  return {};
}
rt::Status ExecuteContext_Destroy(ExecuteContext_Destroy_Args &args) {
  delete args.object;
  return {};
}

// Streams are passed to receive callbacks, which Execute refuses, so no caller has one.
static rt::Status noStreams() { return rt::unimplemented("streams of receive callbacks"); }
rt::Status CopyToDeviceStream_Destroy(CopyToDeviceStream_Destroy_Args &args) {
  return args.object ? noStreams() : rt::Status();
}
rt::Status CopyToDeviceStream_AddChunk(CopyToDeviceStream_AddChunk_Args &) { return noStreams(); }
rt::Status CopyToDeviceStream_TotalBytes(CopyToDeviceStream_TotalBytes_Args &) { return noStreams(); }
rt::Status CopyToDeviceStream_GranuleSize(CopyToDeviceStream_GranuleSize_Args &) { return noStreams(); }
rt::Status CopyToDeviceStream_CurrentBytes(CopyToDeviceStream_CurrentBytes_Args &) { return noStreams(); }

} // namespace millrace::pjrt::slots
