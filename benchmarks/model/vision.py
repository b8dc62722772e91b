# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Image networks of torchvision with random weights, an image generator, and training of a network of them."""
from benchmarks.model.torch_source import model, torchvision

IMAGE = (1, 3, 224, 224)


def classifier(name, source=None, batch=1, **options):
    def make(torch, t):
        return t.inference(getattr(torchvision().models, name)(**options), torch.randn(batch, *IMAGE[1:]))
    return model(f"{name}_{batch}x3x224x224_f32", make, source or f"torchvision's {name}")


def small_vision_transformer(torch, t):
    return t.inference(torchvision().models.VisionTransformer(224, 16, 12, 6, 384, 1536), torch.randn(IMAGE))


def unet_step(torch, t):
    import diffusion_unet
    return t.inference(diffusion_unet.UNet(channels=(64, 128, 256)), torch.randn(1, 4, 32, 32), torch.tensor([10.0]))


def resnet18_training(torch, t):
    network = torchvision().models.resnet18(num_classes=10)
    return t.training(network, torch.nn.functional.cross_entropy, t.Momentum(0.001), torch.randn(8, 3, 64, 64), torch.randint(0, 10, (8,)))


PROGRAMS = [
    classifier("resnet18"), classifier("resnet50"), classifier("resnext50_32x4d"), classifier("alexnet"), classifier("mobilenet_v2"),
    classifier("mnasnet1_0"), classifier("vgg16"), classifier("squeezenet1_1"),
    model("vit_small_patch16_1x3x224x224_f32", small_vision_transformer, "timm's vit_small_patch16_224, of torchvision's parts"),
    model("unet_step_1x4x32x32_f32", unet_step, "a diffusion model's U-Net (examples/diffusion_unet.py), one step"),
    model("resnet18_train_8x3x64x64_f32", resnet18_training, "torchvision's resnet18, a step of SGD with momentum", rtol=1e-2,
          atol=5e-3, seed=1),  # with seed 0 one activation is so near to zero that rounding decides whether it has a gradient
]
