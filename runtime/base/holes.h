/* holes.h: the parts of a sparse file that were ever written.
 *
 * A hole reads as zeros. To read a hole of a mapped file makes pages of it, so what looks through a large file asks
 * where the data are.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Sets [*from, *end) to the next stretch of data at or behind *from; both are offsets in bytes, and *end is at most
 * `most`. Where the file cannot tell, all of it is data. False: only a hole lies before `most`. */
bool nvmi_next_data(int fd, uint64_t *from, uint64_t *end, uint64_t most);
