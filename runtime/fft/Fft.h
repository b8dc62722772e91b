// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fft.h - Discrete Fourier transforms ----------------------------------===//
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

/// millrace_fft: the transform of the last axes, as stablehlo.fft defines it. Attributes: `type` (FFT, IFFT, RFFT, IRFFT); `length`, one per axis;
/// `wide`: numbers of 64 bits instead of 32; `axes`, of FFT and IFFT only: other axes than the last ones. Tables are computed when the program is
/// loaded. Lines are distributed over the pool, and the result does not depend on the number of threads.
StatusOr<CustomCallHandler> makeFft(const CustomCallStep &step);

} // namespace millrace::runtime
