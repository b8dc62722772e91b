// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Foreach.cpp - Operators on lists of tensors -------------------------===//
// _foreach_add_.Scalar is add.Scalar, once per tensor: recorded here without a dispatch per tensor. What does not fit is left
// to PyTorch's own kernel, which calls the operator on tensors.
#include "python/torch_xla/csrc/Calls.h"

#include <shared_mutex>

namespace millrace::torch_shim {
namespace {

struct Single {
  const OpInfo *info = nullptr;   ///< functional; null: there is none that fits
  std::vector<c10::IValue> rest;  ///< defaults of its arguments after those that the operator on lists has
};

/// "aten::_foreach_add_" -> "aten::add"
std::string singleName(const c10::FunctionSchema &schema) {
  std::string name = "aten::" + schema.name().substr(sizeof("aten::_foreach_") - 1);
  if (name.back() == '_')
    name.pop_back();
  return name;
}

bool fits(ArgKind list, ArgKind single) {
  if (list == ArgKind::TensorList || list == ArgKind::Tensor)
    return single == ArgKind::Tensor;
  if (list == ArgKind::NumberList)
    return single == ArgKind::Number;
  return list == single;
}

Single find(const OpInfo &info) {
  std::string name = singleName(info.handle->schema());
  for (const c10::OperatorName &candidate : c10::Dispatcher::singleton().getAllOpNames()) {
    if (candidate.name != name)
      continue;
    auto handle = c10::Dispatcher::singleton().findSchema(candidate);
    if (!handle || handle->schema().is_mutable() || handle->schema().returns().size() != 1)
      continue;
    const OpInfo &single = infoOf(*handle);
    if (!single.op || single.kinds.size() < info.kinds.size())
      continue;
    bool matches = true;
    for (size_t i = 0; i < info.kinds.size(); ++i)
      matches &= fits(info.kinds[i], single.kinds[i]);
    Single made{&single, {}};
    for (size_t i = info.kinds.size(); i < single.kinds.size(); ++i) {
      const auto &value = handle->schema().arguments()[i].default_value();
      matches &= value.has_value();
      made.rest.push_back(value.value_or(c10::IValue()));
    }
    if (matches)
      return made;
  }
  return {};
}

const Single &singleOf(const OpInfo &info) {
  static std::shared_mutex mutex;
  static auto *known = new std::unordered_map<const OpInfo *, std::unique_ptr<Single>>;
  {
    std::shared_lock lock(mutex);
    auto found = known->find(&info);
    if (found != known->end())
      return *found->second;
  }
  auto made = std::make_unique<Single>(find(info));
  std::unique_lock lock(mutex);
  return *known->emplace(&info, std::move(made)).first->second;
}

/// What was recorded for one place of the lists, recorded again for the next: for tensors of the same types there is nothing new to
/// find out.
class Repeater {
public:
  Repeater(const OpInfo &lists, const OpInfo &single, c10::ArrayRef<c10::IValue> args) : lists(lists), single(single), args(args) {}

  void learn(size_t place, const Recorded &results) {
    node = nullptr;
    if (results.node->op != single.op || *results.layout != Layout{-2} || !results.formats->empty())
      return;
    size_t operands = 0;
    for (size_t i = 0; i < args.size(); ++i) // what is not in a list is a number; a tensor there has not this place
      if (lists.kinds[i] == ArgKind::TensorList)
        operands += isSimple(tensor(i, place));
      else if (lists.kinds[i] == ArgKind::Number || lists.kinds[i] == ArgKind::NumberList)
        operands += bool(numberOperand(single, number(i, place)));
      else
        return;
    if (operands != results.node->operands.size())
      return;
    node = results.node;
    learned = place;
  }

