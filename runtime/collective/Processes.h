// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Processes.h - Processes that run programs together ------------------===//
// A program whose devices belong to several processes is launched by each of them. Launches of the same processes are numbered, in the order
// in which each process makes them; the n-th ones belong together, and have to be launches of the same program. What their members have to
// tell each other goes through the Mesh.
#pragma once
#include "runtime/collective/Rendezvous.h"
#include "runtime/transport/Mesh.h"

namespace millrace::runtime {

class Processes : public std::enable_shared_from_this<Processes> {
public:
  static std::shared_ptr<Processes> create(std::unique_ptr<transport::Mesh> mesh);

  /// Says goodbye to the others. Whoever made it has to call this: the last reference may go away on the mesh's own thread.
  void stop() { mesh->stop(); }

  uint32_t rank() const { return mesh->rank(); }
  uint32_t size() const { return mesh->size(); }
  const transport::Mesh &links() const { return *mesh; }

  /// The context of the next launch of the processes in `processOf`, one per member. `program` names the program in messages; `agreement`
  /// is equal in all processes that launch the same one. An error if one of the processes is lost.
  StatusOr<std::shared_ptr<RunContext>> launch(uint32_t numReplicas, uint32_t numPartitions, std::vector<uint32_t> processOf, uint64_t agreement,
                          const std::string &program, double timeoutSeconds);

private:
  class Members;
  /// The sorted ranks of the processes, and the number of the launch.
  using Key = std::pair<std::vector<uint32_t>, uint64_t>;
  struct Program {
    uint64_t agreement = 0;
    std::string name;
  };
  struct Open {
    std::weak_ptr<RunContext> context; ///< null as long as this process has not launched it
    std::map<uint32_t, Program> programs; ///< per process
    std::vector<std::pair<uint32_t, transport::Message>> early; ///< that arrived before the launch
  };

  void receive(uint32_t from, transport::Message message);
  void lost(uint32_t rank, const Status &status);
  void close(const Key &key);
  Status compare(const Open &open) const;
  static void hand(uint32_t from, transport::Message message, RunContext &context);

  std::unique_ptr<transport::Mesh> mesh;
  std::mutex mutex;
  std::map<std::vector<uint32_t>, uint64_t> next; ///< number of the next launch; guarded by mutex
  std::map<Key, Open> open;                       ///< guarded by mutex
};

} // namespace millrace::runtime
