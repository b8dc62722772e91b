// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Devices.cpp - xla:0, xla:1, ... of one process ----------------------===//
#include "python/torch_xla/csrc/Devices.h"
#include "runtime/base/Environment.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <algorithm>

namespace millrace::torch_shim {
namespace {

thread_local c10::DeviceIndex currentDevice = 0;
std::atomic<bool> areOneDevice{false};

/// PyTorch's engine has a thread per device, and counts devices in 8 bits.
constexpr uint64_t kMostDevices = 64;

/// PyTorch asks for it before anything is computed: the runtime is not started for an answer.
c10::DeviceIndex devicesOfEnvironment() noexcept {
  return c10::DeviceIndex(std::clamp<uint64_t>(runtime::environment::count("CPU_NUM_DEVICES").value_or(1), 1, kMostDevices));
}

struct Guard final : c10::impl::DeviceGuardImplInterface {
  at::DeviceType type() const override { return at::kXLA; }
  c10::Device exchangeDevice(c10::Device device) const override {
    c10::Device outer = xlaDevice();
    uncheckedSetDevice(device);
    return outer;
  }
  c10::Device getDevice() const override { return xlaDevice(); }
  void setDevice(c10::Device device) const override { uncheckedSetDevice(device); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.index() >= 0 && device.index() < deviceCount())
      currentDevice = device.index();
  }
  c10::Stream getStream(c10::Device d) const override { return c10::Stream(c10::Stream::DEFAULT, d); }
  c10::Stream exchangeStream(c10::Stream) const override { return c10::Stream(c10::Stream::DEFAULT, xlaDevice()); }
  c10::DeviceIndex deviceCount() const noexcept override { return torch_shim::deviceCount(); }
};
C10_REGISTER_GUARD_IMPL(XLA, Guard);

} // namespace

c10::DeviceIndex deviceCount() noexcept {
  static const c10::DeviceIndex all = devicesOfEnvironment();
  return areOneDevice.load(std::memory_order_relaxed) ? c10::DeviceIndex(1) : all;
}

void beOneDevice(bool isIt) { areOneDevice = isIt; }

c10::Device xlaDevice() { return c10::Device(c10::kXLA, currentDevice < deviceCount() ? currentDevice : c10::DeviceIndex(0)); }

c10::DeviceIndex indexOf(const c10::Device &device) {
  if (!device.has_index())
    return xlaDevice().index();
  TORCH_CHECK(device.index() < deviceCount(), "there is no device ", device, ": this process has xla:0",
              deviceCount() > 1 ? " to xla:" + std::to_string(deviceCount() - 1) : "");
  return device.index();
}

DeviceScope::DeviceScope(std::optional<c10::DeviceIndex> index) : outer(currentDevice) {
  if (index)
    currentDevice = *index;
}
DeviceScope::~DeviceScope() { currentDevice = outer; }

std::optional<c10::DeviceIndex> deviceOf(c10::ArrayRef<c10::IValue> args) {
  FoundDevice found;
  auto add = [&](const Tensor &tensor) {
    found.add(tensor);
    TORCH_CHECK(!tensor.defined() || !isXla(tensor) || tensor.device().index() == *found.first,
                "Expected all tensors to be on the same device, but found at least two devices, xla:", int(*found.first), " and ",
                tensor.device(), "!");
  };
  for (const c10::IValue &value : args) {
    if (value.isTensor()) {
      add(value.toTensor());
    } else if (value.isTensorList()) {
      for (const Tensor &tensor : value.toTensorVector())
        add(tensor);
    } else if (value.isList()) {
      for (const c10::IValue &item : value.toListRef())
        if (item.isTensor())
          add(item.toTensor());
    } else if (value.isDevice()) {
      found.add(value.toDevice());
    }
  }
  return found.get();
}

} // namespace millrace::torch_shim
