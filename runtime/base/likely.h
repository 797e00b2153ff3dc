/* likely.h: what a branch mostly does. */
#pragma once

#define NVMI_LIKELY(x) __builtin_expect(!!(x), 1)
#define NVMI_UNLIKELY(x) __builtin_expect(!!(x), 0)
