# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which checkpoints there are under a folder, and whether their files are those that were written.

    40/                          a checkpoint, once it has this name
        __0_0.distcp …           values, written by each process (rank 0, thread 0)
        .metadata                which value is where, of torch.distributed.checkpoint
        .manager_metadata.json   the sizes and checksums of these files
    50.tmp-1f0c93d2/             is being written, by the manager that drew this number
    40.old/                      what 40/ replaces: a checkpoint as long as there is no 40/
    30.tmp-removed/              is being removed
"""
import dataclasses
import datetime
import json
import re

from .pickles import load_managers
from .recorded_files import Contents, RecordedFiles

METADATA_FILE = ".manager_metadata.json"
_FORMAT = 1
_PICKLED_FILE = ".manager_metadata"  # the file of PyTorch/XLA, and of older versions of Millrace


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """A complete checkpoint: its step, the time (UTC) at which it became complete, its folder, and per file what was written (None: not recorded)."""
    step: int
    time: datetime.datetime
    folder: str
    contents: dict[str, Contents] | None

    def problems(self, files: RecordedFiles, share: tuple[int, int] | None = (0, 1)) -> list[str]:
        """Returns what is wrong with the files, with their paths; an empty list if nothing is.

        All files must exist and have their sizes. Without recorded contents, only `.metadata` must exist.

        Args:
          files: The file system.
          share: (first, number of shares): files number first, first + shares, ... are read and compared with their checksums; None: no file is read.
        """
        if self.contents is None:
            path = f"{self.folder}/.metadata"
            return [] if files.exists(path) else [f"{path} is not there"]
        found = (self._problem(files, name, share is not None and number % share[1] == share[0]) for number, name in enumerate(sorted(self.contents)))
        return [problem for problem in found if problem]

    def _problem(self, files, name, reads):
        path, written = f"{self.folder}/{name}", self.contents[name]
        try:
            if not files.exists(path):
                return f"{path} is not there"
            size = files.size(path)
            if size != written.bytes:
                return f"{path} has {size} bytes, but {written.bytes} were written"
            if reads and files.contents_of(path) != written:
                return f"{path} has another checksum than what was written"
        except OSError as error:
            return f"{path} cannot be read: {error}"
        return None


def _load(files, step, folder):
    """Returns a Checkpoint, or a text that says why it is none."""
    described, pickled = f"{folder}/{METADATA_FILE}", f"{folder}/{_PICKLED_FILE}"
    is_described = files.exists(described)
    if not is_described and not files.exists(pickled):
        return f"{described} is not there"
    try:
        if not is_described:
            with files.create_stream(pickled, "rb") as stream:
                return Checkpoint(step, load_managers(stream).ts.astimezone(datetime.timezone.utc), folder, None)
        with files.create_stream(described, "rb") as stream:
            known = json.load(stream)
        if known["format"] != _FORMAT:
            return f"{described} has format {known['format']}, but this program knows format {_FORMAT}"
        contents = {name: Contents(each["bytes"], int(each["crc32"], 16)) for name, each in known["files"].items()}
        return Checkpoint(step, datetime.datetime.fromisoformat(known["time"]), folder, contents)
    except Exception as error:  # damaged bytes may raise anything
        return f"{described if is_described else pickled} cannot be read: {type(error).__name__}: {error}"


def describe(files: RecordedFiles, checkpoint: Checkpoint) -> None:
    """Writes the file METADATA_FILE, which makes a checkpoint complete.

    Args:
      files: The file system.
      checkpoint: The checkpoint, with the contents of its files.

    Raises:
      OSError: The file cannot be written.
    """
    assert checkpoint.contents is not None, "a checkpoint that was just written has recorded contents"
    contents = {name: {"bytes": each.bytes, "crc32": f"{each.crc32:08x}"} for name, each in sorted(checkpoint.contents.items())}
    text = json.dumps({"format": _FORMAT, "step": checkpoint.step, "time": checkpoint.time.isoformat(), "files": contents}, indent=1)
    with files.create_stream(f"{checkpoint.folder}/{METADATA_FILE}", "wb") as stream:
        stream.write(text.encode())


def find(files: RecordedFiles, base: str) -> tuple[list[Checkpoint], list[str]]:
    """Finds the checkpoints under a folder; no values are read.

    Args:
      files: The file system.
      base: The path of the folder, with a slash at its end.

    Returns:
      The checkpoints in the order in which they were completed, and what is wrong with folders that have the name of one.
    """
    names = set(files.names(base))
    steps = [match for match in (re.fullmatch(r"(\d+)(\.old)?", name) for name in sorted(names)) if match and not (match[2] and match[1] in names)]
    loaded = [_load(files, int(match[1]), base + match[0]) for match in steps]
    found = [each for each in loaded if isinstance(each, Checkpoint)]
    return sorted(found, key=lambda known: (known.time, known.step)), [each for each in loaded if isinstance(each, str)]


def clean(files: RecordedFiles, base: str) -> None:
    """Removes the folders that killed managers have left unfinished.

    Args:
      files: The file system.
      base: The path of the folder, with a slash at its end.
    """
    names = set(files.names(base))
    # Longer names are removed first: a folder that is being removed gets a longer name.
    for name in sorted(names, reverse=True):
        match = re.fullmatch(r"(\d+)(\.old)?(\.tmp.*)?", name)
        if match and (match[3] or match[2] and match[1] in names):
            files.remove(base + name)
