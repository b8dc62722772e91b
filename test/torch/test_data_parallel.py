# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.distributed.data_parallel with several devices: threads of one process as replicas."""
import json
import os
import pathlib
import subprocess
import sys

PROGRAM = pathlib.Path(__file__).parent / "data_parallel_program.py"


def run(name):
    """What the function of the program returns, in a process of three devices."""
    ran = subprocess.run([sys.executable, PROGRAM, name], env=dict(os.environ, CPU_NUM_DEVICES="3", MILLRACE_CACHE="off"), text=True, capture_output=True,
                         timeout=120)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout.splitlines()[-1])


def test_training_is_that_of_one_large_batch():
    found = run("training")
    assert found["steps"] == [4, 4, 4] and found["equal"] and found["compiled"] == 0 and found["error"] < 1e-6, found
    assert found["outside"] == [1, "xla:0"]


def test_collectives():
    for found in run("collectives"):
        assert all(found.values()), [name for name, is_right in found.items() if not is_right]


def test_errors():
    found = run("errors")
    different = "RuntimeError: the replicas call different functions: "
    assert found["barrier"] == different + "replica 0 calls xm.all_reduce, replica 1 is at a step barrier, replica 2 is at a step barrier"
    assert found["ended"] == different + "replica 0 calls xm.all_reduce, replica 1 has ended, replica 2 calls xm.all_reduce"
    assert found["fails"] == "KeyError: 'the third one'"
    assert found["shapes"] == ("RuntimeError: xm.all_reduce: replicas contribute tensors of different shapes: torch.float32 [2], torch.float32 [3], "
                               "torch.float32 [4]")
    assert found["channel"].startswith("NotImplementedError: xm.send: replicas that are threads of one process have no channels")
    assert found["uneven"] == [0, 1, 2]
    assert found["twice"] == "ValueError: expects different devices, but got ['xla:0', 'xla:0']"
    assert "xla:7" in found["missing"]


def test_loaders_that_keep_little():
    assert run("loader_of_one") == [[2.0 * n for n in range(rank, 18, 3)] for rank in range(3)]
