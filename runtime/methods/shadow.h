/* shadow.h: functions of the method `shadow` that `lat` has, too. */
#pragma once

#include "core/method.h"

/* As the method's functions of these names. */
void nvmi_shadow_abort(struct nvmi_log *log, const struct nvmi_line *lines, size_t count);
void nvmi_shadow_parcel_lines(const struct nvmi_parcel *parcel, struct nvmi_masks *lines);
bool nvmi_shadow_pieces(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                        struct nvmi_array *list);
void nvmi_shadow_capture(struct nvmi_log *log, const struct nvmi_line *line);
void nvmi_shadow_pack(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                      struct nvmi_parcel *parcel);
void nvmi_shadow_unpack(struct nvmi_log *log, struct nvmi_parcel *parcel);
