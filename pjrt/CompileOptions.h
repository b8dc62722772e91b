// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompileOptions.h - CompileOptionsProto, as far as we need it --------===//
// Callers hand over a serialized CompileOptionsProto. The wire format is decoded by hand: nine numbers of it matter here.
#pragma once
#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::pjrt {

/// Maps replica and partition to a device id; text and proto store it partition by partition.
struct DeviceAssignment {
  uint32_t replicas = 0, partitions = 0;
  std::vector<uint32_t> ids; ///< [replica * partitions + partition]; empty if not given
};

struct CompileOptionsProto {
  uint32_t numReplicas = 1, numPartitions = 1;
  int64_t deviceOrdinal = -1;
  bool isPortable = false; ///< compile_portable_executable: any device may execute it
  bool tupledArguments = false;
  DeviceAssignment assignment;
  /// allow_spmd_sharding_propagation_to_parameters and _to_output: one value for each, or one for all; empty if not given.
  std::vector<bool> openParameters, openResults;
  /// compiler_options of jax.jit, as text.
  std::vector<std::pair<std::string, std::string>> overrides;
};

/// Decodes the message. Returns InvalidArgument if `bytes` is no message of the wire format or counts are out of range. Unknown fields are skipped.
runtime::StatusOr<CompileOptionsProto> decodeCompileOptions(std::string_view bytes);

/// Encodes a DeviceAssignmentProto.
std::string encodeDeviceAssignment(const DeviceAssignment &assignment);

} // namespace millrace::pjrt
