# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Lightning, accelerate and diffusers ask of torch_xla before they use it, and while they do."""
import os
import subprocess
import sys
import threading
import time
import types

import pytest
import torch
import torch_xla.core.xla_env_vars as xenv
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
from torch_xla import _lightning_import
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


def small_model(name):
    """Of transformers, with tied weights and random numbers in them; and what it is called with."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    if name == "bert":
        config = transformers.BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
        model = transformers.BertForMaskedLM(config)
    elif name == "gpt2":
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=50, n_embd=16, n_layer=1, n_head=2, n_positions=32))
    else:
        model = transformers.T5ForConditionalGeneration(transformers.T5Config(vocab_size=50, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
                                                                              decoder_start_token_id=0))
    ids = torch.randint(0, 50, (2, 7))
    return model.eval(), {"input_ids": ids, **({"decoder_input_ids": ids[:, :3]} if name == "t5" else {})}


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
@torch.no_grad()
def test_a_model_with_tied_weights_is_saved_and_loaded(name, tmp_path, monkeypatch):
    """transformers saves weights that are tied once; it asks _xla_get_tensor_id which are."""
    model, inputs = small_model(name)
    from transformers import pytorch_utils
    monkeypatch.setattr(pytorch_utils, "is_torch_xla_available", lambda *_, **__: True)  # the package need not be installed here
    expected = model(**inputs).logits
    moved = model.to("xla")
    assert len({id(p) for p in moved.parameters()}) < len(moved.state_dict()), "tied"
    moved.save_pretrained(tmp_path)
    loaded = type(model).from_pretrained(tmp_path).eval()
    assert loaded.get_output_embeddings().weight is loaded.get_input_embeddings().weight
    torch.testing.assert_close(loaded(**inputs).logits, expected)
    torch.testing.assert_close(moved(**{key: value.to("xla") for key, value in inputs.items()}).logits.cpu(), expected, rtol=1e-3, atol=1e-4)


def test_the_options_of_a_loader_can_be_changed():
    import torch_xla.debug.profiler as xp
    import torch_xla.distributed.parallel_loader as pl
    xp.set_tracer_marked_step(False)  # a StepTrace of another test may have put the first barrier
    loader = pl.MpDeviceLoader([torch.ones(2)] * 4, "xla", batches_per_execution=2)
    assert loader._parallel_loader_kwargs == {"batches_per_execution": 2}
    loader._parallel_loader_kwargs["batches_per_execution"] = 1
    met.clear_counters()
    assert len(list(loader)) == 4
    steps = met.counter_value("MarkStep")
    met.clear_counters()
    assert len(list(pl.MpDeviceLoader([torch.ones(2)] * 4, "xla"))) == 4 and met.counter_value("MarkStep") == steps > 4


def test_transformers_shards_the_batches_of_a_loader():
    pytest.importorskip("transformers")
    code = """
import numpy as np, torch, torch_xla, torch_xla.runtime as xr, torch_xla.distributed.spmd as xs
import torch_xla.distributed.parallel_loader as pl
from transformers.integrations import tpu
tpu.is_torch_xla_available = lambda *_, **__: True
xr.use_spmd()
xs.set_global_mesh(xs.Mesh(np.arange(4), (4, 1), ("fsdp", "tensor")))
loader = tpu.tpu_spmd_dataloader(pl.MpDeviceLoader([{"input_ids": torch.arange(24).reshape(8, 3)}], "xla"))
for batch in loader:
    print(torch_xla._XLAC._get_xla_sharding_spec(batch["input_ids"]), batch["input_ids"].sum().item())
"""
    ran = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, PJRT_DEVICE="CPU", CPU_NUM_DEVICES="4"), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "{devices=[4,1]0,1,2,3} 276\n"


@pytest.mark.parametrize("in_turn", [True, False])
def test_shards_of_lightning_wait_until_all_have_looked(in_turn, tmp_path):
    """A strategy that saves as Lightning's does, in two threads, of which one looks late."""
    met_all, errors = threading.Barrier(2), []

    class XLAFSDPStrategy:
        def __init__(self, rank):
            self.rank = rank

        def barrier(self, name):
            met_all.wait(timeout=10)

        def save_checkpoint(self, path):
            time.sleep(0.2 * self.rank)
            if path.is_dir() and any(path.iterdir()):
                raise FileExistsError(path)
            for rank in range(2) if in_turn else [self.rank]:
                if rank == self.rank:
                    self._save_checkpoint_shard(path)
                if in_turn:
                    self.barrier(f"wait-for-{rank}-save")

        def _save_checkpoint_shard(self, path):
            path.mkdir(exist_ok=True)
            (path / str(self.rank)).write_text("shard")

    _lightning_import._use(types.SimpleNamespace(XLAFSDPStrategy=XLAFSDPStrategy))
    strategies = [XLAFSDPStrategy(rank) for rank in range(2)]

    def save(strategy, path):
        try:
            strategy.save_checkpoint(path)
        except Exception as error:
            met_all.abort()
            errors.append(error)
    for number in range(2):
        threads = [threading.Thread(target=save, args=(strategy, tmp_path / str(number))) for strategy in strategies]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert errors == [] and sorted(os.listdir(tmp_path / str(number))) == ["0", "1"]
    assert [sorted(vars(strategy)) for strategy in strategies] == [["rank"]] * 2
    for strategy in strategies:
        with pytest.raises(FileExistsError):
            strategy.save_checkpoint(tmp_path / "0")
