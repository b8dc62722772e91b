// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Validate.cpp - Validation of untrusted bytecode ---------------------===//
#include "dialects/bytecode/Validate.h"

#include "dialects/bytecode/Artifact.h"
#include "dialects/bytecode/HexBools.h"

namespace millrace::bytecode {

mlir::LogicalResult validateBytecode(llvm::StringRef bytes, std::string &error) {
  error.clear();
  Reader file(bytes, error);
  Artifact artifact;
  // Each step relies on what the previous one has checked.
  for (auto step : {+[](Reader file, Artifact &artifact) { readTables(file, artifact); },
                    +[](Reader file, Artifact &artifact) { readEntries(file, artifact); },
                    +[](Reader file, Artifact &artifact) { checkEntries(file, artifact); },
                    +[](Reader file, Artifact &artifact) { checkOperations(file, artifact); }}) {
    step(file, artifact);
    if (!file.ok())
      return mlir::failure();
  }
  return mlir::success();
}

bool isBytecode(llvm::StringRef bytes) { return bytes.starts_with("ML\xefR"); }

std::unique_ptr<llvm::MemoryBuffer> checkedBuffer(std::unique_ptr<llvm::MemoryBuffer> buffer, std::string &error) {
  if (!isBytecode(buffer->getBuffer())) {
    std::unique_ptr<llvm::MemoryBuffer> packed = packHexBools(*buffer);
    return packed ? std::move(packed) : std::move(buffer);
  }
  if (failed(validateBytecode(buffer->getBuffer(), error))) {
    error = "invalid bytecode: " + error;
    return nullptr;
  }
  // MLIR aligns by address; the format, and the validation, align by offset.
  if (reinterpret_cast<uintptr_t>(buffer->getBufferStart()) % kMaxAlignment == 0)
    return buffer;
  auto copy = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
      buffer->getBufferSize(), buffer->getBufferIdentifier(), llvm::Align(kMaxAlignment));
  if (!copy) {
    error = "not enough memory";
    return nullptr;
  }
  llvm::copy(buffer->getBuffer(), copy->getBufferStart());
  return copy;
}

mlir::OwningOpRef<mlir::ModuleOp> parseModule(llvm::StringRef code, const mlir::ParserConfig &config, llvm::StringRef name) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer =
      checkedBuffer(llvm::MemoryBuffer::getMemBuffer(code, name, /*RequiresNullTerminator=*/false), error);
  if (!buffer) {
    mlir::emitError(mlir::FileLineColLoc::get(config.getContext(), name, 0, 0)) << error;
    return nullptr;
  }
  return mlir::parseSourceString<mlir::ModuleOp>(buffer->getBuffer(), config, name);
}

} // namespace millrace::bytecode
