# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""File systems that remember how many bytes they have written to every file of a checkpoint, and their CRC-32."""
import contextlib
import io
import os
import zlib
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from torch.distributed.checkpoint.filesystem import FileSystem as _FileSystem
else:
    _FileSystem = object  # subclasses add a file system of PyTorch

_PIECE = 1 << 22  # bytes that are read at a time


class Contents(NamedTuple):
    """The contents of a file: the number of bytes, and their CRC-32."""
    bytes: int
    crc32: int


class _MeasuredStream(io.IOBase):
    """A file that is being written, what is in it so far, and the first error of writing: torch.save() raises another one in its place. One
    thread."""

    def __init__(self, raw: IO[bytes], is_local: bool):
        self._raw, self._is_local = raw, is_local
        self.contents, self.error = Contents(0, 0), None

    def _try(self, function, *arguments):
        try:
            return function(*arguments)
        except OSError as error:
            self.error = self.error or error
            raise

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        self._try(self._raw.write, data)
        size = memoryview(data).nbytes
        self.contents = Contents(self.contents.bytes + size, zlib.crc32(data, self.contents.crc32))
        return size

    def tell(self) -> int:
        return self.contents.bytes

    def _close(self):
        if self._is_local:
            self._raw.flush()
            os.fsync(self._raw.fileno())
        self._raw.close()

    def close(self) -> None:
        """Afterwards the file is on the disk; elsewhere, what its file system makes of it."""
        if not self.closed:
            self._try(self._close)
            super().close()


class RecordedFiles(_FileSystem):
    """A base class for file systems of torch.distributed.checkpoint that records what is written. Threads may write different files.

    `written` has the Contents of every file by its name, without the folder, and `error` the first error, which names its file."""
    is_local = False

    def __init__(self):
        super().__init__()
        self.written: dict[str, Contents] = {}
        self.error: BaseException | None = None

    @contextlib.contextmanager
    def create_stream(self, path: str | os.PathLike, mode: str) -> Iterator[IO[bytes]]:
        """Opens a file, as a context manager. In the mode "wb" its contents are recorded, and a local file is on the disk when the context ends.

        Args:
          path: The path of the file.
          mode: "wb" or "rb".

        Raises:
          OSError: The file cannot be opened or written; the error names it.
        """
        if mode != "wb":
            with super().create_stream(path, mode) as raw:
                yield raw
            return
        stream = None
        try:
            with super().create_stream(path, mode) as raw:
                stream = _MeasuredStream(raw, self.is_local)
                yield cast(IO[bytes], stream)
                stream.close()
        except BaseException as error:
            cause = stream and stream.error or error
            if isinstance(cause, OSError) and cause.filename is None:
                cause = OSError(cause.errno, cause.strerror or str(cause), os.fspath(path))
            self.error = self.error or cause
            if cause is error:
                raise
            raise cause from error
        self.written[os.path.basename(path)] = stream.contents

    def rename(self, path: str | os.PathLike, new_path: str | os.PathLike) -> None:
        """Gives a file or a folder another name; the recorded contents of a file follow it.

        Args:
          path: The present path.
          new_path: The new path.
        """
        self.move(path, new_path)
        if contents := self.written.pop(os.path.basename(path), None):
            self.written[os.path.basename(new_path)] = contents

    def contents_of(self, path: str) -> Contents:
        """Reads a file, 4 MiB at a time, and returns its contents.

        Args:
          path: The path of the file.

        Raises:
          OSError: The file cannot be read.
        """
        size = crc32 = 0
        with self.create_stream(path, "rb") as stream:
            while piece := stream.read(_PIECE):
                size, crc32 = size + len(piece), zlib.crc32(piece, crc32)
        return Contents(size, crc32)
