// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Bytecode.cpp - Attributes in Shardy's bytecode encoding ------------===//
// Codes and the order of fields are an interface, because JAX's portable artifacts contain them. The reader trusts no input: values that have no text
// form are refused here, and verifiers check the rest.
#include "dialects/sdy/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
namespace millrace::sdy {
namespace {

enum Code : uint64_t {
  ManualAxes = 0,
  MeshAxis = 1,
  Mesh = 2,
  SubAxisInfo = 3,
  AxisRef = 4,
  DimensionSharding = 5,
  TensorSharding = 6,
  ShardingPerValue = 7,
  DimMapping = 8,
  TensorMapping = 9,
  OpShardingRule = 10,
  AxisRefList = 11,
  ListOfAxisRefLists = 12,
  AllToAllParam = 13,
  AllToAllParamList = 14,
  TensorShardingUnreduced = 15,
  ShardingPerValueUnreduced = 16,
  TensorShardingReduction = 17,
};

/// Reads one attribute; `failed` stays set after the first field that cannot be read.
struct Reader {
  DialectBytecodeReader &reader;
  MLIRContext *context;
  bool failed = false;

  int64_t number() {
    int64_t value = 0;
    failed = failed || mlir::failed(reader.readSignedVarInt(value));
    return value;
  }
  SmallVector<int64_t> numbers() {
    SmallVector<int64_t> values;
    failed = failed || mlir::failed(reader.readSignedVarInts(values));
    return values;
  }
  /// Reads factor indices, which must not be negative, because text has no form for negative ones.
  SmallVector<int64_t> factors() {
    SmallVector<int64_t> values = numbers();
    if (!failed && llvm::any_of(values, [](int64_t factor) { return factor < 0; })) {
      reader.emitError("expected a non-negative factor index");
      failed = true;
    }
    return values;
  }
  bool flag() {
    bool value = false;
    failed = failed || mlir::failed(reader.readBool(value));
    return value;
  }
  StringRef string() {
    StringRef value;
    failed = failed || mlir::failed(reader.readString(value));
    return value;
  }
  std::optional<int64_t> optionalNumber() {
    uint64_t value = 0;
    bool present = false;
    failed = failed || mlir::failed(reader.readVarIntWithFlag(value, present));
    return present ? std::optional<int64_t>(value) : std::nullopt;
  }
  template <typename T> T attribute() {
    T value;
    failed = failed || mlir::failed(reader.readAttribute(value));
    return value;
  }
  template <typename T> T optionalAttribute() {
    T value;
    failed = failed || mlir::failed(reader.readOptionalAttribute(value));
    return value;
  }
  template <typename T> SmallVector<T> list() {
    SmallVector<T> values;
    failed = failed || mlir::failed(reader.readAttributes(values));
    return values;
  }
  /// Returns the attribute, or null if a field was missing.
  template <typename T, typename... Args> Attribute make(Args &&...args) {
    return failed ? T() : T::get(context, std::forward<Args>(args)...);
  }
  /// Does the same for attributes whose verifier may fail.
  template <typename T, typename... Args> Attribute makeChecked(Args &&...args) {
    if (failed)
      return {};
    return T::getChecked([&] { return reader.emitError(); }, context, std::forward<Args>(args)...);
  }

  Attribute tensorSharding(uint64_t code) {
    auto mesh = attribute<Attribute>();
    if (!failed && !isa<MeshAttr, FlatSymbolRefAttr>(mesh)) {
      reader.emitError("expected a mesh or the name of one, but got ") << mesh;
      return {};
    }
    auto dims = list<DimensionShardingAttr>();
    auto replicated = list<AxisRefAttr>();
    SmallVector<AxisRefAttr> unreduced;
    int64_t reduction = 0;
    if (code != TensorSharding)
      unreduced = list<AxisRefAttr>();
    if (code == TensorShardingReduction)
      reduction = number();
    if (!failed && (reduction < 0 || reduction > int64_t(ReductionOp::Min))) {
      reader.emitError("unknown reduction of unreduced axes: ") << reduction;
      return {};
    }
    return make<TensorShardingAttr>(mesh, dims, replicated, unreduced, static_cast<ReductionOp>(reduction));
  }

