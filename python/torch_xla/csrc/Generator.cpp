// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Generator.cpp - torch.Generator(device="xla"), random keys ----------===//
// A generator is a seed and the number of draws so far. A draw is 64 bits, mixed from both, that a recorded operation gets
// as an operand: a parameter of the program, so that another seed or step needs no other program.
#include "python/torch_xla/csrc/Trace.h"

#include <ATen/detail/XLAHooksInterface.h>
#include <c10/core/GeneratorImpl.h>

namespace millrace::torch_shim {
namespace {

class Generator final : public c10::GeneratorImpl {
public:
  Generator() : GeneratorImpl(xlaDevice(), c10::DispatchKeySet(c10::DispatchKey::XLA)) {}
  static c10::DeviceType device_type() { return c10::kXLA; }

  std::pair<uint64_t, uint64_t> state() const {
    std::lock_guard lock(guard);
    return {seedBits, draws};
  }
  void setState(uint64_t seed, uint64_t offset) {
    std::lock_guard lock(guard);
    seedBits = seed;
    draws = offset;
  }
  uint64_t draw() {
    std::lock_guard lock(guard);
    uint64_t x = seedBits + 0x9e3779b97f4a7c15ull * ++draws; // splitmix64: neighbours have nothing in common
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }

  void set_current_seed(uint64_t seed) override { setState(seed, 0); }
  void set_offset(uint64_t offset) override { setState(state().first, offset); }
  uint64_t get_offset() const override { return state().second; }
  uint64_t current_seed() const override { return state().first; }
  uint64_t seed() override {
    uint64_t chosen = c10::detail::getNonDeterministicRandom();
    setState(chosen, 0);
    return chosen;
  }
  /// 16 bytes on the CPU: seed and draws.
  void set_state(const c10::TensorImpl &given) override {
    TORCH_CHECK_TYPE(given.device().is_cpu() && given.dtype() == at::kByte && given.is_contiguous(),
                     "RNG state must be a torch.ByteTensor");
    TORCH_CHECK(given.numel() == sizeof(uint64_t[2]), "RNG state is wrong size: expected ", sizeof(uint64_t[2]),
                " bytes, but got ", given.numel());
    uint64_t words[2];
    std::memcpy(words, given.data(), sizeof words);
    setState(words[0], words[1]);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    Tensor made = at::empty({sizeof(uint64_t[2])}, at::kByte);
    const auto [seed, offset] = state();
    const uint64_t words[2] = {seed, offset};
    std::memcpy(made.mutable_data_ptr(), words, sizeof words);
    return made.getIntrusivePtr();
  }

private:
  GeneratorImpl *clone_impl() const override {
    auto *made = new Generator;
    auto [seed, offset] = state();
    made->setState(seed, offset);
    return made;
  }
  mutable std::mutex guard; // users of the state take mutex_ around several calls
  uint64_t seedBits = 0, draws = 0;
};

const at::Generator &processGenerator() {
  static auto *generator = new at::Generator(c10::make_intrusive<Generator>());
  return *generator;
}
Generator &implOf(const at::Generator &generator) {
  return *static_cast<Generator *>(generator.unsafeGetGeneratorImpl());
}

struct Hooks final : at::XLAHooksInterface {
  bool hasXLA() const override { return true; }
  const at::Generator &getDefaultGenerator(c10::DeviceIndex) const override { return processGenerator(); }
  at::Generator getNewGenerator(c10::DeviceIndex) const override { return at::Generator(c10::make_intrusive<Generator>()); }
};
const bool hooksRegistered = [] {
  for (const char *name : {"torch_xla::detail::XLAHooks", "XLAHooks"})
    at::XLAHooksRegistry()->Register(
        name, []() -> std::unique_ptr<at::XLAHooksInterface> { return std::make_unique<Hooks>(); }, "");
  return true;
}();

thread_local const at::Generator *chosen = nullptr;
thread_local std::vector<at::Generator> seeded; ///< of beginSeed(), innermost last
const char kDrawn = 0;

} // namespace

static void checkGenerator(c10::DeviceType wanted, const at::Generator &generator) {
  TORCH_CHECK(generator.device().type() == wanted, "Expected a '", wanted, "' device type for generator but found '",
              generator.device().type(), "'");
}

DrawFrom::DrawFrom(const std::optional<at::Generator> &generator) : outer(chosen) {
  if (!generator || !generator->defined())
    return;
  checkGenerator(c10::kXLA, *generator);
  chosen = &*generator;
}
DrawFrom::DrawFrom(const std::optional<at::Generator> &generator, const Tensor &target) : DrawFrom(generator) {
  if (!isXla(target) && generator && generator->defined())
    checkGenerator(target.device().type(), *generator);
}
DrawFrom::~DrawFrom() { chosen = outer; }

Value nextRandomKey() {
  if (capture) {
    capture->randomKeys.push_back(tracing::parameter({runtime::DType::I64, {}}));
    return capture->randomKeys.back();
  }
  const at::Generator *given = chosen || seeded.empty() ? chosen : &seeded.back();
  if (given)
    refuseInTrace("a random number of a generator that was given");
  else if (Value key = keyInTrace())
    return key;
  Value made = tracing::number(int64_t(implOf(given ? *given : processGenerator()).draw()), /*isWeak=*/false);
  made.node->origin.code = &kDrawn; // numbers have no place in the user's program
  return made;
}
bool isRandomKey(const Value &value) { return value.node->isNumber() && value.node->origin.code == &kDrawn; }
void beginSeed(uint64_t seed) {
  seeded.emplace_back(c10::make_intrusive<Generator>());
  seeded.back().set_current_seed(seed);
}
void endSeed() { seeded.pop_back(); }
void seedRandom(uint64_t value) { setRandomState(value, 0); }
std::pair<uint64_t, uint64_t> randomState() { return implOf(processGenerator()).state(); }
void setRandomState(uint64_t seed, uint64_t offset) { implOf(processGenerator()).setState(seed, offset); }

} // namespace millrace::torch_shim
