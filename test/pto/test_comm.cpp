// SPDX-License-Identifier: Apache-2.0
// Transfers between ranks by way of tiles. The ranks of these tests are parts of one memory.
#include <numeric>
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using comm::ParallelGroup;
using comm::ReduceOp;
using test::AsA5;
using test::ExpectContains;
using test::FaultOf;
using test::OnCore;
using test::VecTile;

template <class T>
using Any = GlobalTensor<T, Shape<>, Stride<>>;
template <class T>
using AnyDn = GlobalTensor<T, Shape<>, Stride<>, Layout::DN>;

/// A shape, and the distances of its elements in a larger memory.
struct View {
  int64_t shape[5];
  int64_t stride[5];

  template <class Global>
  Global Of(typename Global::DType* data) const {
    return Global(data, {shape[0], shape[1], shape[2], shape[3], shape[4]},
                  {stride[0], stride[1], stride[2], stride[3], stride[4]});
  }
  int64_t Offset(const int64_t (&at)[5]) const {
    int64_t offset = 0;
    for (int d = 0; d < 5; ++d) offset += at[d] * stride[d];
    return offset;
  }
};

/// Calls visit(at) for all elements of shape.
template <class Visit>
void ForEach(const int64_t (&shape)[5], const Visit& visit) {
  int64_t at[5];
  for (at[0] = 0; at[0] < shape[0]; ++at[0])
    for (at[1] = 0; at[1] < shape[1]; ++at[1])
      for (at[2] = 0; at[2] < shape[2]; ++at[2])
        for (at[3] = 0; at[3] < shape[3]; ++at[3])
          for (at[4] = 0; at[4] < shape[4]; ++at[4]) visit(at);
}

constexpr size_t kElements = 8192;

template <class T>
std::vector<T> Numbers(int first) {
  std::vector<T> numbers(kElements);
  for (size_t i = 0; i < kElements; ++i) {
    numbers[i] = static_cast<T>(static_cast<int>(i * 7 + static_cast<size_t>(first)) % 101 - 50);
  }
  return numbers;
}

const View kDense = {{1, 1, 1, 20, 48}, {960, 960, 960, 48, 1}};
const View kWide = {{1, 1, 1, 20, 48}, {1, 1, 1, 72, 1}};
const View kDeep = {{2, 1, 3, 5, 40}, {1300, 1300, 400, 60, 1}};
const View kSparse = {{2, 1, 3, 5, 40}, {1500, 1500, 500, 90, 1}};

/// move(dst, src) has to give dst what combine(old, new) says, element by element, and no more.
template <class T, class Global = Any<T>, class Move, class Combine>
void ExpectMoved(const View& to, const View& from, const Move& move, const Combine& combine) {
  const std::vector<T> src = Numbers<T>(3);
  std::vector<T> dst = Numbers<T>(11), expected = dst;
  ForEach(from.shape, [&](const int64_t (&at)[5]) {
    T& element = expected[static_cast<size_t>(to.Offset(at))];
    element = combine(element, src[static_cast<size_t>(from.Offset(at))]);
  });
  OnCore([&] {
    Global d = to.Of<Global>(dst.data()), s = from.Of<Global>(const_cast<T*>(src.data()));
    move(d, s);
  });
  for (size_t i = 0; i < kElements; ++i) {
    ASSERT_EQ(static_cast<float>(dst[i]), static_cast<float>(expected[i])) << i;
  }
}

template <class T>
T Second(T, T b) {
  return b;
}

template <class T>
void PutAndGet(const View& to, const View& from) {
  using Small = VecTile<T, 6, 32>;  // divides neither shape
  Small ping(6, 32), pong(6, 32);
  const auto place = [&] {
    TASSIGN(ping, 0);
    TASSIGN(pong, 4096);
  };
  ExpectMoved<T>(to, from, [&](auto& d, auto& s) { place(), comm::TPUT(d, s, ping); }, Second<T>);
  ExpectMoved<T>(to, from, [&](auto& d, auto& s) { comm::TPUT(d, s, ping, pong); }, Second<T>);
  ExpectMoved<T>(to, from, [&](auto& d, auto& s) { comm::TGET(d, s, ping); }, Second<T>);
  ExpectMoved<T>(to, from, [&](auto& d, auto& s) { comm::TGET(d, s, ping, pong); }, Second<T>);
  EXPECT_EQ(ping.GetValidRow(), 6);
}

TEST(Comm, PutsAndGetsATileAtATime) {
  PutAndGet<float>(kDense, kWide);
  PutAndGet<half>(kWide, kDense);
  PutAndGet<int32_t>(kDeep, kSparse);
  PutAndGet<uint8_t>(kSparse, kDeep);
  PutAndGet<int64_t>(kDense, kDense);
}

