// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramHlo.cpp - A program as XProf's graph and memory viewer read it ===//
#include "runtime/profile/ProgramHlo.h"
#include "runtime/base/Proto.h"
#include "runtime/profile/ProgramInfo.h"

#include <algorithm>
#include <map>
#include <set>

namespace millrace::runtime::profile {
namespace {

/// Fact: TUPLE of XLA's enum PrimitiveType.
constexpr uint32_t kTupleType = 13;

/// The numbers of that enum.
constexpr uint32_t primitiveType(DType type) {
  switch (type) {
  case DType::I1:
    return 1;
  case DType::I2:
    return 26;
  case DType::I4:
    return 21;
  case DType::I8:
    return 2;
  case DType::I16:
    return 3;
  case DType::I32:
    return 4;
  case DType::I64:
    return 5;
  case DType::U2:
    return 27;
  case DType::U4:
    return 22;
  case DType::U8:
    return 6;
  case DType::U16:
    return 7;
  case DType::U32:
    return 8;
  case DType::U64:
    return 9;
  case DType::F4E2M1FN:
    return 32;
  case DType::F6E2M3FN:
    return 36;
  case DType::F6E3M2FN:
    return 35;
  case DType::F8E3M4:
    return 29;
  case DType::F8E4M3:
    return 28;
  case DType::F8E4M3FN:
    return 20;
  case DType::F8E4M3FNUZ:
    return 25;
  case DType::F8E4M3B11FNUZ:
    return 23;
  case DType::F8E5M2:
    return 19;
  case DType::F8E5M2FNUZ:
    return 24;
  case DType::F8E8M0FNU:
    return 33;
  case DType::BF16:
    return 16;
  case DType::F16:
    return 10;
  case DType::F32:
    return 11;
  case DType::F64:
    return 12;
  case DType::C64:
    return 15;
  case DType::C128:
    return 18;
  case DType::Token:
    return 17;
  case DType::Invalid:
    return 0;
  }
  return 0;
}

std::string shapeOf(const Slot &slot) {
  std::string out, layout;
  std::vector<int64_t> sizes, order;
  for (const Dim &dim : slot.dims)
    sizes.push_back(dim.value);
  for (size_t d = sizes.size(); d-- > 0;)
    order.push_back(int64_t(d));
  proto::putNumber(out, 2, primitiveType(slot.dtype));
  proto::putPacked(out, 3, sizes);
  proto::putPacked(layout, 1, order);
  proto::putBytes(out, 5, layout);
  return out;
}

std::string tupleOf(const std::vector<std::string> &shapes) {
  std::string out;
  proto::putNumber(out, 2, kTupleType);
  for (const std::string &shape : shapes)
    proto::putBytes(out, 4, shape);
  return out;
}

/// "model.py", 12 of "model.py:12:3".
std::pair<std::string, uint64_t> fileAndLine(std::string_view place) {
  const size_t colon = place.rfind(':');
  uint64_t line = 0;
  if (colon == std::string_view::npos)
    return {std::string(place), 0};
  for (char c : place.substr(colon + 1))
    if (c >= '0' && c <= '9')
      line = line * 10 + uint64_t(c - '0');
    else
      return {std::string(place), 0};
  return {std::string(place.substr(0, colon)), line};
}

struct Value {
  uint64_t id = 0; ///< of the instruction; 0: none
  std::string name, shape;
};

/// One instruction under construction.
struct Instruction {
  std::string opcode, shape = {}, operations = {}, target = {};
  std::vector<uint64_t> operands = {}, called = {};
  uint32_t location = kNone;
};

class ProgramWriter {
public:
  explicit ProgramWriter(const Program &program) : program(program) {
    for (const auto &[key, value] : program.metadata)
      if (key.starts_with("emitter "))
        emitters.emplace(std::string_view(key).substr(8), value);
  }
  std::string run();

private:
  struct Computation {
    std::string name;
    std::string instructions = {};
    std::map<SlotId, Value> values = {}; ///< what is in the memory of a slot now
    std::vector<std::string> parameterShapes = {}, parameterNames = {};
    Value root = {};
  };

