// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Npy.cpp - NumPy's .npy and .npz files ------------------------------===//
#include "tools/support/run/Npy.h"

#include "runtime/base/File.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <zlib.h>

namespace millrace::tools {
using namespace runtime;

int64_t Array::numElements() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

/// Returns NumPy's type string without the byte order; empty for types that NumPy lacks.
std::string_view npyCode(DType type) {
  switch (type) {
  case DType::I1: return "b1";
  case DType::I8: return "i1";
  case DType::I16: return "i2";
  case DType::I32: return "i4";
  case DType::I64: return "i8";
  case DType::U8: return "u1";
  case DType::U16: return "u2";
  case DType::U32: return "u4";
  case DType::U64: return "u8";
  case DType::F16: return "f2";
  case DType::F32: return "f4";
  case DType::F64: return "f8";
  case DType::C64: return "c8";
  case DType::C128: return "c16";
  default: return "";
  }
}

DType dtypeOfCode(std::string_view code) {
  for (int i = 1; i <= int(DType::Last); ++i)
    if (!npyCode(DType(i)).empty() && npyCode(DType(i)) == code)
      return DType(i);
  return DType::Invalid;
}

Status bad(const std::string &where, const std::string &what) { return invalidArgument(where + ": " + what); }

/// Returns the text after 'key': in the header dictionary.
std::string_view field(std::string_view header, std::string_view key) {
  std::string quoted = "'" + std::string(key) + "'";
  size_t at = header.find(quoted);
  if (at == std::string_view::npos)
    return {};
  at = header.find(':', at + quoted.size());
  if (at == std::string_view::npos)
    return {};
  ++at;
  while (at < header.size() && header[at] == ' ')
    ++at;
  return header.substr(at);
}

void swapBytes(Bytes &bytes, size_t width) {
  for (size_t i = 0; i + width <= bytes.size(); i += width)
    std::reverse(bytes.begin() + i, bytes.begin() + i + width);
}

Bytes fromFortran(const Bytes &bytes, const std::vector<int64_t> &dims, size_t width) {
  Bytes out(bytes.size(), '\0');
  std::vector<int64_t> index(dims.size(), 0);
  std::vector<size_t> strides(dims.size());
  size_t stride = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    strides[d] = stride;
    stride *= dims[d];
  }
  for (size_t i = 0; i * width < bytes.size(); ++i) {
    size_t from = 0;
    for (size_t d = 0; d < dims.size(); ++d)
      from += index[d] * strides[d];
    std::memcpy(&out[i * width], &bytes[from * width], width);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d])
        break;
      index[d] = 0;
    }
  }
  return out;
}

StatusOr<Array> parseNpy(std::string_view data, const std::string &where, DType expected) {
  if (data.size() < 12 || data.substr(0, 6) != kMagic)
    return bad(where, "is not a .npy file");
  size_t lengthBytes = data[6] == 1 ? 2 : 4, headerSize = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    headerSize |= size_t(uint8_t(data[8 + i])) << (8 * i);
  size_t start = 8 + lengthBytes + headerSize;
  if (start > data.size())
    return bad(where, "ends inside its header");
  std::string_view header = data.substr(8 + lengthBytes, headerSize);

  Array array;
  std::string_view descr = field(header, "descr");
  size_t close = descr.size() > 1 ? descr.find('\'', 1) : std::string_view::npos;
  if (descr.empty() || descr[0] != '\'' || close == std::string_view::npos || close < 3)
    return bad(where, "has no simple element type in its header");
  std::string code(descr.substr(1, close - 1));
  char order = code[0];
  std::string_view kind = std::string_view(code).substr(1);
  array.dtype = dtypeOfCode(kind);
  size_t width = 0;
  if (array.dtype != DType::Invalid) {
    width = byteSize(array.dtype);
  } else if (kind[0] == 'V' && expected != DType::Invalid && std::to_string(byteSize(expected)) == kind.substr(1)) {
    array.dtype = expected;
    width = byteSize(expected);
  } else {
    return bad(where, "has the unsupported element type '" + code + "'");
  }
  std::string_view shape = field(header, "shape");
  size_t end = shape.find(')');
  if (shape.empty() || shape[0] != '(' || end == std::string_view::npos)
    return bad(where, "has no shape in its header");
  std::stringstream dims{std::string(shape.substr(1, end - 1))};
  uint64_t count = 1;
  for (std::string text; std::getline(dims, text, ',');) {
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    if (text.empty())
      continue;
    errno = 0;
    char *rest;
    long long dim = std::strtoll(text.c_str(), &rest, 10);
    if (errno || *rest || dim < 0 || (dim && count > (uint64_t(1) << 48) / dim))
      return bad(where, "has the impossible dimension '" + text + "'");
    array.dims.push_back(dim);
    count *= dim;
  }
  if (data.size() - start < count * width)
    return bad(where, "holds " + std::to_string(data.size() - start) + " bytes of data, but its shape needs " +
                          std::to_string(count * width));
  array.bytes.assign(data.substr(start, count * width));
  if (order == '>')
    swapBytes(array.bytes, isComplex(array.dtype) ? width / 2 : width);
  if (field(header, "fortran_order").substr(0, 4) == "True")
    array.bytes = fromFortran(array.bytes, array.dims, width);
  return array;
}

