/* trace_program.h: what is known of the program when a trace begins. */
#pragma once

/* Writes it down; with the trace's lock. */
void nvmi_trace_program(void);

/* The process has made a socket. */
void nvmi_trace_socket(void);
