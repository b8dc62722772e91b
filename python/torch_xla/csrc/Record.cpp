// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Record.cpp - The kernel of every operator ---------------------------===//
// An operator is looked at once per signature (types, shapes, attributes): PyTorch's meta kernel gives the types of the
// results or the user's error, and tracing::check() says whether tracing can emit exactly these. If so, it is recorded;
// else its decomposition is (Decompose.cpp), or the CPU computes it, and a counter with the operator's name says so.
#include "python/torch_xla/csrc/Calls.h"
#include "python/torch_xla/csrc/Devices.h"
#include "python/torch_xla/csrc/Ending.h"
#include "python/torch_xla/csrc/Selection.h"
#include "python/torch_xla/csrc/Trace.h"
#include "tracing/graph/Liveness.h"

#include "runtime/base/Environment.h"
#include "runtime/base/Hash.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <shared_mutex>

namespace millrace::torch_shim {

using tracing::Arg;
using tracing::Operand;

namespace {

/// What is known about a signature.
struct Signature {
  const tracing::Kind *kind = nullptr; ///< null: there is no emission for it
  Layout layout;
  Formats formats;
};

/// All signatures of the process. What a thread used lately it finds without a lock.
class Signatures {
public:
  const Signature *find(std::string_view key) {
    uint64_t hash = runtime::hash64(key.data(), key.size());
    const Entry *&slot = recent(hash);
    if (slot && slot->first == key)
      return &slot->second;
    std::shared_lock lock(mutex);
    auto found = all.find(key);
    if (found == all.end())
      return nullptr;
    slot = &*found;
    return &found->second;
  }
  const Signature *add(std::string_view key, Signature signature) {
    std::unique_lock lock(mutex);
    return &all.emplace(std::string(key), std::move(signature)).first->second;
  }
  static Signatures &get() {
    static auto *signatures = new Signatures;
    return *signatures;
  }

private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return runtime::hash64(key.data(), key.size()); }
  };
  using Map = std::unordered_map<std::string, Signature, Hash, std::equal_to<>>; // its elements stay where they are
  using Entry = Map::value_type;
  static const Entry *&recent(uint64_t hash) {
    static thread_local const Entry *entries[1024];
    return entries[hash % 1024];
  }
  std::shared_mutex mutex;
  Map all;
};

} // namespace

torch::jit::Stack runWithoutValues(const OpInfo &info, c10::ArrayRef<c10::IValue> args, c10::DeviceType device) {
  c10::impl::ExcludeDispatchKeyGuard noAutograd(c10::autograd_dispatch_keyset |
                                                c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView));
  c10::impl::ExcludeDispatchKeyGuard noAutocast(c10::autocast_dispatch_keyset);
  auto meta = [&](const Tensor &tensor) {
    if (!tensor.defined() || (!isXla(tensor) && tensor.dim() == 0))
      return tensor;
    auto options = at::TensorOptions().dtype(tensor.scalar_type()).device(device);
    return at::empty(tensor.sizes(), options, formatOf(tensor)).zero_();
  };
  torch::jit::Stack stack;
  for (size_t i = 0; i < args.size(); ++i) {
    const c10::IValue &value = args[i];
    if (value.isTensor()) {
      stack.emplace_back(meta(value.toTensor()));
    } else if (value.isTensorList()) {
      c10::List<Tensor> list;
      for (const Tensor &tensor : value.toTensorVector())
        list.push_back(meta(tensor));
      stack.emplace_back(std::move(list));
    } else if (info.kinds[i] == ArgKind::OptionalTensorList && value.isList()) {
      c10::List<std::optional<Tensor>> list;
      for (const c10::IValue &item : value.toListRef())
        list.push_back(item.isNone() ? std::optional<Tensor>() : meta(item.toTensor()));
      stack.emplace_back(std::move(list));
    } else if (value.isDevice()) {
      stack.emplace_back(c10::Device(device));
    } else if (value.isGenerator()) {
      stack.emplace_back();
    } else {
      stack.push_back(value);
    }
  }
  if (device == c10::kMeta && info.meta)
    info.meta->callBoxed(*info.handle, c10::DispatchKeySet(c10::DispatchKey::Meta), &stack);
  else
    info.handle->callBoxed(stack);
  return stack;
}

