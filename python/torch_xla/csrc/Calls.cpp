// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Calls.cpp - What is known of an operator, and of one call of it -----===//
#include "python/torch_xla/csrc/Calls.h"
#include "python/torch_xla/csrc/Ir.h"
#include "runtime/base/Environment.h"

#include <ATen/ops/scalar_tensor.h>

#include <shared_mutex>

namespace millrace::torch_shim {

using tracing::Arg;
using tracing::Operand;

//===-- Operators -----------------------------------------------------------===//

static ArgKind kindOf(const c10::Argument &argument) {
  c10::TypePtr type = argument.real_type();
  if (auto optional = type->cast<c10::OptionalType>())
    type = optional->getElementType();
  std::string text = type->str();
  if (text == "Tensor")
    return ArgKind::Tensor;
  if (text == "Tensor[]")
    return ArgKind::TensorList;
  if (text == "Tensor?[]")
    return ArgKind::OptionalTensorList;
  if (text == "Scalar" || text == "number")
    return ArgKind::Number;
  if (text == "Scalar[]" || text == "number[]")
    return ArgKind::NumberList;
  if (text == "ScalarType")
    return ArgKind::Type;
  if (text == "Device" || text == "Layout" || text == "MemoryFormat" || text == "Generator")
    return ArgKind::Ignored;
  return ArgKind::Plain;
}

static bool sameArguments(const c10::FunctionSchema &a, const c10::FunctionSchema &b, size_t count) {
  if (b.arguments().size() != count || b.is_mutable())
    return false;
  for (size_t i = 0; i < count; ++i)
    if (a.arguments()[i].name() != b.arguments()[i].name() ||
        a.arguments()[i].real_type()->str() != b.arguments()[i].real_type()->str())
      return false;
  return true;
}

/// add_.Tensor -> add.Tensor, add.out -> add.Tensor: the same arguments but those written to.
static std::optional<c10::OperatorHandle> functionalOf(const c10::FunctionSchema &schema, bool isOut) {
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

static std::unique_ptr<OpInfo> describe(const c10::OperatorHandle &op) {
  auto info = std::make_unique<OpInfo>();
  const c10::FunctionSchema &schema = op.schema();
  info->handle = op;
  info->name = schema.overload_name().empty() ? schema.name() : schema.name() + "." + schema.overload_name();
  info->isAten = schema.name().rfind("aten::", 0) == 0;
  info->isForeach = schema.name().rfind("aten::_foreach_", 0) == 0;
  info->takesCpuIndices = schema.name().find("index") != std::string::npos;
  info->op = tracing::findOp(info->name);
  info->mayRefuse = suspicionOf(info->name);
  info->meta = metaKernelOf(info->name);
  if (info->isAten) { // the writing operator counts as the functional one
    std::string base = schema.name().substr(sizeof("aten::") - 1);
    if (base.size() > 1 && base.back() == '_' && base[base.size() - 2] != '_')
      base.pop_back();
    if (base == "_native_batch_norm_legit_functional") // what PyTorch makes of it here
      base = "native_batch_norm";
    info->calls = &tracing::Metrics::get().counter("xla::" + base);
  }
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument &argument = schema.arguments()[i];
    info->kinds.push_back(kindOf(argument));
    if (argument.name() == "generator")
      info->generator = i;
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
  return info;
}

const OpInfo &infoOf(const c10::OperatorHandle &op) {
  // Schemas stay where they are as long as the operator is registered; what is remembered has its own name to compare.
  struct Recent {
    const void *id = nullptr;
    const OpInfo *info = nullptr;
  };
  static thread_local Recent recent[256];
  const void *id = &op.schema();
  Recent &slot = recent[(uintptr_t(id) >> 6) % 256];
  if (slot.id == id)
    return *slot.info;
  static std::shared_mutex mutex;
  static auto *infos = new std::unordered_map<const void *, std::unique_ptr<OpInfo>>;
  const OpInfo *info = nullptr;
  {
    std::shared_lock lock(mutex);
    auto found = infos->find(id);
    if (found != infos->end())
      info = found->second.get();
  }
  if (!info) {
    std::unique_ptr<OpInfo> made = describe(op);
    std::unique_lock lock(mutex);
    info = infos->emplace(id, std::move(made)).first->second.get();
  }
  slot = {id, info};
  return *info;
}

//===-- Calls ---------------------------------------------------------------===//

CallReader::CallReader(const OpInfo &info, bool numbersByValue, std::vector<Arg> *args)
    : info(info), numbersByValue(numbersByValue), args(args) {
  const OpInfo *id = &info;
  raw(id);
  raw(numbersByValue);
  if (numbersByValue) // Python's code may ask for it
    raw(c10::typeMetaToScalarType(c10::get_default_dtype()));
}

void CallReader::read(c10::ArrayRef<c10::IValue> values) {
  std::lock_guard lock(tracing::Session::get().mutex); // once for all tensors
  operands.reserve(4);
  for (size_t i = 0; i < values.size(); ++i)
    add(values[i], info.kinds[i]);
}

template <typename T>
void CallReader::raw(const T &value) {
  const char *bytes = reinterpret_cast<const char *>(&value);
  text.append(bytes, bytes + sizeof value);
}

/// A part of the key that the emission sees.
template <typename T>
void CallReader::constant(const T &value) {
  raw(uint8_t('a' + Arg(value).index()));
  if constexpr (!std::is_same_v<T, std::monostate>)
    raw(value);
  if (args)
    args->push_back(value);
}

void CallReader::add(const c10::IValue &value, ArgKind kind) {
  if (value.isNone() || kind == ArgKind::Ignored)
    return constant(std::monostate());
  auto list = [&](char tag, c10::ArrayRef<c10::IValue> items) {
    raw(tag);
    raw(uint32_t(items.size()));
    std::vector<Operand> operandsOfList;
    for (const c10::IValue &item : items) {
      bool isThere = !item.isNone() && item.toTensor().defined();
      raw(isThere);
      operandsOfList.push_back(isThere ? operand(item.toTensor()) : Operand{});
    }
    if (args)
      args->push_back(std::move(operandsOfList));
  };
  switch (kind) {
  case ArgKind::Tensor:
    return addTensor(value.toTensor());
  case ArgKind::TensorList:
    return list('T', value.toListRef());
  case ArgKind::OptionalTensorList:
    return list('O', value.toListRef());
  case ArgKind::Number:
    if (value.isDouble())
      return addNumber(value.toDouble());
    if (value.isInt())
      return addNumber(value.toInt());
    if (value.isBool())
      return constant(value.toBool());
    if (value.isComplexDouble()) {
      Operand made =
          addOperand(upload(at::scalar_tensor(value.toScalar(), at::TensorOptions().dtype(at::kComplexDouble))));
      if (args)
        args->push_back(made);
      return;
    }
    isPlain = false;
    return;
  case ArgKind::Type:
    return constant(dtypeOf(c10::ScalarType(value.toInt())));
  default:
    return addPlain(value);
  }
}

void CallReader::addPlain(const c10::IValue &value) {
  if (value.isInt())
    return constant(value.toInt());
  if (value.isSymInt())
    return constant(value.toSymInt().guard_int(__FILE__, __LINE__));
  if (value.isDouble())
    return constant(value.toDouble());
  if (value.isBool())
    return constant(value.toBool());
  if (value.isString()) {
    const std::string &string = value.toStringRef();
    raw('S');
    raw(uint32_t(string.size()));
    text.append(string.begin(), string.end());
    if (args)
      args->push_back(string);
    return;
  }
  if (!value.isList()) {
    isPlain = false;
    return;
  }
  c10::ArrayRef<c10::IValue> items = value.toListRef();
  bool isDoubles = value.isDoubleList();
  raw(isDoubles ? 'D' : 'I');
  raw(uint32_t(items.size()));
  for (const c10::IValue &item : items) {
    if (item.isDouble() && isDoubles)
      raw(item.toDouble());
    else if (item.isInt())
      raw(item.toInt());
    else if (item.isBool())
      raw(int64_t(item.toBool()));
    else
      isPlain = false;
  }
  if (!args || !isPlain)
    return;
  if (isDoubles)
    return args->push_back(value.toDoubleVector());
  std::vector<int64_t> ints;
  for (const c10::IValue &item : items)
    ints.push_back(item.isBool() ? int64_t(item.toBool()) : item.toInt());
  args->push_back(std::move(ints));
}

Operand CallReader::addOperand(Value value) {
  const Shape &shape = value.shape();
  raw(shape.dtype);
  raw(value.node->isWeak);
  raw(uint8_t(shape.dims.size()));
  const char *dims = reinterpret_cast<const char *>(shape.dims.data());
  text.append(dims, dims + shape.dims.size() * sizeof(int64_t));
  operands.push_back(std::move(value));
  return Operand{int32_t(operands.size() - 1)};
}

std::atomic<Numbers> &numbersSetting() {
  static std::atomic<Numbers> setting = [] {
    return runtime::environment::isOn("XLA_NO_SPECIAL_SCALARS") ? Numbers::NoneConstant : Numbers::SpecialConstant;
  }();
  return setting;
}

/// Numbers are parameters of the program, so that a learning rate does not change it.
template <typename T>
static bool isConstant(const OpInfo &info, T value) {
  const Numbers setting = numbersSetting().load(std::memory_order_relaxed);
  return (info.op && info.op->numbersAreStatic) || setting == Numbers::AllConstant ||
         (setting == Numbers::SpecialConstant && (value == 0 || value == 1));
}

Value numberOperand(const OpInfo &info, const c10::IValue &number) {
  if (number.isDouble() && !isConstant(info, number.toDouble()))
    return tracing::number(number.toDouble());
  if (number.isInt() && !isConstant(info, number.toInt()))
    return tracing::number(int64_t(number.toInt()));
  return {};
}

bool CallReader::isBesideBytes() const {
  return !operands.empty() && (operands.front().shape().dtype == runtime::DType::I8 || operands.front().shape().dtype == runtime::DType::U8);
}

template <typename T>
void CallReader::addNumber(T value) {
  if (numbersByValue || isConstant(info, value) || (std::is_integral_v<T> && isBesideBytes()))
    return constant(value);
  raw('N');
  Operand made = addOperand(tracing::number(value));
  if (args)
    args->push_back(made);
}

void CallReader::addTensor(const Tensor &tensor) {
  if (!tensor.defined())
    return constant(std::monostate());
  if (!isXla(tensor) && tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    raw('W');
    if (tensor.scalar_type() == c10::ScalarType::Double)
      return addNumber(*tensor.const_data_ptr<double>());
    if (tensor.scalar_type() == c10::ScalarType::Long)
      return addNumber(*tensor.const_data_ptr<int64_t>());
    if (tensor.scalar_type() == c10::ScalarType::Bool)
      return constant(*tensor.const_data_ptr<bool>());
  }
  raw('V');
  Operand made = operand(tensor);
  if (args)
    args->push_back(made);
}

at::MemoryFormat formatOf(const Tensor &tensor) {
  for (at::MemoryFormat format : {at::MemoryFormat::ChannelsLast, at::MemoryFormat::ChannelsLast3d})
    if (!tensor.is_contiguous() && tensor.is_contiguous(format))
      return format;
  return at::MemoryFormat::Contiguous;
}

Operand CallReader::operand(const Tensor &tensor) {
  if (isXla(tensor)) {
    if (!tensor.is_contiguous() && formatOf(tensor) != at::MemoryFormat::Contiguous) {
      raw('L');
      hasFormat = true;
    }
    // Some operators get lazily conjugated or negated tensors as they are: products of matrices, torch.linalg.
    return addOperand(shownValue(tensor));
  }
  TORCH_CHECK(tensor.dim() == 0 || info.takesCpuIndices, "Input tensor is not an XLA tensor: torch.",
              c10::toString(tensor.scalar_type()), "Tensor");
  return addOperand(upload(tensor));
}

} // namespace millrace::torch_shim
