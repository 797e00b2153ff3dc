/* prints alone 2 1, in box 2 1, in array 2 1; mode 0 0 0 */
#include "record-by-value.h"
