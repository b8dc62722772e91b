# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX on Millrace: registers the PJRT plug-in as JAX's `cpu` platform.

JAX finds this module through the entry point `jax_plugins` and calls `initialize()` before it makes its first backend.
MILLRACE_JAX=0 leaves XLA:CPU in place for a process.
"""
import logging
import os
import re

__version__ = "0.1.0"
__all__ = ["initialize", "is_active"]

_log = logging.getLogger(__name__)
_active = False


def is_active() -> bool:
    """Returns whether the plug-in was registered in this process."""
    return _active


def _client_options() -> dict[str, int]:
    """Read when JAX makes its client: the number of virtual devices, as XLA:CPU takes it."""
    from jax._src import xla_bridge

    count = xla_bridge.num_cpu_devices.value
    if count < 0:
        flag = re.findall(r"--xla_force_host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", ""))
        count = int(flag[-1]) if flag else 1
    return {"num_devices": count}


def _without_millrace() -> str | None:
    """Why the distribution millrace cannot be used: it is not there, or another package has that name. None where it can."""
    advice = "install the wheel of millrace that came with this one (docs/guide/install.md)"
    try:
        import millrace
    except ImportError as error:
        return f"millrace-jax needs Millrace's distribution millrace, but {error}: {advice}. The millrace on PyPI is another program"
    if not hasattr(millrace, "load_library"):
        where = getattr(millrace, "__file__", None) or "sys.path"
        return (f"millrace-jax needs Millrace's distribution millrace, but the millrace in {where} is another program: "
                f"pip uninstall millrace, and {advice}")
    return None


def initialize() -> None:
    """Registers the plug-in as JAX's platform `cpu`; JAX calls this before it makes its first backend.

    A problem is logged as an error, and JAX then uses XLA:CPU: a broken installation must not stop it. MILLRACE_JAX=0 leaves
    XLA:CPU in place without a message.
    """
    global _active
    if os.environ.get("MILLRACE_JAX", "1").lower() in ("0", "off", "false"):
        return
    import jax
    from jax._src import xla_bridge

    from millrace_jax import versions

    if why := versions.unsupported(jax.__version__) or _without_millrace():
        _log.error("%s. JAX runs on XLA:CPU in this process (MILLRACE_JAX=0 silences this message)", why)
        return
    import millrace

    try:
        library = millrace.load_library("libmillrace_pjrt.so")
    except millrace.MissingDependency as error:
        _log.error("%s. JAX runs on XLA:CPU in this process (MILLRACE_JAX=0 silences this message)", error)
        return
    if not versions.takes_profiler(jax.lib.__version__):
        library.millrace_hide_profiler()
    # "cpu" is a stable platform of JAX, which warns of plug-ins for it as experimental.
    plugins = getattr(xla_bridge, "_nonexperimental_plugins", None)
    if isinstance(plugins, set):
        plugins.add("cpu")
    xla_bridge.register_plugin("cpu", priority=500, library_path=library._name, options=_client_options)

    from millrace import _interrupts
    from millrace_jax import annotations, auto_sharding, callbacks, collectives, custom_calls, custom_partitioning, failures, pallas_hook, ragged_products

    custom_calls.install(library)
    callbacks.install(library)
    collectives.install()
    failures.install(library)
    custom_partitioning.install()
    pallas_hook.install()
    ragged_products.install()
    annotations.install(library)
    _interrupts.install(library._name)
    auto_sharding.install()
    if os.environ.get("MILLRACE_DEBUG", "0") not in ("", "0"):
        # The plug-in logs what it compiles and why the cache missed (pjrt/Compiler.cpp); JAX logs which argument caused another program.
        jax.config.update("jax_explain_cache_misses", True)
    _active = True
