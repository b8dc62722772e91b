// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HloProto.cpp - A module of HLO text as HloModuleProto --------------===//
#include "lowering/hlo/HloProto.h"

#include "lowering/hlo/ProtoAttributes.h"
#include "lowering/hlo/ProtoScanner.h"
#include "lowering/hlo/ProtoValues.h"
#include "runtime/base/Proto.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <map>

using namespace llvm;

namespace millrace::hlo {
namespace {

namespace proto = runtime::proto;
using runtime::Status;
using runtime::StatusOr;

/// `ROOT %name = shape opcode(operands), attributes`, cut at these places.
struct Instruction {
  StringRef name, shape, opcode, operands, attributes;
  bool isRoot = false;
};

std::optional<Instruction> instructionOf(StringRef line) {
  Instruction made;
  line = line.trim();
  made.isRoot = line.consume_front("ROOT ");
  const size_t equals = line.find(" = ");
  if (equals == StringRef::npos)
    return std::nullopt;
  made.name = plainName(line.take_front(equals));
  line = line.drop_front(equals + 3);
  size_t end = 0;
  while (end < line.size() && line[end] != ' ') {
    if (StringRef("([{").contains(line[end]))
      end = closingBracket(line, end);
    if (end == StringRef::npos)
      return std::nullopt;
    ++end;
  }
  made.shape = line.take_front(end);
  line = line.drop_front(end).ltrim();
  const size_t open = line.find('('), close = open == StringRef::npos ? open : closingBracket(line, open);
  if (close == StringRef::npos)
    return std::nullopt;
  made.opcode = line.take_front(open);
  made.operands = line.slice(open + 1, close);
  made.attributes = line.drop_front(close + 1);
  made.attributes.consume_front(",");
  return made;
}

struct ComputationText {
  StringRef name;
  bool isEntry = false;
  std::vector<Instruction> instructions;
};

class ModuleWriter {
public:
  Status read(StringRef text);
  StatusOr<std::string> write(StringRef name);

private:
  Status writeInstruction(const Instruction &instruction, const StringMap<int64_t> &ids, std::string &out);
  Status writeComputation(const ComputationText &computation, std::string &out);
  StatusOr<std::string> programShape(const ComputationText &computation);
  Status writeHeader(const ComputationText &entry, std::string &out);

  StringRef header; ///< of the module, behind its name
  StringRef moduleName;
  std::vector<ComputationText> computations;
  StringMap<int64_t> computationIds; ///< from 1
  int64_t numInstructions = 0;       ///< written so far; ids count through the module
};

Status ModuleWriter::read(StringRef text) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    if (line.consume_front("HloModule ")) {
      std::tie(moduleName, header) = line.split(',');
    } else if (line.ends_with(" {") && !line.starts_with(" ")) {
      ComputationText made;
      made.isEntry = line.consume_front("ENTRY ");
      made.name = plainName(line.take_until([](char c) { return c == ' '; }));
      computations.push_back(std::move(made));
      computationIds[computations.back().name] = int64_t(computations.size());
    } else if (line.starts_with(" ") && !computations.empty() && !line.trim().empty()) {
      std::optional<Instruction> instruction = instructionOf(line);
      if (!instruction)
        return runtime::invalidArgument(("expects an instruction of HLO, but got '" + line.trim().take_front(200) + "'").str());
      computations.back().instructions.push_back(*instruction);
    }
  }
  const size_t entries = size_t(llvm::count_if(computations, [](const auto &each) { return each.isEntry; }));
  if (entries != 1)
    return runtime::invalidArgument("expects one ENTRY computation, but got " + std::to_string(entries));
  for (const ComputationText &each : computations)
    if (each.instructions.empty())
      return runtime::invalidArgument(("expects instructions in computation " + each.name).str());
  return {};
}

