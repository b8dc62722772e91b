# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The demo's tokenizer: splitting, accents, longest match, unknown words, truncation."""
import pytest

from examples.semantic_search.wordpiece import WordPiece

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "cafe", "'", "s", "東", "don", "t", "σ", ",", "una"]


@pytest.mark.parametrize("text, pieces", [
    ("unaffable", ["un", "##aff", "##able"]),       # longest first: "una" leads nowhere only if "##ff" is missing
    ("Café's", ["cafe", "'", "s"]),
    ("東東", ["東", "東"]),
    ("Σ", ["σ"]),
    ("don\tt,\u200b", ["don", "t", ","]),
    ("zzz", ["[UNK]"]),
    ("", []),
])
def test_pieces(text, pieces):
    vocabulary = [v for v in VOCABULARY if v != "una"] if text == "unaffable" else VOCABULARY
    tokenizer = WordPiece(vocabulary)
    assert tokenizer.encode(text) == [vocabulary.index(p) for p in ["[CLS]", *pieces, "[SEP]"]]


def test_greedy_match_does_not_back_up():
    assert WordPiece(VOCABULARY).encode("unaffable") == [2, 1, 3]


def test_truncates_to_limit():
    assert len(WordPiece(VOCABULARY).encode("cafe " * 50, limit=16)) == 16
