// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PropagationTest.cpp - Propagation without IR -----------------------===//
#include "passes/sharding/propagation/Assign.h"
#include "passes/sharding/reshard/DimensionSplits.h"
#include "passes/sharding/propagation/Graph.h"
#include "passes/sharding/explain/Obstacles.h"
#include "passes/sharding/reshard/ReshardSteps.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace millrace::sharding;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

// A mesh of ["a"=2, "b"=4, "c"=2].
const MeshSizes mesh{2, 4, 2};
const Axis a{0, 1, 2}, b{1, 1, 4}, c{2, 1, 2};
const Axis b0{1, 1, 2}, b1{1, 2, 2}; // "b":(1)2 and "b":(2)2

DimSharding open(Axes axes = {}) { return {axes, false, 0}; }
DimSharding closed(Axes axes = {}) { return {axes, true, 0}; }
TensorSharding sharding(std::initializer_list<DimSharding> dims) { return {{dims.begin(), dims.end()}, {}, {}}; }

Rule dot(int64_t i, int64_t j, int64_t k) {
  return RuleBuilder({2, 2}, {2})
      .add({0, kNoDim}, {0}, i)
      .add({kNoDim, 1}, {1}, j)
      .add({1, 0}, {kNoDim}, k, FactorKind::Reduction)
      .build();
}

/// A graph of one node.
struct OneNode {
  OneNode(Rule rule, std::vector<std::optional<TensorSharding>> operands, std::optional<TensorSharding> result = {}) {
    graph.meshes.push_back(mesh);
    GraphNode node;
    node.rule = std::move(rule);
    auto add = [&](std::optional<TensorSharding> each) {
      GraphTensor &tensor = graph.tensors.emplace_back();
      tensor.sharding = each;
      tensor.mesh = each ? 0 : -1;
      tensor.touched = {0};
      return View{int(graph.tensors.size()) - 1};
    };
    for (auto &each : operands)
      node.operands.push_back(add(each));
    node.results.push_back(add(result));
    graph.nodes.push_back(node);
  }
  void run(Strategy strategy = Strategy::Aggressive) { propagate(graph, {strategy, false, false, false}); }
  Axes axes(int tensor, int dim) const {
    const auto &each = graph.tensors[tensor].sharding;
    return each ? each->dims[dim].axes : Axes();
  }
  Graph graph;
};

TEST(Axes, PartsOfAnAxisOverlapWhereTheyHaveDevicesInCommon) {
  EXPECT_TRUE(b.overlaps(b0));
  EXPECT_TRUE(b.overlaps(b1));
  EXPECT_FALSE(b0.overlaps(b1));
  EXPECT_TRUE((Axis{0, 1, 1}).overlaps(Axis{0, 1, 1})); // an axis of one device is used once, too
  EXPECT_EQ(withoutOverlap(b, {b1}), b0);
  EXPECT_EQ(withoutOverlap(b, {b0}), std::nullopt);
  EXPECT_EQ(withoutOverlap(a, {b}), a);
}

TEST(Axes, PartsThatMeetAreOne) {
  Axes axes{b0};
  append(axes, b1);
  EXPECT_EQ(axes, Axes{b});
  append(axes, a);
  EXPECT_EQ(axes, (Axes{b, a}));
}

TEST(Axes, PrefixesOfLists) {
  EXPECT_EQ(prefixOf({}, {a}), Prefix::Strict);
  EXPECT_EQ(prefixOf({a}, {a, b}), Prefix::Strict);
  EXPECT_EQ(prefixOf({a, b0}, {a, b}), Prefix::Strict);
  EXPECT_EQ(prefixOf({a, b}, {a, b}), Prefix::Equal);
  EXPECT_EQ(prefixOf({b}, {a, b}), Prefix::No);
  EXPECT_EQ(prefixOf({a, b}, {a}), Prefix::No);
}

TEST(Projection, SplitsAnAxisWhereAFactorEnds) {
  // A dimension of 8 as 2 x 4, split by "b" of size 4: half of it for each factor.
  TensorFactors dims{{0, 1}};
  Factor factors[] = {{2}, {4}};
  TensorSharding given = sharding({open({b})});
  ProjectedTensor tensor = project(&given, dims, factors);
  EXPECT_EQ(tensor.find(0)->axes, Axes{b0});
  EXPECT_EQ(tensor.find(1)->axes, Axes{b1});
  EXPECT_EQ(unproject(tensor, dims, factors), given);
}

