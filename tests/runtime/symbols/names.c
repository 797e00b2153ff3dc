/* names.c: names that tell things apart by a compiler's numbers alone (symbol_names.h). */
#include "harness.h"
#include "symbols/symbol_names.h"

#include <string.h>

static const char *const counted[] = {
    "_ZN3$_08__invokeEi",                 /* clang: a lambda of the file */
    "_ZZ4mainEN3$_18__invokeEi",          /* of a function */
    "_ZN2f1MUliE_4_FUNEi",                /* gcc's */
    "_ZZN1KIL5Color12EE1gEvENKUliE_clEi", /* behind a literal */
    "_ZZZ4mainENK3$_0clIiEEDaT_E1w",      /* a datum in one */
    "_ZTV3$_1",                           /* a type without a name */
    "_ZN8._anon_31vEv",                   /* gcc's */
    "_ZZL2mkiEN1A1fEv",                   /* a member of a local class, which may be one of two */
    "_ZZL2mkiEN1A1fE_0v",                 /* the second's */
    "_ZNSt6vectorIZ4mainE1ASaIS0_EE4sizeEv", /* made for a local class */
    "__main_block_invoke",                   /* a block */
    "__main_block_invoke_2",
    "__block_literal_global.3",
    "C.0.1", /* gcc: a constant without a name */
    "CSWTCH.12",
    "main._omp_fn.0"};

static const char *const lasting[] = {
    "main",
    "_ZN6ResUlt4UtilEv",
    "_Z10printUtf32v",
    "_ZaSR1AS0_",
    "_ZNK1KIL5Color12EE1gEv",
    "_ZN1AaSERKS_",
    "_ZN12_GLOBAL__N_11Q1mEi",
    "_ZThn16_NSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEED0Ev",
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEaSEOS4_",
    "_ZZ1fN1A1BEE1x",
    "_ZN1XIL_Z3oneiEE3runEv",
    "_Z4castIL1K0ELS0_2EEll", /* a literal of a type that was named before */
    "_ZNK3NumcviEv",          /* a conversion */
    "_Z3addIiEDTplfp_fp_ET_", /* an expression */
    "_Z1fDF16_DB37_",         /* types of the language */
    "_Z1gIiENSt9enable_ifIXsr3stdE11is_signed_vIT_EEvE4typeES1_",
    "_block"};

/* With what the source calls it. */
static const struct {
  const char *symbol, *source;
} numbered[] = {{"_ZZL3onebE1x_0", "_ZZL3onebE1x"},
                {"_ZZL3onebE1x__12_", "_ZZL3onebE1x"},
                {"_ZZ4mainE3x_0", "_ZZ4mainE3x_0"},
                {"_ZZL3onebE1x_0.llvm.123", "_ZZL3onebE1x"},
                {"_ZL3x_0", "_ZL3x_0"},
                {"_ZTVZL2mkiE1A_0", "_ZTVZL2mkiE1A"},
                {"_ZGR3ref0_", "_ZGR3ref"},
                {"_ZGR3ref_", "_ZGR3ref"},
                {"_ZZ3getB5cxx11vE1mB5cxx11_0", "_ZZ3getB5cxx11vE1mB5cxx11"},
                {"f.x.1", "f.x"}};

TEST_ONCE(names_that_compilers_count) {
  for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
    if (!nvmi_symbol_is_counted(counted[i]))
      test_fail(counted[i], (int)i, "is not known to be counted");
  for (size_t i = 0; i < sizeof lasting / sizeof *lasting; i++)
    if (nvmi_symbol_is_counted(lasting[i]))
      test_fail(lasting[i], (int)i, "is taken for a counted name");
  for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
    if (nvmi_symbol_name(numbered[i].symbol, "").length != strlen(numbered[i].source))
      test_fail(numbered[i].symbol, (int)i, "has another name in the source");
}
