// SPDX-License-Identifier: Apache-2.0
// What the host side tells the kernels of matrix products. Plain data, passed by value.
#pragma once

#include <cstdint>

/// Matrices of one operand: lines (rows, or columns if turned) of contiguous elements. Distances
/// are in elements.
struct GemmMatrix {
  int64_t line;    // from line to line
  int64_t turned;  // 1: lines are columns
  int64_t step;    // from the matrix of a step to that of the next
  int64_t batch;   // from the matrix of a product to that of the next
  // Where lines are not evenly apart, they come in groups, and groups in rows of groups.
  int64_t group;          // lines of a group; 0: all
  int64_t row_of_groups;  // groups of a row
  int64_t group_step[2];  // from row to row of groups, from group to group in a row
};

/// Distance of a line from the first.
inline int64_t LineOffset(const GemmMatrix& matrix, int64_t line) {
  if (matrix.group == 0) return line * matrix.line;
  const int64_t group = line / matrix.group;
  return group / matrix.row_of_groups * matrix.group_step[0] +
         group % matrix.row_of_groups * matrix.group_step[1] + line % matrix.group * matrix.line;
}

/// batch products c = bias + a_0 b_0 + ... of m x k and k x n matrices, a sum over steps.
struct GemmTiling {
  int64_t m, n, k;
  int64_t steps;
  int64_t batch;
  GemmMatrix a, b;
  int64_t c_row;    // from row to row of c; neighbours in a row are contiguous
  int64_t c_batch;  // from product to product
  int64_t bias;     // from row to row of the bias
};
