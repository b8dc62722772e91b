// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Profile.cpp - Recordings for torch_xla.debug.profiler ----------------===//
#include "python/torch_xla/csrc/Functions.h"
#include "python/torch_xla/csrc/Gil.h"
#include "runtime/profile/ChromeTrace.h"
#include "runtime/profile/Termination.h"
#include "runtime/profile/ToXSpace.h"
#include "runtime/profile/rpc/ProfilerService.h"

#include <memory>
#include <unistd.h>
#include <vector>

namespace millrace::torch_shim {
namespace {

namespace profile = runtime::profile;

constexpr const char *kSession = "torch_xla.profile_session";

profile::Session *sessionOf(PyObject *capsule) { return static_cast<profile::Session *>(PyCapsule_GetPointer(capsule, kSession)); }

PyObject *isOn(PyObject *, PyObject *) { return PyBool_FromLong(profile::isOn()); }

PyObject *start(PyObject *, PyObject *) {
  return PyCapsule_New(new profile::Session, kSession, [](PyObject *self) { delete sessionOf(self); });
}

PyObject *stop(PyObject *, PyObject *capsule) {
  profile::Session *session = sessionOf(capsule);
  if (!session)
    return nullptr;
  std::string bytes, json;
  std::vector<std::string> warnings;
  {
    WithoutGil released;
    profile::XSpace space = profile::toXSpace(session->stop(), /*isWhole=*/true);
    bytes = encode(space);
    json = chromeTrace(space);
    warnings = std::move(space.warnings);
  }
  PyObject *list = PyList_New(Py_ssize_t(warnings.size()));
  if (!list)
    return nullptr;
  for (size_t i = 0; i < warnings.size(); ++i)
    PyList_SET_ITEM(list, Py_ssize_t(i), PyUnicode_FromStringAndSize(warnings[i].data(), Py_ssize_t(warnings[i].size())));
  return Py_BuildValue("(y#y#N)", bytes.data(), Py_ssize_t(bytes.size()), json.data(), Py_ssize_t(json.size()), list);
}

constexpr const char *kBeforeTermination = "torch_xla.before_termination";

PyObject *beforeTermination(PyObject *, PyObject *finish) {
  Py_INCREF(finish); // for good: it may be called while the capsule goes
  auto call = [finish] {
    if (!Py_IsInitialized())
      return;
    WithGil held;
    PyObject *made = PyObject_CallNoArgs(finish);
    if (!made)
      PyErr_WriteUnraisable(finish);
    Py_XDECREF(made);
  };
  return PyCapsule_New(new profile::BeforeTermination(call), kBeforeTermination, [](PyObject *self) {
    delete static_cast<profile::BeforeTermination *>(PyCapsule_GetPointer(self, kBeforeTermination));
  });
}

PyObject *beginRegion(PyObject *, PyObject *args) {
  const char *name, *details;
  Py_ssize_t nameSize, detailsSize;
  if (!PyArg_ParseTuple(args, "s#s#", &name, &nameSize, &details, &detailsSize))
    return nullptr;
  profile::beginRegion({name, size_t(nameSize)}, {details, size_t(detailsSize)});
  Py_RETURN_NONE;
}

PyObject *endRegion(PyObject *, PyObject *) {
  if (profile::endRegion())
    Py_RETURN_NONE;
  PyErr_SetString(PyExc_RuntimeError, "expects a region that this thread is in, but it is in none");
  return nullptr;
}

constexpr const char *kServer = "torch_xla.profile_server";

struct OwnServer {
  std::unique_ptr<profile::rpc::Server> server;
  pid_t process;
};

PyObject *serve(PyObject *, PyObject *argument) {
  long port = PyLong_AsLong(argument);
  if (port == -1 && PyErr_Occurred())
    return nullptr;
  if (port < 0 || port > 65535) {
    PyErr_Format(PyExc_RuntimeError, "xp.start_server expects a port from 0 to 65535, but got %ld", port);
    return nullptr;
  }
  auto server = profile::rpc::serveProfiles(uint16_t(port));
  if (!server) {
    PyErr_Format(PyExc_RuntimeError, "xp.start_server: %s", std::string(server.status().message()).c_str());
    return nullptr;
  }
  auto *own = new OwnServer{std::move(*server), getpid()};
  return PyCapsule_New(own, kServer, [](PyObject *self) {
    auto *own = static_cast<OwnServer *>(PyCapsule_GetPointer(self, kServer));
    if (own->process != getpid()) { // a forked child has none of its threads
      (void)own->server.release();
    } else {
      WithoutGil released; // a call that it answers may need it
      own->server.reset();
    }
    delete own;
  });
}

PyObject *serverPort(PyObject *, PyObject *capsule) {
  auto *own = static_cast<OwnServer *>(PyCapsule_GetPointer(capsule, kServer));
  return own ? PyLong_FromLong(own->server->port()) : nullptr;
}

PyObject *askServer(PyObject *, PyObject *args) {
  const char *address, *root, *session;
  unsigned long long durationMs, delayMs;
  unsigned hostLevel, deviceLevel;
  if (!PyArg_ParseTuple(args, "sssKKII", &address, &root, &session, &durationMs, &delayMs, &hostLevel, &deviceLevel))
    return nullptr;
  profile::rpc::CaptureRequest request;
  request.repositoryRoot = root;
  request.session = session;
  request.durationMs = durationMs;
  request.delayMs = delayMs;
  request.hostTracerLevel = hostLevel;
  request.deviceTracerLevel = deviceLevel;
  profile::rpc::Capture captured;
  {
    const std::string where = address;
    WithoutGil released;
    captured = profile::rpc::capture(where, request);
  }
  return Py_BuildValue("(iNi)", int(captured.outcome), PyUnicode_DecodeUTF8(captured.message.data(), Py_ssize_t(captured.message.size()), "replace"),
                       int(captured.isEmpty));
}

const bool hasPrefix = [] {
  profile::setHostPrefix("PjRtComputationClient::"); // the names that users of PyTorch/XLA look for
  return true;
}();

} // namespace

PyMethodDef profileMethods[] = {
    {"_profile_is_on", isOn, METH_NOARGS, "Whether somebody records."},
    {"_profile_start", start, METH_NOARGS, "A session of the recorder; it ends with the object."},
    {"_profile_stop", stop, METH_O, "(XSpace, Chrome's JSON, warnings) of a session, which it ends."},
    {"_profile_before_termination", beforeTermination, METH_O, "Calls a function before SIGTERM ends the process, until the returned object goes."},
    {"_profile_begin_region", beginRegion, METH_VARARGS, "(name, \"key=value, key=value\"): this thread is in a region."},
    {"_profile_end_region", endRegion, METH_NOARGS, "Ends the innermost region of this thread."},
    {"_profile_serve", serve, METH_O, "A server of recordings at a port; it ends with the object. RuntimeError if the port is taken."},
    {"_profile_server_port", serverPort, METH_O, "The port of a server."},
    {"_profile_capture", askServer, METH_VARARGS,
     "(address, root, session, duration_ms, delay_ms, host level, device level) -> (status of gRPC, message, nothing happened): asks a server."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace millrace::torch_shim
