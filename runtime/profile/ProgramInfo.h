// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramInfo.h - What records say of programs ------------------------===//
#pragma once
#include "runtime/profile/Recorder.h"
#include "runtime/program/Program.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace millrace::runtime::profile {

/// The names and costs of a program, without its code: lives as long as the process, so that records may point to it.
struct ProgramInfo {
  struct KernelInfo {
    std::string name, ops, emitter; ///< "dot_general_12_4f3a"; "dot_general, add"; "generic" where no emitter took it
    double flops = 0, bytesAccessed = 0;
    uint64_t mostPieces = 0; ///< ProgramGraph.h
  };
  struct StepInfo {
    enum class Kind : uint8_t { Other, Loop, Collective };
    std::string name; ///< "copy", "custom_call cholesky", "while", "all_reduce"
    Kind kind = Kind::Other;
    uint64_t bytes = 0; ///< of a collective's arguments; 0 where they are known at run time only
    uint32_t peers = 0; ///< members of its largest group
  };
  uint64_t id = 0; ///< counts from 1 in this process
  std::string name;
  std::vector<KernelInfo> kernels;
  std::vector<StepInfo> steps;
  std::unordered_map<const Step *, uint32_t> stepIndex; ///< steps that are no kernels; of the program that it was made of
  std::string graph; ///< graphJson
  std::string hlo; ///< hloProto
  std::vector<std::string> locations; ///< "train.py:12:3"
  std::vector<const Name *> resultPlaces; ///< per result, "train.py:12" that makes it, else `place`
  const Name *place = nullptr; ///< "program NAME"
};

/// Made once per loaded program, when it is first recorded.
const ProgramInfo *describe(const Program &program);

/// What says where the user's program asked for it: "train.py:12". The column is of no use to a person.
std::string_view placeOf(const ProgramInfo &program, uint64_t location);

/// Name of a step: "kernel", "while", "copy", "custom_call cholesky". A collective of two halves: "all_reduce start" and "all_reduce".
std::string stepName(const Step &step);

} // namespace millrace::runtime::profile