TEST(Projection, AnAxisThatFitsNoFactorOverflows) {
  // 3 x 4 split by "b": nothing of it fits 3.
  TensorFactors dims{{0, 1}};
  Factor factors[] = {{3}, {4}};
  TensorSharding given = sharding({open({b})});
  ProjectedTensor tensor = project(&given, dims, factors);
  EXPECT_EQ(tensor.find(0)->overflow, Axes{b});
  EXPECT_TRUE(tensor.find(1)->closed);
  EXPECT_THAT(unproject(tensor, dims, factors).dims[0].axes, ElementsAre(b));
}

TEST(Projection, StopsBehindAFactorThatIsNotSplitCompletely) {
  TensorFactors dims{{0, 1}};
  Factor factors[] = {{4}, {4}};
  ProjectedTensor tensor = project(nullptr, dims, factors);
  tensor.find(0)->axes = {a};
  tensor.find(1)->axes = {c}; // would be every other block of the dimension
  EXPECT_EQ(unproject(tensor, dims, factors).dims[0].axes, Axes{a});
}

TEST(Step, FreeDimensionsOfAProductReachTheResult) {
  OneNode node(dot(8, 16, 32), {sharding({open({a}), open()}), sharding({open(), open({b})})});
  node.run(Strategy::Basic);
  EXPECT_EQ(node.axes(2, 0), Axes{a});
  EXPECT_EQ(node.axes(2, 1), Axes{b});
}

TEST(Step, ContractingDimensionsReachEachOther) {
  OneNode node(dot(8, 16, 32), {sharding({open(), open({a})}), std::nullopt});
  node.run(Strategy::Basic);
  EXPECT_EQ(node.axes(1, 0), Axes{a});
  EXPECT_FALSE(node.graph.tensors[2].sharding.has_value());
}

TEST(Step, ClosedDimensionsTakeNothing) {
  for (Strategy strategy : {Strategy::Basic, Strategy::Aggressive}) {
    OneNode node(identityRule({8}, 1, 1), {sharding({open({a})})}, sharding({closed()}));
    node.run(strategy);
    EXPECT_THAT(node.axes(1, 0), IsEmpty());
  }
}

TEST(Step, ReplicatedAxesSplitNothing) {
  TensorSharding replicated = sharding({open()});
  replicated.replicated = {a};
  OneNode node(identityRule({8}, 1, 1), {sharding({open({a, b})})}, replicated);
  node.run();
  EXPECT_THAT(node.axes(1, 0), IsEmpty());
}

TEST(Step, ListsAgreeOnTheirCommonPart) {
  // [a, b] and [a, c]: both have a, nothing more is certain.
  OneNode node(identityRule({16}, 2, 1), {sharding({open({a, b})}), sharding({open({a, c})})});
  node.run(Strategy::Basic);
  EXPECT_EQ(node.axes(2, 0), Axes{a});
  EXPECT_EQ(node.axes(0, 0), (Axes{a, b}));
}

TEST(Step, LongerListsGrowShorterOnes) {
  OneNode node(identityRule({16}, 2, 1), {sharding({open({a, b})}), sharding({open({a})})});
  node.run(Strategy::Basic);
  EXPECT_EQ(node.axes(1, 0), (Axes{a, b}));
  EXPECT_EQ(node.axes(2, 0), (Axes{a, b}));
}

TEST(Step, PartsOfAnAxisGrow) {
  OneNode node(identityRule({16}, 1, 1), {sharding({open({b})})}, sharding({open({b0})}));
  node.run(Strategy::Basic);
  EXPECT_EQ(node.axes(1, 0), Axes{b});
}

