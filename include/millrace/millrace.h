// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- millrace.h - Compile and run StableHLO from C and C++ ---------------===//
// The whole public interface: a C ABI (functions `millrace_*`), and for C++ a thin layer of classes over it that is
// compiled into the user's program. The C ABI grows only at its end; MILLRACE_ABI_VERSION changes when it cannot.
//
//   #include <millrace/millrace.h>
//   millrace::Client client;
//   auto add = client.compile("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {"
//                             "  %0 = stablehlo.add %x, %x : tensor<3xf32>  return %0 : tensor<3xf32> }");
//   auto result = add({client.buffer<float>({3}, {1, 2, 3})});
//   std::vector<float> values = result[0].values<float>();   // 2 4 6
//
// Every C function that can fail returns an error, NULL meaning success; outputs are written only on success. Objects
// are destroyed by their _destroy function (NULL allowed) in any order. All functions are thread-safe.
// Link Millrace::millrace, or only Millrace::runtime to run compiled programs (millrace_compile is missing there, and
// neither MLIR nor the compiler is loaded).
#pragma once
#include <stddef.h>
#include <stdint.h>

#define MILLRACE_ABI_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

typedef struct millrace_error millrace_error;
typedef struct millrace_client millrace_client;         /* virtual CPU devices */
typedef struct millrace_program millrace_program;       /* compiled code, not bound to a client */
typedef struct millrace_executable millrace_executable; /* a program loaded on the devices of a client */
typedef struct millrace_buffer millrace_buffer;         /* a tensor on a device */

/* Small types (i1, i2, i4, f4, f6, f8) take one byte per element; complex numbers are pairs. */
typedef enum millrace_dtype {
  MILLRACE_INVALID = 0,
  MILLRACE_I1 = 1, MILLRACE_I2 = 2, MILLRACE_I4 = 3, MILLRACE_I8 = 4, MILLRACE_I16 = 5, MILLRACE_I32 = 6,
  MILLRACE_I64 = 7, MILLRACE_U2 = 8, MILLRACE_U4 = 9, MILLRACE_U8 = 10, MILLRACE_U16 = 11, MILLRACE_U32 = 12,
  MILLRACE_U64 = 13, MILLRACE_F4E2M1FN = 14, MILLRACE_F6E2M3FN = 15, MILLRACE_F6E3M2FN = 16, MILLRACE_F8E3M4 = 17,
  MILLRACE_F8E4M3 = 18, MILLRACE_F8E4M3FN = 19, MILLRACE_F8E4M3FNUZ = 20, MILLRACE_F8E4M3B11FNUZ = 21,
  MILLRACE_F8E5M2 = 22, MILLRACE_F8E5M2FNUZ = 23, MILLRACE_F8E8M0FNU = 24, MILLRACE_BF16 = 25, MILLRACE_F16 = 26,
  MILLRACE_F32 = 27, MILLRACE_F64 = 28, MILLRACE_C64 = 29, MILLRACE_C128 = 30, MILLRACE_TOKEN = 31
} millrace_dtype;

#define MILLRACE_DYNAMIC INT64_MIN /* a dimension without static size */

typedef struct millrace_type {
  millrace_dtype dtype;
  size_t rank;
  const int64_t *dims; /* lives as long as the object it came from */
} millrace_type;

uint32_t millrace_abi_version(void); /* of the library */
const char *millrace_version(void);  /* "0.1.0" */

int millrace_error_code(const millrace_error *error); /* numbers of gRPC and PJRT: 3 invalid argument, ... */
const char *millrace_error_message(const millrace_error *error);
void millrace_error_destroy(millrace_error *error);

millrace_error *millrace_client_create(uint32_t num_devices, millrace_client **client);
void millrace_client_destroy(millrace_client *client);
uint32_t millrace_client_num_devices(const millrace_client *client);

/* StableHLO text or bytecode -> program, through the compilation cache (MILLRACE_CACHE, MILLRACE_CACHE_DIR). `entry` may
   be NULL: @main, else the only public function. The message of an error has source locations. In libmillrace. */
millrace_error *millrace_compile(const char *code, size_t size, const char *entry, millrace_program **program);

