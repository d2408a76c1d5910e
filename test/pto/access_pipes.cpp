// SPDX-License-Identifier: Apache-2.0
// The pipe of each instruction, as the events of kernels have it.
#include <map>
#include <set>
#include <string_view>

#include "access_audit.hpp"
#include "pto/event.hpp"

namespace test::audit {

namespace {

using pto::Op;

npu::Pipe Of(Op op) { return static_cast<npu::Pipe>(pto::PipeOf(op)); }

#define PIPE_OF(name)       \
  {                         \
    #name, { Of(Op::name) } \
  }
const std::map<std::string_view, std::set<npu::Pipe>> kPipes = {
    PIPE_OF(TCI),
    PIPE_OF(SETFMATRIX),
    PIPE_OF(SET_IMG2COL_RPT),
    PIPE_OF(SET_IMG2COL_PADDING),
    PIPE_OF(TLOAD),
    PIPE_OF(TPREFETCH),
    PIPE_OF(TIMG2COL),
    PIPE_OF(TMATMUL),
    PIPE_OF(TGEMV),
    PIPE_OF(TADD),
    PIPE_OF(TADDS),
    PIPE_OF(TAXPY),
    PIPE_OF(TSUB),
    PIPE_OF(TSUBS),
    PIPE_OF(TMUL),
    PIPE_OF(TMULS),
    PIPE_OF(TDIV),
    PIPE_OF(TDIVS),
    PIPE_OF(TMIN),
    PIPE_OF(TMINS),
    PIPE_OF(TMAX),
    PIPE_OF(TMAXS),
    PIPE_OF(TAND),
    PIPE_OF(TANDS),
    PIPE_OF(TOR),
    PIPE_OF(TORS),
    PIPE_OF(TXOR),
    PIPE_OF(TXORS),
    PIPE_OF(TNOT),
    PIPE_OF(TSHL),
    PIPE_OF(TSHLS),
    PIPE_OF(TSHR),
    PIPE_OF(TSHRS),
    PIPE_OF(TABS),
    PIPE_OF(TNEG),
    PIPE_OF(TEXP),
    PIPE_OF(TLOG),
    PIPE_OF(TSQRT),
    PIPE_OF(TRSQRT),
    PIPE_OF(TRECIP),
    PIPE_OF(TRELU),
    PIPE_OF(TLRELU),
    PIPE_OF(TPRELU),
    PIPE_OF(TREM),
    PIPE_OF(TREMS),
    PIPE_OF(TFMOD),
    PIPE_OF(TFMODS),
    PIPE_OF(TPOW),
    PIPE_OF(TPOWS),
    PIPE_OF(TCVT),
    PIPE_OF(TCMP),
    PIPE_OF(TCMPS),
    PIPE_OF(TSEL),
    PIPE_OF(TSELS),
    PIPE_OF(TPARTADD),
    PIPE_OF(TPARTMUL),
    PIPE_OF(TPARTMAX),
    PIPE_OF(TPARTMIN),
    PIPE_OF(TPARTARGMAX),
    PIPE_OF(TPARTARGMIN),
    PIPE_OF(TMRGSORT),
    PIPE_OF(TSORT32),
    PIPE_OF(TGATHER),
    PIPE_OF(TGATHERB),
    PIPE_OF(TSCATTER),
    PIPE_OF(TROWSUM),
    PIPE_OF(TROWPROD),
    PIPE_OF(TROWMAX),
    PIPE_OF(TROWMIN),
    PIPE_OF(TROWARGMAX),
    PIPE_OF(TROWARGMIN),
    PIPE_OF(TROWEXPAND),
    PIPE_OF(TROWEXPANDADD),
    PIPE_OF(TROWEXPANDSUB),
    PIPE_OF(TROWEXPANDMUL),
    PIPE_OF(TROWEXPANDDIV),
    PIPE_OF(TROWEXPANDMAX),
    PIPE_OF(TROWEXPANDMIN),
    PIPE_OF(TROWEXPANDEXPDIF),
    PIPE_OF(TCOLSUM),
    PIPE_OF(TCOLPROD),
    PIPE_OF(TCOLMAX),
    PIPE_OF(TCOLMIN),
    PIPE_OF(TCOLARGMAX),
    PIPE_OF(TCOLARGMIN),
    PIPE_OF(TCOLEXPAND),
    PIPE_OF(TCOLEXPANDADD),
    PIPE_OF(TCOLEXPANDSUB),
    PIPE_OF(TCOLEXPANDMUL),
    PIPE_OF(TCOLEXPANDDIV),
    PIPE_OF(TCOLEXPANDMAX),
    PIPE_OF(TCOLEXPANDMIN),
    PIPE_OF(TCOLEXPANDEXPDIF),
    PIPE_OF(TRANDOM),
    PIPE_OF(TTRANS),
    PIPE_OF(TTRI),
    PIPE_OF(TCONCAT),
    PIPE_OF(TDEQUANT),
    PIPE_OF(TADDDEQRELU),
    PIPE_OF(TPAIRREDUCESUM),
    PIPE_OF(TSUBRELUCONV),
    PIPE_OF(TADDRELUCONV),
    PIPE_OF(TFUSEDMULADD),
    PIPE_OF(TFUSEDMULADDRELU),
    PIPE_OF(TMULADDDST),
    PIPE_OF(TSUBRELU),
    PIPE_OF(TQUANT),
    PIPE_OF(THISTOGRAM),
    PIPE_OF(TINTERLEAVE),
    PIPE_OF(TDEINTERLEAVE),
    {"TMATMUL_ACC", {Of(Op::TMATMUL)}},
    {"TMATMUL_BIAS", {Of(Op::TMATMUL)}},
    {"TMATMUL_MX", {Of(Op::TMATMUL)}},
    {"TGEMV_ACC", {Of(Op::TGEMV)}},
    {"TGEMV_BIAS", {Of(Op::TGEMV)}},
    {"TGEMV_MX", {Of(Op::TGEMV)}},
    {"TEXPANDS", {Of(Op::TEXPANDS), Of(Op::TEXPANDS_MAT)}},
    {"TFILLPAD", {Of(Op::TFILLPAD_VEC), Of(Op::TFILLPAD_MAT)}},
    {"TSTORE", {Of(Op::TSTORE_VEC), Of(Op::TSTORE_MAT), Of(Op::TSTORE_ACC)}},
    {"TSTORE_FP", {Of(Op::TSTORE_ACC)}},
    // From Vec to Mat the transfer is MTE3's, whatever the event says; see Event.
    {"TMOV",
     {Of(Op::TMOV_M2B), Of(Op::TMOV_M2L), Of(Op::TMOV_M2R), Of(Op::TMOV_M2S), Of(Op::TMOV_A2V),
      Of(Op::TMOV_A2M), Of(Op::TMOV_V2V), npu::Pipe::kMte3}},
    {"TMOV_FP", {Of(Op::TMOV_A2M), Of(Op::TMOV_A2V)}},
    {"TEXTRACT", {Of(Op::TEXTRACT_M2LR), Of(Op::TEXTRACT_A2M), Of(Op::TMOV_V2V), npu::Pipe::kMte3}},
    {"TINSERT", {Of(Op::TINSERT_A2M), Of(Op::TMOV_V2V), npu::Pipe::kMte3}},
    // With indexes in UB, A2/A3 moves row by row, and elements by the scalar pipe.
    {"MGATHER", {Of(Op::MGATHER_VEC), Of(Op::MGATHER_MAT), npu::Pipe::kS}},
    {"MSCATTER", {Of(Op::MSCATTER), npu::Pipe::kMte3, npu::Pipe::kS}},
};
#undef PIPE_OF

}  // namespace

bool IsPipeOf(std::string_view instruction, npu::Pipe pipe) {
  const auto found = kPipes.find(instruction);
  return found == kPipes.end() || found->second.count(pipe) != 0;
}

}  // namespace test::audit
