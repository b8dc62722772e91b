// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlacementTest.cpp - Arithmetic on tiles of devices -----------------===//
#include "passes/spmd/Placement.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <random>

using namespace millrace;
using namespace millrace::spmd;
using testing::ElementsAre;

namespace {

const Tiles whole;
const Tiles halves{2, {0, 0, 0, 0, 1, 1, 1, 1}};
const Tiles quarters{4, {0, 0, 1, 1, 2, 2, 3, 3}};
const Tiles parity{2, {0, 1, 0, 1, 0, 1, 0, 1}};

TEST(Tiles, RefineEachOther) {
  EXPECT_TRUE(refines(quarters, halves));
  EXPECT_TRUE(refines(quarters, whole));
  EXPECT_FALSE(refines(halves, quarters));
  EXPECT_FALSE(refines(quarters, parity)); // as fine, but others' tiles
  EXPECT_EQ(within(quarters, halves), (Tiles{2, {0, 0, 1, 1, 0, 0, 1, 1}}));
  EXPECT_EQ(within(quarters, quarters), whole);
  EXPECT_EQ(compose(halves, within(quarters, halves)), quarters);
  EXPECT_EQ(compose(whole, parity), parity);
}

TEST(Placement, IsUniformIfEveryCombinationIsHeldEquallyOften) {
  Scope all = Scope::all(8);
  EXPECT_TRUE(isUniform({halves, parity}, all));
  EXPECT_FALSE(isUniform({halves, quarters}, all)); // nobody holds the second half and the first quarter
  EXPECT_FALSE(isUniform({Tiles{2, {0, 0, 0, 1, 1, 1, 1, 1}}}, all));
  // Inside of groups by parity everybody's parity is the same.
  EXPECT_FALSE(isUniform({parity}, all.splitBy(parity.of)));
  EXPECT_TRUE(isUniform({quarters}, all.splitBy(parity.of)));
}

TEST(Groups, HoldEveryTileOnceInOrder) {
  Scope all = Scope::all(8);
  EXPECT_THAT(groupsFor({&parity}, {&quarters}, all), ElementsAre(ElementsAre(0, 2, 4, 6), ElementsAre(1, 3, 5, 7)));
  EXPECT_THAT(groupsFor({}, {&halves}, all),
              ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5), ElementsAre(2, 6), ElementsAre(3, 7)));
  EXPECT_THAT(groupsFor({}, {&parity, &halves}, all), ElementsAre(ElementsAre(0, 4, 1, 5), ElementsAre(2, 6, 3, 7)));
  EXPECT_THAT(groupsFor({}, {&quarters}, all.splitBy(parity.of)), testing::SizeIs(2));
}

TEST(Permutation, EverybodyReceivesOnceAndWhoHasItKeepsIt) {
  Scope all = Scope::all(4);
  Placement rows{Tiles{2, {0, 0, 1, 1}}}, columns{Tiles{2, {0, 1, 0, 1}}};
  EXPECT_THAT(permutationTo(rows, columns, all),
              ElementsAre(ElementsAre(0, 0), ElementsAre(2, 1), ElementsAre(1, 2), ElementsAre(3, 3)));
}

TEST(Describe, RegularOrdersAreTransposedIotas) {
  EXPECT_EQ(toString(describe({quarters, parity}, 8)), "{devices=[4,2]<=[8]}");
  EXPECT_EQ(toString(describe({parity, quarters}, 8)), "{devices=[2,4]<=[4,2]T(1,0)}");
  EXPECT_EQ(toString(describe({parity, whole}, 8)), "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}");
  EXPECT_EQ(toString(describe({whole, whole}, 8)), "{replicated}");
  EXPECT_EQ(toString(describe({Tiles{4, {0, 2, 1, 3}}}, 4)), "{devices=[4]<=[2,2]T(1,0)}");
  EXPECT_EQ(toString(describe({Tiles{4, {3, 1, 0, 2}}}, 4)), "{devices=[4]2,1,3,0}");
}

// Whatever the order of devices: the string means the placement that it was made from.
TEST(Describe, MeansTheSameWhenReadBack) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::vector<int32_t> order{0, 1, 2, 3, 4, 5, 6, 7};
    if (round % 2)
      std::shuffle(order.begin(), order.end(), random);
    // Three binary digits of the position, dealt to two dimensions and replicas.
    Placement placement(2);
    for (int bit = 0; bit < 3; ++bit) {
      int dim = random() % 3;
      if (dim == 2)
        continue;
      Tiles digit{2, std::vector<int32_t>(8)};
      for (int device = 0; device < 8; ++device)
        digit.of[device] = order[device] >> bit & 1;
      placement[dim] = compose(placement[dim], digit);
    }
    ASSERT_TRUE(isUniform(placement, Scope::all(8)));
    std::string text = toString(describe(placement, 8)), error;
    auto sharding = sdy::parseHloSharding(text, error);
    ASSERT_TRUE(sharding) << error;
    Placement back;
    std::vector<int32_t> manual;
    ASSERT_TRUE(fromHloSharding(*sharding, 2, 8, back, manual, error)) << error;
    EXPECT_EQ(back, placement) << text;
  }
}

TEST(FromHloSharding, ManualSubgroupsAreNumbered) {
  std::string error;
  Placement placement;
  std::vector<int32_t> manual;
  auto sharding = sdy::parseHloSharding("{devices=[2,2,2]<=[8] last_tile_dims={manual, replicated}}", error);
  ASSERT_TRUE(fromHloSharding(*sharding, 1, 8, placement, manual, error));
  EXPECT_EQ(placement[0], halves);
  EXPECT_THAT(manual, ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
  EXPECT_FALSE(fromHloSharding(*sharding, 1, 4, placement, manual, error));
  EXPECT_THAT(error, testing::HasSubstr("expected all of the program's 4 devices"));
}

} // namespace
