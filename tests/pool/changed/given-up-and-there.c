/* refused the map gives up field a, which the program has, too */
#include "numbers-added.h"
