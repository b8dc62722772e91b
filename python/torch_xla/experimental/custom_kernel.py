# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.experimental.custom_kernel: attention and grouped products under the names of PyTorch/XLA's TPU kernels. Here they are
recorded operations with exact results, on the CPU device of PyTorch too, and gradients are autograd's."""
import torch

from ._pallas import (convert_torch_dtype_to_jax, generate_ctx_need_grad, jax_import_guard, make_kernel_from_pallas,  # noqa: F401
                      requires_jax, safe_empty_like, to_jax_shape_dtype_struct, trace_pallas)
from ._paged_attention import (multi_queries_paged_attention, paged_attention, ragged_paged_attention)  # noqa: F401
from .xla_quantized_matmul import quantized_matmul_xla

_MASK = -0.7 * torch.finfo(torch.float32).max  # finite: a row without any key is a mean of all values, not NaN


def _sharded(tensor, partition_spec, mesh):
    """The tensor with that sharding, also of its gradient; as it is without a spec."""
    if partition_spec is None or tensor.device.type != "xla":
        return tensor
    from ..distributed.spmd import get_global_mesh, mark_sharding_with_gradients
    mesh = get_global_mesh() if mesh is None else mesh
    return mark_sharding_with_gradients(tensor, mesh, partition_spec).global_tensor


def flash_attention(q, k, v, causal=False, q_segment_ids=None, kv_segment_ids=None, sm_scale=1.0, *, ab=None, partition_spec=None,
                    mesh=None):
    """softmax((q @ k.T + ab) * sm_scale) @ v for q (batch, heads, queries, dim), k and v (batch, heads, keys, dim).

    `causal`: query i sees keys 0 to i. Segment ids (batch, queries) and (batch, keys): a query sees the keys of its own segment.
    `ab` (batch, heads, queries, keys) is added before the scale. `partition_spec`: how q, k, v and the result are sharded on `mesh` (the
    global one by default)."""
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != 4:
            raise ValueError(f"expects {name} with 4 dims (batch, heads, length, dim), but got {tuple(tensor.shape)}")
    if (q_segment_ids is None) != (kv_segment_ids is None):
        raise ValueError("expects q_segment_ids and kv_segment_ids both, or none of them")
    q, k, v = (_sharded(tensor, partition_spec, mesh) for tensor in (q, k, v))
    scores = torch.matmul(q.float(), k.float().transpose(-1, -2))
    if ab is not None:
        scores = scores + ab.float()
    scores = scores * sm_scale
    visible = None
    if q_segment_ids is not None:
        visible = q_segment_ids[:, None, :, None] == kv_segment_ids[:, None, None, :]
    if causal:
        before = torch.arange(k.size(2), device=q.device)[None, :] <= torch.arange(q.size(2), device=q.device)[:, None]
        visible = before if visible is None else visible & before
    if visible is not None:
        scores = torch.where(visible, scores, torch.full((), _MASK, device=q.device))
    return _sharded(torch.matmul(torch.softmax(scores, dim=-1), v.float()).to(q.dtype), partition_spec, mesh)


class FlashAttention:
    """flash_attention() as FlashAttention.apply(q, k, v, causal, q_segment_ids, kv_segment_ids, sm_scale, ab, partition_spec, mesh)."""
    MIN_BLOCK_SIZE, NUM_LANES, NUM_SUBLANES, DEFAULT_MASK_VALUE = 128, 128, 8, _MASK
    # Sizes that the TPU's kernel is cut by, for programs that read or change them: no effect here.
    DEFAULT_BLOCK_SIZES = {"block_q": 512, "block_k_major": 512, "block_k": 512, "block_b": 2, "block_q_major_dkv": 512,
                           "block_k_major_dkv": 512, "block_q_dkv": 512, "block_k_dkv": 512, "block_q_dq": 1024, "block_k_dq": 256,
                           "block_k_major_dq": 512}

    @staticmethod
    def prepare_segment_ids(q_segment_ids, kv_segment_ids):
        """Both ids as the TPU's kernel wants them: (batch, queries, lanes) and (batch, sublanes, keys), repeated; None without ids."""
        if q_segment_ids is None or kv_segment_ids is None:
            return None, None
        return (q_segment_ids.unsqueeze(-1).expand(-1, -1, FlashAttention.NUM_LANES),
                kv_segment_ids.unsqueeze(1).expand(-1, FlashAttention.NUM_SUBLANES, -1))

    @staticmethod
    def apply(q, k, v, causal=False, q_segment_ids=None, kv_segment_ids=None, sm_scale=1.0, ab=None, partition_spec=None, mesh=None,
              *_):
        """See flash_attention()."""
        return flash_attention(q, k, v, causal, q_segment_ids, kv_segment_ids, sm_scale, ab=ab, partition_spec=partition_spec,
                               mesh=mesh)