  /// Null: something is different there.
  Value repeat(size_t place) const {
    if (!node)
      return {};
    std::vector<Value> operands;
    operands.reserve(node->operands.size());
    for (size_t i = 0; i < args.size(); ++i) {
      if (lists.kinds[i] == ArgKind::TensorList) {
        const Tensor &now = tensor(i, place), &before = tensor(i, learned);
        if (!isSimple(now) || now.scalar_type() != before.scalar_type() || now.sizes() != before.sizes())
          return {};
        operands.push_back(valueOf(now));
        if (operands.back().node->isWeak)
          return {};
      } else if (Value made = numberOperand(single, number(i, place))) {
        if (operands.size() >= node->operands.size() || made.shape() != node->operands[operands.size()].shape())
          return {};
        operands.push_back(std::move(made));
      } else if (lists.kinds[i] == ArgKind::NumberList) {
        return {};
      }
    }
    if (operands.size() != node->operands.size())
      return {};
    return tracing::record(node->kind, std::move(operands), node->origin);
  }

private:
  const Tensor &tensor(size_t arg, size_t place) const { return args[arg].toListRef()[place].toTensor(); }
  const c10::IValue &number(size_t arg, size_t place) const {
    return lists.kinds[arg] == ArgKind::NumberList ? args[arg].toListRef()[place] : args[arg];
  }
  static bool isSimple(const Tensor &tensor) { return tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg(); }

  const OpInfo &lists, &single;
  c10::ArrayRef<c10::IValue> args;
  tracing::NodePtr node; ///< null: there is nothing to repeat
  size_t learned = 0;
};

Value computeOne(const OpInfo &single, const std::vector<c10::IValue> &args, size_t place, Repeater &repeater) {
  Recorded results;
  if (recordValues(single, args, results)) {
    repeater.learn(place, results);
    return {results.node, 0};
  }
  torch::jit::Stack stack(args.begin(), args.end());
  single.handle->callBoxed(stack);
  return valueOf(stack[0].toTensor());
}

} // namespace

bool tryForeach(const OpInfo &info, torch::jit::Stack *stack) {
  bool writes = !info.written.empty();
  if (info.isOut || info.kinds[0] != ArgKind::TensorList || (writes && info.written != std::vector<size_t>{0}))
    return false;
  const Single &single = singleOf(info);
  if (!single.info)
    return false;
  size_t count = info.kinds.size();
  c10::ArrayRef<c10::IValue> args(stack->data() + stack->size() - count, count);
  c10::ArrayRef<c10::IValue> self = args[0].toListRef();
  for (size_t i = 0; i < count; ++i) {
    bool isList = info.kinds[i] == ArgKind::TensorList || info.kinds[i] == ArgKind::NumberList;
    if (isList && args[i].toListRef().size() != self.size())
      return false; // PyTorch's kernel has the words for it
    if (info.kinds[i] == ArgKind::TensorList)
      for (const c10::IValue &item : args[i].toListRef())
        if (!isXla(item.toTensor()))
          return false;
  }
  std::vector<c10::IValue> one(args.begin(), args.end());
  one.insert(one.end(), single.rest.begin(), single.rest.end());
  c10::List<Tensor> made;
  Repeater repeater(info, *single.info, args);
  auto finish = [&](size_t k, Value value) {
    if (writes)
      assign(self[k].toTensor(), value);
    else
      made.push_back(wrap(std::move(value)));
  };
  for (size_t k = 0; k < self.size(); ++k) {
    { // once for all that are alike
      std::lock_guard lock(tracing::Session::get().mutex);
      for (Value value; k < self.size() && (value = repeater.repeat(k)); ++k)
        finish(k, std::move(value));
    }
    if (k == self.size())
      break;
    for (size_t i = 0; i < count; ++i)
      if (info.kinds[i] == ArgKind::TensorList || info.kinds[i] == ArgKind::NumberList)
        one[i] = args[i].toListRef()[k];
    finish(k, computeOne(*single.info, one, k, repeater));
  }
  torch::jit::drop(*stack, count);
  if (!writes)
    stack->emplace_back(std::move(made));
  return true;
}

} // namespace millrace::torch_shim
