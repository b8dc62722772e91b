# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of image, audio and diffusion models, their gradients, and pooling."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.op.case import bf16, case, in_torch

NHWC = ("NHWC", "HWIO", "NHWC")


def convolution(stride=1, groups=1, dilation=1):
    return lambda x, k: lax.conv_general_dilated(x, k, (stride, stride), "SAME", rhs_dilation=(dilation, dilation),
                                                 feature_group_count=groups, dimension_numbers=NHWC)


def torch_convolution(stride=1, groups=1, dilation=1):
    def function(x, k):
        import torch.nn.functional as F

        # JAX's SAME pads more at the end when the stride is 2 and the size even.
        reach = dilation * (k.shape[0] - 1) + 1
        total = max(reach - stride if x.shape[1] % stride == 0 else reach - 1, 0)
        x = F.pad(x.permute(0, 3, 1, 2), (total // 2, total - total // 2) * 2)
        return F.conv2d(x, k.permute(3, 2, 0, 1), stride=stride, groups=groups, dilation=dilation).permute(0, 2, 3, 1)

    return function


def gradients(x, k, g):
    _, pullback = jax.vjp(convolution(), x, k)
    return pullback(g)


def torch_gradients(torch, F, x, k, g):
    grad = torch.nn.grad
    x, k, g = x.permute(0, 3, 1, 2), k.permute(3, 2, 0, 1), g.permute(0, 3, 1, 2)
    return (grad.conv2d_input(x.shape, k, g, padding=1).permute(0, 2, 3, 1),
            grad.conv2d_weight(x, k.shape, g, padding=1).permute(2, 3, 1, 0))


def audio(x, k):
    return lax.conv_general_dilated(x, k, (5,), "VALID", dimension_numbers=("NCH", "OIH", "NCH"))


def upsample(x, k):
    return lax.conv_transpose(x, k, (2, 2), "SAME", dimension_numbers=NHWC)


def max_pool(x):
    return lax.reduce_window(x, -np.float32(np.inf), lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def mean_pool(x):
    return jnp.mean(x, axis=(1, 2))


def max_pool_3x3(x):
    """As ResNet has it: steps of two, a border of one."""
    return lax.reduce_window(x, -np.float32(np.inf), lax.max, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0)))


def mean_pool_3x3(x):
    return lax.reduce_window(x, np.float32(0), lax.add, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0))) / 9


def gradient_of(pool):
    return lambda x, g: jax.vjp(pool, x)[1](g)[0]


def torch_gradient_of(name):
    def function(x, g):
        import torch
        import torch.nn.functional as F

        with torch.enable_grad():
            x = x.permute(0, 3, 1, 2).detach().requires_grad_()
            return torch.autograd.grad(getattr(F, name)(x, 3, 2, 1), x, g.permute(0, 3, 1, 2))[0].permute(0, 2, 3, 1)

    return function


def channels_first(groups=1, dimensions=2):
    spatial = "DHW"[3 - dimensions:]
    numbers = ("NC" + spatial, "OI" + spatial, "NC" + spatial)
    return lambda x, k: lax.conv_general_dilated(x, k, (1,) * dimensions, "SAME", feature_group_count=groups, dimension_numbers=numbers)


