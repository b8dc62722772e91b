// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Frames.cpp - The user's line for every recorded operation -----------===//
// Kernels run without the GIL, but on the thread whose frames they look at: nobody else changes these meanwhile. A place is
// a code object and an offset in it; code objects that were seen are kept for ever, so that this needs no reference count.
// Autograd's threads have no frames: there the operation inherits the place of the forward operation, which PyTorch knows by
// the sequence number of its autograd node.
#include "python/torch_xla/csrc/Ending.h"
#include "python/torch_xla/csrc/Gil.h"
#include "python/torch_xla/csrc/Ir.h"
#include "python/torch_xla/csrc/Shim.h"
#include "tracing/graph/Scope.h"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/node.h>

#include <Python.h>
#if PY_VERSION_HEX < 0x030B0000
#include <frameobject.h>
#elif PY_VERSION_HEX < 0x030F0000 && !defined(Py_GIL_DISABLED)
// The interpreter's own frames, whose layout belongs to one minor version. A later Python is read through its public interface.
#define MILLRACE_INTERPRETER_FRAMES
#define Py_BUILD_CORE
#if PY_VERSION_HEX < 0x030E0000
#include <internal/pycore_frame.h>
#else
#include <internal/pycore_interpframe_structs.h>
#include <internal/pycore_stackref.h>
#endif
#undef Py_BUILD_CORE
#endif

#include <atomic>
#include <shared_mutex>
#include <utility>

namespace millrace::torch_shim {
namespace {

using tracing::Origin;
using tracing::Place;

//===-- Code objects --------------------------------------------------------===//

struct Code {
  std::string file, function;
  bool isUsers = false;
};

class Codes {
public:
  std::vector<std::string> libraries; ///< folders whose code is not the user's; set once at import

