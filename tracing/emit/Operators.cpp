// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Operators.cpp - The table of operators and whole programs -----------===//
#include "tracing/emit/Emit.h"
#include "tracing/reports/Dump.h"

#include "tracing/graph/IrText.h"
#include "tracing/emit/StoredTypes.h"
#include "runtime/base/Environment.h"

#include <unordered_map>

namespace millrace::tracing {

//===-- Arguments of a call -------------------------------------------------===//

bool Call::has(size_t index) const {
  if (index >= args.size() || std::holds_alternative<std::monostate>(args[index]))
    return false;
  const auto *operand = std::get_if<Operand>(&args[index]);
  return !operand || operand->index >= 0;
}

Val Call::val(size_t index) const {
  if (!has(index))
    return e.fail("argument " + std::to_string(index) + " is absent");
  Val made;
  if (const auto *operand = std::get_if<Operand>(&args[index]))
    return operands[operand->index];
  if (const auto *value = std::get_if<double>(&args[index]))
    made = e.constant(*value, {DType::F64, {}});
  else if (const auto *value = std::get_if<int64_t>(&args[index]))
    made = e.constant(*value, {DType::I64, {}});
  else if (const auto *value = std::get_if<bool>(&args[index]))
    made = e.constant(int64_t(*value), {DType::I1, {}});
  else
    return e.fail("argument " + std::to_string(index) + " is neither a tensor nor a number");
  made.isWeak = true;
  return made;
}

std::optional<Val> Call::optional(size_t index) const {
  if (!has(index))
    return std::nullopt;
  return val(index);
}

std::vector<std::optional<Val>> Call::vals(size_t index) const {
  std::vector<std::optional<Val>> result;
  if (const auto *list = index < args.size() ? std::get_if<std::vector<Operand>>(&args[index]) : nullptr)
    for (Operand operand : *list)
      result.push_back(operand.index < 0 ? std::nullopt : std::optional<Val>(operands[operand.index]));
  else
    e.fail("argument " + std::to_string(index) + " is not a list of tensors");
  return result;
}

int64_t Call::integer(size_t index, int64_t otherwise) const {
  if (!has(index))
    return otherwise;
  if (const auto *value = std::get_if<int64_t>(&args[index]))
    return *value;
  if (const auto *value = std::get_if<bool>(&args[index]))
    return *value;
  if (const auto *value = std::get_if<double>(&args[index]))
    if (*value == double(int64_t(*value)))
      return int64_t(*value);
  e.fail("argument " + std::to_string(index) + " is not an integer");
  return otherwise;
}

double Call::real(size_t index, double otherwise) const {
  if (!has(index))
    return otherwise;
  if (const auto *value = std::get_if<double>(&args[index]))
    return *value;
  return double(integer(index));
}

bool Call::flag(size_t index, bool otherwise) const { return integer(index, otherwise) != 0; }

std::string Call::text(size_t index) const {
  const auto *value = index < args.size() ? std::get_if<std::string>(&args[index]) : nullptr;
  return value ? *value : std::string();
}

Ints Call::ints(size_t index) const {
  if (!has(index))
    return {};
  if (const auto *value = std::get_if<Ints>(&args[index]))
    return *value;
  if (const auto *value = std::get_if<int64_t>(&args[index]))
    return {*value};
  if (const auto *value = std::get_if<std::vector<double>>(&args[index]); value && value->empty())
    return {};
  e.fail("argument " + std::to_string(index) + " is not a list of integers");
  return {};
}

const Shape &Call::out(size_t index) const {
  if (index < results.size())
    return results[index];
  e.fail("the types of the results must be given");
  static const Shape nothing{DType::F32, {1}};
  return operands.empty() || operands[0].rank() == 0 ? nothing : operands[0].shape;
}

//===-- The table -----------------------------------------------------------===//

void Registry::add(std::initializer_list<const char *> names, EmitFunction emit, bool numbersAreStatic) {
  for (const char *name : names) {
    std::string full = std::string_view(name).find("::") == std::string_view::npos ? std::string("aten::") + name : name;
    ops.push_back(std::make_unique<Op>(Op{std::move(full), emit, numbersAreStatic}));
  }
}

void registerBarriers(Registry &); // emit/Barriers.cpp
void registerSampling(Registry &); // emit/Sampling.cpp

Registry &Registry::get() {
  static Registry *registry = [] {
    auto *made = new Registry;
    registerElementwise(*made);
    registerReductions(*made);
    registerContractions(*made);
    registerMovement(*made);
    registerIndexing(*made);
    registerNormalization(*made);
    registerPooling(*made);
    registerRandom(*made);
    registerSampling(*made);
    registerFourier(*made);
    registerFactorizations(*made);
    registerMatrixFunctions(*made);
    registerCumulative(*made);
    registerSorting(*made);
    registerSelection(*made);
    registerHistograms(*made);
    registerNumbers(*made);
    registerGamma(*made);
    registerIndexReduce(*made);
    registerBarriers(*made);
    registerShardings(*made);
    registerSpecial(*made);
    registerLosses(*made);
    registerActivations(*made);
    registerResampling(*made);
    registerBatchNormalization(*made);
    registerAttention(*made);
    registerDistances(*made);
    registerEmbeddingBags(*made);
    registerGridSampling(*made);
    registerWindowMaxima(*made);
    registerSegments(*made);
    registerScatter(*made);
    registerTemporalClassification(*made);
    return made;
  }();
  return *registry;
}

const Op *findOp(std::string_view name) {
  static const auto *table = [] {
    auto *made = new std::unordered_map<std::string_view, const Op *>;
    for (const std::unique_ptr<Op> &op : Registry::get().ops)
      made->emplace(op->name, op.get());
    return made;
  }();
  auto found = table->find(name);
  return found == table->end() ? nullptr : found->second;
}

std::vector<std::string> opNames() {
  std::vector<std::string> names;
  for (const std::unique_ptr<Op> &op : Registry::get().ops)
    names.push_back(op->name);
  return names;
}

//===-- Programs ------------------------------------------------------------===//

std::vector<Val> emitNode(Emitter &e, const Op *op, const std::vector<Arg> &args, const std::vector<Val> &operands,
                          const std::vector<Shape> *promised) {
  static const std::vector<Shape> none;
  std::vector<Val> made = op->emit(Call{e, args, operands, promised ? *promised : none});
  if (!promised || e.failed())
    return made;
  for (size_t i = 0; i < promised->size(); ++i) {
    if (i >= made.size())
      e.fail(op->name + " has fewer results than expected");
    else if (made[i] && made[i].shape != (*promised)[i])
      e.fail(op->name + " yields " + made[i].shape.toString() + " as result " + std::to_string(i) + ", expected " +
             (*promised)[i].toString());
  }
  return made;
}

static Val parameterFor(Emitter &e, const Value &value, int64_t donatedTo = -1) {
  Val made = e.parameter(value.shape(), donatedTo);
  made.isWeak = value.node->isWeak;
  return made;
}

static NamedText attributeOf(const Sharding &sharding) {
  if (!sharding.attribute.empty() && !runtime::environment::isOff("CONVERT_SHLO_TO_SHARDY"))
    return {"sdy.sharding", sharding.attribute};
  return {"mhlo.sharding", '"' + sharding.text + '"'};
}

static Val shardedParameter(Emitter &e, const Value &leaf, const Shards &shards, int64_t donatedTo) {
  if (shards.sharding->isReplicated())
    return parameterFor(e, leaf, donatedTo);
  if (shards.line)
    e.at("", {"", shards.file, shards.line});
  Val made = e.parameter(leaf.shape(), donatedTo, attributeOf(*shards.sharding));
  made.isWeak = leaf.node->isWeak;
  return made;
}

ShardingPtr annotationOf(const Node *node, uint32_t index) {
  static const Op *const sharding = findOp("millrace::sharding");
  if (node->op != sharding || index != 0 || std::get<std::string>(node->args[1]) == "{manual}")
    return nullptr;
  return knownSharding(std::get<std::string>(node->args[1]), std::get<std::string>(node->args[2]));
}

/// Returns true if the body of a loop or branch, or an embedded program, is for several devices. Their identity contains the text; it is searched
/// once.
static bool hasSeveralDevicesInside(const Op *op) {
  if (op->identity.empty())
    return false;
  static std::mutex mutex;
  static auto *known = new std::unordered_map<const Op *, bool>; // such operations are never freed
  std::lock_guard lock(mutex);
  auto [found, isNew] = known->try_emplace(op);
  if (isNew)
    found->second = op->identity.find("use_global_device_ids") != std::string::npos;
  return found->second;
}

bool isForSeveralDevices(const Schedule &schedule) {
  static const std::unordered_set<const Op *> marks{findOp("millrace::sharding"), findOp("millrace::full_to_shard"),
                                                    findOp("millrace::shard_to_full")};
  for (const Value &leaf : schedule.leaves)
    if (const Shards *shards = shardsOf(leaf); shards && !shards->sharding->isReplicated())
      return true;
  for (const Node *node : schedule.nodes)
    if (marks.count(node->op) || hasSeveralDevicesInside(node->op))
      return true;
  return false;
}

runtime::Status check(const Op *op, const std::vector<Value> &operands, const std::vector<Arg> &args,
                      const std::vector<Shape> &results) {
  Emitter e;
  std::vector<Val> values;
  for (const Value &operand : operands)
    values.push_back(parameterFor(e, operand));
  std::vector<Val> made = emitNode(e, op, args, values, &results);
  made.resize(results.size());
  return e.finish(made).status();
}

runtime::StatusOr<std::vector<Shape>> infer(const Op *op, const std::vector<Value> &operands,
                                            const std::vector<Arg> &args) {
  Emitter e;
  std::vector<Val> values;
  for (const Value &operand : operands)
    values.push_back(parameterFor(e, operand));
  std::vector<Val> made = emitNode(e, op, args, values, nullptr);
  if (runtime::Status status = e.finish(made).status(); !status.ok())
    return status;
  std::vector<Shape> shapes;
  for (const Val &val : made)
    shapes.push_back(val.shape);
  return shapes;
}

runtime::Status emitNodes(Emitter &e, const Schedule &schedule, Emitted &values) {
  for (Node *node : schedule.nodes) {
    std::vector<Val> operands;
    for (const Value &operand : node->operands)
      operands.push_back(values.at(operand.node.get())[operand.index]);
    if (node->origin) // nodes in bodies of composites and loops have no origin; they get that of the operation
      e.at(scopedName(*node), placeOf(node->origin));
    values[node] = emitNode(e, node->op, node->args, operands, &node->results);
    for (Val &value : values[node])
      value = roundToStored(e, value);
    if (e.failed()) {
      std::string place = placeOf(node->origin).toString();
      return e.error().withContext(node->op->name + (place.empty() ? "" : " (" + place + ")"));
    }
  }
  return {};
}

/// Emits the numbers of a schedule as elements of two parameters.
static void emitPackedNumbers(Emitter &e, const Schedule &schedule, Emitted &values) {
  std::vector<const Node *> numbers[2];
  for (const Value &leaf : schedule.leaves)
    if (leaf.node->isNumber())
      numbers[leaf.shape().dtype == DType::F64 ? 0 : 1].push_back(leaf.node.get());
  for (int i = 0; i < 2; ++i) {
    if (numbers[i].empty())
      continue;
    Val packed = e.parameter({i ? DType::I64 : DType::F64, {int64_t(numbers[i].size())}});
    for (size_t k = 0; k < numbers[i].size(); ++k) {
      const Node *node = numbers[i][k];
      Val element = e.reshape(e.sliceDim(packed, 0, int64_t(k), int64_t(k) + 1), {});
      element = e.convert(element, node->results[0].dtype);
      element.isWeak = node->isWeak;
      values[node] = {element};
    }
  }
}

/// Emits the function without its end and returns the values that it returns.
static runtime::StatusOr<std::vector<Val>> emitAll(Emitter &e, const Schedule &schedule, const std::vector<Value> &roots,
                                                   const ProgramOptions &options) {
  Emitted values;
  for (size_t i = 0; i < schedule.leaves.size(); ++i) {
    const Value &leaf = schedule.leaves[i];
    if (options.packNumbers && leaf.node->isNumber())
      continue;
    std::vector<Val> &made = values[leaf.node.get()];
    made.resize(leaf.node->results.size());
    int64_t donatedTo = options.donations.empty() ? -1 : options.donations[i];
    const Shards *shards = options.partitions > 1 ? shardsOf(leaf) : nullptr;
    e.at("", {}); // clears the previous operation's line
    if (shards)
      made[leaf.index] = shardedParameter(e, leaf, *shards, donatedTo);
    else
      made[leaf.index] = leaf.node->isNumber() ? parameterFor(e, leaf) : storedParameter(e, leaf, donatedTo);
  }
  if (options.packNumbers)
    emitPackedNumbers(e, schedule, values);
  MILLRACE_TRY(emitNodes(e, schedule, values));
  std::vector<Val> results;
  for (const Value &root : roots) {
    results.push_back(toStored(e, values.at(root.node.get())[root.index]));
    ShardingPtr wanted = options.partitions > 1 ? annotationOf(root.node.get(), root.index) : nullptr;
    if (wanted)
      e.resultSharding(results.size() - 1, attributeOf(*wanted));
  }
  if (options.partitions > 1)
    e.partitions(options.partitions);
  e.replicas(options.replicas);
  return results;
}

runtime::StatusOr<std::string> emitProgram(const Schedule &schedule, const std::vector<Value> &roots,
                                           const ProgramOptions &options) {
  Emitter e;
  runtime::StatusOr<std::vector<Val>> results = emitAll(e, schedule, roots, options);
  if (!results)
    return results.status();
  return e.finish(*results, options.withPlaces);
}

runtime::StatusOr<TracedModule> emitModule(const Schedule &schedule, const std::vector<Value> &roots, const ProgramOptions &options) {
  // The approximate number of bytes of an operation as text: a line of benchmarks/model/*.mlir has 90 to 110 bytes, and a node is one operation or
  // more.
  constexpr size_t bytesPerNode = 200;
  TracedModule made(bytesPerNode * (schedule.nodes.size() + schedule.leaves.size()));
  Emitter e(made);
  runtime::StatusOr<std::vector<Val>> results = emitAll(e, schedule, roots, options);
  if (!results)
    return results.status();
  MILLRACE_TRY(e.finishModule(*results));
  return made;
}

} // namespace millrace::tracing
