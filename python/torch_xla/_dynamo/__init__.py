# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers names of the backend of torch.compile without importing torch._dynamo, which takes longer than everything else."""
import importlib.util
import sys

_MODULE = "torch._dynamo.backends.torchxla"


def _register():
    """PyTorch registers `openxla`; programs of its 2.0 say torchxla_trace_once and aot_torchxla_trace_once."""
    from torch._dynamo.backends import registry
    openxla = sys.modules[_MODULE].openxla

    def alias(graph, inputs, **options):
        return openxla(graph, inputs, **options)
    for name in ("torchxla_trace_once", "aot_torchxla_trace_once"):
        registry.register_backend(lambda graph, inputs, **options: alias(graph, inputs, **options), name=name)


class _AfterImport:
    """Runs _register() once PyTorch has imported its own backend, which it does when a backend is first looked up."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != _MODULE:
            return None
        sys.meta_path.remove(cls)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def run(module):
            execute(module)
            sys.modules.setdefault(_MODULE, module)
            _register()
        spec.loader.exec_module = run
        return spec


def install():
    from torch._subclasses import fake_tensor
    indexed = fake_tensor._is_indexed_device_type
    # `xla` and `xla:0` are the same device to FakeTensor too.
    fake_tensor._is_indexed_device_type = lambda kind: kind == "xla" or indexed(kind)
    if _MODULE in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _AfterImport)
