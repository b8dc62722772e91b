# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.experimental.splash_attention: attention with causal, windowed and segment masks under the name of JAX's TPU kernel. Here it
is recorded operations with exact results, on the CPU device of PyTorch too, and gradients are autograd's."""
import dataclasses
import json
from typing import Any

import torch

from .custom_kernel import _MASK, _sharded


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@dataclasses.dataclass(frozen=True)
class SplashAttentionConfig:
    """The configuration of splash_attention(), with the fields of PyTorch/XLA's.

    Three kinds of fields have an effect: `mesh` (str() of a Mesh) and the partition specs, which say how arguments and result are sharded, and the
    window: `attentiontype_local_sliding` with `slide_window_size` keys to either side. Block sizes and layouts belong to the TPU's kernel, and have
    no effect."""
    sa_block_q: int = 2048
    sa_block_kv: int = 2048
    sa_block_kv_compute: int = 2048
    sa_block_q_dkv: int = 2048
    sa_block_kv_dkv: int = 2048
    sa_block_kv_dkv_compute: int = 2048
    sa_block_q_dq: int = 2048
    sa_block_kv_dq: int = 2048
    sa_use_fused_bwd_kernel: bool = True
    sa_q_layout: str = "HEAD_DIM_MINOR"
    sa_k_layout: str = "HEAD_DIM_MINOR"
    sa_v_layout: str = "HEAD_DIM_MINOR"
    mesh: str | None = None
    qkv_partition_spec: tuple = (("data", "fsdp"), None, None, None)
    segment_ids_partition_spec: tuple = (("data", "fsdp"), None)
    attentiontype_local_sliding: bool = False
    slide_window_size: int | None = None

    def to_json(self) -> str:
        """Returns the text that splash_attention() takes."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, data: str) -> "SplashAttentionConfig":
        """Returns the configuration that to_json() wrote.

        Args:
          data: The text.

        Raises:
          TypeError: The text has an unknown field.
        """
        return cls(**{name: _tuples(value) for name, value in json.loads(data).items()})

    def maybe_convert_and_get_jax_mesh(self) -> Any:
        """Returns the mesh as a jax.sharding.Mesh, on the devices of JAX that have the same numbers.

        Raises:
          ValueError: The configuration has no mesh.
        """
        from ..distributed.spmd import Mesh
        mesh = Mesh.from_str(str(self.mesh))
        if mesh is None:
            raise ValueError(f"expects str() of a Mesh as mesh, but got {self.mesh!r}")
        return mesh.get_jax_mesh()


def _visible(queries, keys, device, causal, config, segments):
    """Which keys a query sees, of a shape that broadcasts to (batch, heads, queries, keys); None: all."""
    row, column = torch.arange(queries, device=device)[:, None], torch.arange(keys, device=device)[None, :]
    parts = [column <= row] if causal else []
    if config.attentiontype_local_sliding:
        if config.slide_window_size is None:
            raise ValueError("expects slide_window_size with attentiontype_local_sliding")
        parts.append((row - column).abs() <= config.slide_window_size)
    if segments is not None and segments.dim():
        parts.append(segments[:, None, :, None] == segments[:, None, None, :])
    made = None
    for part in parts:
        made = part if made is None else made & part
    return made


def splash_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, config: str | SplashAttentionConfig,
                     decoder_segment_ids: torch.Tensor | None = None, causal: bool = True,
                     attn_logits_soft_cap: float | None = None) -> torch.Tensor:
    """Computes attention: softmax(q @ k.T) @ v, without a scale.

    Unlike the TPU's kernel it runs on every device of PyTorch, and computes the scores in float32 without blocks; gradients are autograd's.

    Args:
      q: The queries, (batch, heads, length, dim).
      k: The keys, (batch, key heads, length, dim); the number of key heads divides that of heads.
      v: The values, of the sizes of k.
      config: A SplashAttentionConfig, or its to_json().
      decoder_segment_ids: Integers (batch, length); a query sees the keys of equal id. None: all keys.
      causal: Whether query i sees keys 0 to i only.
      attn_logits_soft_cap: Scores are replaced by cap * tanh(score / cap); None: they are not.

    Returns:
      A tensor of the sizes and type of q.

    Raises:
      ValueError: The sizes do not fit together, or the configuration has a window without its size.
    """
    config = SplashAttentionConfig.from_json(config) if isinstance(config, str) else config
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != 4:
            raise ValueError(f"expects {name} with 4 dims (batch, heads, length, dim), but got {tuple(tensor.shape)}")
    if k.size(1) != v.size(1) or q.size(1) % k.size(1):
        raise ValueError(f"expects equally many heads of k and v, which divide those of q, but got {q.size(1)}, {k.size(1)} and {v.size(1)}")
    from .. import runtime as xr
    mesh = spec = None
    if config.mesh not in (None, "None") and xr.is_spmd():
        from ..distributed.spmd import Mesh
        mesh, spec = Mesh.from_str(config.mesh), config.qkv_partition_spec
    q, k, v = (_sharded(tensor, spec, mesh) for tensor in (q, k, v))
    groups = q.size(1) // k.size(1)
    keys, values = (t if groups == 1 else t.repeat_interleave(groups, dim=1) for t in (k, v))
    scores = torch.matmul(q.float(), keys.float().transpose(-1, -2))
    if attn_logits_soft_cap is not None:
        scores = attn_logits_soft_cap * torch.tanh(scores / attn_logits_soft_cap)
    visible = _visible(q.size(2), k.size(2), q.device, causal, config, decoder_segment_ids)
    if visible is not None:
        scores = torch.where(visible, scores, torch.full((), _MASK, device=q.device))
    return _sharded(torch.matmul(torch.softmax(scores, dim=-1), values.float()).to(q.dtype), spec, mesh)
