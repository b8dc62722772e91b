# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.experimental.custom_kernel: attention and grouped products under the names of PyTorch/XLA's TPU kernels. Here they are
recorded operations with exact results, on the CPU device of PyTorch too, and gradients are autograd's."""
from collections.abc import Sequence
from typing import Any

import torch

from ._pallas import (convert_torch_dtype_to_jax, generate_ctx_need_grad, jax_import_guard, make_kernel_from_pallas,  # noqa: F401
                      requires_jax, safe_empty_like, to_jax_shape_dtype_struct, trace_pallas)
from ._grouped import grouped_outer, grouped_product
from ._paged_attention import (multi_queries_paged_attention, paged_attention, ragged_paged_attention)  # noqa: F401
from .xla_quantized_matmul import quantized_matmul_xla

_MASK = -0.7 * torch.finfo(torch.float32).max  # finite: a row without any key is a mean of all values, not NaN


def _sharded(tensor, partition_spec, mesh):
    """Returns the tensor with that sharding, also of its gradient; as it is without a spec."""
    if partition_spec is None or tensor.device.type != "xla":
        return tensor
    from ..distributed.spmd import get_global_mesh, mark_sharding_with_gradients
    mesh = get_global_mesh() if mesh is None else mesh
    return mark_sharding_with_gradients(tensor, mesh, partition_spec).global_tensor


def flash_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False, q_segment_ids: torch.Tensor | None = None,
                    kv_segment_ids: torch.Tensor | None = None, sm_scale: float = 1.0, *, ab: torch.Tensor | None = None,
                    partition_spec: Sequence[Any] | None = None, mesh: Any = None) -> torch.Tensor:
    """Computes attention: softmax((q @ k.T + ab) * sm_scale) @ v.

    Unlike PyTorch/XLA's kernel for TPUs it runs on every device of PyTorch, takes any sizes, and computes the scores in float32 without blocks;
    gradients are autograd's. A query that sees no key gets the mean of all values.

    Args:
      q: The queries, (batch, heads, queries, dim); the batch may be two dimensions here and in what follows.
      k: The keys, (batch, heads, keys, dim).
      v: The values, (batch, heads, keys, dim).
      causal: Whether query i sees keys 0 to i only.
      q_segment_ids: Integers (batch, queries); a query sees the keys of equal id. None: all keys.
      kv_segment_ids: Integers (batch, keys), if and only if there are q_segment_ids.
      sm_scale: The factor of the scores.
      ab: A bias (batch, heads, queries, keys) that is added before the scale; None: none.
      partition_spec: How q, k, v and the result are sharded on the xla device, see mark_sharding(); None: nothing is marked.
      mesh: The Mesh of `partition_spec`; None: the global mesh.

    Returns:
      A tensor (batch, heads, queries, dim) of the type of q.

    Raises:
      ValueError: Q, k or v does not have four or five dimensions, or there are ids of one kind only.
    """
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() not in (4, 5):
            raise ValueError(f"expects {name} with 4 dims (batch, heads, length, dim), or 5 with two batch dims, but got {tuple(tensor.shape)}")
    if (q_segment_ids is None) != (kv_segment_ids is None):
        raise ValueError("expects q_segment_ids and kv_segment_ids both, or none of them")
    q, k, v = (_sharded(tensor, partition_spec, mesh) for tensor in (q, k, v))
    scores = torch.matmul(q.float(), k.float().transpose(-1, -2))
    if ab is not None:
        scores = scores + ab.float()
    scores = scores * sm_scale
    visible = None
    if q_segment_ids is not None and kv_segment_ids is not None:
        visible = q_segment_ids[..., None, :, None] == kv_segment_ids[..., None, None, :]
    if causal:
        before = torch.arange(k.size(-2), device=q.device)[None, :] <= torch.arange(q.size(-2), device=q.device)[:, None]
        visible = before if visible is None else visible & before
    if visible is not None:
        scores = torch.where(visible, scores, torch.full((), _MASK, device=q.device))
    return _sharded(torch.matmul(torch.softmax(scores, dim=-1), v.float()).to(q.dtype), partition_spec, mesh)


