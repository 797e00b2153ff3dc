/* refused field to of struct range */
#define MEANS(range) (0)
#include "end-or-begin.h"
