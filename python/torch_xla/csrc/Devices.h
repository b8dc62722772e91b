// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Devices.h - xla:0, xla:1, ... of one process ------------------------===//
// Without SPMD the process has CPU_NUM_DEVICES devices. They are names that tensors carry: all of them are the host's cores and its
// memory, one program may compute tensors of several. What a kernel makes is on the device of its arguments, which a scope says.
#pragma once
#include "python/torch_xla/csrc/GraphLimits.h"
#include "python/torch_xla/csrc/Shim.h"

#include <ATen/core/List.h>

namespace millrace::torch_shim {

/// While it lives, what this thread makes is on that device; nothing changes for an empty one.
class DeviceScope {
public:
  explicit DeviceScope(std::optional<c10::DeviceIndex> index);
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;

private:
  c10::DeviceIndex outer;
};

/// The index of a device that a program named: the thread's own where it named none; raises if there is no such device.
c10::DeviceIndex indexOf(const c10::Device &device);
/// Of the first tensor of the device, or what the user named.
class FoundDevice {
public:
  std::optional<c10::DeviceIndex> named, first;
  void add(const Tensor &tensor) {
    if (!first && tensor.defined() && isXla(tensor))
      first = tensor.device().index();
  }
  void add(const c10::Device &device) {
    if (device.type() == c10::kXLA)
      named = indexOf(device);
  }
  template <typename T>
  void add(const std::optional<T> &value) {
    if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, c10::Device>)
      if (value)
        add(*value);
  }
  void add(at::TensorList tensors) {
    for (const Tensor &tensor : tensors)
      add(tensor);
  }
  template <typename T>
  void add(const T &) {} ///< says nothing about devices
  std::optional<c10::DeviceIndex> get() const { return named ? named : first; }
};

/// The device of an operator's arguments; raises if its tensors are on several, as PyTorch does.
std::optional<c10::DeviceIndex> deviceOf(c10::ArrayRef<c10::IValue> args);

/// A kernel that PyTorch calls unboxed, inside of the scope of its arguments' device; raises if it was one operation too many.
template <auto kernel>
struct OnDevice;
template <typename Result, typename... Args, Result (*kernel)(Args...)>
struct OnDevice<kernel> {
  static Result call(Args... args) {
    FoundDevice device;
    if (deviceCount() > 1)
      (device.add(args), ...);
    DeviceScope scope(device.get());
    if constexpr (std::is_void_v<Result>) {
      kernel(std::forward<Args>(args)...);
      checkGraphLimits();
    } else {
      Result made = kernel(std::forward<Args>(args)...);
      checkGraphLimits();
      return made;
    }
  }
};
#define MILLRACE_KERNEL(kernel) TORCH_FN((OnDevice<&kernel>::call))

} // namespace millrace::torch_shim
