/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills with bounds that host code of the chip uses, as in Annex K of C11: 0, or a code
 * with the destination emptied. Code 128 more than an error says that. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <string.h>

#ifndef EOK
#define EOK 0
#endif
#define EINVAL_AND_RESET (EINVAL | 128)
#define ERANGE_AND_RESET (ERANGE | 128)

typedef int errno_t;

static inline errno_t memset_s(void* to, size_t room, int value, size_t count) {
  if (to == NULL) return EINVAL;
  if (count > room) {
    memset(to, value, room);
    return ERANGE_AND_RESET;
  }
  memset(to, value, count);
  return EOK;
}

static inline errno_t memmove_s(void* to, size_t room, const void* from, size_t count) {
  if (to == NULL || room == 0) return room == 0 ? ERANGE : EINVAL;
  if (from == NULL || count > room) {
    memset(to, 0, room);
    return from == NULL ? EINVAL_AND_RESET : ERANGE_AND_RESET;
  }
  memmove(to, from, count);
  return EOK;
}

static inline errno_t memcpy_s(void* to, size_t room, const void* from, size_t count) {
  return memmove_s(to, room, from, count);
}

static inline errno_t strcpy_s(char* to, size_t room, const char* from) {
  if (to == NULL || room == 0) return room == 0 ? ERANGE : EINVAL;
  if (from == NULL || strlen(from) >= room) {
    to[0] = '\0';
    return from == NULL ? EINVAL_AND_RESET : ERANGE_AND_RESET;
  }
  memmove(to, from, strlen(from) + 1);
  return EOK;
}