  Attribute rule() {
    auto sizes = numbers();
    auto operands = list<TensorMappingAttr>();
    auto results = list<TensorMappingAttr>();
    auto reduction = factors(), replication = factors(), permutation = factors(), blocked = factors();
    bool custom = flag();
    return make<OpShardingRuleAttr>(sizes, operands, results, reduction, replication, permutation, blocked, custom);
  }

  Attribute read(uint64_t code) {
    // Fields are read into variables first, because the order of evaluation of arguments is unspecified.
    switch (code) {
    case ManualAxes:
      return make<ManualAxesAttr>(list<StringAttr>());
    case MeshAxis: {
      StringRef name = string();
      int64_t size = number();
      return makeChecked<MeshAxisAttr>(name, size);
    }
    case Mesh: {
      auto axes = list<MeshAxisAttr>();
      auto ids = numbers();
      return makeChecked<MeshAttr>(ArrayRef<MeshAxisAttr>(axes), ArrayRef<int64_t>(ids));
    }
    case SubAxisInfo: {
      int64_t pre = number(), size = number();
      return make<SubAxisInfoAttr>(pre, size);
    }
    case AxisRef: {
      StringRef name = string();
      auto sub = optionalAttribute<SubAxisInfoAttr>();
      return make<AxisRefAttr>(name, sub);
    }
    case DimensionSharding: {
      auto axes = list<AxisRefAttr>();
      bool closed = flag();
      auto priority = optionalNumber();
      return make<DimensionShardingAttr>(axes, closed, priority);
    }
    case TensorSharding:
    case TensorShardingUnreduced:
    case TensorShardingReduction:
      return tensorSharding(code);
    case ShardingPerValue:
    case ShardingPerValueUnreduced:
      return make<TensorShardingPerValueAttr>(list<TensorShardingAttr>());
    case DimMapping:
      return make<DimMappingAttr>(factors());
    case TensorMapping:
      return make<TensorMappingAttr>(list<DimMappingAttr>());
    case OpShardingRule:
      return rule();
    case AxisRefList:
      return make<AxisRefListAttr>(list<AxisRefAttr>());
    case ListOfAxisRefLists:
      return make<ListOfAxisRefListsAttr>(list<AxisRefListAttr>());
    case AllToAllParam: {
      auto axes = list<AxisRefAttr>();
      int64_t source = number(), target = number();
      return make<AllToAllParamAttr>(axes, source, target);
    }
    case AllToAllParamList:
      return make<AllToAllParamListAttr>(list<AllToAllParamAttr>());
    default:
      reader.emitError("unknown sdy attribute code: ") << code;
      return {};
    }
  }
};

struct BytecodeInterface : BytecodeDialectInterface {
  BytecodeInterface(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    uint64_t code;
    if (failed(reader.readVarInt(code)))
      return {};
    return Reader{reader, getContext()}.read(code);
  }