Status ModuleWriter::writeInstruction(const Instruction &instruction, const StringMap<int64_t> &ids, std::string &out) {
  StatusOr<std::string> shape = shapeProto(instruction.shape);
  if (!shape)
    return shape.status();
  proto::putText(out, 1, instruction.name);
  proto::putText(out, 2, instruction.opcode);
  proto::putBytes(out, 3, *shape);
  proto::putNumber(out, 35, uint64_t(ids.lookup(instruction.name)));
  if (instruction.opcode == "parameter") {
    for (int64_t number : integers(instruction.operands))
      proto::putKnownNumber(out, 9, uint64_t(number));
  } else if (instruction.opcode == "constant") {
    StatusOr<std::string> literal = literalProto(instruction.operands, instruction.shape);
    if (!literal)
      return literal.status();
    proto::putBytes(out, 8, *literal);
  } else {
    SmallVector<int64_t> operands;
    for (StringRef operand : splitOutside(instruction.operands)) {
      auto found = ids.find(plainName(operand.drop_front(operand.rfind(' ') + 1)));
      if (found == ids.end())
        return runtime::invalidArgument(("expects the operands of " + instruction.name + " in its computation, but not '" + operand + "'").str());
      operands.push_back(found->second);
    }
    proto::putPacked(out, 36, operands);
  }
  InstructionFields fields(instruction.opcode, computationIds);
  for (StringRef attribute : splitOutside(instruction.attributes)) {
    auto [name, value] = nameAndValue(attribute);
    if (Status status = fields.add(name, value); !status.ok())
      return status.withContext(("instruction " + instruction.name).str());
  }
  out += fields.finish();
  return {};
}

StatusOr<std::string> ModuleWriter::programShape(const ComputationText &computation) {
  std::map<int64_t, const Instruction *> parameters;
  const Instruction *root = &computation.instructions.back();
  for (const Instruction &each : computation.instructions) {
    if (each.opcode == "parameter" && !integers(each.operands).empty())
      parameters[integers(each.operands)[0]] = &each;
    if (each.isRoot)
      root = &each;
  }
  std::string out;
  for (const auto &[number, parameter] : parameters) {
    StatusOr<std::string> shape = shapeProto(parameter->shape);
    if (!shape)
      return shape;
    proto::putBytes(out, 1, *shape);
    proto::putBytes(out, 3, parameter->name);
  }
  StatusOr<std::string> result = shapeProto(root->shape);
  if (!result)
    return result;
  proto::putBytes(out, 2, *result);
  return out;
}

Status ModuleWriter::writeComputation(const ComputationText &computation, std::string &out) {
  StringMap<int64_t> ids;
  int64_t root = 0;
  for (const Instruction &each : computation.instructions) {
    ids[each.name] = ++numInstructions;
    root = each.isRoot || !root ? numInstructions : root;
  }
  if (llvm::none_of(computation.instructions, [](const Instruction &each) { return each.isRoot; }))
    root = numInstructions;
  proto::putText(out, 1, computation.name);
  for (const Instruction &each : computation.instructions) {
    std::string instruction;
    if (Status status = writeInstruction(each, ids, instruction); !status.ok())
      return status;
    proto::putBytes(out, 2, instruction);
  }
  StatusOr<std::string> shape = programShape(computation);
  if (!shape)
    return shape.status();
  proto::putBytes(out, 4, *shape);
  proto::putNumber(out, 5, uint64_t(computationIds.lookup(computation.name)));
  proto::putNumber(out, 6, uint64_t(root));
  return {};
}

/// `{ {1}: (0, {}, may-alias) }` as HloInputOutputAliasProto, `{ (0, {}) }` as HloBufferDonorProto.
std::string aliasProto(StringRef text) {
  std::string out;
  for (StringRef part : splitOutside(withoutBraces(text))) {
    auto [result, rest] = part.split(": ");
    const SmallVector<StringRef> operand = splitOutside(rest.trim().drop_front().drop_back());
    std::string entry;
    proto::putPacked(entry, 1, integers(result));
    for (int64_t number : integers(operand.empty() ? StringRef() : operand[0]))
      proto::putNumber(entry, 2, uint64_t(number));
    proto::putPacked(entry, 3, integers(operand.size() > 1 ? operand[1] : StringRef()));
    proto::putNumber(entry, 4, operand.size() > 2 && operand[2] == "must-alias" ? 2 : 1);
    proto::putBytes(out, 1, entry);
  }
  return out;
}