static std::string typeText(const c10::IValue &value) {
  auto ofTensor = [](const Tensor &tensor) {
    return tensor.defined() ? Shape{dtypeOf(tensor.scalar_type()), tensor.sizes().vec()}.toString() : std::string("none");
  };
  if (value.isTensor())
    return ofTensor(value.toTensor());
  std::string text;
  for (const c10::IValue &item : value.toListRef())
    text += (text.empty() ? "" : ", ") + (item.isNone() ? std::string("none") : ofTensor(item.toTensor()));
  return "[" + text + "]";
}

void nameOperands(c10::Error &error, const OpInfo &info, c10::ArrayRef<c10::IValue> args) {
  std::string text;
  for (size_t i = 0; i < args.size(); ++i) {
    const bool isList = info.kinds[i] == ArgKind::TensorList || info.kinds[i] == ArgKind::OptionalTensorList;
    if ((info.kinds[i] == ArgKind::Tensor || isList) && !args[i].isNone())
      text += (text.empty() ? "" : ", ") + info.handle->schema().arguments()[i].name() + ": " + typeText(args[i]);
  }
  if (text.empty())
    return;
  // One context would become part of the first line; two are lines of their own.
  error.add_context(info.name + " was given");
  error.add_context(text);
}

namespace {

Signature inspectTypes(const OpInfo &info, const CallReader &call, std::vector<Arg> callArgs,
                       c10::ArrayRef<c10::IValue> args) {
  Signature made;
  torch::jit::Stack results;
  // Meta kernels do not refuse what has no elements to choose from, nor results without elements; the CPU's do, and are done at once.
  const bool isSmall = std::all_of(call.operands.begin(), call.operands.end(), [](const Value &value) { return value.shape().count() < 1 << 20; });
  auto ask = [&] {
    try {
      runWithoutValues(info, args, c10::kCPU);
    } catch (const c10::NotImplementedError &) {
    }
  };
  const bool hasEmpty = std::any_of(call.operands.begin(), call.operands.end(), [](const Value &value) { return value.shape().count() == 0; });
  if (hasEmpty && isSmall)
    ask();
  try {
    results = runWithoutValues(info, args, c10::kMeta);
  } catch (const std::exception &) {
    // Meta kernels written in Python have words of their own for an error: the CPU's are better. If the CPU finds nothing
    // wrong, there is no meta kernel; the types are those of the CPU's results, which do not depend on values where there is
    // an emission.
    results = runWithoutValues(info, args, c10::kCPU);
  }
  if (!hasEmpty && isSmall && std::any_of(results.begin(), results.end(), [](const c10::IValue &result) {
        return result.isTensor() && result.toTensor().defined() && result.toTensor().numel() == 0;
      }))
    ask();
  std::vector<Shape> shapes;
  std::vector<size_t> undefined;
  auto add = [&](const Tensor &tensor) {
    shapes.push_back({dtypeOf(tensor.scalar_type()), tensor.sizes().vec()});
    if (call.hasFormat && formatOf(tensor) != at::MemoryFormat::Contiguous) {
      made.formats.resize(shapes.size());
      made.formats.back() = tensor.strides().vec();
    }
  };
  for (const c10::IValue &result : results) {
    if (result.isTensor() && result.toTensor().defined()) {
      add(result.toTensor());
      made.layout.push_back(-2);
    } else if (result.isTensor() || result.isNone()) {
      undefined.push_back(shapes.size());
      shapes.emplace_back();
      made.layout.push_back(-1);
    } else if (result.isTensorList()) {
      std::vector<Tensor> list = result.toTensorVector();
      for (const Tensor &tensor : list)
        add(tensor);
      made.layout.push_back(int(list.size()));
    } else {
      return made; // a number: needs the value now
    }
  }
  // The meta kernel of a convolution says what a device without formats would do.
  if (call.hasFormat && info.name == "aten::convolution" && shapes[0].dims.size() >= 4)
    made.formats = {at::empty(shapes[0].dims, at::TensorOptions().device(c10::kMeta),
                              shapes[0].dims.size() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::ChannelsLast3d)
                        .strides()
                        .vec()};
  for (size_t index : undefined)
    for (const Shape &shape : std::vector<Shape>(shapes))
      if (shape.dtype != runtime::DType::Invalid) {
        shapes[index] = {shape.dtype, {0}};
        break;
      }
  runtime::Status status = tracing::check(info.op, call.operands, callArgs, shapes);
  static const bool explain = !runtime::environment::text("MILLRACE_EXPLAIN_FALLBACK").empty();
  if (status.ok())
    made.kind = tracing::kindOf(info.op, std::move(callArgs), std::move(shapes));
  else if (explain)
    TORCH_WARN("not emitted: ", info.op->name, ": ", std::string(status.message()));
  return made;
}

Signature inspect(const OpInfo &info, const CallReader &call, std::vector<Arg> callArgs, c10::ArrayRef<c10::IValue> args) {
  try {
    return inspectTypes(info, call, std::move(callArgs), args);
  } catch (c10::Error &error) {
    nameOperands(error, info, args);
    throw;
  }
}

/// Raises the CPU's error for the arguments, if there is one.
void askCpu(const OpInfo &info, c10::ArrayRef<c10::IValue> args) {
  try {
    runWithoutValues(info, args, c10::kCPU);
  } catch (c10::Error &error) {
    nameOperands(error, info, args);
    throw;
  }
}

/// An operator that writes to its arguments, as the functional one and an assignment.
bool tryFunctional(const OpInfo &info, torch::jit::Stack *stack) {
  // PyTorch may define the functional operator by this very one, directly or not: then it comes back here.
  static thread_local std::vector<const OpInfo *> active;
  if (!info.functional || std::find(active.begin(), active.end(), &info) != active.end())
    return false;
  active.push_back(&info);
  struct Leave {
    ~Leave() { active.pop_back(); }
  } leave;
  const OpInfo &functional = infoOf(*info.functional);
  size_t count = info.kinds.size(), given = functional.kinds.size();
  c10::ArrayRef<c10::IValue> args(stack->data() + stack->size() - count, count);
  c10::SmallVector<Tensor, 2> targets;
  for (size_t index : info.written) {
    if (!args[index].isTensor())
      return false;
    targets.push_back(args[index].toTensor());
    TORCH_CHECK(isXla(targets.back()) || !info.isAten, "Input tensor is not an XLA tensor: torch.",
                c10::toString(targets.back().scalar_type()), "Tensor");
    if (!isXla(targets.back()))
      return false;
  }
  // Some operators convert to the type of out=, others insist on theirs.
  auto checkOut = [&](const Tensor &target, runtime::DType type) {
    if (!info.isOut || type == dtypeOf(target.scalar_type()))
      return;
    try {
      runWithoutValues(info, args, c10::kMeta);
    } catch (const std::exception &) {
      runWithoutValues(info, args, c10::kCPU);
    }
  };
  size_t returned = info.handle->schema().returns().size();
  Recorded results;
  if (recordValues(functional, args.slice(0, given), results)) {
    if (results.layout->size() < targets.size())
      return false;
    for (size_t i = 0; i < results.layout->size(); ++i)
      if ((*results.layout)[i] != -2)
        return false;
    for (uint32_t i = 0; i < targets.size(); ++i)
      checkOut(targets[i], Value{results.node, i}.shape().dtype);
    torch::jit::drop(*stack, count);
    for (uint32_t i = 0; i < results.layout->size(); ++i) {
      Value value{results.node, i};
      if (i < targets.size()) {
        if (info.isOut)
          resizeTo(targets[i], value.shape().dims);
        assign(targets[i], value);
      }
      if (i < returned)
        stack->emplace_back(i < targets.size() ? targets[i] : wrap(value));
    }
    return true;
  }
  bool comesBack = !info.functional->hasKernelForDispatchKey(c10::DispatchKey::XLA) &&
                   info.functional->hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd);
  if (comesBack)
    return false;
  torch::jit::Stack inner(args.begin(), args.begin() + long(given));
  info.functional->callBoxed(inner);
  if (inner.size() < targets.size())
    return false;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!inner[i].isTensor() || !inner[i].toTensor().defined())
      return false;
    checkOut(targets[i], dtypeOf(inner[i].toTensor().scalar_type()));
    if (info.isOut)
      resizeTo(targets[i], inner[i].toTensor().sizes());
    assign(targets[i], valueOf(inner[i].toTensor()));
  }
  torch::jit::drop(*stack, count);
  for (size_t i = 0; i < returned; ++i)
    stack->emplace_back(i < targets.size() ? c10::IValue(targets[i]) : inner[i]);
  return true;
}

} // namespace

