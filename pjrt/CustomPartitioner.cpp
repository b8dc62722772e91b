// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CustomPartitioner.cpp - Custom calls that clients split themselves --===//
// jax.experimental.custom_partitioning: JAX registers C functions for a custom call's target and, when the program is split,
// says what the devices do. Types and shardings travel as XLA's messages ShapeProto and OpSharding. The structs are those of
// XLA's interface (pjrt_c_api_custom_partitioner_extension.h, version 1).
#include "pjrt/CustomPartitioner.h"

#include "dialects/bytecode/Validate.h"
#include "dialects/sdy/HloSharding.h"
#include "dialects/sdy/ProtoBytes.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/vhlo/PortableArtifact.h"
#include "pjrt/Objects.h"
#include "pjrt/ProtoReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

using namespace mlir;

namespace millrace::pjrt {
namespace {

struct Bytes {
  const char *data;
  size_t size;
  StringRef text() const { return {data, size}; }
};
struct Value {
  Bytes shape;
  bool hasSharding;
  Bytes sharding;
};
/// The results belong to `data`, which `release` frees.
struct Header {
  int64_t version;
  void *data;
  void (*release)(void *data);
  bool hasError;
  int code;
  Bytes message;
};
struct PartitionArgs {
  Header header;
  size_t numOperands;
  Value *operands;
  Value result;
  Bytes config;
  Bytes body;               ///< out, as are the following fields
  Bytes *operandShardings;
  Bytes resultSharding;
};
struct InferArgs {
  Header header;
  size_t numOperands;
  Value *operands;
  Bytes resultShape;
  Bytes config;
  bool hasResultSharding;
  Bytes resultSharding; ///< out
};
struct Callbacks {
  int64_t version;
  void *data;
  void (*destroy)(Callbacks *);
  void (*partition)(Callbacks *, PartitionArgs *);
  void (*infer)(Callbacks *, InferArgs *);
  void (*propagateUser)(Callbacks *, void *);
  bool sideEffectsMayBeReplicated;
};
struct RegisterArgs {
  size_t structSize;
  const char *name;
  size_t nameSize;
  Callbacks *callbacks;
};
struct RegisterBatchArgs {
  size_t structSize;
  const char *name;
  size_t nameSize;
};
struct PartitionerExtension {
  Extension base;
  Error *(*registerPartitioner)(RegisterArgs *);
  Error *(*registerBatch)(RegisterBatchArgs *);
};
static_assert(sizeof(PartitionerExtension) == 40);

/// Frees the results of a callback.
struct Releaser {
  Header &header;
  ~Releaser() {
    if (header.release)
      header.release(header.data);
  }
};

//===-- Messages ----------------------------------------------------------===//

using sdy::appendBytes;
using sdy::appendVarint;

/// Returns the value of XLA's PrimitiveType; 0 for types that it does not have.
int primitiveType(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType().isF32() ? 15 : 18;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return isUnsigned ? 31 : 1;
    case 2:
      return isUnsigned ? 27 : 26;
    case 4:
      return isUnsigned ? 22 : 21;
    case 8:
      return isUnsigned ? 6 : 2;
    case 16:
      return isUnsigned ? 7 : 3;
    case 32:
      return isUnsigned ? 8 : 4;
    case 64:
      return isUnsigned ? 9 : 5;
    default:
      return 0;
    }
  }
  return llvm::TypeSwitch<Type, int>(type)
      .Case([](Float16Type) { return 10; })
      .Case([](Float32Type) { return 11; })
      .Case([](Float64Type) { return 12; })
      .Case([](BFloat16Type) { return 16; })
      .Case([](Float8E5M2Type) { return 19; })
      .Case([](Float8E4M3FNType) { return 20; })
      .Case([](Float8E4M3B11FNUZType) { return 23; })
      .Case([](Float8E5M2FNUZType) { return 24; })
      .Case([](Float8E4M3FNUZType) { return 25; })
      .Case([](Float8E4M3Type) { return 28; })
      .Case([](Float8E3M4Type) { return 29; })
      .Case([](Float4E2M1FNType) { return 32; })
      .Case([](Float8E8M0FNUType) { return 33; })
      .Default([](Type) { return 0; });
}

