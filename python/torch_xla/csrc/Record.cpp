// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Record.cpp - The kernel of every operator ---------------------------===//
// An operator is looked at once per signature (types, shapes, attributes): PyTorch's meta kernel gives the types of the
// results or the user's error, and tracing::check() says whether tracing can emit exactly these. If so, it is recorded;
// else the CPU computes it, and a counter with the operator's name says so.
#include "python/torch_xla/csrc/Trace.h"

#include <ATen/ops/scalar_tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <bit>
#include <shared_mutex>

namespace millrace::torch_shim {
namespace {

using tracing::Arg;
using tracing::Operand;

enum class Kind { Tensor, TensorList, OptionalTensorList, Number, Type, Ignored, Plain };

struct OpInfo {
  std::optional<c10::OperatorHandle> handle; // a copy: the reference that a kernel gets does not outlive the call
  const tracing::Op *op = nullptr;
  std::vector<Kind> kinds;
  std::vector<size_t> written;
  bool isOut = false, isView = false, isAten = false, takesCpuIndices = false;
  std::optional<c10::OperatorHandle> functional; ///< of an operator that writes; its arguments are the first ones
};

Kind kindOf(const c10::Argument &argument) {
  c10::TypePtr type = argument.real_type();
  if (auto optional = type->cast<c10::OptionalType>())
    type = optional->getElementType();
  std::string text = type->str();
  if (text == "Tensor")
    return Kind::Tensor;
  if (text == "Tensor[]")
    return Kind::TensorList;
  if (text == "Tensor?[]")
    return Kind::OptionalTensorList;
  if (text == "Scalar" || text == "number")
    return Kind::Number;
  if (text == "ScalarType")
    return Kind::Type;
  if (text == "Device" || text == "Layout" || text == "MemoryFormat" || text == "Generator")
    return Kind::Ignored;
  return Kind::Plain;
}

bool sameArguments(const c10::FunctionSchema &a, const c10::FunctionSchema &b, size_t count) {
  if (b.arguments().size() != count || b.is_mutable())
    return false;
  for (size_t i = 0; i < count; ++i)
    if (a.arguments()[i].name() != b.arguments()[i].name() ||
        a.arguments()[i].real_type()->str() != b.arguments()[i].real_type()->str())
      return false;
  return true;
}

/// add_.Tensor -> add.Tensor, add.out -> add.Tensor: the same arguments but those written to.
std::optional<c10::OperatorHandle> functionalOf(const c10::FunctionSchema &schema, bool isOut) {
  std::string name = schema.name();
  size_t count = schema.arguments().size();
  if (isOut)
    for (const c10::Argument &argument : schema.arguments())
      count -= argument.is_out() || (argument.alias_info() && argument.alias_info()->isWrite());
  if (!isOut && name.back() == '_')
    name.pop_back();
  // All operators by name, once.
  static const auto *byName = [] {
    auto *made = new std::unordered_map<std::string, std::vector<c10::OperatorName>>;
    for (const c10::OperatorName &op : c10::Dispatcher::singleton().getAllOpNames())
      (*made)[op.name].push_back(op);
    return made;
  }();
  auto found = byName->find(name);
  if (found == byName->end())
    return std::nullopt;
  for (const c10::OperatorName &candidate : found->second) {
    auto handle = c10::Dispatcher::singleton().findSchema(candidate);
    if (handle && sameArguments(schema, handle->schema(), count))
      return handle;
  }
  return std::nullopt;
}

const OpInfo &infoOf(const c10::OperatorHandle &op) {
  static std::shared_mutex mutex;
  static auto *infos = new std::unordered_map<const void *, std::unique_ptr<OpInfo>>;
  const void *id = &op.schema();
  {
    std::shared_lock lock(mutex);
    auto found = infos->find(id);
    if (found != infos->end())
      return *found->second;
  }
  auto info = std::make_unique<OpInfo>();
  const c10::FunctionSchema &schema = op.schema();
  info->handle = op;
  info->isAten = schema.name().rfind("aten::", 0) == 0;
  info->takesCpuIndices = schema.name().find("index") != std::string::npos;
  info->op = tracing::findOp(schema.overload_name().empty() ? schema.name()
                                                            : schema.name() + "." + schema.overload_name());
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument &argument = schema.arguments()[i];
    info->kinds.push_back(kindOf(argument));
    if (const c10::AliasInfo *alias = argument.alias_info()) {
      if (alias->isWrite()) {
        info->written.push_back(i);
        info->isOut |= argument.is_out() || argument.kwarg_only();
      } else {
        info->isView = true;
      }
    }
  }
  if (!info->written.empty()) {
    info->isView = false;
    info->functional = functionalOf(schema, info->isOut);
  }
  std::unique_lock lock(mutex);
  return *infos->emplace(id, std::move(info)).first->second;
}

/// What is known about a signature.
struct Signature {
  bool canRecord = false;
  std::vector<Shape> shapes;
  /// Per result of the schema: -2 a tensor, -1 an undefined tensor, n >= 0 a list of n tensors.
  std::vector<int> layout;
};

/// Everything that tracing knows of one call, and the key of its signature.
class Builder {
public:
  explicit Builder(const OpInfo &info) : info(info) { key.reserve(256); }
  std::vector<Value> operands;
  std::vector<Arg> args;
  std::string key;
  bool isPlain = true; ///< false: an argument that no emission understands

