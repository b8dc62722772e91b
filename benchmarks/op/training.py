# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients and whole steps of small models."""
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.op.case import case, integers, matrix
from benchmarks.op.contraction import attention
from benchmarks.op.rows import cross_entropy, group_norm, layer_norm


def logistic_step(w, b, x, y):
    def loss(w, b):
        logits = x @ w + b
        return jnp.mean(jnp.maximum(logits, 0) - logits * y + jnp.log1p(jnp.exp(-jnp.abs(logits))))

    value, (gw, gb) = jax.value_and_grad(loss, (0, 1))(w, b)
    return w - np.float32(0.1) * gw, b - np.float32(0.1) * gb, value


def layer_norm_gradients(x, scale, bias, g):
    return jax.vjp(layer_norm, x, scale, bias)[1](g)


def group_norm_gradients(x, scale, bias, g):
    return jax.vjp(group_norm, x, scale, bias)[1](g)


def torch_group_norm_gradients(x, scale, bias, g):
    import torch
    import torch.nn.functional as F

    with torch.enable_grad():
        x, scale, bias = x.permute(0, 3, 1, 2).detach().requires_grad_(), scale.detach().requires_grad_(), bias.detach().requires_grad_()
        dx, ds, db = torch.autograd.grad(F.group_norm(x, 32, scale, bias), (x, scale, bias), g.permute(0, 3, 1, 2))
    return dx.permute(0, 2, 3, 1), ds, db


def attention_gradients(q, k, v, g):
    return jax.vjp(attention(True), q, k, v)[1](g)


def language_step(table, w, tokens, targets):
    def loss(table, w):
        return cross_entropy(jnp.tanh(table[tokens]) @ w, targets)

    value, gradients = jax.value_and_grad(loss, (0, 1))(table, w)
    return table - np.float32(0.1) * gradients[0], w - np.float32(0.1) * gradients[1], value


def programs():
    return [
        case("train_logistic_1024x256_f32", logistic_step, (256,), (), (1024, 256), lambda draw: integers(2, 1024)(draw).astype(np.float32),
             rtol=1e-3, source="logistic regression"),
        case("train_layer_norm_gradients_512x768_f32", layer_norm_gradients, (512, 768), (768,), (768,), (512, 768), rtol=1e-3, atol=1e-3,
             source="BERT-base training"),
        case("train_group_norm_gradients_8x32x32x128_f32", group_norm_gradients, (8, 32, 32, 128), (128,), (128,), (8, 32, 32, 128),
             rtol=1e-3, atol=1e-2, source="a diffusion U-Net's training", torch_function=torch_group_norm_gradients),
        case("train_attention_gradients_8x128x64_f32", attention_gradients, (8, 128, 64), (8, 128, 64), (8, 128, 64), (8, 128, 64),
             rtol=1e-3, atol=1e-3, source="GPT-2 training"),
        case("train_language_step_4096x128_f32", language_step, (4096, 128), matrix(128, 4096), integers(4096, 256), integers(4096, 256),
             rtol=1e-3, atol=1e-3, source="a bigram model"),
    ]