TEST(Comm, MovesAtOnceWhatFitsTheTile) {
  Tile<TileType::Vec, int16_t, 32, 64, BLayout::RowMajor, 20, 48> tile;
  ExpectMoved<int16_t>(
      kWide, kDense, [&](auto& d, auto& s) { TASSIGN(tile, 0), comm::TPUT(d, s, tile); },
      Second<int16_t>);
  VecTile<float, 30, 40> rows(30, 40);  // 2 x 1 x 3 x 5
  ExpectMoved<float>(
      kDeep, kSparse, [&](auto& d, auto& s) { TASSIGN(rows, 0), comm::TGET(d, s, rows); },
      Second<float>);
}

TEST(Comm, MovesAsMuchAsTheMasksOfTheTileSay) {
  using Wide = Tile<TileType::Vec, float, 20, 64, BLayout::RowMajor, -1, -1>;
  Wide tile(1, 1);
  ExpectMoved<float>(
      kDense, kWide,
      [&](auto& d, auto& s) {
        TASSIGN(tile, 0);
        tile.RowMaskInternal = 20;
        tile.ColMaskInternal = 48;
        comm::TPUT(d, s, tile);
      },
      Second<float>);
  EXPECT_EQ(tile.GetValidRow(), 20);
  EXPECT_EQ(tile.GetValidCol(), 48);
  static_assert(sizeof(Wide) == 24 && sizeof(Tile<TileType::Vec, float, 20, 64>) == 16);
}

TEST(Comm, MovesColumns) {
  using ColTile = Tile<TileType::Vec, float, 16, 7, BLayout::ColMajor, -1, -1>;
  const View to = {{1, 1, 1, 40, 21}, {1, 1, 1, 1, 50}},
             from = {{1, 1, 1, 40, 21}, {1, 1, 1, 1, 64}};
  ColTile tile(16, 7);
  ExpectMoved<float, AnyDn<float>>(
      to, from, [&](auto& d, auto& s) { TASSIGN(tile, 0), comm::TPUT(d, s, tile); }, Second<float>);
}

template <class T>
void PutsSums() {
  const auto sum = [](T a, T b) { return static_cast<T>(a + b); };
  VecTile<T, 8, 32> tile(8, 32), pong(8, 32);
  ExpectMoved<T>(
      kDense, kWide,
      [&](auto& d, auto& s) { TASSIGN(tile, 0), comm::TPUT<AtomicType::AtomicAdd>(d, s, tile); },
      sum);
  ExpectMoved<T>(
      kWide, kDense, [&](auto& d, auto& s) { comm::TPUT(d, s, tile, AtomicType::AtomicAdd); }, sum);
  ExpectMoved<T>(
      kWide, kDense,
      [&](auto& d, auto& s) {
        TASSIGN(pong, 8192), comm::TPUT<AtomicType::AtomicAdd>(d, s, tile, pong);
      },
      sum);
  ExpectMoved<T>(
      kWide, kDense, [&](auto& d, auto& s) { comm::TPUT(d, s, tile, AtomicType::AtomicNone); },
      Second<T>);
}

TEST(Comm, PutsSums) {
  PutsSums<int8_t>();
  PutsSums<int16_t>();
  PutsSums<int32_t>();
  PutsSums<half>();
  PutsSums<float>();
}

TEST(Comm, MovesNothingOfAnEmptyTensor) {
  const View empty = {{1, 1, 1, 0, 48}, {0, 0, 0, 48, 1}};
  VecTile<float, 8, 32> tile(8, 32);
  ExpectMoved<float>(
      empty, empty, [&](auto& d, auto& s) { TASSIGN(tile, 0), comm::TPUT(d, s, tile); },
      Second<float>);
}

/// Memories of three ranks.
struct Ranks {
  std::vector<float> memory[3] = {Numbers<float>(0), Numbers<float>(40), Numbers<float>(77)};
  Any<float> tensors[3];

  ParallelGroup<Any<float>> Group(const View& view, int root) {
    for (int rank = 0; rank < 3; ++rank) tensors[rank] = view.Of<Any<float>>(memory[rank].data());
    return ParallelGroup<Any<float>>::Create(tensors, 3, root);
  }
};

using Small = VecTile<float, 4, 32>;

struct Tiles {
  Small acc{4, 32}, ping{4, 32}, pong{4, 32};
  void Place() {
    TASSIGN(acc, 0);
    TASSIGN(ping, 1024);
    TASSIGN(pong, 2048);
  }
};

/// dst has three times the rows of what each rank has.
const View kEach = {{1, 1, 1, 10, 40}, {1, 1, 1, 60, 1}};
const View kAll = {{1, 1, 1, 30, 40}, {1, 1, 1, 50, 1}};