  void add(const c10::IValue &value, Kind kind) {
    if (value.isNone() || kind == Kind::Ignored)
      return push(std::monostate());
    switch (kind) {
    case Kind::Tensor:
      return addTensor(value.toTensor());
    case Kind::TensorList: {
      std::vector<Operand> list;
      for (const Tensor &tensor : value.toTensorVector())
        list.push_back(operand(tensor));
      return push(std::move(list));
    }
    case Kind::OptionalTensorList: {
      std::vector<Operand> list;
      for (const c10::IValue &item : value.toListRef())
        list.push_back(item.isNone() || !item.toTensor().defined() ? Operand{} : operand(item.toTensor()));
      return push(std::move(list));
    }
    case Kind::Number:
      if (value.isDouble())
        return addNumber(value.toDouble());
      if (value.isInt())
        return addNumber(value.toInt());
      if (value.isBool())
        return push(value.toBool());
      if (value.isComplexDouble())
        return push(addOperand(upload(at::scalar_tensor(value.toScalar(), at::TensorOptions().dtype(at::kComplexDouble)))));
      isPlain = false;
      return push(std::monostate());
    case Kind::Type:
      return push(dtypeOf(c10::ScalarType(value.toInt())));
    default:
      break;
    }
    if (value.isInt())
      return push(value.toInt());
    if (value.isSymInt())
      return push(value.toSymInt().guard_int(__FILE__, __LINE__));
    if (value.isDouble())
      return push(value.toDouble());
    if (value.isBool())
      return push(value.toBool());
    if (value.isString())
      return push(value.toStringRef());
    if (value.isIntList())
      return push(value.toIntVector());
    if (value.isBoolList()) {
      std::vector<int64_t> list;
      for (bool item : value.toBoolList())
        list.push_back(item);
      return push(std::move(list));
    }
    if (value.isDoubleList())
      return push(value.toDoubleVector());
    if (value.isList()) { // symbolic sizes
      std::vector<int64_t> list;
      for (const c10::IValue &item : value.toListRef())
        if (item.isInt())
          list.push_back(item.toInt());
        else
          isPlain = false;
      return push(std::move(list));
    }
    isPlain = false;
    push(std::monostate());
  }

private:
  template <typename T>
  void raw(const T &value) {
    key.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void push(Arg arg) {
    raw(uint8_t(arg.index()));
    std::visit(
        [&](const auto &value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (requires { value.size(); }) {
            raw(uint32_t(value.size()));
            key.append(reinterpret_cast<const char *>(value.data()), value.size() * sizeof(*value.data()));
          } else if constexpr (!std::is_same_v<T, std::monostate>) {
            raw(value);
          }
        },
        arg);
    args.push_back(std::move(arg));
  }
  Operand addOperand(Value value) {
    const Shape &shape = value.shape();
    raw(shape.dtype);
    raw(value.node->isWeak);
    raw(uint32_t(shape.dims.size()));
    key.append(reinterpret_cast<const char *>(shape.dims.data()), shape.dims.size() * sizeof(int64_t));
    operands.push_back(std::move(value));
    return Operand{int32_t(operands.size() - 1)};
  }
  /// Numbers are parameters of the program, so that a learning rate does not change it; but 0 and 1 are constants, which
  /// simplifies much (XLA_NO_SPECIAL_SCALARS=1: not even these).
  template <typename T>
  void addNumber(T value) {
    static const bool noneSpecial = [] {
      const char *set = std::getenv("XLA_NO_SPECIAL_SCALARS");
      return set && *set && std::string(set) != "0";
    }();
    bool isConstant = (info.op && info.op->numbersAreStatic) || (!noneSpecial && (value == 0 || value == 1));
    if (isConstant)
      push(value);
    else
      push(addOperand(tracing::number(value)));
  }
  void addTensor(const Tensor &tensor) {
    if (!tensor.defined())
      return push(std::monostate());
    if (!isXla(tensor) && tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
      if (tensor.scalar_type() == c10::ScalarType::Double)
        return addNumber(*tensor.const_data_ptr<double>());
      if (tensor.scalar_type() == c10::ScalarType::Long)
        return addNumber(*tensor.const_data_ptr<int64_t>());
      if (tensor.scalar_type() == c10::ScalarType::Bool)
        return push(*tensor.const_data_ptr<bool>());
    }
    push(operand(tensor));
  }
  Operand operand(const Tensor &tensor) {
    if (isXla(tensor))
      return addOperand(shown(tensor));
    TORCH_CHECK(tensor.dim() == 0 || info.takesCpuIndices, "Input tensor is not an XLA tensor: torch.",
                c10::toString(tensor.scalar_type()), "Tensor");
    return addOperand(upload(tensor));
  }
  /// Some operators get lazily conjugated or negated tensors as they are: products of matrices, torch.linalg.
  static Value shown(const Tensor &tensor) {
    Value value = valueOf(tensor);
    Shape shape = value.shape();
    if (tensor.is_conj())
      value = node("millrace::conj", {std::move(value)}, {Operand{0}}, shape);
    if (tensor.is_neg())
      value = node("aten::neg", {std::move(value)}, {Operand{0}}, shape);
    return value;
  }
  const OpInfo &info;
};

/// Runs `op` on tensors without values: meta tensors give the types of its results, zeros on the CPU the CPU's own words
/// for what is wrong.
torch::jit::Stack runWithoutValues(const OpInfo &info, c10::ArrayRef<c10::IValue> args, c10::DeviceType device) {
  c10::impl::ExcludeDispatchKeyGuard noAutograd(c10::autograd_dispatch_keyset |
                                                c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView));
  c10::impl::ExcludeDispatchKeyGuard noAutocast(c10::autocast_dispatch_keyset);
  auto meta = [&](const Tensor &tensor) {
    if (!tensor.defined() || (!isXla(tensor) && tensor.dim() == 0))
      return tensor;
    return at::zeros(tensor.sizes(), at::TensorOptions().dtype(tensor.scalar_type()).device(device));
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
    } else if (info.kinds[i] == Kind::OptionalTensorList && value.isList()) {
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
  info.handle->callBoxed(stack);
  return stack;
}

Signature inspect(const OpInfo &info, const Builder &call, c10::ArrayRef<c10::IValue> args) {
  Signature made;
  torch::jit::Stack results;
  try {
    results = runWithoutValues(info, args, c10::kMeta);
  } catch (const std::exception &) {
    // Meta kernels written in Python have words of their own for an error: the CPU's are better. If the CPU finds nothing
    // wrong, there is no meta kernel; the types are those of the CPU's results, which do not depend on values where there is
    // an emission.
    results = runWithoutValues(info, args, c10::kCPU);
  }
  std::vector<size_t> undefined;
  auto add = [&](const Tensor &tensor) {
    made.shapes.push_back({dtypeOf(tensor.scalar_type()), tensor.sizes().vec()});
  };
  for (const c10::IValue &result : results) {
    if (result.isTensor() && result.toTensor().defined()) {
      add(result.toTensor());
      made.layout.push_back(-2);
    } else if (result.isTensor() || result.isNone()) {
      undefined.push_back(made.shapes.size());
      made.shapes.emplace_back();
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
  for (size_t index : undefined)
    for (const Shape &shape : std::vector<Shape>(made.shapes))
      if (shape.dtype != runtime::DType::Invalid) {
        made.shapes[index] = {shape.dtype, {0}};
        break;
      }
  runtime::Status status = tracing::check(info.op, call.operands, call.args, made.shapes);
  made.canRecord = status.ok();
  static const bool explain = std::getenv("MILLRACE_EXPLAIN_FALLBACK");
  if (!status.ok() && explain)
    TORCH_WARN("not emitted: ", info.op->name, ": ", std::string(status.message()));
  return made;
}

/// Null if the operator has no emission for these arguments.
const Signature *signatureOf(const OpInfo &info, const Builder &call, c10::ArrayRef<c10::IValue> args) {
  static std::shared_mutex mutex;
  static auto *known = new std::unordered_map<std::string, std::unique_ptr<Signature>>;
  {
    std::shared_lock lock(mutex);
    auto found = known->find(call.key);
    if (found != known->end())
      return found->second.get();
  }
  auto made = std::make_unique<Signature>(inspect(info, call, args)); // may take the GIL: no lock of ours is held
  std::unique_lock lock(mutex);
  return known->emplace(call.key, std::move(made)).first->second.get();
}

bool tryRecord(const OpInfo &info, torch::jit::Stack *stack) {
  if (!info.op)
    return false;
  size_t count = info.kinds.size();
  c10::ArrayRef<c10::IValue> args(stack->data() + stack->size() - count, count);
  Builder call(info);
  call.key.append(reinterpret_cast<const char *>(&info.op), sizeof info.op);
  for (size_t i = 0; i < count; ++i)
    call.add(args[i], info.kinds[i]);
  if (!call.isPlain)
    return false;
  const Signature *signature = signatureOf(info, call, args);
  if (!signature->canRecord)
    return false;
  Value made = tracing::record(info.op, std::move(call.operands), std::move(call.args), signature->shapes);
  torch::jit::drop(*stack, count);
  uint32_t index = 0;
  for (int kind : signature->layout) {
    if (kind == -2) {
      stack->emplace_back(wrap({made.node, index++}));
    } else if (kind == -1) {
      ++index;
      stack->emplace_back(Tensor());
    } else {
      c10::List<Tensor> list;
      for (int i = 0; i < kind; ++i)
        list.push_back(wrap({made.node, index++}));
      stack->emplace_back(std::move(list));
    }
  }
  return true;
}

bool isMask(const c10::IValue &item) {
  if (item.isNone() || !item.isTensor() || !item.toTensor().defined())
    return false;
  c10::ScalarType type = item.toTensor().scalar_type();
  return type == c10::ScalarType::Bool || type == c10::ScalarType::Byte;
}

/// x[mask] = number: a selection, without the positions. The mask covers the leading dims.
bool tryMaskedFill(const OpInfo &info, torch::jit::Stack *stack) {
  const std::string &name = info.handle->schema().name();
  size_t count = info.kinds.size();
  if (name != "aten::index_put" && name != "aten::index_put_" && name != "aten::_index_put_impl_")
    return false;
  c10::IValue *args = stack->data() + stack->size() - count;
  c10::ArrayRef<c10::IValue> indices = args[1].toListRef();
  Tensor self = args[0].toTensor(), values = args[2].toTensor();
  if (indices.size() != 1 || !isMask(indices[0]) || args[3].toBool() || values.dim() || !isXla(self))
    return false;
  Tensor mask = indices[0].toTensor();
  if (!isXla(mask) || mask.sizes() != self.sizes().slice(0, std::min(mask.dim(), self.dim())))
    return false;
  std::vector<int64_t> sizes = mask.sizes().vec();
  sizes.resize(self.dim(), 1);
  Value shaped = node("millrace::reshape", {valueOf(mask)}, {Operand{0}}, {dtypeOf(mask.scalar_type()), sizes});
  Value value = isXla(values) ? valueOf(values) : upload(values);
  Shape shape{dtypeOf(self.scalar_type()), self.sizes().vec()};
  Value made = node("aten::where.self", {shaped, value, valueOf(self)}, {Operand{0}, Operand{1}, Operand{2}}, shape);
  torch::jit::drop(*stack, count);
  if (info.written.empty()) {
    stack->emplace_back(wrap(made));
  } else {
    setValue(self, made);
    stack->emplace_back(self);
  }
  return true;
}

/// Masks among the indices become positions. How many there are is a value: the graph is cut here.
void replaceMasks(const OpInfo &info, torch::jit::Stack *stack) {
  size_t count = info.kinds.size();
  for (size_t i = 0; i < count; ++i) {
    c10::IValue &argument = *(stack->end() - long(count) + long(i));
    if (info.kinds[i] != Kind::OptionalTensorList || !argument.isList())
      continue;
    c10::ArrayRef<c10::IValue> items = argument.toListRef();
    if (std::none_of(items.begin(), items.end(), isMask))
      continue;
    c10::List<std::optional<Tensor>> list;
    Tensor self = (stack->end() - long(count))->toTensor();
    int64_t at = 0; // the dim of `self` that the next index is for
    for (const c10::IValue &item : items) {
      if (!isMask(item)) {
        list.push_back(item.isNone() ? std::optional<Tensor>() : item.toTensor());
        ++at;
        continue;
      }
      Tensor mask = item.toTensor();
      for (int64_t dim = 0; dim < mask.dim(); ++dim, ++at)
        TORCH_CHECK_INDEX(at < self.dim() && mask.size(dim) == self.size(at), "The shape of the mask ", mask.sizes(),
                          " at index ", dim, " does not match the shape of the indexed tensor ", self.sizes(), " at index ", at);
      for (const Tensor &positions : positionsOf(mask))
        list.push_back(positions);
    }
    argument = std::move(list);
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
  bool comesBack = !info.functional->hasKernelForDispatchKey(c10::DispatchKey::XLA) &&
                   info.functional->hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd);
  if (!functional.op && comesBack)
    return false;
  size_t count = info.kinds.size();
  torch::jit::Stack arguments(stack->end() - long(count), stack->end());
  std::vector<Tensor> targets;
  for (size_t index : info.written)
    if (!arguments[index].isTensor())
      return false;
    else
      targets.push_back(arguments[index].toTensor());
  for (const Tensor &target : targets)
    if (!isXla(target))
      return false;
  torch::jit::Stack inner(arguments.begin(), arguments.begin() + long(functional.kinds.size()));
  if (!tryRecord(functional, &inner)) {
    if (comesBack)
      return false;
    info.functional->callBoxed(inner);
  }
  if (inner.size() < targets.size())
    return false;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!inner[i].isTensor() || !inner[i].toTensor().defined())
      return false;
    if (info.isOut)
      resizeTo(targets[i], inner[i].toTensor().sizes());
    assign(targets[i], inner[i].toTensor());
  }
  size_t returned = info.handle->schema().returns().size();
  torch::jit::drop(*stack, count);
  for (size_t i = 0; i < returned; ++i)
    stack->emplace_back(i < targets.size() ? c10::IValue(targets[i]) : inner[i]);
  return true;
}

} // namespace

Value node(const char *name, std::vector<Value> operands, std::vector<Arg> args, Shape result) {
  const tracing::Op *op = tracing::findOp(name);
  TORCH_INTERNAL_ASSERT(op, name);
  return tracing::record(op, std::move(operands), std::move(args), {std::move(result)});
}

void runOnCpu(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  refuseInTrace(op.schema().name());
  const OpInfo &info = infoOf(op);
  size_t count = info.kinds.size();
  tracing::Metrics::get().count(op.schema().name());
  torch::jit::Stack originals(stack->end() - long(count), stack->end());
  torch::jit::drop(*stack, count);
  auto down = [](const Tensor &tensor) { return tensor.defined() && isXla(tensor) ? toCpu(tensor) : tensor; };
  torch::jit::Stack inner;
  for (size_t i = 0; i < count; ++i) {
    const c10::IValue &value = originals[i];
    if (value.isTensor()) {
      inner.emplace_back(down(value.toTensor()));
    } else if (value.isTensorList()) {
      c10::List<Tensor> list;
      for (const Tensor &tensor : value.toTensorVector())
        list.push_back(down(tensor));
      inner.emplace_back(std::move(list));
    } else if (info.kinds[i] == Kind::OptionalTensorList && value.isList()) {
      c10::List<std::optional<Tensor>> list;
      for (const c10::IValue &item : value.toListRef())
        list.push_back(item.isNone() ? std::optional<Tensor>() : down(item.toTensor()));
      inner.emplace_back(std::move(list));
    } else if (value.isDevice()) {
      inner.emplace_back(c10::Device(c10::kCPU));
    } else if (value.isGenerator()) {
      inner.emplace_back();
    } else {
      inner.push_back(value);
    }
  }
  torch::jit::Stack before = inner;
  {
    c10::impl::ExcludeDispatchKeyGuard noAutograd(c10::autograd_dispatch_keyset |
                                                  c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView));
    c10::impl::ExcludeDispatchKeyGuard noAutocast(c10::autocast_dispatch_keyset);
    op.callBoxed(inner);
  }
  auto writeBack = [](const Tensor &original, const Tensor &cpu) {
    if (!original.defined() || !isXla(original))
      return;
    resizeTo(original, cpu.sizes());
    setValue(original, upload(cpu));
  };
  for (size_t index : info.written) {
    if (originals[index].isTensor()) {
      writeBack(originals[index].toTensor(), before[index].toTensor());
    } else if (originals[index].isTensorList()) {
      std::vector<Tensor> targets = originals[index].toTensorVector(), values = before[index].toTensorVector();
      for (size_t i = 0; i < targets.size(); ++i)
        writeBack(targets[i], values[i]);
    }
  }
  auto up = [&](const Tensor &tensor) -> Tensor {
    if (!tensor.defined())
      return tensor;
    for (size_t i = 0; i < count; ++i) // an argument that was written is returned as itself
      if (before[i].isTensor() && before[i].toTensor().is_same(tensor) && originals[i].isTensor())
        return originals[i].toTensor();
    return wrap(upload(tensor));
  };
  for (const c10::IValue &result : inner) {
    if (result.isTensor()) {
      stack->emplace_back(up(result.toTensor()));
    } else if (result.isTensorList()) {
      c10::List<Tensor> list;
      for (const Tensor &tensor : result.toTensorVector())
        list.push_back(up(tensor));
      stack->emplace_back(std::move(list));
    } else {
      stack->push_back(result);
    }
  }
}

static void recordOrRun(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  const OpInfo &info = infoOf(op);
  if (info.takesCpuIndices && info.isAten) {
    if (tryMaskedFill(info, stack))
      return;
    replaceMasks(info, stack);
  }
  if (!info.written.empty()) {
    if (tryFunctional(info, stack))
      return;
  } else if (tryRecord(info, stack)) {
    return;
  }
  TORCH_CHECK(!info.isView, "the xla device has no ", toString(op.operator_name()),
              ", and running it on the CPU would lose that it is a view");
  runOnCpu(op, stack);
}

void record(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  if (!isEager())
    return recordOrRun(op, stack);
  EagerScope scope;
  recordOrRun(op, stack);
  if (EagerScope::isOutermost())
    runIfEager(*stack, op.schema().returns().size());
}

} // namespace millrace::torch_shim