TEST(Step, BasicGivesUpWhereAggressiveDecides) {
  // One axis for both free dimensions of a product: the result could have it once.
  auto make = [] {
    return OneNode(dot(8, 16, 32), {sharding({open({a}), open()}), sharding({open(), open({a})})});
  };
  OneNode basic = make();
  basic.run(Strategy::Basic);
  EXPECT_FALSE(basic.graph.tensors[2].sharding.has_value());
  OneNode aggressive = make();
  aggressive.run();
  // The right-hand side, 32 x 16, is larger than 8 x 32.
  EXPECT_THAT(aggressive.axes(2, 0), IsEmpty());
  EXPECT_EQ(aggressive.axes(2, 1), Axes{a});
}

TEST(Step, NonMinorFactorsTakeWhatDividesThem) {
  // [ij] -> [i, j] with i = 2: of "b" only half fits.
  Rule rule = RuleBuilder({2}, {1}).add({0}, {0}, 2).add({1}, {0}, 8).build();
  OneNode node(rule, {sharding({open({b}), open()})});
  node.run();
  EXPECT_EQ(node.axes(1, 0), Axes{b0});
}

TEST(Step, BlockedFactorsStayAsTheyAre) {
  Rule rule = RuleBuilder({1}, {1}).addEverywhere(0, 8, FactorKind::NeedReplication, true).build();
  OneNode node(rule, {sharding({open({a})})});
  node.run();
  EXPECT_FALSE(node.graph.tensors[1].sharding.has_value());
}

TEST(Step, DirectionsAreOneWayStreets) {
  OneNode node(identityRule({8}, 1, 1), {std::nullopt}, sharding({open({a})}));
  node.graph.nodes[0].only = Direction::Forward;
  node.run();
  EXPECT_FALSE(node.graph.tensors[0].sharding.has_value());
  node.graph.nodes[0].only = Direction::Backward;
  node.run();
  EXPECT_EQ(node.axes(0, 0), Axes{a});
}

TEST(Graph, RoundsAddUp) {
  GraphNode node;
  node.rule = dot(8, 16, 32);
  EXPECT_EQ(directionInRound(node, 0, 1), Direction::None);
  EXPECT_EQ(directionInRound(node, 0, 2), Direction::Both);
  EXPECT_EQ(directionInRound(node, 2, 2), Direction::None); // a reduction
  EXPECT_EQ(directionInRound(node, 2, 3), Direction::Both);
  GraphNode add;
  add.rule = identityRule({8}, 2, 1);
  add.passThrough = true;
  add.singleUse = false;
  EXPECT_EQ(directionInRound(add, 0, 0), Direction::None);
  EXPECT_EQ(directionInRound(add, 0, 1), Direction::Both);
  GraphNode broadcast;
  broadcast.rule = identityRule({8}, 1, 1);
  broadcast.broadcast = true;
  EXPECT_EQ(directionInRound(broadcast, 0, 3), Direction::Backward);
  EXPECT_EQ(directionInRound(broadcast, 0, 4), Direction::Both);
}

TEST(Graph, PrioritiesOfUsersComeOneByOne) {
  // Both operands of an addition: the first has priority 1 and loses against priority 0.
  OneNode node(identityRule({8}, 2, 1), {sharding({{{a}, false, 1}}), sharding({{{c}, false, 0}})});
  propagate(node.graph, {});
  EXPECT_EQ(node.axes(2, 0), Axes{c});
  EXPECT_EQ(node.axes(0, 0), Axes{a}); // annotations stay
}

TEST(Graph, GroupsAreShardedAlike) {
  OneNode node(identityRule({8}, 1, 1), {sharding({open({a})})});
  GraphTensor &other = node.graph.tensors.emplace_back();
  other.group = node.graph.tensors[1].group = 0;
  node.graph.groups.push_back({1, 2});
  node.run();
  EXPECT_EQ(node.axes(2, 0), Axes{a});
}

TEST(Graph, ManualAxesStayOutside) {
  // Into a manual computation over "a": outside [{a, b}], inside [{b}].
  OneNode node(identityRule({8}, 1, 1), {sharding({open({a, b})})});
  node.graph.manual.push_back({{Axes{a}}, {}});
  node.graph.tensors[1].sharding = sharding({open()});
  node.graph.tensors[1].mesh = 0;
  node.graph.nodes[0].results[0].manual = View::Manual::Add;
  node.graph.nodes[0].results[0].manualAxes = 0;
  node.run();
  EXPECT_EQ(node.axes(1, 0), Axes{b});
}

