// From an address to a name: see Variables.h.
#include "observe/Variables.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDie.h"
#include "llvm/DebugInfo/DWARF/DWARFExpression.h"
#include "llvm/Object/ObjectFile.h"

#include <optional>

namespace nvmove::observe {
namespace {

using llvm::DWARFDie;
namespace dwarf = llvm::dwarf;

/// The type without its names and qualifiers.
DWARFDie bareType(DWARFDie Of) {
  for (DWARFDie Type = Of.getAttributeValueAsReferencedDie(dwarf::DW_AT_type); Type;
       Type = Type.getAttributeValueAsReferencedDie(dwarf::DW_AT_type))
    switch (Type.getTag()) {
    case dwarf::DW_TAG_typedef:
    case dwarf::DW_TAG_const_type:
    case dwarf::DW_TAG_volatile_type:
    case dwarf::DW_TAG_atomic_type:
      continue;
    default:
      return Type;
    }
  return {};
}

std::optional<uint64_t> number(DWARFDie Of, dwarf::Attribute Name) {
  auto Value = Of.find(Name);
  return Value ? Value->getAsUnsignedConstant() : std::nullopt;
}

uint64_t sizeOf(DWARFDie Type) { return number(Type, dwarf::DW_AT_byte_size).value_or(0); }

uint64_t wholeSize(DWARFDie Of) {
  DWARFDie Type = bareType(Of);
  uint64_t Count = 1;
  for (; Type && Type.getTag() == dwarf::DW_TAG_array_type; Type = bareType(Type))
    for (DWARFDie Range : Type.children()) {
      std::optional<uint64_t> Last = number(Range, dwarf::DW_AT_upper_bound);
      Count *= number(Range, dwarf::DW_AT_count).value_or(Last ? *Last + 1 : 1);
    }
  if (Type && Type.getTag() == dwarf::DW_TAG_pointer_type)
    return Count * sizeof(uint64_t);
  return Type ? Count * sizeOf(Type) : 0;
}

/// The member of a structure that an offset lies in; \p Offset becomes the one inside of it. Of a
/// union nobody knows the member.
DWARFDie memberAt(DWARFDie Struct, uint64_t &Offset) {
  DWARFDie Found;
  uint64_t At = 0;
  for (DWARFDie Each : Struct.children()) {
    std::optional<uint64_t> Place = number(Each, dwarf::DW_AT_data_member_location);
    if (Each.getTag() == dwarf::DW_TAG_member && Place && *Place <= Offset &&
        (!Found || *Place > At)) {
      Found = Each;
      At = *Place;
    }
  }
  Offset -= At;
  return Found;
}

std::string nameInside(DWARFDie Of, uint64_t Offset) {
  constexpr unsigned DepthMax = 16;
  std::string Name;
  DWARFDie Type = bareType(Of);
  for (unsigned Depth = 0; Type && Depth < DepthMax; ++Depth) {
    if (Type.getTag() == dwarf::DW_TAG_array_type) {
      Name += "[]";
      Type = bareType(Type);
      if (uint64_t Size = Type ? sizeOf(Type) : 0)
        Offset %= Size;
      continue;
    }
    if (Type.getTag() != dwarf::DW_TAG_structure_type)
      break;
    DWARFDie Member = memberAt(Type, Offset);
    if (!Member)
      break;
    if (const char *Text = Member.getShortName())
      Name += std::string(".") + Text;
    Type = bareType(Member);
  }
  return Name;
}

/// Bytes of a variable that lie together.
struct Piece {
  uint64_t End = 0;    ///< Their address.
  uint64_t Offset = 0; ///< Of the first one in the variable.
  DWARFDie Of;
};

} // namespace

struct Variables::Module {
  llvm::object::OwningBinary<llvm::object::ObjectFile> File;
  std::unique_ptr<llvm::DWARFContext> Context;
  std::map<uint64_t, Piece> Pieces; ///< By address.

  explicit Module(const std::string &Path) {
    auto Read = llvm::object::ObjectFile::createObjectFile(Path);
    if (!Read) {
      llvm::consumeError(Read.takeError());
      return;
    }
    File = std::move(*Read);
    Context = llvm::DWARFContext::create(*File.getBinary());
    for (const auto &Unit : Context->compile_units())
      addVariables(Unit->getUnitDIE(false));
  }

  /// Those of files and, static ones, of functions.
  void addVariables(DWARFDie Of) {
    for (DWARFDie Each : Of.children())
      if (Each.getTag() == dwarf::DW_TAG_variable)
        addVariable(Each);
      else if (Each.getTag() == dwarf::DW_TAG_subprogram ||
               Each.getTag() == dwarf::DW_TAG_lexical_block)
        addVariables(Each);
  }

  void addVariable(DWARFDie Of) {
    auto Places = Of.getLocations(dwarf::DW_AT_location);
    if (!Places) {
      llvm::consumeError(Places.takeError());
      return;
    }
    llvm::DWARFUnit *Unit = Of.getDwarfUnit();
    for (const llvm::DWARFLocationExpression &Place : *Places) {
      llvm::DataExtractor Data(llvm::toStringRef(Place.Expr), Context->isLittleEndian(),
                               Unit->getAddressByteSize());
      addPieces(Of, Unit, llvm::DWARFExpression(Data, Unit->getAddressByteSize()));
    }
  }

  void addPieces(DWARFDie Of, llvm::DWARFUnit *Unit, const llvm::DWARFExpression &Place) {
    std::optional<uint64_t> Address;
    uint64_t Offset = 0;
    bool IsWhole = true;
    for (const llvm::DWARFExpression::Operation &Op : Place) {
      if (Op.isError())
        return;
      if (Op.getCode() == dwarf::DW_OP_addr)
        Address = Op.getRawOperand(0);
      else if (Op.getCode() == dwarf::DW_OP_addrx) {
        auto Item = Unit->getAddrOffsetSectionItem(Op.getRawOperand(0));
        Address = Item ? std::optional<uint64_t>(Item->Address) : std::nullopt;
      } else if (Op.getCode() == dwarf::DW_OP_piece) {
        uint64_t Size = Op.getRawOperand(0);
        if (Address)
          Pieces[*Address] = {*Address + Size, Offset, Of};
        Offset += Size;
        Address.reset();
        IsWhole = false;
      } else if (Op.getCode() == dwarf::DW_OP_plus_uconst && Address) {
        *Address += Op.getRawOperand(0);
      } else {
        Address.reset();
      }
    }
    if (IsWhole && Address)
      Pieces[*Address] = {*Address + std::max<uint64_t>(wholeSize(Of), 1), 0, Of};
  }
};

Variables::Variables() = default;
Variables::~Variables() = default;

std::string Variables::at(const std::string &Path, uint64_t Address) {
  std::unique_ptr<Module> &M = Modules[Path];
  if (!M)
    M = std::make_unique<Module>(Path);
  auto Behind = M->Pieces.upper_bound(Address);
  if (Behind == M->Pieces.begin())
    return "";
  const auto &[Start, Found] = *std::prev(Behind);
  const char *Name = Address < Found.End ? Found.Of.getShortName() : nullptr;
  return Name ? Name + nameInside(Found.Of, Found.Offset + Address - Start) : "";
}

} // namespace nvmove::observe