class FlashAttention:
    """flash_attention() with the interface of PyTorch/XLA's autograd function: FlashAttention.apply(q, k, v, ...).

    DEFAULT_BLOCK_SIZES has the block sizes of the TPU's kernel for programs that read or change them; they have no effect."""
    MIN_BLOCK_SIZE, NUM_LANES, NUM_SUBLANES, DEFAULT_MASK_VALUE = 128, 128, 8, _MASK
    # These are the block sizes of the TPU's kernel, for programs that read or change them; they have no effect.
    DEFAULT_BLOCK_SIZES = {"block_q": 512, "block_k_major": 512, "block_k": 512, "block_b": 2, "block_q_major_dkv": 512,
                           "block_k_major_dkv": 512, "block_q_dkv": 512, "block_k_dkv": 512, "block_q_dq": 1024, "block_k_dq": 256,
                           "block_k_major_dq": 512}

    @staticmethod
    def prepare_segment_ids(q_segment_ids: torch.Tensor | None,
                            kv_segment_ids: torch.Tensor | None) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """Returns both ids in the form of the TPU's kernel, repeated: (batch, queries, 128) and (batch, 8, keys).

        Args:
          q_segment_ids: Integers (batch, queries), or None.
          kv_segment_ids: Integers (batch, keys), or None.

        Returns:
          Aliases of the ids; (None, None) if one of them is None.
        """
        if q_segment_ids is None or kv_segment_ids is None:
            return None, None
        return (q_segment_ids.unsqueeze(-1).expand(-1, -1, FlashAttention.NUM_LANES),
                kv_segment_ids.unsqueeze(1).expand(-1, FlashAttention.NUM_SUBLANES, -1))

    @staticmethod
    def apply(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False, q_segment_ids: torch.Tensor | None = None,
              kv_segment_ids: torch.Tensor | None = None, sm_scale: float = 1.0, ab: torch.Tensor | None = None,
              partition_spec: Sequence[Any] | None = None, mesh: Any = None, *_: Any) -> torch.Tensor:
        """Computes attention, as flash_attention() does; further arguments have no effect.

        Args:
          q: The queries, (batch, heads, queries, dim).
          k: The keys, (batch, heads, keys, dim).
          v: The values, (batch, heads, keys, dim).
          causal: Whether query i sees keys 0 to i only.
          q_segment_ids: Integers (batch, queries); None: all queries see all keys.
          kv_segment_ids: Integers (batch, keys), if and only if there are q_segment_ids.
          sm_scale: The factor of the scores.
          ab: A bias (batch, heads, queries, keys) that is added before the scale; None: none.
          partition_spec: How q, k, v and the result are sharded; None: nothing is marked.
          mesh: The Mesh of `partition_spec`; None: the global mesh.

        Raises:
          ValueError: See flash_attention().
        """
        return flash_attention(q, k, v, causal, q_segment_ids, kv_segment_ids, sm_scale, ab=ab, partition_spec=partition_spec,
                               mesh=mesh)


def _offset(group_offset, like):
    """The number of the first group as the operators take it."""
    if group_offset is None or isinstance(group_offset, torch.Tensor):
        return group_offset
    return torch.full((), group_offset, dtype=torch.int32, device=like.device)


def _alike(lhs, rhs):
    """Both factors in one type."""
    dtype = torch.promote_types(lhs.dtype, rhs.dtype)
    return lhs.to(dtype), rhs.to(dtype)


def gmm(lhs: torch.Tensor, rhs: torch.Tensor, group_sizes: torch.Tensor, tiling: Sequence[int] | None = (512, 512, 512),
        group_offset: torch.Tensor | int | None = None, transpose_rhs: bool = False) -> torch.Tensor:
    """Multiplies consecutive groups of rows by one matrix each. Its sums are of float32; the work is that of the rows, however many groups there are.

    Args:
      lhs: The rows, (m, k).
      rhs: One matrix per group, (g, k, n).
      group_sizes: The number of rows per group, integers (g). They may be values of the device: the graph does not depend on them.
      tiling: Has no effect; PyTorch/XLA's kernel has blocks of these sizes.
      group_offset: The index of the group that rhs[0] belongs to; None: 0.
      transpose_rhs: Whether `rhs` is (g, n, k).

    Returns:
      A tensor (m, n) of the type of `lhs`. Rows of no group, and of groups that `rhs` lacks, are 0.

    Raises:
      ValueError: The sizes do not fit together.
    """
    inner = 2 if transpose_rhs else 1
    if lhs.dim() != 2 or rhs.dim() != 3 or lhs.size(1) != rhs.size(inner) or group_sizes.dim() != 1:
        raise ValueError(f"expects lhs (m, k), rhs {'(g, n, k)' if transpose_rhs else '(g, k, n)'} and group_sizes (g), but got {tuple(lhs.shape)}, "
                         f"{tuple(rhs.shape)} and {tuple(group_sizes.shape)}")
    left, right = _alike(lhs, rhs)
    return grouped_product(left, right, group_sizes.to(lhs.device), _offset(group_offset, lhs), transpose_rhs).to(lhs.dtype)


