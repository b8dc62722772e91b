# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of torchvision and of transformers in small, as subjects (torch_models.py runs them).

A Subject has a `name`, `make()` (a model with random weights in training mode), `inputs()` (keyword arguments), `call(model,
inputs)` (what the model gives, a list of tensors) and `loss(model, inputs)`.
"""
import functools
import importlib
import os
import sys
import unittest.mock

os.environ.setdefault("HF_HUB_OFFLINE", "1")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "examples"))
import torchvision_schemas  # noqa: E402

CLASSES = 10


def leaves(tree):
    """Tensors of a result; those that are no numbers that can be compared (None, caches) are left out."""
    import torch
    from torch.utils._pytree import tree_leaves
    return [t for t in tree_leaves(tree) if isinstance(t, torch.Tensor)]


class Subject:
    """`decodes`: it has generate(). `doubles`: the device computes in double precision too. `isSingle`: PyTorch's CPU cannot.
    `settling`: runs after the first that may compile, because the model keeps what an earlier one computed. `reshapes`: how many values
    training takes depends on the weights, so that every step may compile."""
    decodes = False
    doubles = False
    isSingle = False
    settling = 0
    reshapes = False

    def __init__(self, name):
        self.name = name

    def call(self, model, inputs):
        return leaves(self.outputs(model, inputs))

    def outputs(self, model, inputs):
        return model(**inputs)

    def loss(self, model, inputs):
        """Of results that are floating-point: a weighted sum of squares, the same on every device."""
        return sum((t.float() if t.dtype.itemsize < 4 else t).square().mean() for t in self.call(model, inputs) if t.is_floating_point())


def without_chance(model):
    """The model with nothing random while it trains, and with no head of zeros, which would hide everything before it."""
    import torch
    for parameter in model.parameters():
        if parameter.dim() > 1 and not parameter.detach().any():
            torch.nn.init.normal_(parameter, std=0.02)
    for module in model.modules():
        kind = type(module).__name__
        if "Dropout" in kind or kind == "StochasticDepth":
            module.p = 0.0
        for name in ("dropout", "attention_dropout", "layerdrop", "drop_rate", "activation_dropout", "encoder_layerdrop", "dropout_rate"):
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)
    return model


class Images(Subject):
    """A model of torchvision that takes images or films."""
    SIZES = {"inception_v3": 96, "googlenet": 96, "maxvit_t": 224, "mvit_v1_b": 224, "mvit_v2_s": 224}

    def make(self):
        import torchvision.models
        extra = {"init_weights": False} if self.name in ("googlenet", "inception_v3") else {}
        if self.segments:
            extra["weights_backbone"] = None
        if self.name.startswith("vit"):
            extra["image_size"] = 2 * (14 if "14" in self.name else 32)
        made = torchvision.models.get_model(self.name, weights=None, num_classes=CLASSES, **extra)
        return without_chance(made)

    def __init__(self, name, module):
        super().__init__(name)
        self.segments, self.films = ".segmentation." in module, ".video." in module

    def inputs(self):
        import torch
        size = 2 * (14 if "14" in self.name else 32) if self.name.startswith("vit") else self.SIZES.get(self.name, 64)
        frames = 16 if self.name.startswith(("mvit", "s3d")) else 4
        if self.name == "s3d":
            size = 224
        shape = (1, 3, frames, size, size) if self.films else (4, 3, size, size)
        return {"x": torch.randn(shape, generator=torch.Generator().manual_seed(1))}

    def outputs(self, model, inputs):
        return model(inputs["x"])


class Flow(Subject):
    """Where the pixels of one picture have gone in the next."""
    def make(self):
        import torchvision.models
        return without_chance(torchvision.models.get_model(self.name, weights=None))

    def inputs(self):
        import torch
        generator = torch.Generator().manual_seed(1)
        return {name: torch.rand(1, 3, 128, 128, generator=generator) for name in ("image1", "image2")}

    def outputs(self, model, inputs):
        import torchvision.models.optical_flow.raft as raft
        # In the model's type: PyTorch samples pictures of double precision at no places of single precision.
        places, dtype = raft.make_coords_grid, inputs["image1"].dtype
        with unittest.mock.patch.object(raft, "make_coords_grid", lambda *args, **named: places(*args, **named).to(dtype)):
            return model(inputs["image1"], inputs["image2"], num_flow_updates=2)[-1]


class Detection(Subject):
    """Boxes, their number and their order depend on values: compared in double precision, so that rounding changes none."""
    doubles = True
    settling = 1  # anchors, which are parameters of the second run's graphs

    def __init__(self, name):
        super().__init__(name)
        self.reshapes = name == "retinanet_resnet50_fpn_v2"  # its loss takes the boxes that overlap their targets

    def make(self):
        import torchvision.models
        made = torchvision.models.get_model(self.name, weights=None, weights_backbone=None, num_classes=CLASSES)
        made.transform.min_size, made.transform.max_size = (96,), 128
        for name, parameter in made.named_parameters():
            # Scores that rounding does not bring into another order. FCOS's and RetinaNet's saturate, being squashed: many would be equal to 1.
            if self.name.startswith(("fcos", "retinanet")):
                parameter.data.mul_(0 if "cls_logits.bias" in name else 20 if "cls_logits" in name or "bbox_ctrness" in name else 1)
            elif "cls" in name or "classification_head" in name:
                # SSD's backbone without its trained weights gives large numbers: many scores would be equal to 1.
                parameter.data.mul_(0.1 if self.name == "ssd300_vgg16" else 50)
        if hasattr(made, "rpn"):
            made.rpn._pre_nms_top_n = {"training": 200, "testing": 100}
            made.rpn._post_nms_top_n = {"training": 100, "testing": 50}
            for part in (made.rpn, made.roi_heads):
                part.fg_bg_sampler.batch_size_per_image = 100_000  # all of them, rather than some by chance
        return without_chance(made)

    def inputs(self):
        import torch
        generator = torch.Generator().manual_seed(1)
        size = 320 if "320" in self.name else 300 if "300" in self.name else 96
        images = [torch.rand(3, size, size, generator=generator) for _ in range(2)]
        targets = []
        for _ in images:
            corner = torch.rand(3, 2, generator=generator) * 40
            boxes = torch.cat([corner, corner + 20 + 30 * torch.rand(3, 2, generator=generator)], 1)
            target = {"boxes": boxes, "labels": torch.randint(1, CLASSES, (3,), generator=generator)}
            if "mask" in self.name:
                target["masks"] = (torch.rand(3, size, size, generator=generator) > 0.5).to(torch.uint8)
            if "keypoint" in self.name:
                spots = boxes[:, None, :2] + torch.rand(3, 17, 2, generator=generator) * 20
                target["keypoints"] = torch.cat([spots, torch.ones(3, 17, 1)], 2)
            targets.append(target)
        return {"images": images, "targets": targets}

    def outputs(self, model, inputs):
        return model(inputs["images"], inputs["targets"] if model.training else None)

    def loss(self, model, inputs):
        return sum(self.call(model, inputs))


def _suppressed(boxes, scores, threshold):
    """torchvision::nms in words of PyTorch, for the CPU: this torchvision comes without its compiled half."""
    import torch
    order = torch.argsort(scores, descending=True, stable=True)
    boxes, kept = boxes[order], []
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    alive = torch.ones(len(order), dtype=torch.bool)
    for i in range(len(order)):
        if alive[i]:
            kept.append(i)
            common = (torch.minimum(boxes[i, 2:], boxes[:, 2:]) - torch.maximum(boxes[i, :2], boxes[:, :2])).clamp(min=0).prod(1)
            alive &= ~((common / (area[i] + area - common)).double() > threshold)
    return order[kept]


@functools.cache
def vision():
    """Subjects of all models that torchvision builds, except the quantized ones: those are for the CPU's own kernels."""
    import torch
    torchvision = torchvision_schemas.load()
    if not importlib.import_module("torchvision.extension")._has_ops():
        torch.library.impl("torchvision::nms", "CPU", _suppressed)
        regions = sys.modules["torchvision.ops.roi_align"]
        regions._roi_align = regions._roi_align.__wrapped__  # without a compiler in between
    made = []
    for name in torchvision.models.list_models():
        module = torchvision.models.get_model_builder(name).__module__
        if ".quantization." in module:
            continue
        made.append(Detection(name) if ".detection." in module else Flow(name) if ".optical_flow." in module else Images(name, module))
    return made


def text():
    """Subjects of transformers."""
    torchvision_schemas.load()  # transformers imports it
    import torch_text_zoo
    return torch_text_zoo.subjects()
