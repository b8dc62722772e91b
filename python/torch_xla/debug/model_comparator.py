# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds where two runs of a model part: each saves its tensors under names, compare() reads both folders.

    import torch_xla.debug.model_comparator as mc
    mc.configure("/tmp/run1")           # or MODELCMP_SAVEDIR
    mc.save("layer1.output", tensor)    # in both runs
    print(mc.compare("/tmp/run1", "/tmp/run2"))
"""
import collections
import os

import torch

_save_dir = os.environ.get("MODELCMP_SAVEDIR")
_steps: collections.Counter[str] = collections.Counter()


def configure(save_dir: str) -> None:
    """Sets the folder that save() writes to from now on; steps begin at 0 again.

    Args:
      save_dir: The folder.
    """
    global _save_dir
    _save_dir = save_dir
    _steps.clear()


def save(name: str, tensor: torch.Tensor, step: int | None = None) -> None:
    """Saves a tensor for compare(), if a folder is set.

    Args:
      name: Its name.
      tensor: The tensor; its computation is started if it is pending.
      step: Its step; None: the number of earlier tensors of that name.
    """
    if not _save_dir:
        return
    if step is None:
        step = _steps[name]
        _steps[name] += 1
    os.makedirs(_save_dir, exist_ok=True)
    torch.save(tensor.detach().cpu(), os.path.join(_save_dir, f"{name}.{step}.pt"))


def compare_tensors(tensor1: torch.Tensor, tensor2: torch.Tensor, rtol: float = 1e-05, atol: float = 1e-08, max_diffs: int = 25) -> list[str]:
    """Returns how two tensors differ, a line for each difference: sizes, types, then elements. The list is empty if they are close.

    Args:
      tensor1: A tensor.
      tensor2: Another tensor.
      rtol: The relative difference that is allowed, as in torch.isclose().
      atol: The absolute difference that is allowed.
      max_diffs: The largest number of elements that are listed.
    """
    if tensor1.shape != tensor2.shape:
        return [f"sizes {tuple(tensor1.shape)} and {tuple(tensor2.shape)}"]
    if tensor1.dtype != tensor2.dtype:
        return [f"types {tensor1.dtype} and {tensor2.dtype}"]
    far = ~torch.isclose(tensor1.cpu(), tensor2.cpu(), rtol=rtol, atol=atol, equal_nan=True)
    places = far.nonzero().tolist()
    lines = [f"{place}: {tensor1[tuple(place)].item()} and {tensor2[tuple(place)].item()}" for place in places[:max_diffs]]
    if len(places) > max_diffs:
        lines.append(f"and {len(places) - max_diffs} more of {far.numel()} elements")
    return lines


def tensor_file_compare(path1: str, path2: str, rtol: float = 1e-05, atol: float = 1e-08, max_diffs: int = 25) -> list[str]:
    """Returns how the tensors in two files of save() differ, as compare_tensors() does.

    Args:
      path1: A file.
      path2: Another file.
      rtol: The relative difference that is allowed.
      atol: The absolute difference that is allowed.
      max_diffs: The largest number of elements that are listed.
    """
    return compare_tensors(torch.load(path1, map_location="cpu"), torch.load(path2, map_location="cpu"), rtol, atol, max_diffs)


def compare(save_dir1: str, save_dir2: str, rtol: float = 1e-05, atol: float = 1e-08, max_diffs: int = 25) -> str:
    """Returns a report on the differences of two folders of save(), in the order in which the first run saved; "" if all tensors are close.

    Args:
      save_dir1: The folder of the first run.
      save_dir2: The folder of the second run.
      rtol: The relative difference that is allowed.
      atol: The absolute difference that is allowed.
      max_diffs: The largest number of elements that are listed per tensor.
    """
    files1 = sorted((file for file in os.listdir(save_dir1) if file.endswith(".pt")),
                    key=lambda file: (os.stat(os.path.join(save_dir1, file)).st_mtime_ns, file))
    files2 = {file for file in os.listdir(save_dir2) if file.endswith(".pt")}
    report = [f"{file}: only in {save_dir1}\n" for file in files1 if file not in files2]
    report += [f"{file}: only in {save_dir2}\n" for file in sorted(files2 - set(files1))]
    for file in files1:
        if file in files2:
            lines = tensor_file_compare(os.path.join(save_dir1, file), os.path.join(save_dir2, file), rtol, atol, max_diffs)
            if lines:
                report.append(f"{file}:\n" + "".join(f"  {line}\n" for line in lines))
    return "".join(report)
