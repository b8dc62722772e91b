# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XlaFullyShardedDataParallel: the losses of plain PyTorch, whatever way a model is wrapped; what a step's program gathers and keeps; checkpoints."""
import glob
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
import torch
from benchmarks import tools
from paths import PYTHONPATH
from test_processes import LONG, results_of, start
from torch_xla.distributed.fsdp import consolidate_sharded_model_checkpoints, consolidate_sharded_state_dicts
from torch_xla.distributed.fsdp._layout import Layout

import fsdp_programs

PROGRAMS = pathlib.Path(__file__).with_name("fsdp_programs.py")
# These differ in when and in what form parameters are gathered, not in what is computed.
SAME = ["zero3", "zero2", "flat", "dim 0", "buckets", "reshard root"]
OTHERS = ["one unit", "no barriers", "sync at the end", "checkpoint_module", "checkpoint inside", "checkpoint outside, reentrant", "checkpoint outside", "checkpoint in one unit"]


def run(name, processes=2, **more):
    return results_of(start(name, processes, programs=PROGRAMS, **more))


def floats(losses):
    return [float.fromhex(each) if isinstance(each, str) else each for each in losses]


def close(losses, expected, tolerance=1e-4):
    return len(losses) == len(expected) > 2 and all(abs(a - b) <= tolerance * abs(b) for a, b in zip(floats(losses), floats(expected)))


EVERY_DAY = ["zero3", "zero2", "flat", "dim 0", "checkpoint_module", "checkpoint outside", "bf16"]


@pytest.mark.parametrize("processes", [pytest.param(1, marks=LONG), 2, pytest.param(4, marks=LONG)])
def test_losses_are_those_of_pytorch(processes):
    names = SAME + OTHERS + ["bf16"] if os.environ.get("MILLRACE_LONG") else EVERY_DAY
    results = run("losses", processes, NAMES=json.dumps(names))
    assert all(result == results[0] for result in results)
    native = results[0].pop("native")
    assert floats(native)[-1] < floats(native)[0]
    for name, losses in results[0].items():
        assert close(losses, native, 0.1 if name == "bf16" else 1e-4), (name, floats(losses), native)
    assert [name for name in set(SAME) & set(names) if results[0][name] != results[0]["zero3"]] == []


def test_layers_of_other_kinds():
    result, other = run("mixed")
    assert result == other
    for name in ("parts", "flat", "dim 0"):
        assert close(result[name], result["native"]), (name, floats(result[name]), result["native"])
    assert result["parts unused"] == [True] and result["flat unused"] == []


def test_gradients_of_several_backward_passes():
    result = run("accumulated")[0]
    for clip, no_sync in ((None, True), (0.5, False), (0.5, True)):
        assert close(result[f"{clip} {no_sync}"], result[f"{clip} native"]), (clip, no_sync, floats(result[f"{clip} {no_sync}"]), result)


def test_checkpoints(tmp_path):
    assert run("checkpoints", FOLDER=str(tmp_path)) == [[], []]
    prefix = str(tmp_path / "zero3-rank-")
    ran = subprocess.run([sys.executable, "-m", "torch_xla.distributed.fsdp.consolidate_sharded_ckpts", "--ckpt_prefix", prefix], text=True,
                         capture_output=True, env=dict(os.environ, PYTHONPATH=PYTHONPATH))
    assert ran.stdout.splitlines() == [f"found 2 checkpoint files in {prefix}*.pth", f"saved consolidated model to {prefix}_consolidated.pth"], ran.stderr
    plain = torch.load(tmp_path / "zero3-plain.pt", weights_only=True)
    joined = torch.load(f"{prefix}_consolidated.pth", weights_only=True)["model"]
    assert list(joined) and all(torch.equal(joined[name], value) for name, value in plain.items())
    # Once more: the file that was written is no shard.
    assert consolidate_sharded_model_checkpoints(prefix, save_model=False)[1] is None
    os.remove(f"{prefix}1-of-2.pth")
    with pytest.raises(ValueError, match="expects 2 files, as the metadata in .*zero3-rank-0-of-2.pth says, but .* matches 1"):
        consolidate_sharded_model_checkpoints(prefix)
    with pytest.raises(FileNotFoundError, match="Cannot find any files matching"):
        consolidate_sharded_model_checkpoints(str(tmp_path / "nothing"))
    ran = subprocess.run([*ran.args[:-1], str(tmp_path / "nothing")], text=True, capture_output=True, env=dict(os.environ, PYTHONPATH=PYTHONPATH))
    assert ran.returncode == 1 and ran.stderr.startswith("consolidate_sharded_ckpts: Cannot find any files matching"), ran.stderr


