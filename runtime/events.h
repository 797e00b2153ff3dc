/* events.h: what happens to the process: fork, exit, SIGBUS. */
#pragma once

/* Installs the handlers, once. */
void nvmi_events_install(void);