/* .mr files, as xla-compile writes them. */
millrace_error *millrace_program_read(const char *path, millrace_program **program);
millrace_error *millrace_program_write(const millrace_program *program, const char *path);
millrace_error *millrace_program_parse(const void *bytes, size_t size, millrace_program **program);
void millrace_program_destroy(millrace_program *program);
size_t millrace_program_num_arguments(const millrace_program *program);
size_t millrace_program_num_results(const millrace_program *program);
millrace_type millrace_program_argument_type(const millrace_program *program, size_t index); /* out of range: INVALID */
millrace_type millrace_program_result_type(const millrace_program *program, size_t index);
size_t millrace_program_num_devices(const millrace_program *program); /* replicas x partitions */

/* Keeps what it needs of program and client. */
millrace_error *millrace_load(millrace_client *client, const millrace_program *program,
                              millrace_executable **executable);
void millrace_executable_destroy(millrace_executable *executable);

/* Copies `data` (dense, row-major) to a device. `size` in bytes must be that of the tensor. */
millrace_error *millrace_buffer_create(millrace_client *client, uint32_t device, millrace_dtype dtype, size_t rank,
                                       const int64_t *dims, const void *data, size_t size, millrace_buffer **buffer);
void millrace_buffer_destroy(millrace_buffer *buffer);
/* Waits where the shape is computed by a program. */
millrace_error *millrace_buffer_type(millrace_buffer *buffer, millrace_type *type);
/* Waits for the value and copies it; `size` in bytes must be that of the tensor. */
millrace_error *millrace_buffer_read(millrace_buffer *buffer, void *data, size_t size);

/* Runs asynchronously. Arguments and results are [device][index], flattened; the caller destroys the results. Donated
   arguments can no longer be used. Errors of the run itself come from millrace_buffer_read of any result, and from
   millrace_execute_wait, which does as millrace_execute and waits for the end. */
millrace_error *millrace_execute(millrace_executable *executable, millrace_buffer *const *arguments,
                                 size_t num_arguments, millrace_buffer **results, size_t num_results);
millrace_error *millrace_execute_wait(millrace_executable *executable, millrace_buffer *const *arguments,
                                      size_t num_arguments, millrace_buffer **results, size_t num_results);

/* Custom calls (docs/custom-calls.md): functions of XLA's typed FFI, version 0.3, become the handler of `target` in programs
   that are loaded from now on. Stages other than `execute` may be NULL. `api_version` is 1; with 0, `execute` is one of the
   older untyped functions. Returns NULL, or what is wrong: valid until the next call on this thread. */
const char *millrace_register_ffi_handler(const char *target, void *instantiate, void *prepare, void *initialize,
                                          void *execute, int api_version, uint32_t traits);

#ifdef __cplusplus
} // extern "C"
#endif

