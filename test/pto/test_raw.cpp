// SPDX-License-Identifier: Apache-2.0
// Instructions on plain addresses.
#include <cstring>
#include <vector>

#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::Acc;
using test::At;
using test::ExpectContains;
using test::FaultOf;
using test::Fill;
using test::On;
using test::OnCube;

TEST(CopyCbufToGm, MovesBurstsWithGaps) {
  std::vector<float> global(200, -1.0f);
  OnCube([&] {
    Tile<TileType::Mat, float, 4, 64> mat;
    TASSIGN(mat, 0);
    Fill(mat, [](int row, int col) { return row * 64 + col; });
    copy_cbuf_to_gm(global.data(), mat.data() + 8, 0, 3, 2, 6, 1);
  });
  for (int i = 0; i < 200; ++i) {
    const int burst = i / 24, in_burst = i % 24;
    const bool moved = burst < 3 && in_burst < 16;
    ASSERT_EQ(global[i], moved ? 8 + burst * 64 + in_burst : -1.0f) << i;
  }
  // A number is an offset from the start of L1.
  const std::string fault = FaultOf(
      [&] {
        copy_cbuf_to_gm(global.data(), reinterpret_cast<void*>(512 * 1024 - 32), 0, 1, 2, 0, 0);
      },
      On::kCube);
  ExpectContains(fault,
                 "copy_cbuf_to_gm: expected an address of L1 with 64 bytes up to its end, got "
                 "524256");
}

template <class Out, class In>
void CheckAccStore(uint64_t quant, uint8_t relu) {
  std::vector<Out> global(19 * 40, Out(9));
  OnCube([&] {
    Acc<In, 32, 48> acc(32, 48);
    TASSIGN(acc, 0);
    Fill(acc, [](int row, int col) { return row * 3 - col; });
    set_nd_para(1);
    copy_matrix_cc_to_gm(global.data(), acc.data(), 0, 37, 19, 40, 32, 0, quant, relu, false, true);
  });
  for (int i = 0; i < 19 * 40; ++i) {
    const int value = i / 40 * 3 - i % 40;
    const int expected = i % 40 >= 37 ? 9 : relu != 0 && value < 0 ? 0 : value;
    ASSERT_EQ(static_cast<float>(global[i]), static_cast<float>(expected)) << i;
  }
}

TEST(CopyMatrixCcToGm, WritesRows) {
  CheckAccStore<float, float>(NoQuant, 0);
  CheckAccStore<half, float>(F322F16, 1);
  CheckAccStore<bfloat16_t, float>(F322BF16, 0);
  CheckAccStore<int32_t, int32_t>(NoQuant, 1);
}

TEST(CopyMatrixCcToGm, NamesWhatItRefuses) {
  std::vector<int8_t> bytes(4096);
  float* floats = reinterpret_cast<float*>(bytes.data());
  const auto fault = [&](auto* to, uint64_t quant, bool to_nd) {
    return FaultOf(
        [&] {
          Acc<float, 16, 16> acc(16, 16);
          TASSIGN(acc, 0);
          copy_matrix_cc_to_gm(to, acc.data(), 0, 16, 16, 16, 16, 0, quant, 0, false, to_nd);
        },
        On::kCube);
  };
  ExpectContains(fault(floats, NoQuant, false),
                 "copy_matrix_cc_to_gm: expected a store into rows of a matrix (others only by "
                 "TSTORE), got boxes");
  ExpectContains(fault(floats, F322F16, true),
                 "expected quantization mode 0 for these element types");
  ExpectContains(FaultOf([] { set_nd_para(2); }, On::kCube),
                 "set_nd_para: expected one matrix, got 2");
}

}  // namespace
