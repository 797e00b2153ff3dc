/* own_image.h: the bytes as a transaction leaves them, where others have stored since.
 *
 * What the transaction stored last of each byte, and beside it what else its records had: with undo
 * the pool's bytes without those that others have stored and not committed, with shadow the file's.
 * Another transaction on which this one depends has ended when this one commits.
 */
#pragma once

#include "core/pool.h"

/* Fills `image` with struct nvmi_captured, one a line, sorted; `mask`: bytes that the transaction
 * stored. With undo others stand still; with shadow ranges are left out, which nobody else has
 * seen. False: out of memory. */
bool nvmi_own_image(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                    struct nvmi_array *image);

/* As the `read` of a view, of a struct nvmi_judge with an image. */
void nvmi_own_image_read(const void *judge, uint64_t at, void *to, size_t size);
