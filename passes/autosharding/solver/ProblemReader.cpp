// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/ProblemReader.h"

#include <cctype>
#include <charconv>
#include <system_error>
#include <utility>

using namespace millrace::autosharding;

namespace {

/// The deepest nesting of skipped values, which bounds the recursion, and with it the stack. Unit: levels. Source: judgement: the format itself needs
/// 5 levels.
constexpr int kMostDepth = 64;

/// A cursor over the text. The first error is kept; after it every function returns false.
class Reader {
public:
  Reader(std::string_view text, std::string &error) : text(text), error(error) {}

  bool fail(const std::string &message) {
    if (error.empty())
      error = "byte " + std::to_string(at) + ": " + message;
    return false;
  }

  bool expect(char wanted) {
    if (peek() != wanted)
      return fail(std::string("expected '") + wanted + "', but got " + found());
    ++at;
    return true;
  }

  bool string(std::string &value) {
    if (!expect('"'))
      return false;
    value.clear();
    for (; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\' && ++at == text.size())
        break;
      value += text[at];
    }
    return at < text.size() ? (++at, true) : fail("expected '\"', but got the end of the text");
  }

  /// Reads an integer of 64 bits; a fraction, an exponent or a larger number is refused.
  bool integer(int64_t &value) {
    peek();
    auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (problem == std::errc::result_out_of_range)
      return fail("expected an integer of 64 bits, but the number is larger");
    if (problem != std::errc())
      return fail("expected an integer, but got " + found());
    size_t next = end - text.data();
    if (next < text.size() && (text[next] == '.' || text[next] == 'e' || text[next] == 'E'))
      return fail("expected an integer, but got a number with a fraction or an exponent");
    at = next;
    return true;
  }

  /// Reads '[' element, ... ']'.
  template <typename Element> bool list(Element element) {
    if (!expect('['))
      return false;
    if (peek() == ']')
      return ++at, true;
    while (true) {
      if (!element())
        return false;
      if (peek() == ']')
        return ++at, true;
      if (!expect(','))
        return false;
    }
  }

  /// Reads '{' "key": member(key), ... '}'; `member` reads the value.
  template <typename Member> bool object(Member member) {
    if (!expect('{'))
      return false;
    if (peek() == '}')
      return ++at, true;
    while (true) {
      std::string key;
      if (!string(key) || !expect(':') || !member(key))
        return false;
      if (peek() == '}')
        return ++at, true;
      if (!expect(','))
        return false;
    }
  }

  bool integers(std::vector<int64_t> &values) {
    return list([&] {
      int64_t value = 0;
      if (!integer(value))
        return false;
      values.push_back(value);
      return true;
    });
  }

  bool lists(std::vector<std::vector<int64_t>> &values) { return list([&] { return integers(values.emplace_back()); }); }

  bool skip(int depth = 0) {
    if (depth > kMostDepth)
      return fail("expected at most " + std::to_string(kMostDepth) + " levels of nesting");
    std::string ignored;
    switch (peek()) {
    case '{':
      return object([&](const std::string &) { return skip(depth + 1); });
    case '[':
      return list([&] { return skip(depth + 1); });
    case '"':
      return string(ignored);
    default:
      size_t start = at;
      while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '-' || text[at] == '+' || text[at] == '.'))
        ++at;
      return at > start || fail("expected a value, but got " + found());
    }
  }

  bool end() { return peek() == 0 && at >= text.size() ? true : fail("expected the end of the text, but got " + found()); }

private:
  /// Returns the next character that is not white space, 0 at the end.
  char peek() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r'))
      ++at;
    return at < text.size() ? text[at] : 0;
  }

  std::string found() const { return at < text.size() ? "'" + std::string(1, text[at]) + "'" : "the end of the text"; }

  std::string_view text;
  std::string &error;
  size_t at = 0;
};

struct Lists {
  std::vector<std::vector<int64_t>> intervals, nodeCosts, usages, ends, edgeCosts;
  bool nodes = false, edges = false;
};

bool readBody(Reader &reader, Problem &problem, Lists &lists, bool &limited) {
  return reader.object([&](const std::string &key) {
    if (key == "name")
      return reader.string(problem.name);
    if (key == "usage_limit")
      return limited = true, reader.integer(problem.usageLimit);
    if (key == "nodes") {
      lists.nodes = true;
      return reader.object([&](const std::string &field) {
        return field == "intervals" ? reader.lists(lists.intervals)
               : field == "costs"   ? reader.lists(lists.nodeCosts)
               : field == "usages"  ? reader.lists(lists.usages)
                                    : reader.skip();
      });
    }
    if (key == "edges") {
      lists.edges = true;
      return reader.object([&](const std::string &field) {
        return field == "nodes" ? reader.lists(lists.ends) : field == "costs" ? reader.lists(lists.edgeCosts) : reader.skip();
      });
    }
    return reader.skip();
  });
}

