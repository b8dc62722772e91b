# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of examples/ run and say what they promise (those that are acceptance rows: test_acceptance.py)."""
import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
NUMBER = r"-?\d[\d.e+-]*"


def command(*arguments):
    if arguments[0] != "diffusion_unet.py":
        pytest.importorskip("torch_xla.test.test_utils")
    ran = subprocess.run([sys.executable, os.path.join("examples", arguments[0]), *arguments[1:]], cwd=ROOT, text=True,
                         capture_output=True, timeout=500)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_decoder_only():
    text = command("train_decoder_only_base.py", "--batch_size=2", "--num_steps=11", "--sequence_length=16", "--hidden_size=32",
                   "--intermediate_size=64", "--vocab_size=50", "--meter")
    losses = [float(loss) for loss in re.findall(rf"^epoch: 1, step: \d+, loss: ({NUMBER}), rate: {NUMBER}$", text, re.M)]
    assert len(losses) == 2 and losses[1] < losses[0], text
    assert re.search(rf"^step 10: {NUMBER} ms, {NUMBER} samples/s, {NUMBER} GFLOP per step, {NUMBER} % of {NUMBER} GFLOP/s; MB: parameters ", text, re.M), text


def test_resnet_benchmark():
    pytest.importorskip("PIL")
    text = command("train_resnet_benchmark.py", "--model=resnet18", "--batch_size=2", "--num_steps=5", "--image_size=64")
    assert re.search(rf"recording: median {NUMBER} ms.*\nstep: median {NUMBER} ms.*\nrate: {NUMBER} images/s\n"
                     "compilations after step 3: 0\n", text), text


@pytest.mark.parametrize("flags, compilations", [((), 2), (("--no_barrier",), 1)])
def test_unet(flags, compilations):
    """One program for all steps with a barrier, one for the whole loop without; the second run compiles nothing."""
    text = command("diffusion_unet.py", "--steps=4", "--compare", *flags)
    made = [int(count) for count in re.findall(r"run of 4 steps: .* s, (\d+) compilations", text)]
    assert made[0] <= compilations and made[1] == 0, text
    assert float(re.search(r"largest difference to the CPU: (\S+)", text).group(1)) < 1e-2, text


def test_kernels():
    ran = subprocess.run([sys.executable, "-m", "examples.tile_kernels", "--rows=64", "--size=64", "--length=64", "--block=32", "--repeat=2"], cwd=ROOT,
                         text=True, capture_output=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    differences = [float(difference) for difference in re.findall(r"ratio \d+\.\d+, difference (\S+)$", ran.stdout, re.M)]
    assert len(differences) == 8 and max(differences) < 1e-3, ran.stdout


def test_llama_generates():
    pytest.importorskip("transformers")
    text = command("llama.py", "--generate=6")
    assert "same words as on the CPU: True" in text, text
    assert re.search(r"second generation: .*, 0 compilations", text), text


def test_llama_trains():
    pytest.importorskip("accelerate")
    text = command("llama.py", "--train=8")
    assert "device: xla:0" in text and "on the CPU ran: nothing" in text, text
    losses = [float(loss) for loss in re.search("loss: (.*)", text).group(1).split()]
    assert losses[-1] < losses[0], text