def tgmm(lhs: torch.Tensor, rhs: torch.Tensor, group_sizes: torch.Tensor, tiling: Sequence[int] | None = (512, 512, 512),
         group_offset: torch.Tensor | int | None = None, num_actual_groups: int | None = None) -> torch.Tensor:
    """Multiplies groups of columns of one matrix by the same rows of another: the gradient of gmm() for its matrices.

    Args:
      lhs: A matrix (k, m).
      rhs: A matrix (m, n).
      group_sizes: The number of columns of `lhs` and rows of `rhs` per group, integers (g).
      tiling: Has no effect; PyTorch/XLA's kernel has blocks of these sizes.
      group_offset: The index of the first group of the result; None: 0.
      num_actual_groups: The number of groups of the result; None: g.

    Returns:
      A tensor (groups, k, n) of the type of `lhs`.

    Raises:
      ValueError: The sizes do not fit together.
    """
    if lhs.dim() != 2 or rhs.dim() != 2 or lhs.size(1) != rhs.size(0):
        raise ValueError(f"expects lhs (k, m) and rhs (m, n), but got {tuple(lhs.shape)} and {tuple(rhs.shape)}")
    left, right = _alike(lhs, rhs)
    count = group_sizes.size(0) if num_actual_groups is None else num_actual_groups
    return grouped_outer(left.t(), right, group_sizes.to(lhs.device), _offset(group_offset, lhs), count).to(lhs.dtype)


def gmm_backward(grad: torch.Tensor, lhs: torch.Tensor, rhs: torch.Tensor, group_sizes: torch.Tensor,
                 tiling: Sequence[int] = (512, 512, 512)) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the gradients of gmm() for `lhs` and `rhs`.

    Args:
      grad: The gradient of the result, (m, n).
      lhs: The rows, (m, k).
      rhs: One matrix per group, (g, k, n).
      group_sizes: The number of rows per group, integers (g).
      tiling: Has no effect.

    Raises:
      ValueError: The sizes do not fit together.
    """
    return gmm(grad, rhs, group_sizes, tiling, transpose_rhs=True), tgmm(lhs.t(), grad, group_sizes, tiling)


class GMM(torch.autograd.Function):
    """gmm() as an autograd function whose gradient is gmm_backward()."""

    @staticmethod
    def forward(ctx: Any, lhs: torch.Tensor, rhs: torch.Tensor, group_sizes: torch.Tensor, tiling: Sequence[int] = (512, 512, 512)) -> torch.Tensor:
        """Returns the product of every group of rows and its matrix.

        Args:
          lhs: The rows, (m, k).
          rhs: One matrix per group, (g, k, n).
          group_sizes: The number of rows per group, integers (g).
          tiling: Has no effect.
        """
        ctx.save_for_backward(lhs, rhs, group_sizes)
        ctx.tiling = tiling
        return gmm(lhs, rhs, group_sizes, tiling)

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Returns the gradients for the arguments of forward(): those of `lhs` and `rhs`, and None for the others.

        Args:
          grad_output: The gradient of the result, (m, n).
        """
        lhs, rhs, group_sizes = ctx.saved_tensors
        return *gmm_backward(grad_output, lhs, rhs, group_sizes, ctx.tiling), None, None


