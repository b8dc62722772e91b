# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names for checkpoint files: when a name is given to another file, the old file is removed unless another name refers to it."""
import json
import os
import shutil
from collections.abc import Callable
from typing import Any


def _remove(path: str) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.exists(path):
        os.remove(path)


class CheckpointTagger:
    """Tags such as "best" and "last" of paths of checkpoints.

    Args:
      remover: Called with a path that has lost its last tag; None: the file or folder is deleted.
    """

    def __init__(self, remover: Callable[[str], Any] | None = None) -> None:
        self._remove = remover or _remove
        self._tags: dict[str, str] = {}

    def tag(self, name: str, path: str) -> None:
        """Gives a tag to a path, and removes the path that had it if that has no other tag.

        Args:
          name: The tag.
          path: The path.
        """
        old = self._tags.get(name)
        self._tags[name] = path
        if old is not None and old not in self._tags.values():
            self._remove(old)

    def tags(self) -> dict[str, str]:
        """Returns the path of every tag."""
        return dict(self._tags)

    def save_to_json(self) -> str:
        """Returns the tags as text, for load_from_json()."""
        return json.dumps({"tags": self._tags})

    @classmethod
    def load_from_json(cls, str_json: str, remover: Callable[[str], Any] | None = None) -> "CheckpointTagger":
        """Returns a tagger with the tags of save_to_json().

        Args:
          str_json: The text.
          remover: See the class.
        """
        made = cls(remover=remover)
        made._tags = dict(json.loads(str_json)["tags"])
        return made
