// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HloShardingTest.cpp - `mhlo.sharding` strings ----------------------===//
#include "dialects/sdy/HloSharding.h"

#include "mlir/IR/MLIRContext.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace millrace::sdy;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

HloSharding parse(const std::string &text) {
  std::string error;
  auto result = parseHloSharding(text, error);
  EXPECT_TRUE(result) << error;
  return result.value_or(HloSharding());
}

std::string errorOf(const std::string &text) {
  std::string error;
  EXPECT_FALSE(parseHloSharding(text, error)) << text;
  return error;
}

class HloShardingText : public testing::TestWithParam<const char *> {};

TEST_P(HloShardingText, PrintsWhatItReads) { EXPECT_EQ(toString(parse(GetParam())), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    All, HloShardingText,
    testing::Values("{replicated}", "{maximal device=3}", "{manual}", "{unknown}", "{unreduced}",
                    "{devices=[2,4]0,1,2,3,4,5,6,7}", "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}",
                    "{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}}", "{{replicated}, {devices=[2]<=[2]}}",
                    "{}", "{devices=[2]<=[2] shard_as 1}", "{replicated shard_like 4}",
                    "{devices=[2]<=[2] metadata={op_name=\"a}b\"}}", "{mesh['x'=8,'y'=4], [{'y'}, {'x':(2)2, ?}]}",
                    "{mesh['x'=2,'y'=2,'z'=2], [{'x'}], replicated={'y'}, unreduced={'z'}}",
                    "{mesh['x'=2], device_ids=(1,0), [{'x'}]}", "{mesh['x'=2], replicated}",
                    "{mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)), [{'x'}]}", "{mesh['x'=2,'y'=2], [{'x'}], manual={'y'}}", "{mesh['x'=2,'y'=2], manual}",
                    "{mesh['x'=2], unreduced}"));

TEST(HloSharding, OtherSpellings) {
  EXPECT_EQ(toString(parse("{ devices = [2,1] <= [2] }")), "{devices=[2,1]<=[2]}");
  EXPECT_EQ(toString(parse("{maximal_mesh[device_id=5]}")), "{maximal device=5}");
  EXPECT_EQ(toString(parse("{devices=[1,2]0,1 last_tile_dims={replicated}}")), "{devices=[1,2]0,1 last_tile_dim_replicate}");
}

TEST(HloSharding, TransposedIota) {
  EXPECT_THAT(parse("{devices=[8]<=[2,4]T(1,0)}").order.devices(), ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
}

TEST(HloSharding, SaysWhatIsWrong) {
  EXPECT_THAT(errorOf("{devices=[2,2]0,1,2}"), HasSubstr("expected 4 devices, but got 3"));
  EXPECT_THAT(errorOf("{devices=[2,2]0,1,1,2}"), HasSubstr("expected each device once"));
  EXPECT_THAT(errorOf("{devices=[2]<=[2]T(1)}"), HasSubstr("expected a permutation"));
  EXPECT_THAT(errorOf("{devices=[4000000000,4000000000]<=[4]}"), HasSubstr("number of devices"));
  EXPECT_THAT(errorOf("{mesh['x'=2], [{'y'}]}"), HasSubstr("the mesh has no axis 'y'"));
  EXPECT_THAT(errorOf("{mesh['x'=4], [{'x':(3)2}]}"), HasSubstr("expected a part of axis 'x'"));
  EXPECT_THAT(errorOf("{replicated"), HasSubstr("expected '}' at position 11"));
  EXPECT_THAT(errorOf("{{{replicated}}}"), HasSubstr("a tuple inside a tuple"));
  EXPECT_THAT(errorOf("{manually}"), HasSubstr("expected a sharding"));
}

// Bytes that jaxlib writes for the same strings.
TEST(HloSharding, Messages) {
  auto message = [](const std::string &text) { return toOpShardingProto(parse(text)); };
  auto bytes = [](std::initializer_list<int> list) { return std::string(list.begin(), list.end()); };
  EXPECT_EQ(message("{replicated}"), "");
  EXPECT_EQ(message("{maximal device=3}"), bytes({8, 1, 34, 1, 3}));
  EXPECT_EQ(message("{manual}"), bytes({8, 4}));
  EXPECT_EQ(message("{unreduced}"), bytes({8, 6}));
  EXPECT_EQ(message("{devices=[2,4]0,1,2,3,4,5,7,6}"), bytes({8, 3, 26, 2, 2, 4, 34, 8, 0, 1, 2, 3, 4, 5, 7, 6}));
  EXPECT_EQ(message("{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"),
            bytes({8, 3, 26, 3, 4, 1, 2, 48, 1, 74, 2, 2, 4, 82, 2, 1, 0}));
  EXPECT_EQ(message("{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}}"),
            bytes({8, 3, 26, 4, 2, 1, 2, 2, 66, 2, 4, 0, 74, 1, 8, 82, 1, 0}));
  EXPECT_EQ(message("{{replicated}, {devices=[300]<=[300]}}"),
            bytes({8, 2, 42, 0, 42, 13, 8, 3, 26, 2, -84, 2, 74, 2, -84, 2, 82, 1, 0}));
}

struct ToSdy : testing::Test {
  ToSdy() { context.loadDialect<SdyDialect>(); }

  std::string convert(const std::string &text, int64_t rank) {
    llvm::SmallVector<AxisRefAttr> manual;
    std::string error, result;
    TensorShardingAttr sharding = toSdy(parse(text), rank, &context, manual, error);
    if (!sharding)
      return error;
    llvm::raw_string_ostream(result) << sharding;
    for (AxisRefAttr axis : manual)
      result += " manual " + axis.toString();
    return result;
  }
  /// To sdy and back; the same devices must hold the same tiles.
  std::string roundTrip(const std::string &text, int64_t rank) {
    llvm::SmallVector<AxisRefAttr> manual;
    std::string error;
    HloSharding before = parse(text);
    TensorShardingAttr sharding = toSdy(before, rank, &context, manual, error);
    EXPECT_TRUE(sharding) << error;
    llvm::SmallVector<llvm::StringRef> names;
    for (AxisRefAttr axis : manual)
      names.push_back(axis.getName());
    HloSharding after = fromSdy(sharding, sharding.getMesh(nullptr), names);
    if (before.kind == HloSharding::Kind::Tiled) {
      EXPECT_EQ(before.order.devices(), after.order.devices()) << text << " " << toString(after);
      EXPECT_EQ(before.tiles, after.tiles);
    }
    return toString(after);
  }
  mlir::MLIRContext context;
};

TEST_F(ToSdy, IotaDimensionsBecomeAxes) {
  EXPECT_EQ(convert("{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}", 2),
            "#sdy.sharding<mesh<[\"axis_0\"=2, \"axis_1\"=4]>, [{\"axis_1\"}, {}]>");
  EXPECT_EQ(convert("{devices=[2,4]<=[8]}", 2),
            "#sdy.sharding<mesh<[\"axis_0\"=8]>, [{\"axis_0\":(1)2}, {\"axis_0\":(2)4}]>");
  EXPECT_EQ(convert("{devices=[8]<=[2,4]T(1,0)}", 1),
            "#sdy.sharding<mesh<[\"axis_0\"=2, \"axis_1\"=4]>, [{\"axis_1\", \"axis_0\"}]>");
  EXPECT_EQ(convert("{devices=[2,2,2]<=[8] last_tile_dims={manual, unreduced}}", 1),
            "#sdy.sharding<mesh<[\"axis_0\"=8]>, [{\"axis_0\":(1)2}], unreduced={\"axis_0\":(4)2}> manual "
            "\"axis_0\":(2)2");
}

TEST_F(ToSdy, ListsBecomeMeshesWithIds) {
  EXPECT_EQ(convert("{devices=[2,2]0,3,1,2}", 2),
            "#sdy.sharding<mesh<[\"axis_0\"=2, \"axis_1\"=2], device_ids=[0, 3, 1, 2]>, [{\"axis_0\"}, {\"axis_1\"}]>");
  // Tiles of three from two times three devices: no part of the first axis has that size.
  EXPECT_EQ(convert("{devices=[3,2]<=[2,3]}", 2),
            "#sdy.sharding<mesh<[\"axis_0\"=3, \"axis_1\"=2]>, [{\"axis_0\"}, {\"axis_1\"}]>");
  EXPECT_THAT(convert("{devices=[2]5,7}", 1), HasSubstr("a mesh has all devices from 0 on"));
}

TEST_F(ToSdy, OtherKinds) {
  EXPECT_EQ(convert("{replicated}", 2), "#sdy.sharding<mesh<[]>, [{}, {}]>");
  EXPECT_EQ(convert("{maximal device=3}", 2), "#sdy.sharding<mesh<[], device_ids=[3]>, []>");
  EXPECT_EQ(convert("{mesh['x'=8,'y'=4], [{'y'}, {'x':(2)2, ?}], manual={'x':(1)2}}", 2),
            "#sdy.sharding<mesh<[\"x\"=8, \"y\"=4]>, [{\"y\"}, {\"x\":(2)2, ?}]> manual \"x\":(1)2");
  EXPECT_THAT(convert("{manual}", 2), HasSubstr("no axes stand for {manual}"));
  EXPECT_THAT(convert("{devices=[2,2]<=[4]}", 1), HasSubstr("expected a sharding of rank 1"));
}

TEST_F(ToSdy, AndBack) {
  EXPECT_EQ(roundTrip("{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}", 2),
            "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}");
  EXPECT_EQ(roundTrip("{devices=[2,4]<=[8]}", 2), "{devices=[2,4]<=[8]}");
  EXPECT_EQ(roundTrip("{devices=[2,2]0,3,1,2}", 2), "{devices=[2,2]0,3,1,2}");
  EXPECT_EQ(roundTrip("{devices=[8,1]<=[2,4]T(1,0)}", 2), "{devices=[8,1]<=[2,4]T(1,0)}");
  EXPECT_EQ(roundTrip("{replicated}", 2), "{replicated}");
  EXPECT_EQ(roundTrip("{maximal device=1}", 2), "{maximal device=1}");
  // What jaxlib makes of the same named sharding.
  EXPECT_EQ(roundTrip("{mesh['x'=8,'y'=4], [{'y'}, {'x':(2)2, ?}]}", 2),
            "{devices=[4,2,4]<=[2,2,2,4]T(3,1,0,2) last_tile_dim_replicate}");
  EXPECT_EQ(roundTrip("{mesh['x'=2,'y'=2,'z'=2], [{'x'}], replicated={'y'}, unreduced={'z'}}", 1),
            "{devices=[2,2,2]<=[2,2,2]T(0,2,1) last_tile_dims={unreduced, replicated}}");
  EXPECT_EQ(roundTrip("{mesh['x'=2,'y'=2], [{'x'}], manual={'y'}}", 1), "{devices=[2,2]<=[4] last_tile_dims={manual}}");
}

} // namespace
