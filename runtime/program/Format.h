// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Format.h - The header before the flatbuffer (private) ---------------===//
#pragma once
#include "runtime/program/Program.h"

#include <cstddef>

namespace millrace::runtime {

inline constexpr char programMagic[8] = {'M', 'I', 'L', 'L', 'R', 'A', 'C', 'E'};

struct Header {
  char magic[8];
  uint32_t abiVersion;
  uint32_t headerSize;
  uint64_t payloadSize;
  uint64_t payloadHash;
  uint64_t reserved[3];
  uint64_t headerHash; ///< hash64 of the header before this field
};
static_assert(sizeof(Header) == 64);

/// The deepest nesting of loops, branches and dictionaries in steps that readers accept.
inline constexpr unsigned maxNesting = 60;

} // namespace millrace::runtime