bool recordValues(const OpInfo &info, c10::ArrayRef<c10::IValue> args, Recorded &results) {
  if (info.mayRefuse && info.mayRefuse(args))
    askCpu(info, args);
  if (info.op) {
    CallReader call(info, /*numbersByValue=*/false);
    call.read(args);
    const Signature *signature = call.isPlain ? Signatures::get().find(call.key()) : nullptr;
    if (call.isPlain && !signature) {
      std::vector<Arg> callArgs;
      CallReader again(info, false, &callArgs);
      again.read(args);
      // May take the GIL: no lock of ours is held.
      signature = Signatures::get().add(call.key(), inspect(info, again, std::move(callArgs), args));
    }
    if (signature && signature->kind) {
      results = {tracing::record(signature->kind, std::move(call.operands)).node, &signature->layout, &signature->formats};
      return true;
    }
  }
  return decomposeValues(info, args, results);
}

void pushResults(const Recorded &results, torch::jit::Stack *stack, size_t arguments) {
  torch::jit::drop(*stack, arguments);
  uint32_t index = 0;
  auto next = [&] {
    Value value{results.node, index++};
    bool hasFormat = results.formats && index <= results.formats->size() && !(*results.formats)[index - 1].empty();
    return hasFormat ? wrap(std::move(value), (*results.formats)[index - 1]) : wrap(std::move(value));
  };
  for (int kind : *results.layout) {
    if (kind == -2) {
      stack->emplace_back(next());
    } else if (kind == -1) {
      ++index;
      stack->emplace_back(Tensor());
    } else {
      c10::List<Tensor> list;
      for (int i = 0; i < kind; ++i)
        list.push_back(next());
      stack->emplace_back(std::move(list));
    }
  }
}

