// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Calls.h - What is known of an operator, and of one call of it -------===//
#pragma once
#include "python/torch_xla/csrc/MetaKernels.h"
#include "python/torch_xla/csrc/Refusals.h"
#include "python/torch_xla/csrc/Shim.h"

#include <atomic>

namespace millrace::torch_shim {

enum class ArgKind : uint8_t { Tensor, TensorList, OptionalTensorList, Number, NumberList, Type, Ignored, Plain };

/// An operator of PyTorch.
struct OpInfo {
  std::optional<c10::OperatorHandle> handle; // a copy: the reference that a kernel gets does not outlive the call
  const tracing::Op *op = nullptr;           ///< its emission, or null
  std::string name;                          ///< "aten::add.Tensor"
  std::vector<ArgKind> kinds;
  std::vector<size_t> written;
  std::optional<size_t> generator; ///< the argument that is one
  bool isOut = false, isView = false, isAten = false, takesCpuIndices = false, isForeach = false;
  std::optional<c10::OperatorHandle> functional; ///< of an operator that writes; its arguments are the first ones
  /// What PyTorch's decomposition of it was registered as; asked for on first use.
  mutable std::atomic<bool> decompositionIsKnown{false};
  mutable std::optional<c10::OperatorHandle> decomposition;
  mutable std::atomic<uint32_t> composites{0}; ///< made of its decomposition so far
  Suspicion mayRefuse = nullptr;               ///< null: there are no numbers that it would refuse
  const c10::KernelFunction *meta = nullptr;   ///< PyTorch's compiled shape function; null: ask the dispatcher (MetaKernels.h)
  std::atomic<int64_t> *calls = nullptr;       ///< the counter "xla::add"; of operators of PyTorch
};
const OpInfo &infoOf(const c10::OperatorHandle &op);

/// The operands of a call, and a text that is equal for calls that differ in the values of their operands only.
class CallReader {
public:
  /// `numbersByValue`: numbers are part of the key. Else they are operands, except where they decide about code.
  CallReader(const OpInfo &info, bool numbersByValue, std::vector<tracing::Arg> *args = nullptr);
  /// Takes Session::mutex.
  void read(c10::ArrayRef<c10::IValue> args);
  std::string_view key() const { return {text.data(), text.size()}; }
  std::vector<Value> operands;
  bool isPlain = true; ///< false: an argument that no emission understands
  bool hasFormat = false; ///< a tensor is channels_last: results may be, too

private:
  void add(const c10::IValue &value, ArgKind kind);
  void addPlain(const c10::IValue &value);
  void addTensor(const Tensor &tensor);
  template <typename T>
  void addNumber(T value);
  /// Returns true if the first operand has integers of 8 bits: numbers beside them are zero points of codes, from which kernels are chosen.
  bool isBesideBytes() const;
  tracing::Operand operand(const Tensor &tensor);
  tracing::Operand addOperand(Value value);
  template <typename T>
  void raw(const T &value);
  template <typename T>
  void constant(const T &value);

  const OpInfo &info;
  bool numbersByValue;
  std::vector<tracing::Arg> *args; ///< what the emission gets, if that is wanted
  c10::SmallVector<char, 384> text;
};

/// A number of a call as an operand; null if it is a constant of the program, or of a type that is none.
Value numberOperand(const OpInfo &info, const c10::IValue &number);

/// channels_last or channels_last_3d if that is how the tensor lies in memory, and row-major is not; else contiguous.
at::MemoryFormat formatOf(const Tensor &tensor);

/// How results of one node become results of an operator: per result of the schema -2 a tensor, -1 an undefined tensor,
/// n >= 0 a list of n tensors.
using Layout = std::vector<int>;
/// Per tensor of the results its strides, where they are not those of a row-major one; empty: all are.
using Formats = std::vector<std::vector<int64_t>>;

/// Results of an operator that were recorded.
struct Recorded {
  tracing::NodePtr node;
  const Layout *layout = nullptr;
  const Formats *formats = nullptr;
};

//===-- Record.cpp ----------------------------------------------------------===//
/// By the operator's emission, or by that of its decomposition. False: neither fits. Throws the user's errors.
bool recordValues(const OpInfo &info, c10::ArrayRef<c10::IValue> args, Recorded &results);
/// Runs `op` on tensors without values: meta tensors give the types of its results, zeros on the CPU the CPU's own words
/// for what is wrong.
torch::jit::Stack runWithoutValues(const OpInfo &info, c10::ArrayRef<c10::IValue> args, c10::DeviceType device);
/// Adds lines with the types of the operator's tensors: PyTorch's words name a size or two, not what they are of.
void nameOperands(c10::Error &error, const OpInfo &info, c10::ArrayRef<c10::IValue> args);
/// Replaces the arguments on the stack by the results.
void pushResults(const Recorded &results, torch::jit::Stack *stack, size_t arguments);

//===-- Decompose.cpp -------------------------------------------------------===//
bool decomposeValues(const OpInfo &info, c10::ArrayRef<c10::IValue> args, Recorded &results);
/// Runs the decomposition as it is, if there is one.
bool runDecomposition(const OpInfo &info, torch::jit::Stack *stack);

//===-- Foreach.cpp ---------------------------------------------------------===//
/// An operator on lists, as the operator on tensors that it repeats.
bool tryForeach(const OpInfo &info, torch::jit::Stack *stack);

//===-- Indices.cpp ---------------------------------------------------------===//
/// x[mask] = number: a selection, without the positions. The mask covers the leading dims.
bool tryMaskedFill(const OpInfo &info, torch::jit::Stack *stack);
/// Masks among the indices become positions. How many there are is a value: the graph is cut here.
void replaceMasks(const OpInfo &info, torch::jit::Stack *stack);

} // namespace millrace::torch_shim
