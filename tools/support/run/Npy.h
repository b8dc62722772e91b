// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Npy.h - NumPy's .npy and .npz files --------------------------------===//
#pragma once

#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::tools {

/// Allocates `bytes` bytes like the runtime (runtime/buffer/Memory.cpp): aligned to 64 bytes, large blocks on huge pages. Ends the process on
/// failure. Freed by std::free.
void *allocateLikeRuntime(size_t bytes);

/// Allocates memory that the runtime can use in place, as fast as its own.
template <typename T> struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <typename U> AlignedAllocator(const AlignedAllocator<U> &) {}
  T *allocate(size_t count) { return static_cast<T *>(allocateLikeRuntime(count * sizeof(T))); }
  void deallocate(T *memory, size_t) { std::free(memory); }
  template <typename U> bool operator==(const AlignedAllocator<U> &) const { return true; }
};

using Bytes = std::basic_string<char, std::char_traits<char>, AlignedAllocator<char>>;

/// A row-major array in the runtime's representation.
struct Array {
  std::string name; ///< key in an .npz file, else empty
  runtime::DType dtype = runtime::DType::Invalid;
  std::vector<int64_t> dims;
  Bytes bytes;

  int64_t numElements() const;
};

/// Reads a .npy file (one array) or an .npz archive (its arrays in the order of the archive, stored or deflated). Fortran order and big endian are
/// converted. Types that NumPy lacks (bf16, f8, i4 by ml_dtypes) are recognized by their void width if `expected` names them. Errors: NotFound,
/// InvalidArgument with the place and the reason.
runtime::StatusOr<std::vector<Array>> readArrays(const std::string &path, const std::vector<runtime::DType> &expected = {});

/// Writes one .npy (exactly one array) or, if the path ends with .npz, an archive. Types that NumPy lacks are written as unsigned integers of their
/// width. The file is written atomically.
runtime::Status writeArrays(const std::string &path, const std::vector<Array> &arrays);

} // namespace millrace::tools