std::string donorProto(StringRef text) {
  std::string out;
  for (StringRef part : splitOutside(withoutBraces(text))) {
    const SmallVector<StringRef> operand = splitOutside(part.drop_front().drop_back());
    std::string entry;
    for (int64_t number : integers(operand.empty() ? StringRef() : operand[0]))
      proto::putNumber(entry, 1, uint64_t(number));
    proto::putPacked(entry, 2, integers(operand.size() > 1 ? operand[1] : StringRef()));
    proto::putBytes(out, 1, entry);
  }
  return out;
}

/// ProgramShapeProto of `{(f32[2]{0})->f32[2]{0}}`, whose layouts may differ from those of the parameters; `names` are the parameters'.
StatusOr<std::string> entryShape(StringRef text, ArrayRef<StringRef> names) {
  text = withoutBraces(text);
  const size_t close = closingBracket(text, 0);
  if (!text.starts_with("(") || close == StringRef::npos)
    return runtime::invalidArgument(("entry_computation_layout=" + text).str());
  StringRef result = text.drop_front(close + 1);
  result.consume_front("->");
  std::string out;
  for (StringRef part : splitOutside(text.slice(1, close))) {
    StatusOr<std::string> shape = shapeProto(part);
    if (!shape)
      return shape;
    proto::putBytes(out, 1, *shape);
  }
  for (StringRef name : names)
    proto::putBytes(out, 3, name);
  StatusOr<std::string> shape = shapeProto(result);
  if (!shape)
    return shape;
  proto::putBytes(out, 2, *shape);
  return out;
}

Status ModuleWriter::writeHeader(const ComputationText &entry, std::string &out) {
  std::map<int64_t, StringRef> byNumber;
  for (const Instruction &each : entry.instructions)
    if (each.opcode == "parameter" && !integers(each.operands).empty())
      byNumber[integers(each.operands)[0]] = each.name;
  SmallVector<StringRef> names;
  for (const auto &[number, name] : byNumber)
    names.push_back(name);
  StatusOr<std::string> shape = std::string();
  for (StringRef attribute : splitOutside(header)) {
    auto [name, value] = nameAndValue(attribute);
    if (name == "entry_computation_layout")
      shape = entryShape(value, names);
    else if (name == "input_output_alias")
      proto::putBytes(out, 8, aliasProto(value));
    else if (name == "buffer_donor")
      proto::putBytes(out, 18, donorProto(value));
    else if (name == "frontend_attributes")
      proto::putBytes(out, 19, frontendAttributes(value));
    else if (name != "replica_count" && name != "num_partitions" && name != "is_scheduled") // they belong to the options of a compilation
      return runtime::unimplemented((name + " of a module").str());
    if (!shape)
      return shape.status();
  }
  if (shape->empty())
    shape = programShape(entry);
  if (shape)
    proto::putBytes(out, 4, *shape);
  return shape.status();
}

StatusOr<std::string> ModuleWriter::write(StringRef name) {
  std::string out;
  proto::putText(out, 1, name.empty() ? moduleName : name);
  for (const ComputationText &each : computations) {
    std::string computation;
    if (Status status = writeComputation(each, computation); !status.ok())
      return status;
    proto::putBytes(out, 3, computation);
  }
  const ComputationText &entry = *llvm::find_if(computations, [](const auto &each) { return each.isEntry; });
  proto::putText(out, 2, entry.name);
  proto::putNumber(out, 5, computations.size());
  proto::putNumber(out, 6, uint64_t(computationIds.lookup(entry.name)));
  if (Status status = writeHeader(entry, out); !status.ok())
    return status;
  return out;
}

} // namespace

StatusOr<std::string> moduleProto(StringRef text, StringRef name) {
  ModuleWriter writer;
  if (Status status = writer.read(text); !status.ok())
    return status;
  return writer.write(name);
}

std::string hloProto(StringRef module) {
  std::string out;
  proto::putBytes(out, 1, module);
  return out;
}

} // namespace millrace::hlo