std::string differ(const char *what, size_t have, const char *other, size_t want) {
  return std::string("expected as many ") + what + " as " + other + ", " + std::to_string(want) + ", but got " + std::to_string(have);
}

/// Moves the lists into nodes and edges. Returns what is wrong with their sizes; empty if nothing is.
std::string assemble(Lists &lists, Problem &problem) {
  if (lists.nodeCosts.size() != lists.intervals.size())
    return "nodes: " + differ("costs", lists.nodeCosts.size(), "intervals", lists.intervals.size());
  if (lists.usages.size() != lists.intervals.size())
    return "nodes: " + differ("usages", lists.usages.size(), "intervals", lists.intervals.size());
  if (lists.edgeCosts.size() != lists.ends.size())
    return "edges: " + differ("costs", lists.edgeCosts.size(), "nodes", lists.ends.size());
  for (size_t index = 0; index < lists.intervals.size(); ++index) {
    const std::vector<int64_t> &interval = lists.intervals[index];
    if (interval.size() != 2)
      return "node " + std::to_string(index) + ": expected an interval of 2 numbers, but got " + std::to_string(interval.size());
    problem.nodes.push_back({std::move(lists.nodeCosts[index]), std::move(lists.usages[index]), interval[0], interval[1]});
  }
  for (size_t index = 0; index < lists.ends.size(); ++index) {
    const std::vector<int64_t> &ends = lists.ends[index];
    if (ends.size() != 2)
      return "edge " + std::to_string(index) + ": expected 2 nodes, but got " + std::to_string(ends.size());
    for (int64_t end : ends)
      if (end < 0 || size_t(end) >= problem.nodes.size())
        return "edge " + std::to_string(index) + ": expected nodes from 0 to " + std::to_string(int64_t(problem.nodes.size()) - 1) + ", but got " +
               std::to_string(end);
    problem.edges.push_back({uint32_t(ends[0]), uint32_t(ends[1]), std::move(lists.edgeCosts[index])});
  }
  return {};
}

} // namespace

std::optional<Problem> millrace::autosharding::readProblem(std::string_view json, std::string &error) {
  error.clear();
  Problem problem;
  Lists lists;
  bool found = false, limited = false;
  Reader reader(json, error);
  auto member = [&](const std::string &key) {
    if (key != "problem")
      return reader.skip();
    return found = true, readBody(reader, problem, lists, limited);
  };
  if (!reader.object(member) || !reader.end())
    return std::nullopt;
  if (!found)
    error = "expected a member \"problem\"";
  else if (!lists.nodes || !lists.edges || !limited)
    error = std::string("problem: expected a member \"") + (!lists.nodes ? "nodes" : !lists.edges ? "edges" : "usage_limit") + '"';
  else if (error = assemble(lists, problem); error.empty())
    error = verify(problem);
  if (!error.empty())
    return std::nullopt;
  return problem;
}

namespace {

void append(std::string &text, const std::vector<int64_t> &numbers) {
  text += '[';
  for (size_t at = 0; at < numbers.size(); ++at)
    text += (at ? "," : "") + std::to_string(numbers[at]);
  text += ']';
}

/// Appends a list of what `append` adds for each of `elements`.
template <typename Element, typename Append> void appendEach(std::string &text, const std::vector<Element> &elements, Append append) {
  text += '[';
  for (size_t at = 0; at < elements.size(); ++at) {
    text += at ? "," : "";
    append(elements[at]);
  }
  text += ']';
}

} // namespace

std::string millrace::autosharding::writeProblem(const Problem &problem) {
  std::string text = "{\"problem\": {\"name\": \"";
  for (char character : problem.name)
    text += character == '"' || character == '\\' ? std::string("\\") + character : std::string(1, character);
  text += "\", \"nodes\": {\"intervals\": ";
  appendEach(text, problem.nodes, [&](const Node &node) { append(text, {node.begin, node.end}); });
  text += ", \"costs\": ";
  appendEach(text, problem.nodes, [&](const Node &node) { append(text, node.costs); });
  text += ", \"usages\": ";
  appendEach(text, problem.nodes, [&](const Node &node) { append(text, node.usages); });
  text += "}, \"edges\": {\"nodes\": ";
  appendEach(text, problem.edges, [&](const Edge &edge) { append(text, {edge.a, edge.b}); });
  text += ", \"costs\": ";
  appendEach(text, problem.edges, [&](const Edge &edge) { append(text, edge.costs.list()); });
  return text + "}, \"usage_limit\": " + std::to_string(problem.usageLimit) + "}}\n";
}
