// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FfiTest.cpp - Handlers of the FFI interface, called by programs -----===//
// Handlers written against the layout in Abi.h; test/jax has some that are compiled against the original header.
#include "TestPrograms.h"
#include "runtime/ffi/Handler.h"
#include "runtime/ffi/Objects.h"
#include "runtime/ffi/PythonCallback.h"
#include "runtime/kernels/CustomCall.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

using namespace millrace::runtime;
using namespace millrace::runtime::test;
namespace xabi = millrace::runtime::ffi::abi;

namespace {

/// Answers the question for the version, as every handler has to. True if it was asked.
bool answersVersion(xabi::CallFrame *frame, int minor = xabi::minorVersion) {
  xabi::Extension *extension = frame->header.extensions;
  if (!extension || extension->kind != xabi::MetadataExtensionKind)
    return false;
  xabi::Metadata *metadata = reinterpret_cast<xabi::MetadataExtension *>(extension)->metadata;
  metadata->version.major = xabi::majorVersion, metadata->version.minor = minor;
  return true;
}

xabi::Error *fail(xabi::CallFrame *frame, const std::string &message, Code code = Code::InvalidArgument) {
  xabi::ErrorCreateArgs args = {{28, nullptr}, message.c_str(), int32_t(code)};
  return frame->api->errorCreate(&args);
}

#define CHECK_IN_HANDLER(condition)                                                                                    \
  if (!(condition))                                                                                                    \
  return fail(frame, #condition)

Status registerExecute(const char *name, xabi::Handler *execute, xabi::Handler *instantiate = nullptr,
                       xabi::Handler *prepare = nullptr, xabi::Handler *initialize = nullptr) {
  return ffi::registerHandler(name, {{instantiate, prepare, initialize, execute}});
}

/// x [2, 3] f32 -> y [2, 3] f32 through `target`, at line f.py:3.
Builder oneCall(const std::string &target, std::vector<Attribute> attributes = {}) {
  Builder b;
  SlotId x = b.argument(DType::F32, {2, 3}), y = b.result(DType::F32, {2, 3});
  CustomCallStep call;
  call.target = target;
  call.attributes = std::move(attributes);
  call.arguments = {x};
  call.results = {y};
  b.program.customCallTargets = {target};
  b.push({call, b.location("f.py:3")});
  return b;
}

struct Outcome {
  Status status;
  std::vector<float> values;
};
Outcome run(const Builder &b) {
  auto client = makeClient();
  auto executable = client->load(b.program);
  if (!executable)
    return {executable.status(), {}};
  auto result = (*executable)->execute({{toDevice<float>(*client, DType::F32, {2, 3}, {1, 2, 3, 4, 5, 6})}});
  if (!result)
    return {result.status(), {}};
  Status status = result->done[0].await();
  return {status, status.ok() ? toHost<float>(result->results[0][0]) : std::vector<float>()};
}
const std::vector<float> doubled = {2, 4, 6, 8, 10, 12};

xabi::Error *doubleIt(xabi::CallFrame *frame) {
  if (answersVersion(frame))
    return nullptr;
  CHECK_IN_HANDLER(frame->header.size == 168 && frame->stage == xabi::Stage::Execute);
  CHECK_IN_HANDLER(frame->arguments.count == 1 && frame->results.count == 1 && frame->attributes.count == 0);
  auto *in = static_cast<xabi::Buffer *>(frame->arguments.values[0]);
  auto *out = static_cast<xabi::Buffer *>(frame->results.values[0]);
  CHECK_IN_HANDLER(in->dtype == 11 && in->rank == 2 && in->dims[0] == 2 && in->dims[1] == 3);
  for (int i = 0; i < 6; ++i)
    static_cast<float *>(out->data)[i] = 2 * static_cast<float *>(in->data)[i];
  return nullptr;
}

TEST(Ffi, Buffers) {
  ASSERT_TRUE(registerExecute("ffi.double", doubleIt).ok());
  Outcome outcome = run(oneCall("ffi.double"));
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.toString();
  EXPECT_EQ(outcome.values, doubled);
}

/// The attribute called `name` if it is of the given kind.
void *find(const xabi::Attributes *attributes, const char *name, xabi::AttributeKind kind) {
  for (int64_t i = 0; i < attributes->count; ++i)
    if (std::string_view(attributes->names[i]->data, attributes->names[i]->size) == name)
      return attributes->kinds[i] == kind ? attributes->values[i] : nullptr;
  return nullptr;
}

template <typename T>
bool isScalar(const xabi::Attributes &attributes, const char *name, int32_t dtype, T value) {
  auto *scalar = static_cast<xabi::Scalar *>(find(&attributes, name, xabi::AttributeKind::Scalar));
  return scalar && scalar->dtype == dtype && std::memcmp(scalar->value, &value, sizeof value) == 0;
}
template <typename T>
bool isArray(const xabi::Attributes &attributes, const char *name, int32_t dtype, std::vector<T> values) {
  auto *array = static_cast<xabi::Array *>(find(&attributes, name, xabi::AttributeKind::Array));
  return array && array->dtype == dtype && array->size == values.size() &&
         (values.empty() || std::memcmp(array->data, values.data(), values.size() * sizeof(T)) == 0);
}
bool isString(const xabi::Attributes &attributes, const char *name, std::string_view value) {
  auto *text = static_cast<xabi::Bytes *>(find(&attributes, name, xabi::AttributeKind::String));
  return text && std::string_view(text->data, text->size) == value;
}

xabi::Error *checkAttributes(xabi::CallFrame *frame) {
  if (answersVersion(frame))
    return nullptr;
  const xabi::Attributes &all = frame->attributes;
  CHECK_IN_HANDLER(all.count == 12);
  for (int64_t i = 1; i < all.count; ++i)
    CHECK_IN_HANDLER(std::string_view(all.names[i - 1]->data) < std::string_view(all.names[i]->data));
  CHECK_IN_HANDLER(isScalar<uint8_t>(all, "flag", 1, 1));
  CHECK_IN_HANDLER(isScalar<int8_t>(all, "i8", 2, -3));
  CHECK_IN_HANDLER(isScalar<int32_t>(all, "i32", 4, -70000));
  CHECK_IN_HANDLER(isScalar<uint64_t>(all, "u64", 9, 1ull << 63));
  CHECK_IN_HANDLER(isScalar<float>(all, "f32", 11, 1.5f));
  CHECK_IN_HANDLER(isScalar<double>(all, "f64", 12, 0.1));
  CHECK_IN_HANDLER(isScalar<uint16_t>(all, "bf16", 16, 0x3fc0));
  CHECK_IN_HANDLER(isString(all, "text", "hello"));
  CHECK_IN_HANDLER(isArray<int16_t>(all, "shorts", 3, {-1, 2}));
  CHECK_IN_HANDLER(isArray<float>(all, "floats", 11, {0.5f, -2, 4}));
  CHECK_IN_HANDLER(isArray<int64_t>(all, "empty", 5, {}));
  auto *dictionary = static_cast<xabi::Attributes *>(find(&all, "dictionary", xabi::AttributeKind::Dictionary));
  CHECK_IN_HANDLER(dictionary && dictionary->count == 2 && isScalar<int64_t>(*dictionary, "a", 5, 7));
  auto *inner = static_cast<xabi::Attributes *>(find(dictionary, "b", xabi::AttributeKind::Dictionary));
  CHECK_IN_HANDLER(inner && inner->count == 1 && isString(*inner, "c", ""));
  std::memset(static_cast<xabi::Buffer *>(frame->results.values[0])->data, 0, 24);
  return nullptr;
}

// Every kind, out of order in the program and sorted for the handler.
TEST(Ffi, Attributes) {
  ASSERT_TRUE(registerExecute("ffi.attributes", checkAttributes).ok());
  using Kind = Attribute::Kind;
  Attribute c = {"c", Kind::String, DType::I64, {}, {}, "", {}};
  Attribute b = {"b", Kind::Dictionary, DType::I64, {}, {}, "", {c}};
  Attribute a = {"a", Kind::Int, DType::I64, {7}, {}, "", {}};
  Outcome outcome = run(oneCall("ffi.attributes", {{"text", Kind::String, DType::I64, {}, {}, "hello", {}},
                                                   {"flag", Kind::Bool, DType::I1, {1}, {}, "", {}},
                                                   {"i8", Kind::Int, DType::I8, {-3}, {}, "", {}},
                                                   {"i32", Kind::Int, DType::I32, {-70000}, {}, "", {}},
                                                   {"u64", Kind::Int, DType::U64, {INT64_MIN}, {}, "", {}},
                                                   {"f32", Kind::Float, DType::F32, {}, {1.5}, "", {}},
                                                   {"f64", Kind::Float, DType::F64, {}, {0.1}, "", {}},
                                                   {"bf16", Kind::Float, DType::BF16, {}, {1.5}, "", {}},
                                                   {"shorts", Kind::IntArray, DType::I16, {-1, 2}, {}, "", {}},
                                                   {"floats", Kind::FloatArray, DType::F32, {}, {0.5, -2, 4}, "", {}},
                                                   {"empty", Kind::IntArray, DType::I64, {}, {}, "", {}},
                                                   {"dictionary", Kind::Dictionary, DType::I64, {}, {}, "", {b, a}}}));
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.toString();
}

xabi::Error *alwaysFails(xabi::CallFrame *frame) {
  if (answersVersion(frame))
    return nullptr;
  xabi::Error *error = fail(frame, "no such door", Code::NotFound);
  xabi::ErrorMessageArgs message = {{sizeof message, nullptr}, error, nullptr};
  frame->api->errorMessage(&message);
  if (std::string(message.message) != "no such door")
    return fail(frame, "the message is lost");
  return error;
}

TEST(Ffi, ErrorsHaveCodeTargetAndLine) {
  ASSERT_TRUE(registerExecute("ffi.fails", alwaysFails).ok());
  Outcome outcome = run(oneCall("ffi.fails"));
  EXPECT_EQ(outcome.status.code(), Code::NotFound);
  EXPECT_EQ(outcome.status.message(), "f.py:3: custom call 'ffi.fails': no such door");
}

// Not registered, with a hint at what may be meant.
TEST(Ffi, UnknownTarget) {
  ASSERT_TRUE(registerExecute("ffi.double", doubleIt).ok());
  EXPECT_EQ(run(oneCall("ffi.doble")).status.message(),
            "f.py:3: custom call target 'ffi.doble' is not registered; did you mean 'ffi.double'?");
}

TEST(Ffi, OtherVersionsAreRefused) {
  auto newer = [](xabi::CallFrame *frame) -> xabi::Error * {
    answersVersion(frame, xabi::minorVersion + 1);
    return nullptr;
  };
  Status status = registerExecute("ffi.newer", newer);
  EXPECT_EQ(status.code(), Code::FailedPrecondition);
  EXPECT_EQ(status.message(), "custom call target 'ffi.newer', stage execute: was compiled for version 0.4 of the "
                              "interface, but we speak 0.3");
  EXPECT_EQ(registerExecute("ffi.nothing", nullptr).code(), Code::InvalidArgument);
}

//===--- Stages and states --------------------------------------------------===//

struct Counter {
  int executions = 0;
};
xabi::TypeId counterType;
std::atomic<int> countersAlive{0}, preparations{0};

xabi::Error *setCounter(xabi::CallFrame *frame, xabi::Stage stage, xabi::TypeId type) {
  xabi::StateArgs args = {{sizeof args, nullptr}, frame->context, stage, &type, new Counter};
  xabi::Error *error = frame->api->stateSet(&args);
  if (error)
    delete static_cast<Counter *>(args.state);
  else
    ++countersAlive;
  return error;
}
xabi::Error *makeCounter(xabi::CallFrame *frame) {
  if (answersVersion(frame))
    return nullptr;
  CHECK_IN_HANDLER(frame->stage == xabi::Stage::Instantiate && frame->arguments.count == 0);
  xabi::DeviceArgs device = {{28, nullptr}, frame->context, 0};
  xabi::Error *none = frame->api->device(&device);
  CHECK_IN_HANDLER(none);
  xabi::ErrorDestroyArgs destroy = {{sizeof destroy, nullptr}, none};
  frame->api->errorDestroy(&destroy);
  return setCounter(frame, xabi::Stage::Instantiate, counterType);
}
xabi::Error *countPreparation(xabi::CallFrame *frame) {
  if (answersVersion(frame))
    return nullptr;
  CHECK_IN_HANDLER(frame->stage == xabi::Stage::Prepare && frame->arguments.count == 1);
  ++preparations;
  return setCounter(frame, xabi::Stage::Prepare, counterType);
}
xabi::Error *useCounter(xabi::CallFrame *frame) {
  if (answersVersion(frame))
    return nullptr;
  xabi::StateArgs args = {{sizeof args, nullptr}, frame->context, xabi::Stage::Instantiate, &counterType, nullptr};
  if (xabi::Error *error = frame->api->stateGet(&args))
    return error;
  float count = float(++static_cast<Counter *>(args.state)->executions);
  args.stage = xabi::Stage::Initialize;
  xabi::Error *missing = frame->api->stateGet(&args);
  CHECK_IN_HANDLER(missing);
  xabi::ErrorDestroyArgs destroy = {{sizeof destroy, nullptr}, missing};
  frame->api->errorDestroy(&destroy);
  static_cast<float *>(static_cast<xabi::Buffer *>(frame->results.values[0])->data)[0] = count;
  return nullptr;
}

// The state of `instantiate` lives as long as the loaded program, that of `prepare` as long as one call.
TEST(Ffi, StatesAndStages) {
  xabi::TypeInfo info = {{sizeof info, nullptr}, [](void *object) {
                          --countersAlive;
                          delete static_cast<Counter *>(object);
                        }};
  ASSERT_TRUE(ffi::registerType("test.counter", &counterType, &info).ok());
  ASSERT_NE(counterType.id, 0);
  xabi::TypeId again;
  again.id = 0;
  ASSERT_TRUE(ffi::registerType("test.counter", &again, nullptr).ok());
  EXPECT_EQ(again.id, counterType.id);
  ASSERT_TRUE(registerExecute("ffi.counter", useCounter, makeCounter, countPreparation).ok());
  {
    auto client = makeClient();
    auto executable = client->load(oneCall("ffi.counter").program);
    ASSERT_TRUE(executable.ok()) << executable.status().toString();
    EXPECT_EQ(countersAlive, 1);
    for (float expected : {1.f, 2.f, 3.f}) {
      auto result = (*executable)->execute({{toDevice<float>(*client, DType::F32, {2, 3}, {1, 2, 3, 4, 5, 6})}});
      ASSERT_TRUE(result.ok());
      EXPECT_EQ(toHost<float>(result->results[0][0])[0], expected);
    }
    EXPECT_EQ(preparations, 3);
    EXPECT_EQ(countersAlive, 1);
  }
  EXPECT_EQ(countersAlive, 0);
}

TEST(Ffi, UnregisteredTypesCannotBeStates) {
  auto instantiate = [](xabi::CallFrame *frame) -> xabi::Error * {
    return answersVersion(frame) ? nullptr : setCounter(frame, xabi::Stage::Instantiate, {987654});
  };
  ASSERT_TRUE(registerExecute("ffi.unregistered", doubleIt, instantiate).ok());
  EXPECT_EQ(run(oneCall("ffi.unregistered")).status.message(),
            "f.py:3: custom call 'ffi.unregistered': instantiate: the state's type, number 987654, is not registered");
}

//===--- Handlers of older versions of the interface ------------------------===//

// A handler of version 0.1 or 0.2 passes a type and an object without a stage. Version 0.1 ends with the function that
// destroys the object; in 0.2 that function belongs to the registered type.
xabi::TypeId oldType;
int oldAlive = 0;
void destroyOld(void *object) {
  --oldAlive;
  delete static_cast<Counter *>(object);
}

template <int minor>
xabi::Error *makeOld(xabi::CallFrame *frame) {
  if (answersVersion(frame, minor))
    return nullptr;
  size_t size = minor == 1 ? sizeof(xabi::OldStateArgs) : offsetof(xabi::OldStateArgs, destroy);
  // Version 0.2 ends before `destroy`, so what stands there must not be called.
  void (*never)(void *) = [](void *) { std::abort(); };
  xabi::OldStateArgs args = {{size, nullptr}, frame->context, &oldType, new Counter, minor == 1 ? destroyOld : never};
  xabi::Error *error = frame->api->stateSet(reinterpret_cast<xabi::StateArgs *>(&args));
  error ? delete static_cast<Counter *>(args.state) : void(++oldAlive);
  return error;
}
template <int minor>
xabi::Error *useOld(xabi::CallFrame *frame) {
  if (answersVersion(frame, minor))
    return nullptr;
  xabi::OldStateArgs args = {
      {offsetof(xabi::OldStateArgs, destroy), nullptr}, frame->context, &oldType, nullptr, nullptr};
  if (xabi::Error *error = frame->api->stateGet(reinterpret_cast<xabi::StateArgs *>(&args)))
    return error;
  float count = float(++static_cast<Counter *>(args.state)->executions);
  static_cast<float *>(static_cast<xabi::Buffer *>(frame->results.values[0])->data)[0] = count;
  return nullptr;
}
xabi::Error *useOldFromNew(xabi::CallFrame *frame) {
  if (answersVersion(frame))
    return nullptr;
  xabi::StateArgs args = {{sizeof args, nullptr}, frame->context, xabi::Stage::Instantiate, &oldType, nullptr};
  if (xabi::Error *error = frame->api->stateGet(&args))
    return error;
  float count = float(++static_cast<Counter *>(args.state)->executions);
  static_cast<float *>(static_cast<xabi::Buffer *>(frame->results.values[0])->data)[0] = count;
  return nullptr;
}

struct OldVersion {
  const char *name;
  xabi::Handler *make, *use;
  bool destroyedByType;
};

class FfiOldVersions : public testing::TestWithParam<OldVersion> {};

TEST_P(FfiOldVersions, KeepStates) {
  oldType.id = 0;
  xabi::TypeInfo info = {{sizeof info, nullptr}, destroyOld};
  std::string typeName = std::string("test.old.") + GetParam().name;
  ASSERT_TRUE(ffi::registerType(typeName, &oldType, GetParam().destroyedByType ? &info : nullptr).ok());
  std::string target = std::string("ffi.old.") + GetParam().name;
  ASSERT_TRUE(registerExecute(target.c_str(), GetParam().use, GetParam().make).ok());
  {
    auto client = makeClient();
    auto executable = client->load(oneCall(target).program);
    ASSERT_TRUE(executable.ok()) << executable.status().toString();
    EXPECT_EQ(oldAlive, 1);
    for (float expected : {1.f, 2.f}) {
      auto result = (*executable)->execute({{toDevice<float>(*client, DType::F32, {2, 3}, {1, 2, 3, 4, 5, 6})}});
      ASSERT_TRUE(result.ok());
      Status status = result->done[0].await();
      ASSERT_TRUE(status.ok()) << status.toString();
      EXPECT_EQ(toHost<float>(result->results[0][0])[0], expected);
    }
  }
  EXPECT_EQ(oldAlive, 0);
}

INSTANTIATE_TEST_SUITE_P(Ffi, FfiOldVersions,
                         testing::Values(OldVersion{"v1", makeOld<1>, useOld<1>, false},
                                         OldVersion{"v2", makeOld<2>, useOld<2>, true},
                                         // The stages of one bundle may come from libraries of different versions.
                                         OldVersion{"v1_then_v3", makeOld<1>, useOldFromNew, false},
                                         OldVersion{"v3_then_v2",
                                                    [](xabi::CallFrame *frame) -> xabi::Error * {
                                                      if (answersVersion(frame))
                                                        return nullptr;
                                                      xabi::Error *error =
                                                          setCounter(frame, xabi::Stage::Instantiate, oldType);
                                                      --countersAlive, ++oldAlive;
                                                      return error;
                                                    },
                                                    useOld<2>, true}),
                         [](const auto &info) { return info.param.name; });

TEST(Ffi, OldStatesOfTooSmallASizeAreRefused) {
  auto instantiate = [](xabi::CallFrame *frame) -> xabi::Error * {
    if (answersVersion(frame, 2))
      return nullptr;
    xabi::OldStateArgs args = {
        {offsetof(xabi::OldStateArgs, state), nullptr}, frame->context, &oldType, nullptr, nullptr};
    return frame->api->stateSet(reinterpret_cast<xabi::StateArgs *>(&args));
  };
  ASSERT_TRUE(registerExecute("ffi.small", doubleIt, instantiate).ok());
  EXPECT_EQ(run(oneCall("ffi.small")).status.message(),
            "f.py:3: custom call 'ffi.small': instantiate: an FFI function expects arguments of 40 bytes, but got 32");
}

//===--- Threads, futures, the place of execution ---------------------------===//

xabi::Error *usesThreads(xabi::CallFrame *frame) {
  if (answersVersion(frame))
    return nullptr;
  int64_t threads = 0;
  xabi::NumThreadsArgs count = {{sizeof count, nullptr}, frame->context, &threads};
  if (xabi::Error *error = frame->api->numThreads(&count))
    return error;
  CHECK_IN_HANDLER(threads >= 1);
  struct Work {
    std::atomic<int> open{20};
    float *out;
  } work;
  work.out = static_cast<float *>(static_cast<xabi::Buffer *>(frame->results.values[0])->data);
  std::memset(work.out, 0, 24);
  for (int i = 0; i < 20; ++i) {
    xabi::ScheduleArgs task = {{sizeof task, nullptr},
                              frame->context,
                              [](void *data) {
                                auto *work = static_cast<Work *>(data);
                                --work->open;
                              },
                              &work};
    if (xabi::Error *error = frame->api->schedule(&task))
      return error;
  }
  while (work.open)
    std::this_thread::yield();
  work.out[0] = 20;
  return nullptr;
}

TEST(Ffi, TasksRunOnThreads) {
  ASSERT_TRUE(registerExecute("ffi.threads", usesThreads).ok());
  for (int i = 0; i < 50; ++i) {
    Outcome outcome = run(oneCall("ffi.threads"));
    ASSERT_TRUE(outcome.status.ok()) << outcome.status.toString();
    ASSERT_EQ(outcome.values[0], 20);
  }
}

xabi::Error *goesOn(xabi::CallFrame *frame, bool succeeds) {
  xabi::FutureCreateArgs create = {{sizeof create, nullptr}, nullptr};
  if (xabi::Error *error = frame->api->futureCreate(&create))
    return error;
  frame->future = create.future;
  auto *out = static_cast<float *>(static_cast<xabi::Buffer *>(frame->results.values[0])->data);
  std::thread([api = frame->api, future = create.future, out, succeeds] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    out[0] = 42;
    xabi::FutureSetArgs done = {{sizeof done, nullptr}, future};
    xabi::ErrorCreateArgs text = {{28, nullptr}, "too late", int32_t(Code::DeadlineExceeded)};
    xabi::FutureErrorArgs failed = {{sizeof failed, nullptr}, future, nullptr};
    if (succeeds) {
      api->futureSet(&done);
    } else {
      failed.error = api->errorCreate(&text);
      api->futureError(&failed);
    }
  }).detach();
  return nullptr;
}
xabi::Error *goesOnWell(xabi::CallFrame *frame) { return answersVersion(frame) ? nullptr : goesOn(frame, true); }
xabi::Error *goesOnBadly(xabi::CallFrame *frame) { return answersVersion(frame) ? nullptr : goesOn(frame, false); }

TEST(Ffi, FuturesAreAwaited) {
  ASSERT_TRUE(registerExecute("ffi.future", goesOnWell).ok());
  Outcome outcome = run(oneCall("ffi.future"));
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.toString();
  EXPECT_EQ(outcome.values[0], 42);
  ASSERT_TRUE(registerExecute("ffi.late", goesOnBadly).ok());
  outcome = run(oneCall("ffi.late"));
  EXPECT_EQ(outcome.status.code(), Code::DeadlineExceeded);
  EXPECT_EQ(outcome.status.message(), "f.py:3: custom call 'ffi.late': too late");
}

xabi::Error *saysWhere(xabi::CallFrame *frame) {
  if (answersVersion(frame))
    return nullptr;
  xabi::RunIdArgs run = {{sizeof run, nullptr}, frame->context, 0};
  xabi::DeviceArgs device = {{28, nullptr}, frame->context, -1};
  xabi::StreamArgs stream = {{sizeof stream, nullptr}, frame->context, nullptr};
  if (xabi::Error *error = frame->api->runId(&run))
    return error;
  if (xabi::Error *error = frame->api->device(&device))
    return error;
  xabi::Error *noStream = frame->api->stream(&stream);
  CHECK_IN_HANDLER(noStream);
  xabi::ErrorDestroyArgs destroy = {{sizeof destroy, nullptr}, noStream};
  frame->api->errorDestroy(&destroy);
  auto *out = static_cast<float *>(static_cast<xabi::Buffer *>(frame->results.values[0])->data);
  out[0] = float(device.ordinal), out[1] = float(run.run);
  return nullptr;
}

TEST(Ffi, DeviceAndRun) {
  ASSERT_TRUE(registerExecute("ffi.where", saysWhere).ok());
  Builder b = oneCall("ffi.where");
  b.program.numPartitions = 2;
  auto client = makeClient(2);
  auto executable = client->load(b.program);
  ASSERT_TRUE(executable.ok()) << executable.status().toString();
  std::vector<float> x(6), runs;
  for (int i = 0; i < 2; ++i) {
    auto result = (*executable)->execute({{toDevice(*client, DType::F32, {2, 3}, x, 0)},
                                          {toDevice(*client, DType::F32, {2, 3}, x, 1)}});
    ASSERT_TRUE(result.ok());
    std::vector<float> first = toHost<float>(result->results[0][0]), second = toHost<float>(result->results[1][0]);
    EXPECT_EQ(first[0], 0);
    EXPECT_EQ(second[0], 1);
    EXPECT_EQ(first[1], second[1]);
    runs.push_back(first[1]);
  }
  EXPECT_NE(runs[0], runs[1]);
}

// A token is a buffer without memory.
TEST(Ffi, Tokens) {
  auto handler = [](xabi::CallFrame *frame) -> xabi::Error * {
    if (answersVersion(frame))
      return nullptr;
    CHECK_IN_HANDLER(frame->arguments.count == 2 && frame->results.count == 2);
    CHECK_IN_HANDLER(static_cast<xabi::Buffer *>(frame->arguments.values[0])->dtype == 17);
    std::memcpy(static_cast<xabi::Buffer *>(frame->results.values[1])->data,
                static_cast<xabi::Buffer *>(frame->arguments.values[1])->data, 24);
    return nullptr;
  };
  ASSERT_TRUE(registerExecute("ffi.token", handler).ok());
  Builder b = oneCall("ffi.token");
  SlotId in = b.arena(DType::Token, {}), out = b.arena(DType::Token, {});
  auto &call = std::get<CustomCallStep>(b.main().steps[0].body);
  call.arguments.insert(call.arguments.begin(), in);
  call.results.insert(call.results.begin(), out);
  Outcome outcome = run(b);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.toString();
  EXPECT_EQ(outcome.values, (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Ffi, UntypedFunctions) {
  void (*first)(void *, const void **) = [](void *out, const void **in) {
    for (int i = 0; i < 6; ++i)
      static_cast<float *>(out)[i] = 2 * static_cast<const float *>(in[0])[i];
  };
  ffi::registerUntypedHandler("ffi.untyped", reinterpret_cast<void *>(first));
  EXPECT_EQ(run(oneCall("ffi.untyped")).values, doubled);
  void (*third)(void *, const void **, const char *, size_t, void *) =
      [](void *out, const void **, const char *config, size_t size, void *status) {
        std::memset(out, 0, 24);
        if (std::string_view(config, size) != "configured")
          static_cast<char *>(status)[0] = 1;
      };
  ffi::registerUntypedHandler("ffi.untyped3", reinterpret_cast<void *>(third));
  Builder b = oneCall("ffi.untyped3");
  auto &call = std::get<CustomCallStep>(b.main().steps[0].body);
  call.apiVersion = 3;
  EXPECT_EQ(run(b).status.message(), "f.py:3: custom call 'ffi.untyped3': the handler reports a failure");
  call.backendConfig = "configured";
  EXPECT_TRUE(run(b).status.ok());
}

//===--- Python callbacks ----------------------------------------------------===//

std::atomic<int> held{0};
int callFunction(int64_t index, const millrace_python_tensor *arguments, int64_t numArguments,
                 const millrace_python_tensor *results, int64_t numResults, char *message, int64_t size) {
  if (index != 7 || numArguments != 1 || numResults != 1 || arguments[0].rank != 2 || arguments[0].dims[1] != 3 ||
      DType(results[0].dtype) != DType::F32) {
    std::snprintf(message, size_t(size), "ValueError: %d", int(index));
    return 1;
  }
  for (int i = 0; i < 6; ++i)
    static_cast<float *>(results[0].data)[i] = 2 * static_cast<float *>(arguments[0].data)[i];
  return 0;
}
int holdFunction(int64_t index, int delta) {
  if (index > 8)
    return 0;
  held += delta;
  return 1;
}

TEST(Ffi, PythonCallbacks) {
  auto callOf = [](int64_t index) {
    return oneCall("millrace_python_callback", {{"index", Attribute::Kind::Int, DType::I64, {index}, {}, "", {}}});
  };
  ffi::setPythonCallbacks(callFunction, holdFunction);
  {
    auto client = makeClient();
    auto executable = client->load(callOf(7).program);
    ASSERT_TRUE(executable.ok());
    EXPECT_EQ(held, 1);
  }
  EXPECT_EQ(held, 0);
  EXPECT_EQ(run(callOf(7)).values, doubled);
  Status status = run(callOf(8)).status;
  EXPECT_EQ(status.code(), Code::Internal);
  EXPECT_EQ(status.message(),
            "f.py:3: custom call 'millrace_python_callback': the Python callback failed: ValueError: 8");
  EXPECT_EQ(run(callOf(9)).status.code(), Code::NotFound);
  ffi::setPythonCallbacks(nullptr, nullptr);
  EXPECT_EQ(run(callOf(7)).status.code(), Code::FailedPrecondition);
  EXPECT_EQ(run(oneCall("millrace_python_callback")).status.code(), Code::InvalidArgument);
}

// A custom call that starts an execution on its own device does not wait for itself.
TEST(Ffi, ExecutionsFromCustomCallsRunAtOnce) {
  auto client = makeClient();
  ASSERT_TRUE(registerExecute("ffi.double", doubleIt).ok());
  auto inner = client->load(oneCall("ffi.double").program);
  ASSERT_TRUE(inner.ok());
  registerCustomCall("test.nested", [&](const CustomCall &call) -> Status {
    std::vector<float> in(6);
    std::memcpy(in.data(), call.arguments[0].data, 24);
    auto result = (*inner)->execute({{toDevice(*client, DType::F32, {2, 3}, in)}});
    if (!result)
      return result.status();
    std::vector<float> out = toHost<float>(result->results[0][0]);
    std::memcpy(call.results[0].data, out.data(), 24);
    return Status();
  });
  auto outer = client->load(oneCall("test.nested").program);
  ASSERT_TRUE(outer.ok());
  auto result = (*outer)->execute({{toDevice<float>(*client, DType::F32, {2, 3}, {1, 2, 3, 4, 5, 6})}});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(toHost<float>(result->results[0][0]), doubled);
  EXPECT_EQ(client->devices()[0]->memoryStats().arenaBlocks, 2u); // the outer one still needs its own
}

} // namespace