uint64_t little(std::string_view data, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i)
    value |= uint64_t(uint8_t(data[at + i])) << (8 * i);
  return value;
}

StatusOr<std::string> inflateRaw(std::string_view data, uint64_t size, const std::string &where) {
  // Deflate expands by a factor of at most about 1032: a larger claim means a damaged (or hostile) archive.
  if (size > data.size() * uint64_t(1100) + 1024)
    return bad(where, "claims an impossible size");
  std::string out(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return internalError("zlib could not start");
  // zlib counts in 32 bits, so that larger data is passed in pieces.
  uint64_t in = 0, produced = 0;
  int rc = Z_OK;
  while (rc == Z_OK && (produced < size || in < data.size())) {
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(data.data() + in));
    stream.avail_in = uInt(std::min<uint64_t>(data.size() - in, 1u << 30));
    stream.next_out = reinterpret_cast<Bytef *>(out.data() + produced);
    stream.avail_out = uInt(std::min<uint64_t>(size - produced, 1u << 30));
    uInt inBefore = stream.avail_in, outBefore = stream.avail_out;
    rc = inflate(&stream, Z_NO_FLUSH);
    in += inBefore - stream.avail_in;
    produced += outBefore - stream.avail_out;
    if (inBefore == stream.avail_in && outBefore == stream.avail_out)
      break;
  }
  inflateEnd(&stream);
  if (rc != Z_STREAM_END || produced != size)
    return bad(where, "is damaged: its compressed data ends early");
  return out;
}

/// A mapped file. Weights can be as large as memory, so that pages that have been read can be dropped.
class MappedFile {
public:
  static StatusOr<MappedFile> open(const std::string &path) {
    int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (descriptor < 0 || fstat(descriptor, &status) != 0) {
      std::string reason = std::strerror(errno);
      if (descriptor >= 0)
        close(descriptor);
      return notFound("cannot open '" + path + "': " + reason);
    }
    MappedFile file;
    file.size = status.st_size;
    if (file.size) {
      void *mapped = mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
      file.begin = mapped == MAP_FAILED ? nullptr : static_cast<char *>(mapped);
    }
    close(descriptor);
    if (file.size && !file.begin)
      return notFound("cannot read '" + path + "': " + std::strerror(errno));
    return file;
  }
  MappedFile(MappedFile &&other) : begin(std::exchange(other.begin, nullptr)), size(other.size) {}
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile() {
    if (begin)
      munmap(begin, size);
  }

  std::string_view data() const { return {begin, size}; }

  /// Drops the pages of the first `bytes` bytes, which can be read again.
  void forget(uint64_t bytes) const {
    bytes -= bytes % sysconf(_SC_PAGESIZE);
    if (bytes)
      madvise(begin, bytes, MADV_DONTNEED);
  }

private:
  MappedFile() = default;
  char *begin = nullptr;
  size_t size = 0;
};

