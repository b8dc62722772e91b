// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tensor.cpp - Values of the evaluator ---------------------------------===//
#include "dialects/stablehlo/eval/Tensor.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <cstring>
#include <iterator>

using namespace mlir;

namespace millrace::eval {

int64_t numElements(ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0)) // the other sizes may be such that their product has no 64 bits
    return 0;
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

Shape stridesOf(ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = int64_t(uint64_t(strides[i]) * uint64_t(shape[i])); // of a tensor without elements: any
  return strides;
}

bool nextIndex(MutableArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  for (size_t i = index.size(); i-- > 0;) {
    if (++index[i] < shape[i]) return true;
    index[i] = 0;
  }
  return false;
}

void forEachIndex(ArrayRef<int64_t> shape,
                                  llvm::function_ref<void(ArrayRef<int64_t>, int64_t)> body) {
  int64_t count = numElements(shape);
  Shape index(shape.size(), 0);
  for (int64_t linear = 0; linear < count; ++linear) {
    body(index, linear);
    nextIndex(index, shape);
  }
}

Tensor::Tensor(RankedTensorType tensorType) : type(tensorType) {
  if (type.getEncoding()) type = RankedTensorType::get(type.getShape(), type.getElementType());
  elementKind = *kindOf(type.getElementType());
  count = numElements(type.getShape());
  bytes = std::make_shared<char[]>(std::max<int64_t>(numBytes(), 1));
}

char *Tensor::mutableData() {
  if (bytes.use_count() > 1) {
    std::shared_ptr<char[]> copy = std::make_shared<char[]>(std::max<int64_t>(numBytes(), 1));
    std::memcpy(copy.get(), bytes.get(), numBytes());
    bytes = std::move(copy);
  }
  return bytes.get();
}

llvm::Expected<Tensor> Tensor::fromAttr(ElementsAttr attr) {
  auto tensorType = dyn_cast<RankedTensorType>(attr.getShapedType());
  if (!tensorType)
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "expects a ranked tensor constant");
  return fromAttr(attr, tensorType);
}

llvm::Expected<Tensor> Tensor::fromAttr(ElementsAttr attr, RankedTensorType tensorType) {
  auto fail = [](const llvm::Twine &message) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
  };
  std::optional<Kind> kind = kindOf(tensorType.getElementType());
  if (!kind || !tensorType.hasStaticShape() || attr.getShapedType().getShape() != tensorType.getShape())
    return fail("constant has a type that cannot be evaluated");
  Tensor result(tensorType);
  unsigned width = result.elementBytes();
  char *out = result.mutableData();

  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(attr)) {
    ArrayRef<char> raw = dense.getRawData();
    bool splat = dense.isSplat();
    // MLIR stores i1 bytewise as 0 or 1 (or, as a splat, as all ones) and pads other narrow types to whole bytes.
    size_t stored = splat ? 1 : static_cast<size_t>(result.size());
    if (raw.size() == stored * width) {
      for (int64_t i = 0, e = result.size(); i < e; ++i) std::memcpy(out + i * width, raw.data() + (splat ? 0 : i * width), width);
      if (isInteger(*kind) && bitWidth(*kind) < 8)
        for (int64_t i = 0, e = result.size(); i < e; ++i) storeInt(*kind, out + i, loadInt(*kind, out + i));
      return result;
    }
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    // The bytes are those in memory, each element in whole bytes. A resource may be declared without data.
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    size_t have = blob ? blob->getData().size() : 0, want = static_cast<size_t>(result.size()) * width;
    if (have != want)
      return fail("expects a resource of " + llvm::Twine(want) + " bytes, but got " + llvm::Twine(have));
    std::memcpy(out, blob->getData().data(), want);
    if (isInteger(*kind) && bitWidth(*kind) < 8)
      for (int64_t i = 0, e = result.size(); i < e; ++i) storeInt(*kind, out + i, loadInt(*kind, out + i));
    return result;
  }
  if (isInteger(*kind)) {
    auto values = attr.tryGetValues<APInt>();
    if (!values) return fail("expects integer constant elements");
    int64_t i = 0;
    for (const APInt &value : *values) storeInt(*kind, out + width * i++, static_cast<int64_t>(value.getRawData()[0]));
    return result;
  }
  if (isFloat(*kind)) {
    auto values = attr.tryGetValues<APFloat>();
    if (!values) return fail("expects floating-point constant elements");
    int64_t i = 0;
    for (const APFloat &value : *values) {
      uint64_t bits = value.bitcastToAPInt().getZExtValue();
      std::memcpy(out + width * i++, &bits, width);
    }
    return result;
  }
  auto values = attr.tryGetValues<std::complex<APFloat>>();
  if (!values) return fail("expects complex constant elements");
  int64_t i = 0;
  for (const std::complex<APFloat> &value : *values) {
    uint64_t re = value.real().bitcastToAPInt().getZExtValue(), im = value.imag().bitcastToAPInt().getZExtValue();
    std::memcpy(out + width * i, &re, width / 2);
    std::memcpy(out + width * i++ + width / 2, &im, width / 2);
  }
  return result;
}

