# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What recording costs: microseconds per operator, and training steps, next to eager PyTorch on the CPU. One thread.

    PYTHONPATH=python .venv/bin/python -m benchmarks.torch_overhead [--only operators,layer,steps,calls] [--repeat 7] [--processor-time]

`operators`: one call, 4x4 float32, the result dropped. `layer`: the training step of a Transformer layer so small that eager
time is dispatch; `traced` is forward, backward and optimizer until the step barrier, `sync` the barrier itself. `steps`: whole
training steps, with everything waited for at the end. All times are the least of the repetitions. `--processor-time` takes the
processor time of all threads for `operators` and `layer`, in which nothing runs besides: right on a busy machine, too.

`calls`: microseconds of one call around programs, medians: step barriers with nothing to do, transfers of 4x4 float32, calls of an exported
program and of a compiled module of 100 linear layers (200 weights), steps of optimizers of 200 parameters until their barrier. `program` is the
call of the compiled part alone.
"""
import argparse
import statistics
import time

import torch
import torch.nn.functional as F

import torch_xla


clock = time.perf_counter


def best(run, repeat, calls):
    times = []
    for _ in range(repeat):
        start = clock()
        for _ in range(calls):
            run()
        times.append((clock() - start) / calls)
        torch_xla._XLAC._sync(True)
    return min(times)


def operators(repeat):
    def cases(device):
        x, y = torch.rand(4, 4, device=device) + 1, torch.rand(4, 4, device=device) + 1
        w, b = torch.rand(4, device=device), torch.rand(4, device=device)
        leaf, target = torch.rand(4, 4, device=device, requires_grad=True), torch.zeros(4, dtype=torch.long, device=device)
        lists = [[torch.rand(4, 4, device=device) for _ in range(8)] for _ in range(2)]
        return {
            "add": lambda: x + y, "add, grad": lambda: leaf + y, "mul by a number": lambda: x * 2.5,
            "relu": lambda: torch.relu(x), "t": lambda: x.t(), "view": lambda: x.view(16), "x[1]": lambda: x[1],
            "add_": lambda: x.add_(y, alpha=1e-9), "addcdiv_": lambda: x.addcdiv_(y, y, value=1e-9),
            "mm": lambda: torch.mm(x, y), "linear": lambda: F.linear(x, y, b), "sum": lambda: x.sum(),
            "softmax": lambda: torch.softmax(x, 1), "gelu": lambda: F.gelu(x),
            "layer_norm": lambda: F.layer_norm(x, (4,), w, b), "dropout": lambda: F.dropout(x, 0.1),
            "cross_entropy": lambda: F.cross_entropy(x, target), "smooth_l1_loss": lambda: F.smooth_l1_loss(x, y),
            "_foreach_add_, 8 tensors": lambda: torch._foreach_add_(lists[0], lists[1], alpha=1e-9)}
    print(f"{'operator':28}{'eager us':>10}{'xla us':>10}{'ratio':>8}")
    eager, lazy = cases("cpu"), cases("xla")
    for name in eager:
        eager[name](), lazy[name]()
        a, b = best(eager[name], repeat, 300) * 1e6, best(lazy[name], repeat, 300) * 1e6
        print(f"{name:28}{a:10.2f}{b:10.2f}{b / a:8.2f}", flush=True)


class Classifier(torch.nn.Module):
    def __init__(self, width, heads, layers, vocabulary=100):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, width)
        layer = torch.nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = torch.nn.Linear(width, vocabulary)

    def forward(self, x):
        return self.head(self.encoder(self.embedding(x))).flatten(0, 1)


class Block(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.conv2 = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1, self.norm2 = torch.nn.BatchNorm2d(channels), torch.nn.BatchNorm2d(channels)

    def forward(self, x):
        return F.relu(x + self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x))))))


def stepper(model, inputs, targets, device, loss_function=F.cross_entropy):
    model, inputs, targets = model.to(device), inputs.to(device), targets.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        loss_function(model(inputs), targets).backward()
        optimizer.step()
    return step


def layer(repeat):
    def make(device):
        torch.manual_seed(0)
        model = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        return stepper(model, torch.rand(2, 4, 8), torch.rand(2, 4, 8), device, F.mse_loss)
    eager, lazy = make("cpu"), make("xla")
    times = {"eager": [], "traced": [], "sync": []}
    for _ in range(8 + 20 * repeat):
        start = clock()
        eager()
        middle = clock()
        lazy()
        traced = clock()
        torch_xla.sync()
        times["eager"].append(middle - start)
        times["traced"].append(traced - middle)
        times["sync"].append(clock() - traced)
        torch_xla._XLAC._sync(True)
    a, b, c = (min(times[name][8:]) * 1e3 for name in ("eager", "traced", "sync"))
    print(f"Transformer layer's training step: eager {a:.3f} ms, traced {b:.3f} ms ({b / a:.2f}x), sync {c:.3f} ms", flush=True)


def steps(repeat):
    def mlp():
        sizes = [16, 32, 32, 32, 4]
        parts = [part for a, b in zip(sizes, sizes[1:]) for part in (torch.nn.Linear(a, b), torch.nn.ReLU())]
        return torch.nn.Sequential(*parts[:-1]), torch.rand(8, 16), torch.randint(0, 4, (8,))

    def transformer(width, layers, batch, length):
        return lambda: (Classifier(width, 4, layers), torch.randint(0, 100, (batch, length)),
                        torch.randint(0, 100, (batch * length,)))

    def resnet():
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), Block(8), Block(8), torch.nn.AdaptiveAvgPool2d(1),
                                    torch.nn.Flatten(), torch.nn.Linear(8, 10))
        return model, torch.rand(4, 3, 16, 16), torch.randint(0, 10, (4,))
    print(f"{'training step':34}{'eager ms':>10}{'xla ms':>10}{'ratio':>8}{'traced':>9}{'compiled':>10}")
    for name, make in {"MLP 16-32-32-32-4": mlp, "Transformer d=16, 1 layer": transformer(16, 1, 2, 8),
                       "Transformer d=256, 2 layers": transformer(256, 2, 4, 32), "ResNet, 2 blocks of 8": resnet}.items():
        results = []
        for device in ("cpu", "xla"):
            torch.manual_seed(0)
            step = stepper(*make(), device)
            made, times, traced = torch_xla._XLAC._compilations(), [], []
            for index in range(6 + 3 * repeat):
                start = time.perf_counter()
                count = 5
                for _ in range(count):
                    begin = time.perf_counter()
                    step()
                    traced.append(time.perf_counter() - begin)
                    if device == "xla":
                        torch_xla.sync()
                if device == "xla":
                    torch_xla._XLAC._sync(True)
                times.append((time.perf_counter() - start) / count)
            results.append((min(times[3:]) * 1e3, min(traced[10:]) * 1e3, torch_xla._XLAC._compilations() - made))
        (a, _, _), (b, t, compiled) = results
        print(f"{name:34}{a:10.3f}{b:10.3f}{b / a:8.2f}{t:9.3f}{compiled:10}", flush=True)


class Chain(torch.nn.Module):
    """100 small layers, each with two parameters."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(16, 16) for _ in range(100))

    def forward(self, x):
        for each in self.layers:
            x = torch.relu(each(x))
        return x


