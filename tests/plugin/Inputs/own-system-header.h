/* A header of the program's own that calls itself a system header, as gnulib's do. */
#pragma GCC system_header
void own_function(int *p);
