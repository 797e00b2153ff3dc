/* prints right */
#define MEANS(range) ((range)->to == (range)->from + 8)
#include "end-or-begin.h"