def calls(repeat):
    """Prints medians of times of calls; what each of them has started is waited for outside."""
    import torch_xla.core.xla_model as xm
    from torch_xla._dynamo.dynamo_bridge import extract_compiled_graph
    from torch_xla.stablehlo import exported_program_to_stablehlo

    def row(name, run, count=100, after=lambda: None):
        times = []
        for _ in range(10 + repeat * 20):
            start = clock()
            for _ in range(count):
                run()
            times.append((clock() - start) / count)
            after()
        print(f"{name:44}{statistics.median(times[10:]) * 1e6:10.2f}", flush=True)

    def region():
        with torch_xla.step():
            pass

    torch.manual_seed(0)
    print(f"{'call':44}{'us':>10}")
    row("torch_xla.sync()", torch_xla.sync)
    row("xm.mark_step()", xm.mark_step)
    row("with torch_xla.step()", region)
    row("a function of torch_xla.compile()", torch_xla.compile(lambda: None))
    x, on_cpu = torch.rand(4, 16, device="xla"), torch.rand(4, 4)
    number, small = x.sum(), torch.rand(4, 4, device="xla")
    torch_xla.sync(wait=True)
    row(".item()", number.item)
    row('.to("cpu")', lambda: small.to("cpu"))
    row('.to("xla")', lambda: on_cpu.to("xla"))

    def wait():
        torch_xla._XLAC._wait()

    with torch.no_grad():
        model = Chain().eval()
        exported = exported_program_to_stablehlo(torch.export.export(model, (torch.rand(4, 16),)))
        exported(x)
        program = exported._programs["forward"].program
        row("exported program, 200 weights", lambda: exported(x), 1, wait)
        row("  program", lambda: torch_xla._XLAC._run_bound(program, [x]), 1, wait)
        model = model.to("xla")
        graphs = []

        def backend(graph, inputs):
            def call(*args):
                if not graphs:
                    graphs.extend((extract_compiled_graph(graph, args), args))
                return graphs[0](*args)
            return call

        torch.compile(model, backend=backend)(x)
        torch._dynamo.reset()
        compiled = torch.compile(model, backend="openxla")
        for _ in range(3):
            compiled(x)
        row("torch.compile, 200 weights", lambda: compiled(x), 1, wait)
        row("  torch_xla", lambda: graphs[0](*graphs[1]), 1, wait)
        row("  program", lambda: graphs[0].compiled(*graphs[1]), 1, wait)
    for optimizer in (torch.optim.SGD, torch.optim.Adam):
        parameters = [torch.nn.Parameter(torch.rand(16, 16, device="xla")) for _ in range(200)]
        for each in parameters:
            each.grad = torch.rand(16, 16, device="xla")
        torch_xla.sync(wait=True)
        row(f"{optimizer.__name__}, step of 200 parameters", optimizer(parameters, lr=1e-3).step, 1, lambda: torch_xla.sync(wait=True))


def main():
    global clock
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="operators,layer,steps,calls")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--processor-time", action="store_true")
    options = parser.parse_args()
    if options.processor_time:
        clock = time.process_time
    torch.set_num_threads(1)
    for part in options.only.split(","):
        {"operators": operators, "layer": layer, "steps": steps, "calls": calls}[part](options.repeat)


if __name__ == "__main__":
    main()
