# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Storage of checkpoints at URLs, through fsspec."""
from torch.distributed.checkpoint._fsspec_filesystem import FileSystem

from .recorded_files import RecordedFiles


class UrlFiles(RecordedFiles, FileSystem):
    """What fsspec can write to. Whether a folder is renamed at once or file by file, and when a file is durable, is up to the file system."""

    def names(self, folder: str) -> list[str]:
        """Returns the names of the files in it."""
        self.fs.invalidate_cache()
        return [each.rstrip("/").rpartition("/")[2] for each in self.fs.ls(folder, detail=False)]

    def size(self, path: str) -> int:
        """Bytes of a file."""
        return self.fs.size(path)

    def sync(self, folder: str) -> None:
        """Nothing that could be done."""

    def move(self, path: str, new_path: str) -> None:
        """Gives a file or a folder another name."""
        self.fs.mv(path, new_path, recursive=True)

    def remove(self, path: str) -> None:
        """A file, or a folder."""
        self.fs.rm(path, recursive=True)
