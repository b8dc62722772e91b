# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page and the tables of benchmarks.seeds, from results that are on disk."""
import json
import os
import re

from benchmarks import seeds, tables

RESULTS = os.path.join(seeds.ROOT, "benchmarks", "results")


def about(quick):
    return {"quick": quick, "threads": 2, "rounds": 5, "torch": "2.13.0", "processor": "a processor", "date": "2026-11-29", "build": "build", "load": 1.5}


def without_style(page):
    """The style is that of all pages, and changes with them."""
    return re.sub(r"<style>.*?</style>", "", page, flags=re.S)


def test_the_page_is_what_the_results_say():
    with open(os.path.join(RESULTS, "seeds.json"), encoding="utf-8") as file:
        results = json.load(file)
    with open(os.path.join(RESULTS, "seeds.html"), encoding="utf-8") as file:
        assert without_style(file.read()) == without_style(seeds.page(results)), "python -m benchmarks.seeds --page benchmarks/results/seeds.json writes it"


def test_parts_that_are_not_measured_stay(tmp_path):
    path = tmp_path / "seeds.json"
    path.write_text(json.dumps({"language": {"old": 1}, "dynamo": {"old": 2}, "about": {"language": about(False), "dynamo": about(False)}}))
    merged = seeds.with_earlier_parts({"dynamo": {"new": 3}, "about": {"dynamo": about(False)}}, str(path))
    assert merged["dynamo"] == {"new": 3} and merged["language"] == {"old": 1} and set(merged["about"]) == {"dynamo", "language"}
    quick = seeds.with_earlier_parts({"dynamo": {"new": 3}, "about": {"dynamo": about(True)}}, str(path))
    assert set(quick) == {"dynamo", "about"} and set(quick["about"]) == {"dynamo"}, "small sizes do not stand beside whole ones"


def test_a_table_has_the_quotients():
    ways = {way: {"ms": ms} for way, ms in (("lazy", 20.0), ("openxla", 10.0), ("eager", 30.0), ("inductor", 15.0))}
    text = tables.seeds_dynamo({"dynamo": {"training": {"vgg16": ways}}, "about": {"dynamo": about(False)}}, "training")
    row = next(line for line in text.splitlines() if line.startswith("| vgg16"))
    assert re.split(r"\s*\|\s*", row.strip("| ")) == ["vgg16", "20.0", "10.0", "30.0", "15.0", "3.00", "1.50", "2.00", "0.81"]