TEST(Comm, GathersRowsOfAllRanks) {
  for (const bool two : {false, true}) {
    Ranks ranks;
    Tiles tiles;
    std::vector<float> dst(kElements, -1), expected = dst;
    for (int rank = 0; rank < 3; ++rank) {
      ForEach(kEach.shape, [&](const int64_t (&at)[5]) {
        expected[static_cast<size_t>((rank * 10 + at[3]) * 50 + at[4])] =
            ranks.memory[rank][static_cast<size_t>(kEach.Offset(at))];
      });
    }
    OnCore([&] {
      tiles.Place();
      auto group = ranks.Group(kEach, 1);
      Any<float> all = kAll.Of<Any<float>>(dst.data());
      two ? comm::TGATHER(group, all, tiles.ping, tiles.pong)
          : comm::TGATHER(group, all, tiles.ping);
    });
    EXPECT_EQ(dst, expected);
  }
}

TEST(Comm, ScattersRowsToAllRanks) {
  for (const bool two : {false, true}) {
    Ranks ranks, expected;
    Tiles tiles;
    std::vector<float> src = Numbers<float>(9);
    for (int rank = 0; rank < 3; ++rank) {
      ForEach(kEach.shape, [&](const int64_t (&at)[5]) {
        expected.memory[rank][static_cast<size_t>(kEach.Offset(at))] =
            src[static_cast<size_t>((rank * 10 + at[3]) * 50 + at[4])];
      });
    }
    OnCore([&] {
      tiles.Place();
      auto group = ranks.Group(kEach, 0);
      Any<float> all = kAll.Of<Any<float>>(src.data());
      two ? comm::TSCATTER(group, all, tiles.ping, tiles.pong)
          : comm::TSCATTER<comm::CollEngine::AIV>(group, all, tiles.ping);
    });
    for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(ranks.memory[rank], expected.memory[rank]);
  }
}

TEST(Comm, BroadcastsToAllRanks) {
  for (const bool two : {false, true}) {
    Ranks ranks, expected;
    Tiles tiles;
    std::vector<float> src = Numbers<float>(9);
    for (auto& memory : expected.memory) {
      ForEach(kDeep.shape, [&](const int64_t (&at)[5]) {
        memory[static_cast<size_t>(kSparse.Offset(at))] =
            src[static_cast<size_t>(kDeep.Offset(at))];
      });
    }
    OnCore([&] {
      tiles.Place();
      auto group = ranks.Group(kSparse, 2);
      Any<float> from = kDeep.Of<Any<float>>(src.data());
      two ? comm::TBROADCAST(group, from, tiles.ping, tiles.pong)
          : comm::TBROADCAST(group, from, tiles.ping);
    });
    for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(ranks.memory[rank], expected.memory[rank]);
  }
}

float Combine(ReduceOp op, float a, float b) {
  if (op == ReduceOp::Sum) return a + b;
  return (op == ReduceOp::Max) == (a > b) ? a : b;
}

TEST(Comm, ReducesRootFirst) {
  for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Max, ReduceOp::Min}) {
    for (const int root : {0, 1, 2}) {
      Ranks ranks;
      ranks.memory[root][0] = 1e8f;  // so that the order of a sum shows
      ranks.memory[(root + 1) % 3][0] = 3.5f;
      Tiles tiles;
      std::vector<float> dst(kElements, -1), expected = dst, twice = dst;
      ForEach(kDeep.shape, [&](const int64_t (&at)[5]) {
        const auto from = static_cast<size_t>(kDeep.Offset(at));
        float result = ranks.memory[root][from];
        for (int rank = 0; rank < 3; ++rank) {
          if (rank != root) result = Combine(op, result, ranks.memory[rank][from]);
        }
        expected[static_cast<size_t>(kSparse.Offset(at))] = result;
      });
      OnCore([&] {
        tiles.Place();
        auto group = ranks.Group(kDeep, root);
        Any<float> one = kSparse.Of<Any<float>>(dst.data());
        Any<float> two = kSparse.Of<Any<float>>(twice.data());
        comm::TREDUCE(group, one, tiles.acc, tiles.ping, op);
        comm::TREDUCE(group, two, tiles.acc, tiles.ping, tiles.pong, op);
      });
      EXPECT_EQ(dst, expected);
      EXPECT_EQ(twice, expected);
    }
  }
}

