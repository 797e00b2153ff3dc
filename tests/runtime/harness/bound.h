/* bound.h: a pool whose nodes point to functions and constants of the program (statics.c). */
#pragma once

#include "harness.h"

/* Nodes number `from` to `to` of a list that is the pool's root, one transaction each. */
void bound_fill(NVM_POOL *pool, unsigned from, unsigned to);
/* The list has the first `nodes`, and what they lead to is this program's. */
void bound_verify(NVM_POOL *pool, unsigned nodes);