@pytest.mark.parametrize("before, after", [pytest.param(4, 2, marks=LONG), (2, 1), pytest.param(1, 4, marks=LONG)])
def test_optimizers_of_other_processes(before, after, tmp_path):
    """Training goes on in another number of processes as if nothing had happened: whole states, bit by bit, and PyTorch's losses."""
    job = dict(FOLDER=str(tmp_path), NAMES=json.dumps(["zero3", "flat", "dim 0"] if os.environ.get("MILLRACE_LONG") else ["zero3"]))
    native = run("begins", before, **job)[0]
    for losses, said, size in run("goes_on", after, **job):
        assert size == after and list(losses) == json.loads(job["NAMES"])
        for name, each in losses.items():
            assert all(abs(a - b) <= 1e-4 * abs(b) for a, b in zip(each, native[2:], strict=True)), (name, each, native)
        assert len(said) == 4
        assert said[0].startswith("expects what full_optim_state_dict() returned on rank 0")
        assert said[1] == "exp_avg of embed.weight has (3,) in the state that was saved, but the parameter has (50, 24)"
        assert re.match(r"the optimizer has \S+, but the state that was saved has no such parameter; it has embed.weight", said[2])
        assert re.match(r"exp_avg of embed.weight has \(\d+,\), but the shard of this process has \(\d+,\): the optimizer's state is that of another number", said[3])


@LONG
def test_checkpoint_manager(tmp_path):
    """Training goes on from a step that a CheckpointManager has written, to the same bits."""
    for whole, rest in run("managed", FOLDER=str(tmp_path)):
        assert len(whole) == 4 and rest == whole[2:]


def test_files_of_the_original():
    """What PyTorch/XLA writes for Linear(3, 2) in an unnamed wrapper and in a flat one, on 2 ranks: names and padding as its sources have them."""
    dotted = "_fsdp_shard._fsdp_wrapped_module._fpw_module.weight".replace(".", "_FSDP_SHARD_SEPARATOR_")
    weight = torch.arange(6.0)
    shards = [{dotted: torch.cat([weight, torch.zeros(122)])}, {dotted: torch.zeros(128)}]
    info = {"shard_info": {"": {dotted: {"_orig_size": torch.Size([2, 3]), "_orig_name": "_fsdp_wrapped_module._fpw_module.weight"}}},
            "flatten_info": {}, "buffer_info": {}, "world_size": 2, "rank": 0}
    joined = consolidate_sharded_state_dicts(shards, info)
    assert list(joined) == ["weight"] and torch.equal(joined["weight"], weight.view(2, 3))
    flat = "_fsdp_shard._fsdp_wrapped_module.flat_param_0".replace(".", "_FSDP_SHARD_SEPARATOR_")
    shards = [{f"layer.{flat}": torch.cat([torch.arange(8.0), torch.zeros(120)])}, {f"layer.{flat}": torch.zeros(128)}]
    info.update(shard_info={"layer": {flat: {"_orig_size": torch.Size([8]), "_orig_name": "_fsdp_wrapped_module.flat_param_0"}}}, flatten_info={
        "layer._fsdp_wrapped_module.flat_param_0": (["_fpw_module.weight", "_fpw_module.bias"], [torch.Size([2, 3]), torch.Size([2])], [6, 2])})
    joined = consolidate_sharded_state_dicts(shards, info)
    assert {name: value.tolist() for name, value in joined.items()} == {"layer.weight": [[0, 1, 2], [3, 4, 5]], "layer.bias": [6, 7]}
    with pytest.raises(ValueError, match="expects the state dicts of 2 ranks"):
        consolidate_sharded_state_dicts(shards[:1], info)


