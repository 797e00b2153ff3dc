// Containers of the C++ library that lie in a pool are rolled back, byte by byte, also what they do
// in the library's own pre-compiled functions; what these write here and there is a warning.
// RUN: %cxx -O0 -std=c++17 %s -o %t 2>&1 | count 0
// RUN: env NVMOVE_METHOD=undo %t %t.pool && env NVMOVE_METHOD=shadow %t %t.pool
// RUN: %cxx -O2 -std=c++17 %s -o %t 2>&1 | count 0
// RUN: env NVMOVE_METHOD=undo %t %t.pool
// RUN: env NVMOVE_METHOD=shadow NVMOVE_DEBUG=compare %t %t.pool
// RUN: %cxx -O1 -std=c++20 %s -o %t && env NVMOVE_METHOD=undo %t %t.pool
// RUN: %cxx -O1 -std=c++17 -DWARNED -c %s -o %t.o 2>%t.txt
// RUN: FileCheck --implicit-check-not=warning: --input-file=%t.txt %s
#include "nvmove/nvmove.h"

#include <cstdio>
#include <cstring>
#include <istream>
#include <list>
#include <map>
#include <new>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace {

struct Block {
  void *At;
  size_t Size;
  std::vector<char> Before;
};
NVM_POOL *Pool;
std::vector<Block> Blocks;

void *allocate(size_t Size) {
  void *Made = nvm_calloc(Pool, 0, 1, Size);
  if (!Made)
    throw std::bad_alloc();
  Blocks.push_back({Made, Size, {}});
  return Made;
}

template <class T> struct InPool {
  using value_type = T;
  InPool() = default;
  template <class U> InPool(const InPool<U> &) {}
  T *allocate(size_t N) { return static_cast<T *>(::allocate(N * sizeof(T))); }
  void deallocate(T *P, size_t) { nvm_free(P); }
  template <class U> bool operator==(const InPool<U> &) const { return true; }
  template <class U> bool operator!=(const InPool<U> &) const { return false; }
};

int Failures;

/// Makes a T, changes it in a transaction that is aborted, and looks at all that was there before.
template <class T, class Fill, class Change> void check(const char *What, Fill F, Change C) {
  Blocks.clear();
  nvm_tx_begin(Pool);
  T *Object = new (allocate(sizeof(T))) T;
  F(*Object);
  nvm_tx_commit(Pool);
  for (Block &B : Blocks)
    B.Before.assign(static_cast<char *>(B.At), static_cast<char *>(B.At) + B.Size);
  nvm_tx_begin(Pool);
  C(*Object);
  nvm_tx_abort(Pool);
  for (const Block &B : Blocks)
    for (size_t I = 0; I < B.Before.size(); ++I)
      if (static_cast<char *>(B.At)[I] != B.Before[I]) {
        printf("%s: byte %zu of a block of %zu is not rolled back\n", What, I, B.Size);
        ++Failures;
        break;
      }
}

using List = std::list<int, InPool<int>>;
using Map = std::unordered_map<int, int, std::hash<int>, std::equal_to<int>,
                               InPool<std::pair<const int, int>>>;
using Set = std::unordered_multiset<long, std::hash<long>, std::equal_to<long>, InPool<long>>;
template <class Text> struct Pair {
  Text One, Two;
};

void checkLists() {
  struct Two {
    List A, B;
  };
  auto Fill = [](Two &L) {
    for (int I = 0; I < 20; ++I)
      L.A.push_back((I * 7) % 20), L.B.push_front(I);
  };
  check<Two>("list: insert", Fill,
             [](Two &L) { L.A.push_back(1), L.A.push_front(2), L.A.insert(++L.A.begin(), 3); });
  check<Two>("list: erase", Fill,
             [](Two &L) { L.A.pop_back(), L.A.pop_front(), L.A.erase(++L.A.begin()); });
  check<Two>("list: splice", Fill,
             [](Two &L) { L.A.splice(++L.A.begin(), L.B, ++L.B.begin(), --L.B.end()); });
  check<Two>("list: swap", Fill, [](Two &L) { L.A.swap(L.B); });
  check<Two>("list: swap with an empty one", Fill, [](Two &L) {
    List Empty;
    L.A.swap(Empty);
  });
  check<Two>("list: sort", Fill, [](Two &L) { L.A.sort(), L.A.merge(L.B); });
}

