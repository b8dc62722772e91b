# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m torch_xla.distributed.fsdp.consolidate_sharded_ckpts --ckpt_prefix PREFIX: merges the checkpoints of all ranks into one."""
import argparse
import sys

from .state_dict_utils import consolidate_sharded_model_checkpoints


def main() -> None:
    """Reads the command line, and writes the merged checkpoint; an error ends the process with its message and status 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ckpt_prefix", required=True, help="how the files of all ranks begin, such as /tmp/rank-")
    parser.add_argument("--ckpt_suffix", default="*.pth", help="how they go on, with wildcards (default: *.pth)")
    parser.add_argument("--save_path", default="", help="the file to write (default: PREFIX_consolidated.pth)")
    arguments = parser.parse_args()
    try:
        consolidate_sharded_model_checkpoints(arguments.ckpt_prefix, arguments.ckpt_suffix, arguments.save_path)
    except (OSError, ValueError) as error:
        sys.exit(f"consolidate_sharded_ckpts: {error}")


if __name__ == "__main__":
    main()
