# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first operators of a process do not import torch._dynamo, and who imports it finds it as it would be without torch_xla."""
import subprocess
import sys
import textwrap

PROGRAM = textwrap.dedent("""
    import sys
    import torch
    import torch_xla
    from torch.nn import functional

    def kernel():
        "What torch._disable_dynamo marks in PyTorch's decomposition of `where`."
        function = torch._refs.where
        while not hasattr(function, "__wrapped__") or function.__code__.co_name != "inner":
            function = function.__wrapped__
        return function.__wrapped__

    x = torch.randn(4, 8, device="xla", requires_grad=True)
    y = functional.layer_norm(x, (8,)).relu() * 2 + x.abs() / x.std()
    y = torch.where(y > 1, y, 0.).masked_fill(y > 3, 1.).roll(1)
    y = functional.batch_norm(y, None, None, training=True)
    z = functional.scaled_dot_product_attention(y[None, None], y[None, None], y[None, None])
    torch.nn.LSTM(8, 4).to("xla")(z[0, 0])[0].sum().backward()
    assert x.grad.isfinite().all() and "torch._dynamo" not in sys.modules, "an operator imported torch._dynamo"
    assert getattr(kernel(), "__dynamo_disable") is kernel()

    import torch._dynamo
    assert not hasattr(kernel(), "__dynamo_disable"), "torch._dynamo was imported, and the kernel is not as PyTorch made it"
    compiled = torch.compile(lambda x: torch.where(x > 0, x, 0.).abs() + 1, backend="openxla")
    assert compiled(torch.ones(3, device="xla")).tolist() == [2, 2, 2]
    torch._refs.where(torch.ones(3, device="meta") > 0, torch.ones(3, device="meta"), 0.)
    assert getattr(kernel(), "__dynamo_disable") is not kernel()
    print("done")
""")


def test_operators_do_not_import_dynamo() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "done", done.stderr[-2000:]
