/* persist.c: the only file with instructions of one processor (x86-64).
 *
 * The flush instruction is chosen once: clwb, else clflushopt, else clflush. Streaming uses SSE2
 * stores, which every x86-64 has; a line written by four of them leaves the core as one transfer.
 * PMEM_NO_CLWB, PMEM_NO_CLFLUSHOPT and PMEM_NO_FLUSH are honoured as libpmem does.
 */
#include "platform/persist.h"

#include <cpuid.h>
#include <immintrin.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
  LINE = 64,
  APPEND_CACHED_MAX = 256, /* bytes; from here on streaming costs no more */
  WIDE_MIN = 256           /* bytes; what is shorter was stored by words a moment ago */
};

/* By words: what is streamed was stored a moment ago, by words. A wider load would wait until those
 * stores, and every earlier store of the program that misses the cache, have left the processor. */
static void process_stream(void *to, const void *from, size_t size) {
  volatile uint64_t *target = to;
  const uint64_t *source = from;
  for (size_t i = 0; i < size / 8; i++)
    target[i] = source[i];
  nvmi_compiler_barrier();
}

static void process_flush(const void *address, size_t size) {
  (void)address, (void)size;
  nvmi_compiler_barrier();
}

static void process_fence(void) { nvmi_compiler_barrier(); }

/* Stores masked bytes, whole words at once where a word is whole. */
static inline void store_masked(char *to, const char *from, uint64_t mask) {
  while (mask) {
    int word = __builtin_ctzll(mask) & ~7;
    uint64_t bytes = mask >> word & 0xff;
    mask &= ~(UINT64_C(0xff) << word);
    if (bytes == 0xff) {
      memcpy(to + word, from + word, 8);
      continue;
    }
    for (int i = word; bytes; i++, bytes >>= 1)
      if (bytes & 1)
        to[i] = from[i];
  }
}

static void process_store_line(void *to, const void *from, uint64_t mask) {
  store_masked(to, from, mask);
  nvmi_compiler_barrier();
}

/* Two words for one store, read one by one for the reason above: volatile, else the compiler makes
 * one load of them. */
static inline __m128i pair_of(const void *from) {
  const volatile uint64_t *word = from;
  uint64_t low = word[0], high = word[1];
  return _mm_set_epi64x((long long)high, (long long)low);
}

static bool has_wide_stores;

/* A line in one store, for what is long. */
__attribute__((target("avx512f"))) static void stream_wide(char *to, const char *from,
                                                           size_t size) {
  for (size_t i = 0; i < size; i += LINE)
    _mm512_stream_si512((__m512i *)(to + i), _mm512_loadu_si512(from + i));
}

static void power_stream(void *to, const void *from, size_t size) {
  if (has_wide_stores && size >= WIDE_MIN) {
    stream_wide(to, from, size);
    return;
  }
  for (size_t at = 0; at < size; at += LINE)
    for (size_t i = 0; i < LINE; i += 16)
      _mm_stream_si128((__m128i *)((char *)to + at + i), pair_of((const char *)from + at + i));
}

__attribute__((target("clwb"))) static void flush_clwb(const void *address, size_t size) {
  NVMI_FOR_LINES(line, address, size)
  _mm_clwb((void *)line);
}

__attribute__((target("clflushopt"))) static void flush_clflushopt(const void *address,
                                                                   size_t size) {
  NVMI_FOR_LINES(line, address, size)
  _mm_clflushopt((void *)line);
}

static void flush_clflush(const void *address, size_t size) {
  NVMI_FOR_LINES(line, address, size)
  _mm_clflush((const void *)line);
}

static void power_fence(void) { _mm_sfence(); }

static void (*power_flush)(const void *, size_t);

/* Through the cache, a whole line too: whoever flushes it once more has all of it. */
static void power_store_line(void *to, const void *from, uint64_t mask) {
  store_masked(to, from, mask);
  power_flush(to, LINE);
}

/* The same, without a call. */
__attribute__((target("clwb"))) static void store_line_clwb(void *to, const void *from,
                                                            uint64_t mask) {
  store_masked(to, from, mask);
  _mm_clwb(to);
}

/* Few lines through the cache and out again. Measured with a fence behind: on Intel (Sapphire
 * Rapids) one line 125 ns against 185 streamed, two 129 and 189, five 229 and 216; on AMD (Zen 4)
 * one 160 against 77. A log's next two lines are asked for: they are not in the cache where a flush
 * takes lines out of it (Cascade Lake). */
__attribute__((target("clwb"))) static void append_clwb(void *to, const void *from, size_t size) {
  if (size > APPEND_CACHED_MAX) {
    power_stream(to, from, size);
    return;
  }
  for (size_t at = 0; at < size; at += LINE) {
    for (size_t i = at; i < at + LINE; i += 16)
      _mm_store_si128((__m128i *)((char *)to + i), pair_of((const char *)from + i));
    _mm_clwb((char *)to + at);
  }
  __builtin_prefetch((char *)to + size, 1);
  __builtin_prefetch((char *)to + size + LINE, 1);
}

static struct nvmi_persist power = {
    .stream = power_stream, .fence = power_fence, .store_line = power_store_line};

static int switched_off(const char *name) {
  const char *value = getenv(name);
  return value && strcmp(value, "1") == 0;
}

static void choose(void) {
  unsigned a, b = 0, c, d;
  __get_cpuid_count(7, 0, &a, &b, &c, &d);
  if (switched_off("PMEM_NO_FLUSH"))
    power.flush = process_flush, power.name = "no flush (PMEM_NO_FLUSH)";
  else if (b & bit_CLWB && !switched_off("PMEM_NO_CLWB"))
    power.flush = flush_clwb, power.store_line = store_line_clwb, power.name = "clwb";
  else if (b & bit_CLFLUSHOPT && !switched_off("PMEM_NO_CLFLUSHOPT"))
    power.flush = flush_clflushopt, power.name = "clflushopt";
  else
    power.flush = flush_clflush, power.name = "clflush";
  has_wide_stores = __builtin_cpu_supports("avx512f");
  __get_cpuid(0, &a, &b, &c, &d);
  bool is_intel = b == signature_INTEL_ebx && c == signature_INTEL_ecx && d == signature_INTEL_edx;
  power.append = is_intel && power.flush == flush_clwb ? append_clwb : power_stream;
  power_flush = power.flush;
}

const struct nvmi_persist *nvmi_persist_override;

const struct nvmi_persist *nvmi_persist_power(void) {
  if (nvmi_persist_override)
    return nvmi_persist_override;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, choose);
  return &power;
}

const struct nvmi_persist *nvmi_persist_process(void) {
  static const struct nvmi_persist process = {.name = "page cache",
                                              .stream = process_stream,
                                              .append = process_stream,
                                              .flush = process_flush,
                                              .fence = process_fence,
                                              .store_line = process_store_line};
  return &process;
}
