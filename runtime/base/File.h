// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- File.h - Whole files, read aligned and written atomically -----------===//
#pragma once
#include "runtime/base/Status.h"

#include <cstdint>

namespace millrace::runtime {

/// The content of a file in 64-byte aligned memory. The file is read, not mapped, because an access to a mapped file that another process has
/// truncated ends this process.
struct FileContent {
  std::shared_ptr<const void> owner;
  std::string_view bytes;
};

/// Reads a file. Errors: NotFound if there is none; others contain the path and the system's message.
StatusOr<FileContent> readWholeFile(const std::string &path);

/// Writes a temporary file in the folder of `path` and renames it, so that readers see the old or the new content, never a part. Nothing is left
/// behind on failure. An existing device or pipe is written to instead of replaced.
Status writeFileAtomically(const std::string &path, std::string_view bytes);

/// Creates a folder and its parents, like mkdir -p.
Status createFolders(const std::string &path);

} // namespace millrace::runtime
