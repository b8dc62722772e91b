# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Storage of checkpoints at URLs, through fsspec."""
from torch.distributed.checkpoint._fsspec_filesystem import FileSystem

from .recorded_files import RecordedFiles


class UrlFiles(RecordedFiles, FileSystem):
    """A file system that fsspec can write to. Whether a folder is renamed atomically, and when a file is durable, depends on it."""

    def names(self, folder: str) -> list[str]:
        """Returns the names of the files and folders in a folder.

        Args:
          folder: The URL of the folder.
        """
        self.fs.invalidate_cache()
        return [each.rstrip("/").rpartition("/")[2] for each in self.fs.ls(folder, detail=False)]

    def size(self, path: str) -> int:
        """Returns the size of a file in bytes.

        Args:
          path: The URL of the file.
        """
        return self.fs.size(path)

    def sync(self, folder: str) -> None:
        """Does nothing: fsspec has no operation that makes names durable.

        Args:
          folder: Has no effect.
        """

    def move(self, path: str, new_path: str) -> None:
        """Gives a file or a folder another name.

        Args:
          path: The present URL.
          new_path: The new URL.
        """
        self.fs.mv(path, new_path, recursive=True)

    def remove(self, path: str) -> None:
        """Removes a file or a folder.

        Args:
          path: The URL of the file or folder.
        """
        self.fs.rm(path, recursive=True)
