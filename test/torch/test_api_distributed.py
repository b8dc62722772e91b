# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.distributed's backend xla, spawning and the old data parallel runner, with one process and one device."""
import contextlib
import copy
import re
from unittest import mock

import pytest
import torch
import torch.distributed as dist
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.data_parallel as dp
import torch_xla.distributed.xla_multiprocessing as xmp


@pytest.fixture(params=["xla://", "pjrt://", "env://"])
def group(request, monkeypatch):
    import torch_xla.distributed.xla_backend
    import torch_xla.experimental.pjrt_backend  # noqa: F401
    monkeypatch.setenv("MASTER_ADDR", "localhost")
    monkeypatch.setenv("MASTER_PORT", str(torch_xla.utils.utils.get_free_tcp_ports()[0]))
    ranks = dict(rank=0, world_size=1) if request.param == "env://" else {}
    dist.init_process_group("xla", init_method=request.param, **ranks)
    yield
    dist.destroy_process_group()


def test_collectives(group):
    assert dist.get_backend() == "xla" and dist.get_rank() == 0 and dist.get_world_size() == 1
    x = torch.tensor([1.0, 2.0], device="xla")
    for op in (dist.ReduceOp.SUM, dist.ReduceOp.MAX, dist.ReduceOp.AVG):
        dist.all_reduce(x, op)
    dist.broadcast(x, src=0)
    dist.reduce(x, dst=0)
    assert dist.all_reduce(x, async_op=True).wait()
    outputs = [torch.zeros(2, device="xla")]
    dist.all_gather(outputs, x)
    assert outputs[0].tolist() == [1.0, 2.0]
    for by_input in (True, False):                                # lists of ranks, as PyTorch/XLA has it, and lists of inputs
        lists = [torch.zeros(2, device="xla"), torch.zeros(3, device="xla")]
        dist.group.WORLD.allgather_coalesced([[t] for t in lists] if by_input else [lists], [x, torch.ones(3, device="xla")])
        assert [t.tolist() for t in lists] == [[1.0, 2.0], [1.0, 1.0, 1.0]]
    for collective in (lambda out: dist.all_gather_into_tensor(out, x), lambda out: dist.reduce_scatter_tensor(out, x),
                       lambda out: dist.all_to_all_single(out, x), lambda out: dist.reduce_scatter(out, [x]),
                       lambda out: dist.all_to_all([out], [x]), lambda out: dist.scatter(out, [x]), lambda out: dist.gather(x, [out])):
        out = torch.zeros(2, device="xla")
        collective(out)
        assert out.tolist() == [1.0, 2.0]
    dist.barrier()
    with pytest.raises(NotImplementedError, match="one process"):
        dist.new_group([0]).send([x], 0)


def test_ddp_trains_as_without(group):
    torch.manual_seed(0)
    plain = torch.nn.Sequential(torch.nn.Linear(10, 20), torch.nn.ReLU(), torch.nn.Linear(20, 5))
    model = torch.nn.parallel.DistributedDataParallel(copy.deepcopy(plain).to("xla"),
                                                      gradient_as_bucket_view=True)
    xm.broadcast_master_param(model)
    for device, net in (("cpu", plain), ("xla", model)):
        torch.manual_seed(1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            x, y = torch.randn(4, 10), torch.randn(4, 5)
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(x.to(device)), y.to(device)).backward()
            optimizer.step()
            xm.mark_step()
    for a, b in zip(plain.parameters(), model.parameters()):
        torch.testing.assert_close(b.detach().cpu(), a.detach(), rtol=1e-4, atol=1e-5)


def test_more_processes_need_a_group_of_their_own():
    import torch_xla.distributed.xla_backend as xb
    with pytest.raises(RuntimeError, match="ProcessGroupXla is for a world of one process, but got 2"):
        xb.ProcessGroupXla(dist.HashStore(), 0, 2, None)


def test_spawn_of_one():
    seen = []
    assert xmp.spawn(lambda index, a: seen.append((index, a)), args=(5,)) is None and seen == [(0, 5)]
    wrapped = xmp.MpModelWrapper(torch.nn.Linear(1, 1))
    assert wrapped.to("xla").weight.device.type == "xla" and xmp.MpSerialExecutor().run(lambda: 3) == 3


def test_device_ids_of_ddp(group):
    model = torch.nn.Linear(2, 1).to("xla")
    for wrong in ([1], ["xla:3"]):
        with pytest.raises(ValueError, match="each process has one device, xla:0; leave device_ids out"):
            torch.nn.parallel.DistributedDataParallel(model, device_ids=wrong)


