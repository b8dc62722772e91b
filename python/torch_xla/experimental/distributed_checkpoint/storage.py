# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where checkpoints lie: folders of this machine's file systems, written so that they survive a power failure. What has a URL is in
url_storage.py."""
import contextlib
import io
import os
import pickle
import re
import shutil
import zlib
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from torch.distributed.checkpoint.filesystem import FileSystem, FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.metadata import Metadata, StorageMeta

from .pickles import load_metadata

_PIECE = 1 << 22  # bytes that are read at a time


class Contents(NamedTuple):
    """What is in a file: how many bytes, and their CRC-32."""
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


class RecordedFiles:
    """In front of a FileSystem of torch.distributed.checkpoint: `written` has the Contents of every file that was written, by its name, and
    `error` the first error, which names its file. Threads may write different files."""
    is_local = False

    def __init__(self):
        super().__init__()
        self.written: dict[str, Contents] = {}
        self.error: BaseException | None = None

    @contextlib.contextmanager
    def create_stream(self, path: str | os.PathLike, mode: str) -> Iterator[IO[bytes]]:
        if mode != "wb":
            with super().create_stream(path, mode) as raw:
                yield raw
            return
        stream = None
        try:
            with super().create_stream(path, mode) as raw:
                stream = _MeasuredStream(raw, self.is_local)
                yield stream
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
        """Of a file or a folder."""
        self.move(path, new_path)
        if contents := self.written.pop(os.path.basename(path), None):
            self.written[os.path.basename(new_path)] = contents

    def contents_of(self, path: str) -> Contents:
        """Reads a file, a piece at a time."""
        size = crc32 = 0
        with self.create_stream(path, "rb") as stream:
            while piece := stream.read(_PIECE):
                size, crc32 = size + len(piece), zlib.crc32(piece, crc32)
        return Contents(size, crc32)


class LocalFiles(RecordedFiles, FileSystem):
    """Folders of this machine, or of one that is mounted. What was written and synced is there after a power failure, too."""
    is_local = True

    def names(self, folder: str) -> list[str]:
        """What lies in it."""
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
    from .url_storage import UrlFiles
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
