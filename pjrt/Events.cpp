// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Events.cpp - Completion events --------------------------------------===//
#include "pjrt/Slots.h"

namespace millrace::pjrt {

Event *makeEvent(rt::Event event) { return new Event{std::move(event), nullptr}; }

namespace slots {

rt::Status Event_Destroy(Event_Destroy_Args &args) {
  delete args.object;
  return {};
}
rt::Status Event_IsReady(Event_IsReady_Args &args) {
  args.result = args.object->event.isReady();
  return {};
}
rt::Status Event_Error(Event_Error_Args &args) {
  // Callers call this only for a ready event; for any other event, the error is unknown before its end.
  return args.object->event.await();
}
rt::Status Event_Await(Event_Await_Args &args) { return args.object->event.await(); }
rt::Status Event_OnReady(Event_OnReady_Args &args) {
  args.event->event.onReady(
      [callback = args.callback, argument = args.user_arg](const rt::Status &status) { callback(makeError(status), argument); });
  return {};
}
rt::Status Event_Create(Event_Create_Args &args) {
  auto source = std::make_unique<rt::EventSource>();
  rt::Event event = source->event();
  args.object = new Event{std::move(event), std::move(source)};
  return {};
}
rt::Status Event_Set(Event_Set_Args &args) {
  if (!args.event->source)
    return rt::invalidArgument("only events of PJRT_Event_Create can be set");
  if (args.event->event.isReady())
    return rt::failedPrecondition("the event has been set already");
  args.event->source->set(statusFrom(args.status));
  return {};
}

} // namespace slots
} // namespace millrace::pjrt
