/* events.h: what happens to the process: fork, exit, SIGBUS. */
#pragma once

struct nvm_pool;

/* Installs the handlers, once. */
void nvmi_events_install(void);

/* daemon(3), whose parent ends: the child has all open pools, and what is open in them. -1: errno;
 * ENOTSUP: another thread has a part in one, `*busy`, and would be missing. */
int nvmi_daemon(int stay_in_folder, int keep_files, const struct nvm_pool **busy);
