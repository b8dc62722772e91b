// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Indices.cpp - Masks among indices -----------------------------------===//
#include "python/torch_xla/csrc/Calls.h"
#include "python/torch_xla/csrc/Selection.h"

namespace millrace::torch_shim {

using tracing::Operand;

static bool isMask(const c10::IValue &item) {
  if (item.isNone() || !item.isTensor() || !item.toTensor().defined())
    return false;
  c10::ScalarType type = item.toTensor().scalar_type();
  return type == c10::ScalarType::Bool || type == c10::ScalarType::Byte;
}

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

bool tryMaskedRead(const OpInfo &info, torch::jit::Stack *stack) {
  size_t count = info.kinds.size();
  if (info.handle->schema().name() != "aten::index" || count != 2)
    return false;
  c10::IValue *args = stack->data() + stack->size() - count;
  c10::ArrayRef<c10::IValue> indices = args[1].toListRef();
  Tensor self = args[0].toTensor();
  if (indices.empty() || !isMask(indices[0]) || !isXla(self) ||
      !std::all_of(indices.begin() + 1, indices.end(), [](const c10::IValue &item) { return item.isNone(); }))
    return false;
  Tensor mask = indices[0].toTensor();
  if (!isXla(mask) || mask.dim() == 0 || mask.sizes() != self.sizes().slice(0, std::min(mask.dim(), self.dim())))
    return false;
  Tensor made = rowsOfMask(self, mask);
  torch::jit::drop(*stack, count);
  stack->emplace_back(std::move(made));
  return true;
}

void replaceMasks(const OpInfo &info, torch::jit::Stack *stack) {
  size_t count = info.kinds.size();
  for (size_t i = 0; i < count; ++i) {
    c10::IValue &argument = *(stack->end() - long(count) + long(i));
    if (info.kinds[i] != ArgKind::OptionalTensorList || !argument.isList())
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

} // namespace millrace::torch_shim
