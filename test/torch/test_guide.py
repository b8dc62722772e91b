# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python of docs/guide/torch.md runs, all of it in one process, as a reader would."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def test_snippets():
    text = open(os.path.join(ROOT, "docs/guide/torch.md")).read()
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    assert "tensor([2., 2., 2.], device='xla:0')" in ran.stdout
    assert "tensor([-0.5000, -0.5000])" in ran.stdout
    assert "aten::" in ran.stdout and "Metric: CompileTime" not in ran.stdout.split("[")[0]


def test_pages_about_compiling_and_exporting():
    """In one process: importing Dynamo takes longer than all the snippets."""
    code = ""
    for page in ("torch-compile.md", "torch-export.md"):
        text = open(os.path.join(ROOT, "docs/guide", page)).read()
        code += "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "1\ntorch.Size([16, 8])\n2\nTrue\nTrue\n1\nTrue\n"