TEST(Comm, NamesWhatItRefuses) {
  std::vector<float> memory(kElements);
  const auto on = [&](const auto& body) {
    return FaultOf([&] {
      Any<float> dst = kDense.Of<Any<float>>(memory.data()), src = dst;
      body(dst, src);
    });
  };
  Tile<TileType::Vec, float, 8, 64, BLayout::RowMajor, 8, -1> fixed(64);
  Small tile(4, 32), none(0, 32);
  const auto put = [](auto& dst, auto& src, auto& staging) {
    TASSIGN(staging, 0);
    comm::TPUT(dst, src, staging);
  };
  ExpectContains(on([&](auto& d, auto& s) { put(d, s, fixed); }),
                 "TPUT: expected shape[3] of a multiple of the 8 of the staging tile, whose valid "
                 "region is a constant, got 20");
  ExpectContains(on([&](auto& d, auto& s) { put(d, s, none); }),
                 "TPUT: expected a staging tile with a valid region of at least 1x1, got 0x32");
  ExpectContains(
      on([&](auto& d, auto&) {
        TASSIGN(tile, 0);
        Any<float> tensors[] = {d, kEach.Of<Any<float>>(memory.data())};
        ParallelGroup<Any<float>> group(tensors, 2, 0);
        comm::TBROADCAST(group, d, tile);
      }),
      "TBROADCAST: expected global tensors of one shape for all ranks, got a shape[3] of "
      "10 for rank 1 where others have 20");
  ExpectContains(on([&](auto& d, auto&) {
                   ParallelGroup<Any<float>> group(&d, 1, 0);
                   group[1];
                 }),
                 "ParallelGroup: expected a rank from 0 to 0, got 1");
  std::vector<uint32_t> words(kElements);
  VecTile<uint32_t, 8, 32> staging(8, 32);
  ExpectContains(FaultOf([&] {
                   Any<uint32_t> d = kDense.Of<Any<uint32_t>>(words.data()), s = d;
                   TASSIGN(staging, 0);
                   comm::TPUT<AtomicType::AtomicAdd>(d, s, staging);
                 }),
                 "TPUT: expected elements of type int8, int16, int32, half, bfloat16 or float on "
                 "Ascend910B1, got uint32");
}

TEST(Comm, MovesNothingBesideItsOperands) {
  const View narrow = {{1, 1, 1, 20, 47}, {960, 960, 960, 48, 1}};
  const View few = {{1, 1, 1, 59, 48}, {2880, 2880, 2880, 48, 1}};
  const View exact = {{1, 1, 1, 60, 48}, {2880, 2880, 2880, 48, 1}};
  std::vector<float> memory(kElements, 1);
  Tiles tiles;
  using Tensor = Any<float>;
  const auto run = [&](const View& first, const auto& body) {
    tiles.Place();
    Tensor a = first.Of<Tensor>(memory.data()), b = kDense.Of<Tensor>(memory.data() + 4096);
    Ranks ranks;
    auto group = ranks.Group(kDense, 0);
    body(a, b, group);
  };
  const auto refused = [&](const View& first, const auto& body) {
    return FaultOf([&] { run(first, body); });
  };
  const auto put = [&](Tensor& a, Tensor& b, auto&) { comm::TPUT(a, b, tiles.ping); };
  const auto get = [&](Tensor& a, Tensor& b, auto&) { comm::TGET(a, b, tiles.ping); };
  const auto gather = [&](Tensor& a, Tensor&, auto& g) { comm::TGATHER(g, a, tiles.ping); };
  const auto scatter = [&](Tensor& a, Tensor&, auto& g) { comm::TSCATTER(g, a, tiles.ping); };
  const auto broadcast = [&](Tensor& a, Tensor&, auto& g) { comm::TBROADCAST(g, a, tiles.ping); };
  const auto reduce = [&](Tensor& a, Tensor&, auto& g) {
    comm::TREDUCE(g, a, tiles.acc, tiles.ping, ReduceOp::Sum);
  };
  OnCore([&] { run(exact, put), run(exact, get), run(exact, gather), run(exact, scatter); });
  OnCore([&] { run(narrow, broadcast), run(exact, reduce); });
  ExpectContains(refused(narrow, put), "TPUT: expected dst with a shape[4] of at least 48, got 47");
  ExpectContains(refused(narrow, get), "TGET: expected dst with a shape[4] of at least 48, got 47");
  ExpectContains(refused(few, gather),
                 "TGATHER: expected dst with a shape[3] of at least 60, got 59");
  ExpectContains(refused(few, scatter),
                 "TSCATTER: expected src with a shape[3] of at least 60, got 59");
  ExpectContains(
      refused(few, broadcast),
      "TBROADCAST: expected tensors of the group with a shape[3] of at least 59, got 20");
  ExpectContains(refused(narrow, reduce),
                 "TREDUCE: expected dst with a shape[4] of at least 48, got 47");
}

}  // namespace
