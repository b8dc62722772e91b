# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of torchvision that have no kernel for this device, in PyTorch's operators."""
import math

import torch


def nms(boxes, scores, iou_threshold):
    """Positions of the boxes [n, 4] (x1, y1, x2, y2) that no box of a higher score, itself among the results, overlaps by more than
    `iou_threshold` (of the area of both together); those of the highest scores first. Only the number of results is read.

    Whether a box stays depends on those before it: all are decided at once, again and again, until nothing changes. After n
    rounds at least the first n decisions are final, and chains of boxes that remove one another are short."""
    from .experimental._control_flow import while_loop
    if len(scores) == 0:
        return torch.empty(0, dtype=torch.int64, device=boxes.device)
    order = torch.sort(scores, descending=True, stable=True)[1]
    corners = boxes[order].to(torch.promote_types(boxes.dtype, torch.float32))
    low, high = corners[:, :2], corners[:, 2:]
    area = (high - low).prod(1)
    common = (torch.minimum(high[:, None], high) - torch.maximum(low[:, None], low)).clamp(min=0).prod(2)
    # torchvision compares with a double: a share of 0.3 as a float is above 0.3.
    # On the CPU whatever the default device is: .item() would wait for the device.
    threshold = torch.tensor(iou_threshold, dtype=corners.dtype, device="cpu")
    if threshold.item() > iou_threshold:
        threshold = torch.nextafter(threshold, torch.full_like(threshold, -math.inf))
    covers = (common / (area[:, None] + area - common) > threshold.item()).triu(1).to(corners.dtype)
    stays = torch.ones_like(area)

    def decide(now, before, covers):
        return (now @ covers == 0).to(now.dtype), now, covers
    stays = while_loop(lambda now, before, covers: (now != before).any(), decide, [stays, torch.zeros_like(stays), covers])[0]
    return order[stays != 0]


def _single_or_double(tensor):
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def _along(first, last, pooled, ratio, aligned):
    """Of one direction: where regions begin, the length of a bin, and the number of samples in it, [n] each."""
    extent = last - first if aligned else (last - first).clamp(min=1)
    length = extent / pooled
    return first, length, torch.full_like(length, ratio) if ratio > 0 else length.ceil()


def _neighbours(regions, index, pooled, size):
    """Returns the two positions beside the samples number `index` of all bins, and their weights: [n, pooled] each. A sample that no bin has,
    or further than 1 outside, has no weight; one beyond the first or last position counts as that one."""
    first, length, samples = (t[:, None] for t in regions)
    at = first + torch.arange(pooled, device=first.device, dtype=first.dtype) * length + (index + 0.5) * length / samples
    counts = ((index < samples) & (at >= -1) & (at <= size)).to(at.dtype)
    at = at.clamp(0, size - 1)
    low = at.floor()
    return ((low.long(), counts * (1 - (at - low))), ((low.long() + 1).clamp(max=size - 1), counts * (at - low)))


def _over_samples(rois, scale, pooled, size, ratio, aligned, total, step):
    """step(total, rows, weights) again and again: for every sample of a bin and each of the four pixels around it. Rows and weights are
    [n, height, width] of bins: positions among batch * height * width pixels, and what these contribute to the mean of the bin."""
    from .experimental._control_flow import while_loop
    rois = _single_or_double(rois)
    image = rois[:, 0].long()[:, None, None] * (size[0] * size[1])
    x1, y1, x2, y2 = (rois[:, 1:] * scale - (0.5 if aligned else 0)).unbind(1)
    down, across = _along(y1, y2, pooled[0], ratio, aligned), _along(x1, x2, pooled[1], ratio, aligned)
    samples = (down[2] * across[2]).clamp(min=1)[:, None, None]
    wide = across[2].max().long()
    count = down[2].max().long() * wide

    def add(number, total):
        for y, weightY in _neighbours(down, number // wide, pooled[0], size[0]):
            for x, weightX in _neighbours(across, number % wide, pooled[1], size[1]):
                total = step(total, image + y[:, :, None] * size[1] + x[:, None], weightY[:, :, None] * weightX[:, None] / samples)
        return number + 1, total
    return while_loop(lambda number, total: number < count, add, [torch.zeros_like(count), total])[1]


def roi_align(images, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned):
    """Means over bins of regions [n, 5] (number of the image, x1, y1, x2, y2) of images [b, c, h, w], interpolated between pixels:
    [n, c, pooled_height, pooled_width]. `sampling_ratio` samples in each direction of a bin; not positive: one for each pixel."""
    pooled, channels = (pooled_height, pooled_width), images.shape[1]
    if len(rois) == 0:
        return images.new_empty(0, channels, *pooled)
    pixels = _single_or_double(images.permute(0, 2, 3, 1).reshape(-1, channels))
    start = torch.zeros(len(rois), *pooled, channels, dtype=pixels.dtype, device=images.device)
    means = _over_samples(rois, spatial_scale, pooled, images.shape[2:], sampling_ratio, aligned, start,
                          lambda total, rows, weights: total + pixels[rows] * weights[..., None])
    return means.permute(0, 3, 1, 2).to(images.dtype)


def roi_align_backward(grad, rois, spatial_scale, pooled_height, pooled_width, batch_size, channels, height, width, sampling_ratio, aligned):
    """Returns the gradient of the images; regions have none."""
    if len(rois) == 0:
        return grad.new_zeros(batch_size, channels, height, width)
    values = _single_or_double(grad.permute(0, 2, 3, 1))

    def step(total, rows, weights):
        return total.index_add(0, rows.reshape(-1), (values * weights[..., None]).reshape(-1, channels))
    start = torch.zeros(batch_size * height * width, channels, dtype=values.dtype, device=grad.device)
    total = _over_samples(rois, spatial_scale, (pooled_height, pooled_width), (height, width), sampling_ratio, aligned, start, step)
    return total.reshape(batch_size, height, width, channels).permute(0, 3, 1, 2).to(grad.dtype)
