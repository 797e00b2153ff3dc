// What every entry of a port file by itself is right about and all together are not.
#pragma once

#include "port/PortFile.h"

namespace nvmove::port {

struct Contradiction {
  Entry Where;
  std::string What; ///< empty: there is none
};

Contradiction findContradiction(const PortFile &P);

} // namespace nvmove::port
