// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Ending.h - Threads that still run when the interpreter ends ----------===//
// Up to Python 3.13, a thread that asks for the GIL of an interpreter that ends is unwound by pthread_exit(). PyTorch asks for it in
// destructors, which must not be unwound: the process would be aborted. Threads that come to the device's operators while it ends stay
// there instead, and so does what is unwound all the same, as in Python 3.14, until the process is gone.
#pragma once
#include <atomic>

namespace millrace::torch_shim {

extern std::atomic<bool> isEnding;

/// Called with the GIL by the thread that ends the interpreter, before it does. Waits for the threads that are busy with operators.
void beginEnding();

/// While it lives, the frames of this thread exist: they go with the interpreter, which does not ask threads without the GIL. Where it
/// ends, nobody may look at them any more.
class FramesScope {
public:
  FramesScope();
  ~FramesScope() { looks->store(false, std::memory_order_release); }
  FramesScope(const FramesScope &) = delete;
  bool mayLook() const { return isAllowed; }

private:
  std::atomic<bool> *looks; ///< of this thread
  bool isAllowed;
};

void stayWhileEnding();
/// Where operators begin and end. Once the interpreter ends it never returns, except in the thread that ends it.
inline void stopIfEnding() {
  if (isEnding.load(std::memory_order_relaxed)) [[unlikely]]
    stayWhileEnding();
}

} // namespace millrace::torch_shim
