/* exits.h: exit leaves the pools, and comes again for what is stored behind that. */
#pragma once

/* `handler` has run, which exit called, and is to run once more behind the next store or allocation. Until
 * then the quick ways are closed (gate.h). */
void nvmi_exit_left(void (*handler)(void));
/* Something is about to be stored or allocated. In a signal handler that interrupted exit this waits for
 * what the program stores: exit may have the lock of its list. */
void nvmi_exit_again(void);
