// SPDX-License-Identifier: Apache-2.0
// Rows and columns to one value each.
#include "table.hpp"

namespace fuzz {
namespace {

using namespace pto;

template <class T>
using Source = Nd<T, 16, kElements<T, 3>>;
template <class T>
using Long = Nd<T, 2, kElements<T, 40>>;
template <class T>
using Column = Dn<T, kElements<T, 2>, 1>;
template <class T>
using First = Nd<T, 16, kElements<T, 1>>;
template <class T>
using Line = Nd<T, 1, kElements<T, 40>>;

#define WITH_SCRATCH(NAME) [](const Operands&, auto& c, auto& a) { NAME(c, a, a); }
#define ON_TILE(NAME) [](const Operands&, auto& c, auto& a) { NAME(c, a); }

template <class T, class Body>
void AddRow(Rows& rows, Fn fn, const char* name, const Body& body) {
  const Kind kind = {Form::kReduceRows, fn, name};
  Add<First<T>, Source<T>>(rows, kind, body);
  Add<Column<T>, Long<T>>(rows, kind, body);
}

template <class T, class Body>
void AddColumn(Rows& rows, Fn fn, const char* name, const Body& body) {
  const Kind kind = {Form::kReduceColumns, fn, name};
  Add<Line<T>, Source<T>>(rows, kind, body);
  Add<Line<T>, Long<T>>(rows, kind, body);
}

}  // namespace

void AddReduce(Rows& rows) {
  ForTypes<int16_t, int32_t, half, float>([&]<class T>() {
    AddRow<T>(rows, Fn::kMax, "TROWMAX", WITH_SCRATCH(TROWMAX));
    AddRow<T>(rows, Fn::kMin, "TROWMIN", WITH_SCRATCH(TROWMIN));
    AddColumn<T>(rows, Fn::kAdd, "TCOLSUM", ON_TILE(TCOLSUM));
    AddColumn<T>(rows, Fn::kMax, "TCOLMAX", ON_TILE(TCOLMAX));
    AddColumn<T>(rows, Fn::kMin, "TCOLMIN", ON_TILE(TCOLMIN));
    AddColumn<T>(rows, Fn::kMul, "TCOLPROD", ON_TILE(TCOLPROD));
  });
  // Of floats the order of the additions is a matter of test/pto.
  ForTypes<int16_t, int32_t>([&]<class T>() {
    AddRow<T>(rows, Fn::kAdd, "TROWSUM", WITH_SCRATCH(TROWSUM));
    AddRow<T>(rows, Fn::kMul, "TROWPROD", WITH_SCRATCH(TROWPROD));
  });
}

}  // namespace fuzz
