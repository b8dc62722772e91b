# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small Llama of Hugging Face's transformers with random weights: generates text and is fine-tuned with their Trainer.

    python3 examples/llama.py --generate 16     greedy words from the device, compared with those of the CPU
    python3 examples/llama.py --train 20        so many steps of transformers.Trainer on the device
"""
import argparse
import os
import tempfile
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import torch_xla  # noqa: F401
import torch_xla.debug.metrics as met

import torchvision_schemas

torchvision_schemas.load()  # transformers imports it
import transformers  # noqa: E402

VOCABULARY = 256


def make_model(hidden=64, layers=2, heads=4):
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=hidden, intermediate_size=2 * hidden, num_hidden_layers=layers,
        num_attention_heads=heads, num_key_value_heads=heads // 2, max_position_embeddings=256, bos_token_id=1,
        eos_token_id=None, pad_token_id=0))


def generate(words):
    """Greedy decoding with a cache of a fixed size, so that every word after the first runs the same program."""
    model = make_model().eval()
    prompt = torch.randint(2, VOCABULARY, (1, 8))
    options = dict(max_new_tokens=words, do_sample=False, cache_implementation="static")
    want = model.generate(prompt, attention_mask=torch.ones_like(prompt), **options)
    model, prompt = model.to("xla"), prompt.to("xla")
    for name in ("first", "second"):
        met.clear_all()
        start = time.perf_counter()
        got = model.generate(prompt, attention_mask=torch.ones_like(prompt), **options).cpu()
        print(f"{name} generation: {words} words in {time.perf_counter() - start:.2f} s, "
              f"{met.counter_value('UncachedCompile') or 0} compilations", flush=True)
    print(f"same words as on the CPU: {torch.equal(got, want)}")
    print("on the CPU ran: " + (", ".join(met.executed_fallback_ops()) or "nothing"))


class Sentences(torch.utils.data.Dataset):
    """Arithmetic sequences of words, of which there is something to learn."""

    def __init__(self, count, length=32):
        starts = torch.randint(2, VOCABULARY, (count, 1), generator=torch.Generator().manual_seed(1))
        self.ids = 2 + (starts + 3 * torch.arange(length)) % (VOCABULARY - 2)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.ids[index], "attention_mask": torch.ones_like(self.ids[index])}


def train(steps):
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            output_dir=folder, max_steps=steps, per_device_train_batch_size=8, learning_rate=3e-3, warmup_steps=2,
            lr_scheduler_type="cosine", logging_steps=max(1, steps // 4), save_strategy="no", report_to=[], disable_tqdm=True,
            optim="adamw_torch")  # the default is fused, which PyTorch refuses on this device
        trainer = transformers.Trainer(model=make_model(), args=arguments, train_dataset=Sentences(8 * steps))
        print(f"device: {arguments.device}", flush=True)
        met.clear_all()
        start = time.perf_counter()
        trainer.train()
        seconds = time.perf_counter() - start
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    print("loss: " + " ".join(f"{float(loss):.3f}" for loss in losses))
    print(f"{steps} steps in {seconds:.2f} s, {met.counter_value('UncachedCompile') or 0} compilations")
    print("on the CPU ran: " + (", ".join(met.executed_fallback_ops()) or "nothing"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--generate", type=int, metavar="WORDS")
    parser.add_argument("--train", type=int, metavar="STEPS")
    flags = parser.parse_args()
    if not flags.generate and not flags.train:
        parser.error("expects --generate WORDS or --train STEPS")
    if flags.generate:
        generate(flags.generate)
    if flags.train:
        train(flags.train)


if __name__ == "__main__":
    main()
