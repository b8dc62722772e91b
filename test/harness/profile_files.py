# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strict readers of what recordings are written as, for tests."""
import json
import math
import re


def events_of_chrome_trace(text):
    """The slices of a Chrome trace by (process name, thread name), each {"name", "ts", "dur", "args"} in the order of their begins. AssertionError
    where a viewer would move or drop something: a process or thread without a name, slices that overlap without nesting, arrows without both
    ends, numbers that are none."""
    def refuse(constant):
        raise AssertionError(f"JSON has no {constant}")

    trace = json.loads(text, parse_constant=refuse)
    assert set(trace) <= {"displayTimeUnit", "traceEvents", "otherData"}, "other keys make chrome://tracing show an empty page"
    processes, threads, slices, starts, ends = {}, {}, {}, {}, {}
    for event in trace["traceEvents"]:
        kind, where = event["ph"], (event["pid"], event.get("tid"))
        if kind == "M" and event["name"] == "process_name":
            assert where[0] not in processes
            processes[where[0]] = event["args"]["name"]
        elif kind == "M" and event["name"] == "thread_name":
            assert where not in threads
            threads[where] = event["args"]["name"]
        elif kind == "X":
            assert event["dur"] >= 0 and event["ts"] >= 0 and math.isfinite(event["ts"] + event["dur"])
            slices.setdefault(where, []).append(event)
        elif kind == "s":
            assert event["id"] not in starts, "two arrows begin with one id"
            starts[event["id"]] = event
        elif kind == "f":
            assert event["bp"] == "e"
            ends.setdefault(event["id"], []).append(event)
        else:
            assert kind in "MC", event
    assert set(ends) <= set(starts), "an arrow ends that has no begin"
    for number, targets in ends.items():
        assert all(starts[number]["ts"] <= target["ts"] for target in targets), "an arrow points into the past"
    found = {}
    for where, events in slices.items():
        events.sort(key=lambda event: (event["ts"], -event["dur"]))
        open_until = []
        for event in events:
            begin, end = event["ts"], event["ts"] + event["dur"]
            while open_until and open_until[-1] <= begin + 1e-9:
                open_until.pop()
            assert not open_until or end <= open_until[-1] + 1e-3, f"{event} reaches beyond what it begins in"
            open_until.append(end)
        name = processes[where[0]], threads[where]
        found.setdefault(name, []).extend(events)
    return found


def data_of_page(text):
    """What the page of xla-prof draws: {"summary", "timeline"}. AssertionError if it would load anything."""
    without_data = re.sub(r"<script type=.application/json.*?</script>", "", text, flags=re.S)
    assert not re.search(r"(src|href)\s*=|@import|url\(|fetch\(|XMLHttpRequest|import\s*\(", without_data)
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert found, "the page has no data"
    return json.loads(found[1])


def varint(message, at):
    """The number of a protocol buffer that begins at a position, and the position behind it."""
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields_of(message):
    """(number, value) of each field of a serialized protocol buffer; values are integers or bytes."""
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        if tag & 7 == 0:
            value, at = varint(message, at)
            yield tag >> 3, value
            continue
        size, at = (8, at) if tag & 7 == 1 else (4, at) if tag & 7 == 5 else varint(message, at)
        yield tag >> 3, message[at:at + size]
        at += size


def hlo_protos(xspace):
    """{title of a program: its HloProto} of the plane /host:metadata, as events refer to them."""
    found = {}
    for number, plane in fields_of(xspace):
        if number != 1 or (2, b"/host:metadata") not in list(fields_of(plane)):
            continue
        used = {dict(fields_of(event))[1] for key, line in fields_of(plane) if key == 3 for name, event in fields_of(line) if name == 4}
        for key, entry in fields_of(plane):
            kind = dict(fields_of(entry)) if key == 4 else {}
            if kind.get(1) in used:
                stats = [dict(fields_of(stat)) for field, stat in fields_of(kind[2]) if field == 5]
                found[dict(fields_of(kind[2]))[2].decode()] = next(stat[6] for stat in stats if 6 in stat)
    return found
