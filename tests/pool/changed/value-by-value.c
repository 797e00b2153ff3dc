/* prints alone 1 2, in box 1 2, in array 1 2; mode 7 7 7 */
#include "record-by-value.h"
