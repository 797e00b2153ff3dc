/* refused field m of struct A has two entries */
#include "numbers-added.h"