/* The classes throw: define MILLRACE_C_ABI_ONLY to leave them out. */
#if defined(__cplusplus) && !defined(MILLRACE_C_ABI_ONLY)
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace {
inline namespace embedding {

/// Thrown by everything below.
class Error : public std::runtime_error {
public:
  Error(int code, const std::string &message) : std::runtime_error(message), errorCode(code) {}
  int code() const { return errorCode; }

private:
  int errorCode;
};

namespace detail {
inline void check(millrace_error *error) {
  if (!error)
    return;
  Error exception(millrace_error_code(error), millrace_error_message(error));
  millrace_error_destroy(error);
  throw exception;
}
template <typename T, void (*destroy)(T *)>
struct Deleter {
  void operator()(T *object) const { destroy(object); }
};
template <typename T, void (*destroy)(T *)>
using Handle = std::unique_ptr<T, Deleter<T, destroy>>;
} // namespace detail

/// Element type of a C++ type.
template <typename T> struct DTypeOf;
template <> struct DTypeOf<bool> { static constexpr millrace_dtype value = MILLRACE_I1; };
template <> struct DTypeOf<int8_t> { static constexpr millrace_dtype value = MILLRACE_I8; };
template <> struct DTypeOf<int16_t> { static constexpr millrace_dtype value = MILLRACE_I16; };
template <> struct DTypeOf<int32_t> { static constexpr millrace_dtype value = MILLRACE_I32; };
template <> struct DTypeOf<int64_t> { static constexpr millrace_dtype value = MILLRACE_I64; };
template <> struct DTypeOf<uint8_t> { static constexpr millrace_dtype value = MILLRACE_U8; };
template <> struct DTypeOf<uint16_t> { static constexpr millrace_dtype value = MILLRACE_U16; };
template <> struct DTypeOf<uint32_t> { static constexpr millrace_dtype value = MILLRACE_U32; };
template <> struct DTypeOf<uint64_t> { static constexpr millrace_dtype value = MILLRACE_U64; };
template <> struct DTypeOf<float> { static constexpr millrace_dtype value = MILLRACE_F32; };
template <> struct DTypeOf<double> { static constexpr millrace_dtype value = MILLRACE_F64; };

class Buffer {
public:
  explicit Buffer(millrace_buffer *handle) : handle(handle) {}
  millrace_buffer *get() const { return handle.get(); }
  millrace_dtype dtype() const { return type().dtype; }
  std::vector<int64_t> dims() const {
    millrace_type t = type();
    return std::vector<int64_t>(t.dims, t.dims + t.rank);
  }
  /// Waits. Row-major elements; T must be the buffer's element type.
  template <typename T>
  std::vector<T> values() const {
    millrace_type t = type();
    if (t.dtype != DTypeOf<T>::value)
      throw Error(3, "the buffer has another element type");
    size_t count = 1;
    for (size_t d = 0; d < t.rank; ++d)
      count *= static_cast<size_t>(t.dims[d]);
    std::vector<T> result(count);
    detail::check(millrace_buffer_read(handle.get(), result.data(), count * sizeof(T)));
    return result;
  }

private:
  millrace_type type() const {
    millrace_type t;
    detail::check(millrace_buffer_type(handle.get(), &t));
    return t;
  }
  detail::Handle<millrace_buffer, millrace_buffer_destroy> handle;
};

class Program {
public:
  explicit Program(millrace_program *handle) : handle(handle) {}
  static Program read(const std::string &path) {
    millrace_program *handle = nullptr;
    detail::check(millrace_program_read(path.c_str(), &handle));
    return Program(handle);
  }
  void write(const std::string &path) const { detail::check(millrace_program_write(handle.get(), path.c_str())); }
  millrace_program *get() const { return handle.get(); }

private:
  detail::Handle<millrace_program, millrace_program_destroy> handle;
};

class Executable {
public:
  Executable(millrace_executable *handle, const millrace_program *program)
      : handle(handle), numResults(millrace_program_num_results(program) * millrace_program_num_devices(program)) {}
  /// Starts one execution; arguments and results as [device][index]. Waiting happens in Buffer::values.
  std::vector<Buffer> operator()(const std::vector<const Buffer *> &arguments) const {
    std::vector<millrace_buffer *> in, out(numResults, nullptr);
    for (const Buffer *buffer : arguments)
      in.push_back(buffer->get());
    detail::check(millrace_execute(handle.get(), in.data(), in.size(), out.data(), out.size()));
    std::vector<Buffer> results;
    for (millrace_buffer *buffer : out)
      results.emplace_back(buffer);
    return results;
  }
  std::vector<Buffer> operator()(std::initializer_list<std::reference_wrapper<const Buffer>> arguments) const {
    std::vector<const Buffer *> list;
    for (const Buffer &buffer : arguments)
      list.push_back(&buffer);
    return (*this)(list);
  }

private:
  detail::Handle<millrace_executable, millrace_executable_destroy> handle;
  size_t numResults;
};

class Client {
public:
  explicit Client(uint32_t numDevices = 1) {
    millrace_client *created = nullptr;
    detail::check(millrace_client_create(numDevices, &created));
    handle.reset(created);
  }
  /// Needs libmillrace.
  Executable compile(std::string_view code, const char *entry = nullptr) const {
    millrace_program *program = nullptr;
    detail::check(millrace_compile(code.data(), code.size(), entry, &program));
    return load(Program(program));
  }
  Executable load(const Program &program) const {
    millrace_executable *executable = nullptr;
    detail::check(millrace_load(handle.get(), program.get(), &executable));
    return Executable(executable, program.get());
  }
  template <typename T>
  Buffer buffer(const std::vector<int64_t> &dims, const std::vector<T> &values, uint32_t device = 0) const {
    millrace_buffer *created = nullptr;
    detail::check(millrace_buffer_create(handle.get(), device, DTypeOf<T>::value, dims.size(), dims.data(),
                                         values.data(), values.size() * sizeof(T), &created));
    return Buffer(created);
  }
  millrace_client *get() const { return handle.get(); }

private:
  detail::Handle<millrace_client, millrace_client_destroy> handle;
};

/// Compiles without running; the program can be written to a file and loaded without the compiler.
inline Program compile(std::string_view code, const char *entry = nullptr) {
  millrace_program *program = nullptr;
  detail::check(millrace_compile(code.data(), code.size(), entry, &program));
  return Program(program);
}

} // namespace embedding
} // namespace millrace
#endif // classes
