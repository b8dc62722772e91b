// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PjrtTypes.h - PJRT C API 0.112: constants and shared structs --------===//
// Written from measured facts of the binary interface (sizes, offsets, meanings), for C++: every argument struct begins
// with Args, enumerations are plain ints with named values. A caller of another 0.x version may pass shorter structs: a
// field beyond `struct_size` does not exist for it and is neither read nor written (see covers()).
#pragma once
#include <cstddef>
#include <cstdint>

namespace millrace::pjrt {

inline constexpr int kApiMajor = 0, kApiMinor = 112;

// Objects behind the pointers of the API; Objects.h defines them.
struct Error;
struct Event;
struct Client;
struct DeviceDescription;
struct Device;
struct Memory;
struct Topology;
struct Executable;
struct LoadedExecutable;
struct Buffer;
struct TransferManager;
struct AliasFulfillment;
struct ExecuteContext;
struct CopyToDeviceStream; ///< never created
struct AsyncTrackingEvent; ///< never created

struct Extension {
  size_t struct_size;
  int type;
  Extension *next;
};

struct Args {
  size_t struct_size;
  Extension *extension_start;
};

/// Returns true if the caller's struct is long enough to have `field`.
template <typename A, typename F>
bool covers(const A &args, const F &field) {
  const char *begin = reinterpret_cast<const char *>(&args), *end = reinterpret_cast<const char *>(&field + 1);
  return args.struct_size >= size_t(end - begin);
}

struct Version : Args {
  int major_version, minor_version;
};

struct NamedValue : Args {
  enum Type : int { String = 0, Int64 = 1, Int64List = 2, Float = 3, Bool = 4 };
  const char *name;
  size_t name_size;
  int type;
  union {
    const char *string_value;
    int64_t int64_value;
    const int64_t *int64_array_value;
    float float_value;
    bool bool_value;
  };
  size_t value_size; ///< elements of a list or string, else 1
};

/// Values of PJRT_Buffer_Type.
enum BufferType : int {
  INVALID = 0, PRED, S8, S16, S32, S64, U8, U16, U32, U64, F16, F32, F64, BF16, C64, C128, F8E5M2, F8E4M3FN,
  F8E4M3B11FNUZ, F8E5M2FNUZ, F8E4M3FNUZ, S4, U4, TOKEN, S2, U2, F8E4M3, F8E3M4, F8E8M0FNU, F4E2M1FN, S1, U1
};

/// Values of PJRT_HostBufferSemantics, in the order of runtime::HostSemantics.
enum HostBufferSemantics : int { OnlyDuringCall = 0, UntilTransferCompletes, ImmutableZeroCopy, MutableZeroCopy };

struct TiledLayout : Args {
  const int64_t *minor_to_major;
  size_t minor_to_major_size;
  const int64_t *tile_dims;
  const size_t *tile_dim_sizes;
  size_t num_tiles;
};

struct StridedLayout : Args {
  const int64_t *byte_strides;
  size_t num_byte_strides;
};

struct MemoryLayout : Args {
  enum Type : int { Tiled = 0, Strides = 1 };
  union {
    TiledLayout tiled;
    StridedLayout strides;
  };
  int type;
};

/// A program and its format; "mlir" is the only format that is compiled.
struct ProgramCode : Args {
  char *code;
  size_t code_size;
  const char *format;
  size_t format_size;
};

struct ShapeSpec : Args {
  const int64_t *dims;
  size_t num_dims;
  int element_type;
};

struct LogicalId {
  int replica, partition;
};

struct ExecuteOptions : Args {
  void **send_callbacks, **recv_callbacks;
  size_t num_send_ops, num_recv_ops;
  int launch_id;
  const int64_t *non_donatable_input_indices;
  size_t num_non_donatable_input_indices;
  ExecuteContext *context;
  const char *call_location;
  size_t num_tasks;
  int *task_ids;
  int64_t *incarnation_ids;
  void *multi_slice_config;
  bool use_major_to_minor_data_layout_for_callbacks;
  void *hlo_output_callbacks;
  size_t num_hlo_output_callbacks;
};

/// The first word of an Error, through which callers access it without the slots.
struct ErrorFunctions {
  size_t struct_size, instance_size;
  Extension *extension_start;
  void (*destroy)(Error *);
  void (*message)(const Error *, const char **message, size_t *size);
  int (*code)(const Error *);
  void (*for_each_payload)(const Error *, void *visitor, void *argument);
};

/// The first word of a Memory, where jaxlib stores an object of its own, by key.
struct MemoryFunctions {
  size_t struct_size;
  Extension *extension_start;
  size_t instance_size;
  void *(*get_user_data)(Memory *, const void *key);
  void (*set_user_data)(Memory *, const void *key, void *data, void (*destroy)(void *));
};

} // namespace millrace::pjrt
