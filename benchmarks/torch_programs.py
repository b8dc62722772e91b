# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch programs whose steps benchmarks.torch_steps times. Each is a function of (device, compile): it builds model and data from
fixed seeds and returns `step()`, which does one step and returns the tensors that stand for its result. `compile(f)` wraps what
torch.compile is given."""
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "examples"))


def inference(model, device, compile, *inputs, result=lambda r: r):
    model = model.eval().to(device)
    inputs = [t.to(device) for t in inputs]
    forward = compile(model)

    def step():
        with torch.no_grad():
            return [result(forward(*inputs))]
    return step


def training(model, device, compile, loss_fn, make_optimizer, data, target):
    model = model.train().to(device)
    data, target = data.to(device), target.to(device)
    optimizer = make_optimizer(model.parameters())
    forward = compile(lambda data, target: loss_fn(model(data), target))

    def step():
        optimizer.zero_grad()
        loss = forward(data, target)
        loss.backward()
        optimizer.step()
        return [loss.detach()]
    return step


def mlp(device, compile):
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    return inference(model, device, compile, torch.randn(128, 784))


def resnet18(device, compile):
    import torchvision_schemas
    model = torchvision_schemas.load().models.resnet18()
    return inference(model, device, compile, torch.randn(1, 3, 224, 224))


def bert_base(device, compile):
    import torchvision_schemas
    torchvision_schemas.load()  # transformers imports it
    import transformers
    model = transformers.BertModel(transformers.BertConfig(vocab_size=3000), add_pooling_layer=False)
    return inference(model, device, compile, torch.randint(0, 3000, (1, 128)), result=lambda r: r.last_hidden_state)


class Language(nn.Module):
    def __init__(self, words=1000, size=256):
        super().__init__()
        self.embed, self.head = nn.Embedding(words, size), nn.Linear(size, words)
        layer = nn.TransformerEncoderLayer(size, 4, 4 * size, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids):
        return self.head(self.layers(self.embed(ids)))


def transformer_training(device, compile):
    ids = torch.randint(0, 1000, (8, 64))
    return training(Language(), device, compile, lambda out, ids: F.cross_entropy(out.flatten(0, 1), ids.flatten()),
                    lambda p: torch.optim.Adam(p, lr=1e-4), ids, ids)


def resnet18_training(device, compile):
    import torchvision_schemas
    model = torchvision_schemas.load().models.resnet18(num_classes=10)
    return training(model, device, compile, F.cross_entropy, lambda p: torch.optim.SGD(p, lr=0.001, momentum=0.9),
                    torch.randn(8, 3, 64, 64), torch.randint(0, 10, (8,)))


def unet_loop(device, compile):
    """Ten denoising steps; on the device with a barrier after each."""
    import diffusion_unet
    model, noise = diffusion_unet.UNet().eval().to(device), torch.randn(1, 4, 16, 16).to(device)
    forward, barrier = compile(model), None
    if device == "xla":
        import torch_xla
        barrier = torch_xla.sync
    return lambda: [diffusion_unet.denoise(forward, noise, 10, barrier)]


PROGRAMS = {f.__name__: f for f in (mlp, resnet18, bert_base, transformer_training, resnet18_training, unet_loop)}