TEST(Graph, KnowsWhereAxesCameFrom) {
  OneNode node(dot(8, 16, 32), {sharding({open({a}), open()}), std::nullopt});
  node.graph.recordsSteps = true;
  node.run();
  ASSERT_EQ(node.graph.tensors[2].causes.size(), 1u);
  const Cause &cause = node.graph.tensors[2].causes[0];
  EXPECT_EQ(std::tuple(cause.node, cause.source, cause.edge.dim), std::tuple(0, 0, 0));
  EXPECT_EQ(std::tuple(cause.edge.axis, cause.edge.source, cause.edge.target), std::tuple(a, 0, 2));
}

/// What is in the way of the first factor that place `place` does not have.
std::tuple<Obstacle, int> obstacle(const Rule &rule, std::vector<TensorSharding> tensors, int place, bool elementwise = false,
                                   Direction direction = Direction::Both) {
  Projection projection;
  for (size_t i = 0; i < tensors.size(); ++i) {
    bool isOperand = i < rule.operands.size();
    const TensorFactors &dims = isOperand ? rule.operands[i] : rule.results[i - rule.operands.size()];
    (isOperand ? projection.operands : projection.results).push_back(project(&tensors[i], dims, rule.factors));
  }
  std::vector<Direction> directions(rule.factors.size(), direction);
  auto missing = missingAxes(rule, projection, directions, place, elementwise);
  return missing.empty() ? std::tuple(Obstacle::Unfinished, -2) : std::tuple(missing[0].why, missing[0].other);
}

TEST(Obstacles, AreNamed) {
  Rule same = identityRule({8}, 1, 1), two = identityRule({8, 8}, 2, 1);
  TensorSharding split = sharding({open({a})}), whole = sharding({open()});
  EXPECT_EQ(obstacle(same, {split, sharding({closed()})}, 1), std::tuple(Obstacle::Closed, -1));
  EXPECT_EQ(obstacle(same, {split, whole}, 1, false, Direction::Backward), std::tuple(Obstacle::Direction, -1));
  TensorSharding kept = whole;
  kept.replicated = {a};
  EXPECT_EQ(obstacle(same, {split, kept}, 1), std::tuple(Obstacle::Kept, -1));
  Rule blocked = RuleBuilder({1}, {1}).add({0}, {0}, 8, FactorKind::NeedReplication, true).build();
  EXPECT_EQ(obstacle(blocked, {split, whole}, 1), std::tuple(Obstacle::Blocked, -1));
  // Two operands with other axes: neither reaches the result.
  EXPECT_EQ(obstacle(two, {sharding({open({a}), open()}), sharding({open({b}), open()}), sharding({open(), open()})}, 2),
            std::tuple(Obstacle::Disagreement, 1));
  // The result has the axis in its other dimension.
  EXPECT_EQ(obstacle(dot(8, 8, 8), {sharding({open({a}), open()}), sharding({open(), open({a})}), sharding({open({a}), open()})}, 2),
            std::tuple(Obstacle::Taken, 0));
  // 3x4 -> 12: nothing of the 3 goes on two devices.
  Rule merge = RuleBuilder({2}, {1}).add({0}, {0}, 3).add({1}, {0}, 4).build();
  EXPECT_EQ(obstacle(merge, {sharding({open({a}), open()}), whole}, 1), std::tuple(Obstacle::Uneven, -1));
  // An operand follows the result, which is closed.
  EXPECT_EQ(obstacle(identityRule({8}, 2, 1), {split, whole, sharding({closed()})}, 1, true), std::tuple(Obstacle::Follows, 2));
  // Nothing is missing where nobody has anything.
  EXPECT_EQ(obstacle(same, {whole, whole}, 1), std::tuple(Obstacle::Unfinished, -2));
}

/// Of one step over all factors.
llvm::SmallVector<AxisEdge> edgesOf(const Rule &rule, std::vector<TensorSharding> tensors) {
  Projection before;
  for (size_t i = 0; i < tensors.size(); ++i) {
    bool isOperand = i < rule.operands.size();
    const TensorFactors &dims = isOperand ? rule.operands[i] : rule.results[i - rule.operands.size()];
    (isOperand ? before.operands : before.results).push_back(project(&tensors[i], dims, rule.factors));
  }
  Projection after = before;
  std::vector<Direction> directions(rule.factors.size(), Direction::Both);
  propagate(after, directions, rule.factors, mesh, {});
  return axisEdges(rule, before, after);
}

