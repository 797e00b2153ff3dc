/* jumps.h: longjmp and pthread_exit in front of the C library's. */
#pragma once

/* Who refers to it is linked with them. */
extern const char nvmi_jumps_linked;
