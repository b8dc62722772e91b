# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.distributed.zero_redundancy_optimizer with one replica: what the optimizer alone does, and its state."""
import copy

import pytest
import torch

import torch_xla
from torch_xla.distributed.zero_redundancy_optimizer import ZeroRedundancyOptimizer


def _train(model, optimizer, clip=None):
    for _ in range(4):
        optimizer.zero_grad()
        model(torch.ones(2, 5, device="xla")).square().sum().backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        torch_xla.sync()


@pytest.mark.parametrize("kind, options", [(torch.optim.AdamW, {"lr": 0.1}), (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9})])
def test_it_computes_what_the_optimizer_does(kind, options):
    plain = torch.nn.Linear(5, 3).to("xla")
    model = copy.deepcopy(plain)
    _train(plain, kind(plain.parameters(), **options), clip=0.5)
    optimizer = ZeroRedundancyOptimizer(model.parameters(), kind, max_norm=0.5, **options)
    scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer, factor=1.0)
    _train(model, optimizer)
    scheduler.step()
    torch.testing.assert_close(list(model.parameters()), list(plain.parameters()))
    assert optimizer.grad_norm.item() > 0


def test_its_state_goes_on_elsewhere():
    torch.manual_seed(1)
    model = torch.nn.Linear(5, 3).to("xla")
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9, grad_clipping=False, save_master_weights=True)
    _train(model, optimizer)
    state = copy.deepcopy(optimizer.state_dict())
    assert state["shape_info"] == {0: (3, 5), 1: (3,)} and set(state["base_state"]) == {0, 1}
    again = torch.nn.Linear(5, 3).to("xla")
    other = ZeroRedundancyOptimizer(again.parameters(), torch.optim.SGD, lr=7.0, momentum=0.1, grad_clipping=False)
    other.load_state_dict(state)
    again.load_state_dict(model.state_dict())
    _train(model, optimizer)
    _train(again, other)
    torch.testing.assert_close(list(again.parameters()), list(model.parameters()))
    with pytest.raises(ValueError, match="base_state"):
        other.load_state_dict(torch.optim.SGD(again.parameters()).state_dict())
    with pytest.raises(ValueError, match="on the device"):
        ZeroRedundancyOptimizer(torch.nn.Linear(2, 2).parameters(), torch.optim.SGD, lr=0.1)


def test_gradients_in_higher_precision():
    """Of 64 backward passes, of which each adds less than the precision of bfloat16 near the sum."""
    sums = {}
    for hook in (False, True):
        weight = torch.nn.Parameter(torch.zeros(4, dtype=torch.bfloat16, device="xla"))
        optimizer = ZeroRedundancyOptimizer([weight], torch.optim.SGD, grad_clipping=False, use_grad_acc_hook=hook, higher_cc_precision=hook, lr=1.0)
        for _ in range(2):
            optimizer.zero_grad()
            for step in range(64):
                (weight * (256.0 if step == 0 else 1.0)).sum().backward()
            sums[hook] = (weight.main_grad if hook else weight.grad).tolist()
            assert (weight.grad is None) == hook
            optimizer.step()
    assert sums == {False: [256.0] * 4, True: [319.0] * 4}  # 256 + 1 is 256 in bfloat16
    assert optimizer.base_optimizer.param_groups[0]["params"][0].tolist() == [-638.0] * 4
