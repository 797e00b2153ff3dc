// What an estimate says, as text, JSON and HTML: see Estimate.h.
#include "nvmove/Estimate.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <cmath>

namespace nvmove::tool {
namespace {

std::string number(double Value) {
  return Value < 100 ? llvm::formatv("{0:f3}", Value).str()
                     : llvm::formatv("{0:N}", std::llround(Value)).str();
}

/// Of the plain program's speed: two digits at least that are not zero, or 0.0000.
std::string speed(double Share) {
  std::string Made;
  llvm::raw_string_ostream(Made) << llvm::format(Share >= 0.1    ? "%.2f"
                                                 : Share >= 0.01 ? "%.3f"
                                                                 : "%.4f",
                                                 Share);
  return Made;
}

double least(const Configuration &C) { return *std::min_element(C.Values.begin(), C.Values.end()); }
double most(const Configuration &C) { return *std::max_element(C.Values.begin(), C.Values.end()); }

/// "pcm: 0.11 to 0.84 of plain".
std::vector<std::string> brackets(const Estimate &E) {
  std::vector<std::string> Made;
  for (const std::string &Profile : E.Profiles) {
    const Configuration *Worst = E.find(Profile + ", worst"),
                        *Cached = E.find(Profile + ", cached");
    if (Worst && Cached)
      Made.push_back(llvm::formatv("{0}: between {1} and {2} of plain", Profile,
                                   speed(std::min(E.speedOf(*Worst), E.speedOf(*Cached))),
                                   speed(std::max(E.speedOf(*Worst), E.speedOf(*Cached)))));
  }
  return Made;
}

std::string grouped(uint64_t Number) { return llvm::formatv("{0:N}", Number).str(); }

std::string percent(double Share) { return llvm::formatv("{0:f1} %", 100 * Share).str(); }

/// What a crash of the machine takes back.
std::vector<std::string> losses(const Estimate &E) {
  std::vector<std::string> Made{"plain: everything"};
  for (const Configuration &C : E.All) {
    if (!C.Loses)
      continue;
    std::string Line = llvm::formatv("{0}: up to {1} s", C.Name, *C.Loses);
    if (E.IsThroughput)
      Line += llvm::formatv(", {0} at this rate", number(*C.Loses * C.median()));
    Made.push_back(Line);
  }
  Made.push_back("moved to persistent memory: what is under way");
  return Made;
}

std::string without(const Estimate &E, const ProfileCosts &Costs, const TypeCost &T) {
  std::optional<double> Speed = E.speedWithout(Costs.Profile, T.Alone);
  return Speed ? speed(*Speed) : "-";
}

constexpr const char *TypesExplained =
    "share: of the waits, at accesses that go through the type; alone: that go through no other of "
    "the types;\nwithout: speed if the type were not persistent, compared with plain";

void printTypes(llvm::raw_ostream &OS, const Estimate &E, const ProfileCosts &Costs) {
  if (Costs.Types.empty())
    return;
  size_t Width = 4;
  for (const TypeCost &T : Costs.Types)
    Width = std::max(Width, T.Name.size());
  auto Row = [&](llvm::StringRef Name) -> llvm::raw_ostream & {
    return OS << llvm::left_justify(Name, static_cast<unsigned>(Width));
  };
  OS << "\n" << Costs.Profile << ", worst: what each type costs\n";
  Row("type") << llvm::formatv("{0,13} {1,12} {2,8} {3,8} {4,8}\n", "loads", "stores", "share",
                               "alone", "without");
  for (const TypeCost &T : Costs.Types)
    Row(T.Name) << llvm::formatv("{0,13} {1,12} {2,8} {3,8} {4,8}\n", grouped(T.Loads),
                                 grouped(T.Stores), percent(T.Share), percent(T.Alone),
                                 without(E, Costs, T));
}

std::string escaped(llvm::StringRef Text) {
  std::string Made;
  for (char C : Text)
    Made += C == '<' ? "&lt;" : C == '&' ? "&amp;" : C == '"' ? "&quot;" : std::string(1, C);
  return Made;
}

void printTypesHtml(llvm::raw_ostream &OS, const Estimate &E, const ProfileCosts &Costs) {
  if (Costs.Types.empty())
    return;
  OS << "<h2>" << escaped(Costs.Profile) << ", worst: what each type costs</h2>\n"
     << "<table><tr><th>type<th>loads<th>stores<th>share<th>alone<th>without</tr>\n";
  for (const TypeCost &T : Costs.Types)
    OS << "<tr><td>" << escaped(T.Name) << "<td>" << grouped(T.Loads) << "<td>" << grouped(T.Stores)
       << "<td>" << percent(T.Share) << "<td>" << percent(T.Alone) << "<td>" << without(E, Costs, T)
       << "</tr>\n";
  OS << "</table>\n<p>" << TypesExplained << "</p>\n";
}

} // namespace

void printEstimate(llvm::raw_ostream &OS, const Estimate &E) {
  size_t Width = 13;
  for (const Configuration &C : E.All)
    Width = std::max(Width, C.Name.size());
  const char *Unit = E.IsThroughput ? "a second" : "seconds";
  auto Row = [&](llvm::StringRef Name) -> llvm::raw_ostream & {
    return OS << llvm::left_justify(Name, static_cast<unsigned>(Width));
  };
  Row(Unit) << llvm::formatv("{0,13} {1,12} {2,12} {3,9}\n", "median", "least", "most", "of plain");
  for (const Configuration &C : E.All)
    Row(C.Name) << llvm::formatv("{0,13} {1,12} {2,12} {3,9}\n", number(C.median()),
                                 number(least(C)), number(most(C)), speed(E.speedOf(C)));
  for (const std::string &Line : brackets(E))
    OS << Line << '\n';
  OS << "\nA crash of the machine takes back:\n";
  for (const std::string &Line : losses(E))
    OS << "  " << Line << '\n';
  for (const ProfileCosts &Costs : E.Costs)
    printTypes(OS, E, Costs);
  if (llvm::any_of(E.Costs, [](const ProfileCosts &C) { return !C.Types.empty(); }))
    OS << TypesExplained << '\n';
}

void printEstimateJson(llvm::raw_ostream &OS, const Estimate &E) {
  llvm::json::Array All;
  for (const Configuration &C : E.All)
    All.push_back(llvm::json::Object{{"name", C.Name},
                                     {"setting", C.Setting},
                                     {"values", llvm::json::Array(C.Values)},
                                     {"median", C.median()},
                                     {"of_plain", E.speedOf(C)},
                                     {"loses_seconds", C.Loses}});
  llvm::json::Array Profiles;
  for (const ProfileCosts &Costs : E.Costs) {
    llvm::json::Array Types;
    for (const TypeCost &T : Costs.Types)
      Types.push_back(llvm::json::Object{{"name", T.Name},
                                         {"loads", static_cast<int64_t>(T.Loads)},
                                         {"stores", static_cast<int64_t>(T.Stores)},
                                         {"share", T.Share},
                                         {"alone", T.Alone},
                                         {"without", E.speedWithout(Costs.Profile, T.Alone)}});
    Profiles.push_back(llvm::json::Object{{"profile", Costs.Profile}, {"types", std::move(Types)}});
  }
  OS << llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object{
                                     {"schema_version", 1},
                                     {"unit", E.IsThroughput ? "per second" : "seconds"},
                                     {"configurations", std::move(All)},
                                     {"type_costs", std::move(Profiles)}}));
}

