# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""xla-run keeps one copy of its arguments: weights may be nearly as large as memory."""
import subprocess
import sys

import numpy as np

from benchmarks import tools

MIB = {"x": 112, "y": 48, "z": 48, "w": 48}
TEXT = f"""func.func @main({', '.join(f"%{k}: tensor<{n << 18}xf32>" for k, n in MIB.items())}) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  {chr(10).join(f"%s{k} = stablehlo.reduce(%{k} init: %zero) applies stablehlo.add across dimensions = [0] : "
                f"(tensor<{n << 18}xf32>, tensor<f32>) -> tensor<f32>" for k, n in MIB.items())}
  return {', '.join("%s" + k for k in MIB)} : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}}
"""


def peak_mib(*command):
    """A small process in between: a child's peak counts from its fork, when it still is a copy of this one."""
    code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    process = subprocess.run([sys.executable, "-c", code, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return int(process.stdout.split()[-1]) / 1024


def test_arguments_are_held_once(tmp_path):
    path, arguments, out = tmp_path / "p.mlir", tmp_path / "a.npz", tmp_path / "out.npz"
    path.write_text(TEXT)
    values = [np.full(n << 18, k, np.float32) for k, n in enumerate(MIB.values(), 1)]
    tools.save_arguments(arguments, values)
    run = [tools.tool("xla-run"), str(path), f"--args={arguments}", "--repeat=3", f"--cache-dir={tmp_path}/cache", f"--out={out}"]
    subprocess.run(run, check=True, capture_output=True)  # compiling has its own peak
    base = peak_mib(tools.tool("xla-run"), "--version")
    whole = sum(MIB.values())
    assert whole < peak_mib(*run) - base < whole + 80  # with one array at a time copied to the device it was 112 more
    assert [float(r) for r in tools.load_results(str(out))] == [k * (n << 18) for k, n in enumerate(MIB.values(), 1)]
