// Stands before libstdc++'s own header of this name: std::string and std::wstring are compiled with the program, where
// their writes are seen, and not taken from the library. Streams still are.
#include_next <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE -1