  const Code *find(const void *code) {
    std::shared_lock lock(mutex);
    auto found = all.find(code);
    return found == all.end() ? nullptr : found->second.get();
  }
  /// Takes the GIL.
  const Code *add(PyCodeObject *code) {
    PyGILState_STATE gil = takeGil();
    Py_INCREF(code);
    auto made = std::make_unique<Code>();
    auto text = [](PyObject *string) {
      const char *utf8 = PyUnicode_AsUTF8(string);
      if (!utf8)
        PyErr_Clear();
      return std::string(utf8 ? utf8 : "?");
    };
    made->file = text(code->co_filename);
    made->function = text(code->co_name);
    PyGILState_Release(gil);
    made->isUsers = made->file.rfind("<frozen", 0) != 0;
    for (const std::string &folder : libraries)
      if (made->file.rfind(folder, 0) == 0 && made->file.find("site-packages", folder.size()) == std::string::npos)
        made->isUsers = false;
    std::unique_lock lock(mutex);
    return all.emplace(code, std::move(made)).first->second.get();
  }
  static Codes &get() {
    static auto *codes = new Codes;
    return *codes;
  }

private:
  std::shared_mutex mutex;
  std::unordered_map<const void *, std::unique_ptr<Code>> all;
};

/// Null if the code object was never seen and cannot be looked at now: the GIL is never waited for under the session's
/// mutex, because a thread with the GIL may wait for that one.
const Code *codeOf(PyCodeObject *code) {
  struct Recent {
    const PyCodeObject *code = nullptr;
    const Code *info = nullptr;
  };
  static thread_local Recent recent[512];
  Recent &slot = recent[(uintptr_t(code) >> 5) % 512];
  if (slot.code == code)
    return slot.info;
  const Code *info = Codes::get().find(code);
  if (!info) {
    if (tracing::Session::get().mutex.heldByThisThread())
      return nullptr;
    info = Codes::get().add(code);
  }
  slot = {code, info};
  return info;
}

//===-- Frames --------------------------------------------------------------===//

#ifdef MILLRACE_INTERPRETER_FRAMES
_PyInterpreterFrame *innermostFrame(PyThreadState *thread) {
#if PY_VERSION_HEX < 0x030D0000
  return thread->cframe ? thread->cframe->current_frame : nullptr;
#else
  return thread->current_frame;
#endif
}

/// The code that the frame runs; null for the frames by which the interpreter itself is entered.
PyCodeObject *codeIn(_PyInterpreterFrame *frame) {
#if PY_VERSION_HEX < 0x030C0000
  return frame->f_code;
#elif PY_VERSION_HEX < 0x030D0000
  return frame->owner == FRAME_OWNED_BY_CSTACK ? nullptr : frame->f_code;
#else
#if PY_VERSION_HEX < 0x030E0000
  PyObject *executable = frame->f_executable;
#else
  PyObject *executable = PyStackRef_AsPyObjectBorrow(frame->f_executable);
#endif
  return executable && PyCode_Check(executable) ? reinterpret_cast<PyCodeObject *>(executable) : nullptr;
#endif
}
#endif

/// Calls `visit(code, byte offset)` for the Python frames of this thread, innermost first, until it returns false.
template <typename F>
void forFrames(F &&visit) {
  FramesScope scope;
  if (!scope.mayLook())
    return;
  PyThreadState *thread = PyGILState_GetThisThreadState();
  if (!thread)
    return;
#if PY_VERSION_HEX < 0x030B0000
  for (PyFrameObject *frame = thread->frame; frame; frame = frame->f_back)
    if (!visit(frame->f_code, int64_t(frame->f_lasti) * int64_t(sizeof(_Py_CODEUNIT))))
      return;
#elif defined(MILLRACE_INTERPRETER_FRAMES)
  for (_PyInterpreterFrame *frame = innermostFrame(thread); frame; frame = frame->previous) {
    PyCodeObject *code = codeIn(frame);
    if (!code)
      continue;
#if PY_VERSION_HEX < 0x030D0000
    const _Py_CODEUNIT *instruction = frame->prev_instr;
#else
    const _Py_CODEUNIT *instruction = frame->instr_ptr;
#endif
    if (!visit(code, (instruction - reinterpret_cast<_Py_CODEUNIT *>(code->co_code_adaptive)) * int64_t(sizeof(_Py_CODEUNIT))))
      return;
  }
#else
  // Frame objects need the GIL, which is never waited for under the session's mutex: a place that is asked for there stays unknown.
  if (tracing::Session::get().mutex.heldByThisThread())
    return;
  PyGILState_STATE gil = takeGil();
  PyFrameObject *frame = PyThreadState_GetFrame(thread);
  while (frame) {
    PyCodeObject *code = PyFrame_GetCode(frame);
    bool goesOn = visit(code, PyFrame_GetLasti(frame));
    Py_DECREF(code);
    PyFrameObject *back = goesOn ? PyFrame_GetBack(frame) : nullptr;
    Py_DECREF(frame);
    frame = back;
  }
  PyGILState_Release(gil);
#endif
}

std::atomic<bool> countsLibraries{false};

/// The innermost place in the user's code, else the innermost of all; where libraries count, of all.
Origin innermost() {
  const bool isAny = countsLibraries.load(std::memory_order_relaxed);
  Origin found, first;
  forFrames([&](PyCodeObject *code, int64_t offset) {
    const Code *info = codeOf(code);
    if (!info)
      return true;
    if (!first)
      first = {code, offset};
    if (info->isUsers || isAny)
      found = {code, offset};
    return !found;
  });
  return found ? found : first;
}

//===-- From backward to forward --------------------------------------------===//

/// The places of the last autograd nodes that were made, by thread and sequence number.
class Forwards {
public:
  void set(uint64_t sequence, uint64_t thread, const Origin &origin) {
    Entry &entry = entries[slot(sequence, thread)];
    entry.key.store(0, std::memory_order_relaxed); // no reader believes what is only half there
    entry.code.store(origin.code, std::memory_order_release);
    entry.offset.store(origin.offset, std::memory_order_release);
    entry.key.store(key(sequence, thread), std::memory_order_release);
  }
  Origin get(uint64_t sequence, uint64_t thread) const {
    const Entry &entry = entries[slot(sequence, thread)];
    if (entry.key.load(std::memory_order_acquire) != key(sequence, thread))
      return {};
    Origin origin{entry.code.load(std::memory_order_acquire), entry.offset.load(std::memory_order_acquire)};
    return entry.key.load(std::memory_order_acquire) == key(sequence, thread) ? origin : Origin();
  }

private:
  struct Entry {
    std::atomic<uint64_t> key{0};
    std::atomic<const void *> code{nullptr};
    std::atomic<int64_t> offset{0};
  };
  static uint64_t key(uint64_t sequence, uint64_t thread) { return (thread << 48) ^ (sequence + 1); }
  static size_t slot(uint64_t sequence, uint64_t thread) { return (sequence + thread * 7919) % (1 << 16); }
  Entry entries[1 << 16];
};
Forwards forwards;

/// The autograd nodes that this thread made since the last recorded operation belong to this one.
void noteForward(const Origin &origin) {
  static thread_local uint64_t last = 0, thread = at::RecordFunction::currentThreadId();
  uint64_t next = at::sequence_number::peek();
  if (next == last)
    return;
  for (uint64_t sequence = std::max(last, next > 16 ? next - 16 : 0); sequence < next; ++sequence)
    forwards.set(sequence, thread, origin);
  last = next;
}

/// Set while this thread records a graph whose nodes run from the places that they come from: in a backward pass they are better than the forward node's.
thread_local bool followsFrames = false;

Origin current() {
  static thread_local Origin last;
  c10::intrusive_ptr<torch::autograd::Node> node = followsFrames ? nullptr : torch::autograd::get_current_node();
  if (node) {
    if (Origin origin = forwards.get(node->sequence_nr(), node->thread_id()))
      last = origin;
    else if (Origin here = innermost()) // a backward() written in Python
      last = here;
  } else {
    Origin here = innermost();
    last = here ? here : tracing::withoutScope(last);
    if (const std::string *scope = tracing::currentScope())
      last = tracing::inScope(last, *scope);
  }
  noteForward(last);
  return last;
}

Place resolve(const Origin &origin) {
  const Code *code = Codes::get().find(origin.code);
  if (!code)
    return {};
  auto *object = static_cast<PyCodeObject *>(const_cast<void *>(origin.code));
  return {code->function, code->file, std::max(PyCode_Addr2Line(object, int(origin.offset)), 0)};
}

std::vector<Place> stack() {
  std::vector<Place> places;
  forFrames([&](PyCodeObject *code, int64_t offset) {
    if (codeOf(code))
      places.push_back(resolve({code, offset}));
    return true;
  });
  return places;
}

} // namespace

void noteFrame() {
  if (!tracing::Session::get().mutex.heldByThisThread())
    innermost();
}

void countLibraries(bool enabled) { countsLibraries = enabled; }

bool followFrames(bool enabled) { return std::exchange(followsFrames, enabled); }

void watchFrames(std::vector<std::string> libraries) {
  Codes::get().libraries = std::move(libraries);
  tracing::setOriginSource({current, resolve, stack});
}

} // namespace millrace::torch_shim
