/* jumps.h: jumps and catches in front of the C and C++ libraries'. */
#pragma once

/* Who refers to it is linked with them. */
extern const char nvmi_jumps_linked;
