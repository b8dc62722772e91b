# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Lightning, accelerate and diffusers ask of torch_xla before they use it, and while they do."""
import os
import subprocess
import sys

import pytest
import torch
import torch_xla.core.xla_env_vars as xenv
import torch_xla.core.xla_model as xm
from torch_xla._internal import tpu
from torch_xla.utils.utils import getenv_as


@pytest.mark.parametrize("environment,devices", [({"PJRT_DEVICE": "CPU"}, 1), ({"PJRT_DEVICE": "CPU", "CPU_NUM_DEVICES": "4"}, 4),
                                                 ({}, 0), ({"PJRT_DEVICE": "TPU"}, 0)])
def test_devices_are_offered_when_they_were_asked_for(environment, devices, monkeypatch):
    for name in ("PJRT_DEVICE", "CPU_NUM_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert tpu.num_available_devices() == devices
    assert tpu.num_available_chips() == 0


def test_there_is_no_tpu():
    for ask in (tpu.version, tpu.get_tpu_env, tpu.get_tpu_type, tpu.num_logical_cores_per_chip):
        with pytest.raises(OSError, match="describes a TPU, and Millrace drives none"):
            ask()


def test_counting_devices_does_not_start_the_runtime():
    code = ("from torch_xla._internal import tpu; import torch_xla; tpu.num_available_devices(); import torch_xla.debug.metrics as met;"
            "print(met.counter_names())")
    out = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, PJRT_DEVICE="CPU"), capture_output=True, text=True, check=True)
    assert "CreateXlaTensor" not in out.stdout


def test_names_of_variables(monkeypatch):
    monkeypatch.setenv("XRT_HOST_ORDINAL", "3")
    assert getenv_as(xenv.HOST_ORDINAL, int, 0) == 3
    assert xenv.PJRT_DEVICE == "PJRT_DEVICE"


def test_checkpoints_are_converted_on_demand():
    state = {"weight": torch.ones(2, device="xla"), "epoch": 3}
    assert xm._maybe_convert_to_cpu(state, convert=False)["weight"].device.type == "xla"
    converted = xm._maybe_convert_to_cpu(state, convert=True)
    assert converted["weight"].device.type == "cpu" and converted["epoch"] == 3
