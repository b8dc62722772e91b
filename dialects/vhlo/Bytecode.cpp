// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Bytecode.cpp - Encoding of attributes and types --------------------===//
// Codes and payloads are an interface to readers and writers of other vendors. Reading any bytes gives a value that passed its verifier, or an error.
#include "dialects/vhlo/Builtin.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Bytecode/BytecodeImplementation.h"

using namespace mlir;

namespace millrace::vhlo {
namespace {

//===-- Reading -----------------------------------------------------------===//

/// Reads one value after the other; after the first failure all reads have no effect and `ok` is false.
class Reader {
public:
  Reader(DialectBytecodeReader &reader) : reader(reader) {}

  bool ok = true;

  uint64_t number() {
    uint64_t value = 0;
    return check(ok && succeeded(reader.readVarInt(value))), value;
  }
  int64_t signedNumber() {
    int64_t value = 0;
    return check(ok && succeeded(reader.readSignedVarInt(value))), value;
  }
  Type type() {
    Type value;
    return check(ok && succeeded(reader.readType(value)) && value), value;
  }
  Attribute attribute() {
    Attribute value;
    return check(ok && succeeded(reader.readAttribute(value)) && value), value;
  }
  Attribute optionalAttribute() {
    Attribute value;
    return check(ok && succeeded(reader.readOptionalAttribute(value))), value;
  }
  StringRef string() {
    StringRef value;
    return check(ok && succeeded(reader.readString(value))), value;
  }
  ArrayRef<char> blob() {
    ArrayRef<char> value;
    return check(ok && succeeded(reader.readBlob(value))), value;
  }
  APFloat floating(const llvm::fltSemantics &semantics) {
    if (ok)
      if (FailureOr<APFloat> value = reader.readAPFloatWithKnownSemantics(semantics); succeeded(value))
        return *value;
    ok = false;
    return APFloat(semantics);
  }
  APFloat number64() { return floating(APFloat::IEEEdouble()); }
  APInt integer(unsigned width) {
    if (ok)
      if (FailureOr<APInt> value = reader.readAPIntWithKnownWidth(width); succeeded(value))
        return *value;
    ok = false;
    return APInt(width, 0);
  }
  /// The list grows with the items that are read, because the count of an untrusted file may be too large.
  template <typename Fn> auto list(Fn element) {
    SmallVector<decltype(element())> values;
    for (uint64_t i = 0, count = number(); ok && i < count; ++i)
      values.push_back(element());
    return values;
  }
  SmallVector<int64_t> signedNumbers() {
    return list([&] { return signedNumber(); });
  }
  SmallVector<Type> types() {
    return list([&] { return type(); });
  }
  SmallVector<Attribute> attributes() {
    return list([&] { return attribute(); });
  }

  /// Returns the value made of the fields, or null if a field is missing or its verifier fails.
  template <typename T, typename... Args> T make(const Args &...args) {
    if (!ok)
      return {};
    if constexpr (requires { &T::verify; })
      return T::getChecked([&] { return reader.emitError(); }, reader.getContext(), view(args)...);
    else
      return T::get(reader.getContext(), view(args)...);
  }
  std::nullptr_t error(const Twine &message) { return reader.emitError(message), nullptr; }

private:
  void check(bool succeeded) { ok = succeeded; }
  template <typename T> static const T &view(const T &value) { return value; }
  template <typename T, unsigned N> static ArrayRef<T> view(const SmallVector<T, N> &values) { return values; }

