# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Typed FFI handlers that JAX and its users register for `cpu` reach the plug-in's runtime.

jaxlib keeps registrations for platforms without a handler in a list, and hands them over once there is one."""
import ctypes
import logging
from typing import Any

_log = logging.getLogger(__name__)
_STAGES = ("instantiate", "prepare", "initialize", "execute")


def _pointer(capsule):
    """Returns the function behind a PyCapsule."""
    if capsule is None:
        return None
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))


def install(library: Any) -> None:
    """Sends what was registered so far, and what will be, to `library` (libmillrace_pjrt.so, loaded with ctypes)."""
    from jaxlib import xla_client
    from jaxlib.cpu import _lapack

    from millrace_jax import versions

    register_type = library.millrace_register_ffi_type
    register_type.restype, register_type.argtypes = ctypes.c_char_p, [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]
    register = library.millrace_register_ffi_handler
    register.restype = ctypes.c_char_p
    register.argtypes = [ctypes.c_char_p] + [ctypes.c_void_p] * len(_STAGES) + [ctypes.c_int, ctypes.c_uint32]
    installing = True

    def report(what, name, error):
        if not error:
            return
        message = f"millrace: {what} '{name}': {error.decode()}"
        # A failed registration must not disable the device; a program that calls the missing target gets an error.
        if not installing:
            raise RuntimeError(message)
        _log.error(message)

    def type_handler(name, value):
        parts = value if isinstance(value, dict) else {"type_id": value}
        name = name.decode() if isinstance(name, bytes) else name
        report("type of custom calls", name,
               register_type(name.encode(), _pointer(parts.get("type_id")), _pointer(parts.get("type_info"))))

    def handler(name, target, platform, api_version=0, traits=0):
        stages = target if isinstance(target, dict) else {"execute": target}
        pointers = [_pointer(stages.get(stage)) for stage in _STAGES]
        name = name.decode() if isinstance(name, bytes) else name
        report("custom call", name, register(name.encode(), *pointers, int(api_version), int(traits or 0)))

    # jaxlib's LAPACK handlers call through null pointers until JAX has initialized them, which it does before it uses one. Until then
    # other clients of the process (torch_xla) keep the runtime's own.
    waiting: list[Any] = []
    initialize, initialized = _lapack.initialize, False

    def initialize_and_register():
        nonlocal initialized
        initialize()
        initialized = True
        while waiting:
            handler(*waiting.pop())

    def handler_when_ready(name, *rest):
        text = name.decode() if isinstance(name, bytes) else name
        if text.startswith("lapack_") and not initialized:
            waiting.append((name, *rest))
        else:
            handler(name, *rest)

    _lapack.initialize = initialize_and_register

    # Types are registered first: handlers with states look up their types when they are registered.
    versions.register_type_handler(type_handler)
    xla_client.register_custom_call_handler("cpu", handler_when_ready)
    installing = False