Value node(const char *name, std::vector<Value> operands, std::vector<Arg> args, Shape result) {
  const tracing::Op *op = tracing::findOp(name);
  TORCH_INTERNAL_ASSERT(op, name);
  return tracing::record(op, std::move(operands), std::move(args), {std::move(result)});
}

/// The generator that a call was given.
static std::optional<at::Generator> generatorOf(const OpInfo &info, const torch::jit::Stack &stack) {
  if (!info.generator)
    return std::nullopt;
  const c10::IValue &value = stack[stack.size() - info.kinds.size() + *info.generator];
  return value.isGenerator() ? std::optional(value.toGenerator()) : std::nullopt;
}

/// The first argument that is a tensor; null if there is none.
static const c10::IValue *firstTensor(const OpInfo &info, const torch::jit::Stack &stack) {
  for (size_t i = stack.size() - info.kinds.size(); i < stack.size(); ++i)
    if (stack[i].isTensor() && stack[i].toTensor().defined())
      return &stack[i];
  return nullptr;
}

static void recordOrRun(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  const OpInfo &info = infoOf(op);
  if (info.calls)
    info.calls->fetch_add(1, std::memory_order_relaxed);
  std::optional<tracing::Timed> time;
  if (tracing::Metrics::get().isDue())
    time.emplace("LazyTracing");
  const std::optional<at::Generator> generator = generatorOf(info, *stack);
  const c10::IValue *first = generator ? firstTensor(info, *stack) : nullptr;
  DrawFrom scope = first ? DrawFrom(generator, first->toTensor()) : DrawFrom(generator);
  if (info.takesCpuIndices && info.isAten) {
    if (tryMaskedFill(info, stack) || tryMaskedRead(info, stack))
      return;
    replaceMasks(info, stack);
  }
  if (info.isForeach && tryForeach(info, stack))
    return;
  if (!info.written.empty()) {
    if (tryFunctional(info, stack))
      return;
  } else {
    size_t count = info.kinds.size();
    Recorded results;
    if (recordValues(info, c10::ArrayRef<c10::IValue>(stack->data() + stack->size() - count, count), results))
      return pushResults(results, stack, count);
    if (runDecomposition(info, stack))
      return;
  }
  TORCH_CHECK(!info.isView, "the xla device has no ", toString(op.operator_name()),
              ", and running it on the CPU would lose that it is a view");
  runOnCpu(op, stack);
}

