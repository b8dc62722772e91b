# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Storage of checkpoints in folders of this machine, written so that they survive a power failure. url_storage.py stores them at URLs."""
import os
import pickle
import re
import shutil
from typing import Any

import torch
from torch.distributed.checkpoint.filesystem import FileSystem, FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.metadata import Metadata, StorageMeta
from torch.distributed.checkpoint.planner import SavePlan, SavePlanner
from torch.distributed.checkpoint.storage import WriteResult

from .pickles import load_metadata
from .recorded_files import Contents, RecordedFiles  # noqa: F401


class LocalFiles(RecordedFiles, FileSystem):
    """Folders of this machine, or of one that is mounted. What was written and synced survives a power failure."""
    is_local = True

    def names(self, folder: str) -> list[str]:
        """Returns the names of the files and folders in a folder.

        Args:
          folder: The path of the folder.
        """
        return os.listdir(folder)

    def size(self, path: str) -> int:
        """Returns the size of a file in bytes.

        Args:
          path: The path of the file.
        """
        return os.stat(path).st_size

    def mkdir(self, path: str | os.PathLike) -> None:
        """Makes a folder, and the folders above it; all of them survive a power failure.

        Args:
          path: The path of the folder, which may exist.
        """
        path = os.path.abspath(path)
        if not os.path.isdir(path):
            self.mkdir(os.path.dirname(path))
            os.makedirs(path, exist_ok=True)
            self.sync(os.path.dirname(path))

    def move(self, path: str | os.PathLike, new_path: str | os.PathLike) -> None:
        """Gives a file or a folder another name, as one atomic change.

        Args:
          path: The present path.
          new_path: The new path.
        """
        os.rename(path, new_path)

    def sync(self, folder: str) -> None:
        """Returns when the names in a folder survive a power failure.

        Args:
          folder: The path of the folder.
        """
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def remove(self, path: str) -> None:
        """Removes a file or a folder. The name of a folder is gone before its files are: there is never half a step under it.

        Args:
          path: The path of the file or folder.
        """
        if not os.path.isdir(path):
            os.remove(path)
            return
        gone = f"{path.rstrip('/')}.tmp-removed"
        shutil.rmtree(gone, ignore_errors=True)
        os.rename(path, gone)
        shutil.rmtree(gone)


def files_of(path: str) -> RecordedFiles:
    """Returns the file system of a path: UrlFiles for a URL (NAME:// or what fsspec chains with ::), LocalFiles otherwise.

    Args:
      path: The path or URL.

    Raises:
      ImportError: The URL needs fsspec, or a package of its file system, which is not installed.
    """
    if not re.match(r"[\w.+-]+(://|::)", path):
        return LocalFiles()
    from .url_storage import UrlFiles  # the module needs fsspec, which may be missing
    files = UrlFiles()
    files.init_path(path)
    return files


class StepWriter(FileSystemWriter):
    """Writes one checkpoint in the format of torch.distributed.checkpoint; `fs.written` has the contents of its files.

    Args:
      folder: The path or URL of the folder.
      threads: The number of threads that write files.
    """

    def __init__(self, folder: str, threads: int):
        # Streams are synced when they are closed.
        super().__init__(folder, thread_count=threads, per_thread_copy_ahead=0, sync_files=False)
        self.fs = files_of(folder)
        self.path = self.fs.init_path(folder)

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> torch.futures.Future[list[WriteResult]]:
        """Writes the values of a plan.

        Args:
          plan: The plan of this process.
          planner: Resolves the items of the plan.

        Returns:
          A future that is complete.

        Raises:
          OSError: A thread could not write a file; the error names it.
        """
        done = super().write_data(plan, planner)
        if self.fs.error:
            raise self.fs.error
        return done


class StepReader(FileSystemReader):
    """Reads one checkpoint of torch.distributed.checkpoint, by whomever it was written; nothing in its file .metadata is executed.

    Args:
      folder: The path or URL of the folder.
    """

    def __init__(self, folder: str | os.PathLike):
        super().__init__(folder)
        self._use(folder)

    def _use(self, folder):
        self.fs = files_of(os.fspath(folder))
        self.path = self.fs.init_path(folder)

    def reset(self, checkpoint_id: str | os.PathLike | None = None) -> None:
        """Reads another checkpoint from now on.

        Args:
          checkpoint_id: Its path or URL; None: the same as before.
        """
        super().reset(None)
        if checkpoint_id:
            self._use(checkpoint_id)

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """Returns the metadata of the checkpoint.

        Args:
          *args: Have no effect.
          **kwargs: `rank` reads the metadata of one rank; others have no effect.

        Raises:
          pickle.UnpicklingError: the file has anything else in it; the message has the path, and the name of what would be called.
        """
        path = self._get_metadata_path(kwargs.get("rank"))
        with self.fs.create_stream(path, "rb") as stream:
            try:
                found = load_metadata(stream)
            except pickle.UnpicklingError as error:
                raise pickle.UnpicklingError(f"{path}: {error}") from None
        found.storage_meta = found.storage_meta or StorageMeta()
        found.storage_meta.load_id = self.load_id
        return found
