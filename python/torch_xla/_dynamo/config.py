# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of torch.compile(backend="openxla")."""

# The caller promises that all arguments have been computed: a pending argument is an error, and not a program of its own.
skip_input_data_check = False

# Parameters and buffers of modules that a graph only reads are prepared once for the program (packed for its matrix products and convolutions), and again
# when they are written. Takes about as much memory as they do.
prepare_constants = True