  LogicalResult writeAttribute(Attribute attribute, DialectBytecodeWriter &writer) const override {
    auto code = [&](Code value) { writer.writeVarInt(value); };
    return TypeSwitch<Attribute, LogicalResult>(attribute)
        .Case([&](ManualAxesAttr attr) {
          code(ManualAxes);
          writer.writeAttributes(attr.getValue());
          return success();
        })
        .Case([&](MeshAxisAttr attr) {
          code(MeshAxis);
          writer.writeOwnedString(attr.getName());
          writer.writeSignedVarInt(attr.getSize());
          return success();
        })
        .Case([&](MeshAttr attr) {
          code(Mesh);
          writer.writeAttributes(attr.getAxes());
          writer.writeSignedVarInts(attr.getDeviceIds());
          return success();
        })
        .Case([&](SubAxisInfoAttr attr) {
          code(SubAxisInfo);
          writer.writeSignedVarInt(attr.getPreSize());
          writer.writeSignedVarInt(attr.getSize());
          return success();
        })
        .Case([&](AxisRefAttr attr) {
          code(AxisRef);
          writer.writeOwnedString(attr.getName());
          writer.writeOptionalAttribute(attr.getSubAxisInfo());
          return success();
        })
        .Case([&](DimensionShardingAttr attr) {
          code(DimensionSharding);
          writer.writeAttributes(attr.getAxes());
          writer.writeOwnedBool(attr.getIsClosed());
          writer.writeVarIntWithFlag(attr.getPriority().value_or(0), attr.getPriority().has_value());
          return success();
        })
        .Case([&](TensorShardingAttr attr) {
          bool unreduced = !attr.getUnreducedAxes().empty();
          bool sum = attr.getReductionOp() == ReductionOp::Sum;
          code(!unreduced ? TensorSharding : sum ? TensorShardingUnreduced : TensorShardingReduction);
          writer.writeAttribute(attr.getMeshOrRef());
          writer.writeAttributes(attr.getDimShardings());
          writer.writeAttributes(attr.getReplicatedAxes());
          if (unreduced)
            writer.writeAttributes(attr.getUnreducedAxes());
          if (unreduced && !sum)
            writer.writeSignedVarInt(static_cast<int64_t>(attr.getReductionOp()));
          return success();
        })
        .Case([&](TensorShardingPerValueAttr attr) {
          bool unreduced = llvm::any_of(attr.getShardings(),
                                        [](TensorShardingAttr each) { return !each.getUnreducedAxes().empty(); });
          code(unreduced ? ShardingPerValueUnreduced : ShardingPerValue);
          writer.writeAttributes(attr.getShardings());
          return success();
        })
        .Case([&](DimMappingAttr attr) {
          code(DimMapping);
          writer.writeSignedVarInts(attr.getFactorIndices());
          return success();
        })
        .Case([&](TensorMappingAttr attr) {
          code(TensorMapping);
          writer.writeAttributes(attr.getDimMappings());
          return success();
        })
        .Case([&](OpShardingRuleAttr attr) {
          code(OpShardingRule);
          writer.writeSignedVarInts(attr.getFactorSizes());
          writer.writeAttributes(attr.getOperandMappings());
          writer.writeAttributes(attr.getResultMappings());
          writer.writeSignedVarInts(attr.getReductionFactors());
          writer.writeSignedVarInts(attr.getNeedReplicationFactors());
          writer.writeSignedVarInts(attr.getPermutationFactors());
          writer.writeSignedVarInts(attr.getBlockedPropagationFactors());
          writer.writeOwnedBool(attr.getIsCustomRule());
          return success();
        })
        .Case([&](AxisRefListAttr attr) {
          code(AxisRefList);
          writer.writeAttributes(attr.getValue());
          return success();
        })
        .Case([&](ListOfAxisRefListsAttr attr) {
          code(ListOfAxisRefLists);
          writer.writeAttributes(attr.getValue());
          return success();
        })
        .Case([&](AllToAllParamAttr attr) {
          code(AllToAllParam);
          writer.writeAttributes(attr.getAxes());
          writer.writeSignedVarInt(attr.getSrcDim());
          writer.writeSignedVarInt(attr.getTgtDim());
          return success();
        })
        .Case([&](AllToAllParamListAttr attr) {
          code(AllToAllParamList);
          writer.writeAttributes(attr.getValue());
          return success();
        })
        .Default([](Attribute) { return failure(); });
  }

  // Artifacts contain a version only if the writer requested one; the encoding has not changed since 0.0.1.
  std::unique_ptr<DialectVersion> readVersion(DialectBytecodeReader &reader) const override {
    uint64_t numbers[3];
    for (uint64_t &number : numbers)
      if (failed(reader.readVarInt(number)))
        return nullptr;
    return std::make_unique<DialectVersion>();
  }
};

} // namespace

void addBytecodeInterface(SdyDialect &dialect) { dialect.addInterfaces<BytecodeInterface>(); }

} // namespace millrace::sdy
