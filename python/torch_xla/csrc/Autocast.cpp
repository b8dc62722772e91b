// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Autocast.cpp - In which type operators compute under autocast('xla') ===//
// Products, convolutions and what follows them directly take their operands in autocast's type (bfloat16, mostly); losses,
// normalizations and factorizations in float32. All others compute in the types that they get. These are the lists of
// PyTorch/XLA, so that programs see the types that they saw there, and attention; cat and stack, whose operands PyTorch/XLA brings
// to the widest type, do so by themselves.
#include "python/torch_xla/csrc/TorchVersions.h"

#include <ATen/Operators.h>
#include <ATen/autocast_mode.h>
#include <torch/library.h>

TORCH_LIBRARY_IMPL(_, AutocastXLA, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(aten, AutocastXLA, m) {
#define MILLRACE_LOW(...) KERNEL(c10::DeviceType::XLA, __VA_ARGS__, lower_precision_fp)
#define MILLRACE_SINGLE(...) KERNEL(c10::DeviceType::XLA, __VA_ARGS__, fp32)
  MILLRACE_LOW(addbmm)
  MILLRACE_LOW(addmm)
  MILLRACE_LOW(baddbmm)
  MILLRACE_LOW(bmm)
  MILLRACE_LOW(conv1d)
  MILLRACE_LOW(conv1d, padding)
  MILLRACE_LOW(conv2d)
  MILLRACE_LOW(conv2d, padding)
  MILLRACE_LOW(conv3d)
  MILLRACE_LOW(conv3d, padding)
  MILLRACE_LOW(conv_tbc)
  MILLRACE_LOW(conv_transpose1d)
  MILLRACE_LOW(conv_transpose2d, input)
  MILLRACE_LOW(conv_transpose3d, input)
  MILLRACE_LOW(einsum)
  MILLRACE_LOW(linear)
  MILLRACE_LOW(matmul)
  MILLRACE_LOW(max_pool2d)
  MILLRACE_LOW(mm)
  MILLRACE_LOW(prelu)
  MILLRACE_LOW(relu)
  MILLRACE_LOW(scaled_dot_product_attention)

  MILLRACE_SINGLE(_softmax)
  MILLRACE_SINGLE(softmax, int)
  MILLRACE_SINGLE(log_softmax, int)
  MILLRACE_SINGLE(batch_norm)
  MILLRACE_SINGLE(prod)
  MILLRACE_SINGLE(prod, dim_int)
  MILLRACE_SINGLE(trace)
  MILLRACE_SINGLE(cdist)
  MILLRACE_SINGLE(binary_cross_entropy)
  MILLRACE_SINGLE(binary_cross_entropy_with_logits)
  MILLRACE_SINGLE(cosine_embedding_loss)
  MILLRACE_SINGLE(cross_entropy_loss)
  MILLRACE_SINGLE(ctc_loss, IntList)
  MILLRACE_SINGLE(ctc_loss, Tensor)
  MILLRACE_SINGLE(hinge_embedding_loss)
  MILLRACE_SINGLE(kl_div)
  MILLRACE_SINGLE(l1_loss)
  MILLRACE_SINGLE(margin_ranking_loss)
  MILLRACE_SINGLE(mse_loss)
  MILLRACE_SINGLE(multi_margin_loss)
  MILLRACE_SINGLE(multilabel_margin_loss)
  MILLRACE_SINGLE(nll_loss)
  MILLRACE_SINGLE(nll_loss2d)
  MILLRACE_SINGLE(smooth_l1_loss)
  MILLRACE_SINGLE(soft_margin_loss)
  MILLRACE_SINGLE(triplet_margin_loss)
  MILLRACE_SINGLE(reflection_pad1d)
  MILLRACE_SINGLE(reflection_pad2d)
  MILLRACE_SINGLE(replication_pad1d)
  MILLRACE_SINGLE(replication_pad2d)
  MILLRACE_SINGLE(replication_pad3d)
#if MILLRACE_TORCH_HAS_OLD_FACTORS
  MILLRACE_SINGLE(cholesky)
  MILLRACE_SINGLE(qr)
#endif
  MILLRACE_SINGLE(cholesky_inverse)
  MILLRACE_SINGLE(cholesky_solve)
  MILLRACE_SINGLE(inverse)
  MILLRACE_SINGLE(linalg_inv_ex)
  MILLRACE_SINGLE(linalg_svd)
  MILLRACE_SINGLE(svd)
  MILLRACE_SINGLE(triangular_solve)

  KERNEL(c10::DeviceType::XLA, index_copy, promote)
#undef MILLRACE_LOW
#undef MILLRACE_SINGLE
}