def programs():
    def one(name, x, k, source, stride=1, groups=1, dilation=1, **more):
        return case(name, convolution(stride, groups, dilation), x, k, rtol=1e-3, atol=1e-2, source=source,
                    torch_function=torch_convolution(stride, groups, dilation), **more)

    found = [
        one("conv3x3_1x56x56x64_f32", (1, 56, 56, 64), (3, 3, 64, 64), "ResNet-50, second stage"),
        one("conv1x1_1x28x28x512x128_f32", (1, 28, 28, 512), (1, 1, 512, 128), "ResNet-50, third stage"),
        one("conv7x7s2_1x224x224x3x64_f32", (1, 224, 224, 3), (7, 7, 3, 64), "ResNet-50, first layer", 2),
        one("conv3x3s2_1x56x56x128_f32", (1, 56, 56, 128), (3, 3, 128, 128), "ResNet-50, between stages", 2),
        one("conv3x3_1x7x7x512_f32", (1, 7, 7, 512), (3, 3, 512, 512), "ResNet-50, last stage"),
        one("conv_groups32_1x28x28x256_f32", (1, 28, 28, 256), (3, 3, 8, 256), "ResNeXt-50 32x4d", groups=32),
        one("conv_depthwise3x3_1x56x56x128_f32", (1, 56, 56, 128), (3, 3, 1, 128), "MobileNet V2", groups=128),
        one("conv_dilated_1x28x28x64_f32", (1, 28, 28, 64), (3, 3, 64, 64), "DeepLab V3", dilation=2),
        one("conv5x5_64x28x28x1x32_f32", (64, 28, 28, 1), (5, 5, 1, 32), "an MNIST network"),
        case("conv3x3_1x56x56x64_bf16", convolution(), bf16(1, 56, 56, 64), bf16(3, 3, 64, 64), rtol=2e-2, atol=0.5,
             source="ResNet-50, second stage", torch_function=torch_convolution()),
        case("conv_transpose3x3_1x32x32x128x64_f32", upsample, (1, 32, 32, 128), (3, 3, 128, 64), rtol=1e-3, atol=1e-2,
             source="a U-Net, up-sampling"),
        case("conv1d10s5_1x1x16000x512_f32", audio, (1, 1, 16000), (512, 1, 10), rtol=1e-3, atol=1e-2,
             source="wav2vec 2.0, first layer", torch_function=in_torch(lambda torch, F, x, k: F.conv1d(x, k, stride=5))),
        case("conv3x3_gradients_8x28x28x64_f32", gradients, (8, 28, 28, 64), (3, 3, 64, 64), (8, 28, 28, 64), rtol=1e-3, atol=5e-2,
             source="ResNet-18 training", torch_function=in_torch(torch_gradients)),
        case("max_pool_8x112x112x64_f32", max_pool, (8, 112, 112, 64), source="ResNet-50",
             torch_function=in_torch(lambda torch, F, x: F.max_pool2d(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1))),
        case("max_pool3x3_gradient_8x112x112x64_f32", gradient_of(max_pool_3x3), (8, 112, 112, 64), (8, 56, 56, 64),
             source="ResNet-50 training", torch_function=torch_gradient_of("max_pool2d")),
        case("mean_pool3x3_gradient_8x56x56x64_f32", gradient_of(mean_pool_3x3), (8, 56, 56, 64), (8, 28, 28, 64),
             source="an Inception network's training", torch_function=torch_gradient_of("avg_pool2d")),
        case("conv_depthwise3x3_1x144x56x56_f32", channels_first(144), (1, 144, 56, 56), (144, 1, 3, 3), rtol=1e-3, atol=1e-3,
             source="MobileNet V2 from PyTorch", torch_function=in_torch(lambda torch, F, x, k: F.conv2d(x, k, padding=1, groups=144))),
        case("conv3x3_1x512x4x4_f32", channels_first(), (1, 512, 4, 4), (512, 512, 3, 3), rtol=1e-3, atol=1e-1,
             source="ResNet-18 on small images", torch_function=in_torch(lambda torch, F, x, k: F.conv2d(x, k, padding=1))),
        case("conv3d_1x16x8x28x28_f32", channels_first(dimensions=3), (1, 16, 8, 28, 28), (32, 16, 3, 3, 3), rtol=1e-3, atol=1e-2,
             source="a video network", torch_function=in_torch(lambda torch, F, x, k: F.conv3d(x, k, padding=1))),
        case("mean_pool_8x7x7x2048_f32", mean_pool, (8, 7, 7, 2048), source="ResNet-50, before the classifier",
             torch_function=in_torch(lambda torch, F, x: x.mean((1, 2)))),
    ]
    return found