TEST(AxisEdges, FirstThatHadAllOfThemIsTheSource) {
  // Only the second operand had both axes.
  auto edges = edgesOf(identityRule({8}, 2, 1), {sharding({open({a})}), sharding({open({a, c})}), sharding({open()})});
  ASSERT_EQ(edges.size(), 3u);
  EXPECT_EQ(std::tuple(edges[0].axis, edges[0].source, edges[0].target), std::tuple(c, 1, 0));
  EXPECT_EQ(std::tuple(edges[1].axis, edges[1].source, edges[1].target), std::tuple(a, 1, 2));
  EXPECT_EQ(std::tuple(edges[2].axis, edges[2].source, edges[2].target), std::tuple(c, 1, 2));
}

TEST(AxisEdges, PartsOfAnAxisThatMeetAreOne) {
  Rule merge = RuleBuilder({2}, {1}).add({0}, {0}, 2).add({1}, {0}, 4).build();
  auto edges = edgesOf(merge, {sharding({open({b0}), open({b1})}), sharding({open()})});
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(std::tuple(edges[0].axis, edges[0].dim, edges[0].factor, edges[0].target), std::tuple(b, 0, 1, 1));
}

TEST(Assign, LargerTensorsKeepTheirAxes) {
  Rule rule = dot(8, 16, 32);
  TensorSharding lhs = sharding({closed({a}), closed()}), rhs = sharding({closed(), closed({a})});
  TensorSharding result = sharding({closed(), closed()});
  Projection projection;
  projection.operands = {project(&lhs, rule.operands[0], rule.factors), project(&rhs, rule.operands[1], rule.factors)};
  projection.results = {project(&result, rule.results[0], rule.factors)};
  auto assigned = assignFactors(projection, rule.factors);
  EXPECT_THAT(assigned[0], IsEmpty());
  EXPECT_EQ(assigned[1], Axes{a}); // 512 elements against 256
  EXPECT_THAT(assigned[2], IsEmpty());
}

TEST(Assign, NobodySplitsWhatMustBeWhole) {
  Rule rule = RuleBuilder({1}, {1}).addEverywhere(0, 8, FactorKind::NeedReplication).build();
  TensorSharding given = sharding({closed({a})});
  Projection projection;
  projection.operands = {project(&given, rule.operands[0], rule.factors)};
  projection.results = {project(&given, rule.results[0], rule.factors)};
  EXPECT_THAT(assignFactors(projection, rule.factors)[0], IsEmpty());
}

/// 8 elements as 2 by 4.
Rule split() {
  Rule rule;
  rule.factors = {{2, FactorKind::PassThrough}, {4, FactorKind::PassThrough}};
  rule.operands = {{{0}, {1}}};
  rule.results = {{{0, 1}}};
  return rule;
}

TEST(Assign, MinorFactorsWaitForMajorOnes) {
  // Both would keep as much in place; of the result, cutting the minor factor only is no part.
  Rule rule = split();
  TensorSharding operand = sharding({closed(), closed({a})}), result = sharding({closed({a})});
  Projection projection;
  projection.operands = {project(&operand, rule.operands[0], rule.factors)};
  projection.results = {project(&result, rule.results[0], rule.factors)};
  auto assigned = assignFactors(projection, rule.factors);
  EXPECT_EQ(assigned[0], Axes{a});
  EXPECT_THAT(assigned[1], IsEmpty());
}

TEST(Assign, AxesOfWholeFactorsMoveOn) {
  Rule rule = RuleBuilder({2}, {2}).addEverywhere(0, 8, FactorKind::NeedReplication).addEverywhere(1, 8).build();
  TensorSharding given = sharding({closed({a}), closed()}), other = sharding({closed(), closed()});
  Projection projection;
  projection.operands = {project(&given, rule.operands[0], rule.factors)};
  projection.results = {project(&given, rule.results[0], rule.factors)};
  llvm::SmallVector<Axes> assigned(2);
  moveToWholeFactors(projection, rule.factors, assigned);
  EXPECT_THAT(assigned[0], IsEmpty());
  EXPECT_EQ(assigned[1], Axes{a});
  // Not those that only some tensors have.
  projection.results = {project(&other, rule.results[0], rule.factors)};
  assigned.assign(2, Axes());
  moveToWholeFactors(projection, rule.factors, assigned);
  EXPECT_THAT(assigned[1], IsEmpty());
}