def _group_of_row(rows, group_sizes):
    """The group of each row; the number of groups for rows after the last one."""
    ends = group_sizes.to(torch.int64).cumsum(0)
    return (torch.arange(rows, device=group_sizes.device)[:, None] >= ends[None, :]).sum(1)


def gmm(lhs, rhs, group_sizes, tiling=(512, 512, 512), group_offset=None, transpose_rhs=False):
    """Grouped product: consecutive rows of lhs (m, k), as many as group_sizes (g) says, times their own matrix of rhs (g, k, n).

    `transpose_rhs`: rhs is (g, n, k). Rows after the last group are 0. `group_offset`: the index of the group that rhs[0] is for;
    rows of groups that rhs does not have are 0. `tiling`: no effect."""
    if transpose_rhs:
        rhs = rhs.transpose(1, 2)
    if lhs.dim() != 2 or rhs.dim() != 3 or lhs.size(1) != rhs.size(1) or group_sizes.dim() != 1:
        raise ValueError(f"expects lhs (m, k), rhs (g, k, n) and group_sizes (g), but got {tuple(lhs.shape)}, {tuple(rhs.shape)} and "
                         f"{tuple(group_sizes.shape)}")
    group = _group_of_row(lhs.size(0), group_sizes)
    if group_offset is not None:
        group = group - group_offset
    result = torch.zeros(lhs.size(0), rhs.size(2), dtype=torch.float32, device=lhs.device)
    for index in range(rhs.size(0)):
        result = result + torch.where((group == index)[:, None], lhs, torch.zeros_like(lhs)).float() @ rhs[index].float()
    return result.to(lhs.dtype)


def tgmm(lhs, rhs, group_sizes, tiling=(512, 512, 512), group_offset=None, num_actual_groups=None):
    """The gradient's grouped product: for every group lhs[:, its columns] @ rhs[its rows], lhs (k, m), rhs (m, n): (g, k, n)."""
    if lhs.dim() != 2 or rhs.dim() != 2 or lhs.size(1) != rhs.size(0):
        raise ValueError(f"expects lhs (k, m) and rhs (m, n), but got {tuple(lhs.shape)} and {tuple(rhs.shape)}")
    group = _group_of_row(lhs.size(1), group_sizes)
    first = 0 if group_offset is None else group_offset
    count = group_sizes.size(0) if num_actual_groups is None else num_actual_groups
    pieces = [torch.where((group == first + index)[None, :], lhs, torch.zeros_like(lhs)).float() @ rhs.float() for index in range(count)]
    return torch.stack(pieces).to(lhs.dtype)


def gmm_backward(grad, lhs, rhs, group_sizes, tiling=(512, 512, 512)):
    """Gradients of gmm() for lhs and rhs."""
    return gmm(grad, rhs.transpose(1, 2), group_sizes, tiling), tgmm(lhs.t(), grad, group_sizes, tiling)


class GMM(torch.autograd.Function):
    """gmm() with gmm_backward() as its gradient."""

    @staticmethod
    def forward(ctx, lhs, rhs, group_sizes, tiling=(512, 512, 512)):
        ctx.save_for_backward(lhs, rhs, group_sizes)
        ctx.tiling = tiling
        return gmm(lhs, rhs, group_sizes, tiling)

    @staticmethod
    def backward(ctx, grad_output):
        return *gmm_backward(grad_output, *ctx.saved_tensors, ctx.tiling), None, None


def repeat_with_fixed_output_size(input, repeats, total_repeat_length):
    """torch.repeat_interleave(input, repeats) of a vector, with a length that does not depend on the values of `repeats`: cut, or
    filled with the last element."""
    place = _group_of_row(total_repeat_length, repeats).clamp(max=input.size(0) - 1)
    return input.index_select(0, place)


def quantized_matmul_int8(x, w, scalar, zero_point=None, quant_block_size=None, quantize_activation=False, batch_block_size=None,
                          out_block_size=None, in_block_size=None):
    """x @ w.T * scalar for w of int8 (outputs, inputs), see torch_xla.experimental.xla_quantized_matmul. Block sizes: no effect."""
    if quant_block_size is not None:
        raise NotImplementedError("weights in blocks are not supported")
    return quantized_matmul_xla(x, w, scalar, zero_point, quantize_activation=quantize_activation)


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