def shards_of(prefix, size, name="weight"):
    """Two files of ranks, of a parameter of that size."""
    key = f"_fsdp_shard._fsdp_wrapped_module._fpw_module.{name}".replace(".", "_FSDP_SHARD_SEPARATOR_")
    layout = Layout(torch.Size(size), 2, 128)
    for rank in range(2):
        info = {"shard_info": {"": {key: {"_orig_size": layout.size, "_orig_name": f"_fsdp_wrapped_module._fpw_module.{name}"}}}, "flatten_info": {},
                "buffer_info": {}, "world_size": 2, "rank": rank}
        torch.save({"model": {key: layout.cut(torch.ones(size), rank)}, "shard_metadata": info}, f"{prefix}{rank}.pth")


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


@pytest.mark.parametrize("damage, said", [
    (lambda path: path.write_bytes(b""), "a-1.pth cannot be read, it is damaged or not a checkpoint: EOFError"),
    (lambda path: path.write_bytes(path.read_bytes()[:2000]), "a-1.pth cannot be read, it is damaged or not a checkpoint"),
    (flip, "a-1.pth cannot be read, .* in it differs from its checksum"),
    (lambda path: torch.save({"model": {}}, path), r"of one rank in .*a-1.pth, which has \['model'\]"),
    (lambda path: torch.save([1], path), r"of one rank in .*a-1.pth, which is a list"),
    (lambda path: shards_of(path.with_name("a-"), (40, 31)) or (path.parent / "other").rename(path.with_name("a-0.pth")), "a-1.pth has shards of another model than .*a-0.pth"),
    (lambda path: shards_of(path.with_name("a-"), (40, 30), "bias") or (path.parent / "other").rename(path.with_name("a-0.pth")), "a-1.pth has shards of another model")])
def test_damaged_shards_are_named(damage, said, tmp_path):
    prefix = str(tmp_path / "a-")
    shards_of(prefix, (40, 30))
    assert consolidate_sharded_model_checkpoints(prefix, save_model=False)[0]["weight"].sum() == 1200
    (tmp_path / "other").write_bytes((tmp_path / "a-0.pth").read_bytes())
    damage(tmp_path / "a-1.pth")
    with pytest.raises(ValueError, match=said):
        consolidate_sharded_model_checkpoints(prefix)
    assert not os.path.exists(f"{prefix}_consolidated.pth")


def test_modules_without_values():
    of_reset, total, made, error = run("meta")[0]
    assert of_reset and total == 0.25 * (64 + 8 + 64) and made == ["Linear", "Linear"]
    assert error.startswith("a MultiheadAttention has parameters on the device meta and no reset_parameters(): give param_init_fn")


def test_errors(tmp_path):
    said = run("errors", FOLDER=str(tmp_path))[0]
    for text in said.pop("pytorch's"):
        assert re.match(r"NotImplementedError: torch\.distributed\.fsdp\.\w+ does not work on the device xla: .*XlaFullyShardedDataParallel", text), text
    expected = {"twice": "RuntimeError: the module is an XlaFullyShardedDataParallel already", "list": "RuntimeError: a ModuleList has no forward",
                "type": "TypeError: expects parameters of float32, but weight is of torch.float64", "dtype": "ValueError: compute_dtype must be one of",
                "groups": "ValueError: sharding_groups, sharding_rank and sharding_world_size have to be given together",
                "shared": "RuntimeError: 1.weight is also a parameter of a submodule that is wrapped already",
                "policy": "ValueError: 0 is an XlaFullyShardedDataParallel already",
                "used": "RuntimeError: the parameter weight of a module in XlaFullyShardedDataParallel is gathered only while",
                "copy": "RuntimeError: the parameter weight of a module in XlaFullyShardedDataParallel is gathered only while",
                "pickle": "TypeError: an XlaFullyShardedDataParallel cannot be pickled: save", "inside": "RuntimeError: weight is sharded by a wrapper around",
                "full": "NotImplementedError: get_model_state_dict with StateDictOptions(full_state_dict=True) does not merge the shards",
                "summon": "NotImplementedError: torch.distributed.fsdp.FullyShardedDataParallel.summon_full_params does not support",
                "old optimizer": "RuntimeError: the optimizer has weight as it was before XlaFullyShardedDataParallel sharded it",
                "vector": "RuntimeError: weight and 1 other parameters are one vector (flatten_parameters)",
                "changed": "RuntimeError: weight has been changed since the forward pass whose gradients are asked for",
                "cpu": "RuntimeError: the shard of weight is on the device cpu: move the model", "inner": r"RuntimeError: clip_grad_norm_() is for the outermost wrapper"}
    for planner in ("planner", "pytorch's planner"):
        assert "ValueError: model._fsdp_shard" in said[planner] and "every rank has another: each rank saves it under a name of its own" in said.pop(planner)
    assert "the state dict has no shards: that of a whole model is loaded before the model is wrapped" in said.pop("whole")
    assert "weight: expects a shard of a parameter of [4, 4], but got one of a parameter of [4, 5]" in said.pop("sizes")
    assert "expects shards of rank 0 of 2, but got those of rank 1 of 2. For another number of processes, consolidate" in said.pop("rank")
    assert {name: text for name, text in said.items() if name != "shape" and not text.startswith(expected[name])} == {}
    assert said["shape"] == [[4, 4], "torch.float32", "xla"]


