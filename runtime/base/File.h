// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- File.h - Whole files, read aligned and written atomically -----------===//
#pragma once
#include "runtime/base/Status.h"

#include <cstdint>

namespace millrace::runtime {

/// The content of a file in 64-byte aligned memory. It is read, not mapped: a file that another process truncates
/// while it is mapped would kill this one.
struct FileContent {
  std::shared_ptr<const void> owner;
  std::string_view bytes;
};

/// NotFound if there is no such file; other errors carry path and the system's message.
StatusOr<FileContent> readWholeFile(const std::string &path);

/// Writes a temporary file in the folder of `path` and renames it: readers see the old file or the new one, never a
/// part. Nothing is left behind on failure. What is there and is no file (a device, a pipe) is written to, not replaced.
Status writeFileAtomically(const std::string &path, std::string_view bytes);

/// mkdir -p.
Status createFolders(const std::string &path);

} // namespace millrace::runtime
