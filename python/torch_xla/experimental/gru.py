# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.nn.GRU whose steps are a loop of the program instead of one copy each."""
import torch

from .scan import scan


class GRU(torch.nn.GRU):
    """Drop-in for torch.nn.GRU of one direction, for tensors of the device; padded input, not packed sequences."""

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
                 device=None, dtype=None):
        if bidirectional:
            raise NotImplementedError("a GRU of two directions: use torch.nn.GRU")
        super().__init__(input_size, hidden_size, num_layers=num_layers, bias=bias, batch_first=batch_first, dropout=dropout,
                         device=device, dtype=dtype)

    def _layer(self, number, data, hidden):
        weight, recurrent = getattr(self, f"weight_ih_l{number}"), getattr(self, f"weight_hh_l{number}")
        bias = getattr(self, f"bias_ih_l{number}", None) if self.bias else None
        recurrent_bias = getattr(self, f"bias_hh_l{number}", None) if self.bias else None
        projected = torch.nn.functional.linear(data, weight, bias)  # of all steps at once

        def step(h, x):
            reset_x, update_x, new_x = x.chunk(3, -1)
            reset_h, update_h, new_h = torch.nn.functional.linear(h, recurrent, recurrent_bias).chunk(3, -1)
            reset, update = torch.sigmoid(reset_x + reset_h), torch.sigmoid(update_x + update_h)
            new = torch.tanh(new_x + reset * new_h)
            h = (1 - update) * new + update * h
            return h, h.clone()
        return scan(step, hidden, projected)

    def forward(self, input, hx=None):
        batched = input.dim() == 3
        data = input if batched else input.unsqueeze(1)
        if batched and self.batch_first:
            data = data.transpose(0, 1)
        if hx is None:
            hx = torch.zeros(self.num_layers, data.shape[1], self.hidden_size, dtype=data.dtype, device=data.device)
        elif not batched:
            hx = hx.unsqueeze(1)
        last = []
        for number in range(self.num_layers):
            hidden, data = self._layer(number, data, hx[number])
            last.append(hidden)
            if self.dropout and self.training and number + 1 < self.num_layers:
                data = torch.nn.functional.dropout(data, self.dropout)
        hidden = torch.stack(last)
        if not batched:
            return data.squeeze(1), hidden.squeeze(1)
        return (data.transpose(0, 1) if self.batch_first else data), hidden