void printEstimateHtml(llvm::raw_ostream &OS, const Estimate &E) {
  constexpr unsigned Row = 26, Bar = 460, Top = 10, Letter = 8;
  unsigned Left = 190;
  double Most = 1;
  for (const Configuration &C : E.All) {
    Most = std::max(Most, E.speedOf(C));
    Left = std::max(Left, Letter * static_cast<unsigned>(C.Name.size() + 2));
  }
  OS << "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>nvmove "
        "estimate</title>\n"
     << "<style>body{font:15px sans-serif;margin:2em}td,th{padding:2px 12px;text-align:right}"
     << "td:first-child,th:first-child{text-align:left}rect{fill:#4477aa}.e{fill:#cc7733}"
     << ":root{color-scheme:light dark}text{fill:currentColor}</style>\n"
     << "<h1>Speed, compared with the program as it is</h1>\n"
     << llvm::formatv("<svg width=\"{0}\" height=\"{1}\" role=\"img\">\n", Left + Bar + 70,
                      Top * 2 + Row * E.All.size());
  unsigned Y = Top;
  for (const Configuration &C : E.All) {
    double Speed = E.speedOf(C);
    OS << llvm::formatv("<text x=\"{0}\" y=\"{1}\" text-anchor=\"end\">{2}</text>"
                        "<rect class=\"{3}\" x=\"{4}\" y=\"{5}\" width=\"{6:f1}\" height=\"{7}\"/>"
                        "<text x=\"{8:f1}\" y=\"{1}\">{9}</text>\n",
                        Left - 8, Y + 15, escaped(C.Name), C.Emulated ? "e" : "p", Left, Y + 2,
                        Speed / Most * Bar, Row - 8, Left + Speed / Most * Bar + 6, speed(Speed));
    Y += Row;
  }
  OS << "</svg>\n<table><tr><th>" << (E.IsThroughput ? "a second" : "seconds")
     << "<th>median<th>least<th>most<th>of plain</tr>\n";
  for (const Configuration &C : E.All)
    OS << "<tr><td>" << escaped(C.Name) << "<td>" << number(C.median()) << "<td>"
       << number(least(C)) << "<td>" << number(most(C)) << "<td>" << speed(E.speedOf(C))
       << "</tr>\n";
  OS << "</table>\n";
  for (const std::string &Line : brackets(E))
    OS << "<p>" << escaped(Line) << "</p>\n";
  OS << "<h2>A crash of the machine takes back</h2>\n<ul>\n";
  for (const std::string &Line : losses(E))
    OS << "<li>" << escaped(Line) << '\n';
  OS << "</ul>\n";
  for (const ProfileCosts &Costs : E.Costs)
    printTypesHtml(OS, E, Costs);
}

} // namespace nvmove::tool
