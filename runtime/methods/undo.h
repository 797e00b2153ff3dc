/* undo.h: functions of the method `undo` that `latb` has, too. */
#pragma once

#include "core/method.h"

/* As the method's functions of these names. */
void nvmi_undo_note(struct nvmi_log *log, const void *address, size_t size);
enum nvm_error nvmi_undo_commit(struct nvmi_log *log, const struct nvmi_line *lines, size_t count);
void nvmi_undo_abort(struct nvmi_log *log, const struct nvmi_line *lines, size_t count);
void nvmi_undo_hand_on(struct nvmi_log *log, const struct nvmi_masks *noted,
                       struct nvmi_parcel *parcel);
void nvmi_undo_parcel_lines(const struct nvmi_parcel *parcel, struct nvmi_masks *lines);
bool nvmi_undo_pieces(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                      struct nvmi_array *list);
void nvmi_undo_pack(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                    struct nvmi_parcel *parcel);
void nvmi_undo_unpack(struct nvmi_log *log, struct nvmi_parcel *parcel);
void nvmi_undo_before_fork(struct nvm_pool *pool);
