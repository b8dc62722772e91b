// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Serialize.cpp - Program structs -> bytes ----------------------------===//
// Header (64 bytes): magic, ABI version, header size, payload size, payload checksum, zeros, header checksum.
// Payload: the flatbuffer of Program.fbs, 64-byte aligned, constants aligned in it.
#include "runtime/base/Alignment.h"
#include "runtime/base/File.h"
#include "runtime/base/Hash.h"
#include "runtime/program/Format.h"
#include "runtime/program/Program_generated.h"

#include <cstring>
#include <map>
#include <unordered_map>

namespace millrace::runtime {
namespace {

using flatbuffers::Offset;
using Builder = flatbuffers::FlatBufferBuilder;

class Writer {
public:
  std::string run(const Program &program);

private:
  Offset<flatbuffers::String> text(const std::string &value) { return builder.CreateSharedString(value); }
  auto texts(const std::vector<std::string> &values) {
    std::vector<Offset<flatbuffers::String>> offsets;
    for (const std::string &value : values)
      offsets.push_back(text(value));
    return builder.CreateVector(offsets);
  }
  auto ints(const std::vector<int64_t> &values) { return builder.CreateVector(values); }
  auto ids(const std::vector<uint32_t> &values) { return builder.CreateVector(values); }
  auto intLists(const std::vector<std::vector<int64_t>> &lists) {
    std::vector<Offset<fb::IntList>> offsets;
    for (const auto &list : lists)
      offsets.push_back(fb::CreateIntList(builder, ints(list)));
    return builder.CreateVector(offsets);
  }
  auto terms(const DimExpr &expr) {
    std::vector<fb::Term> result;
    for (const DimExpr::Term &term : expr.terms)
      result.emplace_back(uint8_t(term.op), term.value);
    return builder.CreateVectorOfStructs(result);
  }
  auto checks(const std::vector<SizeCheck> &list) {
    std::vector<Offset<fb::SizeCheck>> offsets;
    for (const SizeCheck &c : list)
      offsets.push_back(fb::CreateSizeCheck(builder, terms(c.size), uint8_t(c.relation), terms(c.bound), c.location));
    return builder.CreateVector(offsets);
  }
  Offset<fb::Spec> spec(const TensorSpec &s, bool donated, uint32_t alias) {
    return fb::CreateSpec(builder, uint8_t(s.dtype), ints(s.dims), ints(s.bounds), ints(s.minorToMajor), text(s.name),
                          text(s.sharding), text(s.memoryKind), donated, alias);
  }
  uint32_t blob(const Constant &constant);
  Offset<fb::Slot> slot(const Slot &s);
  Offset<fb::Attribute> attribute(const Attribute &a);
  auto steps(const Steps &list) {
    std::vector<Offset<fb::Step>> offsets;
    for (const Step &s : list)
      offsets.push_back(step(s));
    return builder.CreateVector(offsets);
  }
  Offset<fb::Step> step(const Step &s);
  Offset<fb::Function> function(const Function &f);

  // One overload per step type.
  auto body(const KernelStep &s) {
    return fb::CreateKernelStep(builder, s.kernel, ids(s.inputs), ids(s.outputs), ids(s.dims), terms(s.end),
                                s.picosecondsPerIteration, s.granularity, s.scratchBytes);
  }
  auto body(const LoopStep &s) {
    auto cond = steps(s.cond), body = steps(s.body);
    std::vector<fb::Pair32> carried;
    for (const LoopStep::Carried &c : s.carried)
      carried.emplace_back(c.state, c.next);
    return fb::CreateLoopStep(builder, cond, s.predicate, body, builder.CreateVectorOfStructs(carried));
  }
  auto body(const CondStep &s) {
    std::vector<Offset<fb::Branch>> branches;
    for (const Steps &branch : s.branches) {
      auto list = steps(branch);
      branches.push_back(fb::CreateBranch(builder, list));
    }
    return fb::CreateCondStep(builder, s.index, builder.CreateVector(branches));
  }
  auto body(const CallStep &s) {
    return fb::CreateCallStep(builder, s.function, ids(s.arguments), ids(s.results), s.arenaOffset);
  }
  auto body(const CopyStep &s) { return fb::CreateCopyStep(builder, s.source, s.destination); }
  auto body(const FillStep &s) { return fb::CreateFillStep(builder, s.destination, builder.CreateVector(s.pattern)); }
  auto body(const SetDimsStep &s) {
    std::vector<Offset<fb::SetDim>> entries;
    for (const SetDimsStep::Entry &e : s.entries)
      entries.push_back(fb::CreateSetDim(builder, e.dim, e.source, e.element, terms(e.expr)));
    auto list = builder.CreateVector(entries);
    return fb::CreateSetDimsStep(builder, list, checks(s.checks));
  }
  auto body(const CollectiveStep &s) {
    return fb::CreateCollectiveStep(builder, uint8_t(s.kind), ids(s.arguments), ids(s.results), uint8_t(s.groupMode),
                                    intLists(s.groups), s.channel, s.dimension, s.dimension2, s.splitCount, s.root,
                                    uint8_t(s.reduction), s.reducer, text(s.name), s.dynamicRoot,
                                    s.reducerEnd, s.reducerScratch, uint8_t(s.phase), s.pair);
  }
  auto body(const CustomCallStep &s) {
    std::vector<Offset<fb::Attribute>> attributes;
    for (const Attribute &a : s.attributes)
      attributes.push_back(attribute(a));
    std::vector<fb::Pair32> aliases;
    for (auto [operand, result] : s.aliases)
      aliases.emplace_back(operand, result);
    return fb::CreateCustomCallStep(builder, text(s.target), s.apiVersion, text(s.backendConfig),
                                    builder.CreateVector(attributes), ids(s.arguments), ids(s.results),
                                    intLists(s.argumentLayouts), intLists(s.resultLayouts),
                                    builder.CreateVectorOfStructs(aliases), s.hasSideEffect);
  }
  auto body(const DeviceIdStep &s) { return fb::CreateDeviceIdStep(builder, uint8_t(s.kind), s.destination); }
  auto body(const TransferStep &s) {
    std::vector<fb::Pair64> pairs;
    for (auto [source, target] : s.sourceTargetPairs)
      pairs.emplace_back(source, target);
    return fb::CreateTransferStep(builder, uint8_t(s.kind), ids(s.slots), s.channel, s.isHostTransfer,
                                  builder.CreateVectorOfStructs(pairs), text(s.config));
  }

