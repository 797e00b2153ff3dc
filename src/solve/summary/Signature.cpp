// See Signature.h.
#include "solve/summary/Signature.h"

namespace nvmove::solve {

bool parameterIsConst(llvm::StringRef Signature, unsigned Number) {
  size_t Open = Signature.find('(');
  if (Open == llvm::StringRef::npos)
    return false;
  unsigned Depth = 0, At = 0;
  size_t Start = Open + 1;
  for (size_t I = Start; I < Signature.size(); ++I) {
    char C = Signature[I];
    if (C == '(')
      ++Depth;
    else if (C == ')' && Depth)
      --Depth;
    else if ((C == ',' || C == ')') && !Depth) {
      if (At == Number) { // Of "const char **" only what lies two pointers away is const.
        llvm::StringRef Parameter = Signature.slice(Start, I).trim();
        return Parameter.starts_with("const ") && Parameter.count('*') == 1;
      }
      if (C == ')')
        return false;
      ++At;
      Start = I + 1;
    }
  }
  return false;
}

} // namespace nvmove::solve