std::vector<ReshardStep::Kind> kinds(const DimAxes &from, const DimAxes &to) {
  std::vector<ReshardStep::Kind> result;
  auto steps = stepsBetween(from, to);
  EXPECT_TRUE(steps.has_value());
  if (!steps)
    return result;
  for (const ReshardStep &step : *steps)
    result.push_back(step.kind);
  if (!steps->empty()) {
    EXPECT_EQ(steps->back().result, to);
  }
  return result;
}

TEST(ReshardSteps, ShrinkFirstGrowLast) {
  using enum ReshardStep::Kind;
  EXPECT_THAT(kinds({{a}, {}}, {{a}, {}}), IsEmpty());
  EXPECT_THAT(kinds({{}, {}}, {{a}, {b}}), ElementsAre(Slice));
  EXPECT_THAT(kinds({{a, b}, {}}, {{a}, {}}), ElementsAre(Gather));
  EXPECT_THAT(kinds({{a}, {}}, {{}, {a}}), ElementsAre(Exchange));
  EXPECT_THAT(kinds({{a}, {}}, {{c}, {}}), ElementsAre(Permute));
  EXPECT_THAT(kinds({{a}, {}}, {{}, {c}}), ElementsAre(Slice, Gather));
  EXPECT_THAT(kinds({{a}, {c}}, {{c}, {a}}), ElementsAre(Permute));
  // Half of an axis goes elsewhere.
  EXPECT_THAT(kinds({{b}, {}}, {{b0}, {b1}}), ElementsAre(Exchange));
}

//===-- Dimensions that are split for a change of sharding ----------------===//

TEST(DimensionSplits, AxesThatPartGetDimensionsOfTheirOwn) {
  auto splits = splitsBetween({{a, b, c}, {}, {}}, {{b}, {a}, {c}});
  ASSERT_EQ(splits.size(), 1u);
  EXPECT_EQ(splits[0].dim, 0);
  EXPECT_THAT(splits[0].from, ElementsAre(Axes{a}, Axes{b}, Axes{c}));
  EXPECT_THAT(splits[0].to, ElementsAre(IsEmpty(), Axes{b}, IsEmpty()));
  EXPECT_THAT(splits[0].lengths, ElementsAre(2, 4));
}

TEST(DimensionSplits, AxesThatMeetComeFromDimensionsOfTheirOwn) {
  auto splits = splitsBetween({{b1}, {a}, {}}, {{}, {}, {a, b1}});
  ASSERT_EQ(splits.size(), 1u);
  EXPECT_EQ(splits[0].dim, 2);
  EXPECT_THAT(splits[0].from, ElementsAre(IsEmpty(), IsEmpty()));
  EXPECT_THAT(splits[0].to, ElementsAre(Axes{a}, Axes{b1}));
}

TEST(DimensionSplits, WhatComesInTakesThePlaceOfWhatGoes) {
  auto splits = splitsBetween({{b, a}, {}}, {{c}, {a}});
  ASSERT_EQ(splits.size(), 1u);
  EXPECT_THAT(splits[0].to, ElementsAre(Axes{c}, IsEmpty()));
  // "b" does not fit where "a" was.
  EXPECT_THAT(splitsBetween({{a, c}, {}}, {{b}, {c}}), IsEmpty());
}

TEST(DimensionSplits, OthersStayWhole) {
  EXPECT_THAT(splitsBetween({{a, b}, {}}, {{}, {a, b}}), IsEmpty());   // they stay together
  EXPECT_THAT(splitsBetween({{a, b}, {c}}, {{c}, {b}}), IsEmpty());    // another dimension's axis comes in
  EXPECT_THAT(splitsBetween({{a, b, c}, {}}, {{b}, {a, c}}), IsEmpty()); // "c" comes back to "a"
}

} // namespace