static size_t setting(runtime::environment::Name<runtime::environment::Type::Count> name, size_t otherwise) {
  return size_t(std::max<uint64_t>(1, runtime::environment::count(name).value_or(otherwise)));
}

/// A program without step barriers that never reads a value would record for ever: from time to time the graph of a result is
/// looked at, and run if it is too large. PyTorch/XLA's settings and counter.
static void cutIfLarge(const torch::jit::Stack &stack, size_t results) {
  static const size_t most = setting("XLA_TRIM_GRAPH_SIZE", 100000);
  static const size_t every = setting("XLA_TRIM_GRAPH_CHECK_FREQUENCY", 5000);
  static thread_local size_t calls = 0;
  if (++calls < every)
    return;
  calls = 0;
  tracing::Session &session = tracing::Session::get();
  if (capture || !traceScopes().empty() || !session.allowsExecution() || !results || !stack.back().isTensor())
    return;
  const Tensor result = stack.back().toTensor();
  if (!result.defined() || !isXla(result))
    return;
  Value value = valueOf(result);
  if (tracing::graphSize(value, most) < most)
    return;
  tracing::Metrics::get().count("TrimIrGraph");
  tracing::SyncCause cause("the pending graph has " + std::to_string(most) + " operations (XLA_TRIM_GRAPH_SIZE)");
  noteStack();
  tracing::ForAValue kept;
  runtime::Status status = session.sync({std::move(value)}, tracing::Roots::Some);
  if (!status.ok())
    raise(status);
}

/// Classes counted in floats: PyTorch's kernels refuse them, PyTorch/XLA has always taken them.
static void makeClassesIntegers(const c10::OperatorHandle &op, torch::jit::Stack &stack) {
  static const std::array<std::pair<c10::OperatorHandle, size_t>, 4> losses = [] {
    auto find = [](const char *name, size_t target) {
      return std::pair(c10::Dispatcher::singleton().findSchemaOrThrow(name, ""), target);
    };
    return std::array{find("aten::nll_loss_forward", 1), find("aten::nll_loss_backward", 2), find("aten::nll_loss2d_forward", 1),
                      find("aten::nll_loss2d_backward", 2)};
  }();
  for (const auto &[loss, target] : losses) {
    if (!(op == loss))
      continue;
    c10::IValue &classes = stack[stack.size() - op.schema().arguments().size() + target];
    if (classes.isTensor() && at::isFloatingType(classes.toTensor().scalar_type()))
      classes = classes.toTensor().to(at::kLong);
  }
}

/// EmbeddingBag(sparse=True): there are no sparse tensors, its gradient is a dense one, as PyTorch/XLA's.
static void makeGradientDense(const c10::OperatorHandle &op, torch::jit::Stack &stack) {
  static const c10::OperatorHandle backward = c10::Dispatcher::singleton().findSchemaOrThrow("aten::_embedding_bag_backward", "");
  static const size_t count = backward.schema().arguments().size(), sparse = *backward.schema().argumentIndexWithName("sparse");
  if (op == backward)
    stack[stack.size() - count + sparse] = false;
}

void record(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  stopIfEnding();
  std::optional<DeviceScope> device;
  if (deviceCount() > 1)
    device.emplace(deviceOf(torch::jit::last(*stack, op.schema().arguments().size())));
  makeClassesIntegers(op, *stack);
  makeGradientDense(op, *stack);
  if (isEager()) {
    EagerScope scope;
    recordOrRun(op, stack);
    if (EagerScope::isOutermost())
      runIfEager(*stack, op.schema().returns().size());
  } else {
    recordOrRun(op, stack);
    checkGraphLimits();
    cutIfLarge(*stack, op.schema().returns().size());
  }
  stopIfEnding();
}

} // namespace millrace::torch_shim
