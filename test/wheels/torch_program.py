# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a PyTorch user tries first on an installed wheel; scripts/try-wheels runs it in clean systems. Exit status 0 if all values are right."""
import torch
import torch_xla


def train(device: str) -> torch.Tensor:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 6 * 6, 10))
    x, y = torch.randn(16, 3, 8, 8), torch.randint(0, 10, (16,))
    model, x, y = model.to(device), x.to(device), y.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(10):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if device == "xla":
            torch_xla.sync()
    return torch.cat([loss.detach().cpu().reshape(1), *(p.detach().cpu().flatten() for p in model.parameters())])


torch.testing.assert_close(train("xla"), train("cpu"), rtol=1e-4, atol=1e-4)
square = torch.compile(lambda x: torch.linalg.solve(x @ x.T + torch.eye(4, device=x.device), x), backend="openxla")
x = torch.arange(16.0).reshape(4, 4) / 16
torch.testing.assert_close(square(x.to("xla")).cpu(), torch.linalg.solve(x @ x.T + torch.eye(4), x))
print("torch", torch.__version__, "torch_xla", torch_xla.__version__)
