# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of torchvision that have no kernel for this device, in PyTorch's operators."""
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
    covers = (common / (area[:, None] + area - common) > iou_threshold).triu(1).to(corners.dtype)
    stays = torch.ones_like(area)

    def decide(now, before, covers):
        return (now @ covers == 0).to(now.dtype), now, covers
    stays = while_loop(lambda now, before, covers: (now != before).any(), decide, [stays, torch.zeros_like(stays), covers])[0]
    return order[stays != 0]