/// Returns a ShapeProto: element_type 2, dimensions 3, tuple_shapes 4. Empty for types without a shape.
std::string shapeProto(Type type) {
  std::string out, dims;
  auto tensor = dyn_cast<RankedTensorType>(type);
  int element = tensor && tensor.hasStaticShape() ? primitiveType(tensor.getElementType()) : 0;
  if (element == 0)
    return out;
  appendVarint(out, 2 << 3);
  appendVarint(out, element);
  for (int64_t size : tensor.getShape())
    appendVarint(dims, size);
  if (!dims.empty())
    appendBytes(out, 3, dims);
  return out;
}

/// Returns the ShapeProto of one result, or of the tuple of several.
std::string shapeProto(TypeRange types) {
  if (types.size() == 1)
    return shapeProto(types[0]);
  std::string out;
  appendVarint(out, 2 << 3);
  appendVarint(out, 13); // TUPLE
  for (Type type : types)
    appendBytes(out, 4, shapeProto(type));
  return out;
}

bool readNumbers(const Field &field, std::vector<int64_t> &numbers) {
  if (field.wireType == 0) {
    numbers.push_back(int64_t(field.number));
    return true;
  }
  Reader reader(field.bytes);
  for (uint64_t value; field.wireType == 2 && !reader.atEnd(); numbers.push_back(int64_t(value)))
    if (!reader.varint(value))
      return false;
  return field.wireType == 2;
}

/// Reads a message of sdy::toOpShardingProto; fields that do not affect placement are skipped.
bool readSharding(std::string_view bytes, sdy::HloSharding &sharding) {
  using Kind = sdy::HloSharding::Kind;
  using Subgroup = sdy::HloSharding::Subgroup;
  std::vector<int64_t> type, replicateLast, groups;
  sharding = {};
  bool ok = forEachField(bytes, [&](const Field &field) {
    switch (field.id) {
    case 1:
      return readNumbers(field, type);
    case 3:
      return readNumbers(field, sharding.tiles);
    case 4:
      return readNumbers(field, sharding.order.list);
    case 5:
      return readSharding(field.bytes, sharding.elements.emplace_back());
    case 6:
      return readNumbers(field, replicateLast);
    case 8:
      return readNumbers(field, groups);
    case 9:
      return readNumbers(field, sharding.order.reshape);
    case 10:
      return readNumbers(field, sharding.order.transpose);
    default:
      return true;
    }
  });
  int64_t kind = type.empty() ? 0 : type.back();
  if (!ok || kind < 0 || kind > 4)
    return false;
  sharding.kind = std::array{Kind::Replicated, Kind::Maximal, Kind::Tuple, Kind::Tiled, Kind::Manual}[kind];
  if (sharding.kind == Kind::Maximal) {
    if (sharding.order.list.size() != 1)
      return false;
    sharding.device = sharding.order.list[0];
    sharding.order = {};
  }
  if (!replicateLast.empty() && replicateLast.back())
    sharding.subgroups.push_back(Subgroup::Replicated);
  for (int64_t group : groups)
    sharding.subgroups.push_back(group == 0 ? Subgroup::Replicated : group == 4 ? Subgroup::Manual : Subgroup::Unreduced);
  return true;
}

//===-- Registered functions ----------------------------------------------===//

class Registry : public spmd::CallPartitioner {
public:
  void add(std::string name, Callbacks *callbacks) {
    // A partitioner that is being called stays alive until it returns, and is destroyed without the mutex: its destruction may take the interpreter's
    // lock.
    std::shared_ptr<Callbacks> replaced;
    std::lock_guard lock(mutex);
    std::shared_ptr<Callbacks> &entry = entries[std::move(name)];
    if (entry.get() == callbacks)
      return;
    replaced = std::exchange(entry, std::shared_ptr<Callbacks>(callbacks, [](Callbacks *gone) { gone->destroy(gone); }));
  }

  bool knows(StringRef target) const override { return find(target) != nullptr; }

