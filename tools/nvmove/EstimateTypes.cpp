// What each persistent type costs: see Estimate.h.
#include "nvmove/Estimate.h"

#include "nvmove/emulation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>
#include <map>
#include <tuple>

namespace nvmove::tool {

std::vector<TypeCost> typeCosts(llvm::StringRef File) {
  std::map<std::string, TypeCost> Costs;
  double All = 0;
  for (nvm_counted Counted; File.size() >= sizeof Counted; File = File.substr(sizeof Counted)) {
    memcpy(&Counted, File.data(), sizeof Counted);
    Counted.types[sizeof Counted.types - 1] = 0;
    if (!*Counted.types)
      continue;
    llvm::SmallVector<llvm::StringRef> Names;
    llvm::StringRef(Counted.types).split(Names, ',');
    double Nanoseconds = static_cast<double>(Counted.nanoseconds);
    All += Nanoseconds;
    for (llvm::StringRef Name : Names) {
      TypeCost &Cost = Costs[Name.str()];
      Cost.Name = Name.str();
      Cost.Loads += Counted.loads;
      Cost.Stores += Counted.stores;
      Cost.Share += Nanoseconds;
      if (Names.size() == 1)
        Cost.Alone += Nanoseconds;
    }
  }
  std::vector<TypeCost> Sorted;
  for (auto &[Name, Cost] : Costs) {
    if (All > 0)
      Cost.Share /= All, Cost.Alone /= All;
    Sorted.push_back(Cost);
  }
  llvm::sort(Sorted, [](const TypeCost &A, const TypeCost &B) {
    return std::tie(B.Alone, B.Share, A.Name) < std::tie(A.Alone, A.Share, B.Name);
  });
  return Sorted;
}

const Configuration *Estimate::find(llvm::StringRef Name) const {
  auto Found = llvm::find_if(All, [&](const Configuration &C) { return C.Name == Name; });
  return Found == All.end() ? nullptr : &*Found;
}

std::optional<double> Estimate::speedWithout(llvm::StringRef Profile, double Share) const {
  const Configuration *Worst = find((Profile + ", worst").str()), *Itself = find(EmulationItself);
  double Slow = Worst ? speedOf(*Worst) : 0, Fast = Itself ? speedOf(*Itself) : 0;
  if (Slow <= 0 || Fast <= Slow)
    return std::nullopt;
  double Charged = 1 / Slow - 1 / Fast; // in the time that plain takes
  return 1 / (1 / Slow - Share * Charged);
}

} // namespace nvmove::tool