def repeat_with_fixed_output_size(input: torch.Tensor, repeats: torch.Tensor, total_repeat_length: int) -> torch.Tensor:
    """Repeats the elements of a vector, as torch.repeat_interleave() does, with a length that does not depend on the values of `repeats`.

    Args:
      input: A vector of n elements.
      repeats: The number of repetitions per element, integers (n).
      total_repeat_length: The length of the result.

    Returns:
      A vector that is cut off, or filled with the last element of `input`.
    """
    ends = repeats.to(torch.int64).cumsum(0)
    place = (torch.arange(total_repeat_length, device=repeats.device)[:, None] >= ends[None, :]).sum(1).clamp(max=input.size(0) - 1)
    return input.index_select(0, place)


def quantized_matmul_int8(x: torch.Tensor, w: torch.Tensor, scalar: torch.Tensor, zero_point: torch.Tensor | None = None,
                          quant_block_size: int | None = None, quantize_activation: bool = False, batch_block_size: int | None = None,
                          out_block_size: int | None = None, in_block_size: int | None = None) -> torch.Tensor:
    """Multiplies by a quantized matrix: x @ w.T * scalar, see torch_xla.experimental.xla_quantized_matmul.

    Args:
      x: The activations, (..., inputs).
      w: The weights of int8, (outputs, inputs), or with a block size (blocks, block size, outputs).
      scalar: The scale of each output, (outputs), or with a block size (blocks, outputs).
      zero_point: What is subtracted from each scaled weight, of the sizes of `scalar`; None: 0.
      quant_block_size: The number of inputs that share a scale; None: all of them.
      quantize_activation: Whether the activations are quantized to int8, too.
      batch_block_size: Has no effect; it is a size of the TPU's kernel.
      out_block_size: Has no effect.
      in_block_size: Has no effect.

    Raises:
      TypeError: `w` is not of int8.
      ValueError: The sizes do not fit together.
    """
    return quantized_matmul_xla(x, w, scalar, zero_point, -1 if quant_block_size is None else quant_block_size, quantize_activation=quantize_activation)


#===-- torch.ops.xla ---------------------------------------------------------===

_library = torch.library.Library("xla", "FRAGMENT")


def _operator(schema, function):
    """torch.ops.xla.NAME, for devices and for tensors without values: the operations that `function` records say all."""
    _library.define(schema)
    _library.impl(schema.split("(")[0], function, "CompositeImplicitAutograd")


_operator("flash_attention(Tensor q, Tensor k, Tensor v, bool casual=False) -> Tensor",
          lambda q, k, v, casual=False: flash_attention(q, k, v, casual))
_operator("paged_attention(Tensor q, Tensor k_pages, Tensor v_pages, Tensor lengths, Tensor page_indices, int pages_per_compute_block, "
          "str? megacore_mode=None, float? attn_logits_soft_cap=None) -> Tensor", paged_attention)
_operator("multi_queries_paged_attention(Tensor q, Tensor k_pages, Tensor v_pages, Tensor lengths, Tensor page_indices, "
          "Tensor effective_q_lens, int num_kv_pages_per_compute_block, int num_queries_per_compute_block, bool use_kernel=True, "
          "float? attn_logits_soft_cap=None) -> Tensor", multi_queries_paged_attention)
_operator("ragged_paged_attention(Tensor q, Tensor kv_pages, Tensor kv_lens, Tensor page_indices, Tensor cu_q_lens, Tensor num_seqs, *, "
          "float sm_scale=1, int? sliding_window=None, float? soft_cap=None, float? mask_value=None, float? k_scale=None, "
          "float? v_scale=None, bool use_kernel=True, int? num_kv_pages_per_block=None, int? num_queries_per_block=None, "
          "int? vmem_limit_bytes=None) -> Tensor", ragged_paged_attention)
_operator("gmm(Tensor lhs, Tensor rhs, Tensor group_sizes, int[]? tiling=None, Tensor? group_offset=None, bool transpose_rhs=False) -> Tensor", gmm)
_operator("quantized_matmul_int8(Tensor x, Tensor w, Tensor scalar, Tensor? zero_point=None, int? quant_block_size=None, "
          "bool? quantize_activation=False, int? batch_block_size=None, int? out_block_size=None, int? in_block_size=None) -> Tensor",
          quantized_matmul_int8)