  DialectBytecodeReader &reader;
};

/// Returns the packed form of i1 elements: eight per byte (a splat is 0x00 or 0xff). Older writers store one per byte.
SmallVector<char> packedBooleans(RankedTensorV1Type type, ArrayRef<char> data) {
  size_t elements = 1;
  for (int64_t size : type.getShape())
    elements *= size; // the verifier of the result has bounded the product
  SmallVector<char> bytes(data);
  bool isSplat = data.size() == 1 && uint8_t(data[0]) == 0xff;
  bool isPacked = data.size() == (elements + 7) / 8 && data.size() != elements;
  if (isSplat || isPacked || data.size() != elements)
    return bytes;
  if (elements == 1)
    return {char(data[0] ? 0xff : 0)};
  bytes.assign((elements + 7) / 8, 0);
  for (size_t i = 0; i < elements; ++i)
    bytes[i / 8] |= char(data[i] ? 1 << (i % 8) : 0);
  return bytes;
}

Attribute readTensor(Reader &in) {
  Type type = in.type();
  ArrayRef<char> data = in.blob();
  auto tensor = dyn_cast_or_null<RankedTensorV1Type>(type);
  if (in.ok && tensor && integerWidth(tensor.getElementType()) == 1)
    return in.make<TensorV1Attr>(type, packedBooleans(tensor, data));
  return in.make<TensorV1Attr>(type, data);
}

Attribute readAttributeOf(unsigned code, Reader &in) {
  if (lookupEnum(code)) {
    uint64_t value = in.number();
    return in.make<EnumV1Attr>(code, uint32_t(std::min<uint64_t>(value, UINT32_MAX)));
  }
  switch (code) {
  case code::Array:
    return in.make<ArrayV1Attr>(in.attributes());
  case code::Bool: {
    uint64_t value = in.number();
    return value > 1 ? in.error("expects 0 or 1 as boolean") : Attribute(in.make<BoolV1Attr>(value == 1));
  }
  case code::Dict:
    return in.make<DictV1Attr>(in.list([&] {
      Attribute name = in.attribute(), value = in.attribute();
      return std::make_pair(name, value);
    }));
  case code::Float: {
    Type type = in.type();
    const llvm::fltSemantics *semantics = floatSemantics(type);
    if (in.ok && !semantics)
      return in.error("expects a float type");
    return in.ok ? in.make<FloatV1Attr>(type, in.floating(*semantics)) : FloatV1Attr();
  }
  case code::Integer: {
    Type type = in.type();
    unsigned width = integerWidth(type);
    if (in.ok && width < 2)
      return in.error("expects an integer type");
    return in.ok ? in.make<IntegerV1Attr>(type, in.integer(width)) : IntegerV1Attr();
  }
  case code::OutputOperandAlias: {
    SmallVector<int64_t> output = in.signedNumbers();
    int64_t operand = in.signedNumber();
    return in.make<OutputOperandAliasV1Attr>(output, operand, in.signedNumbers());
  }
  case code::String:
    return in.make<StringV1Attr>(in.string());
  case code::Tensor:
    return readTensor(in);
  case code::Type:
    return in.make<TypeV1Attr>(in.type());
  case code::TypeExtensions:
    return in.make<TypeExtensionsV1Attr>(in.signedNumbers());
  case code::ResultAccuracy: {
    APFloat atol = in.number64(), rtol = in.number64();
    int64_t ulps = in.signedNumber();
    return in.make<ResultAccuracyV1Attr>(atol, rtol, ulps, in.attribute());
  }
  case code::SubAxisInfo: {
    int64_t preSize = in.signedNumber();
    return in.make<SubAxisInfoV1Attr>(preSize, in.signedNumber());
  }
  case code::AxisRef: {
    Attribute name = in.attribute();
    Attribute info = in.number() ? in.attribute() : Attribute();
    return in.make<AxisRefV1Attr>(name, info);
  }
  case code::ReplicaGroupMeshAxes: {
    Attribute mesh = in.attribute();
    return in.make<ReplicaGroupMeshAxesV1Attr>(mesh, in.attribute());
  }
  case code::MeshAxis: {
    Attribute name = in.attribute();
    return in.make<MeshAxisV1Attr>(name, in.signedNumber());
  }
  case code::Mesh: {
    Attribute axes = in.attribute();
    Attribute ids = in.optionalAttribute();
    return in.make<MeshV1Attr>(axes, ids);
  }
  default:
    return in.ok ? in.error("unknown vhlo attribute code " + Twine(code)) : nullptr;
  }
}

Type readTypeOf(unsigned code, Reader &in) {
  if (in.ok && lookupScalar(code))
    return in.make<ScalarV1Type>(code);
  switch (code) {
  case code::Complex:
    return in.make<ComplexV1Type>(in.type());
  case code::Function: {
    SmallVector<Type> inputs = in.types();
    return in.make<FunctionV1Type>(inputs, in.types());
  }
  case code::RankedTensor: {
    SmallVector<int64_t> shape = in.signedNumbers();
    return in.make<RankedTensorV1Type>(shape, in.type(), Attribute());
  }
  case code::EncodedTensor: {
    Attribute encoding = in.attribute();
    SmallVector<int64_t> shape = in.signedNumbers();
    return in.make<RankedTensorV1Type>(shape, in.type(), encoding);
  }
  case code::Tuple:
    return in.make<TupleV1Type>(in.types());
  case code::UniformQuantized: {
    uint64_t flags = in.number();
    Type storage = in.type(), expressed = in.type();
    APFloat scale = in.number64();
    int64_t zeroPoint = in.signedNumber(), min = in.signedNumber();
    return in.make<UniformQuantizedV1Type>(unsigned(flags), storage, expressed, scale, zeroPoint, min,
                                           in.signedNumber());
  }
  case code::UniformQuantizedPerAxis: {
    uint64_t flags = in.number();
    Type storage = in.type(), expressed = in.type();
    uint64_t dimension = in.number();
    int64_t min = in.signedNumber(), max = in.signedNumber();
    SmallVector<APFloat> scales = in.list([&] { return in.number64(); });
    if (dimension > INT32_MAX)
      return in.error("expects a dimension");
    return in.make<UniformQuantizedPerAxisV1Type>(unsigned(flags), storage, expressed, int32_t(dimension), scales,
                                                  in.signedNumbers(), min, max);
  }
  case code::UnrankedTensor:
    return in.make<UnrankedTensorV1Type>(in.type());
  case code::RankedBuffer: {
    SmallVector<int64_t> shape = in.signedNumbers();
    return in.make<RankedBufferV1Type>(shape, in.type());
  }
  case code::Future:
    return in.make<FutureV1Type>(in.types());
  default:
    return in.ok ? in.error("unknown vhlo type code " + Twine(code)) : nullptr;
  }
}

//===-- Writing -----------------------------------------------------------===//

/// One boolean is 0x00 or 0x01, unlike a splat of more.
ArrayRef<char> encodedElements(TensorV1Attr tensor) {
  static constexpr char one[] = {1};
  auto type = cast<RankedTensorV1Type>(tensor.getType());
  bool single = llvm::all_of(type.getShape(), [](int64_t size) { return size == 1; });
  bool isTrue = single && integerWidth(type.getElementType()) == 1 && tensor.getData()[0];
  return isTrue ? ArrayRef<char>(one) : tensor.getData();
}

void writeAttributeTo(Attribute attr, DialectBytecodeWriter &out) {
  auto begin = [&](unsigned code) { out.writeVarInt(code); };
  TypeSwitch<Attribute>(attr)
      .Case([&](EnumV1Attr value) { begin(value.getCode()), out.writeVarInt(value.getValue()); })
      .Case([&](ArrayV1Attr array) { begin(code::Array), out.writeAttributes(array.getValue()); })
      .Case([&](BoolV1Attr value) { begin(code::Bool), out.writeVarInt(value.getValue()); })
      .Case([&](DictV1Attr dict) {
        begin(code::Dict);
        out.writeList(dict.getValue(), [&](const auto &entry) {
          out.writeAttribute(entry.first);
          out.writeAttribute(entry.second);
        });
      })
      .Case([&](FloatV1Attr value) {
        begin(code::Float);
        out.writeType(value.getType());
        out.writeAPFloatWithKnownSemantics(value.getValue());
      })
      .Case([&](IntegerV1Attr value) {
        begin(code::Integer);
        out.writeType(value.getType());
        out.writeAPIntWithKnownWidth(value.getValue());
      })
      .Case([&](OutputOperandAliasV1Attr alias) {
        begin(code::OutputOperandAlias);
        out.writeSignedVarInts(alias.getOutputTupleIndices());
        out.writeSignedVarInt(alias.getOperandIndex());
        out.writeSignedVarInts(alias.getOperandTupleIndices());
      })
      .Case([&](StringV1Attr value) { begin(code::String), out.writeOwnedString(value.getValue()); })
      .Case([&](TensorV1Attr tensor) {
        begin(code::Tensor);
        out.writeType(tensor.getType());
        out.writeOwnedBlob(encodedElements(tensor));
      })
      .Case([&](TypeV1Attr type) { begin(code::Type), out.writeType(type.getValue()); })
      .Case([&](TypeExtensionsV1Attr bounds) {
        begin(code::TypeExtensions), out.writeSignedVarInts(bounds.getBounds());
      })
      .Case([&](ResultAccuracyV1Attr accuracy) {
        begin(code::ResultAccuracy);
        out.writeAPFloatWithKnownSemantics(accuracy.getAtol());
        out.writeAPFloatWithKnownSemantics(accuracy.getRtol());
        out.writeSignedVarInt(accuracy.getUlps());
        out.writeAttribute(accuracy.getMode());
      })
      .Case([&](SubAxisInfoV1Attr info) {
        begin(code::SubAxisInfo), out.writeSignedVarInt(info.getPreSize()), out.writeSignedVarInt(info.getSize());
      })
      .Case([&](AxisRefV1Attr axis) {
        begin(code::AxisRef);
        out.writeAttribute(axis.getName());
        out.writeVarInt(bool(axis.getSubAxisInfo()));
        if (axis.getSubAxisInfo())
          out.writeAttribute(axis.getSubAxisInfo());
      })
      .Case([&](ReplicaGroupMeshAxesV1Attr groups) {
        begin(code::ReplicaGroupMeshAxes), out.writeAttribute(groups.getMesh()), out.writeAttribute(groups.getAxes());
      })
      .Case([&](MeshAxisV1Attr axis) {
        begin(code::MeshAxis), out.writeAttribute(axis.getName()), out.writeSignedVarInt(axis.getSize());
      })
      .Case([&](MeshV1Attr mesh) {
        begin(code::Mesh), out.writeAttribute(mesh.getAxes()), out.writeOptionalAttribute(mesh.getDeviceIds());
      });
}

void writeTypeTo(Type type, DialectBytecodeWriter &out) {
  auto begin = [&](unsigned code) { out.writeVarInt(code); };
  TypeSwitch<Type>(type)
      .Case([&](ScalarV1Type scalar) { begin(scalar.getCode()); })
      .Case([&](ComplexV1Type complex) { begin(code::Complex), out.writeType(complex.getElementType()); })
      .Case([&](FunctionV1Type function) {
        begin(code::Function), out.writeTypes(function.getInputs()), out.writeTypes(function.getOutputs());
      })
      .Case([&](RankedTensorV1Type tensor) {
        begin(tensor.getEncoding() ? code::EncodedTensor : code::RankedTensor);
        if (tensor.getEncoding())
          out.writeAttribute(tensor.getEncoding());
        out.writeSignedVarInts(tensor.getShape());
        out.writeType(tensor.getElementType());
      })
      .Case([&](TupleV1Type tuple) { begin(code::Tuple), out.writeTypes(tuple.getTypes()); })
      .Case([&](UniformQuantizedV1Type quantized) {
        begin(code::UniformQuantized);
        out.writeVarInt(quantized.getFlags());
        out.writeType(quantized.getStorageType());
        out.writeType(quantized.getExpressedType());
        out.writeAPFloatWithKnownSemantics(quantized.getScale());
        out.writeSignedVarInt(quantized.getZeroPoint());
        out.writeSignedVarInt(quantized.getStorageTypeMin());
        out.writeSignedVarInt(quantized.getStorageTypeMax());
      })
      .Case([&](UniformQuantizedPerAxisV1Type quantized) {
        begin(code::UniformQuantizedPerAxis);
        out.writeVarInt(quantized.getFlags());
        out.writeType(quantized.getStorageType());
        out.writeType(quantized.getExpressedType());
        out.writeVarInt(quantized.getQuantizedDimension());
        out.writeSignedVarInt(quantized.getStorageTypeMin());
        out.writeSignedVarInt(quantized.getStorageTypeMax());
        out.writeList(quantized.getScales(), [&](const APFloat &scale) { out.writeAPFloatWithKnownSemantics(scale); });
        out.writeSignedVarInts(quantized.getZeroPoints());
      })
      .Case([&](UnrankedTensorV1Type tensor) { begin(code::UnrankedTensor), out.writeType(tensor.getElementType()); })
      .Case([&](RankedBufferV1Type buffer) {
        begin(code::RankedBuffer);
        out.writeSignedVarInts(buffer.getShape());
        out.writeType(buffer.getElementType());
      })
      .Case([&](FutureV1Type future) { begin(code::Future), out.writeTypes(future.getTypes()); });
}

struct BytecodeInterface : BytecodeDialectInterface {
  BytecodeInterface(mlir::Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    Reader in(reader);
    uint64_t code = in.number();
    return readAttributeOf(std::min<uint64_t>(code, UINT32_MAX), in);
  }
  Type readType(DialectBytecodeReader &reader) const override {
    Reader in(reader);
    uint64_t code = in.number();
    return readTypeOf(std::min<uint64_t>(code, UINT32_MAX), in);
  }
  LogicalResult writeAttribute(Attribute attr, DialectBytecodeWriter &writer) const override {
    return writeAttributeTo(attr, writer), success();
  }
  LogicalResult writeType(Type type, DialectBytecodeWriter &writer) const override {
    return writeTypeTo(type, writer), success();
  }
};

} // namespace

void VhloDialect::registerBytecode() { addInterface<BytecodeInterface>(); }

} // namespace millrace::vhlo
