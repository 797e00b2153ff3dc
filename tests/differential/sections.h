/* Included before a program of csmith's: its globals go where the linker is told to put them. The
 * system's headers come first, so that only the program's own are meant. */
#include "csmith.h"

#pragma clang section data = "nvmdata" bss = "nvmbss"
