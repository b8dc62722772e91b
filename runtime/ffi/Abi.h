// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Abi.h - Memory layout of the XLA FFI C interface, version 0.3 -------===//
// It is written from the published layout, so that runtime/ includes no foreign header. Handlers are compiled against the original header; the
// assertions below, and test/e2e/jax, where a handler is compiled, ensure that both layouts are equal.
//
// Every structure begins with its size and a list of extensions. The size is that up to the last member that the structure's version guarantees
// (`statedSize`), which is not always the end: a handler refuses a structure of any other size.
#pragma once
#include <cstddef>
#include <cstdint>

namespace millrace::runtime::ffi::abi {

inline constexpr int majorVersion = 0, minorVersion = 3;

enum ExtensionKind : int32_t { MetadataExtensionKind = 1 };
struct Extension {
  size_t size;
  ExtensionKind kind;
  Extension *next;
};

/// The first members of every structure.
struct Header {
  size_t size;
  Extension *extensions;
};

struct Version {
  Header header;
  int major, minor;
};

struct Error;   // ours, see Errors.h
struct Context; // ours, see Context.h
struct Future;  // ours, see Context.h

enum class Stage : int32_t { Instantiate = 0, Prepare = 1, Initialize = 2, Execute = 3 };
inline constexpr int numStages = 4;

enum ArgumentKind : int32_t { BufferKind = 1 };
enum class AttributeKind : int32_t { Array = 1, Dictionary = 2, Scalar = 3, String = 4 };

struct Buffer {
  Header header;
  int32_t dtype;
  void *data;
  int64_t rank;
  int64_t *dims;
};

struct Bytes {
  const char *data;
  size_t size;
};
struct Scalar {
  int32_t dtype;
  void *value;
};
struct Array {
  int32_t dtype;
  size_t size;
  void *data;
};

/// The operands, or the results, of a call.
struct Arguments {
  Header header;
  int64_t count;
  ArgumentKind *kinds;
  void **values;
};

/// The attributes of a call, sorted by name because handlers search them.
struct Attributes {
  Header header;
  int64_t count;
  AttributeKind *kinds;
  Bytes **names;
  void **values;
};

struct Api;
struct CallFrame {
  Header header;
  const Api *api;
  Context *context;
  Stage stage;
  Arguments arguments, results;
  Attributes attributes;
  Future *future; ///< set by handlers that complete after they return; not included in the stated size
};

using Handler = Error *(CallFrame *);
struct Bundle {
  Handler *stages[numStages]; ///< all but execute may be missing
};

struct TypeId {
  int64_t id; ///< 0 if no number has been assigned yet
};
struct TypeInfo {
  Header header;
  void (*destroy)(void *);
};

struct Metadata {
  size_t size;
  Version version;
  uint32_t traits;
  TypeId stateType;
};
struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};

//===--- Arguments of the functions that handlers call ---------------------===//

struct ErrorCreateArgs {
  Header header;
  const char *message;
  int32_t code;
};
struct ErrorMessageArgs {
  Header header;
  Error *error;
  const char *message;
};
struct ErrorDestroyArgs {
  Header header;
  Error *error;
};
struct RegisterHandlerArgs {
  Header header;
  Bytes name, platform;
  Bundle bundle;
  uint32_t traits;
};
struct StreamArgs {
  Header header;
  Context *context;
  void *stream;
};
struct RegisterTypeArgs {
  Header header;
  Bytes name;
  TypeId *id;
  const TypeInfo *info;
};
struct ContextGetArgs {
  Header header;
  Context *context;
  TypeId *type;
  void *data;
};
struct StateArgs {
  Header header;
  Context *context;
  Stage stage;
  TypeId *type;
  void *state;
};
/// Up to version 0.2 only the stage `instantiate` has a state; in 0.1 the structure ends with the function that destroys it.
struct OldStateArgs {
  Header header;
  Context *context;
  TypeId *type;
  void *state;
  void (*destroy)(void *);
};
struct AllocateArgs {
  Header header;
  Context *context;
  size_t bytes, alignment;
  void *data;
};
struct FreeArgs {
  Header header;
  Context *context;
  size_t bytes;
  void *data;
};
struct ScheduleArgs {
  Header header;
  Context *context;
  void (*task)(void *);
  void *data;
};
struct NumThreadsArgs {
  Header header;
  Context *context;
  int64_t *count;
};
struct FutureCreateArgs {
  Header header;
  Future *future;
};
struct FutureSetArgs {
  Header header;
  Future *future;
};
struct FutureErrorArgs {
  Header header;
  Future *future;
  Error *error;
};
struct RunIdArgs {
  Header header;
  Context *context;
  int64_t run;
};
struct DeviceArgs {
  Header header;
  Context *context;
  int32_t ordinal;
};

struct Api {
  Header header;
  Version version;
  const void *internal; ///< used only by handlers that are linked into XLA
  Error *(*errorCreate)(ErrorCreateArgs *);
  void (*errorMessage)(ErrorMessageArgs *);
  void (*errorDestroy)(ErrorDestroyArgs *);
  Error *(*registerHandler)(RegisterHandlerArgs *);
  Error *(*stream)(StreamArgs *);
  Error *(*registerType)(RegisterTypeArgs *);
  Error *(*contextGet)(ContextGetArgs *);
  Error *(*stateSet)(StateArgs *);
  Error *(*stateGet)(StateArgs *);
  Error *(*allocate)(AllocateArgs *);
  Error *(*free)(FreeArgs *);
  Error *(*schedule)(ScheduleArgs *);
  Error *(*numThreads)(NumThreadsArgs *);
  Error *(*futureCreate)(FutureCreateArgs *);
  Error *(*futureSet)(FutureSetArgs *);
  Error *(*futureError)(FutureErrorArgs *);
  Error *(*runId)(RunIdArgs *);
  Error *(*device)(DeviceArgs *);
};

/// Returns the size that T states: without the padding at its end, and without members that its version does not guarantee.
template <typename T>
inline constexpr size_t statedSize = sizeof(T);
template <>
inline constexpr size_t statedSize<Metadata> = offsetof(Metadata, traits) + sizeof(uint32_t);
template <>
inline constexpr size_t statedSize<CallFrame> = offsetof(CallFrame, future);
template <>
inline constexpr size_t statedSize<ErrorCreateArgs> = offsetof(ErrorCreateArgs, code) + sizeof(int32_t);
template <>
inline constexpr size_t statedSize<RegisterHandlerArgs> = offsetof(RegisterHandlerArgs, traits) + sizeof(uint32_t);
template <>
inline constexpr size_t statedSize<RegisterTypeArgs> = offsetof(RegisterTypeArgs, info);
template <>
inline constexpr size_t statedSize<DeviceArgs> = offsetof(DeviceArgs, ordinal) + sizeof(int32_t);

static_assert(sizeof(Version) == 24 && sizeof(Buffer) == 48 && sizeof(Arguments) == 40 && sizeof(Attributes) == 48);
static_assert(statedSize<CallFrame> == 168 && statedSize<Metadata> == 36 && sizeof(Api) == 192);
static_assert(statedSize<ErrorCreateArgs> == 28 && statedSize<RegisterHandlerArgs> == 84 && statedSize<DeviceArgs> == 28);

} // namespace millrace::runtime::ffi::abi
