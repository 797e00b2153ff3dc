/* prints right */
#define MEANS(range) ((range)->to[0].value == 4)
#include "end-or-begin.h"