  FailureOr<spmd::CallPartition> partition(Operation *op, ArrayRef<std::string> operands, ArrayRef<std::string> results) override {
    auto call = cast<stablehlo::CustomCallOp>(op);
    const std::shared_ptr<Callbacks> held = find(call.getCallTargetName());
    Callbacks *callbacks = held.get();
    auto config = dyn_cast_or_null<StringAttr>(op->getAttr("backend_config"));
    std::deque<std::string> kept; // owns the data to which the arguments point
    auto bytes = [&](std::string text) {
      const std::string &owned = kept.emplace_back(std::move(text));
      return Bytes{owned.data(), owned.size()};
    };
    auto protoOf = [&](StringRef text) -> std::string {
      std::string error;
      auto sharding = sdy::parseHloSharding(text, error);
      return sdy::toOpShardingProto(*sharding);
    };
    std::vector<Value> values;
    for (auto [type, sharding] : llvm::zip_equal(op->getOperandTypes(), operands)) {
      values.push_back({bytes(shapeProto(type)), true, bytes(protoOf(sharding))});
      if (values.back().shape.size == 0)
        return op->emitError("expects tensors to be partitioned by its client, but got ") << type, failure();
    }
    Bytes shape = bytes(shapeProto(op->getResultTypes())), name = bytes(config ? config.getValue().str() : std::string());
    std::string wanted;
    if (results.size() == 1) {
      wanted = protoOf(results[0]);
    } else if (!results.empty()) {
      sdy::HloSharding tuple;
      tuple.kind = sdy::HloSharding::Kind::Tuple;
      std::string error;
      for (const std::string &each : results)
        tuple.elements.push_back(*sdy::parseHloSharding(each, error));
      wanted = sdy::toOpShardingProto(tuple);
    } else {
      InferArgs args{};
      args.numOperands = values.size();
      args.operands = values.data();
      args.resultShape = shape;
      args.config = name;
      callbacks->infer(callbacks, &args);
      Releaser releaser{args.header};
      if (args.header.hasError)
        return op->emitError("its client cannot infer shardings: ") << args.header.message.text(), failure();
      if (args.hasResultSharding)
        wanted = args.resultSharding.text().str();
    }

    PartitionArgs args{};
    args.numOperands = values.size();
    args.operands = values.data();
    args.result = {shape, true, bytes(std::move(wanted))};
    args.config = name;
    callbacks->partition(callbacks, &args);
    Releaser releaser{args.header};
    if (args.header.hasError)
      return op->emitError("its client cannot partition it: ") << args.header.message.text(), failure();
    return read(op, args);
  }

private:
  std::shared_ptr<Callbacks> find(StringRef target) const {
    std::lock_guard lock(mutex);
    auto entry = entries.find(target.str());
    return entry == entries.end() ? nullptr : entry->second;
  }

  static FailureOr<spmd::CallPartition> read(Operation *op, const PartitionArgs &args) {
    spmd::CallPartition made;
    sdy::HloSharding sharding;
    auto take = [&](Bytes from, std::vector<std::string> &into) {
      if (!readSharding({from.data, from.size}, sharding))
        return false;
      if (sharding.kind != sdy::HloSharding::Kind::Tuple)
        sharding.elements = {sdy::HloSharding(sharding)};
      for (const sdy::HloSharding &each : sharding.elements)
        into.push_back(toString(each));
      return true;
    };
    for (size_t i = 0; i < args.numOperands; ++i)
      if (!take(args.operandShardings[i], made.operands))
        return op->emitError("expects OpSharding messages from its client"), failure();
    if (!take(args.resultSharding, made.results))
      return op->emitError("expects an OpSharding message from its client"), failure();
    made.body = bytecode::parseModule(args.body.text(), ParserConfig(op->getContext()), "custom_partitioning");
    if (!made.body)
      return op->emitError("cannot read the module of its client"), failure();
    return made;
  }

  mutable std::mutex mutex;
  std::map<std::string, std::shared_ptr<Callbacks>> entries; // never destroyed, because clients' functions may be unloaded before the process ends
};

Registry &registry() {
  static Registry *made = new Registry;
  return *made;
}

} // namespace

spmd::CallPartitioner &callPartitioner() { return registry(); }

Extension *customPartitionerExtension(Extension *next) {
  static PartitionerExtension extension = {
      {sizeof(PartitionerExtension), /*type=*/2, next},
      [](RegisterArgs *args) -> Error * {
        registry().add(std::string(args->name, args->nameSize), args->callbacks);
        return nullptr;
      },
      // Batches of matrices are sharded without registration (passes/spmd/OpRules.cpp).
      [](RegisterBatchArgs *) -> Error * { return nullptr; }};
  return &extension.base;
}

} // namespace millrace::pjrt
