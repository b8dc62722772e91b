# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models train on the device as on the CPU, and one program serves all steps."""
import copy

import pytest
import torch
import torch.nn.functional as F
import torch_xla


def train(model, optimizer, batches, device, loss_function, schedule=None):
    losses = []
    for inputs, targets in batches:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        loss = loss_function(model(inputs), targets)
        loss.backward()
        optimizer.step()
        if schedule:
            schedule.step()
        if device == "xla":
            torch_xla.sync()
        losses.append(loss.detach())
    return [loss.item() for loss in losses]


def compare(make, optimizer, batches, loss_function, rtol=1e-4, atol=1e-5, most=2, schedule=None):
    torch.manual_seed(0)
    model = make()
    copies = {"cpu": model, "xla": copy.deepcopy(model).to("xla")}
    losses, compilations = {}, 0
    for device, m in copies.items():
        before = torch_xla._XLAC._compilations()
        o = optimizer(m.parameters())
        s = schedule(o) if schedule else None
        losses[device] = train(m, o, batches, device, loss_function, s)
        compilations = torch_xla._XLAC._compilations() - before
    torch.testing.assert_close(torch.tensor(losses["xla"]), torch.tensor(losses["cpu"]), rtol=rtol, atol=atol)
    for (name, p), q in zip(copies["cpu"].state_dict().items(), copies["xla"].state_dict().values()):
        torch.testing.assert_close(q.cpu(), p, rtol=10 * rtol, atol=100 * atol, msg=lambda text: f"{name}: {text}")
    assert compilations <= most, f"{compilations} compilations in {len(batches)} steps"
    return losses["xla"]


def mlp():
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))


def classes(steps, shape=(5, 8), count=3):
    torch.manual_seed(1)
    return [(torch.randn(shape), torch.randint(0, count, (shape[0],))) for _ in range(steps)]


@pytest.mark.parametrize("name, optimizer", [
    ("sgd", lambda p: torch.optim.SGD(p, lr=0.1)),
    ("momentum", lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01)),
    ("adam", lambda p: torch.optim.Adam(p, lr=0.01)),
    ("adamw", lambda p: torch.optim.AdamW(p, lr=0.01, foreach=True)),
])
def test_mlp_compiles_once(no_fallback, name, optimizer):
    # The first step differs from the others: the optimizer's state is made in it.
    compare(mlp, optimizer, classes(8), F.cross_entropy,
            schedule=lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.9))


class Block(torch.nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(out)
        self.conv2 = torch.nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(out)
        self.short = torch.nn.Sequential(torch.nn.Conv2d(channels, out, 1, stride, bias=False), torch.nn.BatchNorm2d(out))

    def forward(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + self.short(x))


def resnet():
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 7, 2, 3, bias=False), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.MaxPool2d(3, 2, 1),
        Block(8, 8, 1), Block(8, 16, 2), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(16, 3))


def test_resnet(no_fallback):
    compare(resnet, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9), classes(5, (4, 3, 32, 32)), F.cross_entropy,
            rtol=1e-3, atol=1e-4)


class Language(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(20, 16)
        layer = torch.nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = torch.nn.Linear(16, 20)

    def forward(self, x):
        return self.head(self.layers(self.embed(x))).transpose(1, 2)


def test_transformer(no_fallback):
    torch.manual_seed(2)
    batches = [(torch.randint(0, 20, (3, 6)), torch.randint(0, 20, (3, 6))) for _ in range(5)]
    compare(Language, lambda p: torch.optim.Adam(p, lr=0.01), batches, F.cross_entropy, rtol=1e-3, atol=1e-4)


def test_dropout_trains_and_compiles_once(no_fallback):
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.5), torch.nn.Linear(16, 3)).to("xla")
    before = torch_xla._XLAC._compilations()
    losses = train(model, torch.optim.SGD(model.parameters(), lr=0.1), classes(6), "xla", F.cross_entropy)
    assert all(0 < loss < 20 for loss in losses)
    assert torch_xla._XLAC._compilations() - before <= 2
