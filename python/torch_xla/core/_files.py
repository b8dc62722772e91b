# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes files that exist either completely or not at all."""
import contextlib
import glob
import os
import shutil
import socket
from typing import Any

import torch


def _of_system(error: BaseException | None) -> OSError | None:
    """Returns the error of the operating system behind that of torch.save()."""
    while error is not None and not isinstance(error, OSError):
        error = error.__cause__ or error.__context__
    return error


def unfinished(path: str) -> str:
    """The name of `path` until it is complete. What processes of this host that are no more have left by such names is removed."""
    begin = f"{path}.tmp-{socket.gethostname()}-"
    for left in glob.glob(glob.escape(begin) + "*"):
        process = left[len(begin):]
        if process.isdecimal() and (int(process) == os.getpid() or not os.path.exists(f"/proc/{process}")):
            with contextlib.suppress(OSError):
                shutil.rmtree(left) if os.path.isdir(left) else os.remove(left)
    return f"{begin}{os.getpid()}"


def save(data: Any, file_or_path: Any) -> None:
    """torch.save() of `data`. A file gets its name when it is complete: until then, and if the process is killed or the disk is full, what had the
    name is there as it was. OSError names the file."""
    if not isinstance(file_or_path, (str, os.PathLike)):
        torch.save(data, file_or_path)
        return
    path = os.path.realpath(os.fspath(file_or_path))  # the target of a link is replaced, and not the link
    if os.path.exists(path) and not os.path.isfile(path):
        torch.save(data, path)  # a device, or an error
        return
    new = unfinished(path)
    try:
        with open(new, "wb") as file:
            torch.save(data, file)
        os.replace(new, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.remove(new)
        reason = _of_system(error)
        if reason is None:
            raise
        raise type(reason)(reason.errno, f"{reason.strerror}: {os.fspath(file_or_path)} was not written") from error
