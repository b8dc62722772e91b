# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent networks and recommendations."""
from benchmarks.model.torch_source import model


def recurrent(kind):
    def program(torch, t):
        return t.inference(getattr(torch.nn, kind)(256, 256, num_layers=2), torch.randn(64, 16, 256), result=lambda r: r[0])
    return program


def recommendation(torch, t):
    nn = torch.nn

    def perceptron(*sizes):
        return nn.Sequential(*[part for a, b in zip(sizes, sizes[1:]) for part in (nn.Linear(a, b), nn.ReLU())])

    class Dlrm(nn.Module):
        """13 numbers and 26 bags of 4 words each; products of all pairs of their vectors."""

        def __init__(self, tables=26, words=10000, size=64):
            super().__init__()
            self.bottom = perceptron(13, 512, 256, size)
            self.tables = nn.ModuleList(nn.Embedding(words, size) for _ in range(tables))
            self.register_buffer("pairs", torch.triu_indices(tables + 1, tables + 1, 1))
            self.top = nn.Sequential(perceptron(size + (tables + 1) * tables // 2, 512, 256), nn.Linear(256, 1))

        def forward(self, numbers, words):
            dense = self.bottom(numbers)
            vectors = torch.stack([dense] + [table(words[:, i]).sum(1) for i, table in enumerate(self.tables)], 1)
            products = vectors @ vectors.transpose(1, 2)
            return torch.sigmoid(self.top(torch.cat([dense, products[:, self.pairs[0], self.pairs[1]]], 1)))

    network = Dlrm()
    for table in network.tables:
        nn.init.normal_(table.weight, std=0.1)
    return t.inference(network, torch.randn(128, 13), torch.randint(0, 10000, (128, 26, 4)))


PROGRAMS = [
    model("lstm_l2_64x16x256_f32", recurrent("LSTM"), "torch.nn.LSTM"),
    model("gru_l2_64x16x256_f32", recurrent("GRU"), "torch.nn.GRU"),
    model("dlrm_128x13_26x4_f32", recommendation, "DLRM with Criteo's 13 numbers and 26 categories"),
]
