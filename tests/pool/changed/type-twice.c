/* refused type struct A has two entries */
#include "numbers-added.h"
