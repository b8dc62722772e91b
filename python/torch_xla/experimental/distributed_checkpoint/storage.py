# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Storage of checkpoints in folders of this machine, written so that they survive a power failure. url_storage.py stores them at URLs."""
import os
import pickle
import re
import shutil
from typing import Any

from torch.distributed.checkpoint.filesystem import FileSystem, FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.metadata import Metadata, StorageMeta

from .pickles import load_metadata
from .recorded_files import Contents, RecordedFiles  # noqa: F401


class LocalFiles(RecordedFiles, FileSystem):
    """Folders of this machine, or of one that is mounted. What was written and synced is there after a power failure, too."""
    is_local = True

    def names(self, folder: str) -> list[str]:
        """Returns the names of the files in it."""
        return os.listdir(folder)

    def size(self, path: str) -> int:
        """Bytes of a file."""
        return os.stat(path).st_size

    def mkdir(self, path: str | os.PathLike) -> None:
        """With the folders above it; all are durable."""
        path = os.path.abspath(path)
        if not os.path.isdir(path):
            self.mkdir(os.path.dirname(path))
            os.makedirs(path, exist_ok=True)
            self.sync(os.path.dirname(path))

    def move(self, path: str | os.PathLike, new_path: str | os.PathLike) -> None:
        """Gives a file or a folder another name, all at once."""
        os.rename(path, new_path)

    def sync(self, folder: str) -> None:
        """Makes the names in it durable."""
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def remove(self, path: str) -> None:
        """A file, or a folder. Its name is gone at once: there is never half a step under it."""
        if not os.path.isdir(path):
            os.remove(path)
            return
        gone = f"{path.rstrip('/')}.tmp-removed"
        shutil.rmtree(gone, ignore_errors=True)
        os.rename(path, gone)
        shutil.rmtree(gone)


def files_of(path: str) -> RecordedFiles:
    """LocalFiles for a path, UrlFiles for a URL (NAME:// or what fsspec chains with ::). ImportError if that needs fsspec and it is not there."""
    if not re.match(r"[\w.+-]+(://|::)", path):
        return LocalFiles()
    from .url_storage import UrlFiles  # fsspec, which it needs, may be missing
    files = UrlFiles()
    files.init_path(path)
    return files


class StepWriter(FileSystemWriter):
    """Writes one checkpoint, in the format of torch.distributed.checkpoint; `fs.written` says which files. An error of any of its threads is
    raised."""

    def __init__(self, folder: str, threads: int):
        # Streams are synced when they are closed.
        super().__init__(folder, thread_count=threads, per_thread_copy_ahead=0, sync_files=False)
        self.fs = files_of(folder)
        self.path = self.fs.init_path(folder)

    def write_data(self, plan, planner):
        done = super().write_data(plan, planner)
        if self.fs.error:
            raise self.fs.error
        return done


class StepReader(FileSystemReader):
    """Reads one checkpoint of torch.distributed.checkpoint from a folder or URL, of whoever: executes nothing of what is in its .metadata.
    pickle.UnpicklingError, with the path and the name of what would be called, if that file has anything else in it than such files have."""

    def __init__(self, folder: str | os.PathLike):
        super().__init__(folder)
        self._use(folder)

    def _use(self, folder):
        self.fs = files_of(os.fspath(folder))
        self.path = self.fs.init_path(folder)

    def reset(self, checkpoint_id: str | os.PathLike | None = None) -> None:
        """Reads another checkpoint from now on."""
        super().reset(None)
        if checkpoint_id:
            self._use(checkpoint_id)

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """Which value is where."""
        path = self._get_metadata_path(kwargs.get("rank"))
        with self.fs.create_stream(path, "rb") as stream:
            try:
                found = load_metadata(stream)
            except pickle.UnpicklingError as error:
                raise pickle.UnpicklingError(f"{path}: {error}") from None
        found.storage_meta = found.storage_meta or StorageMeta()
        found.storage_meta.load_id = self.load_id
        return found
