/* late_sync.h: a thread for each file whose commits do not wait (delayed.h), which syncs its records
 * some milliseconds later. It sleeps while nobody commits.
 */
#pragma once

/* 0 milliseconds: there is none. -1: errno says why. */
int nvmi_late_sync_start(unsigned index, unsigned ms);
/* It has ended, and does not sync before. */
void nvmi_late_sync_stop(unsigned index);
/* There is something to sync: so many milliseconds from now at the latest the sync begins. */
void nvmi_late_sync_ask(unsigned index);
/* It is not there. */
void nvmi_late_sync_in_child(unsigned index);
