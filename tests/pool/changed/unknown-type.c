/* refused struct B is a type of neither the pool nor the program */
#include "numbers-added.h"