StatusOr<std::vector<Array>> parseNpz(const MappedFile &file, const std::string &path,
                                      const std::vector<DType> &expected) {
  std::string_view data = file.data();
  // The central directory, which the end record points to, lists the members in order.
  size_t end = std::string_view::npos;
  for (size_t i = data.size() >= 22 ? data.size() - 22 : 0; data.size() >= 22;) {
    if (data.substr(i, 4) == std::string_view("PK\5\6", 4)) {
      end = i;
      break;
    }
    if (i-- == 0 || data.size() - i > 70000)
      break;
  }
  if (end == std::string_view::npos)
    return bad(path, "is not an .npz archive");
  uint64_t count = little(data, end + 10, 2), at = little(data, end + 16, 4);
  // zip64: the actual numbers are in a record before the end record.
  if ((count == 0xFFFF || at == 0xFFFFFFFF) && end >= 20 && data.substr(end - 20, 4) == std::string_view("PK\6\7", 4)) {
    uint64_t record = little(data, end - 12, 8);
    if (record + 56 > data.size())
      return bad(path, "has a damaged zip64 directory");
    count = little(data, record + 32, 8);
    at = little(data, record + 48, 8);
  }
  std::vector<Array> arrays;
  for (uint64_t i = 0; i < count; ++i) {
    if (at + 46 > data.size() || data.substr(at, 4) != std::string_view("PK\1\2", 4))
      return bad(path, "has a damaged directory");
    uint64_t method = little(data, at + 10, 2), packed = little(data, at + 20, 4), size = little(data, at + 24, 4);
    uint64_t nameSize = little(data, at + 28, 2), extraSize = little(data, at + 30, 2), comment = little(data, at + 32, 2);
    uint64_t offset = little(data, at + 42, 4);
    if (at + 46 + nameSize + extraSize > data.size())
      return bad(path, "has a damaged directory");
    std::string name(data.substr(at + 46, nameSize));
    for (uint64_t e = at + 46 + nameSize, stop = e + extraSize; e + 4 <= stop;) {
      uint64_t id = little(data, e, 2), length = little(data, e + 2, 2), p = e + 4;
      if (p + length > stop)
        break;
      if (id == 1) // zip64 has only the fields that overflowed
        for (uint64_t *value : {&size, &packed, &offset})
          if (*value == 0xFFFFFFFF && p + 8 <= e + 4 + length) {
            *value = little(data, p, 8);
            p += 8;
          }
      e += 4 + length;
    }
    at += 46 + nameSize + extraSize + comment;
    if (offset > data.size() || data.size() - offset < 30)
      return bad(path, "has the member '" + name + "' outside of the file");
    uint64_t body = offset + 30 + little(data, offset + 26, 2) + little(data, offset + 28, 2);
    if (body > data.size() || packed > data.size() - body)
      return bad(path, "ends inside the member '" + name + "'");
    std::string where = path + ":" + name;
    std::string_view content = data.substr(body, packed);
    std::string unpacked;
    if (method == 8) {
      auto inflated = inflateRaw(content, size, where);
      if (!inflated)
        return inflated.status();
      unpacked = std::move(*inflated);
      content = unpacked;
    } else if (method != 0) {
      return bad(where, "uses the unsupported compression method " + std::to_string(method));
    }
    auto array = parseNpy(content, where, i < expected.size() ? expected[i] : DType::Invalid);
    if (!array)
      return array.status();
    array->name = name.size() > 4 && name.substr(name.size() - 4) == ".npy" ? name.substr(0, name.size() - 4) : name;
    arrays.push_back(std::move(*array));
    file.forget(body + packed);
  }
  return arrays;
}

