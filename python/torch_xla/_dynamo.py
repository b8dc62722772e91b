# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(backend="openxla"): what AOTAutograd hands over runs as one recorded program per call."""
import torch


def _lazy_graph(graph_module, example_inputs):
    import torch_xla

    def run(*args):
        torch_xla.sync()
        result = graph_module(*args)
        torch_xla.sync()
        return result

    run._boxed_call = False
    return run


def _openxla(model, example_inputs, **kwargs):
    from torch._dynamo.backends.common import aot_autograd
    return aot_autograd(fw_compiler=_lazy_graph, bw_compiler=_lazy_graph)(model, example_inputs)


def install():
    from torch._dynamo.backends import registry
    for name in ("openxla", "openxla_eval", "torchxla_trace_once", "aot_torchxla_trace_once"):
        registry._BACKENDS.pop(name, None)
        registry._COMPILER_FNS.pop(name, None)
        registry.register_backend(_openxla, name=name)
