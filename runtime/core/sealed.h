/* sealed.h: a line whose bytes were taken when a lock that guards them was released (order/order.h).
 */
#pragma once

#include <stdint.h>

struct nvmi_sealed {
  uint64_t line, mask, sequence; /* later bytes replace earlier ones */
  char bytes[64];
};
