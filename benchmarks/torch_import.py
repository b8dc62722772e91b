# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `import torch_xla` costs over `import torch`: python -m benchmarks.torch_import [repetitions]"""
import statistics
import subprocess
import sys

CODE = """
import os, time
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
start = time.perf_counter()
import torch
middle = time.perf_counter()
import torch_xla
print(middle - start, time.perf_counter() - middle)
"""


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    times = []
    for _ in range(repetitions + 1):  # the first run fills the file cache
        ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
        times.append([float(word) * 1000 for word in ran.stdout.split()])
    for name, column in zip(("import torch", "import torch_xla, over torch"), zip(*times[1:])):
        print(f"{name:30} {statistics.median(column):7.0f} ms (median of {repetitions}, least {min(column):.0f})")


if __name__ == "__main__":
    main()
