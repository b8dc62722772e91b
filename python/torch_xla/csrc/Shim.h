// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Shim.h - Between PyTorch's dispatcher and tracing/ ------------------===//
// Tensors on `xla` are plain c10::TensorImpl on the XLA dispatch key. What they alias is the state of their storage:
// its value as a node of the graph, and the values of the views that were read since. Only this folder includes torch.
#pragma once
#include "tracing/Session.h"
#include "tracing/emit/Emit.h"
#include "tracing/reports/Metrics.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

namespace millrace::torch_shim {

using at::Tensor;
using tracing::Shape;
using tracing::Value;

/// Throws what the user should see.
void raise(const runtime::Status &status);
/// If the status is that of a wait which a signal has ended: raises what Python's handler has raised. World.cpp
void raiseInterrupt(const runtime::Status &status);
template <typename T>
T valueOrRaise(runtime::StatusOr<T> value) {
  if (!value)
    raise(value.status());
  return std::move(*value);
}

runtime::DType dtypeOf(c10::ScalarType type); ///< raises for types the device does not have
c10::ScalarType scalarTypeOf(runtime::DType type);
/// The device of what this thread makes (Devices.h).
c10::Device xlaDevice();
/// Devices of this process: 1 under SPMD, where all of them are one.
c10::DeviceIndex deviceCount() noexcept;
void beOneDevice(bool isIt);
inline bool isXla(const Tensor &t) { return t.device().type() == c10::kXLA; }

/// "CPU", if PJRT_DEVICE says so, or nothing (then a line on stderr does, once); raises for other devices. Api.cpp
std::string chooseDevice();

//===-- Tensors.cpp ---------------------------------------------------------===//

/// The value of a view, remembered until the storage is written.
struct View {
  std::vector<int64_t> sizes, strides;
  int64_t offset;
  runtime::DType dtype;
  Value value;
};

/// Where views of one geometry began that programs have read or written (Windows.cpp).
struct SeenWindow {
  std::vector<int64_t> sizes, strides;
  uint64_t step; ///< when they were first used
  std::vector<int64_t> offsets; ///< in that step
  bool moves = false;
};

class Storage : public c10::StorageImpl {
public:
  Storage(Value value, size_t bytes);
  ~Storage() override;
  Value base; ///< row-major; its shape is that of the storage
  const uint64_t serial; ///< never used again
  std::vector<View> views;
  std::vector<SeenWindow> windows;
  const bool isCaptured;    ///< made while a decomposition was recorded: holds no value of the user's program
  Storage *previous, *next; ///< all storages of the process, in the order in which they were made
  tracing::ShardingPtr sharding; ///< the user's, for whatever it will hold; or null
  uint64_t writtenIn = 0; ///< the innermost function that was traced (Trace.h) where `base` was assigned; 0: none
  tracing::ShardingPtr held; ///< without one: of the parts that were there before what still has to be computed; or null
};

/// A new tensor with a storage of its own.
Tensor wrap(Value value);
/// The same with strides of its own (a memory format): the storage holds the elements in their order in memory.
Tensor wrap(Value value, at::IntArrayRef strides);
/// The elements of `tensor` in their order in memory, if it is all of a dense storage; else null.
Value memoryOf(const Tensor &tensor);
/// A tensor over all of a new storage, whose elements in memory are `memory`.
Tensor wrapMemory(Value memory, at::IntArrayRef sizes, at::IntArrayRef strides);
/// A tensor of another geometry over the storage of `base`.
Tensor viewOf(const Tensor &base, at::IntArrayRef sizes, at::IntArrayRef strides, int64_t offset);
/// What the storage holds where the tensor reads it: without lazy conjugation and negation.
Value valueOf(const Tensor &xla);
/// What a tensor of the device shows whose storage holds `value`, or what it has to hold to show `value`: lazy conjugation and negation are their own
/// inverse.
Value resolved(const Tensor &xla, Value value);
/// What `tensor`, of any device, shows as a value on this one, in its own type.
Value shownValue(const Tensor &tensor);
/// Whether the tensor shows all that its storage holds, as it lies there. Under Session::mutex.
bool showsAll(const Tensor &xla);
/// The sharding that a tensor keeps when it is written to; none for tensors that are views of others.
tracing::ShardingPtr annotationOf(const Tensor &xla);
void setAnnotation(const Tensor &xla, tracing::ShardingPtr sharding);
/// Rebinds what `xla` shows; `value` has its sizes and type.
void setValue(const Tensor &xla, Value value);
/// As setValue(), but converts and broadcasts, with PyTorch's errors where that is not allowed.
void assign(const Tensor &xla, const Value &result);
inline void assign(const Tensor &xla, const Tensor &result) { assign(xla, valueOf(result)); }
/// Gives `xla` (an out= argument) the sizes, as resize_ does.
void resizeTo(const Tensor &xla, at::IntArrayRef sizes);
Value upload(const Tensor &cpu);   ///< row-major
Tensor uploaded(const Tensor &cpu); ///< with the strides of `cpu`, as PyTorch copies them
Tensor toCpu(const Tensor &xla);
/// Values of all live tensors that have not been computed yet; forgets the values of views.
std::vector<Value> pendingValues();
/// `unknown`, and what of the plan depends on it.
std::unordered_set<const tracing::Node *> dependents(const tracing::Schedule &plan, std::unordered_set<const tracing::Node *> unknown);
/// Forgets what tensors hold that were made in a traced function and need a value of its arguments `inputs`.
void forgetTraced(const std::vector<Value> &inputs, uint64_t firstSerial);
uint64_t nextSerial(); ///< larger than those of all storages so far
/// All storages that anybody holds, in the order in which they were made.
std::vector<c10::intrusive_ptr<c10::StorageImpl>> liveStorages();
/// Values of all live tensors, by the serial numbers of their storages; forgets the values of views.
std::vector<std::pair<uint64_t, Value>> liveValues();
void syncAll();
/// Before the session's mutex is taken to run something: functions that this thread has not been seen in need the GIL.
void noteStack();
Value convertTo(Value value, c10::ScalarType type);
Value expandTo(Value value, at::IntArrayRef sizes);

//===-- Windows.cpp ---------------------------------------------------------===//

/// The view as a window of the storage's value whose position is a parameter of the program, if it moves from step to step; else null.
Value movingRead(Storage &storage, const Shape &shape, at::IntArrayRef strides, int64_t offset);
/// The storage's value with the view written to, in the same way; else null.
Value movingWrite(Storage &storage, const Value &value, at::IntArrayRef strides, int64_t offset);

//===-- Generator.cpp -------------------------------------------------------===//

/// While it lives, this thread draws from the generator of an operator's call, if it has one; raises if that is not of the device.
class DrawFrom {
public:
  explicit DrawFrom(const std::optional<at::Generator> &generator);
  /// For an operator that fills `target`. PyTorch calls the device's for a tensor of the CPU, too, if its generator is one of the device.
  DrawFrom(const std::optional<at::Generator> &generator, const Tensor &target);
  ~DrawFrom();
  DrawFrom(const DrawFrom &) = delete;

private:
  const at::Generator *outer;
};
/// 64 random bits for one operation; a parameter of the program.
Value nextRandomKey();
/// A number that nextRandomKey() drew, not one of the user's.
bool isRandomKey(const Value &value);
/// Until endSeed() this thread draws from a new generator with that seed, unless a call is given one.
void beginSeed(uint64_t seed);
void endSeed();
/// Of the process's generator.
void seedRandom(uint64_t seed);
std::pair<uint64_t, uint64_t> randomState(); ///< seed, draws
void setRandomState(uint64_t seed, uint64_t offset);

//===-- Decompose.cpp -------------------------------------------------------===//

/// A decomposition that is being recorded on this thread, from parameters (tracing::parameter) instead of values.
struct Capture {
  std::vector<Value> randomKeys; ///< parameters too: every call draws its own
  bool aborted = false;          ///< it asked for a value
};
extern thread_local Capture *capture;
/// Raises if a decomposition is being recorded: it needs a value. It will run anew in every call.
void abortCapture();
/// `callback(name)` registers PyTorch's decomposition of an operator under another name, which it returns, or None.
void setDecomposer(void *callback);
/// Sends an operator that PyTorch has a composite kernel for to record().
void route(const std::string &name);

//===-- Frames.cpp ----------------------------------------------------------===//

/// From now on nodes carry the user's place. `libraries`: folders of code that is not the user's.
void watchFrames(std::vector<std::string> libraries);
/// Where a kernel begins that will record under the session's mutex.
void noteFrame();

//===-- Record.cpp ----------------------------------------------------------===//

/// The kernel of every operator without one of its own: records, decomposes, or runs on the CPU.
void record(const c10::OperatorHandle &op, torch::jit::Stack *stack);
/// Per dim of `mask` where it is set, as operators with index tensors want them (Selection.cpp). Cuts the graph.
std::vector<Tensor> positionsOf(const Tensor &mask);
/// A single-result node that needs no inference.
Value node(const char *name, std::vector<Value> operands, std::vector<tracing::Arg> args, Shape result);

//===-- OnCpu.cpp -----------------------------------------------------------===//

/// Runs the operator on the CPU, with its inputs and results copied.
void runOnCpu(const c10::OperatorHandle &op, torch::jit::Stack *stack);

} // namespace millrace::torch_shim
