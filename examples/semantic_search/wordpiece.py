# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""WordPiece tokenization as uncased BERT models expect it: lower case, no accents, longest vocabulary match first."""
import unicodedata

IDEOGRAPHS = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
              (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]


def is_ideograph(char):
    return any(low <= ord(char) <= high for low, high in IDEOGRAPHS)


def is_punctuation(char):
    code = ord(char)
    in_ascii = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    return in_ascii or unicodedata.category(char).startswith("P")


class WordPiece:
    """Token ids of a sentence; `vocabulary` is the list of tokens, the line number in vocab.txt being the id."""

    def __init__(self, vocabulary, longest_word=100):
        self.ids = {token: index for index, token in enumerate(vocabulary)}
        self.unknown, self.start, self.end = (self.ids[t] for t in ("[UNK]", "[CLS]", "[SEP]"))
        self.longest_word = longest_word

    @staticmethod
    def from_file(path):
        with open(path, encoding="utf-8") as file:
            return WordPiece(file.read().rstrip("\n").split("\n"))

    def words(self, text):
        spaced = []
        for char in text:
            category = unicodedata.category(char)
            if char in "\t\n\r" or category == "Zs":
                spaced.append(" ")
            elif ord(char) in (0, 0xFFFD) or category.startswith("C"):
                continue
            else:
                spaced.append(f" {char} " if is_ideograph(char) else char)
        plain = unicodedata.normalize("NFD", "".join(spaced))
        plain = "".join(c for c in plain if unicodedata.category(c) != "Mn")
        plain = "".join(c.lower() for c in plain)  # one by one: no final sigma, as the model was trained
        return "".join(f" {c} " if is_punctuation(c) else c for c in plain).split()

    def pieces(self, word):
        if len(word) > self.longest_word:
            return [self.unknown]
        found, begin = [], 0
        while begin < len(word):
            for end in range(len(word), begin, -1):
                piece = ("##" if begin else "") + word[begin:end]
                if piece in self.ids:
                    break
            else:
                return [self.unknown]
            found.append(self.ids[piece])
            begin = end
        return found

    def encode(self, text, limit=256):
        """[CLS] pieces… [SEP], at most `limit` ids."""
        ids = [piece for word in self.words(text) for piece in self.pieces(word)]
        return [self.start, *ids[: limit - 2], self.end]