def test_old_data_parallel():
    def loop(model, loader, device, context):
        context.getattr_or("epochs", lambda: []).append(1)
        return [model(batch).sum().item() for batch in loader], str(device), len(context.epochs)
    model = torch.nn.Linear(2, 1)
    torch.nn.init.ones_(model.weight), torch.nn.init.zeros_(model.bias)
    parallel = dp.DataParallel(model, device_ids=["xla:0"])
    for epoch in (1, 2):
        assert parallel(loop, [torch.ones(1, 2), torch.full((1, 2), 2.0)]) == [([2.0, 4.0], "xla:0", epoch)]
    assert parallel.devices == ["xla:0"] and parallel.models[0].weight.device.type == "xla" and model.weight.device.type == "cpu"
    assert dp.DataParallel(model, device_ids=[])(loop, [torch.ones(1, 2)])[0][:2] == ([2.0], "cpu")


@contextlib.contextmanager
def world(rank, size):
    """torch.distributed's world, as if it had more processes: what their programs are can be seen, not run."""
    group = dist.group.WORLD
    with mock.patch.object(group, "rank", return_value=rank), mock.patch.object(group, "size", return_value=size), \
            mock.patch.object(dist.distributed_c10d, "_store_based_barrier"):
        yield


def test_groups_of_larger_worlds(group):
    rows, columns = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]
    for rank, ranks, mesh in ((5, [4, 5, 6, 7], rows), (5, [1, 5, 9], columns), (5, [5], [[i] for i in range(12)]), (5, range(12), [list(range(12))])):
        with world(rank, 12):
            made = dist.new_group(ranks=ranks)
            assert (made.size(), made.rank(), made._mesh) == (len(ranks), list(ranks).index(rank), mesh)
    for ranks in ([4, 5, 6], [1, 5], [1, 5, 10], [2, 3, 4, 5, 6]):
        with world(5, 12), pytest.raises(ValueError, match="groups of neighbours or into columns"):
            dist.new_group(ranks=ranks)


def test_collectives_of_larger_worlds_are_shown(group):
    text = torch_xla._XLAC._get_xla_tensors_hlo
    with world(3, 6):
        pair, x = dist.new_group(ranks=[2, 3]), torch.arange(2, device="xla")
        dist.all_reduce(x, group=pair)
        assert re.search(r"%all-reduce\.\d+ = .+ all-reduce\(.+\), .*replica_groups=\{\{0,1\},\{2,3\},\{4,5\}\}", text([x]))
        largest = torch.arange(2, device="xla")
        pair.allreduce([largest], dist.ReduceOp.MAX)  # the reduction itself, and not options with one
        assert " maximum(" in text([largest]) and " maximum(" not in text([x])
        parts = [torch.zeros(2, dtype=torch.int64, device="xla") for _ in range(2)]
        dist.all_gather(parts, torch.arange(2, device="xla"), group=pair)
        assert re.search(r"%all-gather\.\d+ = s64\[4\]\{0\} all-gather\(", text(parts))
        y = torch.zeros(2, dtype=torch.int64, device="xla")
        dist.reduce_scatter(y, [torch.arange(2, device="xla")] * 2, group=pair)
        assert re.search(r"%reduce-scatter\.\d+ = s64\[2\]\{0\} reduce-scatter\(s64\[4\]", text([y]))
        z = torch.zeros(2, device="xla")
        with mock.patch.object(type(dist.group.WORLD), "make_send_channel_id", lambda self, rank, tag: 2 * rank):
            dist.send(z, 1)
        assert re.search(r"%send-done\.\d+ = .+ send-done\(.+\), channel_id=2", text([z]))


def test_collectives_of_one_on_demand(group, monkeypatch):
    x = torch.arange(3.0, device="xla")
    assert "all-reduce" not in torch_xla._XLAC._get_xla_tensors_hlo([xm.all_reduce(xm.REDUCE_SUM, x)])
    monkeypatch.setenv("XLA_ALWAYS_ALLREDUCE", "1")
    made = xm.all_reduce(xm.REDUCE_MAX, x, scale=2.0)
    dist.all_reduce(x)
    assert " all-reduce(" in torch_xla._XLAC._get_xla_tensors_hlo([made]) and " all-reduce(" in torch_xla._XLAC._get_xla_tensors_hlo([x])
    assert made.tolist() == [0.0, 2.0, 4.0] and x.tolist() == [0.0, 1.0, 2.0]
