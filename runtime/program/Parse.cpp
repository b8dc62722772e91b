// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Parse.cpp - Bytes -> Program structs, trusting nothing --------------===//
// Order of the checks: header, checksum, flatbuffers Verifier, ranges of enumerators (here), meaning (Validate.cpp).
#include "runtime/base/Alignment.h"
#include "runtime/base/File.h"
#include "runtime/base/Hash.h"
#include "runtime/program/Format.h"
#include "runtime/program/Program_generated.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace millrace::runtime {
namespace {

/// Converts a flatbuffer into a Program. The first enumerator out of range, or missing table, sets `failed`, and the caller discards the result.
class Reader {
public:
  explicit Reader(std::shared_ptr<const void> owner) : owner(std::move(owner)) {}
  Program run(const fb::Program &p);
  bool failed = false;

private:
  static std::string text(const flatbuffers::String *s) { return s ? s->str() : std::string(); }
  static std::vector<std::string> texts(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *list) {
    std::vector<std::string> result;
    if (list)
      for (const flatbuffers::String *s : *list)
        result.push_back(s->str());
    return result;
  }
  // Elements are copied as bytes: the verifier of flatbuffers 2.0 does not check that they are aligned.
  template <typename T>
  static std::vector<T> numbers(const flatbuffers::Vector<T> *list) {
    std::vector<T> result(list ? list->size() : 0);
    if (!result.empty())
      std::memcpy(result.data(), list->Data(), result.size() * sizeof(T));
    return result;
  }
  template <typename S>
  static std::vector<S> structs(const flatbuffers::Vector<const S *> *list) {
    std::vector<S> result(list ? list->size() : 0);
    if (!result.empty())
      std::memcpy(static_cast<void *>(result.data()), list->Data(), result.size() * sizeof(S));
    return result;
  }
  static std::vector<std::vector<int64_t>>
  intLists(const flatbuffers::Vector<flatbuffers::Offset<fb::IntList>> *lists) {
    std::vector<std::vector<int64_t>> result;
    if (lists)
      for (const fb::IntList *list : *lists)
        result.push_back(numbers(list->values()));
    return result;
  }
  template <typename E>
  E enumerator(uint8_t value, E last) {
    failed |= value > uint8_t(last);
    return E(value);
  }
  DimExpr expr(const flatbuffers::Vector<const fb::Term *> *terms) {
    DimExpr result;
    for (const fb::Term &t : structs(terms))
      result.terms.push_back({enumerator(t.op(), DimExpr::Op::Max), t.value()});
    return result;
  }
  std::vector<SizeCheck> checks(const flatbuffers::Vector<flatbuffers::Offset<fb::SizeCheck>> *list) {
    std::vector<SizeCheck> result;
    if (list)
      for (const fb::SizeCheck *c : *list)
        result.push_back({expr(c->size()), enumerator(c->relation(), SizeCheck::Relation::OneOrEqual), expr(c->bound()), c->location()});
    return result;
  }
  static std::vector<std::pair<uint32_t, uint32_t>> pairs(const flatbuffers::Vector<const fb::Pair32 *> *list) {
    std::vector<std::pair<uint32_t, uint32_t>> result;
    for (const fb::Pair32 &p : structs(list))
      result.emplace_back(p.first(), p.second());
    return result;
  }
  void spec(const fb::Spec &s, TensorSpec &result) {
    result.dtype = enumerator(s.dtype(), DType::Last);
    result.dims = numbers(s.dims());
    result.bounds = numbers(s.bounds());
    result.minorToMajor = numbers(s.minor_to_major());
    result.name = text(s.name());
    result.sharding = text(s.sharding());
    result.memoryKind = text(s.memory_kind());
  }
  Slot slot(const fb::Slot &s) {
    Slot result{enumerator(s.kind(), Slot::Kind::View), s.index(), s.offset(), s.bytes(),
                enumerator(s.dtype(), DType::Last), {}};
    for (const fb::Dim &d : structs(s.dims()))
      result.dims.push_back({d.value(), d.is_runtime()});
    return result;
  }
  Attribute attribute(const fb::Attribute &a) {
    Attribute result{text(a.name()), enumerator(a.kind(), Attribute::Kind::Dictionary),
                     enumerator(a.dtype(), DType::Last), numbers(a.ints()), numbers(a.floats()), text(a.text()), {}};
    if (a.children())
      for (const fb::Attribute *child : *a.children())
        result.children.push_back(attribute(*child));
    return result;
  }
  Steps steps(const flatbuffers::Vector<flatbuffers::Offset<fb::Step>> *list) {
    Steps result;
    if (list)
      for (const fb::Step *s : *list)
        result.push_back(step(*s));
    return result;
  }
  Step step(const fb::Step &s);
  Function function(const fb::Function &f);
  Constant blob(const fb::Program &p, uint32_t index) {
    if (!p.blobs() || index >= p.blobs()->size()) {
      failed = true;
      return {};
    }
    const auto *data = p.blobs()->Get(index)->data();
    if (!data)
      return Constant::copy(nullptr, 0);
    if (owner && uintptr_t(data->data()) % kBufferAlignment == 0)
      return Constant::borrow(data->data(), data->size(), owner);
    return Constant::copy(data->data(), data->size());
  }