void checkTables() {
  auto Few = [](auto &M) {
    for (int I = 0; I < 5; ++I)
      M.insert({I, I});
  };
  check<Map>("unordered_map: grow", Few, [](Map &M) {
    for (int I = 0; I < 100; ++I)
      M[I] = I + 1;
  });
  check<Map>("unordered_map: from nothing", [](Map &) {}, [](Map &M) { M[1] = 1; });
  check<Map>("unordered_map: rehash", Few, [](Map &M) { M.reserve(1000), M.erase(3), M.clear(); });
  check<Set>(
      "unordered_multiset", [](Set &S) { S.insert(1), S.insert(1); },
      [](Set &S) {
        for (long I = 0; I < 50; ++I)
          S.insert(I % 10);
      });
}

template <class Text> void checkTexts(const typename Text::value_type *Letters) {
  using Two = Pair<Text>;
  auto Fill = [=](Two &T) { T.One.assign(Letters, 2), T.Two.assign(Letters, 1); };
  check<Two>("string: append", Fill, [=](Two &T) {
    T.One.append(Letters), T.One += Letters[0], T.Two.push_back(Letters[1]);
  });
  check<Two>("string: assign", Fill, [=](Two &T) { T.One = Letters, T.Two = T.One; });
  check<Two>("string: insert", Fill,
             [=](Two &T) { T.One.insert(0, Letters), T.Two.insert(T.Two.begin(), Letters[2]); });
  check<Two>("string: replace", Fill,
             [=](Two &T) { T.One.replace(0, 1, Letters), T.Two.replace(0, 1, 3, Letters[1]); });
  check<Two>("string: erase", Fill, [=](Two &T) { T.One.erase(1, 1), T.Two.clear(); });
  check<Two>("string: resize", Fill, [=](Two &T) { T.One.resize(3, Letters[0]), T.Two.resize(0); });
  check<Two>("string: swap", Fill, [=](Two &T) { T.One.swap(T.Two); });
  check<Two>("string: move", Fill, [=](Two &T) { T.One = std::move(T.Two); });
  check<Two>("string: long", Fill,
             [=](Two &T) { T.One.append(100, Letters[0]), T.Two.reserve(64); });
}

} // namespace

#ifdef WARNED
// CHECK-DAG: warning: pre-compiled '{{.*}}_List_node_base10_M_reverseEv' may write
void reverse(std::list<int> &L) { L.reverse(); }
// CHECK-DAG: warning: pre-compiled '{{.*}}_Rb_tree_insert_and_rebalance{{.*}}' may write
void insert(std::map<int, int> &M) { M[1] = 2; }
// CHECK-DAG: warning: pre-compiled '{{.*}}_Rb_tree_rebalance_for_erase{{.*}}' may write
void erase(std::map<int, int> &M) { M.erase(M.begin()); }
long sum(std::map<int, int> &M) {
  long Sum = 0;
  for (auto &E : M)
    Sum += E.second;
  return Sum;
}
// CHECK-DAG: warning: pre-compiled '{{.*}}getline{{.*}}' may write {{.*}} argument 2;
void read(std::istream &From, std::string &To) { getline(From, To); }
#endif

int main(int, char **Arguments) {
  remove(Arguments[1]);
  Pool = nvm_pool_create(Arguments[1], 8 << 20);
  checkLists();
  checkTables();
  checkTexts<std::string>("abcdefg");
  checkTexts<std::wstring>(L"abc");
  return Failures || nvm_pool_close(Pool);
}