  Builder builder;
  std::vector<Offset<fb::Blob>> blobs;
  std::vector<const Constant *> blobContents;
  std::unordered_multimap<uint64_t, uint32_t> blobIndex;
};

uint32_t Writer::blob(const Constant &constant) {
  uint64_t key = hash64(constant.data, constant.size);
  auto [first, last] = blobIndex.equal_range(key);
  for (auto it = first; it != last; ++it) {
    const Constant &known = *blobContents[it->second];
    if (known.size == constant.size && (constant.size == 0 || std::memcmp(known.data, constant.data, known.size) == 0))
      return it->second;
  }
  builder.ForceVectorAlignment(constant.size, 1, kBufferAlignment);
  blobs.push_back(fb::CreateBlob(builder, builder.CreateVector(constant.data, constant.size)));
  blobContents.push_back(&constant);
  blobIndex.emplace(key, uint32_t(blobs.size() - 1));
  return uint32_t(blobs.size() - 1);
}

Offset<fb::Slot> Writer::slot(const Slot &s) {
  std::vector<fb::Dim> dims;
  for (const Dim &d : s.dims)
    dims.emplace_back(d.value, d.isRuntime);
  return fb::CreateSlot(builder, uint8_t(s.kind), s.index, s.offset, s.bytes, uint8_t(s.dtype),
                        builder.CreateVectorOfStructs(dims));
}

Offset<fb::Attribute> Writer::attribute(const Attribute &a) {
  std::vector<Offset<fb::Attribute>> children;
  for (const Attribute &child : a.children)
    children.push_back(attribute(child));
  return fb::CreateAttribute(builder, text(a.name), uint8_t(a.kind), uint8_t(a.dtype), ints(a.ints),
                             builder.CreateVector(a.floats), text(a.string), builder.CreateVector(children));
}

Offset<fb::Step> Writer::step(const Step &s) {
  Offset<void> offset = std::visit([&](const auto &value) { return body(value).Union(); }, s.body);
  return fb::CreateStep(builder, fb::StepBody(s.body.index() + 1), offset, s.location);
}

Offset<fb::Function> Writer::function(const Function &f) {
  std::vector<Offset<fb::Slot>> slots;
  for (const Slot &s : f.slots)
    slots.push_back(slot(s));
  std::vector<Offset<fb::DimBinding>> bindings;
  for (const DimBinding &b : f.dimBindings)
    bindings.push_back(fb::CreateDimBinding(builder, b.dim, b.argument, b.axis, terms(b.expr)));
  auto list = steps(f.steps);
  return fb::CreateFunction(builder, text(f.name), builder.CreateVector(slots), ids(f.arguments), ids(f.results),
                            f.arenaBytes, f.numDims, builder.CreateVector(bindings), list, checks(f.checks));
}

std::string Writer::run(const Program &p) {
  std::vector<uint32_t> constants, objects;
  for (const Constant &c : p.constants)
    constants.push_back(blob(c));
  for (const Constant &c : p.objects)
    objects.push_back(blob(c));
  std::vector<Offset<fb::Spec>> arguments, results;
  for (const Argument &a : p.arguments)
    arguments.push_back(spec(a, a.donated, kNone));
  for (const Result &r : p.results)
    results.push_back(spec(r, false, r.aliasArgument));
  std::vector<Offset<fb::Function>> functions;
  for (const Function &f : p.functions)
    functions.push_back(function(f));
  std::vector<Offset<fb::Kernel>> kernels;
  for (const Kernel &k : p.kernels)
    kernels.push_back(fb::CreateKernel(builder, text(k.symbol), text(k.name), texts(k.ops), k.flops, k.bytesAccessed, k.location));
  std::vector<Offset<fb::Entry>> metadata;
  for (const auto &[key, value] : p.metadata)
    metadata.push_back(fb::CreateEntry(builder, text(key), text(value)));
  fb::MemoryStats memory(p.memory.arguments, p.memory.results, p.memory.aliased, p.memory.temporaries, p.memory.peak,
                         p.memory.constants, p.memory.code);
  auto producer = text(p.producer), name = text(p.name), triple = text(p.target.triple), cpu = text(p.target.cpu);
  auto features = texts(p.target.features), locations = texts(p.locations), stepOps = texts(p.stepOps),
       targets = texts(p.customCallTargets);
  auto argumentList = builder.CreateVector(arguments), resultList = builder.CreateVector(results);
  auto blobList = builder.CreateVector(blobs);
  auto constantList = ids(constants), objectList = ids(objects);
  auto functionList = builder.CreateVector(functions);
  auto kernelList = builder.CreateVector(kernels);
  auto metadataList = builder.CreateVector(metadata);
  std::vector<Offset<fb::Spec>> prepared;
  for (const TensorSpec &r : p.preparation.results)
    prepared.push_back(spec(r, false, kNone));
  auto prepareArguments = ids(p.preparation.arguments);
  auto preparedList = builder.CreateVector(prepared);
  auto sources = ids(p.locationSources);
  auto root = fb::CreateProgram(builder, producer, name, triple, cpu, features, p.numReplicas, p.numPartitions, argumentList, resultList, blobList,
                                constantList, objectList, functionList, p.entry, kernelList, locations, stepOps, targets, &memory, metadataList,
                                p.preparation.function, prepareArguments, preparedList, sources);
  fb::FinishProgramBuffer(builder, root);

  Header header = {};
  std::memcpy(header.magic, programMagic, sizeof header.magic);
  header.abiVersion = kProgramAbiVersion;
  header.headerSize = sizeof header;
  header.payloadSize = builder.GetSize();
  header.payloadHash = hash64(builder.GetBufferPointer(), builder.GetSize());
  header.headerHash = hash64(&header, offsetof(Header, headerHash));
  std::string bytes;
  bytes.reserve(sizeof header + builder.GetSize());
  bytes.append(reinterpret_cast<const char *>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  return bytes;
}

} // namespace

Constant Constant::copy(const void *data, size_t size) {
  void *memory = std::aligned_alloc(kBufferAlignment, alignedBytes(size + kBufferAlignment));
  if (!memory)
    return {};
  if (size)
    std::memcpy(memory, data, size);
  std::shared_ptr<const void> owner(memory, [](const void *p) { std::free(const_cast<void *>(p)); });
  return {static_cast<const uint8_t *>(memory), size, std::move(owner)};
}

Program preparationOf(const Program &program) {
  Program result = program;
  result.entry = program.preparation.function;
  result.arguments.clear();
  for (uint32_t k : program.preparation.arguments) {
    result.arguments.push_back(program.arguments[k]);
    result.arguments.back().donated = false;
  }
  result.results.clear();
  for (const TensorSpec &spec : program.preparation.results)
    static_cast<TensorSpec &>(result.results.emplace_back()) = spec;
  result.preparation = {};
  result.objects.clear();
  result.name += ".prepare";
  return result;
}

StatusOr<std::string> serialize(const Program &program) {
  MILLRACE_TRY(validate(program));
  // A flatbuffer has offsets of signed 32 bits.
  uint64_t blobBytes = 0;
  for (const auto *list : {&program.constants, &program.objects})
    for (const Constant &c : *list)
      blobBytes += c.size;
  if (blobBytes > uint64_t(1900) << 20)
    return resourceExhausted("program constants take " + std::to_string(blobBytes) +
                             " bytes, but a program file holds at most 1900 MiB: pass them as arguments");
  return Writer().run(program);
}

Status writeFile(const Program &program, const std::string &path) {
  StatusOr<std::string> bytes = serialize(program);
  if (!bytes)
    return bytes.status();
  return writeFileAtomically(path, *bytes);
}

} // namespace millrace::runtime
