/* interpose.h: free and its kin in front of the C library's. */
#pragma once

/* Who refers to it is linked with them. */
extern const char nvmi_interposed;
