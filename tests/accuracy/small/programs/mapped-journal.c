// The mapped base is kept as bytes, two record types lie in it.
// load: attach
// must: superblock inode_rec
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
struct superblock { uint32_t magic, inodes, root, pad; };
struct inode_rec { uint32_t mode, links; uint64_t bytes; };
static uint8_t *image;
static struct superblock *sb_of(void) { return (struct superblock *)image; }
static struct inode_rec *inode(unsigned n) { return (struct inode_rec *)(image + 4096) + n; }
int attach(int fd, unsigned long size) {
  unsigned used = 0;
  image = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (image == MAP_FAILED || sb_of()->magic != 7)
    return -1;
  for (unsigned i = 0; i < sb_of()->inodes; i++)
    used += inode(i)->links != 0;
  return used;
}