  std::shared_ptr<const void> owner;
};

Step Reader::step(const fb::Step &s) {
  Step result;
  result.location = s.location();
  if (!s.body()) { // the verifier accepts a type without a value
    failed = true;
    return result;
  }
  switch (s.body_type()) {
  case fb::StepBody::KernelStep: {
    const auto &b = *s.body_as_KernelStep();
    result.body = KernelStep{b.kernel(), numbers(b.inputs()), numbers(b.outputs()), numbers(b.dims()), expr(b.end()),
                             b.picoseconds(), b.granularity(), b.scratch_bytes()};
    return result;
  }
  case fb::StepBody::LoopStep: {
    const auto &b = *s.body_as_LoopStep();
    LoopStep loop{steps(b.cond()), b.predicate(), steps(b.body()), {}};
    for (auto [state, next] : pairs(b.carried()))
      loop.carried.push_back({state, next});
    result.body = std::move(loop);
    return result;
  }
  case fb::StepBody::CondStep: {
    const auto &b = *s.body_as_CondStep();
    CondStep cond{b.index(), {}};
    if (b.branches())
      for (const fb::Branch *branch : *b.branches())
        cond.branches.push_back(steps(branch->steps()));
    result.body = std::move(cond);
    return result;
  }
  case fb::StepBody::CallStep: {
    const auto &b = *s.body_as_CallStep();
    result.body = CallStep{b.function(), numbers(b.arguments()), numbers(b.results()), b.arena_offset()};
    return result;
  }
  case fb::StepBody::CopyStep: {
    const auto &b = *s.body_as_CopyStep();
    result.body = CopyStep{b.source(), b.destination()};
    return result;
  }
  case fb::StepBody::FillStep: {
    const auto &b = *s.body_as_FillStep();
    result.body = FillStep{b.destination(), numbers(b.pattern())};
    return result;
  }
  case fb::StepBody::SetDimsStep: {
    SetDimsStep set;
    if (const auto *entries = s.body_as_SetDimsStep()->entries())
      for (const fb::SetDim *e : *entries)
        set.entries.push_back({e->dim(), e->source(), e->element(), expr(e->expr())});
    set.checks = checks(s.body_as_SetDimsStep()->checks());
    result.body = std::move(set);
    return result;
  }
  case fb::StepBody::CollectiveStep: {
    const auto &b = *s.body_as_CollectiveStep();
    CollectiveStep c;
    c.kind = enumerator(b.kind(), CollectiveStep::Kind::CollectiveReduce);
    c.arguments = numbers(b.arguments());
    c.results = numbers(b.results());
    c.groupMode = enumerator(b.group_mode(), CollectiveStep::Groups::FlattenedIds);
    c.groups = intLists(b.groups());
    c.channel = b.channel();
    c.dimension = b.dimension();
    c.dimension2 = b.dimension2();
    c.splitCount = b.split_count();
    c.root = b.root();
    c.reduction = enumerator(b.reduction(), CollectiveStep::Reduction::Xor);
    c.reducer = b.reducer();
    c.dynamicRoot = b.dynamic_root();
    c.reducerEnd = b.reducer_end();
    c.reducerScratch = b.reducer_scratch();
    c.name = text(b.name());
    c.phase = enumerator(b.phase(), CollectiveStep::Phase::Done);
    c.pair = b.pair();
    result.body = std::move(c);
    return result;
  }
  case fb::StepBody::CustomCallStep: {
    const auto &b = *s.body_as_CustomCallStep();
    CustomCallStep c;
    c.target = text(b.target());
    c.apiVersion = b.api_version();
    c.backendConfig = text(b.backend_config());
    if (b.attributes())
      for (const fb::Attribute *a : *b.attributes())
        c.attributes.push_back(attribute(*a));
    c.arguments = numbers(b.arguments());
    c.results = numbers(b.results());
    c.argumentLayouts = intLists(b.argument_layouts());
    c.resultLayouts = intLists(b.result_layouts());
    c.aliases = pairs(b.aliases());
    c.hasSideEffect = b.has_side_effect();
    result.body = std::move(c);
    return result;
  }
  case fb::StepBody::DeviceIdStep: {
    const auto &b = *s.body_as_DeviceIdStep();
    result.body = DeviceIdStep{enumerator(b.kind(), DeviceIdStep::Kind::RandomSeed), b.destination()};
    return result;
  }
  case fb::StepBody::TransferStep: {
    const auto &b = *s.body_as_TransferStep();
    TransferStep t{enumerator(b.kind(), TransferStep::Kind::Recv), numbers(b.slots()), b.channel(),
                   b.is_host_transfer(), {}, text(b.config())};
    for (const fb::Pair64 &p : structs(b.source_target_pairs()))
      t.sourceTargetPairs.emplace_back(p.first(), p.second());
    result.body = std::move(t);
    return result;
  }
  case fb::StepBody::NONE:
    break;
  }
  failed = true;
  return result;
}

Function Reader::function(const fb::Function &f) {
  Function result;
  result.name = text(f.name());
  if (f.slots())
    for (const fb::Slot *s : *f.slots())
      result.slots.push_back(slot(*s));
  result.arguments = numbers(f.arguments());
  result.results = numbers(f.results());
  result.arenaBytes = f.arena_bytes();
  result.numDims = f.num_dims();
  if (f.dim_bindings())
    for (const fb::DimBinding *b : *f.dim_bindings())
      result.dimBindings.push_back({b->dim(), b->argument(), b->axis(), expr(b->expr())});
  result.checks = checks(f.checks());
  result.steps = steps(f.steps());
  return result;
}

Program Reader::run(const fb::Program &p) {
  Program result;
  result.producer = text(p.producer());
  result.name = text(p.name());
  result.target = {text(p.triple()), text(p.cpu()), texts(p.features())};
  result.numReplicas = p.num_replicas();
  result.numPartitions = p.num_partitions();
  if (p.arguments())
    for (const fb::Spec *s : *p.arguments()) {
      Argument &a = result.arguments.emplace_back();
      spec(*s, a);
      a.donated = s->donated();
    }
  if (p.results())
    for (const fb::Spec *s : *p.results()) {
      Result &r = result.results.emplace_back();
      spec(*s, r);
      r.aliasArgument = s->alias_argument();
    }
  if (p.constants())
    for (uint32_t index : *p.constants())
      result.constants.push_back(blob(p, index));
  if (p.objects())
    for (uint32_t index : *p.objects())
      result.objects.push_back(blob(p, index));
  if (p.functions())
    for (const fb::Function *f : *p.functions())
      result.functions.push_back(function(*f));
  result.entry = p.entry();
  result.preparation.function = p.prepare();
  result.preparation.arguments = numbers(p.prepare_arguments());
  if (p.prepared())
    for (const fb::Spec *s : *p.prepared())
      spec(*s, result.preparation.results.emplace_back());
  if (p.kernels())
    for (const fb::Kernel *k : *p.kernels())
      result.kernels.push_back({text(k->symbol()), text(k->name()), texts(k->ops()), k->flops(), k->bytes_accessed(), k->location()});
  result.locations = texts(p.locations());
  result.locationSources = numbers(p.location_sources());
  result.stepOps = texts(p.step_ops());
  result.customCallTargets = texts(p.custom_call_targets());
  if (const fb::MemoryStats *m = p.memory())
    result.memory = {m->arguments(), m->results(), m->aliased(), m->temporaries(), m->peak(), m->constants(), m->code()};
  if (p.metadata())
    for (const fb::Entry *e : *p.metadata())
      result.metadata.emplace_back(text(e->key()), text(e->value()));
  return result;
}

} // namespace