std::string npyBytes(const Array &array) {
  std::string code(npyCode(array.dtype));
  if (code.empty())
    code = "u" + std::to_string(byteSize(array.dtype));
  std::string shape;
  for (int64_t dim : array.dims)
    shape += std::to_string(dim) + ",";
  std::string header = "{'descr': '" + std::string(byteSize(array.dtype) == 1 ? "|" : "<") + code +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  size_t total = (10 + header.size() + 1 + 63) / 64 * 64;
  header.append(total - 10 - header.size() - 1, ' ');
  header += '\n';
  std::string out(kMagic);
  out += '\1';
  out += '\0';
  out += char(header.size() & 255);
  out += char(header.size() >> 8);
  out.reserve(out.size() + header.size() + array.bytes.size());
  return out.append(header).append(array.bytes.data(), array.bytes.size());
}

void append(std::string &out, uint64_t value, size_t width) {
  for (size_t i = 0; i < width; ++i)
    out += char(value >> (8 * i));
}

StatusOr<std::string> npzBytes(const std::vector<Array> &arrays) {
  std::string out, directory;
  for (size_t i = 0; i < arrays.size(); ++i) {
    std::string name = (arrays[i].name.empty() ? "arr_" + std::to_string(i) : arrays[i].name) + ".npy";
    std::string content = npyBytes(arrays[i]);
    if (out.size() + content.size() > 0xFFFFFF00u)
      return unimplemented("an .npz archive of more than 4 GiB");
    uint32_t sum = crc32_z(0, reinterpret_cast<const Bytef *>(content.data()), content.size());
    std::string common;
    append(common, 20, 2); // version needed to extract
    append(common, 0, 2);  // flags
    append(common, 0, 2);  // method: stored
    append(common, 0, 2);  // time
    append(common, 33, 2); // 1980-01-01
    append(common, sum, 4);
    append(common, content.size(), 4);
    append(common, content.size(), 4);
    append(common, name.size(), 2);
    append(common, 0, 2); // extra
    uint64_t offset = out.size();
    out += "PK\3\4" + common + name + content;
    directory += "PK\1\2";
    append(directory, 20, 2);
    directory += common;
    append(directory, 0, 2); // length of the comment
    append(directory, 0, 2); // number of the disk
    append(directory, 0, 2); // internal attributes
    append(directory, 0, 4); // external attributes
    append(directory, offset, 4);
    directory += name;
  }
  uint64_t start = out.size();
  out += directory;
  out += "PK\5\6";
  append(out, 0, 4);
  append(out, arrays.size(), 2);
  append(out, arrays.size(), 2);
  append(out, directory.size(), 4);
  append(out, start, 4);
  append(out, 0, 2);
  return out;
}

bool endsWith(const std::string &text, std::string_view suffix) {
  return text.size() >= suffix.size() && std::string_view(text).substr(text.size() - suffix.size()) == suffix;
}

} // namespace

void *allocateLikeRuntime(size_t bytes) {
  constexpr size_t kHugePage = size_t(2) << 20, kLine = 64;
  size_t alignment = bytes < 2 * kHugePage ? kLine : kHugePage, rounded = (bytes + alignment - 1) / alignment * alignment;
  void *memory = std::aligned_alloc(alignment, rounded);
  if (!memory)
    std::abort(); // like every failed allocation of the tools, which are built without exceptions
  if (alignment == kHugePage)
    madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

StatusOr<std::vector<Array>> readArrays(const std::string &path, const std::vector<DType> &expected) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.status();
  if (file->data().substr(0, 2) == "PK")
    return parseNpz(*file, path, expected);
  auto array = parseNpy(file->data(), path, expected.empty() ? DType::Invalid : expected.front());
  if (!array)
    return array.status();
  std::vector<Array> arrays;
  arrays.push_back(std::move(*array));
  return arrays;
}

Status writeArrays(const std::string &path, const std::vector<Array> &arrays) {
  std::string bytes;
  if (endsWith(path, ".npz")) {
    auto archive = npzBytes(arrays);
    if (!archive)
      return archive.status();
    bytes = std::move(*archive);
  } else {
    if (arrays.size() != 1)
      return invalidArgument("'" + path + "' holds one array, but there are " + std::to_string(arrays.size()) +
                             ": use a name that ends in .npz");
    bytes = npyBytes(arrays.front());
  }
  return writeFileAtomically(path, bytes);
}

} // namespace millrace::tools
