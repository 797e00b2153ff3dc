// What the map says of the members of a type: of the type itself, and of the types of records in it.
#pragma once

#include "pool/Parts.h"

#include <set>

namespace nvmove::pool {

class Changes {
public:
  /// \p Own may be null. \p Used: entries of other types that were heard.
  Changes(const TypeChange *Own, const FieldMap &Map, std::set<const FieldChange *> &Used)
      : Own(Own), Map(Map), Used(Used) {}

  struct Said {
    std::string Was;   ///< the member of the pool, with the prefix of its level; empty: it is new
    int64_t Value = 0; ///< of a new one
    bool IsOwn = true; ///< said of this type: then what it names has to be there
  };
  /// Nothing is said: it has its name.
  std::optional<Said> of(const Member &To, const Level &New, const Level &Old);

  bool isGivenUp(const Member &From, const Level &Old);
  bool isCut(const Member &To, const Level &New);

  /// What the type's own entries name and nobody asked for, "; " between.
  std::string unheard() const;

private:
  const TypeChange *Own;
  const FieldMap &Map;
  std::set<const FieldChange *> &Used;
  std::set<std::string> Seen, GivenUp;
};

} // namespace nvmove::pool