StatusOr<Program> parse(std::string_view bytes, std::shared_ptr<const void> owner) {
  Header header;
  if (bytes.size() < sizeof header) {
    return dataLoss("not a Millrace program: expects at least 64 bytes, but got " + std::to_string(bytes.size()));
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, programMagic, sizeof header.magic) != 0)
    return failedPrecondition("not a Millrace program: the first 8 bytes are not 'MILLRACE'");
  if (header.headerHash != hash64(&header, offsetof(Header, headerHash)) || header.headerSize != sizeof header)
    return dataLoss("damaged Millrace program: the checksum of the header does not match");
  if (header.abiVersion != kProgramAbiVersion)
    return failedPrecondition("expects program ABI version " + std::to_string(kProgramAbiVersion) + ", but got " +
                              std::to_string(header.abiVersion) + ": compile the program again");
  std::string_view payload = bytes.substr(sizeof header);
  if (payload.size() != header.payloadSize)
    return dataLoss("damaged Millrace program: expects " + std::to_string(header.payloadSize + sizeof header) +
                    " bytes, but got " + std::to_string(bytes.size()));
  if (hash64(payload.data(), payload.size()) != header.payloadHash)
    return dataLoss("damaged Millrace program: the checksum does not match");

  // The accessors need aligned memory.
  FileContent aligned;
  if (uintptr_t(payload.data()) % kBufferAlignment != 0 || !owner) {
    Constant copy = Constant::copy(payload.data(), payload.size());
    if (!copy.data)
      return resourceExhausted("no memory for a program of " + std::to_string(payload.size()) + " bytes");
    owner = copy.owner;
    payload = std::string_view(reinterpret_cast<const char *>(copy.data), copy.size);
  }
  flatbuffers::Verifier::Options options;
  options.max_depth = maxNesting * 4;
  options.max_tables = flatbuffers::uoffset_t(std::min<size_t>(payload.size(), 1u << 30));
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(payload.data()), payload.size(), options);
  if (!fb::VerifyProgramBuffer(verifier))
    return dataLoss("damaged Millrace program: the flatbuffer is malformed");
  Reader reader(owner);
  Program program = reader.run(*fb::GetProgram(payload.data()));
  if (reader.failed)
    return dataLoss("damaged Millrace program: a step kind, type or blob index is out of range");
  MILLRACE_TRY(validate(program).withContext("damaged Millrace program"));
  return program;
}

StatusOr<Program> readFile(const std::string &path) {
  StatusOr<FileContent> content = readWholeFile(path);
  if (!content)
    return content.status();
  StatusOr<Program> program = parse(content->bytes, content->owner);
  if (!program)
    return program.status().withContext("'" + path + "'");
  return program;
}

} // namespace millrace::runtime
