// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Npy.cpp - Tensors in NumPy files -----------------------------------===//
#include "dialects/stablehlo/eval/Npy.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mlir;

namespace millrace::eval {

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static std::string dtypeOf(Kind kind) {
  unsigned bytes = byteSize(kind);
  std::string order = bytes == 1 ? "|" : "<";
  if (kind == Kind::I1) return "|b1";
  if (isInteger(kind)) return order + (isUnsigned(kind) ? "u" : "i") + std::to_string(bytes);
  if (isComplex(kind)) return order + "c" + std::to_string(bytes);
  if (kind == Kind::F16 || kind == Kind::F32 || kind == Kind::F64) return order + "f" + std::to_string(bytes);
  return "|V" + std::to_string(bytes);
}

static std::string headerOf(RankedTensorType type) {
  std::string header = "{'descr': '" + dtypeOf(*kindOf(type.getElementType())) + "', 'fortran_order': False, 'shape': (";
  for (int64_t size : type.getShape()) header += std::to_string(size) + ",";
  header += "), }";
  // Magic, version and length take 10 bytes; the data starts at a multiple of 64.
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  return header + "\n";
}

llvm::Error writeNpy(StringRef path, const Tensor &tensor) {
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (code) return fail("cannot write " + path + ": " + code.message());
  std::string header = headerOf(tensor.getType());
  os << StringRef("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size() & 0xff) << static_cast<char>(header.size() >> 8)
     << header << StringRef(tensor.data(), tensor.numBytes());
  os.close();
  if (os.has_error()) return fail("cannot write " + path + ": " + os.error().message());
  return llvm::Error::success();
}

llvm::Expected<Tensor> readNpy(StringRef path, RankedTensorType type) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) return fail("cannot read " + path + ": " + buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  if (bytes.size() < 10 || !bytes.starts_with("\x93NUMPY")) return fail(path + " is no NumPy file");
  size_t length = static_cast<uint8_t>(bytes[8]) | static_cast<size_t>(static_cast<uint8_t>(bytes[9])) << 8;
  Tensor tensor(type);
  if (bytes.size() != 10 + length + static_cast<size_t>(tensor.numBytes())) return fail(path + " has not the size that its type asks for");
  StringRef header = bytes.substr(10, length);
  if (!header.contains("'" + dtypeOf(tensor.kind()) + "'")) return fail(path + " holds another element type");
  std::memcpy(tensor.mutableData(), bytes.data() + 10 + length, tensor.numBytes());
  return tensor;
}

static std::string fileOf(StringRef directory, StringRef id, int64_t iteration) {
  std::string name;
  for (char c : id) name += llvm::isAlnum(c) || c == '.' || c == '-' || c == '_' ? c : '_';
  SmallString<128> path(directory);
  llvm::sys::path::append(path, name + "_" + std::to_string(iteration) + ".npy");
  return std::string(path);
}

static std::string typeText(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

llvm::Error writeProbe(StringRef directory, StringRef id, int64_t iteration, const Tensor &tensor) {
  if (std::error_code code = llvm::sys::fs::create_directories(directory)) return fail("cannot make " + directory + ": " + code.message());
  std::string path = fileOf(directory, id, iteration);
  if (llvm::Error error = writeNpy(path, tensor)) return error;
  SmallString<128> index(directory);
  llvm::sys::path::append(index, "index.csv");
  std::error_code code;
  llvm::raw_fd_ostream os(index, code, llvm::sys::fs::OF_Append);
  if (code) return fail("cannot write " + index + ": " + code.message());
  os << id << ',' << typeText(tensor.getType()) << ',' << path << '\n';
  os.close();
  if (os.has_error()) return fail("cannot write " + index + ": " + os.error().message());
  return llvm::Error::success();
}

llvm::Expected<Tensor> readProbe(StringRef directory, StringRef id, int64_t iteration, RankedTensorType type) {
  SmallString<128> index(directory);
  llvm::sys::path::append(index, "index.csv");
  auto buffer = llvm::MemoryBuffer::getFile(index);
  if (!buffer) return fail("cannot read " + index + ": " + buffer.getError().message());
  std::string path = fileOf(directory, id, iteration);
  // A row is id,type,path. Ids and types may contain commas; the path is the last field.
  std::string wanted = (id + ",").str(), found;
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n', -1, false);
  for (StringRef line : lines)
    if (line.starts_with(wanted) && line.ends_with("," + path)) found = line.drop_front(wanted.size()).drop_back(path.size() + 1).str();
  if (found.empty()) return fail("index.csv has no probe \"" + id + "\" of iteration " + llvm::Twine(iteration - 1));
  if (found != typeText(type)) return fail("probe \"" + id + "\" has type " + found + ", expected " + typeText(type));
  return readNpy(path, type);
}

} // namespace millrace::eval
