/* methods.h: the methods that there are (core/method.h). */
#pragma once

#include "core/method.h"

extern const struct nvmi_method nvmi_undo, nvmi_shadow, nvmi_lat, nvmi_latb;

/* Of the methods whose pools are stored to through the explicit interface (lat.c): `note` of a plain
 * store, which ends the program or calls its handler; `settle`, as there is nothing to wait for; and
 * `store`. */
void nvmi_refuse_plain_store(struct nvmi_log *log, const void *address, size_t size);
void nvmi_settle_nothing(struct nvmi_log *log);
void nvmi_alias_store(struct nvmi_log *log, char *to, const char *from, size_t size);

/* shadow.c: as the methods of this name. */
void nvmi_shadow_parcel_lines(const struct nvmi_parcel *parcel, struct nvmi_masks *lines);
bool nvmi_shadow_pieces(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                        struct nvmi_array *list);
void nvmi_shadow_seal(struct nvmi_log *log, const struct nvmi_line *line);
void nvmi_shadow_pack(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                      struct nvmi_parcel *parcel);
void nvmi_shadow_unpack(struct nvmi_log *log, struct nvmi_parcel *parcel);
/* The next number of a line that is sealed. */
uint64_t nvmi_seal_number(void);

/* undo.c: as the method's functions of these names. */
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

/* undo_own.c: as the method's `own_bytes`. */
void nvmi_undo_own_bytes(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                         struct nvmi_array *own);
