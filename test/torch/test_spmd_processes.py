# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SPMD in several processes: four devices compute the same to the last bit, however many processes they are spread over; and what all say where
the processes do not run the same program."""
import functools
import pathlib
import re
import time

import pytest
from test_processes import LONG, results_of, start

PROGRAMS = pathlib.Path(__file__).with_name("spmd_process_programs.py")
SPREADS = pytest.mark.parametrize("processes", [2, pytest.param(4, marks=LONG)])


def run(name, processes, **more):
    more = dict(more, CPU_NUM_DEVICES=str(4 // processes))
    return results_of(start(name, processes, programs=PROGRAMS, **more))


@functools.lru_cache(maxsize=None)
def alone(name):
    return run(name, 1)[0]


@SPREADS
@pytest.mark.parametrize("name", ["data_parallel", pytest.param("tensor_parallel", marks=LONG), "both", pytest.param("fully_sharded", marks=LONG)])
def test_training_gives_the_bits_of_one_process(name, processes):
    expected = alone(name)
    assert len(expected["losses"]) == 20 and float.fromhex(expected["losses"][-1]) < float.fromhex(expected["losses"][0])
    assert run(name, processes) == [expected] * processes


@SPREADS
def test_values_of_split_tensors(processes):
    expected = alone("values")
    assert all(all(seen[:5]) for name, seen in expected.items() if name not in ("uneven", "moved"))
    assert run("values", processes) == [expected] * processes


def test_values_over_tcp():
    assert run("values", 2, MILLRACE_TRANSPORT="tcp") == [alone("values")] * 2


@SPREADS
def test_each_process_gives_its_share_of_the_batch(processes):
    expected = alone("minibatch")
    assert [seen[0] for seen in expected] == [[16, 3], [16, 3], [16, 6]] and all(all(seen[3:]) for seen in expected)
    assert run("minibatch", processes) == [expected] * processes


@pytest.mark.parametrize("processes", [pytest.param(1, marks=LONG), 2, pytest.param(4, marks=LONG)])
def test_shards_are_those_of_the_process(processes):
    assert run("shards_here", processes) == [[]] * processes


@pytest.mark.parametrize("processes", [pytest.param(1, marks=LONG), 2, pytest.param(4, marks=LONG)])
def test_world(processes):
    assert run("world_here", processes) == [[]] * processes


@pytest.mark.parametrize("saving, loading", [(2, 2), pytest.param(1, 2, marks=LONG), (2, 1), pytest.param(4, 2, marks=LONG), pytest.param(2, 4, marks=LONG)])
def test_checkpoints(saving, loading, tmp_path):
    saved = run("saves_here", saving, FOLDER=str(tmp_path))
    assert saved == [saved[0]] * saving
    assert run("loads_here", loading, FOLDER=str(tmp_path)) == [saved[0]] * loading


@pytest.mark.parametrize("saving, devices, loading", [(2, 4, [1]), pytest.param(4, 4, [4, 2, 1], marks=LONG), pytest.param(1, 8, [4, 2, 1], marks=LONG)])
def test_checkpoint_manager(saving, devices, loading, tmp_path):
    saved = results_of(start("manages_here", saving, programs=PROGRAMS, CPU_NUM_DEVICES=str(devices // saving), FOLDER=str(tmp_path)))
    assert saved == [saved[0]] * saving
    for processes in loading:
        assert run("restores_here", processes, FOLDER=str(tmp_path)) == [saved[0]] * processes


def test_slices():
    job = start("world_here", 2, programs=PROGRAMS, CPU_NUM_DEVICES="2", SLICES="2", of_rank=lambda rank: {"MILLRACE_HOST_ID": f"host {rank}"})
    assert results_of(job) == [[]] * 2


@SPREADS
def test_one_process_reads_alone(processes):
    assert run("one_reads_here", processes) == [[]] * processes


@pytest.mark.parametrize("name", ["alone_again_here", "alone_then_all_here", "small_here", "threads_here", "read_often_here"])
def test_reads(name):
    assert run(name, 2) == [[]] * 2


def test_small_tensors_of_three_processes():
    assert results_of(start("small_here", 3, programs=PROGRAMS, CPU_NUM_DEVICES="1")) == [[]] * 3


def test_the_last_line_may_read():
    assert run("last_line_here", 2) == [[2.0 * i for i in range(8)], []]


@pytest.mark.parametrize("way", ["split", "whole", "made"])
def test_different_tensors_are_named(way):
    for error, in run("different_tensors_here", 2, WAY=way):
        assert "another value among its arguments: numbers (learning rates, random seeds) and tensors that the processes are given" in error, error
        if way != "made":
            assert re.search(r"; what differs is the tensor f32\[8,2\] \(argument \d" + (r", annotated at \S+\.py:\d+\)" if way == "split" else r"\)"), error), error


def test_an_exception_is_told_to_the_others():
    job = start("raises_here", 2, programs=PROGRAMS, CPU_NUM_DEVICES="2")
    (error,), = results_of(job, without=(1,))
    assert re.search(r"process 1 \(.*\) was ended by an error: ValueError: the data is a fish", error), error


def test_what_nobody_holds_any_more_is_named():
    (error,), nothing = run("too_late_here", 2)
    assert not nothing
    assert re.search(r"a tensor f32\[8\] cannot be read: process 1 \(pid \d+ on host \S+\) went on without reading it, and has given up its shards", error)


def test_different_programs_are_named():
    for error, in run("different_programs_here", 2):
        assert re.search(r"process 0 \(.*\) launches the program of \S*spmd_process_programs\.py:\d+, but process 1 \(.*\) launches the program of "
                         r"\S*spmd_process_programs\.py:\d+", error), error


def test_different_shares_of_a_batch_are_named():
    for error, in run("different_shares_here", 2):
        assert re.search(r"process 0 \(.*\) launches the program of \S*spmd_process_programs\.py:\d+ with a share of 8 rows of the batch, but process 1 \(.*\) "
                         r"launches the program of \S*spmd_process_programs\.py:\d+ with a share of 4 rows of the batch .*Shares of a batch \(minibatch=True\) have to "
                         r"have equal sizes in all processes: drop_last=True", error), error


@LONG
def test_who_is_lost_does_not_meet():
    job = start("lost_while_meeting_here", 2, programs=PROGRAMS, CPU_NUM_DEVICES="2")
    (error,), = results_of(job, without=(1,))
    assert re.search(r"xm\.rendezvous: process 1 \(pid \d+ on host \S+\) has (ended|closed its connection) without a word", error), error


def test_different_numbers_are_named():
    for error, in run("different_numbers_here", 2):
        assert re.search(r"the processes do not do the same: process 0 .* launches the program of \S*spmd_process_programs\.py:\d+, but process 1 .* "
                         r"launches it with another value among its arguments.*; what differs is a number: 1.5 in the one, 2.5 in the other", error), error


def test_a_history_that_differs_is_named():
    for error, in run("different_history_here", 2):
        assert re.search(r"process \d .* and process \d .* have not run the same programs with the same values", error), error


def test_a_program_of_one_process_is_named():
    began = time.monotonic()
    for error, in run("launches_alone_here", 2):
        assert re.search(r"have not run the same programs with the same values|was ended by an error|has left", error), error
    assert time.monotonic() - began < 30


def test_a_lost_process_is_named():
    job = start("lost_here", 2, programs=PROGRAMS, CPU_NUM_DEVICES="2")
    (error,), = results_of(job, without=(1,))
    assert re.search(r"process 1 \(pid \d+ on host \S+\)", error) and "without a word" in error, error