def test_what_is_done_to_wrapped_models():
    for differences in run("unusual"):
        assert len(differences) == 6 and {name: each for name, each in differences.items() if max(each) > 1e-6} == {}


@LONG
@pytest.mark.parametrize("processes", [1, 2, 4])
def test_every_way_trains_alike(processes):
    """{native, replicas, DDP, ZeRO-1, 2, 3, FSDPv2} x {1, 2, 4 processes} x {checkpointed or not}, 20 steps."""
    results = run("matrix", processes)
    assert all(result == results[0] for result in results)
    made = dict(results[0], **run("matrix_spmd", processes, CPU_NUM_DEVICES=str(4 // processes))[0])
    native = made.pop("native")
    assert len(native) == 20 and native[-1] < native[0] / 2
    for name, losses in made.items():
        assert close(losses, native, 2e-2), (name, floats(losses), native)  # differences of rounding grow in 20 steps
        assert close(losses[:5], native[:5], 1e-4), (name, floats(losses), native)
    # The order of every sum is the same, whoever keeps the parameters.
    assert made["zero2 None"] == made["zero3 None"] and made["replicas None"] == made["zero1 None"]


LLAMA = {"fsdp": "full_shard", "fsdp_config": {"xla": True, "transformer_layer_cls_to_wrap": ["LlamaDecoderLayer"]}}


@LONG
def test_accelerate(tmp_path):
    """An epoch goes on in its middle from save_state(), of which each rank has a file."""
    results = run("accelerated", FOLDER=str(tmp_path))
    assert results[0] == results[1]
    losses, rest, said = results[0]
    assert len(losses) == 5 and rest == losses[2:] and len(set(losses)) == 5
    assert said.startswith("NotImplementedError: accelerate's fsdp_plugin (accelerate launch --use_fsdp) shards no model on the device xla: wrap the model")
    assert {"xla_fsdp_rank-0-of-2.pth", "xla_fsdp_rank-1-of-2.pth"} <= set(os.listdir(tmp_path)) and not glob.glob(str(tmp_path / "*.safetensors"))


@LONG
def test_trainer_of_hugging_face(tmp_path):
    """fsdp="full_shard" has the losses of DDP, with clipped gradients; and goes on from its checkpoints."""
    def train(name, processes, options, steps="6", **more):
        return run("trainer", processes, FOLDER=str(tmp_path / name), OPTIONS=json.dumps(options), STEPS=steps, **more)[0]
    replicas = train("replicas", 2, {})
    sharded = train("sharded", 2, LLAMA)
    again = dict(LLAMA, fsdp_config=dict(LLAMA["fsdp_config"], xla_fsdp_grad_ckpt=True))
    second = dict(LLAMA, fsdp_config=dict(LLAMA["fsdp_config"], xla_fsdp_v2=True))
    assert close(sharded, replicas, 1e-5) and close(train("again", 2, again), replicas, 1e-5)
    assert close(train("v2", 1, second, CPU_NUM_DEVICES="4"), replicas, 1e-5)
    assert train("sharded", 2, LLAMA, steps="8", RESUME="1") == train("whole", 2, LLAMA, steps="8")
    for name in ("model.safetensors", "rank1-of-2-pytorch_model.bin", "rank1-of-2-optimizer.pt"):
        assert (tmp_path / "sharded" / "checkpoint-8" / name).exists()


@pytest.mark.parametrize("seeds", ["0 4", pytest.param("4 60", marks=LONG)])
def test_random_models(seeds):
    """Random models wrapped at random: the losses and weights of plain PyTorch."""
    assert results_of(start(seeds.split(), 2, programs=PROGRAMS.with_name("fsdp_random_models.py"))) == [[], []]


@LONG
def test_groups():
    results = run("groups", 4)
    assert all(result == results[0] for result in results)
    assert results[0][1] < sum(parameter.numel() for parameter in fsdp_programs.Model().parameters())


def test_memory_of_a_step(tmp_path):
    """One gather per unit and direction, one reduction for its small and its large gradients each; and gathered parameters do not add up."""
    run("memory", XLA_FLAGS=f"--xla_dump_to={tmp_path}")
    temporaries, arguments, gathered, at_once = {}, {}, {}, {}
    for path in glob.glob(f"{tmp_path}/process_0*before_optimizations.mlir"):
        text = pathlib.Path(path).read_text()
        units = text.count("stablehlo.all_gather") // 2
        if not units:
            continue
        assert text.count("stablehlo.all_gather") == 2 * units and text.count("stablehlo.reduce_scatter") == 3 * units
        memory = subprocess.run([tools.tool("xla-compile"), "--memory", path], capture_output=True, text=True, check=True).stdout
        temporaries[units] = int(re.search(r"(\d+)\s+temporaries", memory).group(1))
        arguments[units] = int(re.search(r"(\d+)\s+arguments", memory).group(1))
        gathered[units] = int(re.search(r"(\d+)\s+largest sum of live results of all_gather", memory).group(1))
        program = subprocess.run([tools.tool("xla-compile"), "--emit=program", path], capture_output=True, text=True, check=True).stdout.splitlines()
        at_once[units] = sum(line.strip().startswith("all_gather") for line in program)
        for number in (re.match(r"\s*start (\d+) all_gather", line) for line in program):
            if number:
                begin, end = (next(i for i, line in enumerate(program) if line.strip().startswith(f"{half} {number[1]} all_gather")) for half in ("start", "done"))
                assert any("kernel" in line for line in program[begin:end]), number[0]
    # All but the first gather overlap the computation before what needs them, in both directions.
    assert max(at_once.values()) <= 1, at_once
    parameters = 4 * (2 * 256 * 1024 + 256 + 1024)  # bytes of a unit
    assert set(arguments) == {4, 8} and all(arguments[units] < 1.02 * units * parameters / 2 for units in arguments), arguments
    assert all(parameters < bytes_ < 2.1 * parameters for bytes_ in gathered.values()), gathered
    # What one unit and the next need at once: two units gathered, and gradients of one.
    assert temporaries[8] < 3.1 * parameters and temporaries[8] - temporaries[4] < 0.1 * parameters, temporaries


@pytest.mark.parametrize("size, world, multiple, on_dim_0", [((5, 3), 2, 1, True), ((5, 3), 4, 128, False), ((), 3, 1, False), ((2,), 4, 1, True), ((0, 3), 2, 1, False)])
def test_shards_are_joined(size, world, multiple, on_dim_0):
    layout = Layout(torch.Size(size), world, multiple, on_dim_0)
    whole = torch.randn(size)
    shards = [layout.cut(whole, rank) for rank in range(world)]
    assert {shard.shape for shard in shards} == {layout.shard}
    joined = torch.cat(shards)
    assert joined.shape == layout.padded and torch.equal(layout.whole(joined), whole) and torch.equal(layout.pad(whole), joined)
