# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""xla-run keeps one copy of its arguments: weights may be nearly as large as memory."""
import subprocess
import sys

import numpy as np

from benchmarks import tools

MIB = 64
TEXT = """func.func @main(%x: tensor<{n}xf32>, %y: tensor<{n}xf32>, %z: tensor<{n}xf32>, %w: tensor<{n}xf32>) -> tensor<f32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.add %x, %y : tensor<{n}xf32>
  %b = stablehlo.add %z, %w : tensor<{n}xf32>
  %c = stablehlo.add %a, %b : tensor<{n}xf32>
  %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<{n}xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
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
    path.write_text(TEXT.format(n=MIB << 18))
    values = [np.full(MIB << 18, k, np.float32) for k in range(1, 5)]
    tools.save_arguments(arguments, values)
    run = [tools.tool("xla-run"), str(path), f"--args={arguments}", "--repeat=3", f"--cache-dir={tmp_path}/cache", f"--out={out}"]
    subprocess.run(run, check=True, capture_output=True)  # compiling has its own peak
    base = peak_mib(tools.tool("xla-run"), "--version")
    assert 4 * MIB < peak_mib(*run) - base < 6 * MIB  # the file, the arrays and their copies on the device were 12 * MIB
    assert tools.load_results(str(out))[0] == 10 * (MIB << 18)
