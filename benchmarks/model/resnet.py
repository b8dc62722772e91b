# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ResNet-50 inference (version 1.5: the stride sits in the 3x3 convolution), NHWC, batch normalization from statistics."""
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.program import Program, Weights

STAGES = [(3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)]  # blocks, inner width, stride of the first block


def convolve(x, kernel, stride=1):
    size = kernel.shape[0]
    pad = (size - 1) // 2
    return lax.conv_general_dilated(x, kernel, (stride, stride), [(pad, pad), (pad, pad)],
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"))


def normalize(x, w):
    return (x - w["mean"]) * (w["scale"] * lax.rsqrt(w["variance"] + 1e-5)) + w["bias"]


def relu(x):
    return jnp.maximum(x, 0)


def block(x, w, stride):
    y = relu(normalize(convolve(x, w["c1"]), w["n1"]))
    y = relu(normalize(convolve(y, w["c2"], stride), w["n2"]))
    y = normalize(convolve(y, w["c3"]), w["n3"])
    if "c0" in w:
        x = normalize(convolve(x, w["c0"], stride), w["n0"])
    return relu(x + y)


def resnet50(batch, size=224, classes=1000):
    def inputs(seed):
        draw = Weights(seed)

        def norm(width, gain=1.0):
            return {"scale": draw.around(gain, width, spread=0.05 * gain), "bias": draw.normal(width, scale=0.05),
                    "mean": draw.normal(width, scale=0.1), "variance": draw.positive(width)}

        weights = {"stem": draw.matrix(7, 7, 3, 64) * np.float32(1.4), "stem_n": norm(64), "stages": []}
        width = 64
        for blocks, inner, _ in STAGES:
            stage = []
            for index in range(blocks):
                w = {"c1": draw.matrix(1, 1, width, inner) * np.float32(1.4), "n1": norm(inner),
                     "c2": draw.matrix(3, 3, inner, inner) * np.float32(1.4), "n2": norm(inner),
                     "c3": draw.matrix(1, 1, inner, 4 * inner), "n3": norm(4 * inner, 0.3)}
                if index == 0:
                    w["c0"], w["n0"] = draw.matrix(1, 1, width, 4 * inner), norm(4 * inner)
                width = 4 * inner
                stage.append(w)
            weights["stages"].append(stage)
        weights["dense"], weights["dense_b"] = draw.matrix(width, classes), draw.normal(classes, scale=0.02)
        return weights, draw.normal(batch, size, size, 3)

    def function(weights, x):
        x = relu(normalize(convolve(x, weights["stem"], 2), weights["stem_n"]))
        x = lax.reduce_window(x, -np.float32(np.inf), lax.max, (1, 3, 3, 1), (1, 2, 2, 1), [(0, 0), (1, 1), (1, 1), (0, 0)])
        for stage, (_, _, stride) in zip(weights["stages"], STAGES):
            for index, w in enumerate(stage):
                x = block(x, w, stride if index == 0 else 1)
        return jnp.mean(x, axis=(1, 2)) @ weights["dense"] + weights["dense_b"]

    def in_torch(weights, x):
        import torch.nn.functional as F

        def conv(x, kernel, stride=1):
            return F.conv2d(x, kernel.permute(3, 2, 0, 1), stride=stride, padding=(kernel.shape[0] - 1) // 2)

        def norm(x, w):
            return F.batch_norm(x, w["mean"], w["variance"], w["scale"], w["bias"], eps=1e-5)

        x = x.permute(0, 3, 1, 2)
        x = F.max_pool2d(F.relu(norm(conv(x, weights["stem"], 2), weights["stem_n"])), 3, 2, 1)
        for stage, (_, _, first) in zip(weights["stages"], STAGES):
            for index, w in enumerate(stage):
                stride = first if index == 0 else 1
                y = F.relu(norm(conv(x, w["c1"]), w["n1"]))
                y = norm(conv(F.relu(norm(conv(y, w["c2"], stride), w["n2"])), w["c3"]), w["n3"])
                x = F.relu((norm(conv(x, w["c0"], stride), w["n0"]) if "c0" in w else x) + y)
        return x.mean((2, 3)) @ weights["dense"] + weights["dense_b"]

    return Program(f"resnet50_{batch}x{size}x{size}x3_f32", function, inputs, 1e-3, 1e-3, in_torch, "ResNet-50 v1.5 in JAX, NHWC")


PROGRAMS = [resnet50(1)]