Tensor Tensor::fromBytes(RankedTensorType type, ArrayRef<char> data) {
  Tensor result(type);
  assert(static_cast<int64_t>(data.size()) == result.numBytes() && "byte count must match the type");
  std::memcpy(result.mutableData(), data.data(), data.size());
  return result;
}

DenseElementsAttr Tensor::toAttr() const {
  Type elementType = getElementType();
  if (auto quantized = dyn_cast<quant::QuantizedType>(elementType)) elementType = quantized.getStorageType();
  auto attrType = RankedTensorType::get(getShape(), elementType);
  if (isInteger(elementKind) && bitWidth(elementKind) < 8) {
    SmallVector<APInt> values;
    values.reserve(count);
    for (int64_t i = 0; i < count; ++i)
      values.emplace_back(bitWidth(elementKind), static_cast<uint64_t>(getInt(i)), false, /*implicitTrunc=*/true);
    return DenseElementsAttr::get(attrType, values);
  }
  return DenseElementsAttr::getFromRawBuffer(attrType, ArrayRef<char>(data(), numBytes()));
}

Ints Tensor::ints() const {
  Ints lanes(count);
  unsigned width = elementBytes();
  const char *p = data();
  for (int64_t i = 0; i < count; ++i, p += width) lanes[i] = loadInt(elementKind, p);
  return lanes;
}

Floats Tensor::floats() const {
  Floats lanes(count);
  unsigned width = elementBytes();
  const char *p = data();
  for (int64_t i = 0; i < count; ++i, p += width) lanes[i] = loadFloat(elementKind, p);
  return lanes;
}

Complexes Tensor::complexes() const {
  Complexes lanes(count);
  unsigned width = elementBytes();
  const char *p = data();
  for (int64_t i = 0; i < count; ++i, p += width) lanes[i] = loadComplex(elementKind, p);
  return lanes;
}

Tensor Tensor::ofInts(RankedTensorType type, ArrayRef<int64_t> lanes) {
  Tensor result(type);
  unsigned width = result.elementBytes();
  char *p = result.mutableData();
  for (int64_t lane : lanes) storeInt(result.elementKind, p, lane), p += width;
  return result;
}

Tensor Tensor::ofFloats(RankedTensorType type, ArrayRef<double> lanes) {
  Tensor result(type);
  unsigned width = result.elementBytes();
  char *p = result.mutableData();
  for (double lane : lanes) storeFloat(result.elementKind, p, lane), p += width;
  return result;
}

Tensor Tensor::ofComplexes(RankedTensorType type, ArrayRef<Complex> lanes) {
  Tensor result(type);
  unsigned width = result.elementBytes();
  char *p = result.mutableData();
  for (Complex lane : lanes) storeComplex(result.elementKind, p, lane), p += width;
  return result;
}

