/* named.h: the types that a program was compiled to emulate, by name. */
#pragma once

/* The types that a source was compiled for, as __nvm_emulate has them. */
void nvmi_emulation_named(const char *list);
/* Tells which of them no source knew. */
void nvmi_emulation_tell_unknown(void);
