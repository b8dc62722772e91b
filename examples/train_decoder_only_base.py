# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a decoder-only language model on fake data on one device: python3 examples/train_decoder_only_base.py"""
import torch
import torch.nn.functional as F

import loop
from decoder_only_model import DecoderOnlyConfig, DecoderOnlyModel


def own_flags(parser):
    parser.add_argument("--sequence_length", type=int, default=512)
    for name, default in vars(DecoderOnlyConfig()).items():
        parser.add_argument("--" + name, type=int, default=default)


def next_word_loss(logits, ids):
    """Cross entropy of every word given those before it."""
    return F.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), ids[:, 1:].reshape(-1))


class TrainDecoderOnlyBase(loop.Trainer):
    def __init__(self, flags):
        torch.manual_seed(42)
        config = DecoderOnlyConfig(**{name: getattr(flags, name) for name in vars(DecoderOnlyConfig())})
        ids = torch.randint(0, config.vocab_size, (flags.batch_size, flags.sequence_length))
        super().__init__(flags, DecoderOnlyModel(config), lambda weights: torch.optim.Adam(weights, lr=1e-3), next_word_loss,
                         (ids, ids))


if __name__ == "__main__":
    TrainDecoderOnlyBase(loop.flags(16, own_flags)).start_training()