  /// Reads and writes of one step of the entry function, in the order of execution: what memory lives when.
  struct Access {
    std::string instruction;
    uint64_t id;
    std::vector<SlotId> reads, writes;
  };

  static SlotId memoryOf(const Function &function, SlotId id) { return function.slots[id].kind == Slot::Kind::View ? function.slots[id].index : id; }

  Value add(Computation &to, const std::string &name, const Instruction &made, std::string fields = "");
  Value read(Computation &to, const Function &function, SlotId id);
  std::vector<uint64_t> readAll(Computation &to, const Function &function, const std::vector<SlotId> &slots);
  void write(Computation &to, const Function &function, const std::vector<SlotId> &slots, const Value &value);
  Value parameter(Computation &to, const std::string &name, const std::string &shape);
  std::vector<Value> unpacked(Computation &to, const Value &tuple, const std::vector<std::string> &shapes);
  void setRoot(Computation &to, const Function &function, const std::vector<SlotId> &slots);
  uint64_t finish(Computation &computation);

  void steps(Computation &to, const Function &function, const Steps &all);
  void kernel(Computation &to, const Function &function, const KernelStep &step, uint32_t location);
  void loop(Computation &to, const Function &function, const LoopStep &step, uint32_t location);
  void branches(Computation &to, const Function &function, const CondStep &step, uint32_t location);
  uint64_t function(uint32_t index);
  void plain(Computation &to, const Function &function, const Step &step);
  void note(const Value &value, const Function &function, const std::vector<SlotId> &reads, const std::vector<SlotId> &writes);
  std::string bufferAssignment(const Function &entry) const;

  const Program &program;
  std::map<std::string_view, std::string_view> emitters;
  std::map<std::string, unsigned> names;
  std::map<uint32_t, uint64_t> functions; ///< index -> id of its computation
  std::string computations;
  uint64_t numInstructions = 0, numComputations = 0;
  std::vector<Access> accesses;
  std::map<SlotId, Value> sources; ///< of the entry function: arguments, constants, and memory that no step has written
  std::vector<Value> arguments;    ///< of the entry function
};

/// All memory that steps read or write, those inside of them included.
struct SlotsOf {
  std::set<SlotId> reads, writes;