Tensor Tensor::withType(RankedTensorType other) const {
  Tensor result = *this;
  result.type = other.getEncoding() ? RankedTensorType::get(other.getShape(), other.getElementType()) : other;
  result.elementKind = *kindOf(other.getElementType());
  result.count = numElements(other.getShape());
  assert(result.numBytes() == numBytes() && "the byte count must stay");
  return result;
}

Tensor Tensor::element(int64_t linear, RankedTensorType scalarType) const {
  Tensor result(scalarType);
  std::memcpy(result.mutableData(), at(linear), elementBytes());
  return result;
}

static void printFloat(llvm::raw_ostream &os, Kind kind, double value) {
  // MLIR prints the shorter of two forms that reads back equal: scientific with six digits, else with enough digits.
  APFloat exact(value);
  SmallString<32> text;
  if (std::isnan(value)) {
    os << (std::signbit(value) ? "-nan" : "nan");
    return;
  }
  if (std::isinf(value)) {
    os << (value < 0 ? "-inf" : "inf");
    return;
  }
  // printf is not used, because it writes the decimal point of the process's locale.
  char shortest[32];
  char *end = std::to_chars(shortest, std::end(shortest), value, std::chars_format::scientific, 6).ptr;
  double back = 0;
  std::from_chars(shortest, end, back);
  if (roundFloat(kind, back) == value) {
    os.write(shortest, size_t(end - shortest));
    return;
  }
  exact.toString(text, kind == Kind::F64 ? 17 : 9, 0);
  os << text;
}

static void printElement(llvm::raw_ostream &os, const Tensor &tensor, int64_t i) {
  Kind kind = tensor.kind();
  if (kind == Kind::I1) {
    os << (tensor.getInt(i) ? "true" : "false");
  } else if (isInteger(kind)) {
    if (isUnsigned(kind)) os << static_cast<uint64_t>(tensor.getInt(i));
    else os << tensor.getInt(i);
  } else if (isFloat(kind)) {
    printFloat(os, kind, tensor.getFloat(i));
  } else {
    Complex value = tensor.getComplex(i);
    os << '[';
    printFloat(os, partOf(kind), value.real());
    os << ", ";
    printFloat(os, partOf(kind), value.imag());
    os << ']';
  }
}

static void printLevel(llvm::raw_ostream &os, const Tensor &tensor, int64_t level, int64_t &next) {
  os.indent(2 * (level + 1)) << '[';
  if (level + 1 == tensor.rank()) {
    for (int64_t i = 0; i < tensor.dim(level); ++i) {
      if (i) os << ", ";
      printElement(os, tensor, next++);
    }
    os << ']';
    return;
  }
  os << '\n';
  for (int64_t i = 0; i < tensor.dim(level); ++i) {
    if (i) os << ",\n";
    printLevel(os, tensor, level + 1, next);
  }
  if (tensor.dim(level)) os << '\n';
  os.indent(2 * (level + 1)) << ']';
}

void Tensor::print(llvm::raw_ostream &os) const {
  os << type << " {";
  if (rank() == 0) {
    printElement(os, *this, 0);
    os << '}';
    return;
  }
  os << '\n';
  int64_t next = 0;
  printLevel(os, *this, 0, next);
  os << "\n}";
}

Value Value::tuple(std::vector<Value> elements) {
  Value result;
  result.content = std::make_shared<const std::vector<Value>>(std::move(elements));
  return result;
}

void Value::print(llvm::raw_ostream &os) const {
  if (isTensor()) return tensor().print(os);
  if (isToken()) {
    os << "token";
    return;
  }
  os << "tuple {\n";
  for (const Value &element : elements()) {
    element.print(os);
    os << '\n';
  }
  os << '}';
}

} // namespace millrace::eval