  SlotsOf(const Function &function, const Steps &all) : function(function) { add(all); }

private:
  void addTo(std::set<SlotId> &set, SlotId id) { set.insert(function.slots[id].kind == Slot::Kind::View ? function.slots[id].index : id); }
  void addTo(std::set<SlotId> &set, const std::vector<SlotId> &ids) {
    for (SlotId id : ids)
      addTo(set, id);
  }
  void add(const Steps &all) {
    for (const Step &step : all)
      std::visit([&](const auto &body) { add(body); }, step.body);
  }
  void add(const KernelStep &step) { addTo(reads, step.inputs), addTo(writes, step.outputs); }
  void add(const LoopStep &step) {
    add(step.cond), add(step.body), addTo(reads, step.predicate);
    for (const auto &carried : step.carried)
      addTo(reads, carried.state), addTo(reads, carried.next), addTo(writes, carried.state);
  }
  void add(const CondStep &step) {
    addTo(reads, step.index);
    for (const Steps &branch : step.branches)
      add(branch);
  }
  void add(const CallStep &step) { addTo(reads, step.arguments), addTo(writes, step.results); }
  void add(const CopyStep &step) { addTo(reads, step.source), addTo(writes, step.destination); }
  void add(const FillStep &step) { addTo(writes, step.destination); }
  void add(const SetDimsStep &) {}
  void add(const CollectiveStep &step) { addTo(reads, step.arguments), addTo(writes, step.results); }
  void add(const CustomCallStep &step) { addTo(reads, step.arguments), addTo(writes, step.results); }
  void add(const DeviceIdStep &step) { addTo(writes, step.destination); }
  void add(const TransferStep &step) {
    const bool isRead = step.kind == TransferStep::Kind::Outfeed || step.kind == TransferStep::Kind::Send;
    addTo(isRead ? reads : writes, step.slots);
  }
  const Function &function;
};

Value ProgramWriter::add(Computation &to, const std::string &wanted, const Instruction &made, std::string fields) {
  const unsigned number = names[wanted]++;
  Value value{++numInstructions, number ? wanted + "." + std::to_string(number) : wanted, made.shape};
  std::string out, metadata;
  proto::putText(out, 1, value.name);
  proto::putText(out, 2, made.opcode);
  proto::putBytes(out, 3, made.shape);
  proto::putText(metadata, 2, made.operations);
  if (std::string_view place = locationOf(program, made.location); !place.empty()) {
    auto [file, line] = fileAndLine(place);
    if (auto [shorter, row] = fileAndLine(file); row) // "model.py:12:3"
      std::tie(file, line) = std::pair(shorter, row);
    proto::putText(metadata, 3, file);
    proto::putNumber(metadata, 4, line);
  }
  if (!metadata.empty())
    proto::putBytes(out, 7, metadata);
  proto::putText(out, 28, made.target);
  proto::putNumber(out, 35, value.id);
  proto::putPacked(out, 36, made.operands);
  proto::putPacked(out, 38, made.called);
  if (made.opcode == "custom-call")
    proto::putNumber(out, 77, 1);
  out += fields;
  proto::putBytes(to.instructions, 2, out);
  return value;
}

Value ProgramWriter::read(Computation &to, const Function &function, SlotId id) {
  const SlotId memory = memoryOf(function, id);
  Value &known = to.values[memory];
  if (known.id)
    return known;
  const Slot &slot = function.slots[memory];
  Instruction made{.opcode = "constant", .shape = shapeOf(slot)};
  if (slot.kind != Slot::Kind::Constant) { // nothing has been written there: its step fills all that it reads
    made.opcode = "custom-call";
    made.target = "memory";
  }
  const Value value = add(to, slot.kind == Slot::Kind::Constant ? "constant" : "memory", made);
  if (&function == &program.functions[program.entry])
    sources.try_emplace(memory, value);
  return to.values[memory] = value;
}

std::vector<uint64_t> ProgramWriter::readAll(Computation &to, const Function &function, const std::vector<SlotId> &slots) {
  std::vector<uint64_t> ids;
  for (SlotId id : slots)
    ids.push_back(read(to, function, id).id);
  return ids;
}

std::vector<Value> ProgramWriter::unpacked(Computation &to, const Value &tuple, const std::vector<std::string> &shapes) {
  std::vector<Value> values;
  for (size_t i = 0; i < shapes.size(); ++i) {
    std::string index;
    proto::putNumber(index, 13, i);
    values.push_back(add(to, "get-tuple-element", {.opcode = "get-tuple-element", .shape = shapes[i], .operands = {tuple.id}}, index));
  }
  return values;
}

void ProgramWriter::write(Computation &to, const Function &function, const std::vector<SlotId> &slots, const Value &value) {
  if (slots.size() == 1) {
    to.values[memoryOf(function, slots[0])] = value;
    return;
  }
  std::vector<std::string> shapes;
  for (SlotId id : slots)
    shapes.push_back(shapeOf(function.slots[id]));
  const std::vector<Value> parts = unpacked(to, value, shapes);
  for (size_t i = 0; i < slots.size(); ++i)
    to.values[memoryOf(function, slots[i])] = parts[i];
}

Value ProgramWriter::parameter(Computation &to, const std::string &name, const std::string &shape) {
  std::string number;
  proto::putNumber(number, 9, to.parameterShapes.size());
  const Value value = add(to, name, {.opcode = "parameter", .shape = shape}, number);
  to.parameterShapes.push_back(shape);
  to.parameterNames.push_back(value.name);
  return value;
}

void ProgramWriter::setRoot(Computation &to, const Function &function, const std::vector<SlotId> &slots) {
  Instruction made{.opcode = "tuple"};
  std::vector<std::string> shapes;
  for (SlotId id : slots) {
    const Value value = read(to, function, id);
    made.operands.push_back(value.id);
    shapes.push_back(value.shape);
  }
  made.shape = tupleOf(shapes);
  to.root = add(to, "tuple", made);
}

uint64_t ProgramWriter::finish(Computation &computation) {
  std::string out, shape;
  for (const std::string &each : computation.parameterShapes)
    proto::putBytes(shape, 1, each);
  proto::putBytes(shape, 2, computation.root.shape);
  for (const std::string &each : computation.parameterNames)
    proto::putBytes(shape, 3, each);
  proto::putText(out, 1, computation.name);
  out += computation.instructions;
  proto::putBytes(out, 4, shape);
  proto::putNumber(out, 5, ++numComputations);
  proto::putNumber(out, 6, computation.root.id);
  proto::putBytes(computations, 3, out);
  return numComputations;
}

void ProgramWriter::note(const Value &value, const Function &function, const std::vector<SlotId> &reads, const std::vector<SlotId> &writes) {
  if (&function == &program.functions[program.entry])
    accesses.push_back({value.name, value.id, reads, writes});
}

void ProgramWriter::kernel(Computation &to, const Function &function, const KernelStep &step, uint32_t location) {
  const Kernel &code = program.kernels[step.kernel];
  auto emitter = emitters.find(code.symbol);
  Instruction made{.opcode = "custom-call",
                   .target = emitter == emitters.end() ? "generic" : std::string(emitter->second),
                   .operands = readAll(to, function, step.inputs),
                   .location = location};
  for (size_t i = 0; i < code.ops.size(); ++i)
    made.operations += (i ? ", " : "") + code.ops[i];
  std::vector<std::string> shapes;
  for (SlotId id : step.outputs)
    shapes.push_back(shapeOf(function.slots[id]));
  made.shape = shapes.size() == 1 ? shapes[0] : tupleOf(shapes);
  const Value value = add(to, code.name.empty() ? code.symbol : code.name, made);
  write(to, function, step.outputs, value);
  note(value, function, step.inputs, step.outputs);
}

void ProgramWriter::loop(Computation &to, const Function &function, const LoopStep &step, uint32_t location) {
  SlotsOf inside(function, step.body), tested(function, step.cond);
  std::set<SlotId> all{memoryOf(function, step.predicate)};
  for (const auto *slots : {&inside.reads, &inside.writes, &tested.reads, &tested.writes})
    all.insert(slots->begin(), slots->end());
  std::vector<SlotId> state;
  std::map<SlotId, SlotId> next;
  for (const auto &carried : step.carried) {
    state.push_back(memoryOf(function, carried.state));
    next[state.back()] = carried.next;
  }
  for (SlotId id : all) // what the loop reads from outside goes through it unchanged
    if (!next.contains(id) && to.values.contains(id) && to.values.at(id).id)
      state.push_back(id);
  std::vector<std::string> shapes;
  Instruction made{.opcode = "while", .location = location};
  Instruction packed{.opcode = "tuple"};
  for (SlotId id : state) {
    const Value value = read(to, function, id);
    packed.operands.push_back(value.id);
    shapes.push_back(value.shape);
  }
  packed.shape = made.shape = tupleOf(shapes);
  made.operands = {add(to, "tuple", packed).id};
  auto enter = [&](Computation &computation) {
    const std::vector<Value> parts = unpacked(computation, parameter(computation, "state", made.shape), shapes);
    for (size_t i = 0; i < state.size(); ++i)
      computation.values[state[i]] = parts[i];
  };
  const std::string number = std::to_string(numComputations);
  Computation body{.name = "while_body." + number};
  enter(body);
  steps(body, function, step.body);
  std::vector<SlotId> results;
  for (SlotId id : state)
    results.push_back(next.contains(id) ? next[id] : id);
  setRoot(body, function, results);
  Computation test{.name = "while_condition." + number};
  enter(test);
  steps(test, function, step.cond);
  test.root = read(test, function, step.predicate);
  made.called = {finish(body), finish(test)};
  const Value value = add(to, "while", made);
  const std::vector<Value> parts = unpacked(to, value, shapes);
  for (size_t i = 0; i < state.size(); ++i)
    to.values[state[i]] = parts[i];
  note(value, function, state, state);
}

void ProgramWriter::branches(Computation &to, const Function &function, const CondStep &step, uint32_t location) {
  Instruction made{.opcode = "conditional", .operands = {read(to, function, step.index).id}, .location = location};
  std::vector<SlotsOf> inside;
  for (const Steps &branch : step.branches)
    inside.emplace_back(function, branch);
  std::vector<SlotId> written;
  if (!inside.empty())
    for (SlotId id : inside[0].writes)
      if (std::all_of(inside.begin(), inside.end(), [&](const SlotsOf &slots) { return slots.writes.contains(id); }))
        written.push_back(id);
  std::vector<std::string> results;
  std::vector<SlotId> reads;
  for (SlotId id : written)
    results.push_back(shapeOf(function.slots[id]));
  for (size_t b = 0; b < step.branches.size(); ++b) {
    Instruction packed{.opcode = "tuple"};
    std::vector<SlotId> outside;
    std::vector<std::string> shapes;
    for (SlotId id : inside[b].reads)
      if (auto known = to.values.find(id); known != to.values.end() && known->second.id) {
        outside.push_back(id);
        packed.operands.push_back(known->second.id);
        shapes.push_back(known->second.shape);
      }
    packed.shape = tupleOf(shapes);
    made.operands.push_back(add(to, "tuple", packed).id);
    Computation branch{.name = "branch." + std::to_string(numComputations)};
    const std::vector<Value> parts = unpacked(branch, parameter(branch, "operands", packed.shape), shapes);
    for (size_t i = 0; i < outside.size(); ++i)
      branch.values[outside[i]] = parts[i];
    steps(branch, function, step.branches[b]);
    setRoot(branch, function, written);
    made.called.push_back(finish(branch));
    reads.insert(reads.end(), outside.begin(), outside.end());
  }
  made.shape = tupleOf(results);
  const Value value = add(to, "conditional", made);
  const std::vector<Value> parts = unpacked(to, value, results);
  for (size_t i = 0; i < written.size(); ++i)
    to.values[written[i]] = parts[i];
  note(value, function, reads, written);
}

/// The computation of a function that is called, written once.
uint64_t ProgramWriter::function(uint32_t index) {
  if (auto known = functions.find(index); known != functions.end())
    return known->second;
  const Function &callee = program.functions[index];
  Computation made{.name = callee.name.empty() ? "function." + std::to_string(index) : callee.name};
  for (size_t i = 0; i < callee.arguments.size(); ++i)
    made.values[callee.arguments[i]] = parameter(made, "argument", shapeOf(callee.slots[callee.arguments[i]]));
  steps(made, callee, callee.steps);
  setRoot(made, callee, callee.results);
  return functions[index] = finish(made);
}

/// Steps that are one instruction without computations of their own.
void ProgramWriter::plain(Computation &to, const Function &function, const Step &step) {
  std::vector<SlotId> reads, writes;
  Instruction made{.opcode = "custom-call", .location = step.location};
  if (auto *call = std::get_if<CallStep>(&step.body)) {
    reads = call->arguments, writes = call->results;
    made.opcode = "call";
    made.called = {this->function(call->function)};
  } else if (auto *copy = std::get_if<CopyStep>(&step.body)) {
    reads = {copy->source}, writes = {copy->destination};
  } else if (auto *fill = std::get_if<FillStep>(&step.body)) {
    writes = {fill->destination};
  } else if (auto *device = std::get_if<DeviceIdStep>(&step.body)) {
    writes = {device->destination};
  } else if (auto *collective = std::get_if<CollectiveStep>(&step.body)) {
    reads = collective->arguments;
    if (collective->phase != CollectiveStep::Phase::Start)
      writes = collective->results;
  } else if (auto *custom = std::get_if<CustomCallStep>(&step.body)) {
    reads = custom->arguments, writes = custom->results;
  } else if (auto *transfer = std::get_if<TransferStep>(&step.body)) {
    const bool isRead = transfer->kind == TransferStep::Kind::Outfeed || transfer->kind == TransferStep::Kind::Send;
    (isRead ? reads : writes) = transfer->slots;
  }
  const std::string name = stepName(step);
  if (made.called.empty())
    made.target = name;
  made.operands = readAll(to, function, reads);
  std::vector<std::string> shapes;
  for (SlotId id : writes)
    shapes.push_back(shapeOf(function.slots[id]));
  const bool isOne = shapes.size() == 1 && made.called.empty(); // a function's root is a tuple
  made.shape = isOne ? shapes[0] : tupleOf(shapes);
  const Value value = add(to, name, made);
  if (isOne || writes.size() != 1)
    write(to, function, writes, value);
  else
    to.values[memoryOf(function, writes[0])] = unpacked(to, value, shapes)[0];
  note(value, function, reads, writes);
}

void ProgramWriter::steps(Computation &to, const Function &function, const Steps &all) {
  for (const Step &step : all) {
    if (auto *code = std::get_if<KernelStep>(&step.body))
      kernel(to, function, *code, step.location);
    else if (auto *body = std::get_if<LoopStep>(&step.body))
      loop(to, function, *body, step.location);
    else if (auto *cond = std::get_if<CondStep>(&step.body))
      branches(to, function, *cond, step.location);
    else if (!std::holds_alternative<SetDimsStep>(step.body))
      plain(to, function, step);
  }
}

/// BufferAssignmentProto: an allocation per argument, result and constant, and one for the arena, whose values come and go.
std::string ProgramWriter::bufferAssignment(const Function &entry) const {
  struct Life {
    size_t first = 0, last = 0;
    std::string instruction;
    uint64_t id = 0;
  };
  std::map<SlotId, Life> lives; // of the arena
  std::map<SlotId, std::pair<std::string, uint64_t>> writers;
  for (size_t i = 0; i < accesses.size(); ++i) {
    for (const auto *slots : {&accesses[i].reads, &accesses[i].writes})
      for (SlotId read : *slots) {
        const SlotId id = memoryOf(entry, read);
        if (slots == &accesses[i].writes)
          writers.try_emplace(id, accesses[i].instruction, accesses[i].id);
        if (entry.slots[id].kind != Slot::Kind::Arena)
          continue;
        auto [life, isNew] = lives.try_emplace(id, Life{i, i, accesses[i].instruction, accesses[i].id});
        life->second.last = i;
      }
  }
  std::string out, trace;
  uint64_t numAllocations = 0;
  auto logical = [&](SlotId id, const std::string &instruction, uint64_t instructionId) {
    std::string buffer, place;
    proto::putText(place, 2, instruction);
    proto::putNumber(place, 4, instructionId);
    proto::putNumber(buffer, 1, id + 1);
    proto::putNumber(buffer, 2, entry.slots[id].bytes);
    proto::putBytes(buffer, 3, place);
    proto::putBytes(out, 1, buffer);
  };
  auto assigned = [&](std::string &allocation, SlotId id, uint64_t offset) {
    std::string each;
    proto::putNumber(each, 1, id + 1);
    proto::putNumber(each, 2, offset);
    proto::putNumber(each, 3, entry.slots[id].bytes);
    proto::putBytes(allocation, 9, each);
  };
  for (SlotId id = 0; id < entry.slots.size(); ++id) {
    const Slot &slot = entry.slots[id];
    const bool isArgument = slot.kind == Slot::Kind::Argument, isResult = slot.kind == Slot::Kind::Result,
               isConstant = slot.kind == Slot::Kind::Constant;
    if (!isArgument && !isResult && !isConstant)
      continue;
    if (isResult && program.results[slot.index].aliasArgument != kNone) // in the memory of its argument
      continue;
    std::string allocation;
    proto::putNumber(allocation, 1, numAllocations++);
    proto::putNumber(allocation, 2, slot.bytes);
    proto::putNumber(allocation, 5, isArgument);
    proto::putNumber(allocation, 12, isConstant);
    proto::putNumber(allocation, 6, isArgument ? slot.index : 0);
    proto::putNumber(allocation, 7, isResult);
    if (isArgument)
      proto::putNumber(allocation, 13,
                       std::any_of(program.results.begin(), program.results.end(), [&](const Result &r) { return r.aliasArgument == slot.index; }));
    auto writer = writers.find(id);
    auto source = sources.find(id);
    if (writer != writers.end())
      logical(id, writer->second.first, writer->second.second);
    else if (source != sources.end())
      logical(id, source->second.name, source->second.id);
    if (writer != writers.end() || source != sources.end()) // else the memory of a constant that no step reads
      assigned(allocation, id, 0);
    proto::putBytes(out, 3, allocation);
  }
  if (!entry.arenaBytes)
    return out;
  std::string allocation;
  proto::putNumber(allocation, 1, numAllocations);
  proto::putNumber(allocation, 2, entry.arenaBytes);
  for (const auto &[id, life] : lives) {
    logical(id, life.instruction, life.id);
    assigned(allocation, id, entry.slots[id].offset);
  }
  proto::putBytes(out, 3, allocation);
  auto event = [&](bool isFree, SlotId id, const std::string &instruction) {
    std::string each;
    proto::putNumber(each, 1, isFree);
    proto::putNumber(each, 2, id + 1);
    proto::putText(each, 3, "main");
    proto::putText(each, 4, instruction);
    proto::putBytes(trace, 1, each);
  };
  for (size_t i = 0; i < accesses.size(); ++i) {
    for (const auto &[id, life] : lives)
      if (life.first == i)
        event(false, id, accesses[i].instruction);
    for (const auto &[id, life] : lives)
      if (life.last == i)
        event(true, id, accesses[i].instruction);
  }
  proto::putNumber(trace, 2, 1);
  proto::putNumber(trace, 3, numAllocations);
  proto::putBytes(out, 4, trace);
  return out;
}

std::string ProgramWriter::run() {
  const Function &entry = program.functions[program.entry];
  Computation main{.name = "main"};
  for (size_t i = 0; i < entry.arguments.size(); ++i) {
    // What the preparation makes are further arguments, which no caller passes.
    const std::string name = i < program.arguments.size() ? program.arguments[i].name : "prepared";
    arguments.push_back(parameter(main, name.empty() ? "argument" : name, shapeOf(entry.slots[entry.arguments[i]])));
    main.values[entry.arguments[i]] = sources[entry.arguments[i]] = arguments.back();
  }
  for (size_t i = 0; i < entry.results.size(); ++i)
    if (const uint32_t argument = program.results[i].aliasArgument; argument < arguments.size())
      main.values[entry.results[i]] = arguments[argument];
  steps(main, entry, entry.steps);
  setRoot(main, entry, entry.results);
  std::string shape;
  for (const std::string &each : main.parameterShapes)
    proto::putBytes(shape, 1, each);
  proto::putBytes(shape, 2, main.root.shape);
  for (const std::string &each : main.parameterNames)
    proto::putBytes(shape, 3, each);
  const uint64_t id = finish(main);
  std::string module, out;
  proto::putText(module, 1, program.name.empty() ? "main" : program.name);
  proto::putText(module, 2, "main");
  module += computations;
  proto::putBytes(module, 4, shape);
  proto::putNumber(module, 5, id);
  proto::putNumber(module, 6, id);
  proto::putBytes(out, 1, module);
  proto::putBytes(out, 3, bufferAssignment(entry));
  return out;
}

} // namespace

std::string hloProto(const Program &program) {
  for (const Function &function : program.functions)
    for (const Slot &slot : function.slots)
      if (!slot.isStatic())
        return "";
  return ProgramWriter(program).run();
}

} // namespace millrace::runtime::profile
